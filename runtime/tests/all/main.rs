//! The tests of the runtime, as one program: separate programs would each link the whole runtime.

mod apps;
mod auth;
mod bridge;
#[cfg(unix)]
mod children;
mod client;
mod common;
mod eras;
mod examples;
mod http_client;
mod http_server;
mod http_session;
mod instances;
mod many_servers;
mod middleware;
#[cfg(windows)]
mod named_pipe;
mod processes;
mod rounds;
mod router;
mod session;
mod skills;
mod stdio;
mod tasks;
mod two_processes;
#[cfg(unix)]
mod unix;
#[cfg(unix)]
mod unreadable;
