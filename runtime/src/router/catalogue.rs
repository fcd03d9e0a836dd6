//! What a server offers, and the sessions that are told when it changes.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, Weak};

use mcp_adapters::hub;
use serde_json::json;

use super::completion::Completions;
use super::news::{News, Told};
use super::prompt::PromptRoute;
use super::resource::ResourceRoute;
use super::template::TemplateRoute;
use super::tool::ToolRoute;

/// Something that a router has: a tool, a resource, a template of resources or a prompt.
#[derive(Debug)]
pub enum Route {
    /// A tool; [`tool()`](super::tool()) makes one.
    Tool(ToolRoute),
    /// A resource; [`resource()`](super::resource()) makes one.
    Resource(ResourceRoute),
    /// Resources that have a form of address in common; [`resource_template()`](super::resource_template()) makes them.
    Template(TemplateRoute),
    /// A prompt; [`prompt()`](super::prompt()) makes one.
    Prompt(PromptRoute),
}

/// What a server offers, and the sessions that are told when it changes.
#[derive(Default)]
pub(super) struct Catalogue {
    offers: RwLock<Offers>,
    sessions: Mutex<Vec<Weak<Told>>>,
}

/// What a server offers, by name or address.
#[derive(Default)]
pub(super) struct Offers {
    pub(super) tools: BTreeMap<String, Arc<ToolRoute>>,
    pub(super) resources: BTreeMap<String, Arc<ResourceRoute>>,
    pub(super) templates: BTreeMap<String, Arc<TemplateRoute>>,
    pub(super) prompts: BTreeMap<String, Arc<PromptRoute>>,
}

impl Catalogue {
    pub(super) fn offers(&self) -> RwLockReadGuard<'_, Offers> {
        // Nothing panics while the lock is held, and what is behind it is whole all the time.
        self.offers.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn offers_mut(&self) -> RwLockWriteGuard<'_, Offers> {
        self.offers.write().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn insert(&self, route: Route) {
        let news = self.offers_mut().insert(route);
        self.tell(&news);
    }

    /// A session begins.
    pub(super) fn admit(&self, session: &Arc<Told>) {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.retain(|session| session.strong_count() > 0);
        sessions.push(Arc::downgrade(session));
    }

    /// Tells every session.
    pub(super) fn tell(&self, news: &News) {
        let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        for session in sessions.iter().filter_map(Weak::upgrade) {
            session.push(news);
        }
    }

    /// Tells every session if something has happened, and gives back whether it has.
    pub(super) fn tell_if(&self, has_happened: bool, news: News) -> bool {
        if has_happened {
            self.tell(&news);
        }
        has_happened
    }
}

impl Offers {
    fn insert(&mut self, route: Route) -> News {
        match route {
            Route::Tool(route) => {
                self.tools.insert(route.tool.name.clone(), Arc::new(route));
                News::Tools
            }
            Route::Resource(route) => {
                self.resources.insert(route.resource.uri.clone(), Arc::new(route));
                News::Resources
            }
            Route::Template(route) => {
                let address = route.template.uri_template.clone();
                self.templates.insert(address, Arc::new(route));
                News::Resources
            }
            Route::Prompt(route) => {
                self.prompts.insert(route.prompt.name.clone(), Arc::new(route));
                News::Prompts
            }
        }
    }

    /// Whether a resource has this address.
    pub(super) fn has_resource(&self, uri: &str) -> bool {
        self.resources.contains_key(uri) || self.templates.values().any(|route| route.variables(uri).is_some())
    }

    pub(super) fn capabilities(&self) -> hub::ServerCapabilities {
        let mut capabilities = hub::ServerCapabilities::default().with_logging(json!({}));
        if !self.tools.is_empty() {
            capabilities.tools = Some(hub::ServerCapabilitiesTools::default().with_list_changed(true));
        }
        if !self.resources.is_empty() || !self.templates.is_empty() {
            let resources = hub::ServerCapabilitiesResources::default();
            capabilities.resources = Some(resources.with_list_changed(true).with_subscribe(true));
        }
        if !self.prompts.is_empty() {
            capabilities.prompts = Some(hub::ServerCapabilitiesPrompts::default().with_list_changed(true));
        }
        let of_prompts = self.prompts.values().map(|route| &route.completions);
        let of_templates = self.templates.values().map(|route| &route.completions);
        if of_prompts.chain(of_templates).any(Completions::has_any) {
            capabilities.completions = Some(json!({}).into());
        }
        capabilities
    }
}

impl From<ToolRoute> for Route {
    fn from(route: ToolRoute) -> Self {
        Self::Tool(route)
    }
}

impl From<ResourceRoute> for Route {
    fn from(route: ResourceRoute) -> Self {
        Self::Resource(route)
    }
}

impl From<TemplateRoute> for Route {
    fn from(route: TemplateRoute) -> Self {
        Self::Template(route)
    }
}

impl From<PromptRoute> for Route {
    fn from(route: PromptRoute) -> Self {
        Self::Prompt(route)
    }
}
