//! The lists of a router.

use mcp_adapters::hub;
use mcp_adapters::mcp_wire::Request;

use super::caching::Caching;
use super::handled::FromHandled;

/// The result of a method that lists routes.
pub(super) trait List: FromHandled {
    type Item: Clone;

    /// The method.
    const METHOD: &'static str;

    /// The request for a page.
    fn request(params: hub::PaginatedRequestParams) -> hub::ClientRequest;

    /// A page.
    fn page(items: Vec<Self::Item>, next: Option<String>, caching: &Caching) -> Self;

    /// The cursor of the next page.
    fn next(&mut self) -> &mut Option<String>;

    fn into_result(self) -> hub::ServerResult;
}

/// The impls for the lists of the hub.
macro_rules! lists {
    ($($list:ident as $variant:ident of $item:ident by $request:ident;)*) => {$(
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

            fn next(&mut self) -> &mut Option<String> {
                &mut self.next_cursor
            }

            fn into_result(self) -> hub::ServerResult {
                hub::ServerResult::$variant(self)
            }
        }
    )*};
}

lists! {
    ListPromptsResult as ListPrompts of Prompt by ListPromptsRequest;
    ListResourcesResult as ListResources of Resource by ListResourcesRequest;
    ListResourceTemplatesResult as ListResourceTemplates of ResourceTemplate by ListResourceTemplatesRequest;
    ListToolsResult as ListTools of Tool by ListToolsRequest;
}
