//! A server and a client of ours, in a revision that nobody published, and between it and the others.
//!
//! It prints each message that the client sends or receives.

mod client;
mod server;

use std::process::Command;

use mcp_adapters::PeerTypes;
use mcp_runtime::transport::http::client::{HttpClient, HttpOptions};
use mcp_runtime::transport::http::server::{HttpServer, router, serve};
use mcp_runtime::transport::stdio::{LineLimits, SpawnOptions, spawn, stdio};
use mcp_runtime::{Options, Revision, Validation};

use crate::client::meet;
use crate::server::server;

/// The client's revisions, and the server's.
fn pairs() -> Vec<(Vec<Revision>, Vec<Revision>)> {
    let all = Revision::ALL.to_vec();
    let made_up = all.last().copied().expect("there is one");
    let others = all.iter().filter(|revision| **revision != made_up);
    let one_sided = others.flat_map(|other| [(vec![*other], all.clone()), (all.clone(), vec![*other])]);
    let pairs = [(vec![made_up], vec![made_up]), (vec![made_up], all.clone()), (all.clone(), vec![made_up])];
    pairs.into_iter().chain(one_sided).chain([(all.clone(), all.clone())]).collect()
}

fn supporting(supported: &[Revision]) -> Options {
    Options { supported: supported.to_vec(),
        validation: Validation::Strict, ..Options::default() }
}

fn names(revisions: &[Revision]) -> String {
    let names: Vec<&str> = revisions.iter().map(|revision| revision.as_str()).collect();
    names.join(",")
}

/// The server of a child process.
async fn serve_stdio(revisions: &str) {
    let supported: Vec<Revision> = revisions.split(',').map(|name| name.parse().expect("it is known")).collect();
    let transport = stdio(LineLimits::default()).expect("there are pipes");
    server().serve(supporting(&supported), transport).ended().await;
}

async fn over_stdio(ours: &[Revision], theirs: &[Revision]) {
    let mut command = Command::new(std::env::current_exe().expect("it has a path"));
    command.args(["serve", &names(theirs)]);
    let transport = spawn(command.into(), SpawnOptions::default()).expect("it starts");
    meet(transport, ours, theirs).await;
}

async fn over_http(ours: &[Revision], theirs: &[Revision]) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
    let url = format!("http://{}/mcp", listener.local_addr().expect("it is bound"));
    let (shared, options) = (server(), supporting(theirs));
    let app = router(HttpServer::new().revisions(theirs.to_vec()), move |transport, _| {
        shared.clone().serve(options.clone(), transport);
    });
    let serving = tokio::spawn(async { serve(listener, app).await });
    let transport = HttpClient::new(&url, HttpOptions::default()).expect("it is a URL");
    meet(transport, ours, theirs).await;
    serving.abort();
}

#[tokio::main]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    if let (Some(_), Some(revisions)) = (arguments.next(), arguments.next()) {
        return serve_stdio(&revisions).await;
    }
    for (ours, theirs) in pairs() {
        // Some revisions have no transport in common: a probe of the one is no request of the other.
        println!("= stdio: client {}, server {}", names(&ours), names(&theirs));
        over_stdio(&ours, &theirs).await;
        println!("= http: client {}, server {}", names(&ours), names(&theirs));
        over_http(&ours, &theirs).await;
    }
    let made_up = Revision::ALL.last().expect("there is one");
    println!("= lifecycle: {:?}", made_up.lifecycle());
}
