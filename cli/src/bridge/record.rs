//! Recording of a transcript of both sides of the bridge.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{LineWriter, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use mcp_adapters::mcp_wire::{MessageHeader, RawJson, RequestId, from_slice};
use mcp_adapters::{Revision, session_messages};
use mcp_runtime::http::{HeaderMap, Method, StatusCode};
use mcp_runtime::transport::http::client::HttpOptions;
use mcp_runtime::transport::{Inspect, MessageDirection, Transport, inspect};

use crate::error::CommandError;
use crate::transcript::{self, Direction, HttpHeads, Line, Side};

/// The headers whose values are written, because they never hold credentials. The values of all others are masked.
const SHOWN: [&str; 34] = [
    "accept",
    "accept-encoding",
    "accept-language",
    "access-control-allow-headers",
    "access-control-allow-methods",
    "access-control-allow-origin",
    "access-control-expose-headers",
    "access-control-request-headers",
    "access-control-request-method",
    "allow",
    "cache-control",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "date",
    "host",
    "last-event-id",
    "mcp-method",
    "mcp-name",
    "mcp-protocol-version",
    "origin",
    "retry-after",
    "server",
    "sec-fetch-dest",
    "sec-fetch-mode",
    "sec-fetch-site",
    "traceparent",
    "transfer-encoding",
    "user-agent",
    "vary",
    "via",
    "www-authenticate",
    "x-accel-buffering",
];
const MASK: &str = "***";

/// Writes a transcript.
pub struct Recorder {
    /// `None` if no transcript is written.
    file: Option<Mutex<LineWriter<File>>>,
    sessions: AtomicU64,
}

impl Recorder {
    pub fn new(file: Option<&Path>) -> Result<Arc<Self>, CommandError> {
        let file = file.map(transcript::create).transpose()?;
        Ok(Arc::new(Self {
            file: file.map(|file| Mutex::new(LineWriter::new(file))),
            sessions: AtomicU64::new(1),
        }))
    }

    /// Returns the number for a new connection.
    pub fn session(&self) -> u64 {
        self.sessions.fetch_add(1, Ordering::Relaxed)
    }

    /// Wraps a transport so that its messages are recorded.
    pub fn record<T: Transport>(self: &Arc<Self>, transport: T, side: Side, session: u64) -> Inspect<T> {
        let (recorder, negotiation) = (Arc::clone(self), Mutex::new(Negotiation::default()));
        inspect(transport, move |way, json| {
            if recorder.file.is_none() {
                return;
            }
            // Messages that aren't JSON aren't forwarded.
            let Ok(message) = from_slice::<RawJson>(json) else {
                return;
            };
            let mut negotiation = negotiation.lock().unwrap_or_else(PoisonError::into_inner);
            let revision = negotiation.revision_of(json);
            drop(negotiation);
            recorder.write(&Line {
                session: Some(session),
                direction: Some(match way {
                    MessageDirection::Received => Direction::Received,
                    MessageDirection::Sent => Direction::Sent,
                }),
                revision,
                message: Some(message),
                ..line(side)
            });
        })
    }

    /// Extends options so that the headers of requests to the server are recorded.
    pub fn record_requests(self: &Arc<Self>, options: HttpOptions, session: u64) -> HttpOptions {
        if self.file.is_none() {
            return options;
        }
        let recorder = Arc::clone(self);
        options.exchanges(move |exchange| {
            let sent = (exchange.method, exchange.url.path(), exchange.request);
            recorder.write(&Line {
                session: Some(session),
                http: Some(heads(sent, exchange.status, exchange.response)),
                ..line(Side::Server)
            });
        })
    }

    /// Wraps a service so that the headers of its clients' requests are recorded.
    pub fn record_clients(self: &Arc<Self>, app: Router) -> Router {
        if self.file.is_none() {
            return app;
        }
        app.layer(from_fn_with_state(Arc::clone(self), record_exchange))
    }

    fn write(&self, line: &Line) {
        let Some(file) = &self.file else { return };
        let Ok(line) = serde_json::to_string(line) else { return };
        let line = line.replace(['\n', '\r'], " ");
        let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = writeln!(file, "{line}") {
            tracing::warn!(%error, "can't write a message to the transcript");
        }
    }
}

fn line(side: Side) -> Line {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    Line {
        time: since.map_or(0.0, |since| since.as_secs_f64()),
        session: None,
        side,
        direction: None,
        revision: None,
        message: None,
        http: None,
    }
}

async fn record_exchange(State(recorder): State<Arc<Recorder>>, request: Request, next: Next) -> Response {
    let (method, uri, headers) = (
        request.method().clone(),
        request.uri().clone(),
        request.headers().clone(),
    );
    let response = next.run(request).await;
    let received = (&method, uri.path(), &headers);
    recorder.write(&Line {
        http: Some(heads(received, response.status(), response.headers())),
        ..line(Side::Client)
    });
    response
}

/// The transcript entry for an exchange whose request has this method, path and headers.
fn heads((method, path, request): (&Method, &str, &HeaderMap), status: StatusCode, response: &HeaderMap) -> HttpHeads {
    HttpHeads {
        method: method.to_string(),
        path: path.to_owned(),
        request: masked(request),
        status: status.as_u16(),
        response: masked(response),
    }
}

/// The state of the negotiation on a connection, as its messages show it.
#[derive(Default)]
struct Negotiation {
    /// The id of the request that starts the session, until its response.
    begin: Option<RequestId>,
    revision: Option<Revision>,
}

impl Negotiation {
    /// The revision that a message names, or else the revision of the session.
    fn revision_of(&mut self, json: &[u8]) -> Option<Revision> {
        let Ok(header) = MessageHeader::from_slice(json) else {
            return self.revision;
        };
        if let Some((revision, _)) = session_messages::version_in_meta::<Revision>(&header).ok().flatten() {
            // The response doesn't name the revision, so it is kept for it.
            self.revision = Some(revision);
        } else if let Some(requested) = session_messages::requested_version(&header) {
            self.begin = header.id();
            return requested;
        } else if let Some(result) = header
            .result()
            .filter(|_| self.begin.is_some() && self.begin == header.id())
        {
            self.begin = None;
            let agreed = result
                .decode_as()
                .ok()
                .and_then(|result| session_messages::negotiated_version(&result));
            self.revision = agreed.or(self.revision);
        }
        self.revision
    }
}

/// Headers by name. Values that may be credentials are masked.
fn masked(headers: &HeaderMap) -> BTreeMap<String, String> {
    let names = headers.keys().map(|name| {
        let values = headers.get_all(name).iter().map(|value| match value.to_str() {
            Ok(text) if SHOWN.contains(&name.as_str()) => text,
            _ => MASK,
        });
        (name.as_str().to_owned(), values.collect::<Vec<_>>().join(", "))
    });
    names.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_that_may_carry_credentials_are_masked() {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("authorization", "Bearer secret"),
            ("cookie", "a=secret"),
            ("set-cookie", "a=secret"),
            ("proxy-authorization", "Basic secret"),
            ("dpop", "secret"),
            ("mcp-session-id", "secret"),
            ("x-api-key", "secret"),
        ] {
            headers.append(name, value.parse().expect("a value"));
        }
        headers.append("accept", "text/html".parse().expect("a value"));
        headers.append("accept", "text/plain".parse().expect("a value"));
        let written = masked(&headers);
        assert_eq!(written.len(), 8);
        assert_eq!(written.get("accept").map(String::as_str), Some("text/html, text/plain"));
        assert!(written.iter().all(|(name, value)| name == "accept" || value == MASK));
    }
}
