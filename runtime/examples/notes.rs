//! A server of notes, with tests of it: `cargo test -p mcp-runtime --example notes`.

use std::sync::{Arc, Mutex, PoisonError};

use mcp_runtime::router::{RouteError, resource};
use mcp_runtime::{Args, Options, Router, State, hub, transport::stdio};
use schemars::JsonSchema;
use serde::Deserialize;

/// The notes, which all clients of a process share.
type Notes = Arc<Mutex<Vec<String>>>;

#[derive(Deserialize, JsonSchema)]
struct Note {
    /// The text of the note.
    #[schemars(length(min = 1))]
    text: String,
}

fn add(State(notes): State<Notes>, Args(note): Args<Note>) -> usize {
    let mut notes = notes.lock().unwrap_or_else(PoisonError::into_inner);
    notes.push(note.text);
    notes.len()
}

fn all(State(notes): State<Notes>) -> String {
    notes.lock().unwrap_or_else(PoisonError::into_inner).join("\n")
}

fn server() -> Result<Router, RouteError> {
    let list = hub::Resource::new("All notes", "notes://all").with_mime_type("text/plain");
    Router::new("notes", "1.0")
        .with_state(Notes::default())
        .try_tool("add", "Adds a note, and returns the number of notes", add)?
        .try_with(resource(list, all))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let transport = stdio()?;
    server()?.serve(Options::default(), transport).ended().await;
    Ok(())
}

#[cfg(test)]
mod tests {
    use mcp_runtime::transport::channel;
    use mcp_runtime::{CallError, CallServer, ClientSession, Revision, connect};
    use serde_json::{Value, json};

    use super::*;

    /// Starts a session with the server, in one revision.
    async fn session(revision: Revision) -> ClientSession {
        let (ours, theirs) = channel(16);
        let options = Options {
            supported: vec![revision],
            ..Options::default()
        };
        drop(server().expect("the routes are valid").serve(options.clone(), theirs));
        let info = hub::Implementation::new("test", "1.0");
        let connected = connect((), info, hub::ClientCapabilities::default(), options, ours);
        connected.await.expect("the session begins")
    }

    async fn add(session: &ClientSession, note: Value) -> Result<hub::CallToolResult, CallError> {
        let params = hub::CallToolRequestParams::new("add").with_arguments(note);
        session.peer().call_tool(params).await
    }

    #[tokio::test]
    async fn a_note_is_kept() {
        for revision in Revision::ALL {
            let session = session(revision).await;
            add(&session, json!({"text": "Buy bread"})).await.expect("it is added");
            let result = add(&session, json!({"text": "Bake"})).await.expect("it is added");
            assert_eq!(
                json!(result.content),
                json!([{"type": "text", "text": "2"}]),
                "{revision}"
            );
            let params = hub::ReadResourceRequestParams::new("notes://all");
            let read = session.peer().read_resource(params).await.expect("it is read");
            assert_eq!(json!(read.contents)[0]["text"], "Buy bread\nBake", "{revision}");
        }
    }

    #[tokio::test]
    async fn an_empty_note_is_refused() {
        let session = session(Revision::HUB).await;
        let result = add(&session, json!({"text": ""})).await.expect("the tool answers");
        assert_eq!(result.is_error, Some(true));
    }
}
