//! What the rules between 2025-06-18 and 2025-11-25 do that takes more than a line.

use mcp_convert::{close, open};
use mcp_wire::OpenObject;

use crate::{Conversion, LossKind, Unrepresentable, v2025_06_18 as earlier, v2025_11_25 as later};

/// Forms are all that the earlier revision's capability means; a client with another way alone has none.
pub(crate) fn elicitation_capability(
    capability: Option<later::ClientCapabilitiesElicitation>,
    conversion: &mut Conversion,
    rule: &'static str,
) -> Result<Option<OpenObject>, Unrepresentable> {
    let Some(capability) = capability else {
        return Ok(None);
    };
    if conversion.carries() {
        return close(&open(&capability)?).map(Some);
    }
    if capability.form.is_none() && capability.url.is_some() {
        conversion.lose(LossKind::Dropped, rule);
        return Ok(None);
    }
    if capability.form.is_some() {
        conversion.lose_member("form", LossKind::Dropped, rule);
    }
    if capability.url.is_some() {
        conversion.lose_member("url", LossKind::Dropped, rule);
    }
    let rest = later::ClientCapabilitiesElicitation {
        form: None,
        url: None,
        extra: capability.extra,
    };
    close(&open(&rest)?).map(Some)
}

/// A message with several pieces of content becomes as many messages of the same role.
pub(crate) fn split_messages(
    messages: Vec<later::SamplingMessage>,
    conversion: &mut Conversion,
    rule: &'static str,
) -> Result<Vec<earlier::SamplingMessage>, Unrepresentable> {
    let mut split = Vec::with_capacity(messages.len());
    for (index, message) in messages.into_iter().enumerate() {
        conversion.within_element(index, |conversion| {
            let later::SamplingContent::List(blocks) = message.content else {
                split.push(conversion.convert(message)?);
                return Ok(());
            };
            conversion.lose_member("content", LossKind::Replaced, rule);
            for block in blocks {
                split.push(conversion.convert(later::SamplingMessage {
                    content: alone(block),
                    role: message.role.clone(),
                    meta: message.meta.clone(),
                    extra: message.extra.clone(),
                })?);
            }
            Ok(())
        })?;
    }
    Ok(split)
}

/// An answer of one piece is that piece, and an answer of several texts is one text.
pub(crate) fn single_content(
    content: later::SamplingContent,
    conversion: &mut Conversion,
    rule: &'static str,
) -> Result<earlier::SamplingContent, Unrepresentable> {
    let later::SamplingContent::List(mut blocks) = content else {
        return conversion.convert(content);
    };
    conversion.lose(LossKind::Replaced, rule);
    if blocks.len() == 1
        && let Some(block) = blocks.pop()
    {
        return conversion.convert(alone(block));
    }
    let texts = blocks.into_iter().map(|block| match block {
        later::SamplingMessageContentBlock::Text(text) => Some(text.text),
        _ => None,
    });
    match texts.collect::<Option<Vec<String>>>() {
        Some(texts) if !texts.is_empty() => Ok(earlier::TextContent::new(texts.join("\n")).into()),
        _ => {
            let because = "the peer's revision has one piece of content in an answer, and these can't be joined";
            Err(Unrepresentable::new(
                mcp_wire::error_code::INVALID_PARAMS,
                because,
                rule,
            ))
        }
    }
}

/// A piece of content without the list around it.
fn alone(block: later::SamplingMessageContentBlock) -> later::SamplingContent {
    use later::SamplingMessageContentBlock as Block;
    match block {
        Block::Text(content) => content.into(),
        Block::Image(content) => content.into(),
        Block::Audio(content) => content.into(),
        Block::ToolUse(content) => content.into(),
        Block::ToolResult(content) => content.into(),
        Block::Unknown(content) => later::SamplingContent::Unknown(content),
    }
}
