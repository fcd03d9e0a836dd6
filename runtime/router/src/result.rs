//! The return values of a router's functions.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mcp_adapters::hub;
use serde_json::Value;

use super::call::{Call, Input};
use super::tool_error::{BoxError, ToolError, resource_not_found};

/// A value that a function of a router can return, where `T` is the protocol's result.
///
/// | Function of a | `T` | Return value |
/// |---|---|---|
/// | tool | [`AnyCallToolResult`](hub::AnyCallToolResult) | a [`CallToolResult`](hub::CallToolResult), text (`String`, `&'static str`), numbers, a content block such as [`ImageContent`](hub::ImageContent), a `Vec` or a tuple of blocks, [`Structured`](super::Structured), or nothing (`()`) |
/// | prompt | [`GetPromptResult`](hub::GetPromptResult) | text or a content block such as [`ImageContent`](hub::ImageContent) as one message of the user, a [`PromptMessage`](hub::PromptMessage) or a `Vec` of them |
/// | resource or template | [`ReadResourceResult`](hub::ReadResourceResult) | text, bytes ([`Blob`]), a `Vec` of [`AnyResourceContents`](hub::AnyResourceContents) or of one kind of them, or an `Option` of any of these, whose `None` is the error for a resource that doesn't exist |
/// | list | `Vec<`[`Tool`](hub::Tool)`>`, `Vec<`[`Prompt`](hub::Prompt)`>` or `Vec<`[`Resource`](hub::Resource)`>` | that |
/// | notification | `()` | nothing (`()`) |
/// | completion | `Vec<String>` | a `Vec` of strings |
///
/// Each function may also return its `T`, or a `Result` of any of these. The error of a `Result` is any type that
/// becomes a boxed error: any [`Error`](std::error::Error), a `String` or a `&str`. It becomes a [`ToolError`]: an
/// [`ErrorObject`](mcp_runtime_core::ErrorObject) is sent as the error response, and the text of any other error of a
/// tool is sent in a result with `isError`, which the model reads.
#[diagnostic::on_unimplemented(message = "`{Self}` can't become a `{T}`")]
pub trait IntoResult<T> {
    /// Whether a result may request input from the client. A type whose results never do can set this to `false`: then
    /// the runtime keeps no copy of the request while it is handled.
    const MAY_REQUEST_INPUT: bool = true;

    /// The schema of a tool's structured content, if there is any. Its root has to declare that every value is an
    /// object.
    fn output_schema() -> Option<Value> {
        None
    }

    /// Converts the value to the result of this call.
    ///
    /// # Errors
    /// The error that the function returned, or that of a value that can't be converted.
    fn into_result(self, call: &Call) -> Result<T, ToolError>;
}

impl<T, R: IntoResult<T>, E: Into<BoxError>> IntoResult<T> for Result<R, E> {
    const MAY_REQUEST_INPUT: bool = R::MAY_REQUEST_INPUT;

    fn output_schema() -> Option<Value> {
        R::output_schema()
    }

    fn into_result(self, call: &Call) -> Result<T, ToolError> {
        self.map_err(ToolError::from_any)?.into_result(call)
    }
}

impl IntoResult<hub::GetPromptResult> for hub::GetPromptResult {
    fn into_result(self, _: &Call) -> Result<hub::GetPromptResult, ToolError> {
        Ok(self)
    }
}

impl IntoResult<hub::GetPromptResult> for Vec<hub::PromptMessage> {
    fn into_result(self, _: &Call) -> Result<hub::GetPromptResult, ToolError> {
        Ok(hub::GetPromptResult::new(self))
    }
}

impl IntoResult<hub::GetPromptResult> for hub::PromptMessage {
    fn into_result(self, call: &Call) -> Result<hub::GetPromptResult, ToolError> {
        vec![self].into_result(call)
    }
}

impl IntoResult<hub::GetPromptResult> for String {
    fn into_result(self, call: &Call) -> Result<hub::GetPromptResult, ToolError> {
        hub::PromptMessage::new(hub::Role::User, hub::TextContent::new(self)).into_result(call)
    }
}

impl IntoResult<hub::GetPromptResult> for &'static str {
    fn into_result(self, call: &Call) -> Result<hub::GetPromptResult, ToolError> {
        self.to_owned().into_result(call)
    }
}

impl IntoResult<hub::ReadResourceResult> for hub::ReadResourceResult {
    fn into_result(self, _: &Call) -> Result<hub::ReadResourceResult, ToolError> {
        Ok(self)
    }
}

impl<C: Into<hub::AnyResourceContents>> IntoResult<hub::ReadResourceResult> for Vec<C> {
    fn into_result(self, _: &Call) -> Result<hub::ReadResourceResult, ToolError> {
        let contents = self.into_iter().map(Into::into);
        Ok(hub::ReadResourceResult::new(contents.collect()))
    }
}

impl IntoResult<hub::ReadResourceResult> for String {
    fn into_result(self, call: &Call) -> Result<hub::ReadResourceResult, ToolError> {
        let (uri, mime_type) = resource_of(call);
        let mut contents = hub::TextResourceContents::new(self, uri);
        contents.mime_type = mime_type;
        vec![contents].into_result(call)
    }
}

impl IntoResult<hub::ReadResourceResult> for &'static str {
    fn into_result(self, call: &Call) -> Result<hub::ReadResourceResult, ToolError> {
        self.to_owned().into_result(call)
    }
}

/// `None` is the error for a resource that doesn't exist.
impl<R: IntoResult<hub::ReadResourceResult>> IntoResult<hub::ReadResourceResult> for Option<R> {
    fn into_result(self, call: &Call) -> Result<hub::ReadResourceResult, ToolError> {
        match self {
            Some(contents) => contents.into_result(call),
            None => Err(ToolError::Protocol(resource_not_found(&resource_of(call).0))),
        }
    }
}

/// Bytes of a resource that isn't text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Blob(pub Vec<u8>);

impl IntoResult<hub::ReadResourceResult> for Blob {
    fn into_result(self, call: &Call) -> Result<hub::ReadResourceResult, ToolError> {
        let (uri, mime_type) = resource_of(call);
        let mut contents = hub::BlobResourceContents::new(STANDARD.encode(&self.0), uri);
        contents.mime_type = mime_type;
        vec![contents].into_result(call)
    }
}

/// The URI and the media type of the resource that is read.
fn resource_of(call: &Call) -> (String, Option<String>) {
    match call.input() {
        Some(Input::Resource { uri, mime_type, .. }) => (uri.clone(), mime_type.clone()),
        _ => (String::new(), None),
    }
}

impl IntoResult<Self> for Vec<hub::Tool> {
    fn into_result(self, _: &Call) -> Result<Self, ToolError> {
        Ok(self)
    }
}

impl IntoResult<Self> for Vec<hub::Prompt> {
    fn into_result(self, _: &Call) -> Result<Self, ToolError> {
        Ok(self)
    }
}

impl IntoResult<Self> for Vec<hub::Resource> {
    fn into_result(self, _: &Call) -> Result<Self, ToolError> {
        Ok(self)
    }
}

impl<S: Into<String>> IntoResult<Vec<String>> for Vec<S> {
    fn into_result(self, _: &Call) -> Result<Vec<String>, ToolError> {
        Ok(self.into_iter().map(Into::into).collect())
    }
}
