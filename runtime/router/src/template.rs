//! Resource templates.

use std::fmt;
use std::time::Duration;

use mcp_adapters::hub;
use mcp_adapters::mcp_wire::ErrorObject;
use serde_json::Value;

use super::caching::Caching;
use super::call::{Call, Input};
use super::completion::Completions;
use super::error::RouteError;
use super::function::{BoxedFunction, Function};
use super::schema;
use super::scope::listable;
use super::state::States;
use super::uri_template::{UriTemplate, Variables};

/// A resource template, and the function that reads its resources; created by [`resource_template()`].
#[derive(Clone)]
pub struct TemplateRoute {
    pub(super) template: hub::ResourceTemplate,
    pub(super) completions: Completions,
    pattern: UriTemplate,
    pub(super) function: BoxedFunction<hub::ReadResourceResult>,
    /// The function that lists its resources.
    list: Option<BoxedFunction<Vec<hub::Resource>>>,
    caching: Caching,
}

/// Makes a resource template from a function that reads the resource with a given URI.
///
/// The template is one of [RFC 6570](https://www.rfc-editor.org/rfc/rfc6570), level 2: `{name}` matches unreserved and
/// percent-encoded characters, `{+name}` also reserved ones such as `/`, and `{#name}` a fragment. If several templates
/// match a URI, the first in alphabetical order reads it.
///
/// The function takes extractors, such as [`Uri`](super::Uri), and [`Args`](super::Args) for the values of the
/// variables. It returns text, bytes, contents, an `Option` whose `None` is the error for a resource that doesn't
/// exist, or a `Result` (see [`IntoResult`](super::IntoResult)).
///
/// # Errors
/// [`RouteError::Template`] when the text isn't such a template.
pub fn resource_template<M>(
    template: hub::ResourceTemplate,
    read: impl Function<hub::ReadResourceResult, M>,
) -> Result<TemplateRoute, RouteError> {
    let pattern = UriTemplate::parse(&template.uri_template).map_err(|what| RouteError::Template {
        template: template.uri_template.clone(),
        what,
    })?;
    Ok(TemplateRoute {
        template,
        completions: Completions::default(),
        pattern,
        function: BoxedFunction::new(read),
        list: None,
        caching: Caching::default(),
    })
}

impl TemplateRoute {
    /// Sets how long clients may cache the contents, and who may share them: `ttlMs` and `cacheScope`. Private contents
    /// may only be shared by clients with the same authorization. By default they may not be cached.
    ///
    /// If a resource changes earlier, [`Router::resource_updated`](super::Router::resource_updated) notifies the
    /// clients that have subscribed to it.
    ///
    /// [Specification](https://modelcontextprotocol.io/specification/2026-07-28/schema#cacheableresult)
    #[must_use]
    pub fn cache(mut self, ttl: Duration, scope: hub::CacheScope) -> Self {
        self.caching = Caching::new(ttl, scope);
        self
    }

    /// Adds a function that lists resources that the template reads, such as the rows of a table. It takes extractors,
    /// and is called for each page of the server's resources that a client requests. It always returns all of its
    /// resources: the router sorts them by their URIs together with those of other routes, and makes the pages.
    /// [`Router::resources_changed`](super::Router::resources_changed) notifies clients that the list has changed. A
    /// [filter](super::Router::filter) decides on each resource in the list, but only on the template when a resource
    /// is read.
    ///
    /// ```
    /// use mcp_runtime::router::{RouteError, resource_template};
    /// use mcp_runtime::{Args, Router, State, hub};
    /// use schemars::JsonSchema;
    /// use serde::Deserialize;
    ///
    /// #[derive(Clone)]
    /// struct Notes(Vec<(&'static str, &'static str)>);
    ///
    /// #[derive(Deserialize, JsonSchema)]
    /// struct Title {
    ///     title: String,
    /// }
    ///
    /// fn read(Args(Title { title }): Args<Title>, State(notes): State<Notes>) -> Option<&'static str> {
    ///     let note = notes.0.iter().find(|(name, _)| *name == title);
    ///     note.map(|(_, text)| *text)
    /// }
    ///
    /// fn list(State(notes): State<Notes>) -> Vec<hub::Resource> {
    ///     let titles = notes.0.iter().map(|(title, _)| *title);
    ///     titles.map(|title| hub::Resource::new(title, format!("notes://{title}"))).collect()
    /// }
    ///
    /// let template = hub::ResourceTemplate::new("Notes", "notes://{title}");
    /// let router = Router::new("notes", "1.0")
    ///     .with_state(Notes(vec![("shopping", "Buy bread")]))
    ///     .with(resource_template(template, read)?.list(list));
    /// # Ok::<(), RouteError>(())
    /// ```
    #[must_use]
    pub fn list<M>(mut self, list: impl Function<Vec<hub::Resource>, M>) -> Self {
        self.list = Some(BoxedFunction::new(list));
        self
    }

    /// Gives the functions their states.
    pub(super) fn bind(&mut self, states: &States) -> Result<(), RouteError> {
        let (kind, key) = ("resource template", &self.template.uri_template);
        self.function.bind(kind, key, states)?;
        self.completions.bind(states)?;
        if let Some(list) = &mut self.list {
            list.bind("list of resources", key, states)?;
        }
        let Some(args) = self.function.signature.args(kind, key)? else {
            return Ok(());
        };
        let members = args.texts(kind, key)?;
        args.check_required(kind, key, &members, |variable| {
            self.pattern.names().any(|name| name == variable)
        })
    }

    /// The names of the variables.
    pub(super) fn variable_names(&self) -> impl Iterator<Item = &str> {
        self.pattern.names()
    }

    /// The values of the variables in a URI; `None` if the template doesn't match it.
    pub(super) fn variables(&self, uri: &str) -> Option<Variables> {
        self.pattern.variables(uri)
    }

    /// Whether it lists its resources.
    pub(super) fn has_list(&self) -> bool {
        self.list.is_some()
    }

    /// Whether one of its functions other than the one that reads may send log messages.
    pub(super) fn may_log(&self) -> bool {
        self.completions.may_log() || self.list.as_ref().is_some_and(|list| list.signature.may_log())
    }

    /// Its resources, without those whose URI the template doesn't match.
    pub(super) async fn resources(&self, call: Call) -> Result<Vec<hub::Resource>, ErrorObject> {
        let Some(list) = &self.list else { return Ok(Vec::new()) };
        let mut resources = list.call(call, Input::List).await?;
        resources.retain(|resource| {
            let is_read = self.variables(&resource.uri).is_some();
            if !is_read {
                let (uri, template) = (&resource.uri, &self.template.uri_template);
                tracing::error!(
                    uri,
                    template,
                    "a resource isn't listed, because the template that lists it doesn't match its URI"
                );
            }
            is_read
        });
        Ok(resources)
    }

    pub(super) async fn read(
        &self,
        uri: String,
        variables: Variables,
        call: Call,
    ) -> Result<hub::ReadResourceResult, ErrorObject> {
        let mut variables = variables.into_iter().map(|(name, value)| (name, Value::String(value)));
        let input = Input::Resource {
            uri,
            mime_type: self.template.mime_type.clone(),
            variables: Some(schema::object(&mut variables)),
        };
        let mut result = self.function.call(call, input).await?;
        (result.ttl_ms, result.cache_scope) = self.caching.members();
        Ok(result)
    }
}

listable!(TemplateRoute.template: ResourceTemplate);

impl fmt::Debug for TemplateRoute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let address = &self.template.uri_template;
        f.debug_tuple("TemplateRoute").field(address).finish()
    }
}
