//! A server as a protected resource.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use reqwest::Url;

use super::dpop::Dpop;
use super::validator::TokenValidator;
use crate::metadata::ResourceMetadata;
use crate::scopes::Scopes;

/// The configuration of a server that only answers clients with a token: the tokens that it accepts, and the issuers
/// from which clients obtain them. It is set by `HttpServer::protect`.
///
/// ```
/// use mcp_runtime::Router;
/// use mcp_runtime::auth::{JwtValidator, ProtectedResource};
/// use mcp_runtime::transport::http::server::HttpServer;
///
/// let (resource, issuer) = ("https://mcp.example/mcp", "https://login.example");
/// let protected = ProtectedResource::new(resource, issuer, JwtValidator::new(issuer, resource))
///     .required_scopes("notes:read")
///     .tool_scopes("delete_note", "notes:write");
/// let server = HttpServer::new(Router::new("notes", "1.0")).allow_host("mcp.example").protect(protected);
/// ```
///
/// [Specification](https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization)
#[derive(Clone)]
pub struct ProtectedResource {
    pub(super) metadata: ResourceMetadata,
    pub(super) validator: Arc<dyn TokenValidator>,
    pub(super) dpop: Option<Dpop>,
    pub(super) required: Scopes,
    pub(super) tools: HashMap<String, Scopes>,
}

impl ProtectedResource {
    /// Creates the configuration of the server at this URL, which identifies it in tokens, with tokens of this issuer.
    pub fn new(resource: impl Into<String>, issuer: impl Into<String>, validator: impl TokenValidator) -> Self {
        let metadata = ResourceMetadata {
            resource: resource.into(),
            authorization_servers: vec![issuer.into()],
            bearer_methods_supported: vec!["header".to_owned()],
            ..ResourceMetadata::default()
        };
        Self {
            metadata,
            validator: Arc::new(validator),
            dpop: None,
            required: Scopes::default(),
            tools: HashMap::new(),
        }
    }

    /// Adds another issuer whose tokens the validator accepts.
    #[must_use]
    pub fn issuer(mut self, issuer: impl Into<String>) -> Self {
        self.metadata.authorization_servers.push(issuer.into());
        self
    }

    /// Sets the scopes that every request needs. The metadata list them, so that clients request only these at first.
    #[must_use]
    pub fn required_scopes(mut self, scopes: impl Into<Scopes>) -> Self {
        self.required = scopes.into();
        let listed = self.required.to_string();
        let listed = listed.split_ascii_whitespace().map(str::to_owned).collect::<Vec<_>>();
        self.metadata.scopes_supported = (!listed.is_empty()).then_some(listed);
        self
    }

    /// Sets the scopes that calls of a tool need in addition. A client without them gets an error that lists them and
    /// those that every request needs, and can ask its user for more.
    #[must_use]
    pub fn tool_scopes(mut self, tool: impl Into<String>, scopes: impl Into<Scopes>) -> Self {
        self.tools.insert(tool.into(), scopes.into());
        self
    }

    /// Accepts tokens that are bound to a key of the client, and checks their proofs by this. Without it, such tokens
    /// are refused.
    ///
    /// The URL of the server has to have the origin to which clients send their requests, because proofs contain it.
    #[must_use]
    pub fn dpop(mut self, dpop: Dpop) -> Self {
        self.metadata.dpop_signing_alg_values_supported = Some(dpop.algorithm_names());
        self.metadata.dpop_bound_access_tokens_required = Some(dpop.is_required());
        self.dpop = Some(dpop);
        self
    }

    /// Sets the name of the server, for people to read.
    #[must_use]
    pub fn resource_name(mut self, name: impl Into<String>) -> Self {
        self.metadata.resource_name = Some(name.into());
        self
    }

    /// The path of the metadata at the server's origin: a well-known prefix, and the path of the server.
    #[must_use]
    pub fn metadata_path(&self) -> String {
        let resource = Url::parse(&self.metadata.resource).ok();
        let path = resource.as_ref().map_or("", Url::path).trim_end_matches('/');
        format!("/.well-known/oauth-protected-resource{path}")
    }

    /// The URLs that a proof of a request to this path may contain: that of the server, and that of the path at its
    /// origin.
    pub(super) fn urls_of(&self, path: &str) -> Vec<Url> {
        let Ok(mut resource) = Url::parse(&self.metadata.resource) else {
            return Vec::new();
        };
        resource.set_query(None);
        resource.set_fragment(None);
        let mut requested = resource.clone();
        requested.set_path(path);
        vec![resource, requested]
    }

    /// The URL of the metadata.
    pub(super) fn metadata_url(&self) -> String {
        let resource = Url::parse(&self.metadata.resource).ok();
        let origin = resource.map_or_else(String::new, |resource| resource.origin().ascii_serialization());
        format!("{origin}{}", self.metadata_path())
    }
}

impl fmt::Debug for ProtectedResource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProtectedResource")
            .field("metadata", &self.metadata)
            .field("dpop", &self.dpop)
            .field("required", &self.required)
            .field("tools", &self.tools)
            .finish_non_exhaustive()
    }
}
