//! The engine, which applies the conversions of tables to JSON.
//!
//! [`read`] reads the parts of the source that a conversion looks into as a tree, and leaves the rest as text. A value
//! also stays text if no conversion of the chain changes it, as [`effects`] knows from its type and [`kept`] from its
//! members, or if conversions only remove members or add some, which [`added`] provides. Each [`step`] between two
//! neighbouring revisions changes the tree in place. [`step`] also finds out which values a step leaves as they are.

mod accepted;
mod added;
mod check;
mod checks;
mod choose;
mod effect_analysis;
mod effects;
mod enclosed;
mod link;
mod members;
mod moved;
mod node;
mod object;
mod read;
mod rules;
mod seen;
pub(crate) mod state;
mod step;
mod unchanged;
mod value;

use std::borrow::Cow;

use mcp_wire::{DecodeError, Decoded, MessageHeader, MessageKind, Reader};

use self::added::Adding;
use self::choose::of_method;
use self::effect_analysis::EffectAnalysis;
use self::effects::Effects;
pub(crate) use self::node::Node;
use self::read::{Nulls, Read, mentions_null};
use self::state::State;
pub(crate) use self::step::Step;
use self::step::{Change, How};
use self::value::Run;
pub(crate) use self::value::type_of_result;
use crate::loss::AUTOMATIC;
use crate::supply::Added;
use crate::tables::types::{Kind, RoleTypes, TypeRef};
use crate::tables::{Role, Table};
use crate::translated::FromPeer;
use crate::unrepresentable::Unrepresentable;

/// The number of levels of nesting at which it is tried to keep a value as text, before it is read as a tree. A text
/// can be read as many times.
const TRIES: u8 = 4;

/// The conversions from one revision to another: one step for each pair of neighbouring revisions between them.
#[derive(Debug)]
pub(crate) struct Chain {
    from: &'static Table,
    steps: Vec<&'static Step>,
    /// The effects on the types of the source that a step looks into.
    all_effects: Vec<Option<Effects>>,
    /// A cache of the members that the steps add without a supply.
    added: Added,
    client: Sent,
    server: Sent,
}

/// The messages and results that a role sends.
#[derive(Debug)]
struct Sent {
    requests: Stream,
    notifications: Stream,
    /// The union of results.
    results: Option<TypeRef>,
    /// The look at each result.
    all_effects: Vec<(TypeRef, Effects)>,
}

/// The requests or the notifications of a role, which form a union.
#[derive(Debug)]
struct Stream {
    source: Option<TypeRef>,
    /// The change of each step. `None` if one of its revisions declares no such messages.
    changes: Vec<Option<Change>>,
    /// The methods whose messages are only changed by the conversions of their types.
    by_type: Vec<&'static str>,
}

impl Sent {
    fn new(role: Role, from: &'static Table, analysis: &EffectAnalysis<'_>) -> Self {
        let steps = analysis.steps;
        let sent = |table: &'static Table, name: fn(&RoleTypes) -> Option<&'static str>| {
            name(table.sent_by(role)).and_then(|name| table.named(name))
        };
        let stream = |name: fn(&RoleTypes) -> Option<&'static str>| {
            let union = |table: &'static Table| sent(table, name);
            let change = |step: &&'static Step| {
                let types = union(step.from).zip(union(step.to));
                types.and_then(|(source, target)| step.change(source, target))
            };
            let source = union(from).cloned();
            let changes: Vec<_> = steps.iter().map(change).collect();
            let by_type = source.as_ref().map(|source| by_type(from, source, steps, &changes));
            Stream {
                source,
                changes,
                by_type: by_type.unwrap_or_default(),
            }
        };
        Self {
            requests: stream(|types| types.requests),
            notifications: stream(|types| types.notifications),
            results: sent(from, |types| types.results).cloned(),
            all_effects: all_effects(role, analysis),
        }
    }
}

/// Returns the methods whose messages each step converts as messages of the same method.
fn by_type(from: &Table, union: &TypeRef, steps: &[&'static Step], changes: &[Option<Change>]) -> Vec<&'static str> {
    let Some(Kind::Methods(methods)) = from.kind(union) else {
        return Vec::new();
    };
    let is_by_type = |(method, id): &&(&'static str, usize)| {
        let mut message = TypeRef::Named(*id);
        steps.iter().zip(changes).all(|(step, change)| {
            let Some(Change::Pair(union)) = change else {
                return false;
            };
            let How::Methods(plan) = &step.pairs[*union].how else {
                return false;
            };
            let Some(Some(Change::Pair(pair))) = of_method(&plan.methods, method) else {
                return false;
            };
            let pair = &step.pairs[*pair];
            let is_same = pair.source == message;
            message = pair.target.clone();
            is_same
        })
    };
    methods.iter().filter(is_by_type).map(|(method, _)| *method).collect()
}

/// Returns the look at each result that has a named type, and becomes one of another named type in each step.
fn all_effects(role: Role, analysis: &EffectAnalysis<'_>) -> Vec<(TypeRef, Effects)> {
    let first = analysis.steps.first().and_then(|step| step.results(role));
    let effects = |result: &TypeRef| {
        let TypeRef::Named(id) = result else { return None };
        let mut becomes = result.clone();
        let pairs = analysis.steps.iter().map(|step| {
            let mut results = step.results(role)?.results.iter();
            let (_, result) = results.find(|(known, _)| *known == becomes)?;
            let Some((target, Change::Pair(pair))) = result else {
                return None;
            };
            becomes = target.clone();
            Some(*pair)
        });
        let pairs: Vec<_> = pairs.collect::<Option<_>>()?;
        Some((result.clone(), analysis.effects(*id, Some(&pairs))))
    };
    let results = first.iter().flat_map(|plan| &plan.results);
    results.filter_map(|(result, _)| effects(result)).collect()
}

impl From<Failed> for Unrepresentable {
    fn from(failed: Failed) -> Self {
        match failed {
            Failed::Invalid(error) => Self::undecodable(error),
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

/// The reason why a value can't be converted.
#[derive(Debug)]
pub(crate) enum Failed {
    /// The value isn't one of its type.
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
    /// Creates the conversions from a revision by these steps.
    pub(crate) fn new(from: &'static Table, steps: Vec<&'static Step>) -> Self {
        let analysis = EffectAnalysis::new(&steps);
        Self {
            client: Sent::new(Role::Client, from, &analysis),
            server: Sent::new(Role::Server, from, &analysis),
            all_effects: analysis.all_effects(from.types.len()),
            added: Added::default(),
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

    /// Reads a value of a type. `checks` is whether the parts that no step looks into are checked too.
    pub(crate) fn read<'a>(
        &self,
        mut reader: Reader<'a>,
        ty: &TypeRef,
        checks: bool,
        state: &mut State,
    ) -> Decoded<Node<'a>> {
        let read = |read: Read<'_>, reader: &mut Reader<'a>| read.value(reader, ty);
        let node = self.read_source(&mut reader, read, checks, state)?;
        reader.finish()?;
        Ok(node)
    }

    fn read_source<'a>(
        &self,
        reader: &mut Reader<'a>,
        read: impl FnOnce(Read<'_>, &mut Reader<'a>) -> Decoded<Node<'a>>,
        checks: bool,
        state: &mut State,
    ) -> Decoded<Node<'a>> {
        state.begin(reader.text());
        let adding = Adding {
            policy: state.policy,
            supply: state.supply.as_ref(),
            unsupplied: &self.added,
        };
        let add = |effects: &Effects, lacking: u64| adding.to(effects, lacking);
        // In a text with known strings, the search takes less time than to look for each `null` that is left out.
        let has_no_null = || reader.has_known() && !reader.parts_to_look_at().any(mentions_null);
        let nulls = match self.steps.is_empty() || has_no_null() {
            true => Nulls::Kept,
            false => Nulls::LeftOut,
        };
        let how = Read {
            table: self.from,
            all_effects: &self.all_effects,
            checks,
            tries: if state.only_trees { 0 } else { TRIES },
            nulls,
            adding: (!state.only_trees).then_some(&add),
        };
        let node = read(how, reader)?;
        state.deepest = reader.deepest();
        state.places = reader.take_remembered();
        Ok(node)
    }

    /// Returns the name of a definition in the target.
    pub(crate) fn definition(&self, name: &'static str) -> Option<&'static str> {
        self.steps.iter().try_fold(name, |name, step| step.definition(name))
    }

    /// Converts a value of a definition, and returns its definition in the target.
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
            let to_check = (!state.carries()).then(|| step.schema_to_check((name, next), node));
            Run { step, state }.change(&change.ok_or_else(missing)?, node)?;
            if let Some(pointer) = to_check.flatten() {
                step.validate(node, &pointer, AUTOMATIC)?;
            }
            name = next;
        }
        Ok(name)
    }

    /// Reads a request or a notification that a role sends, and converts it.
    pub(crate) fn message<'a>(
        &self,
        (role, is_request): (Role, bool),
        json: Reader<'a>,
        state: &mut State,
    ) -> Result<Node<'a>, Failed> {
        self.convert_message(self.stream(role, is_request), None, json, state)
    }

    /// Does the same for one whose header has been read.
    pub(crate) fn message_of<'a>(
        &self,
        role: Role,
        header: &'a MessageHeader<'_>,
        state: &mut State,
    ) -> Result<Node<'a>, Failed> {
        let json = header.reader().remembering();
        let method = header.method().ok_or_else(|| json.missing("method"))?;
        let stream = self.stream(role, header.kind()? == MessageKind::Request);
        self.convert_message(stream, Some((&method, header)), json, state)
    }

    fn stream(&self, role: Role, is_request: bool) -> &Stream {
        let sent = self.sent_by(role);
        match is_request {
            true => &sent.requests,
            false => &sent.notifications,
        }
    }

    /// Reads a message, and converts it. `header` has its method and its header, if they are known.
    fn convert_message<'a>(
        &self,
        stream: &Stream,
        header: Option<(&Cow<'_, str>, &MessageHeader<'_>)>,
        mut json: Reader<'a>,
        state: &mut State,
    ) -> Result<Node<'a>, Failed> {
        let any = TypeRef::Object;
        let source = stream.source.as_ref().unwrap_or(&any);
        let is_by_type = header.is_some_and(|(method, _)| stream.by_type.contains(&&**method));
        let read = |read: Read<'_>, reader: &mut Reader<'a>| read.message(reader, source, header, is_by_type);
        let mut node = self.read_source(&mut json, read, false, state)?;
        json.finish()?;
        for (step, change) in self.steps.iter().zip(&stream.changes) {
            // Messages aren't changed between revisions of which one declares no such messages.
            if let Some(change) = change {
                Run { step, state }.change(change, &mut node)?;
            }
        }
        Ok(node)
    }

    /// Returns the name of a method in the last revision.
    pub(crate) fn method_there(&self, name: &'static str) -> &'static str {
        self.steps.iter().fold(name, |name, step| step.method(name))
    }

    /// Reads the result that a role sends for a method, and converts it. `None` if the revision has no such method.
    pub(crate) fn result<'a>(
        &self,
        role: Role,
        method: &str,
        json: &mut Reader<'a>,
        state: &mut State,
    ) -> Result<Option<Node<'a>>, Failed> {
        let Some(union) = &self.sent_by(role).results else {
            return Ok(None);
        };
        let Some(ty) = type_of_result(self.from, union, method, json)? else {
            return Ok(None);
        };
        self.convert_result(role, ty, json, state).map(Some)
    }

    /// Reads and converts a result. `type_name` is the name of its type, or `None` for a kind of result that the
    /// revision doesn't declare.
    pub(crate) fn result_of<'a>(
        &self,
        role: Role,
        type_name: Option<&str>,
        mut json: Reader<'a>,
        state: &mut State,
    ) -> Result<Node<'a>, Failed> {
        let ty = type_name.and_then(|name| self.from.notated(name));
        let node = self.convert_result(role, ty, &mut json, state)?;
        json.finish()?;
        Ok(node)
    }

    fn convert_result<'a>(
        &self,
        role: Role,
        mut ty: Option<TypeRef>,
        json: &mut Reader<'a>,
        state: &mut State,
    ) -> Result<Node<'a>, Failed> {
        let any = TypeRef::Any;
        let source = ty.as_ref().unwrap_or(&any);
        let mut all_effects = self.sent_by(role).all_effects.iter();
        let effects = all_effects
            .find(|(known, _)| known == source)
            .map(|(_, effects)| effects);
        let read = |read: Read<'_>, reader: &mut Reader<'a>| read.looked_at(reader, source, effects);
        let mut node = self.read_source(json, read, false, state)?;
        for step in &self.steps {
            ty = Run { step, state }.result(role, ty.as_ref(), &mut node)?;
        }
        Ok(node)
    }
}
