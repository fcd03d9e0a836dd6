//! Extensions that check the calls of tools.

use std::sync::mpsc::channel as std_channel;
use std::sync::{Arc, OnceLock};
use std::thread;

use mcp_runtime::mcp_wire::{Extension, RawJson, Schema};
use mcp_runtime::router::{Call, ServerExtension};
use mcp_runtime::transport::channel;
use mcp_runtime::{Client, Context, ErrorObject, Options, Router, ServerSide, hub};
use serde_json::{Value, json};

use crate::common::PATIENCE;

static SCHEMA: Schema = Schema::new("com.example/once", "{}");

/// An extension that removes a tool when it is called.
#[derive(Clone, Default)]
struct Once(Arc<OnceLock<Router>>);

impl ServerExtension for Once {
    fn extension(&self) -> Extension {
        Extension::new("com.example/once", "2026-07-28", &[], &SCHEMA)
    }

    async fn answer(&self, _: &'static str, _: Value, _: Call) -> Result<RawJson, ErrorObject> {
        unreachable!("it has no method")
    }

    fn check_tool_call(&self, tool: &hub::Tool, _: &Context<ServerSide>) -> Result<(), ErrorObject> {
        self.0.get().expect("the router is known").remove_tool(&tool.name);
        Ok(())
    }
}

/// Calls a tool twice, and returns whether each call succeeds.
#[tokio::main(flavor = "current_thread")]
async fn called_twice() -> Vec<bool> {
    let once = Once::default();
    let router = Router::new("once", "1.0")
        .tool("a", "A tool", || "a")
        .extension(once.clone());
    assert!(once.0.set(router.clone()).is_ok());
    let (server, client) = channel(16);
    let _serving = router.serve(Options::default(), server);
    let session = Client::new("client", "1.0").connect(client).await.expect("it connects");
    let mut called = Vec::new();
    for _ in 0..2 {
        called.push(session.call_tool("a", json!({})).await.is_ok());
    }
    called
}

#[test]
fn an_extension_can_change_the_router_while_it_checks_a_call() {
    let (sender, called) = std_channel();
    // A thread that is blocked by a lock can't be cancelled.
    thread::spawn(move || sender.send(called_twice()));
    assert_eq!(called.recv_timeout(PATIENCE), Ok(vec![true, false]));
}
