//! What a server with sessions asks while it handles a call of a stateless client: the question is the result of the request, and the
//! call waits for the next request, which brings the answer.

use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use mcp_adapters::hub::{self, InputRequest, InputResponse};
use mcp_adapters::mcp_wire::ErrorObject;
use tokio::sync::{Notify, mpsc, oneshot};
use tokio_util::task::AbortOnDropHandle;

use crate::error::{CallError, internal, invalid_params};
use crate::future::BoxFuture;
use crate::session::{Context, Peer, Progress};
use crate::side::ServerSide;
use crate::sync::Mutex;

type Called = Result<hub::ServerResult, CallError>;

/// A call of a client that is in flight.
pub struct Running {
    pub call: BoxFuture<'static, Called>,
    pub progress: mpsc::Receiver<Progress>,
    pub questions: Arc<Questions>,
}

impl Running {
    /// Runs until the call has its result; `None` if the server asks something before.
    pub async fn run(&mut self, context: &Context<ServerSide>) -> Option<Called> {
        let Self {
            call,
            progress,
            questions,
        } = self;
        loop {
            tokio::select! {
                biased;
                Some(update) = progress.recv() => report(context, update).await,
                result = &mut *call => {
                    while let Ok(update) = progress.try_recv() {
                        report(context, update).await;
                    }
                    return Some(result);
                }
                () = questions.asked() => return None,
            }
        }
    }
}

async fn report(context: &Context<ServerSide>, update: Progress) {
    let told = context.progress(update.progress, update.total, update.message).await;
    if let Err(error) = told {
        tracing::debug!(%error, "progress wasn't passed on");
    }
}

/// What the server has asked during a call.
#[derive(Default)]
pub struct Questions {
    open: Mutex<Open>,
    asked: Notify,
}

#[derive(Default)]
struct Open {
    next: u64,
    questions: HashMap<String, Question>,
}

struct Question {
    request: InputRequest,
    answer: oneshot::Sender<Result<InputResponse, ErrorObject>>,
}

impl Questions {
    /// Asks a question, and waits for its answer.
    pub async fn ask(&self, request: InputRequest) -> Result<InputResponse, ErrorObject> {
        let (answer, answered) = oneshot::channel();
        {
            let mut open = self.open.lock();
            open.next += 1;
            let name = open.next.to_string();
            open.questions.insert(name, Question { request, answer });
        }
        self.asked.notify_one();
        answered
            .await
            .unwrap_or_else(|_| Err(internal("the client has given up the call that this is asked for")))
    }

    /// Waits until there are open questions.
    async fn asked(&self) {
        loop {
            let asked = self.asked.notified();
            let is_open = |open: &Open| open.questions.values().any(|question| !question.answer.is_closed());
            if is_open(&self.open.lock()) {
                return;
            }
            asked.await;
        }
    }

    /// The open questions by name. Those that the server no longer waits for are forgotten.
    pub fn open(&self) -> hub::InputRequests {
        let mut open = self.open.lock();
        open.questions.retain(|_, question| !question.answer.is_closed());
        let requests = open.questions.iter();
        requests
            .map(|(name, question)| (name.clone(), question.request.clone()))
            .collect()
    }

    /// Answers questions by name.
    pub fn answer(&self, responses: hub::InputResponses) {
        let mut open = self.open.lock();
        for (name, response) in responses {
            if let Some(question) = open.questions.remove(&name) {
                // The server may have cancelled it in this moment.
                let _ = question.answer.send(Ok(response));
            }
        }
    }
}

/// A call that waits for an answer of its client.
struct Parked {
    call: Running,
    /// Removes the call after some time.
    _expiry: AbortOnDropHandle<()>,
}

/// The calls that wait for answers of clients. They are bounded in number and in time.
pub struct Parking {
    calls: Mutex<HashMap<String, Parked>>,
    /// The calls that the server may ask something for, the latest last.
    asking: Mutex<Vec<(Peer<ServerSide>, Weak<Questions>)>>,
    limit: usize,
    patience: Duration,
}

impl Parking {
    pub fn new(limit: usize, patience: Duration) -> Arc<Self> {
        Arc::new(Self {
            calls: Mutex::default(),
            asking: Mutex::default(),
            limit,
            patience,
        })
    }

    /// Begins a call that the server may ask something for.
    pub fn begin(
        &self,
        peer: Peer<ServerSide>,
        call: BoxFuture<'static, Called>,
        progress: mpsc::Receiver<Progress>,
    ) -> Running {
        let questions = Arc::new(Questions::default());
        let mut asking = self.asking.lock();
        asking.retain(|(_, questions)| questions.strong_count() > 0);
        asking.push((peer, Arc::downgrade(&questions)));
        Running {
            call,
            progress,
            questions,
        }
    }

    /// Who is asked what the server asks now: the client of the latest call.
    pub fn asked(&self) -> Option<(Peer<ServerSide>, Arc<Questions>)> {
        let asking = self.asking.lock();
        let mut latest = asking.iter().rev();
        latest.find_map(|(peer, questions)| Some((peer.clone(), questions.upgrade()?)))
    }

    /// Keeps a call until its client repeats the request; the name by which it is found.
    pub fn park(self: &Arc<Self>, call: Running) -> Result<String, ErrorObject> {
        let mut id = [0; 16];
        getrandom::fill(&mut id).map_err(internal)?;
        let name = format!("{:032x}", u128::from_le_bytes(id));
        let mut calls = self.calls.lock();
        if calls.len() >= self.limit {
            return Err(internal("too many calls wait for answers of their clients"));
        }
        let expiry = tokio::spawn(expire(Arc::downgrade(self), name.clone(), self.patience));
        let _expiry = AbortOnDropHandle::new(expiry);
        calls.insert(name.clone(), Parked { call, _expiry });
        Ok(name)
    }

    /// The call that a request goes on with, and the answers that it brings.
    pub fn resume(&self, name: &str, responses: Option<hub::InputResponses>) -> Result<Running, ErrorObject> {
        let parked = self.calls.lock().remove(name);
        let Parked { call, .. } =
            parked.ok_or_else(|| invalid_params("the call has ended, or has waited for too long"))?;
        call.questions.answer(responses.unwrap_or_default());
        Ok(call)
    }
}

/// Cancels a call whose client doesn't go on with it.
async fn expire(parking: Weak<Parking>, name: String, patience: Duration) {
    tokio::time::sleep(patience).await;
    let expired = parking.upgrade().and_then(|parking| parking.calls.lock().remove(&name));
    if expired.is_some() {
        tracing::debug!("a call is cancelled: its client hasn't answered what the server asks");
    }
}
