//! `mcp-rev listen`

use futures_util::StreamExt;
use mcp_runtime::{Change, ChangeFilter};
use serde_json::json;

use super::block_on;
use super::connection::connect;
use crate::args::{Format, ListenArgs};
use crate::error::{CommandError, Summary};
use crate::paint::Paint;
use crate::text::say;

/// Prints each change until the server ends, or until an interrupt.
pub fn listen(args: &ListenArgs, mut output: impl Paint) -> Result<Summary, CommandError> {
    block_on(async {
        let session = connect(&args.server, (), None, args.server.timeout(false)).await?;
        let resources = args.resources.iter();
        let filter = resources.fold(ChangeFilter::lists(), |filter, uri| filter.with_resource(uri));
        let mut changes = session.peer().changes(filter).await?;
        say(&format!("[listening] {}", agreed(&changes.acknowledged())));
        loop {
            let change = tokio::select! {
                change = changes.next() => change,
                interrupted = tokio::signal::ctrl_c() => {
                    interrupted?;
                    None
                }
            };
            let Some(change) = change.transpose()? else { break };
            writeln!(output, "{}", line(&change, args.format))?;
            output.flush()?;
        }
        drop(changes);
        session.close().await;
        Ok(Summary::AllSucceeded)
    })
}

/// The changes of which the server has agreed to notify.
fn agreed(filter: &ChangeFilter) -> String {
    let lists = [
        (filter.tool_list, "tools"),
        (filter.prompt_list, "prompts"),
        (filter.resource_list, "resources"),
    ];
    let lists = lists.iter().filter(|(is_agreed, _)| *is_agreed).map(|(_, list)| *list);
    let all: Vec<&str> = lists.chain(filter.resources.iter().map(String::as_str)).collect();
    match all.is_empty() {
        true => "the server notifies of no changes".to_owned(),
        false => all.join(", "),
    }
}

fn line(change: &Change, format: Format) -> String {
    let (what, uri) = match change {
        Change::ToolList => ("tools", None),
        Change::PromptList => ("prompts", None),
        Change::ResourceList => ("resources", None),
        Change::Resource(uri) => ("resource", Some(uri)),
    };
    match (format, uri) {
        (Format::Text, None) => what.to_owned(),
        (Format::Text, Some(uri)) => format!("{what} {}", crate::plain::plain(uri)),
        (Format::Json, None) => json!({"changed": what}).to_string(),
        (Format::Json, Some(uri)) => json!({"changed": what, "uri": uri.as_ref()}).to_string(),
    }
}
