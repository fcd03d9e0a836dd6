//! The URIs of resources in results.

use mcp_adapters::hub::{self, AnyResourceContents, ContentBlock, ServerResult};

/// A result that can contain URIs of its server's resources.
#[doc(hidden)]
pub trait Links: Send {
    /// Returns the URIs.
    fn links(&mut self) -> Vec<&mut String>;
}

impl Links for hub::CallToolResult {
    fn links(&mut self) -> Vec<&mut String> {
        self.content.iter_mut().filter_map(of_block).collect()
    }
}

impl Links for hub::GetPromptResult {
    fn links(&mut self) -> Vec<&mut String> {
        let messages = self.messages.iter_mut();
        messages.filter_map(|message| of_block(&mut message.content)).collect()
    }
}

impl Links for hub::ReadResourceResult {
    fn links(&mut self) -> Vec<&mut String> {
        self.contents.iter_mut().map(of_contents).collect()
    }
}

impl Links for ServerResult {
    fn links(&mut self) -> Vec<&mut String> {
        match self {
            Self::CallTool(result) => result.links(),
            Self::GetPrompt(result) => result.links(),
            Self::ReadResource(result) => result.links(),
            _ => Vec::new(),
        }
    }
}

fn of_block(block: &mut ContentBlock) -> Option<&mut String> {
    match block {
        ContentBlock::ResourceLink(link) => Some(&mut link.uri),
        ContentBlock::Resource(embedded) => Some(of_contents(&mut embedded.resource)),
        _ => None,
    }
}

fn of_contents(contents: &mut AnyResourceContents) -> &mut String {
    match contents {
        AnyResourceContents::Text(text) => &mut text.uri,
        AnyResourceContents::Blob(blob) => &mut blob.uri,
    }
}
