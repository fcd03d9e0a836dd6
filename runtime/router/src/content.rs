//! The results of tools.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mcp_adapters::hub;
use mcp_wire::RawObject;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::call::Call;
use super::result::IntoResult;
use super::schema;
use super::tool_error::ToolError;

/// Structured content, with the schema that `T` derives; clients whose revision has no structured content get it as
/// text. The values of `T` have to be JSON objects. A member that is `None` is written as `null`, which its schema
/// allows, unless serde skips it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Structured<T>(pub T);

impl<T: Serialize + JsonSchema> IntoResult<hub::AnyCallToolResult> for Structured<T> {
    const MAY_REQUEST_INPUT: bool = false;

    fn output_schema() -> Option<Value> {
        Some(schema::output::<T>())
    }

    fn into_result(self, _: &Call) -> Result<hub::AnyCallToolResult, ToolError> {
        match serde_json::to_value(&self.0)? {
            Value::Object(members) => {
                let content = RawObject::from(members);
                let shown = text(content.text().to_owned());
                Ok(shown.with_structured_content(content).into())
            }
            _ => Err(ToolError::tool("the tool's result isn't a JSON object")),
        }
    }
}

impl IntoResult<hub::AnyCallToolResult> for hub::CallToolResult {
    const MAY_REQUEST_INPUT: bool = false;

    fn into_result(self, _: &Call) -> Result<hub::AnyCallToolResult, ToolError> {
        Ok(self.into())
    }
}

/// For example [`AnyCallToolResult::Unknown`](hub::AnyCallToolResult::Unknown): JSON that is a result of the client's
/// revision, and is sent unchanged, such as a task, if the revision or an extension has tasks.
impl IntoResult<hub::AnyCallToolResult> for hub::AnyCallToolResult {
    fn into_result(self, _: &Call) -> Result<hub::AnyCallToolResult, ToolError> {
        Ok(self)
    }
}

impl IntoResult<hub::AnyCallToolResult> for () {
    const MAY_REQUEST_INPUT: bool = false;

    fn into_result(self, _: &Call) -> Result<hub::AnyCallToolResult, ToolError> {
        Ok(hub::CallToolResult::new(Vec::new()).into())
    }
}

impl<B: Into<hub::ContentBlock>> IntoResult<hub::AnyCallToolResult> for Vec<B> {
    const MAY_REQUEST_INPUT: bool = false;

    fn into_result(self, _: &Call) -> Result<hub::AnyCallToolResult, ToolError> {
        Ok(hub::CallToolResult::new(self.into_iter().map(Into::into).collect()).into())
    }
}

/// The impls for content blocks.
macro_rules! blocks {
    ($($block:ident)*) => {$(
        impl IntoResult<hub::AnyCallToolResult> for hub::$block {
            const MAY_REQUEST_INPUT: bool = false;

            fn into_result(self, call: &Call) -> Result<hub::AnyCallToolResult, ToolError> {
                vec![self].into_result(call)
            }
        }

        /// The content of a message from the user.
        impl IntoResult<hub::GetPromptResult> for hub::$block {
            fn into_result(self, call: &Call) -> Result<hub::GetPromptResult, ToolError> {
                hub::PromptMessage::new(hub::Role::User, self).into_result(call)
            }
        }
    )*};
}

blocks!(ContentBlock TextContent ImageContent AudioContent ResourceLink EmbeddedResource);

/// The impls for values that are shown as text.
macro_rules! texts {
    ($($type:ty)*) => {$(
        impl IntoResult<hub::AnyCallToolResult> for $type {
            const MAY_REQUEST_INPUT: bool = false;

            fn into_result(self, _: &Call) -> Result<hub::AnyCallToolResult, ToolError> {
                Ok(text(self.to_string()).into())
            }
        }
    )*};
}

texts!(&'static str bool i32 i64 u32 u64 usize f64);

impl IntoResult<hub::AnyCallToolResult> for String {
    const MAY_REQUEST_INPUT: bool = false;

    fn into_result(self, _: &Call) -> Result<hub::AnyCallToolResult, ToolError> {
        Ok(text(self).into())
    }
}

/// The impls for several blocks of different types.
macro_rules! tuples {
    ($($block:ident)*) => {
        impl<$($block: Into<hub::ContentBlock>),*> IntoResult<hub::AnyCallToolResult> for ($($block),*) {
            const MAY_REQUEST_INPUT: bool = false;

            #[allow(non_snake_case, reason = "a block has the name of its type")]
            fn into_result(self, call: &Call) -> Result<hub::AnyCallToolResult, ToolError> {
                let ($($block),*) = self;
                let blocks: Vec<hub::ContentBlock> = vec![$($block.into()),*];
                blocks.into_result(call)
            }
        }
    };
}

tuples!(B1 B2);
tuples!(B1 B2 B3);
tuples!(B1 B2 B3 B4);

/// A result that is one text.
fn text(text: String) -> hub::CallToolResult {
    hub::CallToolResult::new(vec![hub::TextContent::new(text).into()])
}

/// A picture, such as one of the media type `image/png`.
#[must_use]
pub fn image(bytes: &[u8], mime_type: impl Into<String>) -> hub::ImageContent {
    hub::ImageContent::new(STANDARD.encode(bytes), mime_type)
}

/// A sound, such as one of the media type `audio/wav`.
#[must_use]
pub fn audio(bytes: &[u8], mime_type: impl Into<String>) -> hub::AudioContent {
    hub::AudioContent::new(STANDARD.encode(bytes), mime_type)
}
