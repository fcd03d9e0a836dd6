//! The steps with tokens that are bound to a key of the client (DPoP).

use std::sync::{Arc, Mutex, PoisonError};

use mcp_runtime::auth::{Authorizer, BoxError, TokenType};
use mcp_runtime::transport::http::client::HttpOptions;
use mcp_runtime::transport::http::client::reqwest::header::{AUTHORIZATION, HeaderMap, WWW_AUTHENTICATE};
use mcp_runtime::transport::http::client::reqwest::{Client, Method, Response};
use serde_json::json;

use super::browser::Browser;
use super::client::{Servers, Shared, begin, begin_with, call, expect};

/// The first token and the refreshed one are bound, and each call has its own proof.
pub async fn refresh(servers: Servers<'_>) -> Result<(), BoxError> {
    let (browser, store) = (Browser::default(), Shared::default());
    let session = begin(servers.url, authorizer(&browser, &store)).await?;
    call(&session, "hello").await?;
    let first = store.grant(servers.url).await?;
    expect(first.token_type == TokenType::Dpop, "the token isn't bound")?;
    let token = first.access_token.expose();
    servers.ours.revoke(token);
    call(&session, "hello").await?;
    session.close().await;
    let second = store.grant(servers.url).await?;
    expect(second.token_type == TokenType::Dpop, "the new token isn't bound")?;
    expect(second.access_token.expose() != token, "the token is the same")?;
    expect(browser.uses() == 1, "the user was asked again")
}

/// A request that was accepted is sent again unchanged.
pub async fn used_proof(servers: Servers<'_>) -> Result<(), BoxError> {
    let headers = let_in(servers).await?;
    let response = send(servers.url, headers).await?;
    refused(
        &response,
        "error=\"invalid_dpop_proof\", error_description=\"the proof has been used\"",
    )
}

/// A bound token is sent without its proof, and as a bearer token.
pub async fn no_proof(servers: Servers<'_>) -> Result<(), BoxError> {
    let mut headers = let_in(servers).await?;
    headers.remove("dpop");
    refused(
        &send(servers.url, headers.clone()).await?,
        "error=\"invalid_dpop_proof\"",
    )?;
    let token = headers[AUTHORIZATION].to_str()?.trim_start_matches("DPoP ");
    let bearer = format!("Bearer {token}").parse()?;
    headers.insert(AUTHORIZATION, bearer);
    refused(&send(servers.url, headers).await?, "error=\"invalid_token\"")
}

fn authorizer(browser: &Browser, store: &Shared) -> Authorizer {
    Authorizer::interactive(browser.clone()).store(store.clone()).dpop(true)
}

/// The headers of a POST request that the server accepted.
async fn let_in(servers: Servers<'_>) -> Result<HeaderMap, BoxError> {
    let seen: Arc<Mutex<Option<HeaderMap>>> = Arc::default();
    let last = Arc::clone(&seen);
    let options = HttpOptions::default()
        .authorizer(authorizer(&Browser::default(), &Shared::default()))
        .exchanges(move |exchange| {
            if exchange.method == Method::POST && exchange.status.is_success() {
                *last.lock().unwrap_or_else(PoisonError::into_inner) = Some(exchange.request.clone());
            }
        });
    let session = begin_with(servers.url, options).await?;
    call(&session, "hello").await?;
    session.close().await;
    let headers = seen.lock().unwrap_or_else(PoisonError::into_inner).take();
    let headers = headers.ok_or("no request was let in")?;
    expect(headers.contains_key("dpop"), "the request has no proof")?;
    Ok(headers)
}

async fn send(url: &str, headers: HeaderMap) -> Result<Response, BoxError> {
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}).to_string();
    Ok(Client::new().post(url).headers(headers).body(ping).send().await?)
}

fn refused(response: &Response, why: &str) -> Result<(), BoxError> {
    let challenges: Vec<&str> = response
        .headers()
        .get_all(WWW_AUTHENTICATE)
        .iter()
        .filter_map(|challenge| challenge.to_str().ok())
        .collect();
    let is_refused = response.status() == 401 && challenges.iter().any(|challenge| challenge.contains(why));
    match is_refused {
        true => Ok(()),
        false => Err(format!("the response is {} with {challenges:?}", response.status()).into()),
    }
}
