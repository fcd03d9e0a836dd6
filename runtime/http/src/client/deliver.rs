//! The delivery of responses.

use std::sync::Arc;

use reqwest::Response;

use super::awaited::Awaited;
use super::classify::answers;
use super::connection::Connection;
use super::error::HttpError;
use super::response::{EVENT_STREAM, JSON, body, media_type};
use super::stream;

/// Delivers the response to a request.
pub(super) async fn deliver(
    connection: &Arc<Connection>,
    response: Response,
    awaited: &Awaited<'_>,
) -> Result<(), HttpError> {
    match media_type(&response).as_str() {
        JSON => {
            let answer = body(response, connection.options.message_bytes).await?;
            let answered = answers(&answer, awaited.id);
            if answered {
                connection.deliver(awaited.take(connection, answer)).await;
            } else if !answer.trim_ascii().is_empty() {
                connection.deliver(answer).await;
            }
            if answered { Ok(()) } else { Err(HttpError::NoResponse) }
        }
        EVENT_STREAM => stream::follow(connection, response, awaited).await,
        other => Err(HttpError::ContentType(other.to_owned())),
    }
}
