//! Stateless requests: their headers repeat values from their bodies, and each is independent of all others.

use mcp_adapters::mcp_wire::{MessageHeader, RawJson, RequestId};
use mcp_adapters::{ErrorRole, MirroredArguments, PeerTypes, Revision};
use mcp_runtime_core::internal::to_json;
use mcp_runtime_core::transport::HttpFailure;
use serde_json::{Map, Value, json};

use super::body::Response;
use super::deliver::{answer, deliver};
use super::error::HttpError;
use super::pending_response::PendingResponse;
use super::poster::Poster;
use super::response::{failure, within};

/// The maximum number of pages of a list that are read to find the headers of one call.
const PAGES: usize = 100;

/// Sends a request, and delivers its response. If the server reports that the headers of a call are wrong, the call is
/// repeated once.
pub(super) async fn exchange(
    poster: &impl Poster,
    id: &RequestId,
    revision: Revision,
    json: Vec<u8>,
) -> Result<(), HttpError> {
    let rule = revision.facts().mirrors.arguments;
    let method = MessageHeader::from_slice(&json)
        .ok()
        .and_then(|header| header.method().map(String::from));
    let pending = PendingResponse {
        id,
        lists: rule.filter(|rule| method.as_deref() == Some(rule.list.method)),
        resumes: revision.facts().resumption,
    };
    let failure = match post(poster, revision, &json).await? {
        Ok(response) => return deliver(poster, response, &pending).await,
        Err(failure) => failure,
    };
    let rule = rule.filter(|rule| method.as_deref() == Some(rule.call.method) && is_mismatch(revision, &failure));
    let Some(rule) = rule else { return Err(failure.into()) };
    let listed = list_again(poster, id, revision, &rule, &json);
    match within(poster.terms().timeout, listed).await {
        Some(Ok(())) => {}
        Some(Err(error)) => {
            tracing::debug!(%error, "the list can't be read again");
            return Err(failure.into());
        }
        None => return Err(failure.into()),
    }
    match post(poster, revision, &json).await? {
        Ok(response) => deliver(poster, response, &pending).await,
        Err(failure) => Err(failure.into()),
    }
}

async fn post(
    poster: &impl Poster,
    revision: Revision,
    json: &[u8],
) -> Result<Result<Response, HttpFailure>, HttpError> {
    let terms = poster.terms();
    let response = poster.post_with(terms.mirrors(revision, json), json.to_vec()).await?;
    match response.status().is_success() {
        true => Ok(Ok(response)),
        false => Ok(Err(failure(response, terms.timeout.is_some()).await)),
    }
}

/// Whether the server reports that a header doesn't match the body of the request.
fn is_mismatch(revision: Revision, failure: &HttpFailure) -> bool {
    let known = revision.known_error(ErrorRole::HeaderMismatch);
    let error = failure.response.as_ref().map(|response| response.error.code);
    known.is_some_and(|known| error == Some(known.code))
}

/// Lists the tools again, to learn which headers a call needs.
async fn list_again(
    poster: &impl Poster,
    id: &RequestId,
    revision: Revision,
    rule: &MirroredArguments,
    call: &[u8],
) -> Result<(), HttpError> {
    let call = MessageHeader::from_slice(call).ok();
    let meta = call.and_then(|call| call.param(&["_meta"]).ok()??.decode_as::<RawJson>().ok());
    let mut meta: Map<String, Value> = meta.and_then(|meta| meta.parse().ok()).unwrap_or_default();
    meta.remove(revision.lifecycle().meta_progress.unwrap_or_default());
    let mut params = json!({"_meta": meta});
    for page in 0..PAGES {
        let id = RequestId::String(format!("{id}-list-{page}"));
        let request = json!({"jsonrpc": "2.0", "id": id, "method": rule.list.method, "params": params});
        let response = post(poster, revision, &to_json(&request)).await??;
        let json = answer(poster, response, &id).await?;
        let json = poster.terms().tools.lock().take(rule, json);
        let header = MessageHeader::from_slice(&json).map_err(|_| HttpError::MissingResponse)?;
        let result = header.result().ok_or(HttpError::MissingResponse)?;
        let next = result.get(&[rule.list.next]).ok().flatten();
        let next = next.and_then(|next| next.string().ok()).filter(|next| !next.is_empty());
        let Some(next) = next else { return Ok(()) };
        params[rule.list.cursor] = Value::String(next.into_owned());
    }
    Ok(())
}
