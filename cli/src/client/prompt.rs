//! `mcp-rev prompt`

use mcp_runtime::hub::GetPromptRequestParams;
use mcp_runtime::{CallServer, ClientSide, Peer};

use super::arguments::texts;
use super::{ResultWriter, content, with_server};
use crate::args::PromptArgs;
use crate::error::{CommandError, Summary};
use crate::paint::Paint;

/// Gets a prompt, and prints its messages.
pub fn prompt(args: &PromptArgs, output: impl Paint) -> Result<Summary, CommandError> {
    with_server(&args.client, output, async |peer, shown| {
        prompt_with(peer, &args.name, &args.pairs, shown).await
    })
}

/// Gets a prompt in a session, and prints its messages.
pub async fn prompt_with(
    peer: &Peer<ClientSide>,
    name: &str,
    pairs: &[(String, String)],
    shown: &mut ResultWriter<'_>,
) -> Result<Summary, CommandError> {
    let mut params = GetPromptRequestParams::new(name);
    if !pairs.is_empty() {
        params = params.with_arguments(texts(pairs)?);
    }
    let result = peer.get_prompt(params).await?;
    shown.write(&result, |result, output| {
        let mut messages = result.messages.iter();
        messages.try_for_each(|message| writeln!(output, "{}: {}", message.role, content::shown(&message.content)))
    })?;
    Ok(Summary::AllSucceeded)
}
