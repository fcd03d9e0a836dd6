//! The first message of a client, which identifies the client on whose behalf the bridge calls the server.

use std::collections::VecDeque;

use mcp_adapters::mcp_wire::{
    ErrorObject, ErrorResponse, Message, MessageHeader, MessageKind, RawJson, RequestId, Response, error_code,
};
use mcp_adapters::peers::read_message;
use mcp_adapters::{
    ClientDescription, Conversion, PeerTypes, Policy, Revision, Translated, hub, negotiate, session_messages,
};
use mcp_runtime_core::internal::{ClientInfo, RoundState, not_a_message, retry_input, to_json};
use mcp_runtime_core::transport::{
    Incoming, Intake, Outgoing, Purpose, Receiver, Restart, Sender, Transport, TransportError,
};
use mcp_runtime_core::{Limits, ServerSide, Side};

/// The maximum number of messages received before there is a session with the server. Further ones wait in the
/// transport.
const AHEAD: usize = 16;

/// The client's revision, implementation and capabilities, read from its first message.
pub struct FirstMessage {
    /// The revision to use with the client.
    pub revision: Revision,
    pub info: ClientInfo,
    /// The request that starts a session, and the revision in which it was read. Absent for a stateless client.
    pub begin: Option<(Revision, Vec<u8>)>,
    /// The name of the suspended call that the first request claims to resume. It is unverified.
    pub resumes: Option<String>,
    /// The id of the first request.
    pub id: Option<RequestId>,
}

impl FirstMessage {
    /// Waits for a message that identifies the client; `None` if the connection ends before. The returned transport
    /// receives that message again.
    pub async fn read<T: Transport>(transport: T, supported: &[Revision]) -> Option<(Self, PeekedTransport<T>)> {
        let (sender, mut receiver) = transport.split();
        loop {
            let incoming = receiver.receive().await.ok()??;
            let first_message = match &incoming {
                Incoming::Message { json, .. } => match MessageHeader::from_slice(json) {
                    Ok(header) => Self::of(&header, supported),
                    Err(error) => Err(refusal(None, not_a_message(&error), supported)),
                },
                Incoming::Refused { error, .. } => Err(refusal(None, error.clone(), supported)),
                Incoming::Failed { .. } | Incoming::Renewed | Incoming::Closing => continue,
            };
            match first_message {
                Ok(first_message) => {
                    let receiver = PeekedReceiver {
                        received: VecDeque::from([incoming]),
                        has_ended: false,
                        receiver,
                    };
                    return Some((first_message, PeekedTransport { sender, receiver }));
                }
                Err(None) => {}
                Err(Some(response)) => sender.send(response).await.ok()?,
            }
        }
    }

    /// Reads the identity of the client from a message. The error is the response to a message that doesn't identify
    /// its client; notifications and responses get none.
    fn of(header: &MessageHeader<'_>, supported: &[Revision]) -> Result<Self, Option<Outgoing>> {
        let id = header.id();
        let kind = header
            .kind()
            .map_err(|error| refusal(id.clone(), not_a_message(&error), supported))?;
        if kind == MessageKind::Request
            && let Some(requested) = session_messages::requested_version::<Revision>(header)
        {
            return Self::of_handshake(header, requested, supported).map_err(|error| refusal(id, error, supported));
        }
        let named = session_messages::version_in_meta::<Revision>(header).ok().flatten();
        if let Some((revision, _)) = named
            && let Ok(description) = session_messages::read_request_meta(revision, header)
        {
            return Ok(Self {
                revision,
                info: info_of(description.result),
                begin: None,
                resumes: resumed_call(revision, header),
                id,
            });
        }
        if kind != MessageKind::Request {
            return Err(None);
        }
        let is_ping = |revision: &Revision| revision.lifecycle().ping == header.method().as_deref();
        match (Revision::all().find(|revision| is_ping(revision)), id) {
            (Some(revision), Some(id)) => {
                let result = session_messages::empty_result(revision, &header.method().unwrap_or_default());
                let json = to_json(&Response::new(id.clone(), result));
                Err(Some(response(json, Some(id))))
            }
            (_, id) => {
                let begin = supported.iter().find_map(|revision| revision.lifecycle().begin);
                let reason = format!("the session has not begun: send `{}` first", begin.unwrap_or_default());
                Err(refusal(
                    id,
                    ErrorObject::new(error_code::INVALID_REQUEST, reason),
                    supported,
                ))
            }
        }
    }

    fn of_handshake(
        header: &MessageHeader<'_>,
        requested: Option<Revision>,
        supported: &[Revision],
    ) -> Result<Self, ErrorObject> {
        let invalid = |reason: String| ErrorObject::new(error_code::INVALID_PARAMS, reason);
        let params: Option<RawJson> = header.params().and_then(|params| params.decode_as().ok());
        let params = params.ok_or_else(|| invalid("`params` is required".to_owned()))?;
        let handshakes = || supported.iter().copied().filter(|revision| revision.has_handshake());
        let read_by = requested.or_else(|| handshakes().max());
        let read_by = read_by.ok_or_else(|| invalid("no revision with a handshake is supported".to_owned()))?;
        let description = session_messages::read_initialize_params(read_by, &params)
            .map_err(|error| invalid(format!("params: {error}")))?;
        let handshakes: Vec<Revision> = handshakes().collect();
        let revision = negotiate(&description.result.version, &handshakes).unwrap_or(read_by);
        Ok(Self {
            revision,
            info: info_of(description.result),
            begin: Some((read_by, header.message().text().as_bytes().to_vec())),
            resumes: None,
            id: header.id(),
        })
    }
}

fn resumed_call(revision: Revision, header: &MessageHeader<'_>) -> Option<String> {
    let conversion = Conversion::new(Policy::Conform);
    let received: Translated<Message<hub::ClientRequest, hub::ClientNotification>> =
        read_message(revision, ServerSide::PEER, header, conversion).ok()?;
    let Translated::Message {
        message: Message::Request(mut call),
        ..
    } = received
    else {
        return None;
    };
    let state = retry_input(&mut call.request)?.state.take()?;
    RoundState::unverified_own(&state, Limits::default().state_bytes)
}

fn info_of(description: ClientDescription) -> ClientInfo {
    ClientInfo {
        implementation: description
            .implementation
            .unwrap_or_else(|| hub::Implementation::new("unknown", "0")),
        capabilities: description.capabilities,
        begin: None,
        log_level: description.log_level.map(|level| level.as_str().into()),
    }
}

/// The response to a refused message. Only some revisions have errors without the id of a request.
fn refusal(id: Option<RequestId>, error: ErrorObject, supported: &[Revision]) -> Option<Outgoing> {
    let latest = supported.iter().max();
    let is_answered = id.is_some() || latest.is_some_and(|latest| latest.facts().errors_without_id);
    is_answered.then(|| response(to_json(&ErrorResponse::new(id.clone(), error)), id))
}

/// The response to one request.
pub fn response(json: Vec<u8>, id: Option<RequestId>) -> Outgoing {
    let purpose = Purpose::Response(id.into_iter().collect());
    Outgoing { json, purpose }
}

/// A transport whose first messages were read, and are received again.
pub struct PeekedTransport<T: Transport> {
    pub sender: T::Sender,
    receiver: PeekedReceiver<T::Receiver>,
}

pub struct PeekedReceiver<R> {
    received: VecDeque<Incoming>,
    /// The client sends nothing more.
    has_ended: bool,
    receiver: R,
}

impl<T: Transport> PeekedTransport<T> {
    /// Waits until the client has disconnected. Messages that it sends meanwhile are kept, and received again.
    pub async fn gone(&mut self) {
        let PeekedReceiver {
            received,
            has_ended,
            receiver,
        } = &mut self.receiver;
        while !*has_ended && received.len() < AHEAD {
            match receiver.receive().await {
                Ok(Some(incoming)) => received.push_back(incoming),
                // The client may have closed only its sending half, and still read.
                Ok(None) if receiver.half_closes() => *has_ended = true,
                Ok(None) | Err(_) => return,
            }
        }
        std::future::pending().await
    }
}

#[deny(clippy::missing_trait_methods)]
impl<T: Transport> Transport for PeekedTransport<T> {
    type Sender = T::Sender;
    type Receiver = PeekedReceiver<T::Receiver>;

    fn split(self) -> (Self::Sender, Self::Receiver) {
        (self.sender, self.receiver)
    }

    /// A client isn't connected to.
    fn restart(&mut self) -> Option<Restart<Self>> {
        None
    }
}

#[deny(clippy::missing_trait_methods)]
impl<R: Receiver> Receiver for PeekedReceiver<R> {
    async fn receive(&mut self) -> Result<Option<Incoming>, TransportError> {
        match self.received.pop_front() {
            None if !self.has_ended => self.receiver.receive().await,
            incoming => Ok(incoming),
        }
    }

    fn half_closes(&self) -> bool {
        self.receiver.half_closes()
    }

    /// Messages that are passed to the session directly would overtake those that were read before.
    fn begin(&mut self, _: Intake) {}
}
