//! The overlay that a new revision inherits.

use std::path::Path;

use super::annotations::annotations_of_new_messages;
use super::error_codes::{defined_errors, with_codes_in};
use super::inferred::Inference;
use super::inherited_members::annotations_of_inherited_members;
use super::moved_definitions::{Moved, moved_definitions};
use super::moved_places::with_places_in;
use super::successor::Successor;
use crate::cache::Cache;
use crate::error::GenerateError;
use crate::load::{Document, Entry, Format, Manifest, OVERLAY, Revision, SCHEMA, load_known, read_text};
use crate::overlay::{Overlay, apply_overlay};
use crate::problem::Problems;

/// Derives the overlay of a new revision, or of a new version of an extension, from the overlay and the schema of the
/// previous one.
pub(super) fn inherited_overlay(
    (directory, cache): (&Path, &Cache),
    predecessor: Option<&Entry>,
    (revision, schema): (&Revision, &Document),
    (manifest, is_extension): (&Manifest, bool),
) -> Result<Option<Successor>, GenerateError> {
    let Some(entry) = predecessor else {
        return Ok(None);
    };
    let link = |definition: &str| manifest.link(entry, definition, is_extension);
    let folder = directory.join(entry.revision.as_str());
    let text = read_text(&folder.join(OVERLAY))?.unwrap_or_default();
    let names = (entry.revision.as_str(), revision.as_str());
    let overlay = Document::parse(OVERLAY, text.as_bytes(), Format::Yaml)?;
    // The problems of the previous revision aren't those of this one.
    let Ok((official, before)) = corrected((&folder.join(SCHEMA), cache), overlay.clone()) else {
        return Ok(Some(Successor::new(&text, names, schema)?));
    };
    let schemas = [official.root(), schema.root()];
    let moved = moved_definitions(schemas);
    let text = with_codes_in(schemas, (&text, &overlay));
    let text = with_places_in(schemas, &moved, (&text, overlay.root()));
    let mut successor = Successor::new(&text, names, schema)?;
    let inference = Inference::new([before.root(), schema.root()], &moved);
    let inferred = inference
        .unions()
        .chain(inference.responses())
        .chain(inference.results());
    for (section, says) in inferred.chain(moved.iter().filter_map(Moved::keep_name)) {
        let why = "The schema lacks this or has other names for it than that of the previous revision.";
        successor.add(section, &says, why, &link("JSONRPCMessage"));
    }
    for (section, says) in annotations_of_new_messages([official.root(), before.root()], schema.root(), &moved) {
        let why = "A new message has these members as the other messages have them.";
        successor.add(section, &says, why, &link("JSONRPCMessage"));
    }
    for (section, says) in annotations_of_inherited_members(before.root(), schema.root(), &moved) {
        let why = "The definition has this member from another one now.";
        successor.add(section, &says, why, &link("JSONRPCMessage"));
    }
    for (definition, says) in defined_errors(schema.root(), overlay.root()) {
        let why = format!("The schema defines this code by {definition}.");
        successor.add("error_codes", &says, &why, &link(definition));
    }
    Ok(Some(successor))
}

/// Reads a schema, and corrects it by an overlay. Returns it before and after.
fn corrected((schema, cache): (&Path, &Cache), overlay: Document) -> Result<(Document, Document), Problems> {
    let official = load_known(schema, &cache.files)?;
    let corrected = apply_overlay(&official, &Overlay::of(overlay)?)?;
    Ok((official, corrected))
}
