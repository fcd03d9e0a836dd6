//! What a router has around its routes: filters of what a client sees, and middleware.

use std::sync::Arc;

use mcp_runtime_core::internal::Layer;
use mcp_runtime_core::{Context, ServerSide};

use super::entry::Listed;

/// Whether the client of a request sees a route.
pub(super) type Filter = Arc<dyn Fn(&Listed<'_>, &Context<ServerSide>) -> bool + Send + Sync>;

/// Middleware, from the innermost.
pub(super) type Layers = Arc<[Arc<dyn Layer<ServerSide>>]>;

/// What a router has around its routes, which keep it in a router that takes them.
#[derive(Clone, Default)]
pub(super) struct Scope {
    pub(super) filters: Vec<Filter>,
    pub(super) layers: Layers,
}

impl Scope {
    /// Adds middleware around what is there.
    pub(super) fn layer(&mut self, layer: Arc<dyn Layer<ServerSide>>) {
        self.layers = self.layers.iter().cloned().chain([layer]).collect();
    }

    /// Adds the scope of a router around what is there.
    pub(super) fn extend(&mut self, around: &Self) {
        self.filters.extend_from_slice(&around.filters);
        self.layers = self.layers.iter().chain(&*around.layers).cloned().collect();
    }
}

/// A route, as filters and lists take it.
pub(super) trait Listable {
    /// Its entry in the list.
    fn listed(&self) -> Listed<'_>;

    /// That of the routers that it came from.
    fn scope(&self) -> &Scope;
}

/// The impl for a route.
macro_rules! listable {
    ($route:ident.$item:ident: $listed:ident) => {
        impl $crate::scope::Listable for $route {
            fn listed(&self) -> $crate::entry::Listed<'_> {
                $crate::entry::Listed::$listed(&self.$item)
            }

            fn scope(&self) -> &$crate::scope::Scope {
                &self.function.scope
            }
        }

        impl $route {
            /// Adds middleware around the calls of this route alone, such as a
            /// [`TimeLimit`]($crate::middleware::TimeLimit): of several, the last is the outermost. It is within that of the router.
            #[must_use]
            pub fn layer(
                mut self,
                middleware: impl mcp_runtime_core::Middleware<mcp_runtime_core::ServerSide>,
            ) -> Self {
                self.function.scope.layer(::std::sync::Arc::new(middleware));
                self
            }
        }
    };
}
pub(super) use listable;
