//! The engine: it runs the conversions of tables over JSON.
//!
//! [`read`] reads the source as far as a conversion looks into it, and leaves the rest as text. Each [`step`] between two
//! neighbouring revisions changes the tree in place. [`step`] also finds out what a step leaves as it is.

mod link;
mod node;
mod object;
mod read;
mod rules;
pub(crate) mod state;
mod step;
mod value;

use mcp_wire::{DecodeError, Decoded, Reader};

pub(crate) use self::node::Node;
use self::read::Read;
use self::state::State;
use self::step::Change;
pub(crate) use self::step::Step;
use self::value::{Run, type_of_result};
use crate::loss::AUTOMATIC;
use crate::tables::Table;
use crate::tables::types::TypeRef;
use crate::translated::FromPeer;
use crate::unrepresentable::Unrepresentable;

/// The conversions from one revision to another: those between the revisions on the way, one after the other.
#[derive(Debug)]
pub(crate) struct Chain {
    from: &'static Table,
    steps: Vec<&'static Step>,
    /// The types of the source that a step looks into.
    opens: Vec<bool>,
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
        let mut opens = Vec::new();
        for step in steps.iter().rev() {
            let mut before = vec![false; step.from.types.len()];
            for pair in &step.pairs {
                if let TypeRef::Named(source) = pair.source {
                    let later = matches!(pair.target, TypeRef::Named(id) if opens.get(id) == Some(&true));
                    before[source] |= later || !pair.keeps;
                }
            }
            opens = before;
        }
        Self { from, steps, opens }
    }

    /// Reads a value of a type. What no step looks into is checked if `checks` says so.
    pub(crate) fn read<'a>(&self, json: &'a str, ty: &TypeRef, checks: bool, state: &mut State) -> Decoded<Node<'a>> {
        state.begin(json);
        let mut reader = Reader::new(json);
        let read = Read {
            table: self.from,
            opens: &self.opens,
            checks,
        };
        let node = read.value(&mut reader, ty)?;
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
            name = next;
        }
        Ok(name)
    }

    /// Reads a message of a union, and converts it. The unions have these names in each revision.
    pub(crate) fn message<'a>(
        &self,
        unions: &[Option<&str>],
        json: &'a str,
        state: &mut State,
    ) -> Result<Node<'a>, Failed> {
        let any = TypeRef::Object;
        let union = unions[0].and_then(|name| self.from.named(name));
        let mut node = self.read(json, union.unwrap_or(&any), false, state)?;
        for (step, names) in self.steps.iter().zip(unions.windows(2)) {
            let types = names[0].and_then(|name| step.from.named(name));
            let types = types.zip(names[1].and_then(|name| step.to.named(name)));
            // A revision that declares no such messages takes those of others as they are.
            if let Some(change) = types.and_then(|(source, target)| step.change(source, target)) {
                Run { step, state }.change(&change, &mut node)?;
            }
        }
        Ok(node)
    }

    /// Converts the result of a method. The unions of results have these names in each revision. `None` if the revision has no such
    /// method.
    pub(crate) fn result<'a>(
        &self,
        unions: &[Option<&str>],
        method: &str,
        json: &'a str,
        checks: bool,
        state: &mut State,
    ) -> Result<Option<Node<'a>>, Failed> {
        let Some(union) = unions[0].and_then(|name| self.from.named(name)) else {
            return Ok(None);
        };
        let Some(ty) = type_of_result(self.from, union, method, json)? else {
            return Ok(None);
        };
        let any = TypeRef::Any;
        let node = self.read(json, ty.as_ref().unwrap_or(&any), checks, state)?;
        self.convert_result(unions, ty, node, state).map(Some)
    }

    /// Converts a result of a type with this name; `None` for a result of a kind that the revision doesn't declare.
    pub(crate) fn result_of<'a>(
        &self,
        unions: &[Option<&str>],
        type_name: Option<&str>,
        json: &'a str,
        state: &mut State,
    ) -> Result<Node<'a>, Failed> {
        let any = TypeRef::Any;
        let ty = type_name.and_then(|name| self.from.notated(name));
        let node = self.read(json, ty.as_ref().unwrap_or(&any), false, state)?;
        self.convert_result(unions, ty, node, state)
    }

    fn convert_result<'a>(
        &self,
        unions: &[Option<&str>],
        mut ty: Option<TypeRef>,
        mut node: Node<'a>,
        state: &mut State,
    ) -> Result<Node<'a>, Failed> {
        for (step, names) in self.steps.iter().zip(unions.windows(2)) {
            let refused = || Unrepresentable::no_such_result(step.to.revision);
            let types = names[0].and_then(|name| step.from.named(name));
            let types = types.zip(names[1].and_then(|name| step.to.named(name)));
            let change = types.and_then(|(source, target)| step.change(source, target));
            let Some(Change::Pair(union)) = change else {
                return Err(refused().into());
            };
            ty = Run { step, state }.result(union, ty.as_ref(), &mut node)?;
        }
        Ok(node)
    }
}
