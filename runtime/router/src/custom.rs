//! Methods that no revision declares, such as those of extensions and vendors, and notifications.

use std::sync::Arc;

use mcp_adapters::Revision;
use mcp_adapters::mcp_wire::{ErrorObject, RawJson, UnknownMethod};
use mcp_runtime_core::internal::invalid_params;
use serde::Serialize;
use serde_json::{Value, json};

use super::call::{Call, Input};
use super::content::Structured;
use super::error::RouteError;
use super::function::{BoxedFunction, Function};
use super::result::IntoResult;
use super::tool_error::ToolError;

pub(super) const KIND: &str = "custom method";

/// A method that no revision declares, and the function that handles it.
#[derive(Clone)]
pub(super) struct CustomRoute {
    pub(super) name: Arc<str>,
    pub(super) function: BoxedFunction<RawJson>,
}

impl CustomRoute {
    pub(super) fn new<M>(name: String, function: impl Function<RawJson, M>) -> Result<Self, RouteError> {
        if Revision::HUB.method(&name).is_some() {
            return Err(RouteError::Declared { method: name });
        }
        Ok(Self {
            name: name.into(),
            function: BoxedFunction::new(function),
        })
    }

    pub(super) async fn answer(&self, request: UnknownMethod, call: Call) -> Result<RawJson, ErrorObject> {
        let params = request.params.map(|params| params.parse_value());
        let params = params.transpose().map_err(invalid_params)?;
        let input = Input::Custom(params.unwrap_or_else(|| json!({})));
        Ok(self.function.call(call, input).await?)
    }
}

pub(super) const NOTIFICATION: &str = "notification";

/// A function that handles the notifications of a method.
#[derive(Clone)]
pub(super) struct Listener {
    pub(super) method: Arc<str>,
    pub(super) function: BoxedFunction<()>,
}

impl Listener {
    pub(super) fn new<M>(method: String, function: impl Function<(), M>) -> Self {
        Self {
            method: method.into(),
            function: BoxedFunction::new(function),
        }
    }

    /// Calls the function. Nobody waits for a response, so an error goes to the log.
    pub(super) async fn handle(&self, params: &RawJson, call: Call) {
        let heard = match params.parse_value() {
            Ok(params) => self.function.call(call, Input::Custom(params)).await,
            Err(error) => Err(error.into()),
        };
        if let Err(error) = heard {
            tracing::warn!(method = &*self.method, %error, "the function for a notification failed");
        }
    }
}

impl IntoResult<()> for () {
    fn into_result(self, _: &Call) -> Result<(), ToolError> {
        Ok(())
    }
}

impl IntoResult<RawJson> for RawJson {
    fn into_result(self, _: &Call) -> Result<RawJson, ToolError> {
        Ok(self)
    }
}

/// The result is what `T` serializes to.
impl<T: Serialize> IntoResult<RawJson> for Structured<T> {
    fn into_result(self, _: &Call) -> Result<RawJson, ToolError> {
        Ok(RawJson::from_serialize(&self.0)?)
    }
}

impl IntoResult<RawJson> for Value {
    fn into_result(self, _: &Call) -> Result<RawJson, ToolError> {
        Ok(self.into())
    }
}
