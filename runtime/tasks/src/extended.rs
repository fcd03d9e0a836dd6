//! Values in the revision that the extension extends: its parameters and results have types of this revision, and handlers those of
//! the hub, which is a later one some day.

use std::fmt;

use mcp_adapters::{Policy, Revision, translate};
use mcp_core::mcp_wire::{Decode, Encode, RawJson};
use mcp_ext_tasks::EXTENSION;

/// Why a value has no form in the other revision.
#[derive(Debug)]
pub(crate) struct NotTranslated(String);

impl fmt::Display for NotTranslated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A value of a definition of the hub, in the revision that the extension extends.
pub(crate) fn to_extended<T: Decode>(definition: &str, value: &impl Encode) -> Result<T, NotTranslated> {
    translated(definition, Revision::HUB, extended(), value)
}

/// A value of a definition of the revision that the extension extends, in the hub.
pub(crate) fn to_hub<T: Decode>(definition: &str, value: &impl Encode) -> Result<T, NotTranslated> {
    translated(definition, extended(), Revision::HUB, value)
}

fn extended() -> Revision {
    let mut revisions = Revision::all();
    let extended = revisions.find(|revision| revision.as_str() == EXTENSION.extends);
    extended.unwrap_or(Revision::HUB)
}

fn translated<T: Decode>(
    definition: &str,
    from: Revision,
    to: Revision,
    value: &impl Encode,
) -> Result<T, NotTranslated> {
    let not_translated = |error: &dyn fmt::Display| NotTranslated(error.to_string());
    let mut json = RawJson::from_encode(value).map_err(|error| not_translated(&error))?;
    if from != to {
        let translation = translate(from, to, definition, json.text().as_bytes(), Policy::Conform)
            .map_err(|error| not_translated(&error))?;
        for loss in &translation.losses {
            tracing::warn!(definition, path = %loss.path, "a task loses this between revisions");
        }
        json = translation.value;
    }
    json.decode_as().map_err(|error| not_translated(&error))
}
