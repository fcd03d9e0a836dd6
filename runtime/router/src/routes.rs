//! Adding single tools, resources and prompts to a router, and removing them.

use std::sync::Arc;

use mcp_adapters::hub;
use mcp_runtime_core::Change;

use super::catalogue::Routes;
use super::error::{RouteError, or_panic};
use super::function::Function;
use super::prompt::prompt;
use super::route::Route;
use super::tool::try_tool;
use crate::Router;

impl Router {
    /// Adds a tool from a function; see [`tool()`](super::tool()).
    ///
    /// # Panics
    /// When [`Self::try_tool`] returns an error.
    #[must_use]
    #[track_caller]
    pub fn tool<M>(
        self,
        name: impl Into<String>,
        description: impl Into<String>,
        function: impl Function<hub::AnyCallToolResult, M>,
    ) -> Self {
        or_panic(self.try_tool(name, description, function))
    }

    /// Adds a tool from a function, unless the router refuses it; see [`tool()`](super::tool()).
    ///
    /// # Errors
    /// Those of [`try_tool`] and of [`Self::insert`].
    pub fn try_tool<M>(
        self,
        name: impl Into<String>,
        description: impl Into<String>,
        function: impl Function<hub::AnyCallToolResult, M>,
    ) -> Result<Self, RouteError> {
        self.try_with(try_tool(name, description, function)?)
    }

    /// Adds a prompt from a function; see [`prompt()`], which takes a whole prompt, with members besides its name and
    /// description.
    ///
    /// # Panics
    /// When [`Self::try_prompt`] returns an error.
    #[must_use]
    #[track_caller]
    pub fn prompt<M>(
        self,
        name: impl Into<String>,
        description: impl Into<String>,
        function: impl Function<hub::GetPromptResult, M>,
    ) -> Self {
        or_panic(self.try_prompt(name, description, function))
    }

    /// Adds a prompt from a function, unless the router refuses it; see [`prompt()`].
    ///
    /// # Errors
    /// Those of [`Self::insert`].
    pub fn try_prompt<M>(
        self,
        name: impl Into<String>,
        description: impl Into<String>,
        function: impl Function<hub::GetPromptResult, M>,
    ) -> Result<Self, RouteError> {
        self.try_with(prompt(hub::Prompt::new(name).with_description(description), function))
    }

    /// Adds a tool, resource, resource template or prompt.
    ///
    /// # Panics
    /// When [`Self::try_with`] returns an error.
    #[must_use]
    #[track_caller]
    pub fn with(self, route: impl Into<Route>) -> Self {
        or_panic(self.try_with(route))
    }

    /// Adds a tool, resource, resource template or prompt, unless the router refuses it.
    ///
    /// # Errors
    /// Those of [`Self::insert`].
    pub fn try_with(self, route: impl Into<Route>) -> Result<Self, RouteError> {
        self.insert(route)?;
        Ok(self)
    }

    /// Adds a tool, resource, resource template or prompt, and notifies the clients that the list has changed.
    ///
    /// A client is notified only if the server had the capability when the client's session started, that is, if it had
    /// any route of that kind then.
    ///
    /// # Errors
    /// When its name or URI is empty, when the address of a resource isn't a URI, when the router already has a route
    /// of its kind and name, when its function takes something that the router can't provide, such as a state, when it
    /// has a completion for an argument that it doesn't have, and when a list with it is invalid in some revision.
    pub fn insert(&self, route: impl Into<Route>) -> Result<(), RouteError> {
        self.put(route.into(), false).map(|_| ())
    }

    fn put(&self, mut route: Route, may_replace: bool) -> Result<bool, RouteError> {
        if let Route::Tool(tool) = &mut route
            && self.inner.inlines_schemas
        {
            tool.inline_schemas();
        }
        self.inner.catalogue.insert(route, &self.inner.states, may_replace)
    }

    /// Adds a tool, resource, resource template or prompt, or replaces the one of its kind and name, and notifies the
    /// clients that the list has changed. Returns whether it has replaced one.
    ///
    /// Running calls continue with the old one. Clients that have subscribed to a resource stay subscribed;
    /// [`Self::resource_updated`] notifies them of its new contents.
    ///
    /// # Errors
    /// Those of [`Self::insert`], except for the duplicate name.
    pub fn replace(&self, route: impl Into<Route>) -> Result<bool, RouteError> {
        self.put(route.into(), true)
    }

    /// Removes a tool, and notifies the clients; `false` if there was none.
    pub fn remove_tool(&self, name: &str) -> bool {
        let remove = |routes: &mut Routes| Arc::make_mut(&mut routes.tools).remove(name);
        self.inner.catalogue.remove(remove, Change::ToolList)
    }

    /// Removes a resource, and notifies the clients; `false` if there was none.
    pub fn remove_resource(&self, uri: &str) -> bool {
        let remove = |routes: &mut Routes| Arc::make_mut(&mut routes.resources).remove(uri);
        self.inner.catalogue.remove(remove, Change::ResourceList)
    }

    /// Removes a resource template by its text, and notifies the clients; `false` if there was none.
    pub fn remove_resource_template(&self, uri_template: &str) -> bool {
        let remove = |routes: &mut Routes| Arc::make_mut(&mut routes.templates).remove(uri_template);
        self.inner.catalogue.remove(remove, Change::ResourceList)
    }

    /// Removes a prompt, and notifies the clients; `false` if there was none.
    pub fn remove_prompt(&self, name: &str) -> bool {
        let remove = |routes: &mut Routes| Arc::make_mut(&mut routes.prompts).remove(name);
        self.inner.catalogue.remove(remove, Change::PromptList)
    }
}
