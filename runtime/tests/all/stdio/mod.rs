//! Messages as lines, over pipes and with child processes.

mod lines;
mod own_streams;
#[cfg(unix)]
mod unix_children;
#[cfg(windows)]
mod windows_children;

use std::time::Duration;

use mcp_runtime::transport::stdio::ChildReceiver;
use mcp_runtime::transport::{Incoming, Outgoing, ProcessExit, Purpose, Receiver, TransportError};
use tokio::time::timeout;

fn message(json: impl Into<Vec<u8>>) -> Outgoing {
    Outgoing {
        json: json.into(),
        purpose: Purpose::Unsolicited,
    }
}

/// The text of the next message, or the error code if it was refused.
async fn next(receiver: &mut impl Receiver) -> Option<Result<String, i64>> {
    let received = timeout(Duration::from_secs(10), receiver.receive()).await;
    match received
        .expect("something comes in time")
        .expect("the connection continues")?
    {
        Incoming::Message { json, .. } => Some(Ok(String::from_utf8(json).expect("messages are UTF-8"))),
        Incoming::Refused { error, .. } => Some(Err(error.code)),
        Incoming::Failed { .. } | Incoming::Renewed | Incoming::Closing => panic!("not a line"),
    }
}

/// The exit of the child, which must come next.
async fn exit(receiver: &mut ChildReceiver) -> ProcessExit {
    let received = timeout(Duration::from_secs(10), receiver.receive()).await;
    match received.expect("the child ends in time") {
        Err(TransportError::Exited(exit)) => exit,
        received => panic!("{received:?} isn't an end of a child"),
    }
}

fn text(text: &str) -> Option<Result<String, i64>> {
    Some(Ok(text.to_owned()))
}
