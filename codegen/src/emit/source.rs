//! Rust files as text: a header, imports, and items as prettyplease writes them.

use std::collections::BTreeSet;

use proc_macro2::TokenStream;

use crate::error::EmitError;

/// The maximum line width that rustfmt is configured with.
pub(super) const WIDTH: usize = 120;

/// Writes items as prettyplease does.
pub(super) fn unparsed(file: &str, items: syn::Result<syn::File>) -> Result<String, EmitError> {
    let items = items.map_err(|error| EmitError::Unparsable {
        file: file.to_owned(),
        error,
    })?;
    Ok(prettyplease::unparse(&items))
}

/// An expression as text.
pub(super) fn expression(file: &str, code: &TokenStream) -> Result<String, EmitError> {
    let text = unparsed(file, syn::parse2(quote::quote!(const _: () = #code;)))?;
    let text = text.strip_prefix("const _: () = ").unwrap_or(&text).trim_end();
    Ok(text.strip_suffix(';').unwrap_or(text).to_owned())
}

/// An import as rustfmt writes it; nothing if there are no names.
pub(super) fn import(path: &str, names: &BTreeSet<String>) -> String {
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    match names.as_slice() {
        [] => String::new(),
        [name] => format!("use {path}::{name};\n"),
        names => {
            let line = format!("use {path}::{{{}}};\n", names.join(", "));
            if line.len() <= WIDTH {
                return line;
            }
            format!("use {path}::{{\n{}}};\n", wrapped("    ", names))
        }
    }
}

/// Writes the items of a list, as many on a line as fit.
pub(super) fn wrapped(indent: &str, items: &[&str]) -> String {
    let items: Vec<String> = items.iter().map(|item| format!("{item},")).collect();
    let lines = filled(WIDTH - indent.len(), items.iter().map(String::as_str)).into_iter();
    let lines = lines.filter(|line| !line.is_empty());
    lines.map(|line| format!("{indent}{line}\n")).collect()
}

/// Writes words with spaces between them, as many on a line as fit; an empty line if there are none.
pub(super) fn filled<'w>(width: usize, words: impl Iterator<Item = &'w str>) -> Vec<String> {
    let (mut lines, mut line, mut length) = (Vec::new(), String::new(), 0);
    for word in words {
        let added = word.chars().count();
        if length > 0 && length + 1 + added > width {
            lines.push(std::mem::take(&mut line));
            length = 0;
        }
        if length > 0 {
            line.push(' ');
            length += 1;
        }
        line.push_str(word);
        length += added;
    }
    lines.push(line);
    lines
}

/// Joins the parts of a file with an empty line between them.
pub(super) fn file(header: &str, parts: impl IntoIterator<Item = String>) -> String {
    let mut text = header.trim_end().to_owned() + "\n";
    for part in parts {
        let part = part.trim();
        if !part.is_empty() {
            text.push('\n');
            text.push_str(part);
            text.push('\n');
        }
    }
    text
}
