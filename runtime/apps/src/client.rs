//! Clients that show views.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mcp_ext_apps::{EXTENSION, McpUiClientCapabilities, McpUiResourceMeta, McpUiToolMeta};
use mcp_runtime_core::mcp_wire::{RawJson, RawObject};
use mcp_runtime_core::{CallError, CallServer, Client, ClientSide, Peer, hub};

use crate::{MIME_TYPE, content_security_policy, key};

/// Clients that show views.
pub trait HostViews {
    /// Declares that the client shows views.
    #[must_use]
    fn views(self) -> Self;
}

impl HostViews for Client {
    fn views(self) -> Self {
        self.capabilities(|capabilities| {
            let settings = McpUiClientCapabilities::default().with_mime_types(vec![MIME_TYPE.to_owned()]);
            let settings = RawJson::from_encode(&settings).map(RawObject::from).unwrap_or_default();
            let extensions = capabilities.extensions.get_or_insert_default();
            extensions.insert(EXTENSION.id, settings);
        })
    }
}

/// The reason why there is no view to show.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ViewError {
    /// The resource can't be read.
    #[error(transparent)]
    Call(#[from] CallError),
    /// The resource isn't a view.
    #[error("`{uri}` isn't a view: {what}")]
    NotAView {
        /// The URI of the resource.
        uri: String,
        /// The reason.
        what: String,
    },
}

/// A view, to be shown in a frame that denies everything that its policy doesn't allow.
#[derive(Debug, Clone, PartialEq)]
pub struct View {
    /// The document.
    pub html: String,
    /// The view's requirements for its frame.
    pub meta: McpUiResourceMeta,
}

impl View {
    /// Returns the `Content-Security-Policy` of the frame.
    #[must_use]
    pub fn policy(&self) -> String {
        content_security_policy(self.meta.csp.as_ref())
    }
}

/// Reads the views of a server.
pub trait ReadViews {
    /// Reads the view of a tool; `None` if it has none.
    ///
    /// # Errors
    /// When the resource can't be read, or isn't a view.
    fn view_of(&self, tool: &hub::Tool) -> impl Future<Output = Result<Option<View>, ViewError>> + Send;
}

impl ReadViews for Peer<ClientSide> {
    async fn view_of(&self, tool: &hub::Tool) -> Result<Option<View>, ViewError> {
        let meta = tool.meta.as_ref().and_then(|meta| meta.get(key("Tool")));
        let meta = meta.and_then(|meta| meta.decode_as::<McpUiToolMeta>().ok());
        let Some(uri) = meta.and_then(|meta| meta.resource_uri) else {
            return Ok(None);
        };
        let read = self.read_resource(hub::ReadResourceRequestParams::new(&uri)).await?;
        let not_a_view = |what: &str| ViewError::NotAView {
            uri: uri.clone(),
            what: what.to_owned(),
        };
        // The document is text, or text in base64.
        let (html, mime_type, meta) = match read.contents.into_iter().next() {
            Some(hub::AnyResourceContents::Text(contents)) => (Some(contents.text), contents.mime_type, contents.meta),
            Some(hub::AnyResourceContents::Blob(contents)) => {
                let bytes = STANDARD.decode(&contents.blob).ok();
                let html = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
                (html, contents.mime_type, contents.meta)
            }
            _ => (None, None, None),
        };
        let html = html.ok_or_else(|| not_a_view("it has no text"))?;
        if mime_type.as_deref() != Some(MIME_TYPE) {
            return Err(not_a_view(&format!("its media type isn't {MIME_TYPE}")));
        }
        let meta = meta.as_ref().and_then(|meta| meta.get(key("TextResourceContents")));
        let meta = meta.map(|meta| meta.decode_as().map_err(|error| not_a_view(&error.to_string())));
        Ok(Some(View {
            html,
            meta: meta.transpose()?.unwrap_or_default(),
        }))
    }
}
