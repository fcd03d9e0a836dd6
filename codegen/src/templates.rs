//! The templates of whole files and of fixed bodies.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use handlebars::{Context, Handlebars, RenderErrorReason, TemplateError, handlebars_helper};
use serde_json::Value;

use crate::diff::way_to;
use crate::error::EmitError;
use crate::markdown;

macro_rules! templates {
    ($($name:literal),+ $(,)?) => {
        &[$(($name, include_str!(concat!("../templates/", $name, ".hbs")))),+]
    };
}

/// The name and the text of each template. The name starts with the kind of crate: `parts` are shared by several kinds,
/// and `documents` belong to none.
const TEMPLATES: &[(&str, &str)] = templates![
    "adapters/Cargo.toml",
    "adapters/README.md",
    "adapters/bodies/handlers.rs",
    "adapters/bodies/message.rs",
    "adapters/bodies/peers.rs",
    "adapters/lib.rs",
    "adapters/revision.rs",
    "documents/adapters.md",
    "documents/changes.md",
    "documents/deprecated.md",
    "documents/reference.md",
    "documents/schema-gaps.md",
    "extension/Cargo.toml",
    "extension/README.md",
    "extension/lib.rs",
    "parts/clippy.toml",
    "parts/definitions.rs",
    "parts/enum.rs",
    "parts/error_code.rs",
    "parts/extension.rs",
    "parts/lints.toml",
    "parts/methods.rs",
    "parts/modules.rs",
    "parts/package.toml",
    "parts/revision.rs",
    "parts/struct.rs",
    "parts/table.rs",
    "parts/typescript.ts",
    "single/Cargo.toml",
    "single/README.md",
    "single/bodies/mod.rs",
    "single/lib.rs",
    "single/revision.rs",
    "types/Cargo.toml",
    "types/README.md",
    "types/lib.rs",
];

/// The licences that a published crate carries: the generator's own.
const LICENCES: [(&str, &str); 2] = [
    ("LICENSE-APACHE", include_str!("../LICENSE-APACHE")),
    ("LICENSE-MIT", include_str!("../LICENSE-MIT")),
];

// Writes texts as one string literal.
handlebars_helper!(literal: |*texts| {
    let texts = texts.iter().filter_map(|text| text.as_str());
    format!("{:?}", String::from_iter(texts))
});

// Writes a text as a cell of a table in Markdown.
handlebars_helper!(cell: |text: str| markdown::cell(text));

// Writes the path to the schema at a pointer.
handlebars_helper!(place: |pointer: str| way_to(pointer));

/// The parsed templates. Rendering a template that uses a name without a value is an error.
static PARSED: LazyLock<Result<Handlebars<'static>, TemplateError>> = LazyLock::new(|| {
    let mut registry = Handlebars::new();
    registry.set_strict_mode(true);
    registry.register_escape_fn(handlebars::no_escape);
    registry.register_helper("cell", Box::new(cell));
    registry.register_helper("literal", Box::new(literal));
    registry.register_helper("place", Box::new(place));
    for (name, text) in TEMPLATES {
        registry.register_template_string(name, text)?;
    }
    Ok(registry)
});

/// Returns the files of a kind of crate by their paths in its folder: those rendered from templates, and the licences.
pub(crate) fn files(kind: &str, values: &Value) -> Result<BTreeMap<String, String>, EmitError> {
    let licences = LICENCES.map(|(file, text)| (file.to_owned(), text.to_owned()));
    let mut files = BTreeMap::from(licences);
    for (name, _) in TEMPLATES {
        let file = name.strip_prefix(kind).and_then(|name| name.strip_prefix('/'));
        if let Some(file) = file.filter(|file| !file.contains('/')) {
            let folder = if file.ends_with(".rs") { "src/" } else { "" };
            files.insert(format!("{folder}{file}"), render(name, values.clone())?);
        }
    }
    Ok(files)
}

/// Renders a template.
pub(crate) fn render(template: &'static str, values: Value) -> Result<String, EmitError> {
    // All templates parse, as the tests check.
    let parsed = PARSED.as_ref();
    let parsed = parsed.map_err(|error| RenderErrorReason::Other(error.to_string()).into());
    let rendered = parsed.and_then(|parsed| parsed.render_with_context(template, &Context::from(values)));
    rendered.map_err(|error| EmitError::Template {
        template,
        error: Box::new(error),
    })
}
