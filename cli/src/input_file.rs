//! Files that the arguments name.

use std::path::Path;
use std::{fs, io};

/// Reads a text file, without the byte order mark with which some editors start it.
pub fn read_text(file: impl AsRef<Path>) -> io::Result<String> {
    let mut text = fs::read_to_string(file)?;
    if text.starts_with('\u{feff}') {
        text.remove(0);
    }
    Ok(text)
}
