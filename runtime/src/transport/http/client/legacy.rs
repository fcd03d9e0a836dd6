//! The older way: one stream of events for everything the server sends, which first names where to POST.

use std::sync::Arc;

use reqwest::Url;
use tokio::time::timeout;

use super::connection::{Connection, Item, Within, failure};
use super::error::HttpError;
use super::stream::{Events, Opens, is_message, open};

/// Opens the stream and sends what begins the session.
pub(super) async fn begin(connection: &Arc<Connection>, json: Vec<u8>) -> Result<(), HttpError> {
    let begun = async {
        let mut events = open(connection, None, Opens::First).await?;
        let url = endpoint(connection, &mut events).await?;
        Ok::<_, HttpError>((events, url))
    };
    let (events, url) = timeout(connection.options.patience, begun)
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

/// Where to POST, which must be the same server: nobody else is meant to get the messages and the headers.
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

/// Sends a request, whose answer comes on the stream unless this fails.
pub(super) async fn post(connection: &Connection, url: Url, json: Vec<u8>) -> Result<(), HttpError> {
    let (response, _) = connection.post(url, json, Within::Current).await?;
    match response.status().is_success() {
        true => Ok(()),
        false => Err(failure(response).await.into()),
    }
}

/// Reads the stream. The session ends with it.
async fn read(connection: Arc<Connection>, mut events: Events) {
    while let Some(event) = events.next().await {
        if event.oversized {
            connection.refuse_oversized().await;
        } else if is_message(&event) {
            connection.deliver(event.data).await;
        }
    }
    connection.hand(Item::End).await;
}
