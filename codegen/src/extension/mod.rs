//! Extensions: schemas beside the protocol's, whose types are partly those of the revision that they extend.
//!
//! A definition that the extension's schema repeats from the revision is the revision's type. Everything else goes through the
//! stages that a revision goes through.

mod combine;
mod copies;

use std::collections::BTreeSet;

use combine::Combined;

use crate::load::{Docs, Extension, ExtensionDocuments, check_document};
use crate::memo::Memo;
use crate::normalise::{NormalisedRevision, NormalisedSchema, normalise};
use crate::overlay::Overlay;
use crate::problem::Problems;

/// An extension in shapes.
#[derive(Debug)]
pub(crate) struct NormalisedExtension {
    /// The name of its folder.
    pub(crate) name: String,
    /// The manifest's entry of the extension.
    pub(crate) declared: Extension,
    /// What it has as a revision has it.
    pub(crate) own: NormalisedRevision,
    /// The pointers of the definitions that are that revision's.
    pub(crate) imported: BTreeSet<String>,
}

/// The schemas of extensions in shapes, and the pointers of the definitions that are a revision's.
pub(crate) type NormalisedExtensions = Memo<ExtensionDocuments, Result<(NormalisedSchema, BTreeSet<String>), Problems>>;

/// Reduces the schema of an extension to shapes.
///
/// # Errors
/// Everything that is wrong with the overlay or the corrected schema, and definitions that have the name of one of the revision's
/// and another shape.
pub(crate) fn normalise_extension(
    documents: ExtensionDocuments,
    docs: Docs,
    known: &NormalisedExtensions,
) -> Result<NormalisedExtension, Problems> {
    let (schema, imported) = known.get(documents.clone(), normalise_own)?;
    let ExtensionDocuments {
        name,
        declared,
        own: documents,
        ..
    } = documents;
    Ok(NormalisedExtension {
        name,
        declared,
        own: NormalisedRevision {
            documents,
            schema,
            docs,
        },
        imported,
    })
}

fn normalise_own(documents: &ExtensionDocuments) -> Result<(NormalisedSchema, BTreeSet<String>), Problems> {
    let overlay = Overlay::of(documents.own.overlay.clone())?;
    let Combined { schema, imported } = Combined::of(documents, &overlay)?;
    check_document(&schema)?;
    Ok((normalise(schema, overlay)?, imported))
}
