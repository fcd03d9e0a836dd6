//! `mcp-rev request`

use std::fmt::Display;
use std::io;

use mcp_runtime::hub::{ClientRequest, RequestMetaObject};
use mcp_runtime::mcp_wire::{Extra, RawJson, RawObject, UnknownMethod};
use mcp_runtime::{CallServer, ClientSide, Peer};

use super::{ResultWriter, with_server};
use crate::args::RequestArgs;
use crate::error::{CommandError, Summary};
use crate::paint::Paint;

/// Sends a request of any method, and prints its result.
pub fn request(args: &RequestArgs, output: impl Paint) -> Result<Summary, CommandError> {
    with_server(&args.client, output, async |peer, shown| {
        request_with(peer, &args.method, args.params.clone(), shown).await
    })
}

/// Sends a request of any method in a session, and prints its result.
pub async fn request_with(
    peer: &Peer<ClientSide>,
    method: &str,
    params: Option<RawObject>,
    shown: &mut ResultWriter<'_>,
) -> Result<Summary, CommandError> {
    let mut request = UnknownMethod::new(method);
    request.params = params;
    let result = result(peer, request).await?;
    writeln!(shown.output, "{result}")?;
    Ok(Summary::AllSucceeded)
}

/// The result of a method: in the hub's form if the hub has the method, otherwise as the server sends it.
async fn result(peer: &Peer<ClientSide>, request: UnknownMethod) -> Result<String, CommandError> {
    let mut declared = request.clone();
    let params = with_meta(request.params.as_ref()).map_err(|reason| invalid("--params", reason))?;
    declared.params = Some(params);
    let declared = declared.decode_as();
    match declared.map_err(|error| invalid(&format!("the request {:?}", request.method), error))? {
        ClientRequest::Unknown(_) => Ok(peer.call_unknown(request).await?.text().to_owned()),
        declared => {
            let result = peer.request(declared).await?;
            Ok(serde_json::to_string(&result).map_err(io::Error::from)?)
        }
    }
}

/// Adds the metadata that each request of the hub has, unless the user has given it.
fn with_meta(params: Option<&RawObject>) -> Result<RawObject, Box<dyn std::error::Error>> {
    let mut params: Extra = params.map(|params| params.decode_as()).transpose()?.unwrap_or_default();
    let given = params.get("_meta").map(RawJson::decode_as).transpose()?;
    let mut meta: Extra = given.unwrap_or_default();
    let defaults: Extra = RawJson::from_encode(&RequestMetaObject::default())?.decode_as()?;
    for (name, value) in defaults {
        if !meta.contains_key(&name) {
            meta.insert(name, value);
        }
    }
    params.insert("_meta", RawJson::from_encode(&meta)?);
    Ok(RawJson::from_encode(&params)?.into())
}

fn invalid(what: &str, reason: impl Display) -> CommandError {
    CommandError::Argument(format!("{what} is invalid: {reason}"))
}
