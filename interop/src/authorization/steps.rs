//! What is tried with each server.

use std::sync::Arc;

use mcp_runtime::auth::{Authorizer, BoxError, BoxFuture, Client, Grant, MemoryStore, TokenStore};
use mcp_runtime::hub::{CallToolRequestParams, ClientCapabilities, Implementation};
use mcp_runtime::transport::http::client::{HttpClient, HttpOptions};
use mcp_runtime::{CallServer, ClientSession, Options, connect};
use serde_json::json;

use super::bound;
use super::browser::Browser;
use super::ours::Ours;

/// The servers of a step.
#[derive(Clone, Copy)]
pub struct Servers<'a> {
    /// The server to use.
    pub url: &'a str,
    /// Another one, with the same issuer.
    pub other: &'a str,
    /// The issuer.
    pub issuer: &'a str,
    /// Our server, which may be the one to use.
    pub ours: &'a Ours,
}

/// A step.
pub struct Step {
    pub name: &'static str,
    /// Whether only our server can do it: the other one has the same scopes for all calls, revokes no tokens, and knows no proofs.
    pub needs_ours: bool,
    pub run: fn(Servers<'_>) -> BoxFuture<'_, Result<(), BoxError>>,
}

macro_rules! step {
    ($name:literal, $run:path, needs_ours: $needs_ours:literal) => {
        Step {
            name: $name,
            needs_ours: $needs_ours,
            run: |servers| Box::pin($run(servers)),
        }
    };
}

/// The steps.
pub const STEPS: [Step; 8] = [
    step!("the client registers, and the user agrees", user, needs_ours: false),
    step!("the client acts for itself", client_credentials, needs_ours: false),
    step!("a call needs another scope", step_up, needs_ours: true),
    step!("a token is refused, and refreshed", refresh, needs_ours: true),
    step!("the token of another server is refused", other_audience, needs_ours: false),
    step!("a token is bound to a key of the client, and refreshed (DPoP)", bound::refresh, needs_ours: true),
    step!("a proof that was used is refused", bound::used_proof, needs_ours: true),
    step!("a bound token is refused without a proof", bound::no_proof, needs_ours: true),
];

async fn user(servers: Servers<'_>) -> Result<(), BoxError> {
    let browser = Browser::default();
    let session = begin(servers.url, Authorizer::interactive(browser.clone())).await?;
    call(&session, "hello").await?;
    call(&session, "hello").await?;
    session.close().await;
    expect(browser.uses() == 1, "the user was asked again")
}

async fn client_credentials(servers: Servers<'_>) -> Result<(), BoxError> {
    let client = Client::new("nightly")
        .secret("a-secret-of-the-nightly-client")
        .issuer(servers.issuer);
    let session = begin(servers.url, Authorizer::client_credentials(client)).await?;
    call(&session, "hello").await?;
    session.close().await;
    Ok(())
}

async fn step_up(servers: Servers<'_>) -> Result<(), BoxError> {
    let browser = Browser::default();
    let session = begin(servers.url, Authorizer::interactive(browser.clone())).await?;
    call(&session, "write").await?;
    session.close().await;
    expect(browser.uses() == 2, "the user wasn't asked for the scope")
}

async fn refresh(servers: Servers<'_>) -> Result<(), BoxError> {
    let (browser, store) = (Browser::default(), Shared::default());
    let session = begin(
        servers.url,
        Authorizer::interactive(browser.clone()).store(store.clone()),
    )
    .await?;
    call(&session, "hello").await?;
    let first = store.token(servers.url).await?;
    servers.ours.revoke(&first);
    call(&session, "hello").await?;
    session.close().await;
    expect(store.token(servers.url).await? != first, "the token is the same")?;
    expect(browser.uses() == 1, "the user was asked again")
}

async fn other_audience(servers: Servers<'_>) -> Result<(), BoxError> {
    let store = Shared::default();
    let session = begin(
        servers.other,
        Authorizer::interactive(Browser::default()).store(store.clone()),
    )
    .await?;
    session.close().await;
    let value = format!("Bearer {}", store.token(servers.other).await?).parse()?;
    let options = HttpOptions::default().headers(move |headers| {
        headers.insert("authorization", Clone::clone(&value));
    });
    match begin_with(servers.url, options).await {
        Ok(_) => Err("it is accepted".into()),
        Err(error) => expect(error.to_string().contains("401"), "it is refused for another reason"),
    }
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

/// A store that others can look into.
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
