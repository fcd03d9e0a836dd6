//! The filters and middleware of a router, which apply to its routes.

use std::sync::Arc;

use mcp_runtime_core::internal::Layer;
use mcp_runtime_core::{Context, ServerSide};

use super::entry::ListEntry;

/// Whether the client of a request sees a route.
pub(super) type Filter = Arc<dyn Fn(&ListEntry<'_>, &Context<ServerSide>) -> bool + Send + Sync>;

/// Middleware, starting with the innermost.
pub(super) type Layers = Arc<[Arc<dyn Layer<ServerSide>>]>;

/// The filters and middleware that apply to a router's routes. Routes keep them when they are added to another router.
#[derive(Clone, Default)]
pub(super) struct Scope {
    pub(super) filters: Vec<Filter>,
    pub(super) layers: Layers,
}

impl Scope {
    /// Adds middleware around the existing one.
    pub(super) fn layer(&mut self, layer: Arc<dyn Layer<ServerSide>>) {
        self.layers = self.layers.iter().cloned().chain([layer]).collect();
    }

    /// Adds the scope of another router around this one.
    pub(super) fn extend(&mut self, around: &Self) {
        self.filters.extend_from_slice(&around.filters);
        self.layers = self.layers.iter().chain(&*around.layers).cloned().collect();
    }

    /// Adds the scope of another router around this one, and a prefix to the names of the entries. The filters get the
    /// names without it, so that they show the same entries as before.
    pub(super) fn nest(&mut self, prefix: &str, around: &Self) {
        self.extend(around);
        if prefix.is_empty() {
            return;
        }
        for filter in &mut self.filters {
            let (inner, prefix) = (Arc::clone(filter), prefix.to_owned());
            *filter = Arc::new(move |entry, context| entry.without_prefix(&prefix, |entry| inner(entry, context)));
        }
    }
}

/// A route that has an entry in a list, and a scope.
pub(super) trait Listable {
    /// Its entry in the list.
    fn listed(&self) -> ListEntry<'_>;

    /// The scope of the routers that it came from.
    fn scope(&self) -> &Scope;
}

/// The impl for a route.
macro_rules! listable {
    ($route:ident.$item:ident: $listed:ident) => {
        impl $crate::scope::Listable for $route {
            fn listed(&self) -> $crate::entry::ListEntry<'_> {
                $crate::entry::ListEntry::$listed(&self.$item)
            }

            fn scope(&self) -> &$crate::scope::Scope {
                &self.function.scope
            }
        }

        impl $route {
            /// Adds middleware around the calls of only this route, such as a
            /// [`TimeLimit`]($crate::middleware::TimeLimit). The middleware that is added last is the outermost. All of
            /// it is within the router's middleware.
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
