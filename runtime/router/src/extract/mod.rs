//! Extractors: the parameters of functions of a router.

mod args;
mod context;
mod signature;
mod state;
mod text;

use std::future::Future;

use super::call::Call;
use super::tool_error::ToolError;

pub use self::args::Args;
pub(super) use self::args::invalid_tool_arguments;
pub use self::context::{Extension, Meta, Name, ProgressReporter, Uri};
pub use self::signature::Signature;
pub use self::state::State;

/// A type that a function of a router can take as a parameter, whose value is extracted from the call.
///
/// - [`Args<T>`](Args): the arguments of a tool or prompt, the variables of a resource template
/// - [`State<T>`](State): a value of the server
/// - [`Call`]: the whole call, with methods for input requests to the client, logging and progress
/// - [`Peer<ServerSide>`](mcp_runtime_core::Peer): the client
/// - [`Meta`]: the request's `_meta`, such as its trace context
/// - [`HeaderMap`](http::HeaderMap): the headers of the HTTP request; empty with other transports
/// - [`Extension<T>`](Extension): a value that the transport or its middleware attached to the request, such as the
///   user
/// - [`Principal`](mcp_runtime_core::transport::Principal): the principal on whose behalf the client calls
/// - [`ProgressReporter`], and [`CancellationToken`](tokio_util::sync::CancellationToken) for tasks that the function
///   spawns
/// - [`Form<T>`](super::Form): a form that the user can be asked to fill in
/// - [`Uri`]: the URI of the resource that is read
/// - [`CompletionRequest`](super::CompletionRequest): the text that the user has typed so far
///
/// An extractor of your own:
///
/// ```
/// use mcp_runtime::Router;
/// use mcp_runtime::router::{Call, FromCall, Signature, State, ToolError};
///
/// #[derive(Clone)]
/// struct Users(Vec<String>);
///
/// /// The first user.
/// struct Admin(String);
///
/// impl FromCall for Admin {
///     fn declare(signature: &mut Signature) {
///         State::<Users>::declare(signature);
///     }
///
///     async fn from_call(call: &Call) -> Result<Self, ToolError> {
///         let State(Users(names)) = State::from_call(call).await?;
///         names.into_iter().next().map(Self).ok_or_else(|| ToolError::tool("there are no users"))
///     }
/// }
///
/// let router = Router::new("users", "1.0")
///     .with_state(Users(vec!["ada".to_owned()]))
///     .tool("admin", "Names the administrator", |Admin(name): Admin| name);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be a parameter of a function that a router calls",
    label = "it isn't an extractor",
    note = "arguments are `Args<{Self}>`, a value of the server is `State<{Self}>`; see `mcp_runtime::router::FromCall` for all \
            extractors, and implement it for one of your own"
)]
pub trait FromCall: Sized + Send + 'static {
    /// Whether the client can be asked for input while the value is extracted, or by the value. An extractor that can't
    /// do this can set it to `false`: calls of functions with only such parameters cost less.
    const MAY_REQUEST_INPUT: bool = true;

    /// Declares the extractor's requirements, which are checked when a route is added to a router. By default there are
    /// none.
    fn declare(signature: &mut Signature) {
        let _ = signature;
    }

    /// Extracts the value from the call.
    ///
    /// # Errors
    /// An error becomes that of the call, and the function isn't called.
    fn from_call(call: &Call) -> impl Future<Output = Result<Self, ToolError>> + Send;
}

/// Calls a macro once for each number of parameters of a function, up to eight.
macro_rules! for_each_tuple {
    ($macro:ident) => {
        $macro!();
        $macro!(T1);
        $macro!(T1 T2);
        $macro!(T1 T2 T3);
        $macro!(T1 T2 T3 T4);
        $macro!(T1 T2 T3 T4 T5);
        $macro!(T1 T2 T3 T4 T5 T6);
        $macro!(T1 T2 T3 T4 T5 T6 T7);
        $macro!(T1 T2 T3 T4 T5 T6 T7 T8);
    };
}
pub(super) use for_each_tuple;

/// The impl for a tuple of extractors.
macro_rules! from_call {
    ($($member:ident)*) => {
        impl<$($member: FromCall),*> FromCall for ($($member,)*) {
            const MAY_REQUEST_INPUT: bool = false $(|| $member::MAY_REQUEST_INPUT)*;

            fn declare(_signature: &mut Signature) {
                $($member::declare(_signature);)*
            }

            async fn from_call(_call: &Call) -> Result<Self, ToolError> {
                Ok(($($member::from_call(_call).await?,)*))
            }
        }
    };
}

for_each_tuple!(from_call);
