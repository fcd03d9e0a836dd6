//! The engine: it runs the conversions of tables over JSON.
//!
//! [`read`] reads the source as far as a conversion looks into it, and leaves the rest as text. So it does with a value in which all
//! conversions of the chain find nothing to do, as [`look`] knows by its type and [`kept`] by its members. Each [`step`] between two
//! neighbouring revisions changes the tree in place. [`step`] also finds out what a step leaves as it is.

mod accepted;
mod checks;
mod choose;
mod kept;
mod link;
mod look;
mod members;
mod node;
mod object;
mod read;
mod rules;
pub(crate) mod state;
mod step;
mod value;

use mcp_wire::{DecodeError, Decoded, Reader};

use self::look::{Look, looks};
pub(crate) use self::node::Node;
use self::read::{Nulls, Read};
use self::state::State;
use self::step::Change;
pub(crate) use self::step::Step;
use self::value::{Run, type_of_result};
use crate::loss::AUTOMATIC;
use crate::tables::types::TypeRef;
use crate::tables::{Role, RoleTypes, Table};
use crate::translated::FromPeer;
use crate::unrepresentable::Unrepresentable;

/// How many values, one within the other, are looked at before they are read as trees. The text of a value is looked at as often.
const TRIES: u8 = 4;

/// The conversions from one revision to another: those between the revisions on the way, one after the other.
#[derive(Debug)]
pub(crate) struct Chain {
    from: &'static Table,
    steps: Vec<&'static Step>,
    /// What the steps look at in each type of the source that one looks into.
    looks: Vec<Option<Look>>,
    client: Sent,
    server: Sent,
}

/// What a role sends.
#[derive(Debug)]
struct Sent {
    requests: Stream,
    notifications: Stream,
    results: Stream,
}

/// The messages of a union, or the results.
#[derive(Debug)]
struct Stream {
    source: Option<TypeRef>,
    /// What each step does. `None` where one of its revisions declares none.
    changes: Vec<Option<Change>>,
}

impl Sent {
    fn new(role: Role, from: &'static Table, steps: &[&'static Step]) -> Self {
        let stream = |name: fn(&RoleTypes) -> Option<&'static str>| {
            let union = |table: &'static Table| name(table.sent_by(role)).and_then(|name| table.named(name));
            let change = |step: &&'static Step| {
                let types = union(step.from).zip(union(step.to));
                types.and_then(|(source, target)| step.change(source, target))
            };
            Stream {
                source: union(from).cloned(),
                changes: steps.iter().map(change).collect(),
            }
        };
        Self {
            requests: stream(|types| types.requests),
            notifications: stream(|types| types.notifications),
            results: stream(|types| types.results),
        }
    }
}

impl From<Failed> for Unrepresentable {
    fn from(failed: Failed) -> Self {
        match failed {
            Failed::Invalid(error) => Self::by_rule(&error.reason(), AUTOMATIC).at(&error.path()),
            Failed::Unrepresentable(error) => error,
            Failed::NoCounterpart { revision, name } => Self::no_counterpart(name, revision),
        }
    }
}

impl From<Failed> for FromPeer {
    fn from(failed: Failed) -> Self {
        match failed {
            Failed::Invalid(error) => Self::Invalid(error),
            other => Self::Unrepresentable(other.into()),
        }
    }
}

/// Why a value can't be converted.
#[derive(Debug)]
pub(crate) enum Failed {
    /// It isn't one of its type.
    Invalid(DecodeError),
    Unrepresentable(Unrepresentable),
    /// A revision has no counterpart of the definition.
    NoCounterpart {
        revision: &'static str,
        name: &'static str,
    },
}

impl From<DecodeError> for Failed {
    fn from(error: DecodeError) -> Self {
        Self::Invalid(error)
    }
}

impl From<Unrepresentable> for Failed {
    fn from(error: Unrepresentable) -> Self {
        Self::Unrepresentable(error)
    }
}

impl Chain {
    /// The conversions from a revision over these steps.
    pub(crate) fn new(from: &'static Table, steps: Vec<&'static Step>) -> Self {
        Self {
            client: Sent::new(Role::Client, from, &steps),
            server: Sent::new(Role::Server, from, &steps),
            looks: looks(from.types.len(), &steps),
            from,
            steps,
        }
    }

    fn sent_by(&self, role: Role) -> &Sent {
        match role {
            Role::Client => &self.client,
            Role::Server => &self.server,
        }
    }

    /// Reads a value of a type. What no step looks into is checked if `checks` says so.
    pub(crate) fn read<'a>(
        &self,
        reader: Reader<'a>,
        ty: &TypeRef,
        checks: bool,
        state: &mut State,
    ) -> Decoded<Node<'a>> {
        self.read_source(reader, (ty, None), checks, state)
    }

    /// The same for a message whose method may be known.
    fn read_source<'a>(
        &self,
        mut reader: Reader<'a>,
        (ty, method): (&TypeRef, Option<&str>),
        checks: bool,
        state: &mut State,
    ) -> Decoded<Node<'a>> {
        state.begin(reader.text());
        let has_nulls = !self.steps.is_empty() && reader.text().contains("null");
        let read = Read {
            table: self.from,
            looks: &self.looks,
            checks,
            tries: TRIES,
            nulls: if has_nulls { Nulls::LeftOut } else { Nulls::Kept },
        };
        let node = read.source(&mut reader, ty, method)?;
        state.deepest = reader.deepest();
        state.places = reader.take_remembered();
        reader.finish()?;
        Ok(node)
    }

    /// Converts a value of a definition, and returns the definition that it has in the end.
    pub(crate) fn convert(
        &self,
        mut name: &'static str,
        node: &mut Node<'_>,
        state: &mut State,
    ) -> Result<&'static str, Failed> {
        for step in &self.steps {
            let missing = || Failed::NoCounterpart {
                revision: step.to.revision,
                name,
            };
            let next = step.definition(name).ok_or_else(missing)?;
            let types = step.from.named(name).zip(step.to.named(next));
            let change = types.and_then(|(source, target)| step.change(source, target));
            Run { step, state }.change(&change.ok_or_else(missing)?, node)?;
            if !state.carries() {
                step.check_open((name, next), node)?;
            }
            name = next;
        }
        Ok(name)
    }

    /// Reads a request or a notification that a role sends, and converts it.
    pub(crate) fn message<'a>(
        &self,
        (role, is_request): (Role, bool),
        method: Option<&str>,
        json: Reader<'a>,
        state: &mut State,
    ) -> Result<Node<'a>, Failed> {
        let sent = self.sent_by(role);
        let stream = if is_request {
            &sent.requests
        } else {
            &sent.notifications
        };
        let any = TypeRef::Object;
        let source = stream.source.as_ref().unwrap_or(&any);
        let mut node = self.read_source(json, (source, method), false, state)?;
        for (step, change) in self.steps.iter().zip(&stream.changes) {
            // A revision that declares no such messages takes those of others as they are.
            if let Some(change) = change {
                Run { step, state }.change(change, &mut node)?;
            }
        }
        Ok(node)
    }

    /// The name of a method in the last revision.
    pub(crate) fn method_there(&self, name: &'static str) -> &'static str {
        self.steps.iter().fold(name, |name, step| step.method(name))
    }

    /// Converts the result of a method that a role gives. `None` if the revision has no such method.
    pub(crate) fn result<'a>(
        &self,
        role: Role,
        method: &str,
        mut json: Reader<'a>,
        state: &mut State,
    ) -> Result<Option<Node<'a>>, Failed> {
        let Some(union) = &self.sent_by(role).results.source else {
            return Ok(None);
        };
        let Some(ty) = type_of_result(self.from, union, method, &mut json)? else {
            return Ok(None);
        };
        self.convert_result(role, ty, json, state).map(Some)
    }

    /// Converts a result of a type with this name; `None` for a result of a kind that the revision doesn't declare.
    pub(crate) fn result_of<'a>(
        &self,
        role: Role,
        type_name: Option<&str>,
        json: Reader<'a>,
        state: &mut State,
    ) -> Result<Node<'a>, Failed> {
        let ty = type_name.and_then(|name| self.from.notated(name));
        self.convert_result(role, ty, json, state)
    }

    fn convert_result<'a>(
        &self,
        role: Role,
        mut ty: Option<TypeRef>,
        json: Reader<'a>,
        state: &mut State,
    ) -> Result<Node<'a>, Failed> {
        let any = TypeRef::Any;
        let mut node = self.read(json, ty.as_ref().unwrap_or(&any), false, state)?;
        for (step, change) in self.steps.iter().zip(&self.sent_by(role).results.changes) {
            let Some(Change::Pair(union)) = change else {
                return Err(Unrepresentable::no_such_result(step.to.revision).into());
            };
            ty = Run { step, state }.result(*union, ty.as_ref(), &mut node)?;
        }
        Ok(node)
    }
}
