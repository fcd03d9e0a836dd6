//! `mcp-rev read`

use std::io;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use mcp_runtime::hub::{AnyResourceContents, ReadResourceRequestParams};
use mcp_runtime::{CallServer, ClientSide, Peer};

use super::{ResultWriter, with_server};
use crate::args::ReadArgs;
use crate::error::{CommandError, Summary};
use crate::paint::Paint;

/// Reads a resource, and writes its contents as they are.
pub fn read(args: &ReadArgs, output: impl Paint) -> Result<Summary, CommandError> {
    with_server(&args.client, output, async |peer, shown| {
        read_with(peer, &args.uri, shown).await
    })
}

/// Reads a resource in a session, and writes its contents as they are.
pub async fn read_with(
    peer: &Peer<ClientSide>,
    uri: &str,
    shown: &mut ResultWriter<'_>,
) -> Result<Summary, CommandError> {
    let result = peer.read_resource(ReadResourceRequestParams::new(uri)).await?;
    shown.write(&result, |result, output| {
        for contents in &result.contents {
            match contents {
                AnyResourceContents::Text(contents) => output.write_all(contents.text.as_bytes())?,
                AnyResourceContents::Blob(contents) => {
                    let bytes = STANDARD.decode(&contents.blob).map_err(io::Error::other)?;
                    output.write_all(&bytes)?;
                }
            }
        }
        Ok(())
    })?;
    Ok(Summary::AllSucceeded)
}
