//! Input requests of a server's handlers: sent as requests to the client, or in the results of its requests.

use std::sync::Arc;

use mcp_adapters::handlers::CallClient;
use mcp_adapters::mcp_wire::{ErrorObject, Extra};
use mcp_adapters::{Revision, hub, session_messages};
use mcp_runtime_util::{BoxFuture, try_all};

use super::context::Context;
use super::context::Peer;
use super::handler::{Extending, Handler, HandlerResult, Handling, Layered, Relay};
use super::state::method;
use crate::error::{CallError, internal_error, invalid_params};
use crate::message::to_json;
use crate::rounds::{Binding, Refusal, Round, RoundRequests, RoundState, retry_input};
use crate::side::ServerSide;

type Answer = Result<HandlerResult<hub::ServerResult>, ErrorObject>;

/// A server's handler that can request input from the client, and runs again with the responses.
struct Rounds<H>(H);

impl<H: Handler<ServerSide>> Handler<ServerSide> for Rounds<H> {
    fn handle_request<'a>(
        &'a self,
        mut request: hub::ClientRequest,
        context: &'a Context<ServerSide>,
    ) -> Handling<'a, ServerSide> {
        let Self(handler) = self;
        let is_undeclared = matches!(request, hub::ClientRequest::Unknown(_));
        let is_stateless = context.peer.negotiated().is_stateless();
        let (may_request_input, is_retry) = match retry_input(&mut request) {
            Some(input) => (true, input.responses.is_some() || input.state.is_some()),
            None => (false, false),
        };
        // The state of a retry is checked even if the handler needs none.
        let needs_round = is_retry || handler.needs_round(&request);
        if is_undeclared || !needs_round || (is_stateless && !may_request_input) {
            return handler.handle_request(request, context);
        }
        // The futures would be larger with the request itself.
        let request = Box::new(request);
        if is_stateless {
            return Box::pin(answer_round(handler, request, context));
        }
        Box::pin(answer_rounds(handler, request, may_request_input, context))
    }

    fn handle_notification<'a>(
        &'a self,
        notification: hub::ClientNotification,
        context: &'a Context<ServerSide>,
    ) -> BoxFuture<'a, ()> {
        self.0.handle_notification(notification, context)
    }

    fn needs_round(&self, request: &hub::ClientRequest) -> bool {
        self.0.needs_round(request)
    }

    fn may_request_input(&self, request: &hub::ClientRequest) -> bool {
        self.0.may_request_input(request)
    }

    fn extend<'a>(&'a self, filter: Extra, context: &'a Context<ServerSide>) -> Extending<'a> {
        self.0.extend(filter, context)
    }

    fn relay(&self, revision: Revision) -> Option<&dyn Relay<ServerSide>> {
        self.0.relay(revision)
    }
}

impl<H: Handler<ServerSide>> From<H> for Layered<ServerSide> {
    fn from(handler: H) -> Self {
        Self::new(Rounds(handler))
    }
}

/// Answers a request of a session with a handshake. If the handler returns input requests, these are sent to the
/// client, and the handler runs again with the responses.
async fn answer_rounds(
    handler: &dyn Handler<ServerSide>,
    mut request: Box<hub::ClientRequest>,
    may_request_input: bool,
    context: &Context<ServerSide>,
) -> Answer {
    let is_tool = may_request_input && matches!(*request, hub::ClientRequest::CallTool(_));
    let refused = |refusal| match refusal {
        Refusal::NotOffered(error) if is_tool => Ok(HandlerResult::Declared(failed(error))),
        Refusal::NotOffered(error) | Refusal::Other(error) => Err(error),
    };
    for rounds_left in (0..=context.peer.state.options.limits.rounds).rev() {
        let next = (may_request_input && handler.may_request_input(&request)).then(|| request.clone());
        let (round, running) = context.in_round(Round::default());
        let result = match round.run(handler.handle_request(*request, &running)).await {
            Ok(Some(result)) => result,
            Ok(None) => return Err(internal_error("the handler stopped without an input request")),
            Err(refusal) => return refused(refusal),
        };
        let Some(mut next) = next else { return Ok(result) };
        let asked = match result {
            HandlerResult::Declared(hub::ServerResult::InputRequired(asked)) => asked,
            result => return Ok(result),
        };
        // No run of the handler would get the responses.
        if rounds_left == 0 {
            break;
        }
        let responses = match call_with_all(&context.peer, asked.input_requests).await {
            Ok(responses) => responses,
            Err(refusal) => return refused(refusal),
        };
        if let Some(retry_input) = retry_input(&mut next) {
            (*retry_input.responses, *retry_input.state) = (responses, asked.request_state);
        }
        request = next;
    }
    Err(internal_error("the handler requests input in too many rounds"))
}

/// Answers a stateless request. If the handler requests input, the input requests are the result.
async fn answer_round(
    handler: &dyn Handler<ServerSide>,
    mut request: Box<hub::ClientRequest>,
    context: &Context<ServerSide>,
) -> Answer {
    let peer = &context.peer;
    let (sealing, limit) = (&peer.state.options.sealing, peer.state.options.limits.state_bytes);
    let (responses, sealed) = match retry_input(&mut request) {
        Some(retry_input) => (retry_input.responses.take(), retry_input.state.take()),
        None => (None, None),
    };
    let bare = request.clone();
    let principal = context.principal();
    let binding = Binding {
        principal: principal.map(|principal| principal.0.as_str()),
        request: &bare,
    };
    let state = match sealed {
        Some(text) => {
            let opened = RoundState::open(&text, sealing, &binding, limit).await;
            Some(opened.ok_or_else(invalid_state)?)
        }
        None => None,
    };
    if let Some(retry_input) = retry_input(&mut request) {
        let own = state.as_ref().and_then(|state| state.own.clone());
        (*retry_input.responses, *retry_input.state) = (responses.clone(), own);
    }
    let requests = RoundRequests::new(state, responses.unwrap_or_default(), !sealing.is_single_use());
    let (round, running) = context.in_round(Round::with_requests(requests));
    let result = round.run(handler.handle_request(*request, &running)).await?;
    let (mut state, open) = round.take_requests().end();
    let mut asked = match result {
        None => hub::InputRequiredResult::default().with_input_requests(open),
        Some(HandlerResult::Declared(hub::ServerResult::InputRequired(mut asked))) => {
            for (_, request) in asked.input_requests.iter().flat_map(hub::InputRequests::iter) {
                peer.check_question(request)?;
            }
            state.own = asked.request_state.take();
            asked
        }
        Some(result) => return Ok(result),
    };
    if !state.is_empty() {
        asked.request_state = Some(state.seal(sealing, &binding, limit).map_err(internal_error)?);
    }
    Ok(HandlerResult::Declared(hub::ServerResult::InputRequired(asked)))
}

/// Returns the result of a tool that requests input for which the client of a session lacks the capability. Such
/// clients show a result with `isError` to their model, and don't expect an error response for a capability that they
/// lack.
fn failed(error: ErrorObject) -> hub::ServerResult {
    let why = hub::TextContent::new(error.message);
    hub::ServerResult::CallTool(hub::CallToolResult::new(vec![why.into()]).with_is_error(true))
}

/// Sends all of these requests to the client concurrently.
async fn call_with_all(
    peer: &Peer<ServerSide>,
    requests: Option<hub::InputRequests>,
) -> Result<Option<hub::InputResponses>, Refusal> {
    let Some(requests) = requests else { return Ok(None) };
    for (_, request) in requests.iter() {
        peer.check_question(request)?;
    }
    let call = |(name, request)| -> BoxFuture<'_, Result<_, ErrorObject>> {
        Box::pin(async move {
            match peer.call(request).await {
                Ok(response) => Ok((name, response)),
                Err(error) => Err(internal_error(format!("the client didn't answer `{name}`: {error}"))),
            }
        })
    };
    let responses = try_all(requests.into_iter().map(call).collect()).await?;
    Ok(Some(responses.into_iter().collect()))
}

/// Returns the error for every invalid state. It gives no reason, which would help to forge a state.
fn invalid_state() -> ErrorObject {
    invalid_params("the request state is not valid")
}

impl Peer<ServerSide> {
    /// Returns a handle to the same client that names its input requests. When the handler runs again, their responses
    /// are found by this name, and not by their position among the input requests of the handler.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Checks that the client can get an input request: it has declared the capability for it, and the server has a
    /// session with it if its revision needs one.
    ///
    /// # Errors
    /// [`CallError::NotOffered`] or [`CallError::NoSession`] if it can't.
    pub fn check_input_request(&self, request: &hub::InputRequest) -> Result<(), CallError> {
        let negotiated = self.negotiated();
        let name = negotiated.method(request.method());
        if method::<ServerSide>(negotiated.revision, name, false).is_none()
            && let Some(capability) = Revision::HUB
                .method(request.method())
                .and_then(|entry| entry.capability)
        {
            // The client's revision doesn't have this input request.
            let method = name.to_owned();
            return Err(CallError::NotOffered {
                method,
                capability,
                revision: negotiated.revision,
            });
        }
        self.state.check_call(negotiated, name)?;
        self.state.check_call_params(negotiated, name, &to_json(request))
    }

    /// Checks an input request, and returns the error for the client's request if the client lacks the capability.
    fn check_question(&self, request: &hub::InputRequest) -> Result<(), Refusal> {
        match self.check_input_request(request) {
            Ok(()) => Ok(()),
            Err(CallError::NotOffered { method, capability, .. }) => {
                let what = format!("{method} needs the capability `{capability}`, which the client hasn't declared");
                let error = session_messages::missing_capability(self.negotiated().revision, capability, what);
                Err(Refusal::NotOffered(error))
            }
            Err(error @ CallError::NoSession(_)) => Err(Refusal::NotOffered(internal_error(error))),
            Err(error) => Err(internal_error(error).into()),
        }
    }

    async fn ask(&self, request: hub::InputRequest) -> Result<hub::InputResponse, CallError> {
        let Some(round) = &self.round else {
            return self.call(request).await;
        };
        let negotiated = self.negotiated();
        self.state
            .warn_of_deprecated(negotiated.revision, negotiated.method(request.method()));
        match self.check_question(&request) {
            Err(refusal) => round.refuse(refusal).await,
            Ok(()) if round.asks_in_result() => round.ask(self.name.as_deref(), request).await,
            Ok(()) => self.call(request).await,
        }
    }
}

impl Context<ServerSide> {
    /// Returns a run of the handler, and the context for it.
    fn in_round(&self, round: Round) -> (Arc<Round>, Self) {
        let (round, mut context) = (Arc::new(round), self.clone());
        context.peer.round = Some(Arc::clone(&round));
        (round, context)
    }

    /// Returns the same context with a name for its input requests; see [`Peer::named`].
    #[must_use]
    pub fn named(&self, name: impl Into<String>) -> Self {
        let mut named = self.clone();
        named.peer.name = Some(name.into());
        named
    }
}

impl CallClient for Peer<ServerSide> {
    type Error = CallError;

    async fn request(&self, request: hub::InputRequest) -> Result<hub::InputResponse, CallError> {
        self.ask(request).await
    }

    async fn notify(&self, notification: hub::ServerNotification) -> Result<(), CallError> {
        Self::notify(self, notification).await
    }
}

/// Sends input requests and notifications to the client of the request.
///
/// A client with a session gets the input request as a request. For a client of the stateless era, an input request
/// without a response ends the run of the handler where it awaits the response: the result of the client's request
/// contains the input request, and when the client repeats its request with the response, the handler runs again from
/// its start and gets the response in the same place. So the code before an input request runs once per round, and must
/// be safe to repeat. Several concurrent input requests, as by [`tokio::join!`], are sent in one round.
///
/// The input requests of a handler must depend only on its arguments and the earlier responses and come in the same
/// order each time, or have names ([`Peer::named`]). The client's request fails if an input request differs from that
/// of an earlier run, or needs a capability that the client hasn't declared; in the latter case, a tool called in a
/// session with a handshake gets a result with `isError` instead. [`Peer::check_input_request`] checks the capability in
/// advance.
///
/// ```
/// use mcp_runtime::{CallClient, CallError, Context, ServerSide, hub, mcp_wire};
///
/// async fn delete(path: String, context: &Context<ServerSide>) -> Result<String, CallError> {
///     let form = mcp_wire::from_str(r#"{"type": "object", "properties": {}}"#).expect("it is a form");
///     let question = hub::ElicitRequestFormParams::new(format!("Delete {path}?"), form);
///     let answer = context.elicit(question.into()).await?;
///     // Nothing is deleted before this line, however often the function runs.
///     match answer.action {
///         hub::ElicitResultAction::Accept => Ok(format!("{path} is deleted")),
///         _ => Ok("nothing is deleted".to_owned()),
///     }
/// }
/// ```
impl CallClient for Context<ServerSide> {
    type Error = CallError;

    async fn request(&self, request: hub::InputRequest) -> Result<hub::InputResponse, CallError> {
        self.peer.ask(request).await
    }

    async fn notify(&self, notification: hub::ServerNotification) -> Result<(), CallError> {
        self.peer.notify(notification).await
    }
}
