//! Clients of many servers, and a gateway in front of them.

mod clients;
mod faults;
mod gateway;
mod ready_middleware;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use mcp_runtime::bridge::Connector;
use mcp_runtime::transport::{ChannelTransport, TransportError, channel};
use mcp_runtime::{Client, Options, Revision, Router, ServerSession};

use crate::common::PATIENCE;

/// Two revisions with a handshake, and one without.
const REVISIONS: [&str; 3] = ["2025-06-18", "2025-11-25", "2026-07-28"];

fn revision(name: &str) -> Revision {
    name.parse().expect("it is a revision")
}

fn speaking(name: &str) -> Options {
    Options {
        supported: vec![revision(name)],
        ..Options::default()
    }
}

fn client() -> Client {
    Client::new("app", "1.0")
}

/// An in-process server whose sessions can be ended, and which can be made unreachable.
#[derive(Clone)]
struct Local {
    router: Router,
    revision: &'static str,
    sessions: Arc<Mutex<Vec<ServerSession>>>,
    is_down: Arc<AtomicBool>,
    started: Arc<AtomicUsize>,
}

impl Local {
    fn new(revision: &'static str, router: Router) -> Self {
        Self {
            router,
            revision,
            sessions: Arc::default(),
            is_down: Arc::default(),
            started: Arc::default(),
        }
    }

    /// Ends all sessions with it, and sets whether it is unreachable from now on.
    fn end(&self, is_down: bool) {
        self.is_down.store(is_down, Ordering::SeqCst);
        for session in self.sessions.lock().expect("nobody panics").drain(..) {
            session.closing_token().cancel();
        }
    }

    /// Ends all sessions with it, and waits until they have ended.
    async fn close(&self) {
        let sessions = std::mem::take(&mut *self.sessions.lock().expect("nobody panics"));
        for session in sessions {
            session.close().await;
        }
    }
}

impl Connector for Local {
    type Transport = ChannelTransport;

    async fn connect(&self) -> Result<ChannelTransport, TransportError> {
        if self.is_down.load(Ordering::SeqCst) {
            return Err(TransportError::Closed);
        }
        self.started.fetch_add(1, Ordering::SeqCst);
        let (server, client) = channel(16);
        let session = self.router.clone().serve(speaking(self.revision), server);
        self.sessions.lock().expect("nobody panics").push(session);
        Ok(client)
    }
}
