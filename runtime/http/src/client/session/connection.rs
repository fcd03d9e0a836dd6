//! The state that all requests of a client share.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use http::Extensions;
use mcp_adapters::Revision;
use mcp_adapters::mcp_wire::{ErrorObject, RequestId, error_code};
use mcp_runtime_core::mirrors::header_name;
use mcp_runtime_core::transport::{Incoming, RelatedRequest};
use mcp_runtime_util::Mutex;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap};
use reqwest::redirect::Policy;
use reqwest::{RequestBuilder, Response, StatusCode, Url};
use tokio::sync::{Notify, Semaphore, mpsc};
use tokio_util::sync::CancellationToken;

use super::authorization::Authorization;
use super::body;
use super::error::HttpError;
use super::options::{HttpExchange, HttpOptions};
use super::response::{EVENT_STREAM, JSON};
use super::state::{ClientState, Handshake, RemoteSession, SessionId, SessionScope};
use super::tools::KnownTools;

#[derive(Debug)]
pub(super) struct Connection {
    pub(super) url: Url,
    pub(super) client: reqwest::Client,
    pub(super) authorization: Option<Arc<dyn Authorization>>,
    pub(super) options: HttpOptions,
    pub(super) inbox: mpsc::Sender<Inbound>,
    pub(super) state: Mutex<ClientState>,
    /// Held while the session is renewed.
    pub(super) renewing: tokio::sync::Mutex<()>,
    /// Notifies the standalone stream, if it has given up, of a response in the session.
    pub(super) responded: Notify,
    /// The requests in flight, each with the token that cancels it.
    pub(super) in_flight: Mutex<HashMap<RequestId, InFlight>>,
    /// The headers that the server's lists of tools declare.
    pub(super) tools: Mutex<KnownTools>,
    pub(super) requests: Arc<Semaphore>,
    pub(super) notifications: Arc<Semaphore>,
    pub(super) closing: CancellationToken,
}

/// An event for the receiver.
#[derive(Debug)]
pub(super) enum Inbound {
    Incoming(Incoming),
    Expired,
    End,
}

/// A request in flight.
#[derive(Debug, Clone)]
pub(super) struct InFlight {
    /// Cancels the request.
    pub(super) cancelled: CancellationToken,
    /// Whether closing the connection tells the server that the request is cancelled.
    pub(super) by_closing: bool,
}

/// Creates an HTTP client that follows redirects only within the same origin, because the headers can contain secrets, and
/// only those after which the same request is sent: after the others, a POST would become a GET.
pub(super) fn client(options: &HttpOptions) -> Result<reqwest::Client, HttpError> {
    let redirect = Policy::custom(|attempt| {
        let first = attempt.previous().first().map(Url::origin);
        let repeats = [StatusCode::TEMPORARY_REDIRECT, StatusCode::PERMANENT_REDIRECT].contains(&attempt.status());
        match repeats && attempt.previous().len() <= 5 && first == Some(attempt.url().origin()) {
            true => attempt.follow(),
            false => attempt.stop(),
        }
    });
    let client = reqwest::Client::builder()
        .redirect(redirect)
        .connect_timeout(options.timeout)
        .tcp_keepalive(Duration::from_secs(60))
        // Common servers close idle connections after 5 seconds, and a POST that fails because of that can't be
        // repeated.
        .pool_idle_timeout(Duration::from_secs(4));
    Ok(client.build()?)
}

/// Erases the HTTP library's type of a response's body.
fn received(response: Response) -> body::Response {
    http::Response::from(response).map(|body| body::Body::new(body, HttpError::Network))
}

impl Connection {
    /// Hands a message to the receiver, and waits while its queue is full.
    pub(super) async fn deliver(&self, json: Vec<u8>) {
        self.hand(Inbound::Incoming(Incoming::message(json))).await;
    }

    /// Hands a message from the stream of a request to the receiver.
    pub(super) async fn deliver_related(&self, json: Vec<u8>, id: &RequestId) {
        let mut extensions = Extensions::new();
        extensions.insert(RelatedRequest(id.clone()));
        self.hand(Inbound::Incoming(Incoming::Message { json, extensions }))
            .await;
    }

    /// Informs the receiver that a request has failed.
    pub(super) async fn fail(&self, id: RequestId, error: HttpError) {
        let error = error.into();
        self.hand(Inbound::Incoming(Incoming::Failed { id, error })).await;
    }

    /// Informs the receiver about a message over the limit, from its start and its end: a call that it answers fails.
    pub(super) async fn refuse_oversized(&self, text: Vec<u8>) {
        let reason = format!("a message has more than {} bytes", self.options.message_bytes);
        let error = ErrorObject::new(error_code::INVALID_REQUEST, reason);
        self.hand(Inbound::Incoming(Incoming::Refused { error, text })).await;
    }

    pub(super) async fn hand(&self, item: Inbound) {
        if self.inbox.send(item).await.is_err() {
            self.closing.cancel();
        }
    }

    /// Drops a session that the server has lost, and informs the receiver, once.
    pub(super) async fn expire(&self, session: &SessionId) {
        let lost = {
            let mut state = self.state.lock();
            if state.session.id.as_ref() != Some(session) {
                return;
            }
            std::mem::replace(&mut *state, ClientState::new(&self.closing))
        };
        self.hand(Inbound::Expired).await;
        // This comes last, since this task may belong to the session, and end here.
        lost.session.ended.cancel();
    }

    /// Sends an HTTP request. Returns the response, and the session of the request.
    pub(super) async fn send(
        &self,
        request: RequestBuilder,
        scope: SessionScope,
    ) -> Result<(body::Response, RemoteSession), HttpError> {
        if let Some(authorization) = &self.authorization {
            let (response, session) = self.send_authorized(&**authorization, request, scope).await?;
            return Ok((received(response), session));
        }
        let (response, session) = self.send_with(request, HeaderMap::new(), scope).await?;
        Ok((received(response), session))
    }

    /// Sends an HTTP request with a token. If the server refuses it, and a better token can be obtained, sends it
    /// again.
    async fn send_authorized(
        &self,
        authorization: &dyn Authorization,
        request: RequestBuilder,
        scope: SessionScope,
    ) -> Result<(Response, RemoteSession), HttpError> {
        let (client, request) = request.build_split();
        let request = request?;
        let mut attempts = authorization.begin();
        loop {
            // This can't fail: the bodies of messages are in memory, and so can be cloned.
            let attempt = request.try_clone().ok_or(HttpError::UnrelatedJson)?;
            let headers = attempts.headers(&request).await.map_err(HttpError::Unauthorized)?;
            let attempt = RequestBuilder::from_parts(client.clone(), attempt);
            let (response, session) = self.send_with(attempt, headers, scope.clone()).await?;
            let retry = attempts.retry(&response, self.may_authorize_at_origin()).await;
            if !retry.map_err(HttpError::Unauthorized)? {
                return Ok((response, session));
            }
        }
    }

    /// Whether the server may use a revision in which servers have no metadata.
    fn may_authorize_at_origin(&self) -> bool {
        match self.state.lock().revision {
            Some(revision) => revision.facts().authorizes_at_origin,
            None => Revision::all().any(|revision| revision.facts().authorizes_at_origin),
        }
    }

    /// Sends an HTTP request with these headers; they take precedence over those of the options.
    pub(super) async fn send_with(
        &self,
        request: RequestBuilder,
        own: HeaderMap,
        scope: SessionScope,
    ) -> Result<(Response, RemoteSession), HttpError> {
        let mut headers = match &self.options.hook {
            Some(hook) => hook(HeaderMap::new()).await.map_err(HttpError::Headers)?,
            None => HeaderMap::new(),
        };
        headers.remove(ACCEPT);
        headers.remove(CONTENT_TYPE);
        headers.extend(own);
        let session = {
            let state = self.state.lock();
            let (session, version) = match scope {
                SessionScope::None => (ClientState::new(&self.closing).session, None),
                SessionScope::Current => (state.session.clone(), state.version.clone()),
                SessionScope::Next(session) => (session, state.version.clone()),
                SessionScope::Mirrored(mirrors) => {
                    headers.extend(mirrors);
                    (ClientState::new(&self.closing).session, None)
                }
            };
            headers.extend(session.id.clone());
            headers.extend(version);
            session
        };
        let response = self.exchange(request.headers(headers)).await?;
        Ok((response, session))
    }

    /// Sends an HTTP request, and passes it to the observer of the options.
    async fn exchange(&self, request: RequestBuilder) -> Result<Response, reqwest::Error> {
        let Some(observer) = &self.options.exchanges else {
            return request.send().await;
        };
        let (client, request) = request.build_split();
        let request = request?;
        let (method, url, headers) = (
            request.method().clone(),
            request.url().clone(),
            request.headers().clone(),
        );
        let response = client.execute(request).await?;
        observer(&HttpExchange {
            method: &method,
            url: &url,
            request: &headers,
            status: response.status(),
            response: response.headers(),
        });
        Ok(response)
    }

    pub(super) async fn post(
        &self,
        url: Url,
        json: Vec<u8>,
        scope: SessionScope,
    ) -> Result<(body::Response, RemoteSession), HttpError> {
        let request = self
            .client
            .post(url)
            .header(CONTENT_TYPE, JSON)
            .header(ACCEPT, format!("{JSON}, {EVENT_STREAM}"));
        self.send(request.body(json), scope).await
    }

    /// Reads the session that the response to `initialize` starts.
    pub(super) fn session_of(&self, response: &body::Response) -> RemoteSession {
        // The names of all revisions are possible: the negotiated revision isn't known before the body is read.
        let names = Revision::all().filter_map(|revision| revision.facts().session_header);
        let mut ids = names.filter_map(|name| Some((header_name(name)?, response.headers().get(name)?.clone())));
        // The protocol only allows visible ASCII. Other ids couldn't be sent back.
        let id = ids.find(|(_, id)| !id.is_empty() && id.as_bytes().iter().all(u8::is_ascii_graphic));
        RemoteSession {
            id,
            ended: self.closing.child_token(),
        }
    }

    /// Makes the session that the response to `initialize` starts the current one.
    pub(super) fn start_session(&self, response: &body::Response, initialize: Vec<u8>) {
        let mut state = self.state.lock();
        state.session.ended.cancel();
        *state = ClientState {
            session: self.session_of(response),
            handshake: Some(Handshake {
                initialize,
                initialized: None,
                revision: None,
            }),
            ..ClientState::new(&self.closing)
        };
    }

    /// Cancels all requests, and ends the session on the server.
    pub(super) async fn close(&self) {
        self.closing.cancel();
        let has_session = self.state.lock().session.id.is_some();
        if !has_session {
            return;
        }
        let ended = self.send(self.client.delete(self.url.clone()), SessionScope::Current);
        match tokio::time::timeout(self.options.timeout.min(Duration::from_secs(5)), ended).await {
            Ok(Ok((answer, _))) if answer.status() == StatusCode::METHOD_NOT_ALLOWED => {}
            Ok(Ok((answer, _))) => tracing::debug!(status = %answer.status(), "the session is ended"),
            Ok(Err(error)) => tracing::debug!(%error, "the session couldn't be ended on the server"),
            Err(_) => tracing::debug!("the server didn't answer the end of the session"),
        }
        self.state.lock().session.id = None;
    }
}
