//! The parts of a crate around the types: headers, and the files made from templates.

use std::collections::BTreeMap;

use mcp_json_schema::walk;
use serde_json::{Value, json};

use super::Emitter;
use super::docs::wrapped;
use super::input::EmitInput;
use super::names::{STANDARD, library_name, link_to_module, link_to_type};
use super::source;
use crate::error::EmitError;
use crate::load::Family;
use crate::templates;

fn counted(number: usize, thing: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {thing}{plural}")
}

/// Returns the files that don't depend on the types: those made from templates, and the licences.
pub(super) fn crate_files(emitter: &Emitter<'_>) -> Result<BTreeMap<String, String>, EmitError> {
    let input = emitter.input;
    let (model, manifest) = (input.model(), input.manifest());
    let requests = model.methods.iter().filter(|method| !method.results.is_empty()).count();
    let name = input.crate_name();
    let extension = input.extension().zip(input.core_crate()).map(|(extension, core)| {
        json!({
            "id": extension.id,
            "official": extension.official,
            "core_library": library_name(&core),
            "core_version": manifest.version(&core),
            "core": core,
            "has_core_form": input.revision.overlay.core.is_some(),
        })
    });
    let values = json!({
        "revision": model.revision,
        "library": library_name(&name),
        "header": header("//", input),
        "toml_header": header("#", input),
        "modules": modules(emitter),
        "pattern": has_patterns(input.schema()),
        "has_messages": has_messages(input),
        "client_requests": model.types.contains_key("ClientRequest"),
        "requests": counted(requests, "request"),
        "notifications": counted(model.methods.len() - requests, "notification"),
        "types": model.own_types().count(),
        "definitions": counted(model.definitions.len(), "definition"),
        "deprecates": !model.deprecated.is_empty(),
        "is_draft": manifest.is_draft(&model.revision),
        "link": input.link("").trim_end_matches('#'),
        "crates": input.crates,
        "version": manifest.version(&name),
        "crate_name": name,
        "extension": extension,
        "family": family_values(manifest.family()),
        "wire_version": manifest.version(WIRE),
        "project": project(),
    });
    if input.module().is_some() {
        let module = templates::render("single/bodies/mod.rs", values)?;
        return Ok(BTreeMap::from([("src/mod.rs".to_owned(), module)]));
    }
    let kind = input.extension().map_or("types", |_| "extension");
    let mut files = templates::files(kind, &values)?;
    // Without a path to our crates, the crate isn't ours, and neither is its licence.
    files.retain(|file, _| !(input.crates.is_empty() && file.starts_with("LICENSE")));
    Ok(files)
}

/// Whether there are methods or errors. A family of documents has none.
pub(super) fn has_messages(input: &EmitInput<'_>) -> bool {
    input.extension().is_some() || !input.model().methods.is_empty() || !input.model().error_codes.is_empty()
}

/// Returns the modules for the front page: a description of each with links to its types, and those of its types that
/// the crate's root exports, unless it exports all.
fn modules(emitter: &Emitter<'_>) -> Vec<Value> {
    let mut modules: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (name, ty) in emitter.input.model().own_types() {
        modules.entry(&ty.module).or_default().push(name);
    }
    let values = modules.into_iter().map(|(name, types)| {
        let is_own = |ty: &&str| STANDARD.contains(ty);
        let link = |ty: &&str| match is_own(ty) {
            true => format!("[`{name}::{ty}`]"),
            false => link_to_type(ty),
        };
        let links: Vec<String> = types.iter().map(link).collect();
        let about = format!(
            "- {}: {} {}.",
            link_to_module(name),
            emitter.docs_of_module(name),
            links.join(", ")
        );
        let others: Vec<&str> = types.iter().copied().filter(|ty| !is_own(ty)).collect();
        let named = (others.len() < types.len()).then(|| source::wrapped("    ", &others));
        json!({"name": name, "lines": wrapped(&about), "named": named})
    });
    values.collect()
}

/// Returns the templates' values for a family.
pub(super) fn family_values(family: &Family) -> Value {
    json!({
        "name": family.name,
        "title": family.title(),
        "keywords": json!(family.keywords).to_string().replace("\",\"", "\", \""),
    })
}

/// Returns the values that generated manifests share with the generator's own.
pub(super) fn project() -> Value {
    json!({
        "rust_version": env!("CARGO_PKG_RUST_VERSION"),
        "repository": env!("CARGO_PKG_REPOSITORY"),
        "homepage": env!("CARGO_PKG_HOMEPAGE"),
    })
}

/// The library on which the crate of all revisions is built.
pub(super) const CONVERT: &str = "mcp-convert";

/// The library on which all generated crates are built.
pub(super) const WIRE: &str = "mcp-wire";

/// Returns the first lines of each generated file. They have no date, so that the same input gives the same file.
pub(super) fn header(comment: &str, input: &EmitInput<'_>) -> String {
    let revision = &input.model().revision;
    let source = match input.extension() {
        Some(extension) => format!("{} of {revision}", extension.id),
        None => format!("revision {revision}"),
    };
    let (generator, sources) = match input.crates {
        "" => ("mcp-rev generate", "the schema"),
        _ => ("cargo xtask generate", "schema/ or codegen/"),
    };
    format!(
        "{comment} @generated by `{generator}` from {source} (sha256 {}).\n{comment} Don't edit: change {sources} and generate again.",
        input.revision.entry().sha256
    )
}

/// Formats code by prettyplease, with empty lines between items.
pub(super) fn formatted(file: &str, code: &str) -> Result<String, EmitError> {
    Ok(with_blank_lines(&source::unparsed(file, syn::parse_file(code))?))
}

/// Adds blank lines between items, which prettyplease doesn't.
fn with_blank_lines(text: &str) -> String {
    let mut spaced = String::with_capacity(text.len() + text.len() / 20);
    let mut previous = "";
    for line in text.lines() {
        let (code, last) = (line.trim_start(), previous.trim_start());
        let is_same_depth = line.len() - code.len() == previous.len() - last.len();
        let ends_item = last == "}" || last.ends_with(" {}");
        let mut starts = ["impl", "pub ", "fn ", "///", "#["].iter();
        if is_same_depth && ends_item && starts.any(|start| code.starts_with(start)) {
            spaced.push('\n');
        }
        spaced.push_str(line);
        spaced.push('\n');
        previous = line;
    }
    spaced
}

/// Writes a schema with a comment at its root. Each definition is a line; there is no other white space, because
/// programs embed the text.
pub(super) fn schema_text(schema: &Value, comment: &str) -> String {
    let comment = Value::from(comment);
    let members = schema.as_object().into_iter().flatten();
    let members = members.map(|(name, value)| (name.as_str(), value));
    let members = BTreeMap::from_iter(members.chain([("$comment", &comment)])).into_iter();
    let members = members.map(|(name, value)| match value {
        Value::Object(definitions) if name == "$defs" || name == "definitions" => {
            let lines = definitions
                .iter()
                .map(|(name, value)| format!("{}:{value}", json!(name)));
            format!("{}:{{\n{}\n}}", json!(name), Vec::from_iter(lines).join(",\n"))
        }
        _ => format!("{}:{value}", json!(name)),
    });
    format!("{{\n{}\n}}\n", Vec::from_iter(members).join(",\n"))
}

/// Whether validation by the schema needs regular expressions.
pub(super) fn has_patterns(schema: &Value) -> bool {
    let mut found = false;
    walk(schema, |_, schema| {
        let keywords = ["pattern", "patternProperties"];
        found |= keywords.iter().any(|keyword| schema.get(*keyword).is_some());
    });
    found
}
