//! The side of the bridge that is the client of a server.

use std::sync::Arc;

use mcp_adapters::handlers::CallClient;
use mcp_adapters::hub::{InputRequest, ServerNotification};
use mcp_adapters::mcp_wire::{ErrorObject, Message, Notice, RequestId, UnknownMethod, error_code};
use mcp_adapters::{PeerTypes, Revision};
use mcp_runtime_core::internal::{Handling, RawAnswer, RawMessage, Relay, internal_error};
use mcp_runtime_core::transport::{Purpose, RelatedRequest};
use mcp_runtime_core::{ClientSide, Context, Handler, HandlerResult, Peer, ServerSide};
use mcp_runtime_util::BoxFuture;

use super::calls::Addressee;
use super::input_requests::Unanswered;
use super::links::Links;
use super::passing::{pass_notification, pass_request, translate_notification};
use super::tasks::is_told_to_bridge;
use super::translation::{are_of_one_era, check_undeclared, dropped};

/// The handler of the session with a server.
pub struct UpstreamHandler(pub Arc<Links>);

impl Handler<ClientSide> for UpstreamHandler {
    /// Passes an input request on to the client of the session. A stateless client gets it in the result of one of its
    /// requests.
    fn handle_request<'a>(
        &'a self,
        request: InputRequest,
        context: &'a Context<ClientSide>,
    ) -> Handling<'a, ClientSide> {
        Box::pin(async move {
            if let InputRequest::Unknown(request) = &request {
                let reason = format!("servers can't call {} in the client's revision", request.method);
                return Err(ErrorObject::new(error_code::METHOD_NOT_FOUND, reason));
            }
            if !self.0.client.is_stateless() {
                let client = self.0.client_now().await;
                let client = client.ok_or_else(|| internal_error("there is no client"))?;
                return Ok(HandlerResult::Declared(client.request(request).await?));
            }
            if let Some(answered) = self.0.tasks.ask(context, &request).await {
                return Ok(HandlerResult::Declared(answered?));
            }
            let method = request.method().to_owned();
            let call = self.related_carrier(context);
            let answered = self.0.input_requests.ask(request, call).await;
            if matches!(answered, Err(Unanswered::NoCall)) {
                let server = context.peer();
                server
                    .state()
                    .report_losses(server.negotiated().method(&method), &[dropped()]);
            }
            Ok(HandlerResult::Declared(answered?))
        })
    }

    fn handle_notification<'a>(
        &'a self,
        notification: ServerNotification,
        context: &'a Context<ClientSide>,
    ) -> BoxFuture<'a, ()> {
        let server = context.peer().negotiated().revision;
        Box::pin(async move {
            if let ServerNotification::ToolListChanged(_) = notification {
                self.0.tasks.forget_tools();
            }
            if is_told_to_bridge(&notification, self.0.client) {
                return;
            }
            let client = match self.0.client.is_stateless() || server.is_stateless() {
                true => self.0.calls.only_peer(),
                false => self.0.client_now().await,
            };
            notify_caller(client, notification).await;
        })
    }

    fn relay(&self, revision: Revision) -> Option<&dyn Relay<ClientSide>> {
        let is_passed_on = revision.is_stateless() || are_of_one_era(self.0.client, revision);
        is_passed_on.then_some(self)
    }
}

/// Passes a notification that subscriptions don't deliver to the client of a call: a log message, or an undeclared
/// method.
async fn notify_caller(caller: Option<Peer<ServerSide>>, notification: ServerNotification) {
    if !matches!(
        notification,
        ServerNotification::LoggingMessage(_) | ServerNotification::Unknown(_)
    ) {
        return;
    }
    let Some(caller) = caller else {
        tracing::debug!(
            method = notification.method(),
            "a notification is dropped: it belongs to no call"
        );
        return;
    };
    let notified = match notification {
        ServerNotification::Unknown(notification)
            if check_undeclared(caller.negotiated().revision, &notification.method).is_err() =>
        {
            caller.state().report_losses(&notification.method, &[dropped()]);
            return;
        }
        ServerNotification::Unknown(notification) => caller.notify_unknown(notification).await,
        notification => caller.notify(notification).await,
    };
    if let Err(error) = notified {
        tracing::debug!(%error, "a notification wasn't passed on");
    }
}

/// Returns the id of the request on whose stream the server has sent a message.
fn related_request(context: &Context<ClientSide>) -> Option<i64> {
    match context.extensions().get() {
        Some(RelatedRequest(RequestId::Integer(id))) => Some(*id),
        _ => None,
    }
}

impl Relay<ClientSide> for UpstreamHandler {
    fn pass_request(&self, request: RawMessage, context: Context<ClientSide>) -> BoxFuture<'static, RawAnswer> {
        if context.peer().negotiated().is_stateless() {
            let reason = "a stateless server requests input in its results, and can't call its client";
            let error = ErrorObject::new(error_code::METHOD_NOT_FOUND, reason);
            return Box::pin(std::future::ready(error.into()));
        }
        let links = Arc::clone(&self.0);
        let related = related_request(&context).and_then(|id| links.calls.of_id(id));
        let purpose = match related.or_else(|| links.calls.latest()) {
            Some(caller) => caller.purpose(),
            None => Purpose::Unsolicited,
        };
        if let Some(downstream) = links.ready_downstream() {
            return pass_request(&downstream.calls, &downstream.state, purpose, request, context);
        }
        Box::pin(async move {
            match links.begun_downstream().await {
                Some(downstream) => pass_request(&downstream.calls, &downstream.state, purpose, request, context).await,
                None => internal_error("there is no client").into(),
            }
        })
    }

    fn pass_notification(&self, notification: RawMessage, context: Context<ClientSide>) -> BoxFuture<'static, ()> {
        let revision = context.peer().negotiated().revision;
        match self.0.calls.addressee(revision, &notification.json) {
            Addressee::Caller(caller, json) => {
                let (to, purpose) = (caller.peer.state(), caller.peer.purpose());
                let notification = RawMessage { json, ..notification };
                return pass_notification(revision, to, caller.peer.negotiated().revision, purpose, notification);
            }
            Addressee::Gone => {
                let method = notification.method;
                tracing::debug!(method, "a notification is dropped: its call or subscription has ended");
                return Box::pin(std::future::ready(()));
            }
            Addressee::Unknown => {}
        }
        if revision.is_stateless() {
            return self.pass_to_caller(revision, notification);
        }
        let links = Arc::clone(&self.0);
        let is_log = revision.lifecycle().log == Some(&*notification.method);
        let purpose = match links.calls.latest().filter(|_| is_log) {
            Some(caller) => caller.purpose(),
            None => Purpose::Unsolicited,
        };
        if let Some(downstream) = links.ready_downstream() {
            let to = &downstream.state;
            return pass_notification(revision, to, to.negotiated().revision, purpose, notification);
        }
        Box::pin(async move {
            if let Some(downstream) = links.begun_downstream().await {
                let to = &downstream.state;
                pass_notification(revision, to, to.negotiated().revision, purpose, notification).await;
            }
        })
    }
}

impl UpstreamHandler {
    /// Returns the call to which the server has related an input request. Requests that can't carry one, such as those of
    /// lists, don't determine the call.
    fn related_carrier(&self, context: &Context<ClientSide>) -> Option<i64> {
        let id = related_request(context)?;
        let carries = self.0.input_requests.is_carrier(id);
        // If the request is no longer pending, its caller has cancelled it.
        (carries || !context.peer().state().pending.contains(id)).then_some(id)
    }

    /// Passes a notification of a stateless server on to the only client that has calls in flight: it doesn't name a
    /// client itself.
    fn pass_to_caller(&self, revision: Revision, notification: RawMessage) -> BoxFuture<'static, ()> {
        let Some(caller) = self.0.calls.only_peer() else {
            tracing::debug!(
                method = notification.method,
                "a notification is dropped: it belongs to no call"
            );
            return Box::pin(std::future::ready(()));
        };
        let client = caller.negotiated().revision;
        if client.is_stateless() {
            return pass_notification(revision, caller.state(), client, caller.purpose(), notification);
        }
        let json = translate_notification((revision, Revision::HUB), caller.state(), notification);
        let message: Option<Message<UnknownMethod, ServerNotification>> =
            json.and_then(|json| mcp_wire::from_slice(&json).ok());
        let Some(Message::Notification(Notice { notification })) = message else {
            return Box::pin(std::future::ready(()));
        };
        Box::pin(notify_caller(Some(caller), notification))
    }
}
