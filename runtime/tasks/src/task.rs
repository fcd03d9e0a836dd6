//! One task.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use chrono::{SecondsFormat, Utc};
use mcp_core::hub;
use mcp_core::mcp_wire::RawObject;
use mcp_core::transport::Principal;
use mcp_ext_tasks::{
    CreateTaskResult, GetTaskResult, GetTaskResultCancelled, GetTaskResultCompleted, GetTaskResultFailed,
    GetTaskResultInputRequired, GetTaskResultWorking, TaskStatus,
};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

/// One task.
pub(crate) struct Task {
    id: String,
    /// Who may see it; anybody who knows its id, where no principal was known.
    owner: Option<Principal>,
    created: String,
    updated: String,
    ttl: Duration,
    expires: Instant,
    poll_interval: Duration,
    message: Option<String>,
    state: State,
    questions: BTreeMap<String, Question>,
    /// How many questions without a name there were.
    asked: u64,
    /// Ends the work.
    pub(crate) cancelled: CancellationToken,
}

/// What became of the work.
pub(crate) enum State {
    Working,
    Completed(RawObject),
    Failed(hub::base::Error),
    Cancelled,
}

/// A question that isn't answered yet.
struct Question {
    request: hub::InputRequest,
    answer: oneshot::Sender<hub::InputResponse>,
}

impl Task {
    pub(crate) fn new(id: String, owner: Option<Principal>, ttl: Duration, poll_interval: Duration) -> Self {
        let created = now();
        Self {
            id,
            owner,
            updated: created.clone(),
            created,
            ttl,
            expires: Instant::now() + ttl,
            poll_interval,
            message: None,
            state: State::Working,
            questions: BTreeMap::new(),
            asked: 0,
            cancelled: CancellationToken::new(),
        }
    }

    pub(crate) fn is_of(&self, principal: Option<&Principal>) -> bool {
        self.owner.as_ref() == principal
    }

    pub(crate) fn has_expired(&self) -> bool {
        self.expires <= Instant::now()
    }

    /// The bytes of what became of the work.
    pub(crate) fn bytes(&self) -> usize {
        match &self.state {
            State::Completed(result) => result.text().len(),
            State::Working | State::Failed(_) | State::Cancelled => 0,
        }
    }

    pub(crate) fn set_message(&mut self, message: String) {
        if matches!(self.state, State::Working) {
            self.message = Some(message);
            self.updated = now();
        }
    }

    /// Ends the task, unless it has ended.
    pub(crate) fn end(&mut self, state: State) {
        if matches!(self.state, State::Working) {
            self.questions.clear();
            self.state = state;
            self.updated = now();
        }
    }

    /// Asks the client something; `None` if the task has ended.
    pub(crate) fn ask(
        &mut self,
        name: Option<String>,
        request: hub::InputRequest,
    ) -> Option<oneshot::Receiver<hub::InputResponse>> {
        if !matches!(self.state, State::Working) {
            return None;
        }
        let name = name.unwrap_or_else(|| {
            self.asked += 1;
            self.asked.to_string()
        });
        let (answer, answered) = oneshot::channel();
        self.questions.insert(name, Question { request, answer });
        self.updated = now();
        Some(answered)
    }

    /// Whether there is a question of this name.
    pub(crate) fn asks(&self, name: &str) -> bool {
        self.questions.contains_key(name)
    }

    /// Answers questions. Names that aren't asked are ignored.
    pub(crate) fn answer(&mut self, answers: hub::InputResponses) {
        for (name, answer) in answers {
            if let Some(question) = self.questions.remove(&name) {
                // The work doesn't wait any more if this fails.
                let _ = question.answer.send(answer);
                self.updated = now();
            }
        }
    }

    pub(crate) fn created(&self) -> CreateTaskResult {
        let mut created = CreateTaskResult::new(
            &self.created,
            &self.updated,
            TaskStatus::Working,
            &self.id,
            Some(millis(self.ttl)),
        );
        created.poll_interval_ms = Some(millis(self.poll_interval));
        created.status_message.clone_from(&self.message);
        created
    }

    /// Its present state, as `tasks/get` gives it.
    pub(crate) fn state(&self) -> GetTaskResult {
        /// A result with what tasks of all states have.
        macro_rules! state {
            ($result:ident $(, $argument:expr)*) => {{
                let ttl = Some(millis(self.ttl));
                let mut result = $result::new(&self.created, &self.updated, &self.id, ttl $(, $argument)*);
                result.poll_interval_ms = Some(millis(self.poll_interval));
                result.status_message.clone_from(&self.message);
                result.into()
            }};
        }
        match &self.state {
            State::Working if self.questions.is_empty() => state!(GetTaskResultWorking),
            State::Working => {
                let asked = self.questions.iter();
                let asked = asked.map(|(name, question)| (name.clone(), question.request.clone()));
                state!(GetTaskResultInputRequired, asked.collect::<hub::InputRequests>())
            }
            State::Completed(result) => state!(GetTaskResultCompleted, result.clone()),
            State::Failed(error) => state!(GetTaskResultFailed, error.clone()),
            State::Cancelled => state!(GetTaskResultCancelled),
        }
    }
}

fn now() -> String {
    Utc::now().to_rfc3339_opts(SecondsFormat::Millis, true)
}

fn millis(duration: Duration) -> i64 {
    duration.as_millis().try_into().unwrap_or(i64::MAX)
}
