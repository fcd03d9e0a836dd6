//! The two sides of a session, and the types of their messages.

use std::time::Duration;

use mcp_adapters::mcp_wire::{
    Call, Decode, Decoded, Direction, Encode, Message, MessageHeader, Notice, Object, RawJson, Reader, UnknownMethod,
};
use mcp_adapters::{Conversion, FromPeer, FromResult, Loss, Revision, Role, Translated, Unrepresentable, hub, peers};

use crate::change::Change;

/// An incoming message. Requests and notifications are boxed because they are large, and each function that passes a
/// message on would copy them.
pub type MessageIn<S> = Message<Box<<S as Side>::Request>, Box<<S as Side>::Notification>>;
/// An outgoing message.
pub type MessageOut<S> = Message<<S as Side>::RequestOut, <S as Side>::NotificationOut>;

/// One side of a session. The messages are types of the hub.
pub trait Side: Send + Sync + Sized + 'static {
    /// The role of its peer.
    const PEER: Role;
    /// Whether this is the side of a server.
    const IS_SERVER: bool = matches!(Self::PEER, Role::Client);

    /// A request that the peer can send.
    type Request: Object + Decode + Encode + Send + 'static;
    /// A notification that the peer can send.
    type Notification: Object + Decode + Send + 'static;
    /// The result of a request of the peer.
    type Result: Send + 'static;
    /// A request to the peer.
    type RequestOut: Object + Send + 'static;
    /// A notification to the peer.
    type NotificationOut: Object + Send + 'static;
    /// The result of a request to the peer.
    type ResultIn: Clone + Send + 'static;

    /// Decodes a message whose method no revision declares.
    ///
    /// # Errors
    /// When it isn't a valid message.
    fn receive_custom(header: &MessageHeader<'_>) -> Decoded<MessageIn<Self>> {
        let message: Message<UnknownMethod, UnknownMethod> = header.decode()?;
        Ok(match message {
            Message::Request(Call { id, request }) => Message::Request(Call {
                id,
                request: Box::new(Self::custom_request(request)),
            }),
            Message::Notification(Notice { notification }) => Message::Notification(Notice {
                notification: Box::new(Self::custom_notification(notification)),
            }),
            Message::Response(response) => Message::Response(response),
            Message::Error(response) => Message::Error(response),
        })
    }

    /// Wraps a request of the peer whose method no revision declares.
    fn custom_request(request: UnknownMethod) -> Self::Request;

    /// Wraps a notification of the peer whose method no revision declares.
    fn custom_notification(notification: UnknownMethod) -> Self::Notification;

    /// Encodes a message in the peer's revision.
    fn encode(peer: Revision, message: MessageOut<Self>, conversion: Conversion) -> Translated<Vec<u8>>;

    /// Decodes a result of `method` from the peer's revision; `None` if the revision doesn't have the method.
    ///
    /// # Errors
    /// When it isn't a result of the method.
    fn decode_result(
        peer: Revision,
        method: &str,
        result: &RawJson,
        conversion: Conversion,
    ) -> Result<Option<FromResult<Self::ResultIn>>, FromPeer> {
        Self::read_result(peer, method, &mut Reader::new(result.text()), conversion)
    }

    /// Like [`Self::decode_result`], for a result that is the next value of a reader.
    ///
    /// # Errors
    /// When it isn't a result of the method.
    fn read_result(
        peer: Revision,
        method: &str,
        reader: &mut Reader<'_>,
        conversion: Conversion,
    ) -> Result<Option<FromResult<Self::ResultIn>>, FromPeer>;

    /// Encodes a result in the peer's revision, and appends it to `json`.
    ///
    /// # Errors
    /// When that revision can't represent it.
    fn push_result(
        json: &mut String,
        peer: Revision,
        result: &Self::Result,
        conversion: Conversion,
    ) -> Result<Vec<Loss>, Unrepresentable>;

    /// Returns the JSON of a result to the peer whose kind the hub doesn't declare.
    fn undeclared(result: &Self::Result) -> Option<&RawJson> {
        let _ = result;
        None
    }

    /// Wraps a result of the peer whose kind the hub doesn't declare; `None` on the side whose peer has no such
    /// results.
    fn undeclared_in(result: RawJson) -> Option<Self::ResultIn> {
        let _ = result;
        None
    }

    /// Returns the method of a request of the peer.
    fn method(request: &Self::Request) -> &str;

    /// Returns the target of a request of the peer, such as the name of a tool, with its OpenTelemetry attribute.
    fn target(request: &Self::Request) -> Option<(&'static str, &str)> {
        let _ = request;
        None
    }

    /// Whether a result to the peer reports a failure, such as a tool result with `isError`.
    fn has_failed(result: &Self::Result) -> bool {
        let _ = result;
        false
    }

    /// Whether a result to the peer is known to have no `_meta`.
    fn lacks_meta(result: &Self::Result) -> bool {
        let _ = result;
        false
    }

    /// Returns the method of a notification of the peer.
    fn notification_method(notification: &Self::Notification) -> &str;

    /// Returns the method of a request to the peer.
    fn method_out(request: &Self::RequestOut) -> &str;

    /// Returns the method of a notification to the peer.
    fn notification_method_out(notification: &Self::NotificationOut) -> &str;

    /// Returns the change that a notification of the peer reports.
    fn change_in(notification: &Self::Notification) -> Option<Change> {
        let _ = notification;
        None
    }

    /// Returns the progress that a notification of the peer reports.
    fn progress_in(notification: Self::Notification) -> Option<hub::ProgressNotificationParams> {
        let _ = notification;
        None
    }

    /// Returns the change that a notification to the peer reports.
    fn change_of(notification: &Self::NotificationOut) -> Option<Change> {
        let _ = notification;
        None
    }

    /// Returns the change that makes the result of a request to the peer stale; `None` if the result can't be cached.
    fn ended_by(request: &Self::RequestOut) -> Option<Change> {
        let _ = request;
        None
    }

    /// Returns how long a result of the peer stays fresh.
    fn freshness(result: &Self::ResultIn) -> Duration {
        let _ = result;
        Duration::ZERO
    }

    /// Returns the notification of a change to the peer; `None` on the side that sends none.
    fn change_out(change: &Change) -> Option<Self::NotificationOut> {
        let _ = change;
        None
    }

    /// Returns the level of a log message to the peer.
    fn log_level(notification: &Self::NotificationOut) -> Option<&hub::LoggingLevel> {
        let _ = notification;
        None
    }

    /// Returns a progress notification; `None` on the side that sends none in the hub's revision.
    fn progress(params: hub::ProgressNotificationParams) -> Option<Self::NotificationOut>;

    /// Whether the peer sends messages of this direction.
    fn peer_calls(direction: Direction) -> bool;
}

/// The side of a server: its peer is a client.
#[derive(Debug, Clone, Copy)]
pub enum ServerSide {}

/// The side of a client: its peer is a server.
#[derive(Debug, Clone, Copy)]
pub enum ClientSide {}

/// The part of the implementation that differs only in the names of the message types.
macro_rules! messages {
    (
        in: $request:ident, $notification:ident, $result:ident, $push_result:ident, $from_peer:ident;
        out: $request_out:ident, $notification_out:ident, $result_in:ident, $encode:ident, $read_result:ident;
    ) => {
        type Request = hub::$request;
        type Notification = hub::$notification;
        type Result = hub::$result;
        type RequestOut = hub::$request_out;
        type NotificationOut = hub::$notification_out;
        type ResultIn = hub::$result_in;

        fn custom_request(request: UnknownMethod) -> Self::Request {
            hub::$request::Unknown(request)
        }

        fn custom_notification(notification: UnknownMethod) -> Self::Notification {
            hub::$notification::Unknown(notification)
        }

        fn encode(peer: Revision, message: MessageOut<Self>, conversion: Conversion) -> Translated<Vec<u8>> {
            peers::$encode(peer, &message, conversion)
        }

        fn read_result(
            peer: Revision,
            method: &str,
            reader: &mut Reader<'_>,
            conversion: Conversion,
        ) -> Result<Option<FromResult<Self::ResultIn>>, FromPeer> {
            peers::$read_result(peer, method, reader, conversion)
        }

        fn push_result(
            json: &mut String,
            peer: Revision,
            result: &Self::Result,
            conversion: Conversion,
        ) -> Result<Vec<Loss>, Unrepresentable> {
            peers::$push_result(json, peer, result, conversion)
        }

        fn method(request: &Self::Request) -> &str {
            request.method()
        }

        fn notification_method(notification: &Self::Notification) -> &str {
            notification.method()
        }

        fn method_out(request: &Self::RequestOut) -> &str {
            request.method()
        }

        fn notification_method_out(notification: &Self::NotificationOut) -> &str {
            notification.method()
        }

        fn peer_calls(direction: Direction) -> bool {
            direction.$from_peer()
        }
    };
}

impl Side for ServerSide {
    const PEER: Role = Role::Client;

    messages! {
        in: ClientRequest, ClientNotification, ServerResult, push_server_result, from_client;
        out: InputRequest, ServerNotification, InputResponse, server_message_for, read_client_result;
    }

    fn undeclared(result: &hub::ServerResult) -> Option<&RawJson> {
        match result {
            hub::ServerResult::Unknown(result) => Some(result),
            _ => None,
        }
    }

    fn target(request: &hub::ClientRequest) -> Option<(&'static str, &str)> {
        match request {
            hub::ClientRequest::CallTool(request) => Some(("gen_ai.tool.name", &request.params.name)),
            hub::ClientRequest::GetPrompt(request) => Some(("gen_ai.prompt.name", &request.params.name)),
            hub::ClientRequest::ReadResource(request) => Some(("mcp.resource.uri", &request.params.uri)),
            _ => None,
        }
    }

    fn has_failed(result: &hub::ServerResult) -> bool {
        matches!(result, hub::ServerResult::CallTool(result) if result.is_error == Some(true))
    }

    /// Checked only for results that can be long.
    fn lacks_meta(result: &hub::ServerResult) -> bool {
        let (meta, extra) = match result {
            hub::ServerResult::CallTool(result) => (&result.meta, &result.extra),
            hub::ServerResult::ReadResource(result) => (&result.meta, &result.extra),
            _ => return false,
        };
        meta.is_none() && extra.is_empty()
    }

    fn change_of(notification: &Self::NotificationOut) -> Option<Change> {
        Change::of(notification)
    }

    fn change_out(change: &Change) -> Option<Self::NotificationOut> {
        Some(change.notification())
    }

    fn log_level(notification: &Self::NotificationOut) -> Option<&hub::LoggingLevel> {
        match notification {
            hub::ServerNotification::LoggingMessage(message) => Some(&message.params.level),
            _ => None,
        }
    }

    fn progress(params: hub::ProgressNotificationParams) -> Option<hub::ServerNotification> {
        Some(hub::ProgressNotification::new(params).into())
    }
}

impl Side for ClientSide {
    const PEER: Role = Role::Server;

    messages! {
        in: InputRequest, ServerNotification, InputResponse, push_client_result, from_server;
        out: ClientRequest, ClientNotification, ServerResult, client_message_for, read_server_result;
    }

    fn undeclared_in(result: RawJson) -> Option<hub::ServerResult> {
        Some(hub::ServerResult::Unknown(result))
    }

    fn change_in(notification: &Self::Notification) -> Option<Change> {
        Change::of(notification)
    }

    fn progress_in(notification: Self::Notification) -> Option<hub::ProgressNotificationParams> {
        match notification {
            hub::ServerNotification::Progress(message) => Some(message.params),
            _ => None,
        }
    }

    fn ended_by(request: &Self::RequestOut) -> Option<Change> {
        match request {
            hub::ClientRequest::ListTools(_) => Some(Change::ToolList),
            hub::ClientRequest::ListPrompts(_) => Some(Change::PromptList),
            hub::ClientRequest::ListResources(_) | hub::ClientRequest::ListResourceTemplates(_) => {
                Some(Change::ResourceList)
            }
            hub::ClientRequest::ReadResource(request) => {
                let params = &request.params;
                // A request that carries input responses or a state is part of several rounds.
                let is_first = params.input_responses.is_none() && params.request_state.is_none();
                is_first.then(|| Change::Resource(params.uri.as_str().into()))
            }
            _ => None,
        }
    }

    fn freshness(result: &Self::ResultIn) -> Duration {
        let milliseconds = match result {
            hub::ServerResult::ListTools(result) => result.ttl_ms,
            hub::ServerResult::ListPrompts(result) => result.ttl_ms,
            hub::ServerResult::ListResources(result) => result.ttl_ms,
            hub::ServerResult::ListResourceTemplates(result) => result.ttl_ms,
            hub::ServerResult::ReadResource(result) => result.ttl_ms,
            _ => 0,
        };
        Duration::from_millis(u64::try_from(milliseconds).unwrap_or(0))
    }

    fn progress(_: hub::ProgressNotificationParams) -> Option<hub::ClientNotification> {
        None
    }
}
