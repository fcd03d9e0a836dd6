//! `mcp-rev ping`

use std::time::{Duration, Instant};

use mcp_adapters::PeerTypes;
use mcp_adapters::mcp_wire::UnknownMethod;
use mcp_runtime::hub::{ClientRequest, DiscoverRequest};
use mcp_runtime::{CallServer, ClientSide, Peer};

use super::in_session;
use crate::args::PingArgs;
use crate::error::{CommandError, Summary};
use crate::paint::Paint;

/// Prints the time of each response.
pub fn ping(args: &PingArgs, mut output: impl Paint) -> Result<Summary, CommandError> {
    in_session(&args.server, (), async |peer| {
        ping_with(peer, args.count, &mut output).await
    })
}

/// Prints the time of each response in a session.
pub async fn ping_with(peer: &Peer<ClientSide>, count: u32, output: &mut dyn Paint) -> Result<Summary, CommandError> {
    for number in 1..=count {
        let elapsed = once(peer).await?;
        writeln!(output, "{number}: {:.2} ms", elapsed.as_secs_f64() * 1000.0)?;
        output.flush()?;
    }
    Ok(Summary::AllSucceeded)
}

async fn once(peer: &Peer<ClientSide>) -> Result<Duration, CommandError> {
    let begun = Instant::now();
    match peer.revision().and_then(|revision| revision.lifecycle().ping) {
        Some(method) => {
            peer.call_unknown(UnknownMethod::new(method)).await?;
        }
        None => {
            peer.request(ClientRequest::Discover(DiscoverRequest::default()))
                .await?;
        }
    }
    Ok(begun.elapsed())
}
