//! Writes the files of a crate from a model.

mod adapters;
mod docs;
mod extension;
mod identifiers;
mod input;
mod members;
mod messages;
mod names;
mod scaffold;
mod scope;
mod source;
mod strings;
mod structs;
mod tables;
pub(crate) mod typescript;
mod unions;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use crate::error::EmitError;
use crate::model::TypeKind;
use crate::model::modules::MESSAGES;
use crate::problem::Problem;
use crate::templates;

pub(crate) use adapters::{AdaptersInput, emit_adapters, revision_features};
pub(crate) use extension::describe_extension;
pub(crate) use identifiers::{ChosenIdentifiers, Identifiers};
pub(crate) use input::EmitInput;
pub(crate) use tables::revision_table;

/// The data that the emitters of types share.
struct Emitter<'i> {
    input: &'i EmitInput<'i>,
    identifiers: Identifiers,
    /// Documentation keys whose entries were used, and those without an entry.
    documented: RefCell<BTreeSet<String>>,
    undocumented: RefCell<BTreeSet<String>>,
    /// The names of `mcp-wire`, and of the crate's own types, that the current file uses.
    wire_names: RefCell<BTreeSet<String>>,
    own_names: RefCell<BTreeSet<String>>,
}

/// The files of a crate, relative to its folder, and the documentation keys that were used or are missing.
pub(crate) struct EmittedCrate {
    pub(crate) files: BTreeMap<String, String>,
    /// Documentation keys whose entries are in the files.
    pub(crate) documented: BTreeSet<String>,
    /// Documentation keys without an entry.
    pub(crate) undocumented: BTreeSet<String>,
    /// The problems of entries of documentation that are unused or redundant.
    pub(crate) problems: Vec<Problem>,
    /// The Rust names of members and values.
    pub(crate) identifiers: Identifiers,
}

/// Emits the type crate of a revision.
///
/// # Errors
/// When the generator reaches its own limits; never because of a schema.
pub(crate) fn emit_crate(input: &EmitInput<'_>, chosen: &ChosenIdentifiers) -> Result<EmittedCrate, EmitError> {
    let emitter = Emitter {
        input,
        identifiers: Identifiers::new(input.model(), chosen)?,
        wire_names: RefCell::default(),
        own_names: RefCell::default(),
        documented: RefCell::default(),
        undocumented: RefCell::default(),
    };
    let mut files = BTreeMap::new();
    let modules: BTreeSet<&str> = input.model().own_types().map(|(_, ty)| ty.module.as_str()).collect();
    for module in modules {
        files.insert(format!("src/{module}.rs"), emitter.module(module)?);
    }
    let header = scaffold::header("//", input);
    let mut parts = vec![("parts/definitions.rs", emitter.definitions())];
    if scaffold::has_messages(input) {
        parts.push(("parts/error_code.rs", emitter.error_codes()));
        parts.push(("parts/methods.rs", emitter.methods()));
    }
    if let Some(extension) = input.extension() {
        parts.push(("parts/extension.rs", extension::values(input, extension)));
        if let Some(core) = &input.revision.overlay.core {
            files.insert("core.json".to_owned(), format!("{:#}\n", core.names));
        }
    }
    for (part, values) in parts {
        let text = templates::render(part, values)?;
        files.insert(part.replace("parts", "src"), source::file(&header, [text]));
    }
    files.extend(scaffold::crate_files(&emitter)?);
    let comment = scaffold::header("", input).replace('\n', " ");
    files.insert(
        "schema.json".to_owned(),
        scaffold::schema_text(input.schema(), comment.trim()),
    );
    if input.extension().is_none() {
        files.insert("typescript.ts".to_owned(), typescript::definitions(input)?);
    }
    if let Some(module) = input.module() {
        files = in_module(files, &module, &input.model().revision);
    }
    let documented = emitter.documented.into_inner();
    Ok(EmittedCrate {
        files,
        problems: input.protocol.docs.needless(&input.revision.docs, &documented),
        documented,
        undocumented: emitter.undocumented.into_inner(),
        identifiers: emitter.identifiers,
    })
}

/// Moves the files of a revision that is a module of a crate: the code to `src/<module>`, and the files that it embeds
/// to `schemas`.
fn in_module(files: BTreeMap<String, String>, module: &str, revision: &str) -> BTreeMap<String, String> {
    let place = |file: String| match (file.as_str(), file.strip_prefix("src/")) {
        ("schema.json", _) => format!("schemas/{revision}.json"),
        ("typescript.ts", _) => format!("schemas/{revision}.ts"),
        (_, Some(code)) => format!("src/{module}/{code}"),
        _ => file,
    };
    files.into_iter().map(|(file, text)| (place(file), text)).collect()
}

impl Emitter<'_> {
    /// Emits the file of a module: its types in the order of their names.
    fn module(&self, module: &str) -> Result<String, EmitError> {
        let types = self.input.model().own_types().filter(|(_, ty)| ty.module == module);
        let mut parts: Vec<String> = types
            .map(|(name, ty)| match &ty.kind {
                TypeKind::Struct(object) => self.structure(name, ty, object),
                TypeKind::Strings(strings) => self.strings(name, ty, strings),
                TypeKind::Union(union) => self.union(name, ty, union),
                TypeKind::Alias(target) => Ok(self.alias(name, ty, target)),
                TypeKind::Methods(variants) => self.method_union(name, ty, variants),
                TypeKind::Results(variants) => self.result_union(name, ty, variants),
            })
            .collect::<Result<_, EmitError>>()?;
        if module == MESSAGES {
            parts.insert(0, self.message_aliases());
        }
        let types = &self.input.model().types;
        let is_defined = |name: &str| types.get(name).is_some_and(|ty| ty.module == module && !ty.imported);
        let (imports, imported) = self.take_imports(is_defined);
        for (name, ty) in imported.iter().filter_map(|name| types.get_key_value(name)) {
            // rustdoc resolves the types that the file imports without a path.
            let path = self.input.path_of(name, ty);
            let (link, short) = (format!("[`{name}`]({path})"), names::link_to_type(name));
            let linking = parts.iter_mut().filter(|part| part.contains(&link));
            linking.for_each(|part| *part = part.replace(&link, &short));
        }
        parts.insert(0, imports);
        parts.insert(0, format!("//! {}", self.docs_of_module(module)));
        Ok(source::file(&scaffold::header("//", self.input), parts))
    }
}
