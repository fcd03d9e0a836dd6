//! Adding methods that the hub doesn't have, and functions that handle notifications, to a router.

use std::sync::Arc;

use mcp_adapters::mcp_wire::{RawJson, Request};

use super::custom::{self, CustomRoute, Listener};
use super::error::{RouteError, or_panic};
use super::function::{Callable, Function};
use super::method::{MethodParameters, MethodReturns, MethodRoute};
use crate::Router;

impl Router {
    /// Adds a method that one revision has and the hub lacks, such as a method of tasks in revision 2025-11-25. The
    /// function takes the request, whose type is that of the revision, and then [extractors](super::FromCall). It
    /// returns a `Result` with the revision's result type, and may be async.
    ///
    /// Clients of this revision that connect afterwards can call the method, and see the capability that it needs. For
    /// clients of other revisions, the method doesn't exist.
    ///
    /// ```
    /// use mcp_adapters::v2025_11_25::{ListTasksRequest, ListTasksResult, Task, TaskStatus};
    /// use mcp_runtime::{ErrorObject, Router, State};
    ///
    /// #[derive(Clone)]
    /// struct Builds(Vec<Task>);
    ///
    /// async fn list(_: ListTasksRequest, State(builds): State<Builds>) -> Result<ListTasksResult, ErrorObject> {
    ///     Ok(ListTasksResult::new(builds.0))
    /// }
    ///
    /// let begun = "2026-07-28T12:00:00Z";
    /// let task = Task::new(begun, begun, TaskStatus::Working, "build-1", None);
    /// let router = Router::new("builds", "1.0").with_state(Builds(vec![task])).method(list);
    /// ```
    ///
    /// # Panics
    /// When [`Self::try_method`] returns an error.
    #[must_use]
    #[track_caller]
    pub fn method<A, M, F>(self, function: F) -> Self
    where
        A: MethodParameters + 'static,
        F: Callable<A, Output: MethodReturns<<A::Request as Request>::Result, M>>,
    {
        or_panic(self.try_method(function))
    }

    /// Adds a method of one revision, unless the router refuses it; see [`Self::method`].
    ///
    /// # Errors
    /// [`RouteError::Method`] when the hub has the method too, when sessions answer it themselves, or when clients
    /// don't call it; [`RouteError::Duplicate`] when the router already has it; those of [`Self::insert`] when its
    /// function takes something that the router can't provide.
    pub fn try_method<A, M, F>(self, function: F) -> Result<Self, RouteError>
    where
        A: MethodParameters + 'static,
        F: Callable<A, Output: MethodReturns<<A::Request as Request>::Result, M>>,
    {
        let mut route = MethodRoute::new(function)?;
        route.function.bind("method", route.name, &self.inner.states)?;
        self.inner
            .catalogue
            .change(|routes| routes.insert_method(Arc::new(route)))?;
        Ok(self)
    }

    /// Adds a method that no revision declares, such as one of an extension or a vendor. The function takes
    /// [extractors](super::FromCall), such as [`Args`](super::Args) for the parameters, and returns JSON.
    ///
    /// Clients of a revision that declares a method of this name can't call it. [`Self::with_capabilities`] declares a
    /// capability that announces the method, such as a member of `extensions`.
    ///
    /// ```
    /// use mcp_runtime::{Args, Router, State};
    /// use schemars::JsonSchema;
    /// use serde::Deserialize;
    /// use serde_json::{Value, json};
    ///
    /// #[derive(Deserialize, JsonSchema)]
    /// struct Vote {
    ///     page: String,
    /// }
    ///
    /// let router = Router::new("wiki", "1.0").custom_method("example/vote", |Args(vote): Args<Vote>| -> Value {
    ///     json!({"resultType": "complete", "page": vote.page})
    /// });
    /// ```
    ///
    /// # Panics
    /// When [`Self::try_custom_method`] returns an error.
    #[must_use]
    #[track_caller]
    pub fn custom_method<M>(self, name: impl Into<String>, function: impl Function<RawJson, M>) -> Self {
        or_panic(self.try_custom_method(name, function))
    }

    /// Adds a method that no revision declares, unless the router refuses it; see [`Self::custom_method`].
    ///
    /// # Errors
    /// [`RouteError::Declared`] when the hub declares the method; [`RouteError::Duplicate`] when the router already has
    /// it; those of [`Self::insert`] when its function takes something that the router can't provide.
    pub fn try_custom_method<M>(
        self,
        name: impl Into<String>,
        function: impl Function<RawJson, M>,
    ) -> Result<Self, RouteError> {
        let mut route = CustomRoute::new(name.into(), function)?;
        route.function.bind(custom::KIND, &route.name, &self.inner.states)?;
        self.inner
            .catalogue
            .change(|routes| routes.insert_custom(Arc::new(route)))?;
        Ok(self)
    }

    /// Adds a function that handles the notifications of a method, such as one of a vendor. It takes
    /// [extractors](super::FromCall), such as [`Args`](super::Args) for the parameters, returns `()` or a `Result` of
    /// it, and may be async; the next notification of the client waits for it. Errors, such as that of parameters that
    /// `Args` can't be decoded from, go to `tracing`, because a notification has no response.
    ///
    /// Over HTTP without sessions, the client's notifications don't reach the function: nothing of a client lasts longer
    /// than its requests.
    ///
    /// The method can also be one that the client's revision declares, such as `notifications/roots/list_changed` of
    /// 2025-11-25, with the parameters that it has there. Several functions for one method are called in the order in
    /// which they were added.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicU64, Ordering};
    ///
    /// use mcp_runtime::{Args, Router, State};
    /// use schemars::JsonSchema;
    /// use serde::Deserialize;
    ///
    /// type Visits = Arc<AtomicU64>;
    ///
    /// #[derive(Deserialize, JsonSchema)]
    /// struct Visited {
    ///     pages: u64,
    /// }
    ///
    /// fn count(Args(visited): Args<Visited>, State(visits): State<Visits>) {
    ///     visits.fetch_add(visited.pages, Ordering::Relaxed);
    /// }
    ///
    /// let router = Router::new("wiki", "1.0")
    ///     .with_state(Visits::default())
    ///     .on_notification("notifications/x/visited", count);
    /// ```
    ///
    /// # Panics
    /// When [`Self::try_on_notification`] returns an error.
    #[must_use]
    #[track_caller]
    pub fn on_notification<M>(self, method: impl Into<String>, function: impl Function<(), M>) -> Self {
        or_panic(self.try_on_notification(method, function))
    }

    /// Adds a function that handles the notifications of a method, unless the router refuses the function; see
    /// [`Self::on_notification`].
    ///
    /// # Errors
    /// Those of [`Self::insert`] when the function takes something that the router can't provide.
    pub fn try_on_notification<M>(
        self,
        method: impl Into<String>,
        function: impl Function<(), M>,
    ) -> Result<Self, RouteError> {
        let mut listener = Listener::new(method.into(), function);
        let Listener { method, function } = &mut listener;
        function.bind(custom::NOTIFICATION, method, &self.inner.states)?;
        self.inner.catalogue.change(|routes| routes.listeners.push(listener));
        Ok(self)
    }
}
