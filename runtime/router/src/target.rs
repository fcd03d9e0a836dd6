//! The routes that requests call, read or complete.

use std::sync::Arc;

use mcp_adapters::hub;
use mcp_adapters::mcp_wire::{ErrorObject, UnknownMethod};
use mcp_runtime_core::internal::Handling;
use mcp_runtime_core::{HandlerResult, ServerSide};

use super::call::{Call, Input};
use super::custom::CustomRoute;
use super::method::MethodRoute;
use super::prompt::PromptRoute;
use super::resource::ResourceRoute;
use super::scope::{Layers, Listable};
use super::template::TemplateRoute;
use super::uri_template::Variables;

/// The router's answer to a request.
pub(super) type Answer = HandlerResult<hub::ServerResult>;

/// A route, or a part of one, that answers the requests of one method.
pub(super) trait Target: Clone + Send + Sync + 'static {
    /// The type of the requests.
    type Request: Send + 'static;

    /// The middleware of the routers that it came from.
    fn layers(&self) -> &Layers;

    /// The request, if it is one of this method.
    fn request(request: hub::ClientRequest) -> Option<Self::Request>;

    /// Whether a result is a valid one for this method.
    fn has_result(result: &Answer) -> bool;

    /// Answers a request.
    fn answer(
        self,
        request: Self::Request,
        call: Call,
    ) -> impl Future<Output = Result<Answer, ErrorObject>> + Send + 'static;

    /// Answers a request, and boxes the future. Its code is compiled once, not at each place that answers.
    fn boxed_answer(self, request: Self::Request, call: Call) -> Handling<'static, ServerSide> {
        Box::pin(self.answer(request, call))
    }
}

/// The items of [`Target`] for a method: its request, and the results that it may have.
macro_rules! messages {
    ($variant:ident($request:ident) gives $($result:ident)|+) => {
        type Request = hub::$request;

        fn request(request: hub::ClientRequest) -> Option<hub::$request> {
            match request {
                hub::ClientRequest::$variant(request) => Some(request),
                _ => None,
            }
        }

        fn has_result(result: &Answer) -> bool {
            matches!(result, Answer::Declared($(hub::ServerResult::$result(_))|+))
        }
    };
}

pub(super) use messages;

impl Target for Arc<PromptRoute> {
    messages!(GetPrompt(GetPromptRequest) gives GetPrompt | InputRequired | Unknown);

    fn layers(&self) -> &Layers {
        &self.scope().layers
    }

    async fn answer(self, request: hub::GetPromptRequest, call: Call) -> Result<Answer, ErrorObject> {
        let prompt = self.get(request.params.arguments, call).await?;
        Ok(Answer::Declared(hub::ServerResult::GetPrompt(prompt)))
    }
}

/// The route that reads a resource.
#[derive(Clone)]
pub(super) enum Reader {
    Resource(Arc<ResourceRoute>),
    /// A template, with the values of its variables in the URI.
    Template(Arc<TemplateRoute>, Variables),
}

impl Target for Reader {
    messages!(ReadResource(ReadResourceRequest) gives ReadResource | InputRequired | Unknown);

    fn layers(&self) -> &Layers {
        match self {
            Self::Resource(route) => &route.scope().layers,
            Self::Template(route, _) => &route.scope().layers,
        }
    }

    async fn answer(self, request: hub::ReadResourceRequest, call: Call) -> Result<Answer, ErrorObject> {
        let contents = match self {
            Self::Resource(route) => route.read(call).await?,
            Self::Template(route, variables) => route.read(request.params.uri, variables, call).await?,
        };
        Ok(Answer::Declared(hub::ServerResult::ReadResource(contents)))
    }
}

/// The route of a method that the hub doesn't declare.
#[derive(Clone)]
pub(super) enum Undeclared {
    /// A method that the client's revision declares.
    Method(Arc<MethodRoute>),
    Custom(Arc<CustomRoute>),
}

impl Target for Undeclared {
    type Request = UnknownMethod;

    fn layers(&self) -> &Layers {
        match self {
            Self::Method(route) => &route.function.scope.layers,
            Self::Custom(route) => &route.function.scope.layers,
        }
    }

    fn request(request: hub::ClientRequest) -> Option<UnknownMethod> {
        match request {
            hub::ClientRequest::Unknown(request) => Some(request),
            _ => None,
        }
    }

    fn has_result(result: &Answer) -> bool {
        matches!(result, Answer::Custom(_))
    }

    async fn answer(self, request: UnknownMethod, call: Call) -> Result<Answer, ErrorObject> {
        let result = match self {
            Self::Method(route) => route.function.call(call, Input::Other(Box::new(request))).await?,
            Self::Custom(route) => route.answer(request, call).await?,
        };
        Ok(Answer::Custom(result))
    }
}
