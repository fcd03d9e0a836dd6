//! Extensions of the protocol that a server has.

use std::fmt;
use std::future::ready;
use std::pin::Pin;
use std::sync::Arc;

use futures_core::Stream;
use mcp_adapters::mcp_wire::{self, AddedResult, ErrorObject, Extra, RawJson, RawObject, UnknownMethod, error_code};
use mcp_adapters::{ErrorRole, PeerTypes};
use mcp_runtime_core::internal::invalid_params;
use mcp_runtime_util::BoxFuture;
use serde_json::{Value, json};

use super::call::Call;

/// What a server does for an extension of the protocol; [`Router::extension`](super::Router::extension) takes it.
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
    /// The extension, as its crate describes it.
    fn extension(&self) -> mcp_wire::Extension;

    /// The settings that the server declares it with. By default there are none.
    fn settings(&self) -> RawObject {
        RawObject::default()
    }

    /// Answers a request of the extension.
    ///
    /// The client has declared the extension, and headers that repeat parameters do so. The parameters are an object as it came:
    /// decoding them into the types of the extension's crate finds what is missing or of another type.
    ///
    /// # Errors
    /// Those that the client gets.
    fn answer(
        &self,
        method: &'static str,
        params: Value,
        call: Call,
    ) -> impl Future<Output = Result<RawJson, ErrorObject>> + Send;

    /// What the extension adds to a subscription of a client, whose filter has these members beside those of the protocol. By default
    /// nothing.
    ///
    /// # Errors
    /// The one that refuses the subscription, such as that of [`Call::require_extension`].
    fn subscribe(
        &self,
        filter: Arc<Extra>,
        call: Call,
    ) -> impl Future<Output = Result<ExtensionSubscription, ErrorObject>> + Send {
        let _ = (filter, call);
        ready(Ok(ExtensionSubscription::default()))
    }

    /// Requests that it answers for clients of those revisions whose core has what the extension has. By default none.
    fn core_methods(&self) -> Option<CoreMethods> {
        None
    }

    /// Answers a request of those, by a result of the client's revision. The revision's schema has accepted the parameters.
    ///
    /// # Errors
    /// Those that the client gets.
    fn answer_core(
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

/// Requests of revisions whose core has what an extension has.
#[derive(Debug, Clone)]
pub struct CoreMethods {
    /// Their methods. The revisions are those that have all of them, while the hub has none.
    pub methods: Vec<&'static str>,
    /// What a server declares to clients of these revisions.
    pub capabilities: Value,
}

/// What an extension adds to a subscription of a client.
#[derive(Default)]
pub struct ExtensionSubscription {
    /// The members of the filter that the server agrees to, as the client is to read them.
    pub agreed: Extra,
    /// The notifications. They are tagged with the subscription, and end with it.
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
    /// What it is declared with.
    pub(super) settings: RawObject,
    /// The kinds of results that it adds to requests of the protocol.
    pub(super) results: &'static [AddedResult],
    pub(super) subscribe: Subscribe,
}

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
    /// The error of the revision for a capability that the client lacks, which names the extension.
    pub fn require_extension(&self, id: &str) -> Result<(), ErrorObject> {
        if self.has_extension(id) {
            return Ok(());
        }
        let message = format!("the client hasn't declared {id}");
        let known = self
            .revision()
            .and_then(|revision| revision.known_error(ErrorRole::MissingCapability));
        let Some(known) = known else {
            return Err(invalid_params(message));
        };
        let error = ErrorObject::new(known.code, message);
        Err(match known.data.capabilities {
            Some(member) => error.with_data(json!({member: {"extensions": {id: {}}}})),
            None => error,
        })
    }
}
