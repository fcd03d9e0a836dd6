//! Lists in pages.

use mcp_adapters::hub;
use mcp_adapters::mcp_wire::ErrorObject;

use super::invalid;

/// The items of the page that is asked for, and the cursor of the next. A cursor is the number of items before a page.
pub(super) fn page<'i, T: Clone + 'i>(
    items: impl ExactSizeIterator<Item = &'i T>,
    params: Option<&hub::PaginatedRequestParams>,
    size: usize,
) -> Result<(Vec<T>, Option<String>), ErrorObject> {
    let cursor = params.and_then(|params| params.cursor.as_deref());
    let begin = match cursor {
        None => 0,
        Some(cursor) => match cursor.parse::<usize>() {
            Ok(begin) if begin < items.len() => begin,
            _ => return Err(invalid("Invalid cursor".to_owned())),
        },
    };
    let end = begin.saturating_add(size);
    let next = (end < items.len()).then(|| end.to_string());
    Ok((items.skip(begin).take(size).cloned().collect(), next))
}
