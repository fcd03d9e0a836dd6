//! The requests of a session that are in flight.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};
use std::slice;
use std::sync::Arc;

use http::StatusCode;
use mcp_adapters::mcp_wire::{ErrorResponse, RequestId};
use mcp_runtime_core::internal::internal_error;
use mcp_runtime_util::{Budget, Charge};

use super::super::limits::SessionLimits;
use super::super::memory::held_by_call;
use super::super::post_body::PostBody;
use super::super::rejection::Rejection;
use super::super::stream::Stream;

/// The number of finished streams that are kept for clients that resume them.
const FINISHED_STREAMS: usize = 64;

/// The requests of a session that are in flight, and the streams of their responses.
#[derive(Debug, Default)]
pub(super) struct RequestTable {
    /// The number of the last stream that was opened; 0 is the standalone stream.
    last: u64,
    requests: BTreeMap<RequestId, Request>,
    streams: BTreeMap<u64, OpenStream>,
    finished: VecDeque<Arc<Stream>>,
    initialize: Option<RequestId>,
}

/// A request in flight.
#[derive(Debug)]
struct Request {
    stream: u64,
    cancelled: bool,
}

/// A stream, and the number of its unanswered requests.
#[derive(Debug)]
struct OpenStream {
    stream: Arc<Stream>,
    unanswered: usize,
    /// The memory of the requests.
    _charges: (Charge, Option<Charge>),
}

impl RequestTable {
    pub(super) fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    pub(super) fn contains(&self, id: &RequestId) -> bool {
        self.requests.contains_key(id)
    }

    /// Adds the requests of a body. Returns the stream for their responses, which `open` opens, and its number.
    pub(super) fn register(
        &mut self,
        body: &mut PostBody<'_>,
        limits: &SessionLimits,
        memory: &Arc<Budget>,
        open: impl FnOnce(u64, &[RequestId]) -> Arc<Stream>,
    ) -> Result<(u64, Arc<Stream>), Rejection> {
        let bytes = held_by_call(body.bytes);
        if !memory.can_hold(bytes) {
            let why = "The body is larger than the limit of all messages of a session together";
            return Err(Rejection::invalid(StatusCode::PAYLOAD_TOO_LARGE, why));
        }
        self.last += 1;
        let number = self.last;
        let added = self.add(body, number, limits).and_then(|()| {
            memory
                .try_charge(bytes)
                .ok_or_else(|| Rejection::busy("The client has to read its responses before it sends more requests"))
        });
        let charge = added.inspect_err(|_| self.withdraw(number))?;
        let stream = open(number, &body.requests);
        let open = OpenStream {
            stream: stream.clone(),
            unanswered: body.requests.len(),
            _charges: (charge, body.charge.take()),
        };
        self.streams.insert(number, open);
        Ok((number, stream))
    }

    /// Adds the requests of a body, whose responses are sent on this stream.
    fn add(&mut self, body: &PostBody<'_>, stream: u64, limits: &SessionLimits) -> Result<(), Rejection> {
        for id in &body.requests {
            match self.requests.entry(id.clone()) {
                Entry::Vacant(place) => place.insert(Request {
                    stream,
                    cancelled: false,
                }),
                Entry::Occupied(_) => {
                    let why = format!("A request with the id {id} is in flight");
                    return Err(Rejection::bad_request(why));
                }
            };
        }
        match self.requests.len() > limits.max_in_flight {
            true => Err(Rejection::busy("Too many requests are in flight in this session")),
            false => Ok(()),
        }
    }

    /// Removes the requests of this stream, because no engine handles them.
    pub(super) fn withdraw(&mut self, number: u64) {
        self.requests.retain(|_, request| request.stream != number);
        self.streams.remove(&number);
    }

    /// Sets the request whose response ends the handshake.
    pub(super) fn set_initialize(&mut self, id: Option<RequestId>) {
        self.initialize = id;
    }

    /// Whether the response to these requests ends the handshake. That is true only once.
    pub(super) fn take_initialize(&mut self, ids: &[RequestId]) -> bool {
        self.initialize.take_if(|id| ids.contains(id)).is_some()
    }

    /// The stream with this number, if it is still kept.
    pub(super) fn stream(&self, number: u64) -> Option<Arc<Stream>> {
        let open = self.streams.get(&number).map(|open| &open.stream);
        open.or_else(|| self.finished.iter().find(|stream| stream.id == number))
            .cloned()
    }

    /// The stream for messages that are related to a request.
    pub(super) fn stream_of(&self, id: &RequestId) -> Option<Arc<Stream>> {
        let number = self.requests.get(id)?.stream;
        self.streams.get(&number).map(|open| open.stream.clone())
    }

    /// Marks requests as cancelled by the client, which needs no response to them.
    pub(super) fn cancel(&mut self, ids: &[RequestId]) {
        for id in ids {
            if let Some(request) = self.requests.get_mut(id) {
                request.cancelled = true;
            }
        }
    }

    /// Refuses a request with an error response, unless its client has cancelled it.
    pub(super) fn refuse(&self, id: &RequestId, why: &str, limits: &SessionLimits) {
        if let Some(request) = self.requests.get(id)
            && !request.cancelled
            && let Some(open) = self.streams.get(&request.stream)
        {
            let error = internal_error(why);
            let json = serde_json::to_vec(&ErrorResponse::new(Some(id.clone()), error)).unwrap_or_default();
            open.stream.push_response(slice::from_ref(id), &json.into(), limits);
        }
    }

    /// Removes a request. Returns its stream if the stream has no other requests.
    pub(super) fn remove(&mut self, id: &RequestId) -> Option<Arc<Stream>> {
        let request = self.requests.remove(id)?;
        let open = self.streams.get_mut(&request.stream)?;
        open.unanswered -= 1;
        let done = match open.unanswered {
            0 => self.streams.remove(&request.stream),
            _ => None,
        };
        if self.is_empty() {
            // Frees the memory of the maps, for the case that the session stays idle.
            (self.requests, self.streams) = Default::default();
        }
        done.map(|open| open.stream)
    }

    /// Refuses all requests, and finishes all streams.
    pub(super) fn end(self, why: &str, limits: &SessionLimits) {
        for id in self.requests.keys() {
            self.refuse(id, why, limits);
        }
        for open in self.streams.values() {
            open.stream.finish();
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
