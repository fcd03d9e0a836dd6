//! One task of this instance.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Weak;
use std::time::Instant;

use chrono::Utc;
use mcp_runtime_core::{ErrorObject, hub};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use crate::record::{State, TaskRecord};
use crate::watch::Watcher;

/// A client's answer to an input request, or its error.
pub(crate) type Answer = Result<hub::InputResponse, ErrorObject>;

/// One task of this instance.
pub(crate) struct Task {
    pub(crate) record: TaskRecord,
    pub(crate) expires: Instant,
    /// The senders of the answers to its input requests, by name.
    answers: BTreeMap<String, oneshot::Sender<Answer>>,
    /// The number of input requests so far that have a number as their name.
    asked: u64,
    /// The names of all input requests so far.
    names: BTreeSet<String>,
    /// Stops the work.
    pub(crate) cancelled: CancellationToken,
    /// Whether the end of the task is in the shared store, and its result isn't here any more.
    pub(crate) is_stored: bool,
    watchers: Vec<Weak<Watcher>>,
}

impl Task {
    pub(crate) fn new(record: TaskRecord) -> Self {
        Self {
            expires: Instant::now() + record.remaining(),
            record,
            answers: BTreeMap::new(),
            asked: 0,
            names: BTreeSet::new(),
            cancelled: CancellationToken::new(),
            is_stored: false,
            watchers: Vec::new(),
        }
    }

    /// Adds a watcher, which is notified of each change.
    pub(crate) fn watch(&mut self, watcher: Weak<Watcher>) {
        self.watchers.push(watcher);
    }

    fn changed(&mut self) {
        let id = &self.record.id;
        self.watchers.retain(|watcher| {
            let watcher = watcher.upgrade();
            watcher.inspect(|watcher| watcher.push(id)).is_some()
        });
    }

    pub(crate) fn set_message(&mut self, message: String) {
        if !self.record.has_ended() {
            self.record.message = Some(message);
            self.touch();
        }
    }

    /// Ends the task, unless it has ended.
    pub(crate) fn end(&mut self, state: State) {
        if self.record.end(state) {
            self.answers.clear();
            self.changed();
        }
    }

    /// Adds an input request; `None` if the task has ended.
    pub(crate) fn ask(
        &mut self,
        name: Option<String>,
        request: hub::InputRequest,
    ) -> Option<oneshot::Receiver<Answer>> {
        let State::Working { asks } = &mut self.record.state else {
            return None;
        };
        let mut number = || {
            self.asked += 1;
            self.asked.to_string()
        };
        let mut name = name.unwrap_or_else(&mut number);
        // Clients take a repeated name for that of an input request which they have answered.
        while !self.names.insert(name.clone()) {
            name = number();
        }
        let (answer, answered) = oneshot::channel();
        asks.insert(name.clone(), request);
        self.answers.insert(name, answer);
        self.touch();
        Some(answered)
    }

    /// Answers input requests. Names without an input request are ignored.
    pub(crate) fn answer(&mut self, given: hub::InputResponses) {
        let mut is_changed = false;
        for (name, answer) in given {
            is_changed |= self.deliver(&name, Ok(answer));
        }
        if is_changed {
            self.touch();
        }
    }

    /// Answers an input request with the error of the client. A name without an input request is ignored.
    pub(crate) fn refuse(&mut self, name: &str, error: ErrorObject) {
        if self.deliver(name, Err(error)) {
            self.touch();
        }
    }

    /// Removes the input requests for whose answers the work no longer waits.
    pub(crate) fn withdraw(&mut self) {
        let State::Working { asks } = &mut self.record.state else {
            return;
        };
        let before = self.answers.len();
        self.answers.retain(|name, waits| {
            if waits.is_closed() {
                asks.remove(name);
            }
            !waits.is_closed()
        });
        if self.answers.len() < before {
            self.touch();
        }
    }

    /// Delivers an answer to the work. Returns whether there is an input request with this name.
    fn deliver(&mut self, name: &str, answer: Answer) -> bool {
        let (State::Working { asks }, Some(waits)) = (&mut self.record.state, self.answers.remove(name)) else {
            return false;
        };
        asks.remove(name);
        // This fails if the work no longer waits.
        let _ = waits.send(answer);
        true
    }

    fn touch(&mut self) {
        self.record.updated = Utc::now();
        self.changed();
    }
}
