//! The routes of a server, and the clients that are notified when they change.

use std::ops::{Bound, Deref};
use std::sync::{Arc, Weak};

use mcp_adapters::mcp_wire::AddedResult;
use mcp_adapters::{Revision, hub, if_hub_has};
use mcp_runtime_core::Change;
use mcp_runtime_core::internal::Subscriptions;
use mcp_runtime_util::{Budget, Mutex, NameMap};
use serde_json::{Value, json};

use super::custom::{self, CustomRoute, Listener};
use super::error::RouteError;
use super::extension::ExtensionRoute;
use super::method::MethodRoute;
use super::prompt::PromptRoute;
use super::resource::ResourceRoute;
use super::route::Route;
use super::scope::{Listable, Scope};
use super::shared::SharedChanges;
use super::source::Sources;
use super::state::States;
use super::template::TemplateRoute;
use super::tool::ToolRoute;

/// The maximum bytes of the subscriptions of all clients.
const MAX_SUBSCRIBED_BYTES: usize = 256 << 20;

/// The routes of a server, and the clients that are notified when they change.
pub(super) struct Catalogue {
    routes: Mutex<Routes>,
    sessions: Mutex<Sessions>,
    pub(super) shared: Mutex<Option<SharedChanges>>,
    /// The memory budget of the subscriptions of all clients.
    pub(super) subscribed: Arc<Budget>,
}

/// The subscriptions of each client. Dropped ones are removed when the number of entries has doubled since the last
/// removal.
#[derive(Default)]
struct Sessions {
    entries: Vec<Weak<Subscriptions>>,
    remove_at: usize,
}

impl Default for Catalogue {
    fn default() -> Self {
        Self {
            routes: Mutex::default(),
            sessions: Mutex::default(),
            shared: Mutex::default(),
            subscribed: Budget::new(MAX_SUBSCRIBED_BYTES),
        }
    }
}

/// Routes by name or URI. A reader clones the `Arc`, and uses this snapshot without holding the lock.
pub(super) type RouteMap<R> = Arc<NameMap<Arc<R>>>;

/// Routes of any type, by name or URI.
pub(super) trait AnyRoutes: Sync {
    /// The routes in a range of names or URIs, in order.
    fn range<'r>(
        &'r self,
        keys: (Bound<&str>, Bound<&str>),
    ) -> Box<dyn Iterator<Item = (&'r str, &'r dyn Listable)> + 'r>;
}

impl<R: Listable + Send + Sync> AnyRoutes for NameMap<Arc<R>> {
    fn range<'r>(
        &'r self,
        keys: (Bound<&str>, Bound<&str>),
    ) -> Box<dyn Iterator<Item = (&'r str, &'r dyn Listable)> + 'r> {
        Box::new(self.range(keys).map(|(key, route)| (key, &**route as _)))
    }
}

/// The routes of a server, by name or URI.
#[derive(Clone, Default)]
pub(super) struct Routes {
    pub(super) tools: RouteMap<ToolRoute>,
    pub(super) resources: RouteMap<ResourceRoute>,
    pub(super) templates: RouteMap<TemplateRoute>,
    pub(super) prompts: RouteMap<PromptRoute>,
    /// Methods that only one revision has.
    pub(super) methods: Vec<Arc<MethodRoute>>,
    /// Methods that no revision declares, by name.
    pub(super) custom: NameMap<Arc<CustomRoute>>,
    /// Functions that handle notifications, in the order in which they were added.
    pub(super) listeners: Vec<Listener>,
    /// Functions that list tools, prompts and resources.
    pub(super) sources: Sources,
    /// Extensions of the protocol, by id.
    pub(super) extensions: Arc<NameMap<ExtensionRoute>>,
    /// The number of changes so far.
    pub(super) version: u64,
}

impl Catalogue {
    /// Locks the routes, which don't change while this is held.
    pub(super) fn routes(&self) -> impl Deref<Target = Routes> {
        self.routes.lock()
    }

    /// Changes the routes.
    pub(super) fn change<T>(&self, change: impl FnOnce(&mut Routes) -> T) -> T {
        let mut routes = self.routes.lock();
        routes.version += 1;
        change(&mut routes)
    }

    /// Adds a route, whose functions get these states. Returns whether it has replaced another route, which only
    /// `may_replace` allows.
    pub(super) fn insert(&self, mut route: Route, states: &States, may_replace: bool) -> Result<bool, RouteError> {
        route.bind(states)?;
        self.put(route, may_replace)
    }

    /// Adds a route whose functions already have their states.
    fn put(&self, route: Route, may_replace: bool) -> Result<bool, RouteError> {
        route.check()?;
        let change = match &route {
            Route::Tool(_) => Change::ToolList,
            Route::Resource(_) | Route::Template(_) => Change::ResourceList,
            Route::Prompt(_) => Change::PromptList,
        };
        let has_replaced = self.change(|routes| routes.insert(route, may_replace))?;
        self.notify(&change);
        Ok(has_replaced)
    }

    /// Adds the routes of another server. The names of its tools and prompts get a prefix.
    pub(super) fn merge(&self, other: &Self, prefix: &str, scope: &Scope) -> Result<(), RouteError> {
        let other = other.routes().clone();
        let tools = other.tools.values().map(|route| Route::Tool(ToolRoute::clone(route)));
        let resources = other
            .resources
            .values()
            .map(|route| Route::Resource(ResourceRoute::clone(route)));
        let templates = other
            .templates
            .values()
            .map(|route| Route::Template(TemplateRoute::clone(route)));
        let prompts = other
            .prompts
            .values()
            .map(|route| Route::Prompt(PromptRoute::clone(route)));
        for mut route in tools.chain(resources).chain(templates).chain(prompts) {
            route.nest(prefix, scope);
            self.put(route, false)?;
        }
        for route in &other.methods {
            let mut route = MethodRoute::clone(route);
            route.function.scope.extend(scope);
            self.change(|routes| routes.insert_method(Arc::new(route)))?;
        }
        for route in other.custom.values() {
            let mut route = CustomRoute::clone(route);
            route.function.scope.extend(scope);
            self.change(|routes| routes.insert_custom(Arc::new(route)))?;
        }
        self.change(|routes| routes.listeners.extend(other.listeners));
        self.change(|routes| routes.sources.merge(&other.sources, prefix, scope));
        for (id, route) in other.extensions.iter() {
            self.change(|routes| routes.insert_extension(id, route.clone()))?;
        }
        Ok(())
    }

    /// Removes a route with `remove`, and notifies the clients; `false` if there was none.
    pub(super) fn remove<R>(&self, remove: impl FnOnce(&mut Routes) -> Option<R>, change: Change) -> bool {
        let is_removed = self.change(remove).is_some();
        if is_removed {
            self.notify(&change);
        }
        is_removed
    }

    /// Adds a session.
    pub(super) fn add_session(&self, session: &Arc<Subscriptions>) {
        let mut sessions = self.sessions.lock();
        if sessions.entries.len() >= sessions.remove_at {
            sessions.entries.retain(|session| session.strong_count() > 0);
            sessions.remove_at = 2 * sessions.entries.len() + 16;
        }
        sessions.entries.push(Arc::downgrade(session));
    }

    /// Notifies every session, including those of other instances.
    pub(super) fn notify(&self, change: &Change) {
        self.notify_here(change);
        if let Some(shared) = &*self.shared.lock() {
            shared.send(change);
        }
    }

    /// Notifies every session of this instance.
    pub(super) fn notify_here(&self, change: &Change) {
        let sessions = self.sessions.lock();
        for session in sessions.entries.iter().filter_map(Weak::upgrade) {
            session.push(change);
        }
    }
}

impl Routes {
    fn insert(&mut self, route: Route, may_replace: bool) -> Result<bool, RouteError> {
        let (kind, key) = (route.kind(), route.key().to_owned());
        match route {
            Route::Tool(route) => put(&mut self.tools, &key, route, may_replace),
            Route::Resource(route) => put(&mut self.resources, &key, route, may_replace),
            Route::Template(route) => put(&mut self.templates, &key, route, may_replace),
            Route::Prompt(route) => put(&mut self.prompts, &key, route, may_replace),
        }
        .ok_or(RouteError::Duplicate { kind, key })
    }

    pub(super) fn insert_method(&mut self, route: Arc<MethodRoute>) -> Result<(), RouteError> {
        if self.method(route.name, route.revision).is_some() {
            let (kind, key) = ("method", route.name.to_owned());
            return Err(RouteError::Duplicate { kind, key });
        }
        self.methods.push(route);
        Ok(())
    }

    pub(super) fn insert_custom(&mut self, route: Arc<CustomRoute>) -> Result<(), RouteError> {
        if self.custom.contains_key(&route.name) {
            let (kind, key) = (custom::KIND, route.name.to_string());
            return Err(RouteError::Duplicate { kind, key });
        }
        self.custom.insert(route.name.to_string(), route);
        Ok(())
    }

    pub(super) fn insert_extension(&mut self, id: &str, route: ExtensionRoute) -> Result<(), RouteError> {
        if self.extensions.contains_key(id) {
            let (kind, key) = ("extension", id.to_owned());
            return Err(RouteError::Duplicate { kind, key });
        }
        let is_same = |one: &AddedResult, two: &AddedResult| one.method == two.method && one.kind == two.kind;
        let is_added = |other: &&AddedResult| route.results.iter().any(|added| is_same(added, other));
        let taken = self.extensions.values().flat_map(|route| route.results).find(is_added);
        if let Some(added) = taken {
            let (kind, key) = (
                "kind of result",
                format!("{} of {}", added.kind.unwrap_or_default(), added.method),
            );
            return Err(RouteError::Duplicate { kind, key });
        }
        Arc::make_mut(&mut self.extensions).insert(id.to_owned(), route);
        Ok(())
    }

    /// The route of a method that no revision declares, for clients of a revision.
    pub(super) fn custom(&self, name: &str, revision: Revision) -> Option<Arc<CustomRoute>> {
        let route = self.custom.get(name);
        route.filter(|_| revision.method(name).is_none()).cloned()
    }

    /// The functions that handle the notifications of a method.
    pub(super) fn listeners_of(&self, method: &str) -> Vec<Listener> {
        let listeners = self.listeners.iter();
        listeners
            .filter(|listener| &*listener.method == method)
            .cloned()
            .collect()
    }

    /// The route of a method that only this revision has.
    pub(super) fn method(&self, name: &str, revision: Revision) -> Option<Arc<MethodRoute>> {
        let mut methods = self.methods.iter();
        methods
            .find(|route| route.name == name && route.revision == revision)
            .cloned()
    }

    /// The capabilities that methods of only one revision need, each with its revision.
    pub(super) fn extra_capabilities(&self) -> Vec<(Revision, Value)> {
        let methods = self.methods.iter();
        methods
            .filter_map(|route| Some((route.revision, route.capability.clone()?)))
            .collect()
    }

    /// Whether a resource has this URI, or a template matches it.
    pub(super) fn has_resource(&self, uri: &str) -> bool {
        self.resources.contains_key(uri) || self.templates.values().any(|route| route.variables(uri).is_some())
    }

    /// Whether any function may send log messages.
    fn may_log(&self) -> bool {
        let tools = self.tools.values().map(|route| &route.function.signature);
        let resources = self.resources.values().map(|route| &route.function.signature);
        let templates = self.templates.values().map(|route| &route.function.signature);
        let prompts = self.prompts.values().map(|route| &route.function.signature);
        let methods = self.methods.iter().map(|route| &route.function.signature);
        let custom = self.custom.values().map(|route| &route.function.signature);
        let lists = tools.chain(resources).chain(templates).chain(prompts);
        let listeners = self.listeners.iter().map(|listener| &listener.function.signature);
        let mut signatures = lists.chain(methods).chain(custom).chain(listeners);
        signatures.any(|signature| signature.may_log())
            || self.templates.values().any(|route| route.may_log())
            || self.prompts.values().any(|route| route.completions.may_log())
            || self.sources.may_log()
    }

    pub(super) fn capabilities(&self) -> hub::ServerCapabilities {
        let mut capabilities = hub::ServerCapabilities::default();
        if self.may_log() {
            capabilities.logging = Some(json!({}).into());
        }
        if !self.tools.is_empty() || !self.sources.tools.is_empty() {
            capabilities.tools = Some(hub::ServerCapabilitiesTools::default().with_list_changed(true));
        }
        if !self.resources.is_empty() || !self.templates.is_empty() || !self.sources.resources.is_empty() {
            let resources = hub::ServerCapabilitiesResources::default();
            capabilities.resources = Some(resources.with_list_changed(true).with_subscribe(true));
        }
        if !self.prompts.is_empty() || !self.sources.prompts.is_empty() {
            capabilities.prompts = Some(hub::ServerCapabilitiesPrompts::default().with_list_changed(true));
        }
        if_hub_has! { CompleteRequest {
            if self.completes() {
                capabilities.completions = Some(json!({}).into());
            }
        } }
        if !self.extensions.is_empty() {
            let extensions = self.extensions.iter();
            let extensions = extensions.map(|(id, route)| (id.to_owned(), route.settings.clone()));
            capabilities.extensions = Some(extensions.collect());
        }
        capabilities
    }
}

/// Adds a route, and returns whether it has replaced another; `None` if there is another that it may not replace.
fn put<R>(routes: &mut RouteMap<R>, key: &str, route: R, may_replace: bool) -> Option<bool> {
    let has_one = routes.contains_key(key);
    if has_one && !may_replace {
        return None;
    }
    Arc::make_mut(routes).insert(key.to_owned(), Arc::new(route));
    Some(has_one)
}
