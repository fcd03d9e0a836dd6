//! The delivery of responses.

use mcp_adapters::mcp_wire::RequestId;

use super::body::Response;
use super::classify::answers;
use super::error::HttpError;
use super::events::{Events, is_message};
use super::pending_response::PendingResponse;
use super::poster::Poster;
use super::response::{EVENT_STREAM, JSON, body, media_type};

/// Delivers the response to a request.
pub(super) async fn deliver(
    poster: &impl Poster,
    mut response: Response,
    pending: &PendingResponse<'_>,
) -> Result<(), HttpError> {
    match media_type(&response).as_str() {
        JSON => {
            let answer = body(response, poster.terms().message_bytes).await?;
            let (answered, is_empty) = (answers(&answer, pending.id), answer.trim_ascii().is_empty());
            if answered {
                poster.deliver(pending.take(poster.terms().tools, answer)).await;
            } else if !is_empty {
                poster.deliver(answer).await;
            }
            match answered {
                true => Ok(()),
                false if is_empty => Err(HttpError::EmptyBody),
                false => Err(HttpError::UnrelatedJson),
            }
        }
        EVENT_STREAM => poster.follow(response, pending).await,
        // Servers that have nothing to say name no content type.
        "" => match response.body_mut().chunk().await {
            Ok(None) => Err(HttpError::EmptyBody),
            _ => Err(HttpError::ContentType(String::new())),
        },
        other => Err(HttpError::ContentType(other.to_owned())),
    }
}

/// Reads the response to a request that the transport itself sent. Messages before it are delivered.
pub(super) async fn answer(poster: &impl Poster, response: Response, id: &RequestId) -> Result<Vec<u8>, HttpError> {
    let limit = poster.terms().message_bytes;
    match media_type(&response).as_str() {
        JSON => body(response, limit).await,
        EVENT_STREAM => {
            let mut events = Events::new(response, limit);
            loop {
                let event = events.next().await.ok_or(HttpError::MissingResponse)?;
                if is_message(&event) && answers(&event.data, id) {
                    return Ok(event.data);
                }
                if is_message(&event) {
                    poster.deliver(event.data).await;
                }
            }
        }
        other => Err(HttpError::ContentType(other.to_owned())),
    }
}
