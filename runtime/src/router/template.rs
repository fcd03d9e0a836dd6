//! Resource templates.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use mcp_adapters::hub;
use mcp_adapters::mcp_wire::ErrorObject;

use super::caching::Caching;
use super::call::{Call, Function};
use super::completion::{CompletionRequest, Completions};
use super::error::RouteError;
use super::resource::IntoContents;
use super::uri_template::{UriTemplate, Variables};

/// A resource template, and the function that reads its resources; [`resource_template()`] makes one.
#[derive(Clone)]
pub struct TemplateRoute {
    pub(super) template: hub::ResourceTemplate,
    pub(super) completions: Completions,
    pattern: UriTemplate,
    read: Function<(String, Variables), hub::ReadResourceResult>,
    caching: Caching,
}

/// A resource template from a function that reads the resource with a given URI.
///
/// The template is one of [RFC 6570](https://www.rfc-editor.org/rfc/rfc6570), level 2: `{name}` stands for characters that
/// need no escape in a URI, `{+name}` also for reserved ones such as `/`, and `{#name}` for a fragment. If several
/// templates match a URI, the first in alphabetical order reads it.
///
/// # Errors
/// [`RouteError::Template`] when the text is not such a template.
pub fn resource_template<R, F>(
    template: hub::ResourceTemplate,
    read: impl Fn(String, Variables, Call) -> F + Send + Sync + 'static,
) -> Result<TemplateRoute, RouteError>
where
    R: IntoContents,
    F: Future<Output = Result<R, ErrorObject>> + Send + 'static,
{
    let pattern = UriTemplate::parse(&template.uri_template).map_err(|what| RouteError::Template {
        template: template.uri_template.clone(),
        what,
    })?;
    let mime_type = template.mime_type.clone();
    let read: Function<(String, Variables), _> = Arc::new(move |(uri, variables), call| {
        let reading = read(uri.clone(), variables, call);
        let mime_type = mime_type.clone();
        Box::pin(async move {
            let contents = reading.await?.into_contents(&uri, mime_type.as_deref());
            Ok(hub::ReadResourceResult::new(contents))
        })
    });
    Ok(TemplateRoute {
        template,
        completions: Completions::default(),
        pattern,
        read,
        caching: Caching::default(),
    })
}

impl TemplateRoute {
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

    /// Adds a function that completes a variable.
    #[must_use]
    pub fn complete<F>(
        mut self,
        variable: impl Into<String>,
        complete: impl Fn(CompletionRequest, Call) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Vec<String>> + Send + 'static,
    {
        self.completions.insert(variable, complete);
        self
    }

    /// The names of the variables.
    pub(super) fn variable_names(&self) -> impl Iterator<Item = &str> {
        self.pattern.names()
    }

    /// The values of the variables in a URI; `None` if the template doesn't match it.
    pub(super) fn variables(&self, uri: &str) -> Option<Variables> {
        self.pattern.variables(uri)
    }

    pub(super) async fn read(
        &self,
        uri: String,
        variables: Variables,
        call: Call,
    ) -> Result<hub::ReadResourceResult, ErrorObject> {
        let mut result = (self.read)((uri, variables), call).await?;
        (result.ttl_ms, result.cache_scope) = self.caching.members();
        Ok(result)
    }
}

impl fmt::Debug for TemplateRoute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let address = &self.template.uri_template;
        f.debug_tuple("TemplateRoute").field(address).finish()
    }
}
