//! Extensions of the protocol that a server has.

use http::request::Parts;
use mcp_adapters::mcp_wire::{self, ErrorObject, Method, RawJson, RawObject, error_code, validate_text};
use mcp_adapters::{ErrorRole, PeerTypes, Revision};
use serde_json::{Value, json};

use super::Router;
use super::call::Call;
use super::error::{RouteError, or_panic};
use super::extract::FromCall;
use super::tool_error::ToolError;
use crate::error::invalid_params;
use crate::mirrors;

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
}

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
    /// [`RouteError::Settings`] when the settings aren't what the extension's schema requires, [`RouteError::Duplicate`] when the router has the extension or one of its methods already, and [`RouteError::Declared`] when
    /// the hub declares one.
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
        let mut routes = self.inner.catalogue.routes.lock();
        routes.insert_extension(description.id, settings)?;
        drop(routes);
        Ok(self)
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
        let texts =
            headers.filter_map(|repeated| Some((repeated.header, params[repeated.parameter].as_str()?.to_owned())));
        let texts: Vec<(&str, String)> = texts.collect();
        mirrors::check(&texts, &request.headers)
            .map_err(|what| ErrorObject::new(call.known_code(ErrorRole::HeaderMismatch), what))?;
    }
    Ok(params)
}
