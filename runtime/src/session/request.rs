//! Requests of the peer: which are handled, and how each is answered.

use std::sync::Arc;

use http::Extensions;
use mcp_adapters::mcp_wire::{Call, ErrorObject, ErrorResponse, MessageHeader, RequestId, Response, error_code};
use mcp_adapters::{Loss, hub, negotiate};
use tokio_util::sync::CancellationToken;

use super::answer::{Pending, encode};
use super::engine::Engine;
use super::handler::Answered;
use crate::context::Context;
use crate::peer::{Peer, PeerInfo};
use crate::side::Side;

/// What a server says when a session begins.
#[derive(Debug, Clone)]
pub struct Welcome {
    pub implementation: hub::Implementation,
    pub capabilities: hub::ServerCapabilities,
    pub instructions: Option<String>,
}

impl<S: Side> Engine<S> {
    pub(super) fn take_request(
        self: &Arc<Self>,
        Call { id, request }: Call<S::Request>,
        header: &MessageHeader<'_>,
        extensions: Arc<Extensions>,
        losses: Vec<Loss>,
    ) -> Pending {
        let refused = |error: ErrorObject| Pending::refused(Some(id.clone()), error);
        if S::is_ping(&request) {
            return self.answered_at_once(&id, Ok(S::empty_result()));
        }
        if let (Some(params), Some(welcome)) = (S::opening(&request), &self.welcome) {
            let limit = self.shared.options.limits.initialize_bytes;
            if header.params().is_some_and(|params| params.text().len() > limit) {
                let why = format!("the parameters of `initialize` may have {limit} bytes at most");
                return refused(ErrorObject::new(error_code::INVALID_PARAMS, why));
            }
            let opened = self.open(params, welcome);
            return self.answered_at_once(&id, opened);
        }
        if self.shared.revision().is_none() {
            let what = "the session has not begun: send `initialize` first";
            return refused(ErrorObject::new(error_code::INVALID_REQUEST, what));
        }
        let method = S::method(&request);
        if let Err(error) = self.shared.may_be_asked(method) {
            return refused(error);
        }
        if self.backlog.is_closed() {
            return refused(ErrorObject::new(error_code::INTERNAL_ERROR, "the session is closing"));
        }
        let too_many = |why| refused(ErrorObject::new(error_code::INTERNAL_ERROR, why));
        let Ok(place) = Arc::clone(&self.places).try_acquire_owned() else {
            return too_many("too many requests are in flight");
        };
        let Some(charge) = self.requests.try_charge(header.message().text().len()) else {
            return too_many("the requests in flight have too many bytes");
        };
        let cancelled = CancellationToken::new();
        {
            let mut handling = self.handling();
            if handling.contains_key(&id) {
                drop(handling);
                return refused(ErrorObject::new(
                    error_code::INVALID_REQUEST,
                    "a request with this id is still being handled",
                ));
            }
            handling.insert(id.clone(), cancelled.clone());
        }
        let token = header.param(&["_meta", "progressToken"]).ok().flatten();
        let context = Context {
            peer: Peer::new(Arc::clone(&self.shared), Some(id.clone())),
            id: Some(id.clone()),
            token: token.and_then(|token| token.decode_as().ok()),
            cancelled,
            extensions,
            losses,
        };
        let engine = Arc::clone(self);
        let handled = async move { (engine.handle(request, context).await, (place, charge)) };
        Pending::later(id, self.tasks.spawn(handled))
    }

    fn answered_at_once(&self, id: &RequestId, answer: Result<S::Result, ErrorObject>) -> Pending {
        Pending::ready(
            Some(id.clone()),
            self.encode_answer("", id, answer.map(Answered::Declared)),
        )
    }

    /// Negotiates, and says what this server is.
    fn open(&self, params: &hub::InitializeRequestParams, welcome: &Welcome) -> Result<S::Result, ErrorObject> {
        let supported = &self.shared.options.supported;
        let Some(revision) = negotiate(&params.protocol_version, supported) else {
            return Err(ErrorObject::new(
                error_code::INTERNAL_ERROR,
                "the server supports no revision",
            ));
        };
        let info = PeerInfo {
            implementation: params.client_info.clone(),
            capabilities: serde_json::to_value(&params.capabilities).unwrap_or_default(),
            instructions: None,
        };
        if !self.shared.negotiated(revision, info) {
            return Err(ErrorObject::new(
                error_code::INVALID_REQUEST,
                "the session has begun before",
            ));
        }
        let mut result = hub::InitializeResult::new(
            revision.as_str(),
            welcome.capabilities.clone(),
            welcome.implementation.clone(),
        );
        result.instructions = welcome.instructions.clone();
        S::opened(result).ok_or_else(|| ErrorObject::new(error_code::METHOD_NOT_FOUND, "this side is no server"))
    }

    /// Has the handler answer a request, unless the peer cancels it.
    async fn handle(self: Arc<Self>, request: S::Request, context: Context<S>) -> Option<Vec<u8>> {
        let id = context.id.clone()?;
        let method = S::method(&request).to_owned();
        let cancelled = context.cancelled.clone();
        let engine = Arc::clone(&self);
        // A task of its own, so that a panic ends this call alone.
        let permits = Arc::clone(&self.permits);
        let mut task = tokio::spawn(async move {
            // The semaphore is never closed.
            let _permit = permits.acquire_owned().await;
            // Whoever doesn't read gets no more to read.
            engine.unread.available().await;
            engine.handler.answer(request, &context).await
        });
        let answer = tokio::select! {
            biased;
            answer = &mut task => Some(answer),
            () = cancelled.cancelled() => None,
            () = self.shared.ended.cancelled() => None,
        };
        self.handling().remove(&id);
        let answer = match answer {
            None => {
                task.abort();
                return None;
            }
            Some(Ok(answer)) => answer,
            Some(Err(error)) => {
                tracing::error!(method, %error, "a handler failed");
                Err(ErrorObject::new(error_code::INTERNAL_ERROR, "internal error"))
            }
        };
        Some(self.encode_answer(&method, &id, answer))
    }

    fn encode_answer(&self, method: &str, id: &RequestId, answer: Result<Answered<S::Result>, ErrorObject>) -> Vec<u8> {
        let result = answer.and_then(|result| match result {
            Answered::Declared(result) => S::encode_result(self.shared.spoken(), result).map_err(|error| {
                tracing::debug!(method, %error, "the peer's revision can't represent the result");
                ErrorObject::new(error_code::INTERNAL_ERROR, error.to_string())
            }),
            Answered::Custom(result) => Ok((result, Vec::new())),
        });
        match result {
            Ok((result, losses)) => {
                self.shared.report(method, &losses);
                encode(&Response::new(id.clone(), result))
            }
            Err(error) => encode(&ErrorResponse::new(Some(id.clone()), error)),
        }
    }
}
