//! Conversion of values between the hub and the revision that an extension extends: the extension's parameters and
//! results have types of this revision, and handlers use those of the hub, which can be a later revision.

use mcp_adapters::mcp_wire::{Decode, DecodeError, Encode, EncodeError, Extension, RawJson};
use mcp_adapters::{Policy, Revision, TranslateError, translate};

/// The error of a value that can't be converted to the other revision.
#[derive(Debug, thiserror::Error)]
pub enum NotTranslated {
    /// It can't be encoded as JSON.
    #[error(transparent)]
    Encode(#[from] EncodeError),
    /// It can't be translated to the other revision.
    #[error(transparent)]
    Translate(#[from] TranslateError),
    /// The translated value doesn't have the expected type.
    #[error(transparent)]
    Decode(#[from] DecodeError),
}

/// Converts a value of a definition of the hub to the revision that an extension extends.
pub fn to_extended<T: Decode>(
    extension: &Extension,
    definition: &str,
    value: &impl Encode,
) -> Result<T, NotTranslated> {
    translated(definition, Revision::HUB, extended(extension), value)
}

/// Converts a value of a definition of the revision that an extension extends to the hub.
pub fn to_hub<T: Decode>(extension: &Extension, definition: &str, value: &impl Encode) -> Result<T, NotTranslated> {
    translated(definition, extended(extension), Revision::HUB, value)
}

fn extended(extension: &Extension) -> Revision {
    let mut revisions = Revision::all();
    let extended = revisions.find(|revision| revision.as_str() == extension.extends);
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
            tracing::warn!(definition, path = %loss.path, "an extension's value loses this between revisions");
        }
        json = translation.value;
    }
    Ok(json.decode_as()?)
}
