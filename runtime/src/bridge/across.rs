//! Requests between the eras. The stateless side speaks the hub's revision, or is converted to it, so that sessions do the rest.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use mcp_adapters::handlers::ServerHandler;
use mcp_adapters::mcp_wire::{ErrorObject, OpenJson, UnknownMethod};
use mcp_adapters::{hello, hub};
use tokio::sync::mpsc;

use super::asking::{Running, Step};
use super::back::{Back, Current};
use super::calls::Caller;
use super::client::ClientId;
use super::translation::{check_undeclared, dropped};
use crate::era::Era;
use crate::error::{CallError, internal};
use crate::rounds::brought;
use crate::session::{ClientInfo, Context, Peer, Terms};
use crate::side::{ClientSide, ServerSide};
use crate::sync::Mutex;

/// Handles the requests of a client of one era with a server of the other.
pub struct Across {
    pub current: Arc<Current>,
    pub client: ClientInfo,
    pub id: ClientId,
    /// The terms of calls to a stateless server, for the log level that the client has set.
    pub terms: Mutex<Option<(usize, Arc<Terms>)>>,
}

impl Across {
    /// The server, on behalf of this client.
    fn server(&self, back: &Back, context: &Context<ServerSide>) -> Result<Peer<ClientSide>, CallError> {
        if Era::of(back.revision) == Era::Handshake {
            return Ok(Peer::new(Arc::clone(&back.state)));
        }
        let severity = context.peer().state().log_severity.load(Ordering::Relaxed);
        let mut known = self.terms.lock();
        let terms = match &*known {
            Some((of, terms)) if *of == severity => Arc::clone(terms),
            _ => {
                let client = ClientInfo {
                    log_level: crate::session::log_level(severity),
                    ..self.client.clone()
                };
                let terms = Terms::clone(back.state.terms());
                let terms = crate::session::SessionState::stateless_terms(back.revision, &client, terms)?;
                known.insert((severity, Arc::new(terms))).1.clone()
            }
        };
        Ok(Peer::of_message(Arc::clone(&back.state), None, terms))
    }

    /// Sets the log level of a server with sessions, if a request wants more than it sends.
    async fn set_level(&self, back: &Back, context: &Context<ServerSide>) {
        let terms = context.peer().terms();
        let Some(severity) = terms.log_severity.filter(|_| terms.stands_alone()) else {
            return;
        };
        let mut set = back.level.lock().await;
        let level = crate::session::log_level(severity).filter(|_| set.is_none_or(|set| severity < set));
        let Some((method, params)) = level.and_then(|level| hello::set_level(back.revision, level.as_str())) else {
            return;
        };
        if back.state.check_call(back.state.terms(), method).is_err() {
            return;
        }
        let request = UnknownMethod::new(method).with_params(params);
        match back.state.call_json(back.state.terms(), method, request).await {
            Ok(_) => *set = Some(severity),
            Err(error) => tracing::warn!(%error, "the server's log level wasn't set"),
        }
    }

    /// Begins a call, or goes on with the one that waits for the answers of this request.
    fn begin(
        &self,
        back: &Back,
        mut request: hub::ClientRequest,
        context: &Context<ServerSide>,
    ) -> Result<Running, ErrorObject> {
        let mut carrier = None;
        if Era::of(back.revision) == Era::Handshake
            && let Some(brought) = brought(&mut request)
        {
            let (responses, state) = (brought.responses.take(), brought.state.take());
            if let Some(name) = state {
                return back.suspended.resume(&name, &self.id, responses);
            }
            carrier = Some(back.links.questions.carry(context.peer().clone()));
        }
        let mut peer = self.server(back, context)?;
        let (sender, progress) = mpsc::channel(64);
        if context.wants_progress() {
            peer = peer.with_progress(sender);
        }
        let call = Box::pin(async move { peer.call(request).await });
        Ok(Running {
            call,
            progress,
            carrier,
        })
    }
}

impl ServerHandler<Context<ServerSide>> for Across {
    async fn handle_request(
        &self,
        request: hub::ClientRequest,
        context: &Context<ServerSide>,
    ) -> Result<hub::ServerResult, ErrorObject> {
        let back = self.current.get();
        self.set_level(&back, context).await;
        let _call = context.request_id().map(|id| {
            let caller = Caller {
                peer: context.peer().clone(),
                id: id.clone(),
                token: None,
            };
            back.links.calls.add(None, caller, None)
        });
        let mut running = self.begin(&back, request, context)?;
        match running.run(context).await {
            Step::Completed(result) => {
                // Notifications that came before the result are passed on before it.
                let handled = back.state.unhandled.join();
                handled.turn().await;
                Ok((*result)?)
            }
            Step::Asked(questions) => {
                let lease = back.lease.upgrade();
                let lease = lease.ok_or_else(|| internal("the session with the server has ended"))?;
                let state = back.suspended.suspend(running, &self.id, lease)?;
                let asked = hub::InputRequiredResult::default();
                let asked = asked.with_input_requests(questions).with_request_state(state);
                Ok(hub::ServerResult::InputRequired(asked))
            }
        }
    }

    async fn unknown_request(
        &self,
        request: UnknownMethod,
        context: &Context<ServerSide>,
    ) -> Result<OpenJson, ErrorObject> {
        let back = self.current.get();
        check_undeclared(back.revision, &request.method)?;
        let peer = self.server(&back, context)?;
        Ok(peer.call_unknown(request).await?)
    }

    async fn on_unknown(&self, notification: UnknownMethod, context: &Context<ServerSide>) {
        let back = self.current.get();
        if let Err(error) = check_undeclared(back.revision, &notification.method) {
            tracing::debug!(reason = error.message, "a notification can't be passed on");
            back.state.report_losses(&notification.method, &[dropped()]);
            return;
        }
        let sent = match self.server(&back, context) {
            Ok(peer) => peer.notify_unknown(notification).await.map_err(internal),
            Err(error) => Err(internal(error)),
        };
        if let Err(error) = sent {
            tracing::debug!(reason = error.message, "a notification wasn't passed on");
        }
    }
}
