//! Pagination of lists.

use std::collections::BTreeMap;
use std::ops::Bound;

use mcp_adapters::hub;
use mcp_adapters::mcp_wire::ErrorObject;

use crate::error::invalid_params;

/// The prefix of a cursor. It is followed by the key of the last item before the page.
///
/// Because the cursor is a key rather than an index, no item is skipped or repeated when the list changes between two
/// pages.
const AFTER: &str = "after:";

/// Returns the range of keys from the requested page to the end of the list.
pub fn page_range(params: &hub::PaginatedRequestParams) -> Result<(Bound<&str>, Bound<&str>), ErrorObject> {
    let begin = match params.cursor.as_deref() {
        None => Bound::Unbounded,
        Some(cursor) => Bound::Excluded(
            cursor
                .strip_prefix(AFTER)
                .ok_or_else(|| invalid_params("Invalid cursor"))?,
        ),
    };
    Ok((begin, Bound::Unbounded))
}

/// Returns the first `size` items, and the cursor of the next page.
pub fn first_page<T>(items: &mut dyn Iterator<Item = (&str, T)>, size: usize) -> (Vec<T>, Option<String>) {
    let (mut page, mut last) = (Vec::new(), None);
    while page.len() < size
        && let Some((key, item)) = items.next()
    {
        page.push(item);
        last = Some(key);
    }
    let next = last.filter(|_| items.next().is_some());
    (page, next.map(|last| format!("{AFTER}{last}")))
}

/// Returns the items of the requested page, and the cursor of the next page. Entries for which `item` returns `None`
/// are left out.
pub fn page<R, T>(
    entries: &BTreeMap<String, R>,
    params: &hub::PaginatedRequestParams,
    size: usize,
    item: impl Fn(&R) -> Option<T>,
) -> Result<(Vec<T>, Option<String>), ErrorObject> {
    let rest = entries.range::<str, _>(page_range(params)?);
    let mut rest = rest.filter_map(|(key, entry)| Some((key.as_str(), item(entry)?)));
    Ok(first_page(&mut rest, size))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first_page() -> hub::PaginatedRequestParams {
        hub::PaginatedRequestParams::default()
    }

    fn cursor(cursor: &str) -> hub::PaginatedRequestParams {
        hub::PaginatedRequestParams::default().with_cursor(cursor)
    }

    #[test]
    fn the_next_page_continues_after_the_cursor_when_items_were_removed() {
        let mut routes: BTreeMap<String, u8> = [("a", 1), ("b", 2), ("c", 3)].map(|(k, v)| (k.to_owned(), v)).into();
        let (first, next) = page(&routes, &first_page(), 2, |route| Some(*route)).unwrap();
        assert_eq!(first, [1, 2]);
        routes.remove("a");
        routes.remove("b");
        let (second, next) = page(&routes, &cursor(&next.unwrap()), 2, |route| Some(*route)).unwrap();
        assert_eq!((second, next), (vec![3], None));
    }

    #[test]
    fn a_full_last_page_has_no_next_cursor() {
        let routes: BTreeMap<String, u8> = [("a", 1), ("b", 2)].map(|(k, v)| (k.to_owned(), v)).into();
        let (items, next) = page(&routes, &first_page(), 2, |route| Some(*route)).unwrap();
        assert_eq!((items, next), (vec![1, 2], None));
    }

    #[test]
    fn a_malformed_cursor_is_refused() {
        let error = page(&BTreeMap::<String, u8>::new(), &cursor("7"), 2, |route| Some(*route)).unwrap_err();
        assert_eq!(error.message, "Invalid cursor");
    }
}
