//! The changes that a server reports to this client, as one stream in every revision.

use std::fmt;
use std::future::pending;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_core::Stream;
use mcp_adapters::mcp_wire::{MessageHeader, RawJson, RequestId, UnknownMethod};
use mcp_adapters::session_messages::{self, ChangeFilter};
use mcp_adapters::{PeerTypes, hub};
use mcp_runtime_util::{BoxFuture, task};
use tokio::sync::oneshot;

use super::call::{CancelOnDrop, request_json, with_request_meta};
use super::context::Peer;
use super::negotiated::Negotiated;
use super::pending::Reply;
use super::state::SessionState;
use crate::change::{Change, ChangeQueue};
use crate::error::{CallError, TransportError};
use crate::message::Purpose;
use crate::side::{ClientSide, Side};

/// The stream of changes that a server reports to this client; [`Peer::changes`] returns it. Dropping it ends the
/// subscription.
///
/// Each change is reported at least once after it has happened. Changes of the same list or resource that arrive while
/// the stream isn't read are merged into one. The stream ends when the server ends the subscription, and with an error
/// when the connection is lost or the session ends. Later changes are missed then: subscribe again, and read the lists
/// and resources again.
#[derive(Debug)]
pub struct Changes {
    queue: Arc<ChangeQueue>,
    /// The response to the request for changes, if the server's revision has that request.
    replied: Option<oneshot::Receiver<Reply<hub::ServerResult>>>,
    /// The future that sends that request. If no task of the session reads the response, this future does.
    sending: Option<Sending>,
    subscription: Subscription,
}

impl Changes {
    /// Returns the changes that the server agreed to report: the requested ones, without those that it doesn't support.
    #[must_use]
    pub fn acknowledged(&self) -> ChangeFilter {
        self.queue.filter()
    }
}

impl Stream for Changes {
    type Item = Result<Change, CallError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Some(sending) = &mut self.sending
            && let Poll::Ready(sent) = sending.0.as_mut().poll(context)
        {
            self.sending = None;
            if let Err(error) = sent {
                self.queue.end(Err(self.subscription.state.send_error(error)));
            }
        }
        if let Some(replied) = &mut self.replied
            && let Poll::Ready(reply) = Pin::new(replied).poll(context)
        {
            self.replied = None;
            self.queue.end(ended(reply));
        }
        self.queue.poll_next(context)
    }
}

/// A request that is being sent.
struct Sending(BoxFuture<'static, Result<(), TransportError>>);

impl fmt::Debug for Sending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sending").finish_non_exhaustive()
    }
}

/// Returns how a subscription has ended.
fn ended<T>(reply: Result<Reply<T>, oneshot::error::RecvError>) -> Result<(), CallError> {
    match reply {
        Ok(reply) => reply.result.map(drop),
        Err(_) => Err(CallError::Closed),
    }
}

/// A subscription of this client. It ends when this is dropped.
#[derive(Debug)]
struct Subscription {
    state: Arc<SessionState<ClientSide>>,
    id: RequestId,
    /// The request for changes, if the server's revision has that request.
    _request: Option<CancelOnDrop<ClientSide>>,
    /// The resources to which this has subscribed by separate requests.
    resources: Vec<String>,
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.state.subscriptions.remove(&self.id);
        let resources = std::mem::take(&mut self.resources);
        if resources.is_empty() || self.state.ended.is_cancelled() {
            return;
        }
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let state = Arc::clone(&self.state);
            runtime.spawn(task(async move {
                for uri in resources {
                    if let Err(error) = state.unsubscribe(&uri).await {
                        tracing::debug!(%error, "a subscription wasn't ended");
                    }
                }
            }));
        }
    }
}

impl Peer<ClientSide> {
    /// Subscribes to changes of the server's lists and resources.
    ///
    /// The stream is the same for servers of all revisions. A stateless server gets one request, which lasts as long as
    /// the stream. A server with sessions gets one request per resource, unless another stream has already subscribed
    /// to it; it reports changes of its lists without a request. [`Changes::acknowledged`] returns what the server
    /// reports. The handler of the session gets the notification of every change as well.
    ///
    /// ```
    /// use futures_util::StreamExt;
    /// use mcp_runtime::transport::channel;
    /// use mcp_runtime::{Change, ChangeFilter, Options, Router, connect, hub};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let router = Router::new("notes", "1.0").tool("add", "Adds a note", || "added");
    /// let (server, client) = channel(16);
    /// let _server = router.clone().serve(Options::default(), server);
    /// let info = hub::Implementation::new("example", "1.0");
    /// let session = connect((), info, hub::ClientCapabilities::default(), Options::default(), client).await?;
    ///
    /// let mut changes = session.peer().changes(ChangeFilter::lists()).await?;
    /// assert!(changes.acknowledged().tool_list);
    /// router.remove_tool("add");
    /// assert_eq!(changes.next().await.transpose()?, Some(Change::ToolList));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the server refuses the subscription, or doesn't respond in time.
    pub async fn changes(&self, filter: ChangeFilter) -> Result<Changes, CallError> {
        let state = &self.state;
        match session_messages::listen(state.negotiated().revision, &filter) {
            Some((method, params)) => state.listen(method, params, &filter).await,
            None => state.follow(filter).await,
        }
    }
}

impl SessionState<ClientSide> {
    /// Sends the request for changes, and waits for its acknowledgement.
    async fn listen(
        self: &Arc<Self>,
        method: &'static str,
        params: RawJson,
        filter: &ChangeFilter,
    ) -> Result<Changes, CallError> {
        let (negotiated, number) = (self.negotiated(), self.pending.next_id());
        let id = RequestId::Integer(number);
        let json = with_request_meta(
            negotiated,
            request_json(number, UnknownMethod::new(method).with_params(params)),
        )?;
        let queue = self.subscriptions.add_own(&id, filter);
        let mut replied = self.pending.insert(number, None, None);
        let subscription = Subscription {
            state: Arc::clone(self),
            id,
            _request: Some(CancelOnDrop::new(self, negotiated.revision, number)),
            resources: Vec::new(),
        };
        if self.ended.is_cancelled() {
            return Err(self.closed());
        }
        let session = Arc::clone(self);
        let mut sending = Some(Sending(Box::pin(async move {
            session.send(json, Purpose::Unsolicited).await
        })));
        let (clock, patience) = (self.clock(), self.options.limits.call_timeout);
        let mut late = pin!(clock.wait_until(patience));
        loop {
            let sent = async {
                match &mut sending {
                    Some(sending) => sending.0.as_mut().await,
                    None => pending().await,
                }
            };
            tokio::select! {
                biased;
                sent = sent => {
                    sent.map_err(|error| self.send_error(error))?;
                    sending = None;
                }
                is_agreed = queue.acknowledged() => match is_agreed {
                    true => break,
                    false => return Err(self.closed()),
                },
                reply = &mut replied => {
                    ended(reply)?;
                    let reason = "the server ended the subscription before it acknowledged it";
                    return Err(CallError::InvalidResult(reason.to_owned()));
                }
                () = &mut late => return Err(CallError::TimedOut(patience)),
            }
        }
        Ok(Changes {
            queue,
            replied: Some(replied),
            sending,
            subscription,
        })
    }

    /// Follows the notifications of a session, and subscribes to resources one by one.
    async fn follow(self: &Arc<Self>, filter: ChangeFilter) -> Result<Changes, CallError> {
        let id = RequestId::Integer(self.pending.next_id());
        let queue = self.subscriptions.add_own(&id, &filter);
        let mut subscription = Subscription {
            state: Arc::clone(self),
            id,
            _request: None,
            resources: Vec::new(),
        };
        for uri in queue.filter().resources {
            if self.subscribe(&uri).await? {
                subscription.resources.push(uri);
            }
        }
        let declares = |change: Change| {
            self.peer_declares(
                self.negotiated(),
                self.negotiated().method(change.notification().method()),
            )
        };
        queue.agree(&ChangeFilter {
            tool_list: declares(Change::ToolList),
            prompt_list: declares(Change::PromptList),
            resource_list: declares(Change::ResourceList),
            resources: subscription.resources.clone(),
            ..ChangeFilter::default()
        });
        Ok(Changes {
            queue,
            replied: None,
            sending: None,
            subscription,
        })
    }

    /// Subscribes to a resource, unless another stream has done so; `false` if the server refuses it.
    async fn subscribe(self: &Arc<Self>, uri: &str) -> Result<bool, CallError> {
        let negotiated = self.negotiated();
        let Some((method, params)) = session_messages::subscribe(negotiated.revision, uri) else {
            return Ok(false);
        };
        // Requests about resources are sent one after the other, so that the last one takes effect.
        let mut subscribed = self.subscribed.lock().await;
        if let Some(streams) = subscribed.get_mut(uri) {
            *streams += 1;
            return Ok(true);
        }
        if self.check_call(negotiated, method).is_err() {
            return Ok(false);
        }
        let request = UnknownMethod::new(method).with_params(params);
        match self.call_json(negotiated, method, request).await {
            Ok(_) => {
                subscribed.insert(uri.to_owned(), 1);
                Ok(true)
            }
            Err(CallError::Peer(error)) => {
                tracing::debug!(
                    uri,
                    code = error.code,
                    message = error.message,
                    "the server refuses a subscription"
                );
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    /// Ends the subscription of one stream to a resource; the request is sent for the last stream.
    async fn unsubscribe(self: &Arc<Self>, uri: &str) -> Result<(), CallError> {
        let mut subscribed = self.subscribed.lock().await;
        if let Some(streams) = subscribed.get_mut(uri).filter(|streams| **streams > 1) {
            *streams -= 1;
            return Ok(());
        }
        subscribed.remove(uri);
        let negotiated = self.negotiated();
        let Some((method, params)) = session_messages::unsubscribe(negotiated.revision, uri) else {
            return Ok(());
        };
        let request = UnknownMethod::new(method).with_params(params);
        self.call_json(negotiated, method, request).await.map(drop)
    }
}

impl<S: Side> SessionState<S> {
    /// Restores the log level and the subscriptions to resources in a new session, after the server has lost the
    /// previous one.
    pub async fn restore(self: &Arc<Self>) {
        self.restore_log_level().await;
        let negotiated = self.negotiated();
        for uri in self.subscribed.lock().await.keys() {
            let Some((method, params)) = session_messages::subscribe(negotiated.revision, uri) else {
                return;
            };
            let request = UnknownMethod::new(method).with_params(params);
            if let Err(error) = self.call_json(negotiated, method, request).await {
                tracing::warn!(%error, uri, "a subscription of the lost session isn't renewed");
            }
        }
    }

    /// Processes the acknowledgement of a subscription; `false` if the notification isn't one.
    pub fn take_acknowledgement(&self, method: &str, header: &MessageHeader<'_>, negotiated: &Negotiated) -> bool {
        let revision = negotiated.revision;
        if revision.lifecycle().acknowledge != Some(method) {
            return false;
        }
        let queue = session_messages::subscription(revision, header).and_then(|id| self.subscriptions.get(&id));
        match (queue, session_messages::read_acknowledgement(revision, header)) {
            (Some(queue), Ok(agreed)) => queue.agree(&agreed),
            _ => tracing::debug!("an acknowledgement matches no subscription"),
        }
        true
    }

    /// Queues a change that the server reports: for the subscription that its notification names, or, in a session with
    /// a handshake, where it names none, for all subscriptions.
    pub fn take_change(&self, change: &Change, header: &MessageHeader<'_>, negotiated: &Negotiated) {
        let revision = negotiated.revision;
        if let Some(cache) = self.cache() {
            cache.end(change);
        }
        if revision.lifecycle().listen.is_none() {
            self.subscriptions.push(change);
        } else if let Some(id) = session_messages::subscription(revision, header) {
            self.subscriptions.push_to(&id, change);
        }
    }
}
