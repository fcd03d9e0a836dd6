//! Resources.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use mcp_adapters::hub;
use mcp_adapters::mcp_wire::{ErrorObject, OpenJson};
use serde_json::json;

use super::caching::Caching;
use super::call::{Call, Function};

/// A resource, and the function that reads it; [`resource()`] makes one.
#[derive(Clone)]
pub struct ResourceRoute {
    pub(super) resource: hub::Resource,
    read: Function<(), hub::ReadResourceResult>,
    caching: Caching,
}

/// The results that a function that reads a resource may have.
pub trait IntoContents: Send + 'static {
    /// The contents of the resource with this URI and media type.
    fn into_contents(self, uri: &str, mime_type: Option<&str>) -> Vec<hub::AnyResourceContents>;
}

impl IntoContents for Vec<hub::AnyResourceContents> {
    fn into_contents(self, _: &str, _: Option<&str>) -> Vec<hub::AnyResourceContents> {
        self
    }
}

impl IntoContents for String {
    fn into_contents(self, uri: &str, mime_type: Option<&str>) -> Vec<hub::AnyResourceContents> {
        let mut contents = hub::TextResourceContents::new(self, uri);
        contents.mime_type = mime_type.map(str::to_owned);
        vec![contents.into()]
    }
}

impl IntoContents for &'static str {
    fn into_contents(self, uri: &str, mime_type: Option<&str>) -> Vec<hub::AnyResourceContents> {
        self.to_owned().into_contents(uri, mime_type)
    }
}

/// A resource from a function that reads it.
pub fn resource<R, F>(resource: hub::Resource, read: impl Fn(Call) -> F + Send + Sync + 'static) -> ResourceRoute
where
    R: IntoContents,
    F: Future<Output = Result<R, ErrorObject>> + Send + 'static,
{
    let (uri, mime_type) = (resource.uri.clone(), resource.mime_type.clone());
    let read: Function<(), _> = Arc::new(move |(), call| {
        let reading = read(call);
        let (uri, mime_type) = (uri.clone(), mime_type.clone());
        Box::pin(async move {
            let contents = reading.await?.into_contents(&uri, mime_type.as_deref());
            Ok(hub::ReadResourceResult::new(contents))
        })
    });
    ResourceRoute {
        resource,
        read,
        caching: Caching::default(),
    }
}

impl ResourceRoute {
    /// Sets how long clients may keep the contents, and who may share them: `ttlMs` and `cacheScope`. Private contents are for
    /// clients with the same authorization. By default they may not be kept.
    ///
    /// Clients that have subscribed to the resource are told by [`Router::resource_updated`](super::Router::resource_updated)
    /// when it changes earlier.
    ///
    /// [Specification](https://modelcontextprotocol.io/specification/2026-07-28/schema#cacheableresult)
    #[must_use]
    pub fn cache(mut self, ttl: Duration, scope: hub::CacheScope) -> Self {
        self.caching = Caching::new(ttl, scope);
        self
    }

    pub(super) async fn read(&self, call: Call) -> Result<hub::ReadResourceResult, ErrorObject> {
        let mut result = (self.read)((), call).await?;
        (result.ttl_ms, result.cache_scope) = self.caching.members();
        Ok(result)
    }
}

/// The error for a resource that doesn't exist, for functions that read the resources of a template.
#[must_use]
pub fn resource_not_found(uri: &str) -> ErrorObject {
    let mut error = ErrorObject::new(hub::error_code::RESOURCE_NOT_FOUND, "Resource not found");
    error.data = Some(OpenJson::from(json!({"uri": uri})));
    error
}

impl fmt::Debug for ResourceRoute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ResourceRoute").field(&self.resource.uri).finish()
    }
}
