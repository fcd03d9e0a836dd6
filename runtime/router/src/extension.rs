//! Extensions of the protocol that a server supports.

use std::fmt;
use std::future::ready;
use std::pin::Pin;
use std::sync::Arc;

use futures_core::Stream;
use mcp_adapters::mcp_wire::{self, AddedResult, ErrorObject, Extra, RawJson, RawObject, UnknownMethod, error_code};
use mcp_adapters::{ErrorRole, PeerTypes, Revision, hub};
use mcp_runtime_core::internal::invalid_params;
use mcp_runtime_core::{Context, ServerSide};
use mcp_runtime_util::BoxFuture;
use serde_json::{Value, json};

use super::call::Call;

/// The server side of an extension of the protocol; [`Router::extension`](super::Router::extension) adds it to a
/// router.
///
/// ```
/// use mcp_runtime::mcp_wire::{Extension, Method, Direction, RawJson, Schema};
/// use mcp_runtime::router::{Call, ServerExtension};
/// use mcp_runtime::{ErrorObject, Router};
/// use serde_json::{Value, json};
///
/// // A crate that is generated from the extension's schema has these.
/// static SCHEMA: Schema = Schema::new("com.example/votes", r##"{
///     "$schema": "https://json-schema.org/draft/2020-12/schema",
///     "$defs": {"VoteRequest": {
///         "type": "object",
///         "properties": {"params": {"type": "object", "properties": {"page": {"type": "string"}}, "required": ["page"]}},
///         "required": ["params"]
///     }}
/// }"##);
/// const METHODS: &[Method] =
///     &[Method::request("votes/add", Direction::ClientToServer, "#/$defs/VoteRequest", &[])];
/// const EXTENSION: Extension = Extension::new("com.example/votes", "2026-07-28", METHODS, &SCHEMA);
///
/// #[derive(Clone)]
/// struct Votes;
///
/// impl ServerExtension for Votes {
///     fn extension(&self) -> Extension {
///         EXTENSION
///     }
///
///     async fn answer(&self, _: &'static str, params: Value, _: Call) -> Result<RawJson, ErrorObject> {
///         Ok(json!({"resultType": "complete", "page": params["page"]}).into())
///     }
/// }
///
/// let router = Router::new("wiki", "1.0").extension(Votes);
/// assert!(router.capabilities().extensions.unwrap().contains_key("com.example/votes"));
/// ```
pub trait ServerExtension: Send + Sync + 'static {
    /// The description of the extension, which its crate has.
    fn extension(&self) -> mcp_wire::Extension;

    /// The settings in the server's declaration of the extension. By default there are none.
    fn settings(&self) -> RawObject {
        RawObject::default()
    }

    /// Answers a request of the extension.
    ///
    /// It has already been checked that the client has declared the extension, and that the headers that repeat
    /// parameters have their values. The parameters themselves haven't been validated: decoding them into the types of
    /// the extension's crate reports missing members and those of another type.
    ///
    /// # Errors
    /// The error response that the client gets.
    fn answer(
        &self,
        method: &'static str,
        params: Value,
        call: Call,
    ) -> impl Future<Output = Result<RawJson, ErrorObject>> + Send;

    /// Checks a call of a tool before the tool answers it. By default every call is accepted.
    ///
    /// # Errors
    /// The error response that the client gets.
    fn check_tool_call(&self, tool: &hub::Tool, context: &Context<ServerSide>) -> Result<(), ErrorObject> {
        let _ = (tool, context);
        Ok(())
    }

    /// Returns the extension's part of a client's subscription. `filter` has the members of the subscription's filter
    /// that aren't the protocol's. By default it is empty.
    ///
    /// # Errors
    /// An error refuses the subscription, such as that of [`Call::require_extension`].
    fn subscribe(
        &self,
        filter: Arc<Extra>,
        call: Call,
    ) -> impl Future<Output = Result<ExtensionSubscription, ErrorObject>> + Send {
        let _ = (filter, call);
        ready(Ok(ExtensionSubscription::default()))
    }

    /// The requests that the extension answers for clients of revisions whose core protocol has the same feature. By
    /// default there are none.
    fn core_methods(&self) -> Option<CoreMethods> {
        None
    }

    /// Answers one of the [core methods](Self::core_methods) with a result of the client's revision. The parameters
    /// have been validated by the revision's schema.
    ///
    /// # Errors
    /// The error response that the client gets.
    fn answer_core_method(
        &self,
        method: &'static str,
        params: Value,
        call: Call,
    ) -> impl Future<Output = Result<RawJson, ErrorObject>> + Send {
        let _ = (params, call);
        let unknown = ErrorObject::new(error_code::METHOD_NOT_FOUND, format!("Unknown method: {method}"));
        ready(Err(unknown))
    }
}

/// The requests of revisions whose core protocol has the feature of an extension.
#[derive(Debug, Clone)]
pub struct CoreMethods {
    /// The methods of the requests. They are added for each revision that has all of them, provided that the hub has
    /// none of them.
    pub methods: Vec<&'static str>,
    /// The capabilities that the server declares to clients of these revisions.
    pub capabilities: Value,
}

/// The part that an extension adds to a client's subscription.
#[derive(Default)]
pub struct ExtensionSubscription {
    /// The members of the filter that the server accepts, as it confirms them to the client.
    pub agreed: Extra,
    /// The notifications to send. They are tagged with the subscription, and end with it.
    pub notifications: Option<Pin<Box<dyn Stream<Item = UnknownMethod> + Send>>>,
}

impl fmt::Debug for ExtensionSubscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExtensionSubscription")
            .field("agreed", &self.agreed)
            .finish_non_exhaustive()
    }
}

/// An extension of a router.
#[derive(Clone)]
pub(super) struct ExtensionRoute {
    /// The settings in the server's declaration of the extension.
    pub(super) settings: RawObject,
    /// The kinds of results that the extension adds to requests of the protocol.
    pub(super) results: &'static [AddedResult],
    pub(super) check_tool_call: CheckToolCall,
    pub(super) subscribe: Subscribe,
}

type CheckToolCall = Arc<dyn Fn(&hub::Tool, &Context<ServerSide>) -> Result<(), ErrorObject> + Send + Sync>;

type Subscribe =
    Arc<dyn Fn(Arc<Extra>, Call) -> BoxFuture<'static, Result<ExtensionSubscription, ErrorObject>> + Send + Sync>;

impl Call {
    /// Whether the client has declared an extension of the protocol.
    #[must_use]
    pub fn has_extension(&self, id: &str) -> bool {
        let capabilities = self.peer_info().map(|info| info.client_capabilities());
        let extensions = capabilities.and_then(|capabilities| capabilities.extensions);
        extensions.is_some_and(|extensions| extensions.contains_key(id))
    }

    /// Refuses the request unless the client has declared an extension of the protocol.
    ///
    /// # Errors
    /// The revision's error for a missing client capability, which names the extension.
    pub fn require_extension(&self, id: &str) -> Result<(), ErrorObject> {
        if self.has_extension(id) {
            return Ok(());
        }
        Err(undeclared_extension(self.revision(), id))
    }
}

/// Returns the error for a request of an extension that the client hasn't declared. In a revision without an error for
/// missing capabilities, the method is unknown.
#[must_use]
pub(super) fn undeclared_method(revision: Option<Revision>, id: &str) -> ErrorObject {
    let mut error = undeclared_extension(revision, id);
    let known = revision.and_then(|revision| revision.known_error(ErrorRole::MissingCapability));
    if known.is_none() {
        error.code = error_code::METHOD_NOT_FOUND;
    }
    error
}

/// Returns the error for a request that needs an extension which the client hasn't declared.
#[doc(hidden)]
#[must_use]
pub fn undeclared_extension(revision: Option<Revision>, id: &str) -> ErrorObject {
    let message = format!("the client hasn't declared {id}");
    let known = revision.and_then(|revision| revision.known_error(ErrorRole::MissingCapability));
    let Some(known) = known else {
        return invalid_params(message);
    };
    let error = ErrorObject::new(known.code, message);
    match known.data.capabilities {
        Some(member) => error.with_data(json!({member: {"extensions": {id: {}}}})),
        None => error,
    }
}
