//! Adding functions to a router that list tools, prompts and resources for each request, in addition to the routes that
//! were added singly.

use std::sync::Arc;

use mcp_adapters::hub;
use mcp_adapters::mcp_wire::ErrorObject;
use mcp_runtime_core::{Change, Context, ServerSide};
use mcp_runtime_util::BoxFuture;

use super::call::Input;
use super::entry::Entry;
use super::error::{RouteError, or_panic};
use super::function::{BoxedFunction, Function};
use super::source::{List, Source, Sources};
use crate::Router;

impl Router {
    /// Adds a function that lists tools, such as those of a database or of a user, and a function that is called for
    /// all of them. Both take extractors. The second function takes [`Name`](super::Name) for the name of the called
    /// tool, and `Args<serde_json::Map<String, Value>>` for its arguments, which have been validated by the listed
    /// input schema. The first function is called whenever a client lists tools, or calls one that wasn't added singly.
    /// The router makes the pages, and [filters](Self::filter) decide on each tool. A tool that was added singly takes
    /// precedence over a listed one with the same name.
    ///
    /// [`Self::tools_changed`] notifies clients that the list has changed.
    ///
    /// ```
    /// use std::collections::BTreeMap;
    ///
    /// use mcp_runtime::router::Name;
    /// use mcp_runtime::{Router, State, hub, mcp_wire};
    ///
    /// #[derive(Clone)]
    /// struct Queries(BTreeMap<String, String>);
    ///
    /// fn list(State(queries): State<Queries>) -> Result<Vec<hub::Tool>, mcp_wire::DecodeError> {
    ///     let schema: mcp_wire::RawObject = mcp_wire::from_str(r#"{"type":"object"}"#)?;
    ///     Ok(queries.0.keys().map(|name| hub::Tool::new(name, schema.clone())).collect())
    /// }
    ///
    /// async fn run(State(queries): State<Queries>, Name(name): Name) -> Result<String, &'static str> {
    ///     queries.0.get(&name).cloned().ok_or("the query is gone")
    /// }
    ///
    /// let queries = BTreeMap::from([("users".to_owned(), "select * from users".to_owned())]);
    /// let router = Router::new("queries", "1.0").with_state(Queries(queries)).tools(list, run);
    /// ```
    ///
    /// # Panics
    /// When [`Self::try_tools`] returns an error.
    #[must_use]
    #[track_caller]
    pub fn tools<L, M>(
        self,
        list: impl Function<Vec<hub::Tool>, L>,
        call: impl Function<hub::AnyCallToolResult, M>,
    ) -> Self {
        or_panic(self.try_tools(list, call))
    }

    /// Adds a function that lists tools, and one that is called for them, unless the router refuses one of the two; see
    /// [`Self::tools`].
    ///
    /// # Errors
    /// When a function takes something that the router can't provide, such as a state.
    pub fn try_tools<L, M>(
        self,
        list: impl Function<Vec<hub::Tool>, L>,
        call: impl Function<hub::AnyCallToolResult, M>,
    ) -> Result<Self, RouteError> {
        let run = self.bound("tool", call)?;
        let source = self.source("list of tools", list, run)?;
        self.inner.catalogue.change(|routes| routes.sources.tools.push(source));
        self.inner.catalogue.notify(&Change::ToolList);
        Ok(self)
    }

    /// Adds a function that lists prompts, and one that fills them in, as [`Self::tools`] does for tools.
    /// [`Self::prompts_changed`] notifies clients that the list has changed.
    ///
    /// # Panics
    /// When [`Self::try_prompts`] returns an error.
    #[must_use]
    #[track_caller]
    pub fn prompts<L, M>(
        self,
        list: impl Function<Vec<hub::Prompt>, L>,
        fill: impl Function<hub::GetPromptResult, M>,
    ) -> Self {
        or_panic(self.try_prompts(list, fill))
    }

    /// Adds a function that lists prompts, and one that fills them in, unless the router refuses one of the two; see
    /// [`Self::prompts`].
    ///
    /// # Errors
    /// Those of [`Self::try_tools`].
    pub fn try_prompts<L, M>(
        self,
        list: impl Function<Vec<hub::Prompt>, L>,
        fill: impl Function<hub::GetPromptResult, M>,
    ) -> Result<Self, RouteError> {
        let run = self.bound("prompt", fill)?;
        let source = self.source("list of prompts", list, run)?;
        self.inner
            .catalogue
            .change(|routes| routes.sources.prompts.push(source));
        self.inner.catalogue.notify(&Change::PromptList);
        Ok(self)
    }

    /// Adds a function that lists resources, which templates read. It takes extractors, and lists the resources of all
    /// templates; [`TemplateRoute::list`](super::TemplateRoute::list) adds a function for one template.
    /// [`Self::resources_changed`] notifies clients that the list has changed.
    ///
    /// # Panics
    /// When [`Self::try_resources`] returns an error.
    #[must_use]
    #[track_caller]
    pub fn resources<L>(self, list: impl Function<Vec<hub::Resource>, L>) -> Self {
        or_panic(self.try_resources(list))
    }

    /// Adds a function that lists resources, unless the router refuses it; see [`Self::resources`].
    ///
    /// # Errors
    /// Those of [`Self::try_tools`].
    pub fn try_resources<L>(self, list: impl Function<Vec<hub::Resource>, L>) -> Result<Self, RouteError> {
        let source = self.source("list of resources", list, ())?;
        self.inner
            .catalogue
            .change(|routes| routes.sources.resources.push(source));
        self.inner.catalogue.notify(&Change::ResourceList);
        Ok(self)
    }

    fn source<T: 'static, R, L>(
        &self,
        kind: &'static str,
        list: impl Function<Vec<T>, L>,
        run: R,
    ) -> Result<Arc<Source<T, R>>, RouteError> {
        let (list, prefix) = (self.bound(kind, list)?, String::new());
        Ok(Arc::new(Source { list, run, prefix }))
    }

    fn bound<T: 'static, M>(
        &self,
        kind: &'static str,
        function: impl Function<T, M>,
    ) -> Result<BoxedFunction<T>, RouteError> {
        let mut function = BoxedFunction::new(function);
        // The names are known only when the function lists them.
        function.bind(kind, "*", &self.inner.states)?;
        Ok(function)
    }

    /// Returns the entries that functions list and the client sees.
    pub(super) async fn listed<T: Entry, R>(
        &self,
        sources: impl Fn(&Sources) -> &List<T, R>,
        context: &Context<ServerSide>,
    ) -> Result<Vec<T>, ErrorObject> {
        let sources = sources(&self.inner.catalogue.routes().sources).clone();
        let mut all = Vec::new();
        for source in &sources {
            all.append(&mut self.listed_by(&source.list, &source.prefix, context).await?);
        }
        Ok(all)
    }

    /// Finds the entry with a name that a function lists, if the client sees it, and the source with that function.
    pub(super) async fn find_listed<T: Entry, R>(
        &self,
        sources: impl Fn(&Sources) -> &List<T, R>,
        name: &str,
        context: &Context<ServerSide>,
    ) -> Result<Option<(Arc<Source<T, R>>, T)>, ErrorObject> {
        let sources = sources(&self.inner.catalogue.routes().sources).clone();
        for source in sources.into_iter().filter(|source| name.starts_with(&source.prefix)) {
            let listed = self.listed_by(&source.list, &source.prefix, context).await?;
            if let Some(entry) = listed.into_iter().find(|entry| entry.key() == name) {
                return Ok(Some((source, entry)));
            }
        }
        Ok(None)
    }

    fn listed_by<'a, T: Entry>(
        &'a self,
        list: &'a BoxedFunction<Vec<T>>,
        prefix: &'a str,
        context: &'a Context<ServerSide>,
    ) -> BoxFuture<'a, Result<Vec<T>, ErrorObject>> {
        Box::pin(async move {
            let mut entries = list.call(self.call(context), Input::List).await?;
            for name in entries.iter_mut().filter_map(Entry::name_mut) {
                name.insert_str(0, prefix);
            }
            entries.retain(|entry| self.allows(&entry.listed(), &list.scope, context));
            Ok(entries)
        })
    }
}
