//! A client over `fetch`, whose functions `run.mjs` calls.

use std::pin::pin;

use futures_util::future::{Either, select};
use futures_util::{FutureExt, StreamExt};
use mcp_runtime::transport::http::client::{HttpCaller, fetch};
use mcp_runtime::{CallError, CallServer, ChangeFilter, Client, ClientSession, accepted, hub};
use serde_json::{Value, json};
use wasm_bindgen::JsError;
use wasm_bindgen::prelude::wasm_bindgen;

/// Connects to the server that the caller reaches. Elicitations get the name Ada.
async fn session(caller: HttpCaller) -> Result<ClientSession, JsError> {
    let client = Client::new("web", "1.0").elicit_form(|_| async { accepted(&json!({"name": "Ada"})) });
    Ok(client.connect_by(caller).await?)
}

async fn call(session: &ClientSession, tool: &str, arguments: Value) -> Result<String, CallError> {
    let result = session.call_tool(tool, arguments).await?;
    Ok(json!(result.content)[0]["text"].as_str().unwrap_or_default().to_owned())
}

/// Lists the tools, calls two, one of which elicits, and returns the results as JSON.
///
/// # Errors
/// If the server doesn't respond.
#[wasm_bindgen]
pub async fn visit(url: String) -> Result<String, JsError> {
    let session = session(HttpCaller::fetch(&url)?).await?;
    let tools: Vec<String> = session.list_tools().await?.into_iter().map(|tool| tool.name).collect();
    let weather = call(&session, "weather", json!({"city": "Zürich"})).await?;
    let greeting = call(&session, "greet", json!({})).await?;
    let revision = session.peer().revision().map(|revision| revision.as_str());
    Ok(json!({ "revision": revision, "tools": tools, "weather": weather, "greeting": greeting }).to_string())
}

/// Calls a tool, and returns the progress that it reports before its response.
///
/// # Errors
/// If the server doesn't respond.
#[wasm_bindgen]
pub async fn progress(url: String) -> Result<f64, JsError> {
    let session = session(HttpCaller::fetch(&url)?).await?;
    session.list_tools().await?;
    let (sender, mut received) = tokio::sync::mpsc::channel(1);
    let peer = session.peer().clone().with_progress(sender);
    let arguments: mcp_runtime::mcp_wire::RawObject = mcp_runtime::mcp_wire::from_str(r#"{"city": "Bern"}"#)?;
    peer.call_tool(hub::CallToolRequestParams::new("weather").with_arguments(arguments))
        .await?;
    let update = received.recv().now_or_never().flatten();
    Ok(update.ok_or_else(|| JsError::new("no progress was reported"))?.progress)
}

/// Subscribes to changes, calls a tool that makes one, and returns the change.
///
/// # Errors
/// If the server doesn't respond.
#[wasm_bindgen]
pub async fn change(url: String) -> Result<String, JsError> {
    let session = session(HttpCaller::fetch(&url)?).await?;
    let mut changes = session.peer().changes(ChangeFilter::lists()).await?;
    call(&session, "change", json!({})).await?;
    let change = changes.next().await.transpose()?;
    Ok(format!("{change:?}"))
}

/// Drops a call that never ends after the server has started it, and returns when the server has cancelled it.
///
/// # Errors
/// If the server doesn't respond.
#[wasm_bindgen]
pub async fn abandon(url: String) -> Result<(), JsError> {
    let session = session(HttpCaller::fetch(&url)?).await?;
    let until = async |wanted: &str| {
        while call(&session, "status", json!({})).await? != wanted {}
        Ok::<_, CallError>(())
    };
    {
        let (lasting, begun) = (pin!(call(&session, "last", json!({}))), pin!(until("begun")));
        match select(lasting, begun).await {
            Either::Left((ended, _)) => return Err(JsError::new(&format!("it has ended: {ended:?}"))),
            Either::Right((begun, _)) => begun?,
        }
    }
    Ok(until("ended").await?)
}

/// Returns the error of a client that sends a header that the server refuses, or that can't reach a server.
///
/// # Errors
/// If there is no error.
#[wasm_bindgen]
pub async fn failure(url: String) -> Result<String, JsError> {
    let caller = HttpCaller::new(&url, |mut request| {
        let origin = "https://other.example".parse().expect("it is a value");
        request.headers_mut().insert("origin", origin);
        fetch(request)
    })?;
    match Client::new("web", "1.0").connect_by(caller).await {
        Ok(_) => Err(JsError::new("it connects")),
        Err(error) => Ok(error.to_string()),
    }
}
