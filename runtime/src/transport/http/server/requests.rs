//! The requests of a session that are in flight.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use mcp_adapters::mcp_wire::{ErrorResponse, RequestId};

use super::limits::SessionLimits;
use super::stream::Stream;
use crate::budget::Charge;
use crate::error::internal;

/// The number of finished streams that are kept for clients that resume them.
const FINISHED_STREAMS: usize = 64;

/// The requests of a session that are in flight, and the streams of their responses.
#[derive(Debug, Default)]
pub(super) struct RequestTable {
    /// The number of the last stream that was opened; 0 is the standalone stream.
    pub(super) last: u64,
    pub(super) requests: HashMap<RequestId, Request>,
    pub(super) streams: HashMap<u64, OpenStream>,
    pub(super) finished: VecDeque<Arc<Stream>>,
    pub(super) initialize: Option<RequestId>,
}

/// A request in flight.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) stream: u64,
    pub(super) cancelled: bool,
}

/// A stream, and how many of its requests are unanswered.
#[derive(Debug)]
pub(super) struct OpenStream {
    pub(super) stream: Arc<Stream>,
    pub(super) unanswered: usize,
    /// The memory of the requests.
    pub(super) _charges: (Charge, Option<Arc<Charge>>),
}

impl RequestTable {
    /// Refuses a request with an error response, unless its client has cancelled it.
    pub(super) fn refuse(&self, id: &RequestId, why: &str, limits: &SessionLimits) {
        if let Some(request) = self.requests.get(id)
            && !request.cancelled
            && let Some(open) = self.streams.get(&request.stream)
        {
            let error = internal(why);
            let json = serde_json::to_vec(&ErrorResponse::new(Some(id.clone()), error)).unwrap_or_default();
            open.stream
                .push_response(std::slice::from_ref(id), &json.into(), limits);
        }
    }

    /// Keeps a finished stream, and drops the oldest ones beyond the limits.
    pub(super) fn keep(&mut self, stream: Arc<Stream>, most: usize) {
        self.finished.push_back(stream);
        let mut bytes: usize = self.finished.iter().map(|stream| stream.bytes()).sum();
        while self.finished.len() > FINISHED_STREAMS || (bytes > most && self.finished.len() > 1) {
            let oldest = self.finished.pop_front();
            bytes -= oldest.map_or(0, |stream| stream.bytes());
        }
    }
}
