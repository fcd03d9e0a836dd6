//! The side of the bridge that is the server of a client.

use std::sync::Arc;

use mcp_adapters::mcp_wire::{ErrorObject, MessageHeader, RawJson};
use mcp_adapters::{PeerTypes, Revision, hub};
use mcp_runtime_core::internal::{
    DynTransport, Handling, RawAnswer, RawMessage, Relay, Server, ServerInfo, SessionState, Subscriptions, set_member,
    start_server,
};
use mcp_runtime_core::transport::Purpose;
use mcp_runtime_core::{ClientSide, Context, Handler, HandlerResult, LossObserver, Options, ServerSession, ServerSide};
use mcp_runtime_util::{BoxFuture, Mutex};
use serde_json::Value;

use super::calls::{Addressee, Calls};
use super::capabilities::add_implied;
use super::client::ClientId;
use super::era_translator::EraTranslator;
use super::first_message::FirstMessage;
use super::links::Downstream;
use super::passing::{pass_notification, pass_request};
use super::suspended::SuspendedCalls;
use super::translated_tasks::{declare, known_losses};
use super::translation::{are_of_one_era, translate_call, translate_result};
use super::upstream::{Current, Upstream};

/// Starts the session with a client, once there is a session with the server.
pub fn start(
    current: &Arc<Current>,
    suspended: &Arc<SuspendedCalls>,
    first_message: &FirstMessage,
    client: &ClientId,
    mut options: Options,
    transport: DynTransport,
) -> (Arc<Downstream>, ServerSession) {
    let upstream = current.get();
    let (implementation, mut capabilities, instructions) = server_of(&upstream.state, first_message.revision);
    options.losses = Some(known_losses(&upstream, first_message.revision, options.losses));
    let extra_capabilities = declare(&upstream, first_message.revision, &mut capabilities);
    let server = Server::from(ServerInfo {
        implementation,
        capabilities,
        instructions,
        extra_capabilities,
        agreement: agreement(&upstream, first_message.revision).map(|agreement| (first_message.revision, agreement)),
    });
    let calls = Arc::default();
    let handler = DownstreamHandler {
        calls: Arc::clone(&calls),
        current: Arc::clone(current),
        era_translator: EraTranslator {
            current: Arc::clone(current),
            suspended: Arc::clone(suspended),
            client: first_message.info.clone(),
            owner: client.owner_of_tasks(first_message.revision),
            id: client.clone(),
            negotiated: Mutex::default(),
        },
    };
    let subscriptions = Subscriptions::new(&options.limits, None);
    let session = start_server(handler.into(), Arc::new(server), subscriptions, options, transport);
    let state = Arc::clone(session.peer().state());
    let downstream = Arc::new(Downstream { state, calls });
    upstream.attach(&downstream);
    (downstream, session)
}

/// Returns a server's implementation, capabilities and instructions, for clients of a revision.
fn server_of(
    state: &SessionState<ClientSide>,
    client: Revision,
) -> (hub::Implementation, hub::ServerCapabilities, Option<String>) {
    let Some(info) = &state.negotiated().info else {
        return (unnamed(), hub::ServerCapabilities::default(), None);
    };
    let mut capabilities = info.capabilities.clone();
    add_implied(&mut capabilities, Revision::HUB, state.negotiated().revision, client);
    let capabilities = serde_json::from_value(capabilities).unwrap_or_default();
    let implementation = info.implementation.clone().unwrap_or_else(unnamed);
    (implementation, capabilities, info.instructions.clone())
}

fn unnamed() -> hub::Implementation {
    hub::Implementation::new("unknown", "0")
}

/// Returns the server's handshake result, translated to the client's revision. `None` if messages aren't translated
/// directly between the two revisions.
fn agreement(upstream: &Upstream, client: Revision) -> Option<RawJson> {
    let agreed = upstream.state.agreement.get();
    let agreed = agreed.filter(|_| client.has_handshake() && are_of_one_era(client, upstream.revision))?;
    let lifecycle = upstream.revision.lifecycle();
    let (agreed, losses) =
        translate_result((upstream.state.negotiated(), client), lifecycle.begin?, agreed.clone()).ok()?;
    upstream.state.report_losses(lifecycle.begin?, &losses);
    let members = client.lifecycle().begin_result;
    let agreed = named(agreed.text().as_bytes(), members.name?, client)?;
    let declared: Value = agreed.get(members.capabilities?)?.parse().ok()?;
    let mut all = declared.clone();
    add_implied(&mut all, client, upstream.revision, client);
    if all == declared {
        return Some(agreed);
    }
    let edited = set_member(agreed.text().into(), &[members.capabilities?], &all.to_string());
    mcp_wire::from_slice(&edited.ok()?).ok()
}

/// Returns the handshake parameters for a server, translated from the handshake request of a client.
pub fn begin(
    (from, to): (Revision, Revision),
    request: &[u8],
    losses: Option<&LossObserver>,
) -> Result<Option<RawJson>, ErrorObject> {
    let (Some(method), Some(name)) = (from.lifecycle().begin, to.lifecycle().begin_params.name) else {
        return Ok(None);
    };
    let (request, lost) = translate_call((from, to), method, request.to_vec())?;
    if let Some(losses) = losses.filter(|_| !lost.is_empty()) {
        losses(method, &lost);
    }
    let header = MessageHeader::from_slice(&request).map_err(mcp_runtime_core::internal::internal_error)?;
    let params = header.params().map_or("{}", |params| params.text());
    Ok(named(params.as_bytes(), name, to))
}

/// Sets a member of an object to the name of a revision.
fn named(object: &[u8], member: &str, revision: Revision) -> Option<RawJson> {
    let name = Value::from(revision.as_str()).to_string();
    let json: RawJson = mcp_wire::from_slice(object).ok()?;
    if json.get(member)?.text() == name {
        return Some(json);
    }
    mcp_wire::from_slice(&set_member(object.to_vec(), &[member], &name).ok()?).ok()
}

struct DownstreamHandler {
    calls: Arc<Calls<ClientSide>>,
    current: Arc<Current>,
    era_translator: EraTranslator,
}

impl Handler<ServerSide> for DownstreamHandler {
    fn handle_request<'a>(
        &'a self,
        request: hub::ClientRequest,
        context: &'a Context<ServerSide>,
    ) -> Handling<'a, ServerSide> {
        Box::pin(async move {
            match request {
                hub::ClientRequest::Unknown(request) => {
                    let result = self.era_translator.pass_unknown(request, context).await;
                    result.map(HandlerResult::Custom)
                }
                request => self.era_translator.pass(request, context).await,
            }
        })
    }

    fn handle_notification<'a>(
        &'a self,
        notification: hub::ClientNotification,
        context: &'a Context<ServerSide>,
    ) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            if let hub::ClientNotification::Unknown(notification) = notification {
                self.era_translator.pass_notification(notification, context).await;
            }
        })
    }

    fn relay(&self, revision: Revision) -> Option<&dyn Relay<ServerSide>> {
        are_of_one_era(revision, self.current.get().revision).then_some(self)
    }
}

impl Relay<ServerSide> for DownstreamHandler {
    fn pass_request(&self, request: RawMessage, context: Context<ServerSide>) -> BoxFuture<'static, RawAnswer> {
        let upstream = self.current.get();
        // A client that sends requests considers the handshake complete.
        context.peer().state().begun.cancel();
        pass_request(
            &upstream.links.calls,
            &upstream.state,
            Purpose::Unsolicited,
            request,
            context,
        )
    }

    fn pass_notification(&self, notification: RawMessage, context: Context<ServerSide>) -> BoxFuture<'static, ()> {
        let (upstream, revision) = (self.current.get(), context.peer().negotiated().revision);
        match self.calls.addressee(revision, &notification.json) {
            Addressee::Caller(caller, json) => {
                let notification = RawMessage { json, ..notification };
                let (to, server) = (caller.peer.state(), caller.peer.negotiated().revision);
                pass_notification(revision, to, server, caller.peer.purpose(), notification)
            }
            Addressee::Gone => {
                let method = notification.method;
                tracing::debug!(method, "a notification is dropped: it belongs to no call in flight");
                Box::pin(std::future::ready(()))
            }
            Addressee::Unknown => pass_notification(
                revision,
                &upstream.state,
                upstream.revision,
                Purpose::Unsolicited,
                notification,
            ),
        }
    }
}
