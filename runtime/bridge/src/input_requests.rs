//! Input requests of a server with sessions to a stateless client. A call of the client carries them: the result of the
//! request contains the input request, and the client's next request contains the answer.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use mcp_adapters::hub::{self, InputRequest, InputResponse};
use mcp_adapters::mcp_wire::ErrorObject;
use mcp_runtime_core::internal::internal_error;
use mcp_runtime_core::{CallError, Context, Peer, Progress, ServerSide};
use mcp_runtime_util::{BoxFuture, Mutex};
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::time::timeout;

pub type Called = Result<hub::ServerResult, CallError>;

/// A call of a client that is in flight.
pub struct Running {
    pub call: BoxFuture<'static, Called>,
    pub progress: mpsc::Receiver<Progress>,
    /// `None` if the result of the request can't contain input requests.
    pub carrier: Option<Carrier>,
}

/// The outcome of running a call.
pub enum Step {
    Completed(Box<Called>),
    /// The server requests input before the call can complete.
    Asked(hub::InputRequests),
}

impl Running {
    /// Runs until the call has its result, or the server requests input.
    pub async fn run(&mut self, context: &Context<ServerSide>) -> Step {
        let Self {
            call,
            progress,
            carrier,
        } = self;
        let carrier = carrier.as_ref();
        let ran = async {
            let asked = async {
                match carrier {
                    Some(carrier) => carrier.asked().await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                result = call => Step::Completed(Box::new(result)),
                input_requests = asked => Step::Asked(input_requests),
            }
        };
        let step = context.with_progress_of(ran, progress).await;
        if let (Some(carrier), Step::Completed(_)) = (carrier, &step) {
            carrier.complete();
        }
        step
    }
}

/// The open input requests of a server in one session, whose calls are all of one client.
///
/// Over HTTP, the stream of an input request determines the call that carries it. Over a pipe, a server with a handshake
/// doesn't report which call an input request belongs to, so any call can carry it. If there is none, the input request
/// waits for the next call.
pub struct OpenInputRequests {
    state: Mutex<State>,
    /// The maximum number of open input requests.
    limit: usize,
    /// How long an input request waits for a call.
    patience: Duration,
}

#[derive(Default)]
struct State {
    last_input_request: u64,
    input_requests: BTreeMap<u64, OpenInputRequest>,
    /// The calls that can carry input requests, in flight and suspended, ordered by when they last started or resumed.
    calls: Vec<Call>,
    closed: bool,
}

struct OpenInputRequest {
    request: InputRequest,
    answer: oneshot::Sender<Result<InputResponse, Unanswered>>,
    /// The call that carries it.
    call: Option<i64>,
    /// Whether the server has sent it on the stream of that call, so that no other can carry it.
    is_related: bool,
}

struct Call {
    /// The id of the request to the server.
    id: i64,
    client: Peer<ServerSide>,
    asked: Arc<Notify>,
}

/// The reason why an input request has no answer.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Unanswered {
    #[error("the client gets input requests only in results, and has made no call that could carry this one")]
    NoCall,
    #[error("the client has abandoned the call that this input request belongs to")]
    GivenUp,
    #[error("too many input requests wait for the client's answers")]
    TooMany,
    #[error(transparent)]
    NotOffered(CallError),
}

impl From<Unanswered> for ErrorObject {
    fn from(error: Unanswered) -> Self {
        match error {
            Unanswered::NotOffered(error) => error.into(),
            error => internal_error(error),
        }
    }
}

impl OpenInputRequests {
    pub fn new(limit: usize, patience: Duration) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::default(),
            limit,
            patience,
        })
    }

    /// Passes an input request on to the client, and waits for the answer. `call` is the id of the call to which the
    /// server has related it.
    pub async fn ask(&self, request: InputRequest, call: Option<i64>) -> Result<InputResponse, Unanswered> {
        let (answer, mut answered) = oneshot::channel();
        let number = self.add(request, call, answer)?;
        let _open = Open {
            input_requests: self,
            number,
        };
        loop {
            match timeout(self.patience, &mut answered).await {
                Ok(answer) => return answer.unwrap_or(Err(Unanswered::GivenUp)),
                // A call that carries it has its own timeout.
                Err(_) if self.is_carried(number) => {}
                Err(_) => return Err(Unanswered::NoCall),
            }
        }
    }

    fn add(
        &self,
        request: InputRequest,
        call: Option<i64>,
        answer: oneshot::Sender<Result<InputResponse, Unanswered>>,
    ) -> Result<u64, Unanswered> {
        let mut state = self.state.lock();
        if state.closed {
            return Err(Unanswered::NoCall);
        }
        if state.input_requests.len() >= self.limit {
            return Err(Unanswered::TooMany);
        }
        let is_related = call.is_some();
        let call = match call {
            Some(id) => Some(state.related_carrier(id, &request)?),
            None => state.carrier_of(&request).map_err(Unanswered::NotOffered)?,
        };
        state.last_input_request += 1;
        let number = state.last_input_request;
        let input_request = OpenInputRequest {
            request,
            answer,
            call,
            is_related,
        };
        state.input_requests.insert(number, input_request);
        Ok(number)
    }

    fn is_carried(&self, number: u64) -> bool {
        let state = self.state.lock();
        let input_request = state.input_requests.get(&number);
        input_request.is_some_and(|input_request| input_request.call.is_some())
    }

    /// Adds a call that can carry input requests, with the id of its request to the server. It takes those that are
    /// waiting for a call.
    pub fn carry(self: &Arc<Self>, id: i64, client: Peer<ServerSide>) -> Carrier {
        let asked = Arc::new(Notify::new());
        let mut state = self.state.lock();
        for input_request in state.input_requests.values_mut() {
            if input_request.call.is_none() && client.check_input_request(&input_request.request).is_ok() {
                input_request.call = Some(id);
            }
        }
        state.calls.push(Call {
            id,
            client,
            asked: Arc::clone(&asked),
        });
        Carrier {
            input_requests: Arc::clone(self),
            id,
            asked,
        }
    }

    /// Whether a call can carry input requests.
    pub fn is_carrier(&self, id: i64) -> bool {
        self.state.lock().calls.iter().any(|call| call.id == id)
    }

    /// Whether there are calls that can carry input requests.
    pub fn has_calls(&self) -> bool {
        !self.state.lock().calls.is_empty()
    }

    /// Refuses further input requests. Those that no call carries fail.
    pub fn close(&self) {
        let mut state = self.state.lock();
        state.closed = true;
        for number in state.carried_by(None) {
            if let Some(input_request) = state.input_requests.remove(&number) {
                // The server may have cancelled it meanwhile.
                let _ = input_request.answer.send(Err(Unanswered::NoCall));
            }
        }
    }
}

impl State {
    /// Returns the input requests that a call carries; for `None`, those that no call carries.
    fn carried_by(&self, call: Option<i64>) -> Vec<u64> {
        let input_requests = self.input_requests.iter();
        let carried = input_requests.filter(|(_, input_request)| input_request.call == call);
        carried.map(|(number, _)| *number).collect()
    }

    /// Wakes the call to which the server has related an input request.
    fn related_carrier(&self, id: i64, request: &InputRequest) -> Result<i64, Unanswered> {
        let call = self
            .calls
            .iter()
            .find(|call| call.id == id)
            .ok_or(Unanswered::GivenUp)?;
        call.client
            .check_input_request(request)
            .map_err(Unanswered::NotOffered)?;
        call.asked.notify_one();
        Ok(id)
    }

    /// Chooses the call that carries an input request, and wakes it: the latest call whose client allows this request,
    /// preferably one that carries nothing yet. `None` if there are no calls.
    fn carrier_of(&self, request: &InputRequest) -> Result<Option<i64>, CallError> {
        let (mut chosen, mut refusal) = (None, None);
        for call in self.calls.iter().rev() {
            match call.client.check_input_request(request) {
                Ok(()) if self.carried_by(Some(call.id)).is_empty() => {
                    chosen = Some(call);
                    break;
                }
                Ok(()) => chosen = chosen.or(Some(call)),
                Err(error) => refusal = refusal.or(Some(error)),
            }
        }
        match (chosen, refusal) {
            (Some(call), _) => {
                call.asked.notify_one();
                Ok(Some(call.id))
            }
            (None, Some(refusal)) => Err(refusal),
            (None, None) => Ok(None),
        }
    }
}

/// A guard that removes an input request when the server no longer waits for its answer.
struct Open<'q> {
    input_requests: &'q OpenInputRequests,
    number: u64,
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.input_requests.state.lock().input_requests.remove(&self.number);
    }
}

/// A call that can carry input requests. If it is dropped before it completes, they fail.
pub struct Carrier {
    input_requests: Arc<OpenInputRequests>,
    id: i64,
    asked: Arc<Notify>,
}

impl Carrier {
    /// The id of the request to the server.
    pub fn id(&self) -> i64 {
        self.id
    }

    /// Waits until the call carries input requests, and returns them by name.
    async fn asked(&self) -> hub::InputRequests {
        loop {
            let asked = self.asked.notified();
            let open = self.open();
            if !open.is_empty() {
                return open;
            }
            asked.await;
        }
    }

    fn open(&self) -> hub::InputRequests {
        let state = self.input_requests.state.lock();
        let input_requests = state.input_requests.iter();
        let own = input_requests.filter(|(_, input_request)| input_request.call == Some(self.id));
        own.map(|(number, input_request)| (number.to_string(), input_request.request.clone()))
            .collect()
    }

    /// Delivers answers by name. The call becomes the latest one, so it most likely carries the server's next input
    /// request.
    pub fn resume(&self, responses: hub::InputResponses) {
        let mut state = self.input_requests.state.lock();
        if let Some(at) = state.calls.iter().position(|call| call.id == self.id) {
            let call = state.calls.remove(at);
            state.calls.push(call);
        }
        for (name, response) in responses {
            let Ok(number) = name.parse() else { continue };
            let is_own = |input_request: &OpenInputRequest| input_request.call == Some(self.id);
            if state.input_requests.get(&number).is_some_and(is_own)
                && let Some(input_request) = state.input_requests.remove(&number)
            {
                // The server may have cancelled it meanwhile.
                let _ = input_request.answer.send(Ok(response));
            }
        }
    }

    /// Removes the completed call. Unrelated input requests that it still carries belong to other calls, which carry them
    /// from now on.
    fn complete(&self) {
        let mut state = self.input_requests.state.lock();
        state.calls.retain(|call| call.id != self.id);
        for number in state.carried_by(Some(self.id)) {
            let Some(mut input_request) = state.input_requests.remove(&number) else {
                continue;
            };
            if input_request.is_related {
                continue;
            }
            input_request.call = state.carrier_of(&input_request.request).unwrap_or_default();
            if input_request.call.is_some() || !state.closed {
                state.input_requests.insert(number, input_request);
            }
        }
    }
}

impl Drop for Carrier {
    fn drop(&mut self) {
        let mut state = self.input_requests.state.lock();
        state.calls.retain(|call| call.id != self.id);
        // The server's requests that wait for these answers fail.
        state
            .input_requests
            .retain(|_, input_request| input_request.call != Some(self.id));
    }
}
