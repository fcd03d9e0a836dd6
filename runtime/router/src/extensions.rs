//! Adding extensions of the protocol to a router.

use std::sync::Arc;

use http::request::Parts;
use mcp_adapters::mcp_wire::{self, ErrorObject, Extra, Method, error_code, validate_text};
use mcp_adapters::{ErrorRole, PeerTypes, Revision};
use mcp_runtime_core::internal::ExtensionEvents;
use mcp_runtime_core::mirrors;
use serde_json::{Value, json};

use super::call::Call;
use super::error::{RouteError, or_panic};
use super::extension::{CoreMethods, ExtensionRoute, ServerExtension, undeclared_method};
use super::extract::FromCall;
use super::method::MethodRoute;
use super::tool_error::ToolError;
use crate::Router;

impl Router {
    /// Adds an extension. The server declares it, and answers its requests from clients that declare it too. Functions
    /// of routes that are added to this router afterwards can take the extension as [`State`](super::State).
    ///
    /// # Panics
    /// When [`Self::try_extension`] returns an error.
    #[must_use]
    #[track_caller]
    pub fn extension(self, extension: impl ServerExtension + Clone) -> Self {
        or_panic(self.try_extension(extension))
    }

    /// Adds an extension, unless the router refuses it; see [`Self::extension`].
    ///
    /// # Errors
    /// [`RouteError::Settings`] when the settings violate the extension's schema, [`RouteError::Duplicate`] when the
    /// router already has the extension, one of its methods or one of its kinds of results, and
    /// [`RouteError::Declared`] when the hub declares one of its methods.
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
        let checking = extension.clone();
        let route = ExtensionRoute {
            settings,
            results: description.results,
            check_tool_call: Arc::new(move |tool, context| checking.check_tool_call(tool, context)),
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

    /// Adds the methods of revisions whose core protocol has the feature of an extension.
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
                    async move { extension.answer_core_method(name, params, call).await }
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

    /// Returns the parts that the extensions add to a subscription.
    pub(super) async fn extend_subscription(&self, filter: Extra, call: Call) -> Result<ExtensionEvents, ErrorObject> {
        let routes = Arc::clone(&self.inner.catalogue.routes().extensions);
        let (filter, mut added) = (Arc::new(filter), ExtensionEvents::default());
        for route in routes.values() {
            let subscription = (route.subscribe)(Arc::clone(&filter), call.clone()).await?;
            added.agreed.extend(subscription.agreed);
            added.notifications.extend(subscription.notifications);
        }
        Ok(added)
    }
}

/// Extracts the call without declaring that the function may send log messages.
struct Quiet(Call);

impl FromCall for Quiet {
    async fn from_call(call: &Call) -> Result<Self, ToolError> {
        Ok(Self(call.clone()))
    }
}

/// Returns the parameters of a request of an extension, after checking that the client has declared the extension, and
/// that headers repeat the parameters if the client's revision requires that.
fn checked(extension: &mcp_wire::Extension, method: &Method, call: &Call) -> Result<Value, ErrorObject> {
    if !call.has_extension(extension.id) {
        return Err(undeclared_method(call.revision(), extension.id));
    }
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
        mirrors::check(&texts, &request.headers).map_err(|what| {
            let known = call.revision().and_then(|it| it.known_error(ErrorRole::HeaderMismatch));
            ErrorObject::new(known.map_or(error_code::INVALID_REQUEST, |known| known.code), what)
        })?;
    }
    Ok(params)
}
