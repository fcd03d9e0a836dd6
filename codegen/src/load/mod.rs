//! Reads the schema directory. This is the first stage, and with [`crate::files`] the only module that accesses the
//! disk.

mod check;
mod decode;
mod docs;
mod document;
mod family;
mod manifest;
mod parse;
mod places;
mod revision;
mod sources;
mod unused;

use std::fs::File;
use std::io::{self, Read};
use std::ops::Deref;
use std::path::Path;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

pub(crate) use check::PROSE;
pub use check::check_document;
pub(crate) use docs::Docs;
pub use document::{Document, MAX_BYTES};
pub(crate) use family::Family;
pub(crate) use family::crate_part;
pub use family::families;
pub use manifest::{Entry, Extension, MANIFEST, Manifest};
pub use parse::{Format, MAX_DEPTH};
pub(crate) use places::is_within;
pub use revision::{Revision, RevisionError};
pub(crate) use sources::{
    Directory, Loaded, OVERLAY, RevisionDocuments, SCHEMA, SharedDocuments, extension_directory, load,
    optional_document,
};
pub use sources::{NAMES, unlisted_folders};
pub(crate) use unused::without_unused_definitions;

use crate::memo::Memo;
use crate::problem::{Problem, Problems};

/// Reads a file as a document.
///
/// # Errors
///
/// When the file is missing or can't be read, or [`Document::parse`] fails.
pub fn load_document(path: &Path) -> Result<Document, Problems> {
    load_known(path, &Files::default())
}

/// Reads a file as [`load_document`] does, unless the cache has it.
pub(crate) fn load_known(path: &Path, known: &Files) -> Result<Document, Problems> {
    let missing = || Problem::new(path.display().to_string(), "there is no such file").into();
    read_document(path, known)?.ok_or_else(missing)
}

/// A cache of documents, by the names and the bytes of their files.
pub(crate) type Files = Memo<(String, Vec<u8>), Result<Document, Problems>, 128>;

/// Reads a file as a document, if it exists.
fn read_document(path: &Path, known: &Files) -> Result<Option<Document>, Problems> {
    // Reading a pipe would wait for a writer.
    if path.metadata().is_ok_and(|metadata| !metadata.is_file()) {
        return Err(Problem::new(path.display().to_string(), "this isn't a regular file").into());
    }
    let Some(bytes) = if_exists(path, read_bytes(path))? else {
        return Ok(None);
    };
    let document = known.get((path.display().to_string(), bytes), |(name, bytes)| {
        Document::parse(name, bytes, Format::of(name, bytes))
    });
    document.map(Some)
}

/// Reads a file as text, if it exists.
pub(crate) fn read_text(path: &Path) -> Result<Option<String>, Problems> {
    Ok(if_exists(path, std::fs::read_to_string(path))?)
}

/// Returns what was read from a file; `None` if the file doesn't exist.
fn if_exists<T>(path: &Path, read: io::Result<T>) -> Result<Option<T>, Problem> {
    match read {
        Ok(read) => Ok(Some(read)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Problem::new(path.display().to_string(), error.to_string())),
    }
}

/// Reads a file up to one byte more than [`MAX_BYTES`], which is enough to find out that it is too long.
pub(crate) fn read_bytes(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Deserializes the value of a key that is present as `Some`, so that `null` differs from a missing key.
pub(crate) fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// A list of texts, which can be written as a single text if it has one element.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub(crate) struct OneOrMany(pub(crate) Vec<String>);

impl Deref for OneOrMany {
    type Target = [String];

    fn deref(&self) -> &[String] {
        &self.0
    }
}

impl<'de> Deserialize<'de> for OneOrMany {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let many = match Value::deserialize(deserializer)? {
            Value::String(one) => Ok(vec![one]),
            many => serde_json::from_value(many),
        };
        let wrong = |_| D::Error::custom("expected a string or an array of strings");
        many.map(Self).map_err(wrong)
    }
}
