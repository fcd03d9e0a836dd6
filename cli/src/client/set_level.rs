//! `mcp-rev set-level`

use mcp_adapters::session_messages;
use mcp_runtime::mcp_wire::UnknownMethod;
use mcp_runtime::{ClientSide, Peer, Revision};

use super::in_session;
use crate::args::SetLevelArgs;
use crate::error::{CommandError, Summary};

/// Sets the level of log messages for a session.
pub fn set_level(args: &SetLevelArgs) -> Result<Summary, CommandError> {
    in_session(&args.server, (), async |peer| {
        set_level_with(peer, args.level.as_str()).await
    })
}

/// Sets the level of log messages in a session.
pub async fn set_level_with(peer: &Peer<ClientSide>, level: &str) -> Result<Summary, CommandError> {
    let revision = peer.revision().unwrap_or(Revision::HUB);
    let (method, params) = session_messages::set_level(revision, level).ok_or_else(|| {
        let reason = format!(
            "revision {revision} has no request that sets the level; --log of other commands goes with each request"
        );
        CommandError::Argument(reason)
    })?;
    peer.call_unknown(UnknownMethod::new(method).with_params(params))
        .await?;
    Ok(Summary::AllSucceeded)
}
