//! Resources.

use std::fmt;
use std::time::Duration;

use mcp_adapters::hub;
use mcp_adapters::mcp_wire::ErrorObject;

use super::caching::Caching;
use super::call::{Call, Input};
use super::error::RouteError;
use super::function::{BoxedFunction, Function};
use super::scope::listable;
use super::state::States;

/// A resource, and the function that reads it; created by [`resource()`].
#[derive(Clone)]
pub struct ResourceRoute {
    pub(super) resource: hub::Resource,
    pub(super) function: BoxedFunction<hub::ReadResourceResult>,
    caching: Caching,
}

/// Makes a resource from a function that reads it.
///
/// The function takes extractors (see [`FromCall`](super::FromCall)), and returns text, bytes, contents, an `Option` or
/// a `Result` (see [`IntoResult`](super::IntoResult)).
pub fn resource<M>(resource: hub::Resource, read: impl Function<hub::ReadResourceResult, M>) -> ResourceRoute {
    ResourceRoute {
        resource,
        function: BoxedFunction::new(read),
        caching: Caching::default(),
    }
}

impl ResourceRoute {
    /// Sets how long clients may cache the contents, and who may share them: `ttlMs` and `cacheScope`. Private contents
    /// may only be shared by clients with the same authorization. By default they may not be cached.
    ///
    /// If the resource changes earlier, [`Router::resource_updated`](super::Router::resource_updated) notifies the
    /// clients that have subscribed to it.
    ///
    /// [Specification](https://modelcontextprotocol.io/specification/2026-07-28/schema#cacheableresult)
    #[must_use]
    pub fn cache(mut self, ttl: Duration, scope: hub::CacheScope) -> Self {
        self.caching = Caching::new(ttl, scope);
        self
    }

    /// Gives the function its states.
    pub(super) fn bind(&mut self, states: &States) -> Result<(), RouteError> {
        self.function.bind("resource", &self.resource.uri, states)
    }

    pub(super) async fn read(&self, call: Call) -> Result<hub::ReadResourceResult, ErrorObject> {
        let input = Input::Resource {
            uri: self.resource.uri.clone(),
            mime_type: self.resource.mime_type.clone(),
            variables: None,
        };
        let mut result = self.function.call(call, input).await?;
        (result.ttl_ms, result.cache_scope) = self.caching.members();
        Ok(result)
    }
}

listable!(ResourceRoute.resource: Resource);

impl fmt::Debug for ResourceRoute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ResourceRoute").field(&self.resource.uri).finish()
    }
}
