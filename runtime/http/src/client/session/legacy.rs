//! HTTP with SSE: all messages of the server come on one stream. Its first event names the URL to POST to.

use std::sync::Arc;

use reqwest::Url;
use tokio::time::timeout;

use super::connection::{Connection, Inbound};
use super::error::HttpError;
use super::events::{Events, is_message};
use super::response::failure;
use super::state::SessionScope;
use super::stream::{Attempt, open};

/// Opens the stream, and sends `initialize`.
pub(super) async fn connect(connection: &Arc<Connection>, json: Vec<u8>) -> Result<(), HttpError> {
    let opened = async {
        let mut events = open(connection, None, Attempt::Initial).await?;
        let url = endpoint(connection, &mut events).await?;
        Ok::<_, HttpError>((events, url))
    };
    let (events, url) = timeout(connection.options.timeout, opened)
        .await
        .map_err(|_| HttpError::Endpoint)??;
    connection.state.lock().legacy = Some(url.clone());
    tokio::spawn(
        connection
            .closing
            .clone()
            .run_until_cancelled_owned(read(Arc::clone(connection), events)),
    );
    post(connection, url, json).await
}

/// Reads the URL to POST to. It must have the same origin, because the headers can contain secrets.
async fn endpoint(connection: &Connection, events: &mut Events) -> Result<Url, HttpError> {
    while let Some(event) = events.next().await {
        if event.name == b"endpoint" {
            let url = std::str::from_utf8(&event.data)
                .ok()
                .and_then(|text| connection.url.join(text.trim()).ok());
            let url = url.filter(|url| url.origin() == connection.url.origin());
            return url.ok_or(HttpError::Endpoint);
        }
    }
    Err(HttpError::Endpoint)
}

/// Sends a request. Its response comes on the stream.
pub(super) async fn post(connection: &Connection, url: Url, json: Vec<u8>) -> Result<(), HttpError> {
    let (response, _) = connection.post(url, json, SessionScope::Current).await?;
    match response.status().is_success() {
        true => Ok(()),
        false => Err(failure(response, true).await.into()),
    }
}

/// Reads the stream. The session ends with it.
async fn read(connection: Arc<Connection>, mut events: Events) {
    while let Some(event) = events.next().await {
        if event.oversized {
            connection.refuse_oversized(event.data).await;
        } else if is_message(&event) {
            connection.deliver(event.data).await;
        }
    }
    connection.hand(Inbound::End).await;
}
