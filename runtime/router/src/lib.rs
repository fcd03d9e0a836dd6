//! Servers made of tools, resources and prompts, which are typed functions.

mod ask;
mod caching;
mod call;
mod catalogue;
mod changes;
mod completion;
mod compose;
mod content;
mod custom;
mod entry;
mod error;
mod extended;
mod extension;
mod extensions;
mod extract;
mod fallback;
mod faults;
mod function;
mod handler;
mod list;
mod member_order;
mod method;
mod methods;
pub mod middleware;
mod mirrored;
mod prompt;
mod resource;
mod result;
mod route;
mod router;
mod routes;
mod schema;
mod scope;
mod serve;
mod shared;
mod source;
mod sources;
mod state;
mod target;
mod template;
mod tool;
mod tool_error;
mod tool_schema;
mod uri;
mod uri_template;

// rustfmt doesn't look for modules in macros.
#[cfg(rustfmt)]
mod completer;

if_hub_has! { CompleteRequest {
    mod completer;

    pub use self::completer::{CompletionRequest, MAX_VALUES};
} }

use mcp_adapters::if_hub_has;

pub use self::ask::{Answer, Form};
pub use self::call::Call;
pub use self::content::{Structured, audio, image};
pub use self::entry::ListEntry;
pub use self::error::RouteError;
#[doc(hidden)]
pub use self::extended::{NotTranslated, to_extended, to_hub};
pub use self::extension::{CoreMethods, ExtensionSubscription, ServerExtension, undeclared_extension};
pub use self::extract::{Args, Extension, FromCall, Meta, Name, ProgressReporter, Signature, State, Uri};
pub use self::function::{Awaited, Callable, Function, Immediate, Returns};
pub use self::method::{MethodParameters, MethodReturns};
pub use self::prompt::{PromptRoute, prompt};
pub use self::resource::{ResourceRoute, resource};
pub use self::result::{Blob, IntoResult};
pub use self::route::Route;
pub use self::router::Router;
pub use self::shared::ChangeStore;
pub use self::template::{TemplateRoute, resource_template};
pub use self::tool::{ToolRoute, ToolRun, description, tool, tool_with_schema, try_tool};
pub use self::tool_error::{ToolError, resource_not_found};
