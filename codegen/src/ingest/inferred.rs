//! Entries of the overlay of a new revision that follow from the schema of the revision before: who sends messages, and
//! their results, if the new schema names its unions and results in another way.

use std::collections::BTreeSet;

use mcp_json_schema::{DEFINITIONS, all_definitions, pointer};
use serde_json::{Value, json};

use super::moved_definitions::Moved;
use crate::messages::{DIRECTIONS, MessageKind, RESPONSES, message_unions};
use crate::normalise::{envelope_of, methods_in_union, methods_of};

/// An entry of an overlay: its section, and its text without a reason and a link.
pub(super) type Entry = (&'static str, String);

/// The definitions of a schema: pointers, names and contents.
type Definitions<'s> = Vec<(String, &'s str, &'s Value)>;

/// Two schemas, of adjacent revisions.
pub(super) struct Inference<'s> {
    before: &'s Value,
    after: &'s Value,
    /// The definitions of the later schema, and those of the earlier one.
    definitions: Definitions<'s>,
    known_definitions: Definitions<'s>,
    known: Vec<Message<'s>>,
    messages: Vec<Message<'s>>,
    /// The earlier definitions that the later schema has at another place.
    moved: &'s [Moved<'s>],
}

/// A definition of a message.
struct Message<'s> {
    at: String,
    name: &'s str,
    methods: BTreeSet<String>,
    envelope: Option<MessageKind>,
}

impl<'s> Inference<'s> {
    pub(super) fn new([before, after]: [&'s Value; 2], moved: &'s [Moved<'s>]) -> Self {
        Self {
            before,
            after,
            definitions: all_definitions(after),
            known_definitions: all_definitions(before),
            known: messages(before),
            messages: messages(after),
            moved,
        }
    }

    /// Returns the entries that define the unions of sent messages that the schema lacks and the one before has.
    pub(super) fn unions(&self) -> impl Iterator<Item = Entry> {
        let missing = DIRECTIONS.iter().filter(|(union, ..)| !self.defines(union));
        let unions = missing.filter_map(|(union, kind, _)| Some((union, self.union(union, *kind)?)));
        unions.map(|(union, schema)| self.definition_of(union, &schema.to_string()))
    }

    /// Returns the entries that define the responses with one of several results that the schema lacks and the one before
    /// has, if the schema has all of these results.
    pub(super) fn responses(&self) -> impl Iterator<Item = Entry> {
        let requests = self.known.iter();
        let stems = requests.filter_map(|request| {
            request
                .name
                .strip_suffix("Request")
                .filter(|_| self.defines(request.name))
        });
        stems.filter_map(|stem| {
            let results = results_of(&self.known_definitions, stem);
            let is_lacking =
                response(&self.definitions, stem).is_none() && results.iter().all(|name| self.defines(name));
            let (name, response) =
                response(&self.known_definitions, stem).filter(|_| results.len() > 1 && is_lacking)?;
            let mut schema = response.to_string();
            for keyword in DEFINITIONS {
                schema = schema.replace(&format!("\"#/{keyword}/"), &format!("\"#/{}/", self.container()));
            }
            Some(self.definition_of(&name, &schema))
        })
    }

    /// Returns the entry that adds a definition.
    fn definition_of(&self, name: &str, schema: &str) -> Entry {
        let at = format!("#/{}/{name}", self.container());
        ("corrections", format!("at: {}, to: {schema}", json!(at)))
    }

    /// Returns the keyword of the later schema's definitions.
    fn container(&self) -> &'static str {
        let mut keywords = DEFINITIONS.into_iter();
        keywords
            .find(|keyword| self.after.get(keyword).is_some())
            .unwrap_or("$defs")
    }

    /// Returns the union that has the same messages as the one before, apart from new ones. If there is none, returns a
    /// union of the same messages and of all new ones.
    fn union(&self, union: &str, kind: MessageKind) -> Option<Value> {
        let all: BTreeSet<String> = DIRECTIONS
            .iter()
            .flat_map(|(union, ..)| methods_in_union(self.before, union))
            .collect();
        let is_there = |method: &String| self.messages.iter().any(|message| message.methods.contains(method));
        let methods: BTreeSet<String> = methods_in_union(self.before, union)
            .into_iter()
            .filter(is_there)
            .collect();
        let mut of_kind = DIRECTIONS.iter().filter(|(_, other, _)| *other == kind);
        // If there is a union of one side, the other side sends no messages of this kind.
        if methods.is_empty() || of_kind.any(|(union, ..)| self.defines(union)) {
            return None;
        }
        let reference = |at: &str| json!({ "$ref": pointer::reference(at) });
        let is_same = |name: &str| methods_in_union(self.after, name).intersection(&all).eq(&methods);
        let is_union = |schema: &Value| methods_of(self.after, schema).is_none();
        let mut definitions = self.definitions.iter();
        if let Some((at, ..)) = definitions.find(|(_, name, schema)| is_union(schema) && is_same(name)) {
            return Some(reference(at));
        }
        let is_new = |message: &Message<'_>| {
            self.known
                .iter()
                .all(|known| known.methods.is_disjoint(&message.methods))
        };
        let is_member = |message: &&Message<'_>| match is_new(message) {
            true => message.envelope == Some(kind),
            false => !methods.is_disjoint(&message.methods),
        };
        let members = self
            .messages
            .iter()
            .filter(is_member)
            .map(|message| reference(&message.at));
        let members: Vec<Value> = members.collect();
        Some(json!({ "anyOf": members }))
    }

    /// Returns the entries that name the results of requests which another definition defines than before, if their results
    /// still have the names that go with the earlier definition, and of requests whose results have other names.
    pub(super) fn results(&self) -> impl Iterator<Item = Entry> {
        let requests = self.known.iter();
        let requests = requests.filter_map(|known| Some((known, known.name.strip_suffix("Request")?)));
        let methods = requests.flat_map(|(known, stem)| known.methods.iter().map(move |method| (method, stem)));
        methods.filter_map(|(method, stem)| {
            let mut results = results_of(&self.definitions, stem);
            if results.is_empty() {
                results = self.moved_results(stem);
            }
            let (usual, others) = results.split_first().filter(|_| self.lacks_result(method))?;
            let alternatives = match others.is_empty() {
                true => String::new(),
                false => format!(", alternatives: {}", json!(others)),
            };
            Some((
                "results",
                format!("method: {}, result: {}{alternatives}", json!(method), json!(usual)),
            ))
        })
    }

    /// Returns the results of a request with this name before `Request` by the names that the later schema has for them, if
    /// it has all of them.
    fn moved_results(&self, stem: &str) -> Vec<String> {
        let names = results_of(&self.known_definitions, stem).into_iter().map(|name| {
            let (at, ..) = self.known_definitions.iter().find(|(_, known, _)| *known == name)?;
            let moved = self.moved.iter().find(|moved| moved.before == *at);
            let at = moved.map_or(at, |moved| &moved.after);
            let now = self.definitions.iter().find(|(place, ..)| place == at);
            now.map(|(_, name, _)| (*name).to_owned())
        });
        names.collect::<Option<_>>().unwrap_or_default()
    }

    /// Whether the schema has a request with this method, and no result with the same name.
    fn lacks_result(&self, method: &String) -> bool {
        let Some(message) = self.messages.iter().find(|message| message.methods.contains(method)) else {
            // It can be defined within a union.
            return DIRECTIONS
                .iter()
                .any(|(union, ..)| methods_in_union(self.after, union).contains(method));
        };
        message
            .name
            .strip_suffix("Request")
            .is_none_or(|stem| results_of(&self.definitions, stem).is_empty())
    }

    fn defines(&self, name: &str) -> bool {
        definition(&self.definitions, name).is_some()
    }
}

/// Returns the names of the results of a request with this name before `Request`, the usual one first.
fn results_of(definitions: &Definitions<'_>, stem: &str) -> Vec<String> {
    let usual = format!("{stem}Result");
    let result = response(definitions, stem).map(|(_, response)| &response["properties"]["result"]);
    let variants = result.map_or(&[][..], |result| {
        let mut lists = ["anyOf", "oneOf"]
            .iter()
            .filter_map(|keyword| result.get(keyword)?.as_array());
        lists.next().map_or(std::slice::from_ref(result), Vec::as_slice)
    });
    let name = |variant: &Value| Some(variant.get("$ref")?.as_str()?.rsplit_once('/')?.1.to_owned());
    let mut names: Vec<String> = variants.iter().filter_map(name).collect();
    if names.is_empty() && definition(definitions, &usual).is_some() {
        names.push(usual.clone());
    }
    names.sort_by_key(|name| *name != usual);
    names
}

/// Returns the response to a request with this name before `Request`, and its name.
fn response<'s>(definitions: &Definitions<'s>, stem: &str) -> Option<(String, &'s Value)> {
    let mut names = RESPONSES.iter().map(|end| format!("{stem}{end}"));
    names.find_map(|name| definition(definitions, &name).map(|response| (name, response)))
}

fn definition<'s>(definitions: &Definitions<'s>, name: &str) -> Option<&'s Value> {
    let mut definitions = definitions.iter();
    definitions.find_map(|(_, known, schema)| (*known == name).then_some(*schema))
}

/// Returns the definitions of messages. One of several with the same methods is enough.
fn messages(schema: &Value) -> Vec<Message<'_>> {
    let mut definitions = all_definitions(schema);
    definitions.retain(|(_, name, _)| message_unions().all(|union| union != *name));
    // A union of messages can be a copy of its only one.
    definitions.sort_by_key(|(_, name, _)| !["Request", "Notification"].iter().any(|end| name.ends_with(end)));
    let mut messages: Vec<Message<'_>> = Vec::new();
    for (at, name, definition) in definitions {
        let Some(methods) = methods_of(schema, definition) else {
            continue;
        };
        if messages.iter().all(|known| known.methods != methods) {
            let envelope = envelope_of(schema, definition);
            messages.push(Message {
                at,
                name,
                methods,
                envelope,
            });
        }
    }
    messages.sort_by(|a, b| a.at.cmp(&b.at));
    messages
}
