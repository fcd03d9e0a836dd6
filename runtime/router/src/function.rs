//! Functions that a router calls: they take extractors, and return a value or a future of one.

use std::fmt;
use std::future::{Future, Ready, ready};
use std::sync::Arc;

use mcp_runtime_util::BoxFuture;
pub use mcp_runtime_util::{Awaited, Immediate};
use serde_json::Value;

use super::call::{Call, Input};
use super::error::RouteError;
use super::extract::{FromCall, Signature};
use super::result::IntoResult;
use super::scope::Scope;
use super::state::States;
use super::tool_error::ToolError;

/// A function, async or not, whose parameters are [extractors](FromCall) and whose return value becomes a `T`
/// ([`IntoResult`]), such as an [`AnyCallToolResult`](mcp_runtime_core::hub::AnyCallToolResult). `M` is inferred from
/// the function.
///
/// All such functions implement this trait; there is nothing to implement by hand.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a function that a router can call for a `{T}`",
    note = "a router calls `Send + Sync + 'static` functions with up to eight parameters, whose types are written out in a closure"
)]
pub trait Function<T, M>: Send + Sync + 'static {
    /// Declares the requirements of the extractors.
    fn declare(signature: &mut Signature);

    /// The schema of the structured content that the function returns, if any.
    fn output_schema() -> Option<Value>;

    /// The name of the Rust type that the function returns.
    fn output_type() -> &'static str;

    /// Whether it, or its result, may request input from the client.
    fn needs_round() -> bool;

    /// Whether its result may request input from the client.
    fn may_request_input() -> bool;

    /// Extracts the arguments, and calls the function.
    fn call(&self, call: Call) -> impl Future<Output = Result<T, ToolError>> + Send;
}

impl<F, A, T, M> Function<T, (A, M)> for F
where
    F: Callable<A>,
    A: FromCall,
    F::Output: Returns<T, M>,
    <F::Output as Returns<T, M>>::Future: Send,
{
    fn declare(signature: &mut Signature) {
        A::declare(signature);
    }

    fn output_schema() -> Option<Value> {
        <F::Output as Returns<T, M>>::Output::output_schema()
    }

    fn output_type() -> &'static str {
        std::any::type_name::<<F::Output as Returns<T, M>>::Output>()
    }

    fn needs_round() -> bool {
        A::MAY_REQUEST_INPUT || Self::may_request_input()
    }

    fn may_request_input() -> bool {
        <F::Output as Returns<T, M>>::Output::MAY_REQUEST_INPUT
    }

    async fn call(&self, call: Call) -> Result<T, ToolError> {
        let arguments = A::from_call(&call).await?;
        let result = self.invoke(arguments).into_future().await;
        result.into_result(&call)
    }
}

/// A function whose parameters are the members of the tuple `A`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a function that a router can call",
    note = "a router calls `Send + Sync + 'static` functions with up to eight parameters, whose types are written out in a closure"
)]
pub trait Callable<A>: Send + Sync + 'static {
    /// The return value of the function, or a future of it.
    type Output;

    /// Calls the function.
    fn invoke(&self, arguments: A) -> Self::Output;
}

/// The return type of a function: a value, or a future of one.
#[diagnostic::on_unimplemented(
    message = "a function that returns `{Self}` can't be called for a `{T}`",
    label = "it returns neither a type that can become a `{T}`, nor a future of one",
    note = "a tool returns a type that derives `Serialize` and `JsonSchema` as `Structured`; see \
            `mcp_runtime::router::IntoResult` for all such types; the error of a `Result` is any type that is \
            `Into<Box<dyn Error + Send + Sync>>`"
)]
pub trait Returns<T, M> {
    /// The value.
    type Output: IntoResult<T>;
    /// The future of the value.
    type Future: Future<Output = Self::Output>;

    /// The future of the value.
    fn into_future(self) -> Self::Future;
}

impl<T, R: IntoResult<T>> Returns<T, Immediate> for R {
    type Output = R;
    type Future = Ready<R>;

    fn into_future(self) -> Ready<R> {
        ready(self)
    }
}

impl<T, R: Future<Output: IntoResult<T>>> Returns<T, Awaited> for R {
    type Output = R::Output;
    type Future = R;

    fn into_future(self) -> R {
        self
    }
}

/// The impl for functions with these parameters.
macro_rules! callable {
    ($($parameter:ident)*) => {
        impl<F, R, $($parameter),*> Callable<($($parameter,)*)> for F
        where
            F: Fn($($parameter),*) -> R + Send + Sync + 'static,
        {
            type Output = R;

            #[allow(non_snake_case, reason = "a parameter has the name of its type")]
            fn invoke(&self, ($($parameter,)*): ($($parameter,)*)) -> R {
                self($($parameter),*)
            }
        }
    };
}

super::extract::for_each_tuple!(callable);

/// A function that a router calls, whose type is erased.
type Run<T> = dyn Fn(Call) -> BoxFuture<'static, Result<T, ToolError>> + Send + Sync;

/// A function whose type is erased, with the states of the router that it was added to.
pub(super) struct BoxedFunction<T> {
    run: Arc<Run<T>>,
    pub signature: Arc<Signature>,
    /// The name or URI of its route.
    name: Arc<str>,
    states: States,
    /// The filters and middleware of the routers that it came from.
    pub scope: Scope,
    /// Whether it, or its result, may request input from the client.
    pub needs_round: bool,
    /// Whether its result may request input from the client.
    pub may_request_input: bool,
}

impl<T: 'static> BoxedFunction<T> {
    pub fn new<M, F: Function<T, M>>(function: F) -> Self {
        let mut signature = Signature::default();
        F::declare(&mut signature);
        let function = Arc::new(function);
        let run = move |call| -> BoxFuture<'static, _> {
            let function = Arc::clone(&function);
            Box::pin(async move { function.call(call).await })
        };
        Self {
            needs_round: F::needs_round(),
            may_request_input: F::may_request_input(),
            ..Self::of(signature, run)
        }
    }

    /// Makes one from a function that gets everything it needs from the call.
    pub fn of(
        signature: Signature,
        run: impl Fn(Call) -> BoxFuture<'static, Result<T, ToolError>> + Send + Sync + 'static,
    ) -> Self {
        Self::erased(signature, Arc::new(run))
    }

    fn erased(signature: Signature, run: Arc<Run<T>>) -> Self {
        Self {
            run,
            signature: Arc::new(signature),
            name: Arc::default(),
            states: States::default(),
            scope: Scope::default(),
            needs_round: true,
            may_request_input: true,
        }
    }

    /// Gives it the name or URI of its route, and the states of a router.
    ///
    /// # Errors
    /// When it takes something that its route can't provide.
    pub fn bind(&mut self, kind: &'static str, key: &str, states: &States) -> Result<(), RouteError> {
        self.signature.check(kind, key, states)?;
        self.name = key.into();
        self.states = states.clone();
        Ok(())
    }

    pub fn call(&self, call: Call, input: Input) -> BoxFuture<'static, Result<T, ToolError>> {
        self.run(self.bound(call, input))
    }

    /// Binds a call to the function: adds the input, and the name and states of the function.
    pub fn bound(&self, call: Call, input: Input) -> Call {
        call.of(input, &self.name, &self.states)
    }

    /// Calls the function with a call that has been bound to it.
    pub fn run(&self, call: Call) -> BoxFuture<'static, Result<T, ToolError>> {
        (self.run)(call)
    }

    /// The same function under another name.
    pub fn named(&self, name: &str) -> Self {
        let name = name.into();
        Self { name, ..self.clone() }
    }

    /// Adds the requirements of an extractor.
    pub fn needs<E: FromCall>(&mut self) {
        E::declare(Arc::make_mut(&mut self.signature));
    }
}

impl<T> Clone for BoxedFunction<T> {
    fn clone(&self) -> Self {
        Self {
            run: Arc::clone(&self.run),
            signature: Arc::clone(&self.signature),
            name: Arc::clone(&self.name),
            states: self.states.clone(),
            scope: self.scope.clone(),
            needs_round: self.needs_round,
            may_request_input: self.may_request_input,
        }
    }
}

impl<T> fmt::Debug for BoxedFunction<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.signature.fmt(f)
    }
}
