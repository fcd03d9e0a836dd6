//! Passes messages between two revisions of one era. Between equal revisions, they keep their bytes, except for ids and
//! tokens.

use std::sync::Arc;

use mcp_adapters::mcp_wire::{ErrorObject, MessageHeader, RawJson, RequestId};
use mcp_adapters::{PeerTypes, Policy, Revision, session_messages, translate_error};
use mcp_runtime_core::internal::{
    RawAnswer, RawMessage, SessionState, Ticket, internal_error, invalid_params, set_member,
};
use mcp_runtime_core::transport::Purpose;
use mcp_runtime_core::{CallError, Context, Side};
use mcp_runtime_util::BoxFuture;

use super::calls::{Caller, Calls, Cancellation};
use super::translation::{dropped, translate_call, translate_result};

/// Passes a request of a peer on to another one. Requests are sent in the order in which they came, and responses are
/// returned in the order of the replies.
pub fn pass_request<S: Side, T: Side>(
    calls: &Arc<Calls<S>>,
    to: &Arc<SessionState<T>>,
    purpose: Purpose,
    request: RawMessage,
    context: Context<S>,
) -> BoxFuture<'static, RawAnswer> {
    match prepare(calls, to, request, context) {
        Ok(call) => Box::pin(call.exchange(purpose)),
        Err(error) => Box::pin(std::future::ready(error.into())),
    }
}

/// A request that is ready to be sent.
struct PassedCall<S: Side, T: Side> {
    calls: Arc<Calls<S>>,
    to: Arc<SessionState<T>>,
    caller: Caller<S>,
    from: Revision,
    method: String,
    id: i64,
    json: Vec<u8>,
    ticket: Ticket,
    cancellation: Cancellation,
}

fn prepare<S: Side, T: Side>(
    calls: &Arc<Calls<S>>,
    to: &Arc<SessionState<T>>,
    request: RawMessage,
    context: Context<S>,
) -> Result<PassedCall<S, T>, ErrorObject> {
    let peer = context.peer().clone();
    let (from, target) = (peer.negotiated().revision, to.negotiated().revision);
    let header = MessageHeader::from_slice(&request.json).map_err(internal_error)?;
    let in_hub = Revision::HUB.method(Revision::HUB.name_of_method(from, &request.method));
    if !S::IS_SERVER && in_hub.is_some() {
        // The session with a server declares the capabilities of the client, as far as the hub has them. The client must
        // not get requests that need others.
        let session = peer.state();
        session.check_request(peer.negotiated(), &request.method)?;
        session.check_request_params(peer.negotiated(), &request.method, &header)?;
    }
    let key = from.lifecycle().meta_progress;
    // If a token occurred twice, the target could use the one that isn't replaced, which can be that of another call.
    let token = key.map(|key| header.param(&["_meta", key])).transpose();
    let token = token.map_err(invalid_params)?.flatten();
    let token: Option<RawJson> = token.and_then(|token| token.decode_as().ok());
    let (json, losses) = translate_call((from, target), &request.method, request.json)?;
    to.report_losses(&request.method, &losses);
    let id = to.pending.next_id();
    let mut json = set_member(json, &["id"], &id.to_string()).map_err(internal_error)?;
    if let (Some(_), Some(key)) = (&token, target.lifecycle().meta_progress) {
        json = set_member(json, &["params", "_meta", key], &id.to_string()).map_err(internal_error)?;
    }
    calls.reserve_cancellations(&to.passing);
    Ok(PassedCall {
        calls: Arc::clone(calls),
        to: Arc::clone(to),
        caller: Caller {
            id: context.request_id().cloned().unwrap_or(RequestId::Integer(id)),
            peer,
            token,
        },
        from,
        method: target.name_of_method(from, &request.method).to_owned(),
        id,
        json: one_line(json),
        ticket: to.passing.join(),
        cancellation: Cancellation {
            token: context.cancelled().clone(),
            ticket: Arc::default(),
        },
    })
}

impl<S: Side, T: Side> PassedCall<S, T> {
    async fn exchange(self, purpose: Purpose) -> RawAnswer {
        let revision = self.to.negotiated().revision;
        let line = Arc::clone(&self.caller.peer.state().passing);
        let cancelling = Arc::clone(&self.cancellation.ticket);
        let (client, id) = (Arc::clone(self.caller.peer.state()), self.caller.id.clone());
        let is_listen = revision.lifecycle().listen == Some(&*self.method);
        let _call = self.calls.add(Some(self.id), self.caller, Some(self.cancellation));
        let replied = self
            .to
            .pass_call(self.id, self.json, purpose, self.ticket, line, cancelling);
        let replied = tokio::select! {
            biased;
            replied = replied => replied,
            // The server doesn't know that this client has ended its input, and would never end the subscription.
            () = client.subscriptions.ended.cancelled(), if is_listen => {
                return RawAnswer {
                    result: Ok(session_messages::listen_result(self.from, &id)),
                    ticket: None,
                };
            }
        };
        let reply = match replied {
            Ok(reply) => reply,
            Err(error) => return ErrorObject::from(error).into(),
        };
        let (from, to) = (revision, self.from);
        let translated = match reply.result {
            Ok(result) => translate_result((self.to.negotiated(), to), &self.method, result)
                .map(|(result, losses)| (Ok(result), losses)),
            Err(error) => {
                let error = failure(self.id, error);
                let (error, losses) = translate_error(from, to, Some(&self.method), error, Policy::Conform);
                Ok((Err(error), losses))
            }
        };
        let result = translated.and_then(|(result, losses)| {
            self.to.report_losses(&self.method, &losses);
            result
        });
        if let Some(ticket) = &reply.ticket {
            ticket.wait_turn().await;
        }
        RawAnswer {
            result: result.map(in_one_line),
            ticket: reply.ticket,
        }
    }
}

/// Returns the error of a peer's response, whatever the HTTP status.
fn failure(id: i64, error: CallError) -> ErrorObject {
    match error {
        CallError::Http(failure) => match failure.response {
            Some(response) if response.id == Some(RequestId::Integer(id)) => response.error,
            _ => CallError::Http(failure).into(),
        },
        error => error.into(),
    }
}

/// Passes a notification on to another peer.
pub fn pass_notification<S: Side>(
    from: Revision,
    to: &Arc<SessionState<S>>,
    revision: Revision,
    purpose: Purpose,
    notification: RawMessage,
) -> BoxFuture<'static, ()> {
    let method = notification.method.clone();
    let Some(json) = translate_notification((from, revision), to, notification) else {
        return Box::pin(std::future::ready(()));
    };
    let (to, ticket) = (Arc::clone(to), to.passing.join());
    Box::pin(async move {
        ticket.wait_turn().await;
        if let Err(error) = to.send(one_line(json), purpose).await {
            tracing::debug!(%error, method, "a notification wasn't passed on");
        }
    })
}

/// Translates a notification to another revision. One that the revision can't represent is dropped, and reported as a
/// loss.
pub fn translate_notification<S: Side>(
    way: (Revision, Revision),
    to: &SessionState<S>,
    RawMessage { method, json }: RawMessage,
) -> Option<Vec<u8>> {
    match translate_call(way, &method, json) {
        Ok((json, losses)) => {
            to.report_losses(&method, &losses);
            Some(json)
        }
        Err(error) => {
            tracing::debug!(method, reason = error.message, "a notification can't be passed on");
            to.report_losses(&method, &[dropped()]);
            None
        }
    }
}

/// Replaces line breaks, which occur only between the tokens of JSON, by spaces: a message can come over HTTP and be
/// passed on as a line.
fn one_line(mut json: Vec<u8>) -> Vec<u8> {
    for byte in &mut json {
        if matches!(byte, b'\n' | b'\r') {
            *byte = b' ';
        }
    }
    json
}

fn in_one_line(result: RawJson) -> RawJson {
    if !result.text().contains(['\n', '\r']) {
        return result;
    }
    let text = result.text().replace(['\n', '\r'], " ");
    mcp_wire::from_str(&text).unwrap_or(result)
}
