//! Functions only of clients: answering input requests in results of calls, and reading all pages of a list.

use std::collections::HashSet;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{self, Poll};

use futures_core::Stream;
use mcp_adapters::handlers::{CallServer, Paginated};
use mcp_adapters::mcp_wire::{ErrorObject, Message, MessageHeader, RawJson, UnknownMethod, error_code};
use mcp_adapters::peers::read_message;
use mcp_adapters::{PeerTypes, Translated, hub, session_messages};
use mcp_runtime_util::{BoxFuture, catch_panic, try_all};
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use super::call::request_json;
use super::context::{Context, Envelope, Peer};
use super::handler::{HandlerResult, Layered};
use super::negotiated::Negotiated;
use super::state::{Answering, SessionState, request_span};
use crate::error::{CallError, internal_error};
use crate::message::to_json;
use crate::rounds::retry_input;
use crate::side::{ClientSide, MessageIn, Side};

impl<S: Side> SessionState<S> {
    /// Sets the handler that answers input requests in results. Only the first call in a session has an effect.
    pub fn answer_by(self: &Arc<Self>, handler: &Layered<S>) {
        // The session owns the function. The function must not own the session, nor the handler, which can own this
        // session or another one.
        let (session, handler) = (Arc::downgrade(self), handler.downgrade());
        let answer = move |request, negotiated| -> Answering<S> {
            Box::pin(answer(Weak::clone(&session), handler.upgrade(), request, negotiated))
        };
        let _ = self.answerer.set(Box::new(answer));
    }
}

/// Lets the handler answer an input request that came in a result.
async fn answer<S: Side>(
    session: Weak<SessionState<S>>,
    handler: Option<Layered<S>>,
    request: S::Request,
    negotiated: Arc<Negotiated>,
) -> Result<S::Result, ErrorObject> {
    let session = session.upgrade().filter(|session| !session.ended.is_cancelled());
    let (session, handler) = session
        .zip(handler)
        .ok_or_else(|| internal_error("the session has ended"))?;
    let method = negotiated.method(S::method(&request)).to_owned();
    session.check_request(&negotiated, &method)?;
    let json = to_json(&request);
    let header = MessageHeader::from_slice(&json).map_err(internal_error)?;
    session.check_request_params(&negotiated, &method, &header)?;
    let cancelled = CancellationToken::new();
    let _cancel = cancelled.clone().drop_guard();
    let context = Context {
        peer: Peer::of_message(Arc::clone(&session), None, negotiated),
        message: Arc::new(Envelope {
            cancelled,
            ..Envelope::default()
        }),
    };
    let revision = context.peer.negotiated().revision;
    let span = request_span::<S>(&session.span, &method, None, revision, &request);
    let handled = handler.handle_request(request, &context).instrument(span);
    match handled.await? {
        HandlerResult::Declared(result) => Ok(result),
        HandlerResult::Custom(_) => Err(ErrorObject::new(
            error_code::METHOD_NOT_FOUND,
            "no revision declares this method",
        )),
    }
}

impl Peer<ClientSide> {
    /// Calls a method. As long as the result or error requires input, the handler of this client answers the input
    /// requests, and the call is repeated. The functions of [`CallServer`] do the same, and refuse a result that the
    /// hub doesn't declare.
    ///
    /// # Errors
    /// Those of [`Self::call`], and when the handler doesn't answer an input request.
    pub async fn call_in_rounds(&self, mut request: hub::ClientRequest) -> Result<hub::ServerResult, CallError> {
        if retry_input(&mut request).is_none() {
            return self.call(request).await;
        }
        let limit = self.state.options.limits.rounds;
        for rounds_left in (0..=limit).rev() {
            let asked = match self.call(request.clone()).await {
                Ok(hub::ServerResult::InputRequired(asked)) => asked,
                Ok(result) => return Ok(result),
                Err(error) => {
                    let Some(input_requests) = self.input_requests_in_error(&error) else {
                        return Err(error);
                    };
                    if rounds_left == 0 {
                        break;
                    }
                    let answers = self.answer_all(Some(input_requests)).await?.unwrap_or_default();
                    if !answers.iter().all(|(_, answer)| is_accepted(answer)) {
                        return Err(error);
                    }
                    // The server gets the outcome in another way, so the same request is repeated.
                    continue;
                }
            };
            if asked.input_requests.is_none() && asked.request_state.is_none() {
                return Err(CallError::InvalidResult(
                    "it requires input, but has neither input requests nor a state".to_owned(),
                ));
            }
            // The server would never get the responses.
            if rounds_left == 0 {
                break;
            }
            let responses = self.answer_all(asked.input_requests).await?;
            if let Some(retry_input) = retry_input(&mut request) {
                (*retry_input.responses, *retry_input.state) = (responses, asked.request_state);
            }
        }
        Err(CallError::TooManyRounds(limit))
    }

    /// Returns the error for a result of a kind that the hub doesn't declare.
    fn undeclared_kind(&self, result: &RawJson) -> CallError {
        let revision = self.negotiated().revision;
        let member = revision.lifecycle().result_kind;
        let kind = member.and_then(|member| Some((member, result.get(member)?)));
        CallError::InvalidResult(match kind {
            Some((member, kind)) => format!("its `{member}` is {kind}, which isn't supported"),
            None => format!("it is of a kind that only revision {revision} has"),
        })
    }

    /// Returns the input requests of an error that requires input, named by their numbers. `None` for other errors, and
    /// if this client hasn't declared the capability for them.
    #[doc(hidden)]
    pub fn input_requests_in_error(&self, error: &CallError) -> Option<hub::InputRequests> {
        let (CallError::Peer(error), negotiated) = (error, self.negotiated()) else {
            return None;
        };
        let (method, params) = session_messages::input_requests_in_error(negotiated.revision, error)?;
        self.state.check_request(negotiated, method).ok()?;
        let input_requests = params.into_iter().zip(0_i64..).map(|(params, number)| {
            let json = request_json(number, UnknownMethod::new(method).with_params(params));
            let header = MessageHeader::from_slice(&json).ok()?;
            self.state.check_request_params(negotiated, method, &header).ok()?;
            let input_request: Translated<MessageIn<ClientSide>> =
                read_message(negotiated.revision, ClientSide::PEER, &header, negotiated.conversion()).ok()?;
            match input_request {
                Translated::Message {
                    message: Message::Request(input_request),
                    ..
                } => Some((number.to_string(), *input_request.request)),
                _ => None,
            }
        });
        input_requests.collect()
    }

    /// Lets the handler of this client answer input requests of a server, all concurrently. Those in results of calls
    /// are answered automatically: this is for others, such as those of an extension.
    ///
    /// # Errors
    /// [`CallError::InputNotProvided`] when the handler doesn't answer, [`CallError::InvalidResult`] when there are more
    /// input requests than [`Limits::in_flight`](crate::Limits::in_flight) allows, and [`CallError::Closed`] when the
    /// session has ended.
    pub async fn answer(&self, requests: hub::InputRequests) -> Result<hub::InputResponses, CallError> {
        let limit = self.state.options.limits.in_flight;
        if requests.len() > limit {
            let reason = format!("it has {} input requests, and {limit} are allowed", requests.len());
            return Err(CallError::InvalidResult(reason));
        }
        let mut answers: Vec<BoxFuture<'_, _>> = Vec::new();
        let negotiated = self.negotiated();
        for (name, request) in requests {
            let method = negotiated.method(request.method());
            self.state.warn_of_deprecated(negotiated.revision, method);
            let answer = self.state.answer(request, Arc::clone(self.negotiated()));
            let answer = answer.ok_or(CallError::Closed)?;
            // A panic of the handler becomes an error.
            let answered = async move {
                catch_panic(answer)
                    .await
                    .unwrap_or_else(|panic| Err(internal_error(panic)))
            };
            answers.push(Box::pin(async move {
                Ok((name, answered.await.map_err(CallError::InputNotProvided)?))
            }));
        }
        try_all(answers).await.map(|answers| answers.into_iter().collect())
    }

    async fn answer_all(&self, requests: Option<hub::InputRequests>) -> Result<Option<hub::InputResponses>, CallError> {
        match requests {
            Some(requests) => self.answer(requests).await.map(Some),
            None => Ok(None),
        }
    }
}

/// Whether the user has agreed to an input request.
pub fn is_accepted(answer: &hub::InputResponse) -> bool {
    match answer {
        hub::InputResponse::Elicit(result) => result.action == hub::ElicitResultAction::Accept,
        _ => true,
    }
}

impl CallServer for Peer<ClientSide> {
    type Error = CallError;

    async fn request(&self, request: hub::ClientRequest) -> Result<hub::ServerResult, CallError> {
        match self.call_in_rounds(request).await? {
            hub::ServerResult::Unknown(result) => Err(self.undeclared_kind(&result)),
            result => Ok(result),
        }
    }

    async fn notify(&self, notification: hub::ClientNotification) -> Result<(), CallError> {
        Self::notify(self, notification).await
    }
}

type Page<T> = Result<(Vec<T>, Option<String>), CallError>;

impl<S: Side> Peer<S> {
    /// Returns the items of one of the peer's lists as a stream, such as `peer.list::<hub::Tool>()`. A page is
    /// requested when the previous one has been read. The stream ends with the list, or with the first error.
    ///
    /// [`CallError::InvalidResult`] is the error when a cursor repeats, or when the list has more pages than
    /// [`Limits::pages`](crate::Limits::pages).
    pub fn list<T>(&self) -> impl Stream<Item = Result<T, CallError>> + Send + Unpin + use<S, T>
    where
        T: Paginated<S::RequestOut, S::ResultIn> + Send + 'static,
    {
        Items::new(self.clone())
    }

    /// Returns all items of one of the peer's lists, such as `peer.list_all::<hub::Tool>()`.
    ///
    /// # Errors
    /// The first error of [`Self::list`].
    pub async fn list_all<T>(&self) -> Result<Vec<T>, CallError>
    where
        T: Paginated<S::RequestOut, S::ResultIn> + Send + 'static,
    {
        let (mut items, mut all) = (self.list(), Vec::new());
        while let Some(item) = std::future::poll_fn(|context| Pin::new(&mut items).poll_next(context)).await {
            all.push(item?);
        }
        Ok(all)
    }
}

/// The stream of the items of a list.
struct Items<S: Side, T> {
    peer: Peer<S>,
    ready: std::vec::IntoIter<T>,
    next: Next<T>,
    /// The cursors so far, to detect one that repeats.
    seen: HashSet<String>,
}

enum Next<T> {
    /// The page at this cursor is requested next.
    Cursor(Option<String>),
    Requested(BoxFuture<'static, Page<T>>),
    Failed(CallError),
    End,
}

impl<S: Side, T> Items<S, T> {
    fn new(peer: Peer<S>) -> Self {
        Self {
            peer,
            ready: Vec::new().into_iter(),
            next: Next::Cursor(None),
            seen: HashSet::new(),
        }
    }

    /// Returns the state after a page with this `nextCursor`.
    fn after(&mut self, cursor: Option<String>) -> Next<T> {
        let Some(cursor) = cursor else { return Next::End };
        let reason = if self.seen.len() + 1 >= self.peer.state.options.limits.pages {
            "the list has too many pages".to_owned()
        } else if self.seen.insert(cursor.clone()) {
            return Next::Cursor(Some(cursor));
        } else {
            format!("the list repeats the cursor {cursor:?}")
        };
        Next::Failed(CallError::InvalidResult(reason))
    }
}

async fn request<S: Side, T: Paginated<S::RequestOut, S::ResultIn>>(peer: Peer<S>, cursor: Option<String>) -> Page<T> {
    Ok(T::items(peer.call(T::page(cursor)).await?)?)
}

// Only the future is pinned, and it is on the heap.
impl<S: Side, T> Unpin for Items<S, T> {}

impl<S: Side, T: Paginated<S::RequestOut, S::ResultIn> + Send + 'static> Stream for Items<S, T> {
    type Item = Result<T, CallError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut task::Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            if let Some(item) = self.ready.next() {
                return Poll::Ready(Some(Ok(item)));
            }
            match std::mem::replace(&mut self.next, Next::End) {
                Next::End => return Poll::Ready(None),
                Next::Failed(error) => return Poll::Ready(Some(Err(error))),
                Next::Cursor(cursor) => self.next = Next::Requested(Box::pin(request(self.peer.clone(), cursor))),
                Next::Requested(mut page) => match page.as_mut().poll(context) {
                    Poll::Pending => {
                        self.next = Next::Requested(page);
                        return Poll::Pending;
                    }
                    Poll::Ready(Ok((items, cursor))) => {
                        self.ready = items.into_iter();
                        self.next = self.after(cursor);
                    }
                    Poll::Ready(Err(error)) => self.next = Next::Failed(error),
                },
            }
        }
    }
}
