//! From a model to the files of a crate.

mod adapters;
mod docs;
mod members;
mod messages;
mod scaffold;
mod shells;
mod strings;
mod structs;
mod tokens;
mod unions;

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::TokenStream;
use quote::quote;
use serde_json::Value;

use crate::model::modules::MESSAGES;
use crate::model::{Model, TypeKind};

pub use adapters::{AdapterTemplates, AdaptersInput, RevisionInput, callable_functions, emit_adapters};
pub use docs::Docs;
pub use scaffold::{Templates, crate_name};
pub use shells::Shells;

use docs::Documenter;
use tokens::Scope;

/// What a revision's crate is emitted from.
#[derive(Clone, Copy)]
pub struct EmitInput<'i> {
    /// The revision.
    pub model: &'i Model,
    /// The schema that the judge keeps.
    pub schema: &'i Value,
    /// The hash of the official schema.
    pub sha256: &'i str,
    /// Documentation in our own words.
    pub docs: &'i Docs,
    /// Where the official specification documents a definition; all of them, for the empty name.
    pub link: &'i dyn Fn(&str) -> String,
    /// The crate `mcp-wire`, as the crate's manifest names it.
    pub wire: &'i str,
}

/// The files of a crate, relative to its folder, and what they lack.
pub struct EmittedCrate {
    /// The contents of each file.
    pub files: BTreeMap<String, String>,
    /// Documentation keys without an entry.
    pub undocumented: BTreeSet<String>,
    /// The Rust names of members and values.
    pub shells: Shells,
}

/// A built-in template that doesn't parse.
pub type TemplateError = Box<handlebars::TemplateError>;

/// Why a crate can't be emitted.
#[derive(Debug, thiserror::Error)]
pub enum EmitError {
    /// The types that typify was given could not be turned into Rust.
    #[error("typify refused a type: {0}")]
    Typify(String),
    /// The emitted Rust does not parse; a bug of the generator.
    #[error("{file} does not parse as Rust: {error}")]
    Unparsable {
        /// The file.
        file: String,
        /// What syn says.
        error: syn::Error,
    },
    /// A template is at odds with the values it is given.
    #[error("template {template}: {error}")]
    Template {
        /// The template's name.
        template: &'static str,
        /// What handlebars says.
        error: Box<handlebars::RenderError>,
    },
    /// A schema that came from JSON can't be written as JSON.
    #[error("the schema can't be written: {0}")]
    Schema(#[from] serde_json::Error),
}

/// What each emitter needs to know.
struct Emitter<'i> {
    input: &'i EmitInput<'i>,
    scope: Scope,
    documenter: Documenter<'i>,
    shells: Shells,
}

/// Emits the type crate of a revision.
///
/// # Errors
/// When the generator meets its own limits; never for what a schema says.
pub fn emit_crate(input: &EmitInput<'_>, templates: &Templates) -> Result<EmittedCrate, EmitError> {
    let scope = Scope::new(input.model);
    let emitter = Emitter {
        input,
        documenter: Documenter::new(input),
        shells: Shells::new(input.model, &scope)?,
        scope,
    };
    let mut files = BTreeMap::new();
    let modules: BTreeSet<&str> = input.model.types.values().map(|ty| ty.module.as_str()).collect();
    for module in modules {
        let code = emitter.module(module);
        let text = scaffold::rust_file(input, &format!("{module}.rs"), code)?;
        files.insert(format!("src/{module}.rs"), text);
    }
    for (file, code) in [
        ("definitions.rs", emitter.definitions()),
        ("error_code.rs", emitter.error_codes()),
        ("methods.rs", emitter.methods()),
        ("schema.rs", emitter.schema()),
    ] {
        files.insert(format!("src/{file}"), scaffold::rust_file(input, file, code)?);
    }
    files.extend(templates.crate_files(input)?);
    files.insert("schema.json".to_owned(), scaffold::schema_file(input)?);
    Ok(EmittedCrate {
        files,
        undocumented: emitter.documenter.undocumented(),
        shells: emitter.shells,
    })
}

impl Emitter<'_> {
    /// The items of a module, in the order of their names.
    fn module(&self, module: &str) -> TokenStream {
        let types = self.input.model.types.iter().filter(|(_, ty)| ty.module == module);
        let items: Vec<TokenStream> = types
            .map(|(name, ty)| match &ty.kind {
                TypeKind::Struct(object) => self.structure(name, ty, object),
                TypeKind::Strings { values, ordered } => self.strings(name, ty, values, *ordered),
                TypeKind::Union(union) => self.union(name, ty, union),
                TypeKind::Alias(target) => self.alias(name, ty, target),
                TypeKind::Methods(variants) => self.method_union(name, ty, variants),
                TypeKind::Results(variants) => self.result_union(name, ty, variants),
            })
            .collect();
        let title = format!(" The part of the protocol that is about {}.", module.replace('_', " "));
        let imports = self.scope.imports(self.input.model, module);
        let messages = (module == MESSAGES).then(|| self.message_aliases());
        quote! {
            #![doc = #title]
            #imports
            #messages
            #(#items)*
        }
    }
}
