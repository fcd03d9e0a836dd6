//! Methods that only one revision has, which functions with the types of this revision handle.

use std::future::{Future, ready};
use std::sync::Arc;

use mcp_adapters::mcp_wire::{ErrorObject, RawJson, Request, UnknownMethod, Validate};
use mcp_adapters::{PeerTypes, Revision};
use mcp_runtime_core::internal::{internal_error, invalid_params};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::call::Call;
use super::error::RouteError;
use super::extract::{FromCall, Signature, for_each_tuple};
use super::function::{Awaited, BoxedFunction, Callable, Immediate};
use super::tool_error::{BoxError, ToolError};

/// The parameters of a function that answers a method: the request, whose type is that of its revision, and then up to
/// seven [extractors](FromCall).
#[diagnostic::on_unimplemented(
    message = "`{Self}` aren't the parameters of a function that answers a method",
    note = "the first parameter is a request of one revision, and the others are extractors; their types are written out in a closure"
)]
pub trait MethodParameters: Sized + Send {
    /// The request.
    type Request: Request<Result: Serialize> + Validate + Send + 'static;

    /// Declares the requirements of the extractors.
    fn declare(signature: &mut Signature);

    /// Extracts the parameters after the request.
    fn extract(request: Self::Request, call: &Call) -> impl Future<Output = Result<Self, ToolError>> + Send;
}

/// The impl for functions with these parameters.
macro_rules! method_parameters {
    () => {};
    ($request:ident $($member:ident)*) => {
        impl<$request, $($member: FromCall),*> MethodParameters for ($request, $($member,)*)
        where
            $request: Request<Result: Serialize> + Validate + Send + 'static,
        {
            type Request = $request;

            fn declare(_signature: &mut Signature) {
                $($member::declare(_signature);)*
            }

            async fn extract(request: $request, _call: &Call) -> Result<Self, ToolError> {
                Ok((request, $($member::from_call(_call).await?,)*))
            }
        }
    };
}

for_each_tuple!(method_parameters);

/// The return type of a function that answers a method: a `Result`, or a future of one. Its error is any type that
/// becomes a [`ToolError`].
#[diagnostic::on_unimplemented(
    message = "a function that returns `{Self}` can't answer a method whose result is `{R}`",
    note = "it has to return a `Result<{R}, _>` or a future of one; the error is any type that is `Into<Box<dyn Error + Send + Sync>>`"
)]
pub trait MethodReturns<R, M> {
    /// The future of the result.
    fn into_future(self) -> impl Future<Output = Result<R, ToolError>> + Send;
}

impl<R: Send, E: Into<BoxError>> MethodReturns<R, Immediate> for Result<R, E> {
    fn into_future(self) -> impl Future<Output = Result<R, ToolError>> + Send {
        ready(self.map_err(ToolError::from_any))
    }
}

impl<R, E: Into<BoxError>, F: Future<Output = Result<R, E>> + Send> MethodReturns<R, Awaited> for F {
    async fn into_future(self) -> Result<R, ToolError> {
        self.await.map_err(ToolError::from_any)
    }
}

/// A method that only one revision has, and the function that answers it.
#[derive(Clone)]
pub(super) struct MethodRoute {
    pub(super) name: &'static str,
    pub(super) revision: Revision,
    /// The capability that it needs, as server capabilities with only this member.
    pub(super) capability: Option<Value>,
    pub(super) function: BoxedFunction<RawJson>,
}

impl MethodRoute {
    /// A route from a function whose parameters and results are JSON of the revision; `None` if a route can't have this
    /// method.
    pub(super) fn raw<F>(
        revision: Revision,
        name: &'static str,
        capabilities: Value,
        answer: impl Fn(Value, Call) -> F + Send + Sync + 'static,
    ) -> Option<Self>
    where
        F: Future<Output = Result<RawJson, ErrorObject>> + Send + 'static,
    {
        check(revision, name).ok()?;
        let function = BoxedFunction::of(Signature::default(), move |call| {
            let request: Option<&UnknownMethod> = call.other_input();
            let params = request.and_then(|request| Some(request.params.as_ref()?.parse_value()));
            let answered = params
                .transpose()
                .map(|params| answer(params.unwrap_or_else(|| json!({})), call));
            Box::pin(async move { Ok(answered.map_err(invalid_params)?.await?) })
        });
        Some(Self {
            name,
            revision,
            capability: Some(capabilities),
            function,
        })
    }

    pub(super) fn new<A, M, F>(function: F) -> Result<Self, RouteError>
    where
        A: MethodParameters + 'static,
        F: Callable<A, Output: MethodReturns<<A::Request as Request>::Result, M>>,
    {
        let name = A::Request::METHOD;
        let refused = |what| RouteError::Method {
            method: name,
            revision: A::Request::schema().revision(),
            what,
        };
        let revision = A::Request::schema().revision().parse();
        let revision: Revision = revision.map_err(|_| refused("this build has no such revision"))?;
        check(revision, name).map_err(refused)?;
        let path = revision.method(name).and_then(|method| method.capability);
        let mut signature = Signature::default();
        A::declare(&mut signature);
        let function = Arc::new(function);
        let function = BoxedFunction::of(signature, move |call| {
            let function = Arc::clone(&function);
            Box::pin(async move {
                let Some(request) = call.other_input::<UnknownMethod>() else {
                    return Err(internal_error("no method is called").into());
                };
                let request = request.decode_as().map_err(invalid_params)?;
                let parameters = A::extract(request, &call).await?;
                let result = function.invoke(parameters).into_future().await?;
                Ok(RawJson::from_serialize(&result).map_err(internal_error)?)
            })
        });
        Ok(Self {
            name,
            revision,
            capability: path.and_then(|path| capability(revision, path)),
            function,
        })
    }
}

/// Checks that a function for one revision can answer a method; the error is the reason why it can't.
fn check(revision: Revision, name: &str) -> Result<(), &'static str> {
    let method = revision.method(name);
    if !method.is_some_and(|method| method.direction.from_client()) {
        return Err("clients of the revision don't call it");
    }
    let lifecycle = revision.lifecycle();
    let internal = [
        lifecycle.begin,
        lifecycle.discover,
        lifecycle.listen,
        lifecycle.ping,
        lifecycle.set_level,
        lifecycle.subscribe,
        lifecycle.unsubscribe,
    ];
    if internal.contains(&Some(name)) {
        return Err("sessions answer it themselves");
    }
    match Revision::HUB.method(Revision::HUB.name_of_method(revision, name)) {
        Some(_) => Err("the handlers for clients of every revision answer it"),
        None => Ok(()),
    }
}

/// Server capabilities with only the member at a path. Its value is an empty object, or `true` if the revision requires
/// that.
fn capability(revision: Revision, path: &str) -> Option<Value> {
    let nested = |value| path.rsplit('.').fold(value, |inner, member| json!({ member: inner }));
    let values = [Value::from(Map::new()), Value::Bool(true)].map(nested);
    values
        .into_iter()
        .find(|capabilities| revision.read_server_capabilities(&capabilities.into()).is_ok())
}
