//! Servers whose tools have views.

use mcp_ext_apps::{EXTENSION, McpUiClientCapabilities, McpUiToolMeta, McpUiToolVisibility};
use mcp_runtime_core::ErrorObject;
use mcp_runtime_core::error_code;
use mcp_runtime_core::mcp_wire::{Extension, RawJson};
use mcp_runtime_router::{Call, ServerExtension, ToolRoute};
use serde_json::Value;

use crate::{MIME_TYPE, key};

/// The extension of a server: [`Router::extension`](mcp_runtime_router::Router::extension) takes it. It adds no methods
/// to the server: those of the extension are between a view and its host.
#[derive(Debug, Clone, Copy, Default)]
pub struct Apps;

impl ServerExtension for Apps {
    fn extension(&self) -> Extension {
        Extension {
            methods: &[],
            ..EXTENSION
        }
    }

    async fn answer(&self, method: &'static str, _: Value, _: Call) -> Result<RawJson, ErrorObject> {
        Err(ErrorObject::new(
            error_code::METHOD_NOT_FOUND,
            format!("Unknown method: {method}"),
        ))
    }
}

/// Tools with views.
pub trait ToolView: Sized {
    /// Sets the view that hosts show for the tool: the URI of a [`ui_resource`](crate::ui_resource).
    #[must_use]
    fn ui(self, uri: impl Into<String>) -> Self;

    /// Sets the view, and lets only the view use the tool: hosts don't show the tool to the model.
    #[must_use]
    fn ui_only(self, uri: impl Into<String>) -> Self;
}

impl ToolView for ToolRoute {
    fn ui(self, uri: impl Into<String>) -> Self {
        with_view(self, &McpUiToolMeta::default().with_resource_uri(uri))
    }

    fn ui_only(self, uri: impl Into<String>) -> Self {
        let view = McpUiToolMeta::default().with_resource_uri(uri);
        with_view(self, &view.with_visibility(vec![McpUiToolVisibility::App]))
    }
}

fn with_view(tool: ToolRoute, view: &McpUiToolMeta) -> ToolRoute {
    match RawJson::from_encode(view) {
        Ok(view) => tool.meta(key("Tool"), view),
        // Encoding fails only for a number that JSON can't represent, and a view has none.
        Err(_) => tool,
    }
}

/// Whether the client of a call shows views.
pub trait ShowsViews {
    /// Whether the client has declared that it shows views, so that a tool can leave out text that its view shows.
    fn shows_views(&self) -> bool;
}

impl ShowsViews for Call {
    fn shows_views(&self) -> bool {
        let capabilities = self.peer_info().map(|info| info.client_capabilities());
        let extensions = capabilities.and_then(|capabilities| capabilities.extensions);
        let settings = extensions.and_then(|extensions| extensions.get(EXTENSION.id).cloned());
        let settings = settings.map(RawJson::from);
        let settings = settings.and_then(|settings| settings.decode_as::<McpUiClientCapabilities>().ok());
        let types = settings.and_then(|settings| settings.mime_types);
        types.is_some_and(|types| types.iter().any(|shown| shown == MIME_TYPE))
    }
}
