//! Values in the revision that the extension extends: its parameters and results have types of this revision, and handlers those of
//! the hub, which is a later one some day.

use mcp_adapters::{Policy, Revision, TranslateError, translate};
use mcp_core::mcp_wire::{Decode, DecodeError, Encode, EncodeError, RawJson};
use mcp_ext_tasks::EXTENSION;

/// Why a value has no form in the other revision.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotTranslated {
    #[error(transparent)]
    Encode(#[from] EncodeError),
    #[error(transparent)]
    Translate(#[from] TranslateError),
    #[error(transparent)]
    Decode(#[from] DecodeError),
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
    let mut json = RawJson::from_encode(value)?;
    if from != to {
        let translation = translate(from, to, definition, json.text().as_bytes(), Policy::Conform)?;
        for loss in &translation.losses {
            tracing::warn!(definition, path = %loss.path, "a task loses this between revisions");
        }
        json = translation.value;
    }
    Ok(json.decode_as()?)
}
