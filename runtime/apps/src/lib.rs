//! Tools with views: the extension `io.modelcontextprotocol/ui`, MCP Apps.
//!
//! A view is an HTML document that a host shows for a tool, in its own frame. A server offers it as a resource, and a
//! tool names it.
//!
//! ```
//! use mcp_runtime::Router;
//! use mcp_runtime::apps::{Apps, ToolView, ui_resource};
//! use mcp_runtime::router::tool;
//!
//! let view = ui_resource("ui://weather/chart", "chart").connects_to(["https://api.example.com"]);
//! let router = Router::new("weather", "1.0")
//!     .extension(Apps)
//!     .with(view.html("<!doctype html><title>Chart</title>"))
//!     .with(tool("weather", "The weather of the week", || "sunny").ui("ui://weather/chart"));
//! ```
//!
//! A host without the extension gets the same results, without the view. [`HostViews`] and [`ReadViews`] are for
//! clients that show views; [`FromView`] and [`ToView`] are the messages between such a client and a view.
//!
//! <https://github.com/modelcontextprotocol/ext-apps>

#![cfg_attr(docsrs, feature(doc_cfg))]

mod client;
mod host;
mod policy;
mod server;
mod view;

pub use mcp_ext_apps;

pub use self::client::{HostViews, ReadViews, View, ViewError};
pub use self::host::{FromView, ToView, tool_input, tool_result};
pub use self::policy::content_security_policy;
pub use self::server::{Apps, ShowsViews, ToolView};
pub use self::view::{NotAView, Permission, UiResource, try_ui_resource, ui_resource};

/// The media type of views.
pub const MIME_TYPE: &str = "text/html;profile=mcp-app";

/// Returns the key of `_meta` under which a type of the protocol has the data of the extension.
fn key(of: &str) -> &'static str {
    let members = mcp_ext_apps::EXTENSION.meta.iter();
    let member = members.clone().find(|member| member.of == of);
    member.map_or("", |member| member.member)
}
