//! The tasks of a server.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chrono::{SecondsFormat, Utc};
use mcp_runtime::hub::{AnyCallToolResult, CallToolResult};
use mcp_runtime::{ErrorObject, error_code};
use serde_json::{Map, Value, json};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

/// The tasks by their ids. They are kept until the server ends.
#[derive(Clone, Default)]
pub struct Tasks(Arc<Mutex<BTreeMap<String, Task>>>);

struct Task {
    /// The members of the task in answers of `tasks/get`.
    members: Map<String, Value>,
    /// Who waits for the answers to the task's questions, by the names of these.
    asking: BTreeMap<String, oneshot::Sender<Value>>,
    cancelled: CancellationToken,
}

/// A task, for the function that does its work.
#[derive(Clone)]
pub struct Job {
    tasks: Tasks,
    id: String,
}

/// What becomes of the work: a result of the tool, which may say that the tool has failed, or an error of the protocol.
pub type Outcome = Result<CallToolResult, ErrorObject>;

fn now() -> Value {
    Utc::now().to_rfc3339_opts(SecondsFormat::Millis, true).into()
}

fn done() -> Value {
    json!({"resultType": "complete"})
}

impl Tasks {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Task>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a task; the result of the call that it comes from.
    pub fn create<F: Future<Output = Outcome> + Send + 'static>(
        &self,
        work: impl FnOnce(Job) -> F,
    ) -> AnyCallToolResult {
        let (mut tasks, begun, cancelled) = (self.lock(), now(), CancellationToken::new());
        let id = format!("task-{}", tasks.len() + 1);
        let task = json!({
            "taskId": id, "status": "working", "createdAt": begun, "lastUpdatedAt": begun, "ttlMs": 600_000, "pollIntervalMs": 200,
        });
        let members: Map<String, Value> = task.as_object().cloned().unwrap_or_default();
        let mut created = members.clone();
        created.insert("resultType".to_owned(), "task".into());
        let asking = BTreeMap::new();
        tasks.insert(
            id.clone(),
            Task {
                members,
                asking,
                cancelled: cancelled.clone(),
            },
        );
        let job = Job {
            tasks: self.clone(),
            id,
        };
        let work = work(job.clone());
        tokio::spawn(async move {
            if let Some(outcome) = cancelled.run_until_cancelled(work).await {
                job.end(outcome);
            }
        });
        AnyCallToolResult::Unknown(Value::from(created).into())
    }

    /// Changes or reads a task.
    ///
    /// # Errors
    /// When there is none with this id.
    fn with<T>(&self, id: &str, change: impl FnOnce(&mut Task) -> T) -> Result<T, ErrorObject> {
        let mut tasks = self.lock();
        let task = tasks.get_mut(id);
        let unknown = || ErrorObject::new(error_code::INVALID_PARAMS, format!("there is no task {id}"));
        task.map(change).ok_or_else(unknown)
    }

    pub fn get(&self, id: &str) -> Result<Value, ErrorObject> {
        self.with(id, |task| {
            let mut members = task.members.clone();
            members.insert("resultType".to_owned(), "complete".into());
            members.into()
        })
    }

    pub fn update(&self, id: &str, answers: Map<String, Value>) -> Result<Value, ErrorObject> {
        self.with(id, |task| {
            for (name, answer) in answers {
                if let Some(asking) = task.asking.remove(&name) {
                    // The work has ended if nobody waits.
                    let _ = asking.send(answer);
                    if let Some(Value::Object(questions)) = task.members.get_mut("inputRequests") {
                        questions.remove(&name);
                    }
                }
            }
            if task.asking.is_empty() && task.members.remove("inputRequests").is_some() {
                task.set("working", None);
            }
            done()
        })
    }

    pub fn cancel(&self, id: &str) -> Result<Value, ErrorObject> {
        self.with(id, |task| {
            task.cancelled.cancel();
            if matches!(task.members["status"].as_str(), Some("working" | "input_required")) {
                task.members.remove("inputRequests");
                task.set("cancelled", None);
            }
            done()
        })
    }
}

impl Task {
    /// Sets the status, and a member that comes with it.
    fn set(&mut self, status: &str, member: Option<(&str, Value)>) {
        self.members.insert("status".to_owned(), status.into());
        self.members.insert("lastUpdatedAt".to_owned(), now());
        self.members
            .extend(member.map(|(name, value)| (name.to_owned(), value)));
    }
}

impl Job {
    /// Asks the user, and waits for the answer.
    pub async fn ask(&self, name: &str, message: &str) -> Value {
        let form = json!({"type": "object", "properties": {"ok": {"type": "boolean"}}});
        let params = json!({"mode": "form", "message": message, "requestedSchema": form});
        let question = json!({"method": "elicitation/create", "params": params});
        let (asking, answer) = oneshot::channel();
        let asked = self.tasks.with(&self.id, |task| {
            let mut questions = match task.members.remove("inputRequests") {
                Some(Value::Object(questions)) => questions,
                _ => Map::new(),
            };
            questions.insert(name.to_owned(), question);
            task.asking.insert(name.to_owned(), asking);
            task.set("input_required", Some(("inputRequests", questions.into())));
        });
        match asked {
            Ok(()) => answer.await.unwrap_or_default(),
            Err(_) => Value::Null,
        }
    }

    fn end(&self, outcome: Outcome) {
        let result = outcome.and_then(|result| {
            serde_json::to_value(result)
                .map_err(|error| ErrorObject::new(error_code::INTERNAL_ERROR, error.to_string()))
        });
        let (status, member) = match result {
            Ok(result) => ("completed", ("result", result)),
            Err(error) => (
                "failed",
                ("error", json!({"code": error.code, "message": error.message})),
            ),
        };
        // A task stays where it is.
        let _ = self.tasks.with(&self.id, |task| {
            if !task.cancelled.is_cancelled() {
                task.set(status, Some(member));
            }
        });
    }
}
