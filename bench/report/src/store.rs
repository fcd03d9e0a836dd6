//! Storage of the numbers of a part as JSON.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::measured::Measured;
use crate::parts::Part;

/// Reads the numbers of a part, if it was measured.
pub fn read(docs: &Path, part: Part) -> Result<Option<Measured>> {
    let path = path(docs, part);
    if !path.exists() {
        return Ok(None);
    }
    let text = std::fs::read_to_string(&path)?;
    let measured = serde_json::from_str(&text).with_context(|| path.display().to_string())?;
    Ok(Some(measured))
}

pub fn write(docs: &Path, part: Part, measured: &Measured) -> Result<()> {
    let path = path(docs, part);
    std::fs::create_dir_all(docs.join("benchmarks"))?;
    Ok(std::fs::write(path, serde_json::to_string_pretty(measured)? + "\n")?)
}

fn path(docs: &Path, part: Part) -> PathBuf {
    docs.join("benchmarks").join(format!("{}.json", part.name()))
}
