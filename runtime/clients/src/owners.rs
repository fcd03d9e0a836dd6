//! Finds the server of a tool, prompt or resource by its outer name or URI.

use std::time::Duration;

use mcp_runtime_core::transport::Connector;

use super::clients::{Clients, Merged};
use super::links::Links;
use super::listed::{Kind, Owned};
use super::names::Naming;

/// How long a result with resource URIs waits for the resource lists of other servers, and a subscription for the lists
/// with its resources.
const LISTING: Duration = Duration::from_secs(5);

impl<C: Connector> Clients<C> {
    /// Returns the server of a tool, and its name there.
    #[doc(hidden)]
    pub async fn tool_server(&self, name: &str) -> Option<Owned> {
        self.owner(Kind::Tool, name, self.list_tools()).await
    }

    /// Returns the server of a prompt, and its name there.
    #[doc(hidden)]
    pub async fn prompt_server(&self, name: &str) -> Option<Owned> {
        self.owner(Kind::Prompt, name, self.list_prompts()).await
    }

    /// Returns the server that lists a resource, and its URI there.
    #[doc(hidden)]
    pub async fn resource_server(&self, uri: &str) -> Option<Owned> {
        self.owner(Kind::Resource, uri, self.list_resources()).await
    }

    /// Returns the servers that list these resources, and their URIs there. All of them are looked up in one list.
    #[doc(hidden)]
    pub async fn resource_servers(&self, uris: &[String]) -> Vec<Option<Owned>> {
        let owner = |uri: &String| self.listed.owner(&self.names, Kind::Resource, uri);
        if uris.iter().any(|uri| owner(uri).is_none()) {
            self.resources_within(self.time_limit.min(LISTING)).await;
        }
        uris.iter().map(owner).collect()
    }

    /// Returns the servers that may have a resource that no server lists, and its URI there, the likeliest first. Those
    /// that don't answer are last.
    #[doc(hidden)]
    #[must_use]
    pub fn resource_candidates(&self, uri: &str) -> Vec<Owned> {
        let named = self.names.inner_uri(uri);
        let all = (0..self.servers.len()).map(|server| (server, uri.to_owned()));
        let mut candidates: Vec<Owned> = named.into_iter().chain(all).collect();
        candidates.sort_by_key(|(server, _)| self.responsiveness(*server).is_exceeded());
        candidates
    }

    /// Remembers the server that was found to have a resource that no server lists.
    #[doc(hidden)]
    pub fn found_resource(&self, uri: &str, server: usize, own: String) {
        self.listed.find(uri, (server, own));
    }

    /// Returns the server that lists a resource template, and its text there.
    #[doc(hidden)]
    pub async fn template_server(&self, uri_template: &str) -> Option<Owned> {
        self.owner(Kind::Template, uri_template, self.list_resource_templates())
            .await
    }

    /// Returns the server of an item, after `list` if that isn't known yet.
    async fn owner<T>(&self, kind: Kind, name: &str, list: impl Future<Output = Merged<T>>) -> Option<Owned> {
        let known = self.listed.owner(&self.names, kind, name);
        // A prefixed name identifies its server without a list.
        let is_prefixed = !kind.is_uri() && self.names.naming() == Naming::Prefixed;
        if known.is_some() || is_prefixed {
            return known;
        }
        list.await;
        self.listed.owner(&self.names, kind, name)
    }

    /// Replaces the resource URIs in a server's result by their outer URIs.
    #[doc(hidden)]
    pub async fn rename_links(&self, server: usize, result: &mut impl Links) {
        let mut links = result.links();
        if links.is_empty() || (self.servers.len() == 1 && !self.names.prefixes_uris()) {
            return;
        }
        if !self.listed.has_resources() {
            // The result doesn't wait for a server that hangs, whose resources aren't known.
            let limit = self.time_limit.min(LISTING);
            tokio::join!(self.resources_within(limit), self.templates_within(limit));
        }
        for uri in &mut links {
            self.listed.rename(&self.names, server, uri);
        }
    }
}
