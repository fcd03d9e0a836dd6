//! What is around the types: headers, and the files made from templates.

use std::collections::BTreeMap;

use handlebars::Handlebars;
use proc_macro2::TokenStream;
use serde::Serialize;

use super::docs::{Documenter, wrapped};
use super::error::{EmitError, TemplateError};
use super::input::EmitInput;
use super::source;
use super::tokens::STANDARD;

/// A text that becomes a file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Template {
    name: &'static str,
    file: &'static str,
    text: &'static str,
}

impl Template {
    /// The template `name`, which becomes `file`.
    pub(super) const fn new(name: &'static str, file: &'static str, text: &'static str) -> Self {
        Self { name, file, text }
    }
}

const EXTENSION_TEMPLATES: [Template; 3] = [
    Template::new(
        "extension/Cargo.toml",
        "Cargo.toml",
        include_str!("../../templates/extension/Cargo.toml.hbs"),
    ),
    Template::new(
        "extension/README.md",
        "README.md",
        include_str!("../../templates/extension/README.md.hbs"),
    ),
    Template::new(
        "extension/lib.rs",
        "src/lib.rs",
        include_str!("../../templates/extension/lib.rs.hbs"),
    ),
];

const TEMPLATES: [Template; 3] = [
    Template::new(
        "Cargo.toml",
        "Cargo.toml",
        include_str!("../../templates/types/Cargo.toml.hbs"),
    ),
    Template::new(
        "README.md",
        "README.md",
        include_str!("../../templates/types/README.md.hbs"),
    ),
    Template::new("lib.rs", "src/lib.rs", include_str!("../../templates/types/lib.rs.hbs")),
];

/// The licences that a published crate carries: the generator's own.
const LICENCES: [(&str, &str); 2] = [
    ("LICENSE-APACHE", include_str!("../../LICENSE-APACHE")),
    ("LICENSE-MIT", include_str!("../../LICENSE-MIT")),
];

/// The files of a crate that are the same in each.
pub(super) fn licences() -> impl Iterator<Item = (String, String)> {
    LICENCES
        .into_iter()
        .map(|(file, text)| (file.to_owned(), text.to_owned()))
}

/// Templates, ready to be rendered; a name that isn't among the values is an error.
pub(super) fn registry(templates: &[Template]) -> Result<Handlebars<'static>, TemplateError> {
    let mut registry = Handlebars::new();
    registry.set_strict_mode(true);
    registry.register_escape_fn(handlebars::no_escape);
    for template in templates {
        registry.register_template_string(template.name, template.text)?;
    }
    Ok(registry)
}

/// The files that templates become.
pub(super) fn render_all(
    registry: &Handlebars<'_>,
    templates: &[Template],
    values: &impl Serialize,
) -> Result<BTreeMap<String, String>, EmitError> {
    let render = |template: &Template| {
        let text = registry
            .render(template.name, values)
            .map_err(|error| EmitError::Template {
                template: template.name,
                error: Box::new(error),
            })?;
        Ok((template.file.to_owned(), text))
    };
    templates.iter().map(render).collect()
}

/// What templates may name; a name that isn't here is an error.
#[derive(Debug, Serialize)]
struct Values<'v> {
    revision: &'v str,
    crate_name: String,
    library: String,
    header: String,
    toml_header: String,
    modules: Vec<ModuleValues<'v>>,
    pattern: bool,
    requests: usize,
    notifications: usize,
    types: usize,
    definitions: usize,
    link: String,
    crates: &'v str,
    version: &'v str,
    wire_version: &'v str,
    rust_version: &'v str,
    extension: Option<ExtensionValues<'v>>,
}

/// What the templates of an extension may name besides.
#[derive(Debug, Serialize)]
struct ExtensionValues<'v> {
    id: &'v str,
    official: bool,
    core: String,
    core_library: String,
    core_version: &'v str,
}

/// A module, as the front page lists it.
#[derive(Debug, Serialize)]
struct ModuleValues<'v> {
    name: &'v str,
    /// What it is about, and its types with links.
    lines: Vec<String>,
    /// The types that the crate's root names too, on several lines, where those aren't all types of the module.
    named: Option<String>,
}

/// The text templates of a revision's crate.
#[derive(Debug)]
pub struct Templates {
    registry: Handlebars<'static>,
}

impl Templates {
    /// The templates that are built in.
    ///
    /// # Errors
    /// When one doesn't parse, which the tests rule out.
    pub fn new() -> Result<Self, TemplateError> {
        Ok(Self {
            registry: registry(&[TEMPLATES, EXTENSION_TEMPLATES].concat())?,
        })
    }

    /// The files that don't depend on the types: those made from templates, and the licences.
    pub(super) fn crate_files(
        &self,
        input: &EmitInput<'_>,
        documenter: &Documenter<'_>,
    ) -> Result<BTreeMap<String, String>, EmitError> {
        let model = input.model;
        let requests = model.methods.iter().filter(|method| !method.results.is_empty()).count();
        let mut modules: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (name, ty) in model.own_types() {
            modules.entry(&ty.module).or_default().push(name);
        }
        let modules = modules.into_iter().map(|(name, types)| {
            let is_own = |ty: &&str| STANDARD.contains(ty);
            let link = |ty: &&str| match is_own(ty) {
                true => format!("[`{name}::{ty}`]"),
                false => format!("[`{ty}`]"),
            };
            let links: Vec<String> = types.iter().map(link).collect();
            let about = format!("- [`{name}`]: {} {}.", documenter.module(name), links.join(", "));
            let lines = wrapped(&about);
            let others: Vec<String> = types
                .iter()
                .filter(|ty| !is_own(ty))
                .map(|ty| (*ty).to_owned())
                .collect();
            let named = (others.len() < types.len()).then(|| source::wrapped("    ", &others));
            ModuleValues { name, lines, named }
        });
        let name = input.crate_name();
        let extension = input.extension.map(|extension| {
            let core = crate_name(extension.of.as_str());
            ExtensionValues {
                id: &extension.id,
                official: extension.official,
                core_library: library_name(&core),
                core_version: input.manifest.version(&core),
                core,
            }
        });
        let values = Values {
            revision: &model.revision,
            library: library_name(&name),
            header: header("//", input),
            toml_header: header("#", input),
            modules: modules.into_iter().collect(),
            pattern: has_keyword(input.schema, "pattern") || has_keyword(input.schema, "patternProperties"),
            requests,
            notifications: model.methods.len() - requests,
            types: model.own_types().count(),
            definitions: model.definitions.len(),
            link: (input.link)("").trim_end_matches('#').to_owned(),
            crates: input.crates,
            version: input.manifest.version(&name),
            crate_name: name.clone(),
            extension,
            wire_version: input.manifest.version(WIRE),
            rust_version: env!("CARGO_PKG_RUST_VERSION"),
        };
        let templates = if input.extension.is_some() {
            EXTENSION_TEMPLATES
        } else {
            TEMPLATES
        };
        let mut files = render_all(&self.registry, &templates, &values)?;
        files.extend(licences());
        Ok(files)
    }
}

/// The crate of all revisions.
pub const ADAPTERS: &str = "mcp-adapters";

/// What the conversions in the crate of all revisions have in common.
pub(super) const CONVERT: &str = "mcp-convert";

/// What all generated crates share.
pub(super) const WIRE: &str = "mcp-wire";

/// The name of a revision's crate.
#[must_use]
pub fn crate_name(revision: &str) -> String {
    let part = |c: char| {
        if c.is_ascii_alphanumeric() || c == '-' || c == '_' {
            c.to_ascii_lowercase()
        } else {
            '-'
        }
    };
    format!("mcp-types-{}", revision.chars().map(part).collect::<String>())
}

/// The name of an extension's crate.
#[must_use]
pub fn extension_crate_name(name: &str) -> String {
    format!("mcp-ext-{name}")
}

/// What code calls a crate.
pub(super) fn library_name(crate_name: &str) -> String {
    crate_name.replace('-', "_")
}

/// What the first lines of each generated file say: no date, so that the same input gives the same file.
pub(super) fn header(comment: &str, input: &EmitInput<'_>) -> String {
    let revision = &input.model.revision;
    let source = match input.extension {
        Some(extension) => format!("{} of {revision}", extension.id),
        None => format!("revision {revision}"),
    };
    format!(
        "{comment} @generated by `cargo xtask generate` from {source} (sha256 {}).\n{comment} Don't edit: change schema/ or codegen/ \
         and generate again.",
        input.sha256
    )
}

/// Code as prettyplease writes it, with empty lines between items.
pub(super) fn formatted(file: &str, code: TokenStream) -> Result<String, EmitError> {
    let parsed = syn::parse2::<syn::File>(code).map_err(|error| EmitError::Unparsable {
        file: file.to_owned(),
        error,
    })?;
    Ok(with_blank_lines(&prettyplease::unparse(&parsed)))
}

/// prettyplease writes items without a blank line between them; people put one there.
fn with_blank_lines(text: &str) -> String {
    let mut spaced = String::with_capacity(text.len() + text.len() / 20);
    let mut previous = "";
    for line in text.lines() {
        let code = line.trim_start();
        let starts_item = ["impl", "pub ", "fn ", "///", "#[", "macro_rules!", "type ", "const "]
            .iter()
            .any(|start| code.starts_with(start));
        let same_depth = indent(line) == indent(previous);
        let last = previous.trim_start();
        let ends = last == "}" || last == "};" || last.ends_with(" {}") || (indent(line) == 0 && last.ends_with(';'));
        let ends_item = same_depth && ends;
        let after_inner_docs = last.starts_with("//!") && !code.starts_with("//!") && !code.is_empty();
        if (starts_item && ends_item) || after_inner_docs {
            spaced.push('\n');
        }
        spaced.push_str(line);
        spaced.push('\n');
        previous = line;
    }
    spaced
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// The schema that the validator keeps, in a canonical form.
pub(super) fn schema_file(input: &EmitInput<'_>) -> Result<String, EmitError> {
    let comment = header("", input).replace('\n', " ");
    Ok(serde_json::to_string_pretty(&commented_schema(input.schema, comment.trim()))? + "\n")
}

/// A schema with a comment at its root.
pub(super) fn commented_schema(schema: &serde_json::Value, comment: &str) -> serde_json::Value {
    let mut schema = schema.clone();
    if let Some(members) = schema.as_object_mut() {
        members.insert("$comment".to_owned(), comment.into());
    }
    schema
}

/// Whether a keyword occurs anywhere in the schema; a member of that name is taken for one, which only costs a feature.
fn has_keyword(schema: &serde_json::Value, keyword: &str) -> bool {
    match schema {
        serde_json::Value::Object(members) => {
            members.contains_key(keyword) || members.values().any(|value| has_keyword(value, keyword))
        }
        serde_json::Value::Array(elements) => elements.iter().any(|value| has_keyword(value, keyword)),
        _ => false,
    }
}
