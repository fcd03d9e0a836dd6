//! What the rules of the later revision call.

use crate::{Conversion, Unrepresentable};

/// Figures as text.
pub(crate) fn size_in_words(
    size: Option<i64>,
    _: &mut Conversion,
    _: &'static str,
) -> Result<Option<String>, Unrepresentable> {
    Ok(size.map(|size| size.to_string()))
}

/// Text as figures.
pub(crate) fn size_in_figures(
    size: Option<String>,
    _: &mut Conversion,
    rule: &'static str,
) -> Result<Option<i64>, Unrepresentable> {
    let Some(text) = size else {
        return Ok(None);
    };
    match text.parse() {
        Ok(size) => Ok(Some(size)),
        Err(_) => Err(Unrepresentable::new(-32602, "these are no figures", rule)),
    }
}
