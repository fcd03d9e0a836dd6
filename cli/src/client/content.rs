//! Content blocks as text for people.

use mcp_runtime::hub::{AnyResourceContents, ContentBlock};

use crate::plain::plain;
use crate::text::one_line;

/// A content block as text. Binary content is described.
pub fn shown(block: &ContentBlock) -> String {
    match block {
        ContentBlock::Text(content) => plain(&content.text),
        ContentBlock::Image(content) => binary("image", &content.mime_type, &content.data),
        ContentBlock::Audio(content) => binary("audio", &content.mime_type, &content.data),
        ContentBlock::ResourceLink(link) => format!("[link to {} {}]", one_line(&link.name), one_line(&link.uri)),
        ContentBlock::Resource(embedded) => match &embedded.resource {
            AnyResourceContents::Text(contents) => plain(&contents.text),
            AnyResourceContents::Blob(contents) => binary(
                "resource",
                contents.mime_type.as_deref().unwrap_or_default(),
                &contents.blob,
            ),
        },
        // All other blocks, also of later revisions, are shown as JSON.
        other => plain(&serde_json::to_string(other).unwrap_or_default()),
    }
}

fn binary(kind: &str, mime_type: &str, base64: &str) -> String {
    format!("[{kind} {}, {} bytes of base64]", one_line(mime_type), base64.len())
}
