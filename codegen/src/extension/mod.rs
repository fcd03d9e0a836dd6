//! Extensions: schemas beside the protocol's, whose types are partly those of the revision that they extend.
//!
//! A definition that the extension's schema repeats from the revision is the revision's type. Everything else goes through the
//! stages that a revision goes through.

mod combine;
mod copies;

use std::collections::BTreeSet;

use combine::Combined;

use crate::load::{Docs, Extension, ExtensionDocuments, check_document};
use crate::normalise::{NormalisedRevision, normalise_revision};
use crate::overlay::Overlay;
use crate::problem::Problems;

/// An extension in shapes.
#[derive(Debug)]
pub(crate) struct NormalisedExtension {
    /// The name of its folder.
    pub(crate) name: String,
    /// The manifest's entry of the extension.
    pub(crate) declared: Extension,
    pub(crate) schema: NormalisedRevision,
    /// The pointers of the definitions that are that revision's.
    pub(crate) imported: BTreeSet<String>,
}

/// Reduces the schema of an extension to shapes.
///
/// # Errors
/// Everything that is wrong with the overlay or the corrected schema, and definitions that have the name of one of the revision's
/// and another shape.
pub(crate) fn normalise_extension(documents: ExtensionDocuments, docs: Docs) -> Result<NormalisedExtension, Problems> {
    let overlay = Overlay::of(documents.own.overlay.clone())?;
    let Combined { schema, imported } = Combined::of(&documents, &overlay)?;
    check_document(&schema)?;
    Ok(NormalisedExtension {
        name: documents.name,
        declared: documents.declared,
        schema: normalise_revision(documents.own, (schema, overlay), docs)?,
        imported,
    })
}
