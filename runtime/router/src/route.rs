//! The routes of a router: tools, resources, resource templates and prompts.

use mcp_adapters::mcp_wire::RawJson;
use mcp_adapters::{Policy, Revision, hub, peers};

use super::caching::Caching;
use super::entry::ListEntry;
use super::error::RouteError;
use super::prompt::PromptRoute;
use super::resource::ResourceRoute;
use super::scope::{Listable, Scope};
use super::state::States;
use super::template::TemplateRoute;
use super::tool::ToolRoute;
use super::tool_schema::no_arguments;
use super::uri;

/// A tool, a resource, a resource template or a prompt.
#[derive(Debug)]
pub enum Route {
    /// A tool; created by [`tool()`](super::tool()).
    Tool(ToolRoute),
    /// A resource; created by [`resource()`](super::resource()).
    Resource(ResourceRoute),
    /// A resource template; created by [`resource_template()`](super::resource_template()).
    Template(TemplateRoute),
    /// A prompt; created by [`prompt()`](super::prompt()).
    Prompt(PromptRoute),
}

impl Route {
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Tool(_) => "tool",
            Self::Resource(_) => "resource",
            Self::Template(_) => "resource template",
            Self::Prompt(_) => "prompt",
        }
    }

    /// The name or URI by which clients request it.
    pub(super) fn key(&self) -> &str {
        match self {
            Self::Tool(route) => &route.tool.name,
            Self::Resource(route) => &route.resource.uri,
            Self::Template(route) => &route.template.uri_template,
            Self::Prompt(route) => &route.prompt.name,
        }
    }

    /// Gives the functions the states of a router.
    ///
    /// # Errors
    /// When a function takes something that the route can't provide.
    pub(super) fn bind(&mut self, states: &States) -> Result<(), RouteError> {
        match self {
            Self::Tool(route) => route.function.bind("tool", &route.tool.name, states),
            Self::Resource(route) => route.bind(states),
            Self::Template(route) => route.bind(states),
            Self::Prompt(route) => route.bind(states),
        }
    }

    /// Prepares the route for another router: adds a prefix to its name, and the scope of its router.
    pub(super) fn nest(&mut self, prefix: &str, scope: &Scope) {
        match self {
            Self::Tool(route) => {
                route.tool.name.insert_str(0, prefix);
                route.function.scope.nest(prefix, scope);
            }
            Self::Prompt(route) => {
                route.prompt.name.insert_str(0, prefix);
                route.function.scope.nest(prefix, scope);
            }
            Self::Resource(route) => route.function.scope.extend(scope),
            Self::Template(route) => route.function.scope.extend(scope),
        }
    }

    /// Checks that its names aren't empty, that the address of a resource is a URI, that completions are for its own
    /// arguments, and that a list with the route is valid in every revision that can have such a list.
    pub(super) fn check(&self) -> Result<(), RouteError> {
        let kind = self.kind();
        let names: &[_] = match self {
            Self::Tool(route) => &[("name", &route.tool.name)],
            Self::Resource(route) => &[("uri", &route.resource.uri), ("name", &route.resource.name)],
            Self::Template(route) => &[
                ("uriTemplate", &route.template.uri_template),
                ("name", &route.template.name),
            ],
            Self::Prompt(route) => &[("name", &route.prompt.name)],
        };
        if let Some((member, _)) = names.iter().find(|(_, name)| name.is_empty()) {
            return Err(RouteError::Empty { kind, member });
        }
        if let Self::Resource(route) = self
            && let Some(what) = uri::fault(&route.resource.uri)
        {
            return Err(RouteError::Uri {
                uri: route.resource.uri.clone(),
                what,
            });
        }
        if let Some(argument) = self.unknown_completion() {
            return Err(RouteError::UnknownArgument {
                kind,
                key: self.key().to_owned(),
                argument: argument.to_owned(),
            });
        }
        let (method, list) = self.list();
        for revision in Revision::all() {
            let Err(what) = listed(revision, method, &list) else {
                continue;
            };
            let key = self.key().to_owned();
            if listed(revision, method, &self.least_list()).is_ok() {
                return Err(RouteError::Invalid {
                    kind,
                    key,
                    revision,
                    what,
                });
            }
            // No rule supplies what the revision requires of every list: the program can't change that.
            tracing::debug!(kind, key, %revision, what, "the list can't be converted");
        }
        Ok(())
    }

    /// Finds a completion whose argument the route doesn't have.
    fn unknown_completion(&self) -> Option<&str> {
        match self {
            Self::Tool(_) | Self::Resource(_) => None,
            Self::Template(route) => {
                let is_known = |name: &&str| route.variable_names().any(|variable| variable == *name);
                route.completions.arguments().find(|name| !is_known(name))
            }
            Self::Prompt(route) => {
                let mut completed = route.completions.arguments();
                completed.find(|name| !route.prompt.arguments.iter().flatten().any(|it| it.name == *name))
            }
        }
    }

    /// A list with only this route, and the method that requests the list.
    fn list(&self) -> (&'static str, hub::ServerResult) {
        let item = match self {
            Self::Tool(route) => route.listed(),
            Self::Resource(route) => route.listed(),
            Self::Template(route) => route.listed(),
            Self::Prompt(route) => route.listed(),
        };
        (item.list().method(), page(item))
    }

    /// A list with a route of this kind that has only what the hub requires.
    fn least_list(&self) -> hub::ServerResult {
        match self {
            Self::Tool(_) => page(ListEntry::Tool(&hub::Tool::new("a", no_arguments()))),
            Self::Resource(_) => page(ListEntry::Resource(&hub::Resource::new("a", "a:"))),
            Self::Template(_) => page(ListEntry::ResourceTemplate(&hub::ResourceTemplate::new("a", "a:{b}"))),
            Self::Prompt(_) => page(ListEntry::Prompt(&hub::Prompt::new("a"))),
        }
    }
}

/// A list with only this entry.
fn page(entry: ListEntry<'_>) -> hub::ServerResult {
    entry.list().page(&[entry], None, &Caching::default())
}

/// Checks that a list is valid in a revision.
fn listed(revision: Revision, method: &str, list: &hub::ServerResult) -> Result<(), String> {
    if revision.method(method).is_none() {
        return Ok(());
    }
    let converted = peers::server_result_for(revision, list, Policy::Conform.into());
    let (list, _): (RawJson, _) = converted.map_err(|error| error.to_string())?;
    revision
        .validate_result(method, &list)
        .map_err(|error| error.to_string())
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
