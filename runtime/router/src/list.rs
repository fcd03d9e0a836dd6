//! The lists of a router.

use std::collections::HashSet;
use std::mem::swap;

use mcp_adapters::hub;
use mcp_adapters::mcp_wire::Request;

use super::caching::Caching;
use super::entry::{Entry, ListEntry};

/// Declares the enum of the hub's lists, named by their items.
macro_rules! lists {
    ($($list:ident as $variant:ident of $item:ident in $items:ident by $request:ident;)*) => {
    /// A kind of list. An enum rather than a trait, so that the code that makes pages is compiled once.
    #[derive(Clone, Copy)]
    pub(super) enum List {
        $($item,)*
    }

    impl List {
        /// The method that requests the list.
        pub(super) fn method(self) -> &'static str {
            match self {
                $(Self::$item => hub::$request::METHOD,)*
            }
        }

        /// The request for a page.
        pub(super) fn request(self, params: hub::PaginatedRequestParams) -> hub::ClientRequest {
            match self {
                $(Self::$item => hub::$request::default().with_params(params).into(),)*
            }
        }

        /// A page.
        pub(super) fn page(self, items: &[ListEntry<'_>], next: Option<String>, caching: &Caching) -> hub::ServerResult {
            match self {
                $(Self::$item => {
                    let items = items.iter().filter_map(|item| match *item {
                        ListEntry::$item(item) => Some(item.clone()),
                        _ => None,
                    });
                    let mut page = hub::$list::new(items.collect::<Vec<_>>());
                    page.next_cursor = next;
                    (page.ttl_ms, page.cache_scope) = caching.members();
                    hub::ServerResult::$variant(page)
                })*
            }
        }
    }

    impl ListEntry<'_> {
        /// The list that contains this entry.
        pub(super) fn list(self) -> List {
            match self {
                $(Self::$item(_) => List::$item,)*
            }
        }
    }

    /// The cursor of the page after this one.
    pub(super) fn next_cursor(page: &mut hub::ServerResult) -> Option<&mut Option<String>> {
        match page {
            $(hub::ServerResult::$variant(page) => Some(&mut page.next_cursor),)*
            _ => None,
        }
    }

    /// Leaves out of a page the items that have one of these names or URIs.
    pub(super) fn leave_out(page: &mut hub::ServerResult, keys: &HashSet<String>) {
        match page {
            $(hub::ServerResult::$variant(page) => page.$items.retain(|item| !keys.contains(item.key())),)*
            _ => {}
        }
    }

    /// Moves the items of a page of the same list before those of this page. The caching of the result is the stricter
    /// one of both.
    pub(super) fn prepend(page: &mut hub::ServerResult, before: &mut hub::ServerResult, caching: &Caching) {
        match (page, before) {
            $((hub::ServerResult::$variant(page), hub::ServerResult::$variant(before)) => {
                before.$items.append(&mut page.$items);
                swap(&mut before.$items, &mut page.$items);
                (page.ttl_ms, page.cache_scope) = caching.with(page.ttl_ms, &page.cache_scope).members();
            })*
            _ => {}
        }
    }
    };
}

lists! {
    ListPromptsResult as ListPrompts of Prompt in prompts by ListPromptsRequest;
    ListResourcesResult as ListResources of Resource in resources by ListResourcesRequest;
    ListResourceTemplatesResult as ListResourceTemplates of ResourceTemplate in resource_templates by ListResourceTemplatesRequest;
    ListToolsResult as ListTools of Tool in tools by ListToolsRequest;
}
