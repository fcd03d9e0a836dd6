//! Requests between the eras, and between revisions of one era that have the other one between them. They are converted
//! to the hub's revision, and the sessions convert from and to that.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use mcp_adapters::hub;
use mcp_adapters::mcp_wire::{ErrorObject, RawJson, RawObject, UnknownMethod};
use mcp_ext_tasks::EXTENSION;
use mcp_runtime_core::internal::{
    ClientInfo, Negotiated, SessionState, internal_error, is_accepted, log_level, retry_input,
};
use mcp_runtime_core::transport::Principal;
use mcp_runtime_core::{CallError, ClientSide, Context, Era, HandlerResult, Peer, ServerSide};
use mcp_runtime_util::{BoxFuture, Mutex};
use tokio::sync::mpsc;

use super::calls::Caller;
use super::client::ClientId;
use super::input_requests::{Carrier, Running, Step};
use super::suspended::SuspendedCalls;
use super::tasks::list_with_tasks;
use super::translated_tasks::{self, lists_with_tasks};
use super::translation::{check_undeclared, dropped};
use super::upstream::{Current, Upstream};

/// The handler of requests that can't be translated directly to the server's revision.
pub struct EraTranslator {
    pub current: Arc<Current>,
    /// The suspended calls of all clients.
    pub suspended: Arc<SuspendedCalls>,
    pub client: ClientInfo,
    pub id: ClientId,
    pub negotiated: Mutex<Option<NegotiatedFor>>,
    /// The owner of the tasks that the client can see.
    pub owner: Principal,
}

/// The negotiated state for calls to a stateless server, and what it depends on: the log level that the client has set,
/// and whether calls can be answered by tasks.
type NegotiatedFor = ((usize, bool), Arc<Negotiated>);

impl EraTranslator {
    /// Returns a handle of the server for calls on behalf of this client.
    fn server(
        &self,
        upstream: &Upstream,
        context: &Context<ServerSide>,
        has_tasks: bool,
    ) -> Result<Peer<ClientSide>, CallError> {
        if Era::of(upstream.revision) == Era::Handshake {
            return Ok(Peer::new(Arc::clone(&upstream.state)));
        }
        let severity = context.peer().state().log_severity.load(Ordering::Relaxed);
        let mut known = self.negotiated.lock();
        let wanted = (severity, has_tasks);
        let negotiated = match &*known {
            Some((of, negotiated)) if *of == wanted => Arc::clone(negotiated),
            _ => {
                let mut client = ClientInfo {
                    log_level: log_level(severity),
                    ..self.client.clone()
                };
                if has_tasks {
                    let extensions = client.capabilities.extensions.get_or_insert_default();
                    extensions.insert(EXTENSION.id.to_owned(), RawObject::default());
                }
                let negotiated = Negotiated::clone(upstream.state.negotiated());
                let negotiated = SessionState::stateless_negotiated(upstream.revision, &client, negotiated)?;
                known.insert((wanted, Arc::new(negotiated))).1.clone()
            }
        };
        Ok(Peer::of_message(Arc::clone(&upstream.state), None, negotiated))
    }

    /// Sets the log level of a server with sessions: for a stateless client, if its request wants more messages than
    /// the server sends; for a client with a session, if the client has set another level.
    async fn set_level(&self, upstream: &Upstream, context: &Context<ServerSide>) {
        let negotiated = context.peer().negotiated();
        let wanted = match negotiated.is_stateless() {
            true => negotiated.log_severity,
            false => Some(context.peer().state().log_severity.load(Ordering::Relaxed)),
        };
        let Some(severity) = wanted else { return };
        // The lock isn't held during the request, so a server that doesn't respond delays only this call.
        let before = {
            let mut set = upstream.level.lock();
            let is_news = match negotiated.is_stateless() {
                true => set.is_none_or(|set| severity < set),
                // Without a level, a session gets all messages.
                false => set.unwrap_or_default() != severity,
            };
            if !is_news {
                return;
            }
            set.replace(severity)
        };
        let Some(level) = log_level(severity) else { return };
        // A level that the server refuses isn't requested again.
        if let Some(Err(error)) = upstream.state.set_log_level(&level).await
            && !matches!(error, CallError::Peer(_))
        {
            let mut set = upstream.level.lock();
            if *set == Some(severity) {
                *set = before;
            }
        }
    }

    /// Starts a call, or resumes the suspended call that this request answers.
    fn begin(
        &self,
        upstream: &Upstream,
        mut peer: Peer<ClientSide>,
        mut request: hub::ClientRequest,
        context: &Context<ServerSide>,
    ) -> Result<Running, ErrorObject> {
        let mut carrier = None;
        if Era::of(upstream.revision) == Era::Handshake
            && context.peer().negotiated().is_stateless()
            && let Some(retry_input) = retry_input(&mut request)
        {
            let (responses, state) = (retry_input.responses.take(), retry_input.state.take());
            if let Some(name) = state {
                return self.suspended.resume(&name, &self.id, responses);
            }
            let id = upstream.state.pending.next_id();
            carrier = Some(upstream.links.input_requests.carry(id, context.peer().clone()));
        }
        let (sender, progress) = mpsc::channel(64);
        if context.wants_progress() {
            peer = peer.with_progress(sender);
        }
        let call: BoxFuture<'static, _> = match lists_with_tasks(upstream, &request, context) {
            true => Box::pin(list_with_tasks(peer, request)),
            false => {
                let id = carrier.as_ref().map(Carrier::id);
                Box::pin(async move { peer.call_as(id, request).await })
            }
        };
        Ok(Running {
            call,
            progress,
            carrier,
        })
    }

    /// Passes a request on to the server, and its result back.
    pub async fn pass(
        &self,
        mut request: hub::ClientRequest,
        context: &Context<ServerSide>,
    ) -> Result<HandlerResult<hub::ServerResult>, ErrorObject> {
        let upstream = self.current.get();
        self.set_level(&upstream, context).await;
        let _call = context.request_id().map(|id| {
            let caller = Caller {
                peer: context.peer().clone(),
                id: id.clone(),
                token: None,
            };
            upstream.links.calls.add(None, caller, None)
        });
        let server = self.server(&upstream, context, false)?;
        let wanted = translated_tasks::wanted(&upstream, &server, &self.owner, &mut request, context).await?;
        let server = match wanted {
            Some(_) => self.server(&upstream, context, true)?,
            None => server,
        };
        let may_ask = Era::of(upstream.revision) == Era::Handshake
            && context.peer().negotiated().is_stateless()
            && may_ask(&mut request);
        let mut running = self.begin(&upstream, server.clone(), request, context)?;
        match running.run(context).await {
            Step::Completed(result) => {
                // Notifications that came before the result are passed on before it.
                let handled = upstream.state.unhandled.join();
                handled.wait_turn().await;
                // The server gets the outcome in another way, so the repeated request is a new call.
                if let Err(error) = &*result
                    && let Some(asked) = server.input_requests_in_error(error).filter(|_| may_ask)
                {
                    let asked = hub::InputRequiredResult::default().with_input_requests(asked);
                    return Ok(HandlerResult::Declared(hub::ServerResult::InputRequired(asked)));
                }
                if let Ok(hub::ServerResult::InputRequired(asked)) = &*result {
                    for (_, input_request) in asked.input_requests.iter().flatten() {
                        let method = server.negotiated().method(input_request.method());
                        upstream.state.warn_of_deprecated(upstream.revision, method);
                    }
                }
                translated_tasks::answer(&upstream, server, &self.owner, wanted, (*result)?, context).await
            }
            Step::Asked(input_requests) => {
                let lease = upstream.lease.upgrade();
                let lease = lease.ok_or_else(|| internal_error("the session with the server has ended"))?;
                let state = self.suspended.suspend(running, &self.id, lease)?;
                let asked = hub::InputRequiredResult::default();
                let asked = asked.with_input_requests(input_requests).with_request_state(state);
                Ok(HandlerResult::Declared(hub::ServerResult::InputRequired(asked)))
            }
        }
    }

    /// Passes on a request of a method that the hub doesn't have.
    pub async fn pass_unknown(
        &self,
        request: UnknownMethod,
        context: &Context<ServerSide>,
    ) -> Result<RawJson, ErrorObject> {
        let upstream = self.current.get();
        if let Some(answer) = translated_tasks::answer_request(&upstream, &self.owner, &request, context).await {
            return answer;
        }
        check_undeclared(upstream.revision, &request.method)?;
        let peer = self.server(&upstream, context, false)?;
        Ok(peer.call_unknown(request).await?)
    }

    /// Passes on a notification of a method that the hub doesn't have.
    pub async fn pass_notification(&self, notification: UnknownMethod, context: &Context<ServerSide>) {
        let upstream = self.current.get();
        if let Err(error) = check_undeclared(upstream.revision, &notification.method) {
            tracing::debug!(reason = error.message, "a notification can't be passed on");
            upstream.state.report_losses(&notification.method, &[dropped()]);
            return;
        }
        let sent = match self.server(&upstream, context, false) {
            Ok(peer) => peer.notify_unknown(notification).await.map_err(internal_error),
            Err(error) => Err(internal_error(error)),
        };
        if let Err(error) = sent {
            tracing::debug!(reason = error.message, "a notification wasn't passed on");
        }
    }
}

/// Whether the result of a request can request input, and its client hasn't declined that before.
fn may_ask(request: &mut hub::ClientRequest) -> bool {
    let Some(retry_input) = retry_input(request) else {
        return false;
    };
    let mut answers = retry_input.responses.iter().flatten();
    retry_input.state.is_some() || answers.all(|(_, answer)| is_accepted(answer))
}
