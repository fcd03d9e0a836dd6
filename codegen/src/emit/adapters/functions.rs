//! What is in the hand-written files that rules call.

use std::collections::BTreeSet;

use crate::problem::Place;

/// The functions of a Rust file that the crate around it can call.
///
/// # Errors
/// Where and why the file doesn't parse.
pub fn callable_functions(text: &str) -> Result<BTreeSet<String>, (Place, String)> {
    let file = syn::parse_file(text).map_err(|error| {
        let start = error.span().start();
        let place = Place {
            line: start.line,
            column: start.column + 1,
        };
        (place, error.to_string())
    })?;
    let functions = file.items.into_iter().filter_map(|item| match item {
        syn::Item::Fn(function) if !matches!(function.vis, syn::Visibility::Inherited) => {
            Some(function.sig.ident.to_string())
        }
        _ => None,
    });
    Ok(functions.collect())
}
