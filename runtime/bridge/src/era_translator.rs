//! Requests between the eras, and between revisions of one era that have the other one between them. Both sides are converted to the hub's
//! revision, so that sessions do the rest.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use mcp_adapters::handlers::ServerHandler;
use mcp_adapters::mcp_wire::{ErrorObject, RawJson, UnknownMethod};
use mcp_adapters::{hello, hub};
use mcp_runtime_core::internal::{ClientInfo, Mutex, Negotiated, internal_error, retry_input};
use mcp_runtime_core::{CallError, ClientSide, Context, Era, Peer, ServerSide};
use tokio::sync::mpsc;

use super::asking::{Running, Step};
use super::calls::Caller;
use super::client::ClientId;
use super::translation::{check_undeclared, dropped};
use super::upstream::{Current, Upstream};

/// Handles the requests of a client whose messages the server can't be sent as they are translated.
pub struct EraTranslator {
    pub current: Arc<Current>,
    pub client: ClientInfo,
    pub id: ClientId,
    /// What holds for calls to a stateless server, for the log level that the client has set.
    pub negotiated: Mutex<Option<(usize, Arc<Negotiated>)>>,
}

impl EraTranslator {
    /// The server, on behalf of this client.
    fn server(&self, upstream: &Upstream, context: &Context<ServerSide>) -> Result<Peer<ClientSide>, CallError> {
        if Era::of(upstream.revision) == Era::Handshake {
            return Ok(Peer::new(Arc::clone(&upstream.state)));
        }
        let severity = context.peer().state().log_severity.load(Ordering::Relaxed);
        let mut known = self.negotiated.lock();
        let negotiated = match &*known {
            Some((of, negotiated)) if *of == severity => Arc::clone(negotiated),
            _ => {
                let client = ClientInfo {
                    log_level: mcp_runtime_core::internal::log_level(severity),
                    ..self.client.clone()
                };
                let negotiated = Negotiated::clone(upstream.state.negotiated());
                let negotiated = mcp_runtime_core::internal::SessionState::stateless_negotiated(
                    upstream.revision,
                    &client,
                    negotiated,
                )?;
                known.insert((severity, Arc::new(negotiated))).1.clone()
            }
        };
        Ok(Peer::of_message(Arc::clone(&upstream.state), None, negotiated))
    }

    /// Sets the log level of a server with sessions: for stateless clients if a request wants more than it sends, and for a client with a
    /// session if that has set another.
    async fn set_level(&self, upstream: &Upstream, context: &Context<ServerSide>) {
        let negotiated = context.peer().negotiated();
        let wanted = match negotiated.is_stateless() {
            true => negotiated.log_severity,
            false => Some(context.peer().state().log_severity.load(Ordering::Relaxed)),
        };
        let Some(severity) = wanted else { return };
        let mut set = upstream.level.lock().await;
        let is_news = match negotiated.is_stateless() {
            true => set.is_none_or(|set| severity < set),
            // Without a level, a session has every message.
            false => set.unwrap_or_default() != severity,
        };
        let level = mcp_runtime_core::internal::log_level(severity).filter(|_| is_news);
        let Some((method, params)) = level.and_then(|level| hello::set_level(upstream.revision, level.as_str())) else {
            return;
        };
        if upstream.state.check_call(upstream.state.negotiated(), method).is_err() {
            return;
        }
        let request = UnknownMethod::new(method).with_params(params);
        match upstream
            .state
            .call_json(upstream.state.negotiated(), method, request)
            .await
        {
            Ok(_) => *set = Some(severity),
            Err(error) => tracing::warn!(%error, "the server's log level wasn't set"),
        }
    }

    /// Begins a call, or goes on with the one that waits for the answers of this request.
    fn begin(
        &self,
        upstream: &Upstream,
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
                return upstream.suspended.resume(&name, &self.id, responses);
            }
            carrier = Some(upstream.links.questions.carry(context.peer().clone()));
        }
        let mut peer = self.server(upstream, context)?;
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

impl ServerHandler<Context<ServerSide>> for EraTranslator {
    async fn handle_request(
        &self,
        request: hub::ClientRequest,
        context: &Context<ServerSide>,
    ) -> Result<hub::ServerResult, ErrorObject> {
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
        let mut running = self.begin(&upstream, request, context)?;
        match running.run(context).await {
            Step::Completed(result) => {
                // Notifications that came before the result are passed on before it.
                let handled = upstream.state.unhandled.join();
                handled.wait_turn().await;
                Ok((*result)?)
            }
            Step::Asked(questions) => {
                let lease = upstream.lease.upgrade();
                let lease = lease.ok_or_else(|| internal_error("the session with the server has ended"))?;
                let state = upstream.suspended.suspend(running, &self.id, lease)?;
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
    ) -> Result<RawJson, ErrorObject> {
        let upstream = self.current.get();
        check_undeclared(upstream.revision, &request.method)?;
        let peer = self.server(&upstream, context)?;
        Ok(peer.call_unknown(request).await?)
    }

    async fn on_unknown(&self, notification: UnknownMethod, context: &Context<ServerSide>) {
        let upstream = self.current.get();
        if let Err(error) = check_undeclared(upstream.revision, &notification.method) {
            tracing::debug!(reason = error.message, "a notification can't be passed on");
            upstream.state.report_losses(&notification.method, &[dropped()]);
            return;
        }
        let sent = match self.server(&upstream, context) {
            Ok(peer) => peer.notify_unknown(notification).await.map_err(internal_error),
            Err(error) => Err(internal_error(error)),
        };
        if let Err(error) = sent {
            tracing::debug!(reason = error.message, "a notification wasn't passed on");
        }
    }
}
