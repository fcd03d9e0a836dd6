//! Resources that are views.

use std::borrow::Cow;

use mcp_ext_apps::{McpUiResourceCsp, McpUiResourceMeta, McpUiResourcePermissions};
use mcp_runtime_core::hub;
use mcp_runtime_core::mcp_wire::{Extra, RawJson, RawObject};
use mcp_runtime_router::{ResourceRoute, ToolError};

use crate::{MIME_TYPE, key};

/// The scheme of view URIs.
const SCHEME: &str = "ui://";

/// The error for a URI that isn't that of a view.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{uri}` isn't the URI of a view, which begins with `{SCHEME}`")]
pub struct NotAView {
    /// The URI of the resource.
    pub uri: String,
}

/// A feature of the user's device that a view can use, if the host and the user permit it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Permission {
    /// The camera.
    Camera,
    /// The microphone.
    Microphone,
    /// The location.
    Geolocation,
    /// Writing to the clipboard.
    ClipboardWrite,
}

/// A view, and its requirements for the frame in which a host shows it. The frame denies what the view doesn't request:
/// other origins, and features of the device.
#[derive(Debug, Clone)]
#[must_use]
pub struct UiResource {
    resource: hub::Resource,
    meta: McpUiResourceMeta,
}

/// Creates a view with a URI, which begins with `ui://`, and a name.
///
/// # Panics
/// When [`try_ui_resource`] returns an error.
#[track_caller]
pub fn ui_resource(uri: impl Into<String>, name: impl Into<String>) -> UiResource {
    match try_ui_resource(uri, name) {
        Ok(resource) => resource,
        Err(error) => panic!("{error}"),
    }
}

/// Creates a view with a URI and a name.
///
/// # Errors
/// When the URI doesn't begin with `ui://`.
pub fn try_ui_resource(uri: impl Into<String>, name: impl Into<String>) -> Result<UiResource, NotAView> {
    let uri = uri.into();
    if !uri.starts_with(SCHEME) {
        return Err(NotAView { uri });
    }
    Ok(UiResource {
        resource: hub::Resource::new(name, uri).with_mime_type(MIME_TYPE),
        meta: McpUiResourceMeta::default(),
    })
}

/// A method that adds origins to a list of those that a view requests.
macro_rules! origins {
    ($(#[$documentation:meta])* $name:ident: $member:ident) => {
        $(#[$documentation])*
        pub fn $name<O: Into<String>>(mut self, origins: impl IntoIterator<Item = O>) -> Self {
            let asked = self.policy().$member.get_or_insert_default();
            asked.extend(origins.into_iter().map(Into::into));
            self
        }
    };
}

impl UiResource {
    /// Sets the title, a name for people.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.resource.title = Some(title.into());
        self
    }

    /// Sets the description.
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.resource.description = Some(description.into());
        self
    }

    origins! {
        /// Lets the view send requests to these origins, such as `https://api.example.com`.
        connects_to: connect_domains
    }

    origins! {
        /// Lets the view load scripts, styles, pictures, fonts and media from these origins.
        loads_from: resource_domains
    }

    origins! {
        /// Lets the view embed frames from these origins.
        frames: frame_domains
    }

    origins! {
        /// Lets the base URI of the view's document be at these origins.
        based_at: base_uri_domains
    }

    /// Requests that the view can use a feature of the device.
    pub fn permission(mut self, permission: Permission) -> Self {
        let asked = self
            .meta
            .permissions
            .get_or_insert_with(McpUiResourcePermissions::default);
        let member = match permission {
            Permission::Camera => &mut asked.camera,
            Permission::Microphone => &mut asked.microphone,
            Permission::Geolocation => &mut asked.geolocation,
            Permission::ClipboardWrite => &mut asked.clipboard_write,
        };
        *member = Some(RawObject::default());
        self
    }

    /// Sets whether the view prefers a border around it.
    pub fn border(mut self, prefers_border: bool) -> Self {
        self.meta.prefers_border = Some(prefers_border);
        self
    }

    /// Requests a separate origin for the view, in the form that the host documents.
    pub fn domain(mut self, domain: impl Into<String>) -> Self {
        self.meta.domain = Some(domain.into());
        self
    }

    /// Returns the resource, whose document is always this one.
    #[must_use]
    pub fn html(self, html: impl Into<Cow<'static, str>>) -> ResourceRoute {
        let html = html.into();
        self.read(move || std::future::ready(Ok(html.clone().into_owned())))
    }

    /// Returns the resource, whose document this function creates.
    #[must_use]
    pub fn read<F>(self, html: impl Fn() -> F + Send + Sync + 'static) -> ResourceRoute
    where
        F: Future<Output = Result<String, ToolError>> + Send + 'static,
    {
        let Self { mut resource, meta } = self;
        let meta =
            |of| RawJson::from_encode(&meta).map(|meta| RawObject::from(to_json(&Extra::from([(key(of), meta)]))));
        // Encoding fails only for a number that JSON can't represent, and a view has none.
        let (listed, read) = (meta("Resource").ok(), meta("TextResourceContents").ok());
        resource.meta = listed;
        let uri = resource.uri.clone();
        mcp_runtime_router::resource(resource, move || {
            let (html, uri, meta) = (html(), uri.clone(), read.clone());
            async move {
                let mut contents = hub::TextResourceContents::new(html.await?, uri).with_mime_type(MIME_TYPE);
                contents.meta = meta;
                Ok::<_, ToolError>(vec![contents])
            }
        })
    }

    fn policy(&mut self) -> &mut McpUiResourceCsp {
        self.meta.csp.get_or_insert_with(McpUiResourceCsp::default)
    }
}

fn to_json(members: &Extra) -> RawJson {
    RawJson::from_encode(members).unwrap_or_else(|_| serde_json::json!({}).into())
}
