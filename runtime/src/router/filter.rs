//! Filters of what a client sees of a router.

use std::sync::Arc;

use mcp_adapters::hub;

use super::prompt::PromptRoute;
use super::resource::ResourceRoute;
use super::template::TemplateRoute;
use super::tool::ToolRoute;
use crate::session::Context;
use crate::side::ServerSide;

/// Whether the client of a request sees a route.
pub(super) type Filter = Arc<dyn Fn(&Listed<'_>, &Context<ServerSide>) -> bool + Send + Sync>;

/// What a filter decides on; see [`Router::filter`](super::Router::filter).
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Listed<'a> {
    /// A tool.
    Tool(&'a hub::Tool),
    /// A resource.
    Resource(&'a hub::Resource),
    /// A resource template.
    ResourceTemplate(&'a hub::ResourceTemplate),
    /// A prompt.
    Prompt(&'a hub::Prompt),
}

/// A route, as filters and lists take it.
pub(super) trait Listable {
    /// Its entry in the list.
    type Item: Clone;

    fn item(&self) -> &Self::Item;
    fn listed(&self) -> Listed<'_>;
    /// The filters of the routers that it came from.
    fn filters(&self) -> &[Filter];
}

macro_rules! listable {
    ($($route:ident.$item:ident: $type:ident as $kind:ident;)*) => {$(
        impl Listable for $route {
            type Item = hub::$type;

            fn item(&self) -> &Self::Item {
                &self.$item
            }

            fn listed(&self) -> Listed<'_> {
                Listed::$kind(&self.$item)
            }

            fn filters(&self) -> &[Filter] {
                &self.function.filters
            }
        }
    )*};
}

listable! {
    ToolRoute.tool: Tool as Tool;
    ResourceRoute.resource: Resource as Resource;
    TemplateRoute.template: ResourceTemplate as ResourceTemplate;
    PromptRoute.prompt: Prompt as Prompt;
}
