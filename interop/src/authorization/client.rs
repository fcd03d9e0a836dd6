//! Code shared by the steps: the servers, and a client with a token store.

use std::sync::Arc;

use mcp_runtime::auth::{Authorizer, BoxError, BoxFuture, Grant, MemoryStore, TokenStore};
use mcp_runtime::hub::{CallToolRequestParams, ClientCapabilities, Implementation};
use mcp_runtime::transport::http::client::{HttpClient, HttpOptions};
use mcp_runtime::{CallServer, ClientSession, Options, connect};
use serde_json::json;

use super::ours::Ours;

/// The servers of a step.
#[derive(Clone, Copy)]
pub struct Servers<'a> {
    /// The server under test.
    pub url: &'a str,
    /// Another server, with the same issuer.
    pub other: &'a str,
    /// The issuer of the tokens.
    pub issuer: &'a str,
    /// Our server, which may be the one under test.
    pub ours: &'a Ours,
}

pub fn expect(holds: bool, otherwise: &'static str) -> Result<(), BoxError> {
    if holds { Ok(()) } else { Err(otherwise.into()) }
}

pub async fn begin(url: &str, authorizer: Authorizer) -> Result<ClientSession, BoxError> {
    begin_with(url, HttpOptions::default().authorizer(authorizer)).await
}

pub async fn begin_with(url: &str, options: HttpOptions) -> Result<ClientSession, BoxError> {
    let info = Implementation::new("mcp-interop", env!("CARGO_PKG_VERSION"));
    let transport = HttpClient::new(url, options)?;
    Ok(connect((), info, ClientCapabilities::default(), Options::default(), transport).await?)
}

pub async fn call(session: &ClientSession, tool: &str) -> Result<(), BoxError> {
    let params = CallToolRequestParams::new(tool).with_arguments(json!({}));
    session.peer().call_tool(params).await?;
    Ok(())
}

/// A token store whose contents the steps can read.
#[derive(Clone, Default)]
pub struct Shared(Arc<MemoryStore>);

impl Shared {
    pub async fn grant(&self, server: &str) -> Result<Grant, BoxError> {
        Ok(self.0.load(server).await?.ok_or("there is no token")?)
    }

    pub async fn token(&self, server: &str) -> Result<String, BoxError> {
        Ok(self.grant(server).await?.access_token.expose().to_owned())
    }
}

impl TokenStore for Shared {
    fn load<'a>(&'a self, server: &'a str) -> BoxFuture<'a, Result<Option<Grant>, BoxError>> {
        self.0.load(server)
    }

    fn save<'a>(&'a self, grant: &'a Grant) -> BoxFuture<'a, Result<(), BoxError>> {
        self.0.save(grant)
    }

    fn remove<'a>(&'a self, server: &'a str) -> BoxFuture<'a, Result<(), BoxError>> {
        self.0.remove(server)
    }
}
