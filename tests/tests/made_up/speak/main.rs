//! Connects a server and a client that use a loaded revision, and ones that use it and another revision: `speak DIR`.
//! The directory has the revision's `name`, `table.json` and `schema.json`.
//!
//! It prints each message that the client sends or receives.

mod client;
mod server;

use std::path::Path;
use std::process::Command;

use mcp_adapters::PeerTypes;
use mcp_runtime::bridge::{Bridge, BridgeOptions};
use mcp_runtime::transport::channel;
use mcp_runtime::transport::http::client::{HttpClient, HttpOptions};
use mcp_runtime::transport::http::server::{HttpServer, serve};
use mcp_runtime::transport::stdio::{SpawnOptions, spawn, stdio};
use mcp_runtime::{Era, Options, Revision, Validation};

use crate::client::{meet, meet_across};
use crate::server::server;

/// The client's revisions, and the server's.
fn pairs() -> Vec<(Vec<Revision>, Vec<Revision>)> {
    let all: Vec<Revision> = Revision::all().collect();
    let made_up = all.last().copied().expect("there is one");
    let others = all.iter().filter(|revision| **revision != made_up);
    let one_sided = others.flat_map(|other| [(vec![*other], all.clone()), (all.clone(), vec![*other])]);
    let pairs = [
        (vec![made_up], vec![made_up]),
        (vec![made_up], all.clone()),
        (all.clone(), vec![made_up]),
    ];
    pairs
        .into_iter()
        .chain(one_sided)
        .chain([(all.clone(), all.clone())])
        .collect()
}

fn supporting(supported: &[Revision]) -> Options {
    Options {
        supported: supported.to_vec(),
        validation: Validation::Strict,
        ..Options::default()
    }
}

fn names(revisions: &[Revision]) -> String {
    let names: Vec<&str> = revisions.iter().map(|revision| revision.as_str()).collect();
    names.join(",")
}

/// Serves over stdio, in the child process that [`over_stdio`] starts.
async fn serve_stdio(revisions: &str) {
    let supported: Vec<Revision> = revisions
        .split(',')
        .map(|name| name.parse().expect("it is known"))
        .collect();
    let transport = stdio().expect("there are pipes");
    server().serve(supporting(&supported), transport).ended().await;
}

async fn over_stdio(directory: &str, ours: &[Revision], theirs: &[Revision]) {
    let mut command = Command::new(std::env::current_exe().expect("it has a path"));
    command.args([directory, &names(theirs)]);
    let transport = spawn(command.into(), SpawnOptions::default()).expect("it starts");
    meet(transport, ours, theirs).await;
}

async fn over_http(ours: &[Revision], theirs: &[Revision]) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .expect("a port is free");
    let url = format!("http://{}/mcp", listener.local_addr().expect("it is bound"));
    let (shared, options) = (server(), supporting(theirs));
    let app = HttpServer::from_fn(move |transport, _| {
        shared.clone().serve(options.clone(), transport);
    })
    .revisions(theirs.to_vec());
    let serving = tokio::spawn(async { serve(listener, app).await });
    let transport = HttpClient::new(&url, HttpOptions::default()).expect("it is a URL");
    meet(transport, ours, theirs).await;
    serving.abort();
}

/// Connects across a bridge whose client and server have different revisions.
async fn over_bridge(client: Revision, server_of: Revision) {
    let (served, options) = (server(), supporting(&[server_of]));
    let connector = move || {
        let (theirs, ours) = channel(16);
        drop(served.clone().serve(options.clone(), theirs));
        Ok(ours)
    };
    let options = BridgeOptions {
        clients: vec![client],
        server: vec![server_of],
        ..BridgeOptions::default()
    };
    let bridge = Bridge::new(connector, options);
    let (clients, transport) = channel(16);
    let serving = tokio::spawn(async move { bridge.serve(clients).await });
    meet_across(transport, client, server_of).await;
    serving.abort();
}

/// Whether a revision has the Streamable HTTP transport, which has one endpoint. The earliest revision streams from a
/// second endpoint.
fn is_of_http(revision: Revision) -> bool {
    Era::of(revision) == Era::Stateless || revision.facts().session_header.is_some()
}

fn load(directory: &str) {
    let read = |name| std::fs::read_to_string(Path::new(directory).join(name)).expect("it can be read");
    Revision::load(&read("name"), &read("table.json"), &read("schema.json")).unwrap_or_else(|error| panic!("{error}"));
}

#[tokio::main]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let directory = arguments.next().expect("speak DIR");
    load(&directory);
    if let Some(revisions) = arguments.next() {
        return serve_stdio(&revisions).await;
    }
    for (ours, theirs) in pairs() {
        println!("= stdio: client {}, server {}", names(&ours), names(&theirs));
        over_stdio(&directory, &ours, &theirs).await;
        if ours.iter().all(|revision| is_of_http(*revision)) {
            println!("= http: client {}, server {}", names(&ours), names(&theirs));
            over_http(&ours, &theirs).await;
        }
    }
    let made_up = Revision::all().last().expect("there is one");
    for other in Revision::ALL {
        for (client, server) in [(made_up, other), (other, made_up)] {
            println!("= bridge: client {client}, server {server}");
            over_bridge(client, server).await;
        }
    }
    println!("= lifecycle: {:?}", made_up.lifecycle());
}
