//! Extensions of the protocol that a server has.

use std::fmt;
use std::future::ready;
use std::pin::Pin;
use std::sync::Arc;

use futures_core::Stream;
use http::request::Parts;
use mcp_adapters::mcp_wire::{
    self, AddedResult, ErrorObject, Extra, Method, RawJson, RawObject, UnknownMethod, error_code, validate_text,
};
use mcp_adapters::{ErrorRole, PeerTypes, Revision};
use mcp_runtime_core::internal::{Added, BoxFuture, invalid_params};
use mcp_runtime_core::mirrors;
use serde_json::{Value, json};

use super::call::Call;
use super::error::{RouteError, or_panic};
use super::extract::FromCall;
use super::method::MethodRoute;
use super::tool_error::ToolError;
use crate::Router;

/// What a server does for an extension of the protocol; [`Router::extension`] takes it.
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
    subscribe: Subscribe,
}

type Subscribe =
    Arc<dyn Fn(Arc<Extra>, Call) -> BoxFuture<'static, Result<ExtensionSubscription, ErrorObject>> + Send + Sync>;

impl Router {
    /// Adds an extension: the server declares it and answers its requests, from clients that declare it too. Functions of routes that are
    /// added after this, through this router, can take it as [`State`](super::State).
    ///
    /// # Panics
    /// When [`Self::try_extension`] gives an error.
    #[must_use]
    #[track_caller]
    pub fn extension(self, extension: impl ServerExtension + Clone) -> Self {
        or_panic(self.try_extension(extension))
    }

    /// Adds an extension, unless the router refuses it; see [`Self::extension`].
    ///
    /// # Errors
    /// [`RouteError::Settings`] when the settings aren't what the extension's schema requires, [`RouteError::Duplicate`] when the router has
    /// the extension, one of its methods or one of its kinds of results already, and [`RouteError::Declared`] when the hub declares a
    /// method.
    pub fn try_extension(mut self, extension: impl ServerExtension + Clone) -> Result<Self, RouteError> {
        let (description, settings) = (extension.extension(), extension.settings());
        if let Some(definition) = description.settings {
            let valid = validate_text(settings.text(), definition, description.schema);
            valid.map_err(|invalid| RouteError::Settings {
                id: description.id,
                what: invalid.to_string(),
            })?;
        }
        self = self.with_state(extension.clone());
        let requests = description.methods.iter();
        for method in requests.filter(|method| method.is_request() && method.direction.from_client()) {
            let extension = extension.clone();
            self = self.try_custom_method(method.name, move |Quiet(call): Quiet| {
                let extension = extension.clone();
                async move {
                    let params = checked(&description, method, &call)?;
                    extension.answer(method.name, params, call).await
                }
            })?;
        }
        if let Some(core) = extension.core_methods() {
            self.insert_core_methods(&extension, &core)?;
        }
        let route = ExtensionRoute {
            settings,
            results: description.results,
            subscribe: Arc::new(move |filter, call| {
                let extension = extension.clone();
                Box::pin(async move { extension.subscribe(filter, call).await })
            }),
        };
        self.inner
            .catalogue
            .change(|routes| routes.insert_extension(description.id, route))?;
        Ok(self)
    }

    /// Adds the methods of the revisions whose core has what an extension has.
    fn insert_core_methods(
        &self,
        extension: &(impl ServerExtension + Clone),
        core: &CoreMethods,
    ) -> Result<(), RouteError> {
        for revision in Revision::all() {
            let routes = core.methods.iter().map(|name| {
                let (extension, name) = (extension.clone(), *name);
                MethodRoute::raw(revision, name, core.capabilities.clone(), move |params, call| {
                    let extension = extension.clone();
                    async move { extension.answer_core(name, params, call).await }
                })
            });
            for route in routes.collect::<Option<Vec<_>>>().unwrap_or_default() {
                self.inner
                    .catalogue
                    .change(|routes| routes.insert_method(Arc::new(route)))?;
            }
        }
        Ok(())
    }

    /// What the extensions add to a subscription.
    pub(super) async fn extend(&self, filter: Extra, call: Call) -> Result<Added, ErrorObject> {
        let routes: Vec<_> = self.inner.catalogue.routes().extensions.values().cloned().collect();
        let (filter, mut added) = (Arc::new(filter), Added::default());
        for route in routes {
            let subscription = (route.subscribe)(Arc::clone(&filter), call.clone()).await?;
            added.agreed.extend(subscription.agreed);
            added.notifications.extend(subscription.notifications);
        }
        Ok(added)
    }
}

/// A call of a function that sends no log messages.
struct Quiet(Call);

impl FromCall for Quiet {
    async fn from_call(call: &Call) -> Result<Self, ToolError> {
        Ok(Self(call.clone()))
    }
}

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

    /// The code of an error in the client's revision.
    fn known_code(&self, role: ErrorRole) -> i64 {
        let known = self.revision().and_then(|revision| revision.known_error(role));
        known.map_or(error_code::INVALID_REQUEST, |known| known.code)
    }
}

/// The parameters of a request of an extension, if everything about it is as it should be.
fn checked(extension: &mcp_wire::Extension, method: &Method, call: &Call) -> Result<Value, ErrorObject> {
    call.require_extension(extension.id)?;
    let params = call.arguments().cloned().unwrap_or_else(|| json!({}));
    let repeats = |revision: Revision| revision.facts().mirrors.method.is_some();
    if let Some(request) = call
        .extensions()
        .get::<Parts>()
        .filter(|_| call.revision().is_some_and(repeats))
    {
        let headers = extension
            .headers
            .iter()
            .filter(|repeated| repeated.method == method.name);
        let texts = headers.filter_map(|repeated| Some((repeated.header, params[repeated.parameter].as_str()?.into())));
        let texts: Vec<_> = texts.collect();
        mirrors::check(&texts, &request.headers)
            .map_err(|what| ErrorObject::new(call.known_code(ErrorRole::HeaderMismatch), what))?;
    }
    Ok(params)
}
