//! The comparison with upstream as text and as Markdown.

use std::fmt::Write as _;

use mcp_codegen::EmitError;

use super::{Item, State};

/// A line for each item, and one for each change of the protocol.
pub fn text(items: &[Item]) -> String {
    let mut text = String::new();
    for Item { kind, name, state } in items {
        let _ = match state {
            State::Same => writeln!(text, "same     {kind} {name}"),
            State::Changed { ours, theirs, .. } => writeln!(text, "changed  {kind} {name}: {ours} -> {theirs}"),
            State::Unread { why } => writeln!(text, "unread   {kind} {name}: {}", first_line(why)),
        };
        if let State::Changed { diff: Some(diff), .. } = state {
            for change in &diff.changes {
                let _ = writeln!(text, "         `{}`: {}", change.name, change.description());
            }
        }
    }
    text
}

/// A table of the items that aren't the same, and the changes of each schema.
pub fn markdown(items: &[Item]) -> Result<String, EmitError> {
    let same = items.iter().filter(|item| matches!(item.state, State::Same)).count();
    let mut text = format!("{same} of {} are unchanged.\n", items.len());
    if same < items.len() {
        text += "\n| | Name | Here | Upstream |\n|---|---|---|---|\n";
    }
    for Item { kind, name, state } in items {
        let _ = match state {
            State::Same => Ok(()),
            State::Changed { ours, theirs, .. } => writeln!(text, "| {kind} | {name} | {ours} | {theirs} |"),
            State::Unread { why } => writeln!(text, "| {kind} | {name} | – | couldn't be read: {} |", first_line(why)),
        };
    }
    for item in items {
        if let State::Changed { diff: Some(diff), .. } = &item.state {
            let _ = write!(text, "\n{}", diff.markdown()?);
        }
    }
    Ok(text)
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}
