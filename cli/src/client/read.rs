//! `mcp-rev read`

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use mcp_runtime::hub::{AnyResourceContents, ReadResourceRequestParams};
use mcp_runtime::{CallError, CallServer, ClientSide, Peer};

use super::{ResultWriter, with_server};
use crate::args::{Format, ReadArgs};
use crate::error::{CommandError, Summary};
use crate::paint::Paint;

/// Reads a resource, and writes its contents as they are.
pub fn read(args: &ReadArgs, output: impl Paint) -> Result<Summary, CommandError> {
    with_server(&args.client, output, async |peer, shown| {
        read_with(peer, &args.uri, shown, false).await
    })
}

/// Reads a resource in a session, and writes its contents as they are. If `ends_line`, a line break follows a text
/// without one.
pub async fn read_with(
    peer: &Peer<ClientSide>,
    uri: &str,
    shown: &mut ResultWriter<'_>,
    ends_line: bool,
) -> Result<Summary, CommandError> {
    let result = peer.read_resource(ReadResourceRequestParams::new(uri)).await?;
    let decoded = match shown.format {
        Format::Json => Vec::new(),
        Format::Text => result.contents.iter().map(decoded).collect::<Result<_, _>>()?,
    };
    shown.write(&result, |_, output| {
        decoded.iter().try_for_each(|contents| output.write_all(contents))?;
        match decoded.last() {
            Some(last) if ends_line && !last.ends_with(b"\n") => writeln!(output),
            _ => Ok(()),
        }
    })?;
    Ok(Summary::AllSucceeded)
}

/// Returns the bytes of contents.
fn decoded(contents: &AnyResourceContents) -> Result<Cow<'_, [u8]>, CallError> {
    match contents {
        AnyResourceContents::Text(contents) => Ok(contents.text.as_bytes().into()),
        AnyResourceContents::Blob(contents) => STANDARD
            .decode(&contents.blob)
            .map(Cow::from)
            .map_err(|error| CallError::InvalidResult(format!("the blob of {:?} isn't base64: {error}", contents.uri))),
    }
}
