//! The lists of a router.

use mcp_adapters::hub;
use mcp_adapters::mcp_wire::Request;

use super::caching::Caching;
use super::source::Entry;

/// The result of a method that lists routes.
pub(super) trait List: Sized {
    type Item: Entry;

    /// The method.
    const METHOD: &'static str;

    /// The request for a page.
    fn request(params: hub::PaginatedRequestParams) -> hub::ClientRequest;

    /// A page.
    fn page(items: Vec<Self::Item>, next: Option<String>, caching: &Caching) -> Self;

    /// Puts items before those of the page. It may be kept as long as both may.
    fn prepend(&mut self, items: Vec<Self::Item>, caching: &Caching);

    /// The cursor of the next page.
    fn next(&mut self) -> &mut Option<String>;

    fn into_result(self) -> hub::ServerResult;

    /// The page, if the result is one.
    fn of_result(result: hub::ServerResult) -> Option<Self>;
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

            fn prepend(&mut self, items: Vec<hub::$item>, caching: &Caching) {
                self.$items.splice(0..0, items);
                (self.ttl_ms, self.cache_scope) = caching.with(self.ttl_ms, &self.cache_scope).members();
            }

            fn next(&mut self) -> &mut Option<String> {
                &mut self.next_cursor
            }

            fn into_result(self) -> hub::ServerResult {
                hub::ServerResult::$variant(self)
            }

            fn of_result(result: hub::ServerResult) -> Option<Self> {
                match result {
                    hub::ServerResult::$variant(page) => Some(page),
                    _ => None,
                }
            }
        }
    )*};
}

lists! {
    ListPromptsResult as ListPrompts of Prompt in prompts by ListPromptsRequest;
    ListResourcesResult as ListResources of Resource in resources by ListResourcesRequest;
    ListResourceTemplatesResult as ListResourceTemplates of ResourceTemplate in resource_templates by ListResourceTemplatesRequest;
    ListToolsResult as ListTools of Tool in tools by ListToolsRequest;
}
