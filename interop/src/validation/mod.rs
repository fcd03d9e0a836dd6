//! Validation of the messages that our side sends in a session against the official schema of the negotiated revision.

mod schema;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use mcp_adapters::mcp_wire;
use mcp_runtime::Revision;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use self::schema::{MessageKind, Schema};
use crate::error::Error;
use crate::paths;
use crate::wire::{Direction, Entry};

/// Our role in a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OurRole {
    Server,
    Client,
}

impl OurRole {
    /// The role of the peer.
    pub fn other(self) -> Self {
        match self {
            Self::Server => Self::Client,
            Self::Client => Self::Server,
        }
    }
}

/// The official schemas of the released revisions.
pub struct LogValidator(BTreeMap<Revision, Schema>);

/// The result of validating the messages that our side sent.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The number of messages.
    pub checked: usize,
    /// The violations, each with its message.
    pub violations: Vec<String>,
    /// The revisions that were negotiated: by `initialize`, or by stateless requests that got a result.
    pub negotiated: Vec<Revision>,
}

/// The key in `_meta` with the revision of a stateless request.
const REVISION_KEY: &str = "io.modelcontextprotocol/protocolVersion";

/// The `resultType` of a method's own result.
const COMPLETE: &str = "complete";

impl LogValidator {
    /// Reads the official schemas, without our corrections.
    pub fn load() -> Result<Self, Error> {
        let load = |revision: Revision| {
            let path = paths::in_workspace("schema")
                .join(revision.as_str())
                .join("schema.json");
            Schema::load(&path).map(|schema| (revision, schema))
        };
        released().map(load).collect::<Result<_, _>>().map(Self)
    }

    /// Whether a definition of the revision's schema declares a member.
    pub fn declares(&self, revision: Revision, definition: &str, member: &str) -> bool {
        self.0
            .get(&revision)
            .is_some_and(|schema| schema.declares(definition, member))
    }

    /// Validates the messages of our side in the sessions of a log.
    pub fn validate(&mut self, ours: OurRole, log: &[Entry]) -> Report {
        let mut sessions: BTreeMap<u64, Session> = BTreeMap::new();
        let mut report = Report::default();
        for entry in log {
            let session = sessions.entry(entry.session).or_insert_with(|| Session::new(ours));
            for message in session.unpack(entry) {
                if entry.way == Direction::In {
                    session.receive(message);
                    continue;
                }
                let named = session.named_revision(message);
                let reasons = session.validate(message, named, &mut self.0);
                report.checked += 1;
                let (revision, text) = (named.unwrap_or_else(|| session.revision()), shortened(message));
                let violation = |reason| format!("by {revision}: {reason} in {text}");
                report.violations.extend(reasons.into_iter().map(violation));
            }
            if entry.way == Direction::Out && entry.message.is_array() && !session.revision().facts().batches {
                report.violations.push(format!("{} has no batches", session.revision()));
            }
        }
        report.negotiated = sessions
            .into_values()
            .flat_map(|session| session.stated.into_iter().chain(session.negotiated))
            .collect();
        report
    }
}

/// The state of a session while its log is read.
struct Session {
    ours: OurRole,
    /// The revision that `initialize` requests.
    asked: Option<Revision>,
    negotiated: Option<Revision>,
    /// The revision of the last request that named one.
    latest: Option<Revision>,
    /// The revisions of stateless requests that got a result.
    stated: BTreeSet<Revision>,
    /// The peer's requests without a response from us, by id.
    unanswered: HashMap<String, Request>,
    /// The ids of our own requests, with the revision that each names.
    used: HashMap<String, Option<Revision>>,
    /// The id of our own `initialize`.
    initialize_id: Option<String>,
}

/// A request without a response.
struct Request {
    method: String,
    /// Whether it requests a task instead of the result.
    for_task: bool,
    /// The revision that it names.
    revision: Option<Revision>,
}

impl Session {
    fn new(ours: OurRole) -> Self {
        Self {
            ours,
            asked: None,
            negotiated: None,
            latest: None,
            stated: BTreeSet::new(),
            unanswered: HashMap::new(),
            used: HashMap::new(),
            initialize_id: None,
        }
    }

    /// The messages of a batch, or the single message.
    fn unpack<'e>(&self, entry: &'e Entry) -> &'e [Value] {
        match &entry.message {
            Value::Array(messages) => messages,
            message => std::slice::from_ref(message),
        }
    }

    /// The revision of the session: the negotiated one, or the one that `initialize` requests, or the one that the last
    /// stateless request names.
    fn revision(&self) -> Revision {
        self.negotiated
            .or(self.asked)
            .or(self.latest)
            .or_else(|| released().filter(|revision| revision.facts().initializes).max())
            .unwrap_or(Revision::HUB)
    }

    /// The revision that our message, or the request to which it responds, names.
    fn named_revision(&self, message: &Value) -> Option<Revision> {
        let answered = || self.unanswered.get(&message.get("id")?.to_string())?.revision;
        named_revision(message).or_else(answered)
    }

    /// Records a message of the peer.
    fn receive(&mut self, message: &Value) {
        let Some(id) = message.get("id").map(Value::to_string) else {
            return;
        };
        if let Some(method) = message["method"].as_str() {
            if method == "initialize" {
                self.asked = version(&message["params"]);
            }
            let request = Request {
                method: method.to_owned(),
                for_task: message["params"].get("task").is_some(),
                revision: named_revision(message),
            };
            self.latest = request.revision.or(self.latest);
            self.unanswered.insert(id, request);
        } else if message.get("result").is_some() {
            if Some(&id) == self.initialize_id.as_ref() {
                self.negotiated = version(&message["result"]);
            }
            self.stated.extend(self.used.get(&id).copied().flatten());
        }
    }

    /// Returns the violations of a message of our side.
    fn validate(
        &mut self,
        message: &Value,
        named: Option<Revision>,
        schemas: &mut BTreeMap<Revision, Schema>,
    ) -> Vec<String> {
        let id = message.get("id").map(Value::to_string);
        let method = message["method"].as_str().map(str::to_owned);
        let (kind, definitions) = match (&method, &id) {
            (Some(method), id) => match self.validate_method(method, message, id.as_deref()) {
                Ok(known) => known,
                Err(reason) => return vec![reason],
            },
            (None, Some(id)) if message.get("result").is_some() => match self.unanswered.remove(id) {
                Some(request) => match self.validate_answer(&request, message) {
                    Ok(known) => known,
                    Err(reason) => return vec![reason],
                },
                None => return vec![format!("the response {id} matches no request, or is answered twice")],
            },
            (None, id) => {
                if let Some(id) = id {
                    self.unanswered.remove(id);
                }
                (MessageKind::Error, [].as_slice())
            }
        };
        match schemas.get_mut(&named.unwrap_or_else(|| self.revision())) {
            Some(schema) => schema.violations(kind, definitions, message),
            None => vec!["there is no schema".to_owned()],
        }
    }

    /// The kind and the definition of one of our requests or notifications.
    fn validate_method(&mut self, name: &str, message: &Value, id: Option<&str>) -> Result<Known, String> {
        if let Some(id) = id {
            if name == "initialize" {
                self.asked = version(&message["params"]);
                self.initialize_id = Some(id.to_owned());
            }
            let revision = named_revision(message);
            self.latest = revision.or(self.latest);
            if self.used.insert(id.to_owned(), revision).is_some() {
                return Err(format!("the id {id} is used again"));
            }
        }
        let kind = if id.is_some() {
            MessageKind::Request
        } else {
            MessageKind::Notification
        };
        let revision = named_revision(message).unwrap_or_else(|| self.revision());
        let method = revision.method(name).ok_or_else(|| format!("there is no {name}"))?;
        let away = match self.ours {
            OurRole::Server => mcp_wire::Direction::ServerToClient,
            OurRole::Client => mcp_wire::Direction::ClientToServer,
        };
        if ![away, mcp_wire::Direction::Both].contains(&method.direction) {
            return Err(format!("{name} goes the other way"));
        }
        if method.is_request() != id.is_some() {
            return Err(format!("{name} is a request without an id, or a notification with one"));
        }
        Ok((kind, std::slice::from_ref(&method.definition)))
    }

    /// The possible definitions of a request's result.
    fn validate_answer(&mut self, request: &Request, message: &Value) -> Result<Known, String> {
        let name = &request.method;
        if name == "initialize" {
            self.negotiated = version(&message["result"]);
        }
        self.stated.extend(request.revision);
        let revision = request.revision.unwrap_or_else(|| self.revision());
        let method = revision.method(name);
        let method = method.ok_or_else(|| format!("a result for {name}, which doesn't exist"))?;
        // The first is the method's own result. The others are for requests that ask for a task, or have a
        // `resultType`.
        let result_type = message["result"]["resultType"].as_str();
        let results = match result_type {
            Some(result_type) if result_type != COMPLETE => method.results.get(1..),
            _ if request.for_task => Some(method.results),
            _ => method.results.get(..1),
        };
        Ok((MessageKind::Result, results.unwrap_or_default()))
    }
}

/// The released revisions. Drafts are only spoken on request.
pub fn released() -> impl Iterator<Item = Revision> {
    Revision::ALL.into_iter().filter(|revision| revision.facts().released)
}

type Known = (MessageKind, &'static [&'static str]);

/// The revision that a request names, if that is a stateless revision.
fn named_revision(request: &Value) -> Option<Revision> {
    let named: Revision = request["params"]["_meta"][REVISION_KEY].as_str()?.parse().ok()?;
    (!named.facts().initializes).then_some(named)
}

/// The revision in the parameters or the result of `initialize`.
fn version(within: &Value) -> Option<Revision> {
    within["protocolVersion"].as_str()?.parse().ok()
}

/// A message shortened for a report.
fn shortened(message: &Value) -> String {
    let text = message.to_string();
    match text.char_indices().nth(400) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
