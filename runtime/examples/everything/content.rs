//! A minimal picture and a minimal sound.

use mcp_runtime::hub::{AudioContent, EmbeddedResource, ImageContent, TextContent, TextResourceContents};

/// A red pixel, as PNG in base64.
pub const PIXEL: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";

/// A WAV file without samples, in base64.
const SILENCE: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=";

pub fn text(text: impl Into<String>) -> TextContent {
    TextContent::new(text)
}

pub fn picture() -> ImageContent {
    ImageContent::new(PIXEL, "image/png")
}

pub fn sound() -> AudioContent {
    AudioContent::new(SILENCE, "audio/wav")
}

pub fn embedded(uri: &str, mime_type: &str, text: &str) -> EmbeddedResource {
    EmbeddedResource::new(TextResourceContents::new(text, uri).with_mime_type(mime_type))
}
