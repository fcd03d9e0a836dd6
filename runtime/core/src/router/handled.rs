//! The results of handlers by their methods.

use mcp_adapters::hub;
use mcp_adapters::mcp_wire::RawJson;

use crate::session::HandlerResult;

/// The result of a method, as one that any handler gives.
pub(super) type Handled = HandlerResult<hub::ServerResult>;

/// The result of a method.
pub(super) trait FromHandled: Sized {
    /// `None` for the result of another method.
    fn from_handled(result: Handled) -> Option<Self>;
}

impl FromHandled for RawJson {
    fn from_handled(result: Handled) -> Option<Self> {
        match result {
            Handled::Custom(result) => Some(result),
            Handled::Declared(_) => None,
        }
    }
}

/// The impls for results of one kind.
macro_rules! only {
    ($($result:ident: $type:ident)*) => {$(
        impl FromHandled for hub::$type {
            fn from_handled(result: Handled) -> Option<Self> {
                match result {
                    Handled::Declared(hub::ServerResult::$result(result)) => Some(result),
                    _ => None,
                }
            }
        }
    )*};
}

/// The impls for results of several kinds, such as one that asks the client for something.
macro_rules! of_several_kinds {
    ($($type:ident)*) => {$(
        impl FromHandled for hub::$type {
            fn from_handled(result: Handled) -> Option<Self> {
                match result {
                    Handled::Declared(result) => result.try_into().ok(),
                    Handled::Custom(_) => None,
                }
            }
        }
    )*};
}

only! {
    Complete: CompleteResult
    ListPrompts: ListPromptsResult
    ListResources: ListResourcesResult
    ListResourceTemplates: ListResourceTemplatesResult
    ListTools: ListToolsResult
}

of_several_kinds!(AnyCallToolResult AnyGetPromptResult AnyReadResourceResult);
