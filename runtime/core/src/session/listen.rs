//! Subscriptions of a server's clients to changes, and the notifications that follow.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use http::Extensions;
use mcp_adapters::mcp_wire::{
    ErrorObject, ErrorResponse, Message, MessageHeader, Notice, RawJson, RequestId, UnknownMethod,
};
use mcp_adapters::session_messages::{self, ChangeFilter};
use mcp_adapters::{PeerTypes, Revision, SessionError};
use mcp_runtime_util::task;
use tokio::sync::TryAcquireError;

use super::engine::Engine;
use super::extension_events::{Event, ExtensionEvents, SubscriptionEvents, tagged};
use super::negotiated::{Negotiated, severity};
use super::response::{PendingResponse, RequestPermit};
use super::state::{SessionState, method};
use super::subscriptions::Subscriptions;
use crate::change::Change;
use crate::error::{internal_error, invalid_params};
use crate::message::{Purpose, to_json};
use crate::side::Side;

/// A subscription by a request. Dropping this removes the subscription.
struct Listening<'s>(&'s Subscriptions, &'s RequestId);

impl Drop for Listening<'_> {
    fn drop(&mut self) {
        self.0.remove(self.1);
    }
}

impl<S: Side> Engine<S> {
    /// Processes a request for changes. Its response is sent when the server ends the subscription.
    pub fn take_listen(
        self: &Arc<Self>,
        id: RequestId,
        header: &MessageHeader<'_>,
        negotiated: &Arc<Negotiated>,
        extensions: &Arc<Extensions>,
    ) -> PendingResponse {
        match self.listen(&id, header, negotiated, extensions) {
            Ok(response) => response,
            Err(error) => PendingResponse::refused(Some(id), error),
        }
    }

    fn listen(
        self: &Arc<Self>,
        id: &RequestId,
        header: &MessageHeader<'_>,
        negotiated: &Arc<Negotiated>,
        extensions: &Arc<Extensions>,
    ) -> Result<PendingResponse, ErrorObject> {
        let method = header.method().unwrap_or_default();
        let json = header.message().text().as_bytes();
        self.session.validate_call(negotiated.revision, &method, json)?;
        let filter = session_messages::read_listen(negotiated.revision, header).map_err(unreadable)?;
        let mut agreed = self.session.agreed(negotiated, filter);
        let permit = Arc::clone(&self.listening).try_acquire_owned();
        let permit = permit.map_err(|error| match error {
            TryAcquireError::Closed => internal_error("the session is closing"),
            TryAcquireError::NoPermits => internal_error("too many subscriptions"),
        })?;
        let charge = self.request_bytes.try_charge(0);
        let charge = charge.ok_or_else(|| internal_error("too many subscriptions"))?;
        let cancelled = self.begin_request(id)?;
        self.session.subscriptions.set_listener(negotiated);
        let queue = self.session.subscriptions.add(id, &agreed);
        let queue = queue.inspect_err(|_| self.end_request(id))?;
        let extra = std::mem::take(&mut agreed.extra);
        let context = self.raw_context(
            Some(id.clone()),
            cancelled.clone(),
            header,
            Arc::clone(negotiated),
            Arc::clone(extensions),
        );
        let (engine, id, negotiated) = (Arc::clone(self), id.clone(), Arc::clone(negotiated));
        let answered = id.clone();
        let listened = Box::pin(async move {
            let refused = |error| Some(to_json(&ErrorResponse::new(Some(id.clone()), error)));
            let notified = async {
                // However the request ends, the subscription is removed before the request's id can be used again.
                let _listening = Listening(&engine.session.subscriptions, &id);
                let added = match extra.is_empty() {
                    true => Ok(ExtensionEvents::default()),
                    false => engine.handler.extend(extra, &context).await,
                };
                match added {
                    Ok(mut added) => {
                        agreed.extra = std::mem::take(&mut added.agreed);
                        let changes = SubscriptionEvents { queue, added };
                        engine.notify_listener(&id, changes, &agreed, &negotiated).await
                    }
                    Err(error) => refused(error),
                }
            };
            let notified = engine.until_cancelled(&id, &cancelled, notified).await;
            let response = notified.and_then(|notified| {
                notified.unwrap_or_else(|panic| {
                    tracing::error!(panic, "a subscription failed");
                    refused(internal_error("internal error"))
                })
            });
            (response, Some(RequestPermit::new(permit, charge)))
        });
        Ok(PendingResponse::running(answered, None, listened))
    }

    /// Acknowledges a subscription, notifies the client until this side ends it, and returns the response.
    async fn notify_listener(
        &self,
        id: &RequestId,
        changes: SubscriptionEvents,
        agreed: &ChangeFilter,
        negotiated: &Negotiated,
    ) -> Option<Vec<u8>> {
        let (method, params) = session_messages::acknowledge(negotiated.revision, id, agreed)?;
        let notification = UnknownMethod::new(method).with_params(params);
        let acknowledgement = to_json(&Notice { notification });
        let purpose = Purpose::RelatedTo(id.clone());
        self.session.send(acknowledgement, purpose).await.ok()?;
        self.session.notify_of_changes(changes, negotiated, Some(id)).await;
        let result = session_messages::listen_result(negotiated.revision, id);
        let (mut json, start) = Self::begin_response(id);
        json.push_str(result.text());
        Some(self.end_response(negotiated, json, start, false))
    }

    /// Starts to notify the client of a session of changes, if its revision has no request for that.
    pub fn listen_in_session(self: &Arc<Self>) {
        let negotiated = Arc::clone(self.session.negotiated());
        if negotiated.revision.lifecycle().listen.is_some() {
            return;
        }
        let queue = self
            .session
            .subscriptions
            .begin(&self.session.agreed(&negotiated, ChangeFilter::lists()));
        let session = Arc::clone(&self.session);
        self.tasks.spawn(task(async move {
            tokio::select! {
                () = session.notify_of_changes(SubscriptionEvents { queue, added: ExtensionEvents::default() }, &negotiated, None) => {}
                () = session.ended.cancelled() => {}
            }
        }));
    }

    /// Returns the response to a request that changes a setting; `None` for another request.
    pub fn take_setting(
        &self,
        name: &str,
        header: &MessageHeader<'_>,
        negotiated: &Negotiated,
    ) -> Option<Result<RawJson, ErrorObject>> {
        let setting = Setting::of(name, header, negotiated.revision)?;
        let set = || {
            self.session.check_request(negotiated, name)?;
            let json = header.message().text().as_bytes();
            self.session.validate_call(negotiated.revision, name, json)?;
            self.session.set(setting?)
        };
        let set = set().map_err(|error| self.session.error_for_peer(negotiated, name, error));
        Some(set.map(|()| session_messages::empty_result(negotiated.revision, name)))
    }
}

/// What a client sets for its session by a request.
pub enum Setting {
    Subscribed(String),
    Unsubscribed(String),
    LogLevel(usize),
}

impl Setting {
    /// Reads the setting that a request changes; `None` for another request.
    pub fn of(name: &str, header: &MessageHeader<'_>, revision: Revision) -> Option<Result<Self, ErrorObject>> {
        let lifecycle = revision.lifecycle();
        let is = |method: Option<&str>| method == Some(name);
        let text = |member| session_messages::text_param(header, member).map_err(unreadable);
        if is(lifecycle.subscribe) {
            return Some(text(lifecycle.subscribe_params.name).map(Self::Subscribed));
        }
        if is(lifecycle.unsubscribe) {
            return Some(text(lifecycle.unsubscribe_params.name).map(Self::Unsubscribed));
        }
        is(lifecycle.set_level).then(|| {
            let level = text(lifecycle.set_level_params.level)?;
            let unknown = || invalid_params(format!("unknown log level `{level}`"));
            severity(&level.as_str().into()).map(Self::LogLevel).ok_or_else(unknown)
        })
    }
}

impl<S: Side> SessionState<S> {
    /// Changes a setting of the session.
    pub fn set(&self, setting: Setting) -> Result<(), ErrorObject> {
        match setting {
            Setting::Subscribed(uri) => return self.subscriptions.subscribe(&uri),
            Setting::Unsubscribed(uri) => self.subscriptions.unsubscribe(&uri),
            Setting::LogLevel(severity) => self.log_severity.store(severity, Ordering::Relaxed),
        }
        Ok(())
    }

    /// Restricts a filter to the changes that this server has declared, and to resources that exist.
    fn agreed(&self, negotiated: &Negotiated, filter: ChangeFilter) -> ChangeFilter {
        let is_declared = |change: Change| {
            let notification = S::change_out(&change);
            let name = notification
                .as_ref()
                .map(|it| negotiated.method(S::notification_method_out(it)));
            name.is_some_and(|name| {
                method::<S>(negotiated.revision, name, false).is_some()
                    && self.check_notification(negotiated, name).is_ok()
            })
        };
        let mut resources = filter.resources;
        let has_resources = is_declared(Change::Resource("".into()));
        resources.retain(|uri| has_resources && self.subscriptions.check(uri).is_ok());
        ChangeFilter {
            tool_list: filter.tool_list && is_declared(Change::ToolList),
            prompt_list: filter.prompt_list && is_declared(Change::PromptList),
            resource_list: filter.resource_list && is_declared(Change::ResourceList),
            resources,
            extra: filter.extra,
        }
    }

    /// Sends the events of a subscription until it ends, tagged with the id of its request. A client that reads slowly
    /// gets merged changes.
    async fn notify_of_changes(
        &self,
        mut changes: SubscriptionEvents,
        negotiated: &Negotiated,
        request: Option<&RequestId>,
    ) {
        while let Some(event) = changes.next().await {
            let json = match event {
                Event::Change(change) => self.change_json(&change, negotiated),
                Event::Extension(notification) => Some(to_json(&Notice { notification })),
            };
            let Some(json) = json.and_then(|json| tagged(json, negotiated, request)) else {
                continue;
            };
            let purpose = request.cloned().map_or(Purpose::Unsolicited, Purpose::RelatedTo);
            if let Err(error) = self.send(json, purpose).await {
                tracing::debug!(%error, "the client wasn't notified of a change");
                return;
            }
        }
    }

    fn change_json(&self, change: &Change, negotiated: &Negotiated) -> Option<Vec<u8>> {
        let notification = S::change_out(change)?;
        let method = negotiated.method(S::notification_method_out(&notification)).to_owned();
        let encoded = self.encode(negotiated, &method, Message::Notification(Notice { notification }));
        encoded
            .inspect_err(|error| tracing::debug!(%error, "the client can't be notified of a change"))
            .ok()?
    }
}

fn unreadable(error: SessionError) -> ErrorObject {
    invalid_params(format!("params: {error}"))
}
