//! What requests of clients are for.

use std::sync::Arc;

use mcp_adapters::hub;
use mcp_adapters::mcp_wire::ErrorObject;

use super::call::{Call, Input};
use super::completion::Completions;
use super::custom::CustomRoute;
use super::handled::Handled;
use super::method::MethodRoute;
use super::prompt::PromptRoute;
use super::resource::ResourceRoute;
use super::scope::{Layers, Listable};
use super::template::TemplateRoute;
use super::tool::ToolRoute;
use super::uri_template::Variables;
use crate::error::internal_error;

/// The route that a request is for.
#[derive(Clone)]
pub(super) enum Target {
    Tool(Arc<ToolRoute>),
    Prompt(Arc<PromptRoute>),
    Resource(Arc<ResourceRoute>),
    /// A template, with what its variables are in the URI.
    Template(Arc<TemplateRoute>, Variables),
    Method(Arc<MethodRoute>),
    Custom(Arc<CustomRoute>),
}

impl Target {
    /// The middleware of the routers that the route came from.
    pub(super) fn layers(&self) -> &Layers {
        let scope = match self {
            Self::Tool(route) => route.scope(),
            Self::Prompt(route) => route.scope(),
            Self::Resource(route) => route.scope(),
            Self::Template(route, _) => route.scope(),
            Self::Method(route) => &route.function.scope,
            Self::Custom(route) => &route.function.scope,
        };
        &scope.layers
    }

    /// Calls the route's function.
    pub(super) async fn call(self, request: hub::ClientRequest, call: Call) -> Result<Handled, ErrorObject> {
        use hub::{ClientRequest as Request, ServerResult as Result};
        let result = match (self, request) {
            (Self::Tool(route), Request::CallTool(request)) => {
                let arguments = request.params.arguments;
                route.mirrored.check(arguments.as_ref(), &call)?;
                route.call(arguments, call).await?.into()
            }
            (Self::Prompt(route), Request::GetPrompt(request)) => {
                Result::GetPrompt(route.get(request.params.arguments, call).await?)
            }
            (Self::Resource(route), Request::ReadResource(_)) => Result::ReadResource(route.read(call).await?),
            (Self::Template(route, variables), Request::ReadResource(request)) => {
                Result::ReadResource(route.read(request.params.uri, variables, call).await?)
            }
            (Self::Prompt(route), Request::Complete(request)) => {
                Result::Complete(route.completions.complete(request.params, call).await?)
            }
            (Self::Template(route, _), Request::Complete(request)) => {
                Result::Complete(route.completions.complete(request.params, call).await?)
            }
            // A resource has no variables, but clients may request completion.
            (Self::Resource(_), Request::Complete(request)) => {
                Result::Complete(Completions::default().complete(request.params, call).await?)
            }
            (Self::Method(route), Request::Unknown(request)) => {
                let result = route.function.call(call, Input::Method(request)).await?;
                return Ok(Handled::Custom(result));
            }
            (Self::Custom(route), Request::Unknown(request)) => {
                return Ok(Handled::Custom(route.answer(request, call).await?));
            }
            _ => {
                return Err(internal_error(
                    "middleware has replaced the request by one of another method",
                ));
            }
        };
        Ok(Handled::Declared(result))
    }
}
