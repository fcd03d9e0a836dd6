//! A server with `mcp-runtime` that has a resource, which a tool changes and to which clients subscribe.

use std::sync::{Arc, Mutex, PoisonError};

use mcp_runtime::router::{Call, resource};
use mcp_runtime::transport::stdio::stdio;
use mcp_runtime::{Args, Options, Router, State, hub};
use schemars::JsonSchema;
use serde::Deserialize;

const ALL: &str = "notes://all";

type Notes = Arc<Mutex<String>>;

#[derive(Deserialize, JsonSchema)]
struct Note {
    text: String,
}

fn read(State(notes): State<Notes>) -> String {
    notes.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

fn add(State(notes): State<Notes>, Args(note): Args<Note>, call: Call) {
    *notes.lock().unwrap_or_else(PoisonError::into_inner) += &format!("{}\n", note.text);
    call.router().resource_updated(ALL);
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let all = hub::Resource::new("All notes", ALL).with_mime_type("text/plain");
    let router = Router::new("notes", "1.0")
        .with_state(Notes::default())
        .with(resource(all, read))
        .tool("add", "Adds a note", add);
    let transport = stdio()?;
    router.serve(Options::default(), transport).ended().await;
    Ok(())
}
