//! The lists of a router.

use std::mem::swap;

use mcp_adapters::hub;
use mcp_adapters::mcp_wire::Request;

use super::caching::Caching;
use super::entry::Entry;

/// The result of a method that lists routes.
pub(super) trait List: Sized {
    type Item: Entry;

    /// The method.
    const METHOD: &'static str;

    /// The request for a page.
    fn request(params: hub::PaginatedRequestParams) -> hub::ClientRequest;

    /// A page.
    fn page(items: Vec<Self::Item>, next: Option<String>, caching: &Caching) -> Self;

    fn into_result(self) -> hub::ServerResult;
}

/// The impls for the lists of the hub.
macro_rules! lists {
    ($($list:ident as $variant:ident of $item:ident in $items:ident by $request:ident;)*) => {$(
        impl List for hub::$list {
            type Item = hub::$item;

            const METHOD: &'static str = hub::$request::METHOD;

            fn request(params: hub::PaginatedRequestParams) -> hub::ClientRequest {
                hub::$request::default().with_params(params).into()
            }

            fn page(items: Vec<hub::$item>, next: Option<String>, caching: &Caching) -> Self {
                let mut page = Self::new(items);
                page.next_cursor = next;
                (page.ttl_ms, page.cache_scope) = caching.members();
                page
            }

            fn into_result(self) -> hub::ServerResult {
                hub::ServerResult::$variant(self)
            }
        }
    )*

    /// The cursor of the page after this one.
    pub(super) fn next_cursor(page: &mut hub::ServerResult) -> Option<&mut Option<String>> {
        match page {
            $(hub::ServerResult::$variant(page) => Some(&mut page.next_cursor),)*
            _ => None,
        }
    }

    /// Takes the items of a page of the same list, and puts them before those of this one. It may be kept as long as both may.
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
