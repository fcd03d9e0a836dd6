//! `mcp-rev complete`

use std::io;

use mcp_runtime::CallServer;
use mcp_runtime::hub::{
    CompleteRequestParams, CompleteRequestParamsArgument, CompleteRequestParamsContext, CompleteResult,
    CompletionReference, PromptReference, ResourceTemplateReference,
};

use super::arguments::texts;
use super::with_server;
use crate::args::CompleteArgs;
use crate::error::{CommandError, Summary};
use crate::paint::Paint;
use crate::text::{one_line, say};

/// Prints the values that a server suggests.
pub fn complete(args: &CompleteArgs, output: impl Paint) -> Result<Summary, CommandError> {
    let reference = match (&args.prompt, &args.template) {
        (Some(name), _) => CompletionReference::Prompt(PromptReference::new(name)),
        (None, template) => {
            let template = ResourceTemplateReference::new(template.clone().unwrap_or_default());
            CompletionReference::ResourceTemplate(template)
        }
    };
    let (name, value) = &args.typed;
    let mut params = CompleteRequestParams::new(CompleteRequestParamsArgument::new(name, value), reference);
    if !args.pairs.is_empty() {
        let known = texts(&args.pairs)?;
        params.context = Some(CompleteRequestParamsContext::default().with_arguments(known));
    }
    with_server(&args.client, output, async |peer, shown| {
        let result = peer.complete(params).await?;
        shown.write(&result, write_text)?;
        Ok(Summary::AllSucceeded)
    })
}

fn write_text(result: &CompleteResult, output: &mut dyn Paint) -> io::Result<()> {
    for value in &result.completion.values {
        writeln!(output, "{}", one_line(value))?;
    }
    if result.completion.has_more == Some(true) {
        say("[more] the server has more values than these");
    }
    Ok(())
}
