//! The steps with each server.

use mcp_runtime::auth::{Authorizer, BoxError, BoxFuture, Client};
use mcp_runtime::transport::http::client::HttpOptions;

use super::bound;
use super::browser::Browser;
use super::client::{Servers, Shared, begin, begin_with, call, expect};

/// A step with a server.
pub struct Step {
    pub name: &'static str,
    /// Whether only our server supports the step: the other requires the same scopes for all calls, revokes no tokens,
    /// and checks no proofs.
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

/// All steps, in order.
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
    let client = Client::new(servers.issuer, "nightly").secret("a-secret-of-the-nightly-client");
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
