//! The errors of the router's functions.

use std::error::Error;
use std::fmt;

use mcp_adapters::hub;
use mcp_adapters::mcp_wire::{ErrorObject, RawJson};
use mcp_runtime_core::CallError;
use mcp_runtime_core::internal::internal_error;
use serde_json::json;

/// Any error.
pub(super) type BoxError = Box<dyn Error + Send + Sync>;

/// The error of a function of the router: one that the model reads, or an error response.
///
/// `?` converts any error to it: an [`ErrorObject`] becomes an error response, and every other error one that the model
/// reads. So a function that returns `Result<_, ErrorObject>`, `Result<_, String>` or `Result<_, std::io::Error>` needs
/// no `ToolError`. This type is for functions that fail in both ways, and for extractors.
///
/// ```
/// use mcp_runtime::router::{Args, ToolError};
/// use mcp_runtime::{Router, error_code};
/// # #[derive(serde::Deserialize, schemars::JsonSchema)]
/// # struct Sum { a: String, b: String }
///
/// fn add(Args(sum): Args<Sum>) -> Result<i64, ToolError> {
///     let (a, b): (i64, i64) = (sum.a.parse()?, sum.b.parse()?);
///     a.checked_add(b).ok_or_else(|| ToolError::protocol(error_code::INTERNAL_ERROR, "out of range"))
/// }
///
/// let router = Router::new("sums", "1.0").tool("add", "Adds two numbers", add);
/// ```
#[derive(Debug)]
pub enum ToolError {
    /// An error that the model reads: the result of the tool has `isError`, and the text of the error. For a prompt, a
    /// resource or a completion, whose results can't report errors, it is an internal error.
    Tool(Box<dyn Error + Send + Sync>),
    /// An error response, which the model doesn't read.
    Protocol(ErrorObject),
}

impl ToolError {
    /// An error for the model to read.
    pub fn tool(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Tool(error.into())
    }

    /// An error response with a code, one of [`error_code`](mcp_runtime_core::error_code) or of your own.
    pub fn protocol(code: i64, message: impl Into<String>) -> Self {
        Self::Protocol(ErrorObject::new(code, message))
    }

    /// Returns the tool's response: a result that reports that the tool failed, or an error.
    ///
    /// # Errors
    /// That of [`Self::Protocol`].
    pub fn into_result(self) -> Result<hub::AnyCallToolResult, ErrorObject> {
        match self {
            Self::Tool(error) => {
                let text = hub::TextContent::new(error.to_string());
                Ok(hub::CallToolResult::new(vec![text.into()]).with_is_error(true).into())
            }
            Self::Protocol(error) => Err(error),
        }
    }

    pub(super) fn from_any(error: impl Into<BoxError>) -> Self {
        match error.into().downcast() {
            Ok(error) => Self::Protocol(*error),
            Err(error) => Self::Tool(error),
        }
    }
}

impl<E: Error + Send + Sync + 'static> From<E> for ToolError {
    fn from(error: E) -> Self {
        Self::from_any(error)
    }
}

impl From<ToolError> for Box<dyn Error + Send + Sync> {
    fn from(error: ToolError) -> Self {
        match error {
            ToolError::Tool(error) => error,
            ToolError::Protocol(error) => Box::new(error),
        }
    }
}

impl From<ToolError> for ErrorObject {
    fn from(error: ToolError) -> Self {
        match error {
            ToolError::Protocol(error) => error,
            ToolError::Tool(error) => match error.downcast::<CallError>() {
                Ok(error) => Self::from(*error),
                Err(error) => internal_error(error),
            },
        }
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tool(error) => error.fmt(f),
            Self::Protocol(error) => error.fmt(f),
        }
    }
}

/// The error for a resource that doesn't exist, for functions that read the resources of a template. The `None` of an
/// `Option` becomes this error too.
#[must_use]
pub fn resource_not_found(uri: &str) -> ErrorObject {
    let mut error = ErrorObject::new(hub::error_code::RESOURCE_NOT_FOUND, "Resource not found");
    error.data = Some(RawJson::from(json!({"uri": uri})));
    error
}
