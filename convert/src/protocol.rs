//! The tables of all revisions, and the conversions between them.

use std::sync::{Mutex, OnceLock, PoisonError};

use mcp_wire::{DecodeError, Reader, Schema, error_code};

use crate::engine::state::State;
use crate::engine::{Chain, Failed, Step};
use crate::loss::AUTOMATIC;
use crate::tables::Table;
use crate::unrepresentable::Unrepresentable;

/// The revisions of a protocol, by their tables.
///
/// A table is read when its revision is first needed.
#[derive(Debug)]
pub struct Protocol {
    sources: &'static [TableSource],
    tables: OnceLock<Vec<OnceLock<Result<Table, DecodeError>>>>,
    /// The conversions from the revision before each one, and back to it.
    steps: OnceLock<Vec<[OnceLock<Step>; 2]>>,
    /// The chains of conversions that have been needed so far, by the names of the two revisions.
    chains: Mutex<Vec<(&'static str, &'static str, &'static Chain)>>,
}

/// What a table is read from.
#[derive(Debug)]
pub struct TableSource {
    /// The name of the revision.
    pub revision: &'static str,
    /// The text of the table.
    pub table: &'static str,
    /// The schema of the revision.
    pub schema: &'static Schema,
}

impl Protocol {
    /// The protocol with these revisions, the earliest first.
    #[must_use]
    pub const fn new(sources: &'static [TableSource]) -> Self {
        Self {
            sources,
            tables: OnceLock::new(),
            steps: OnceLock::new(),
            chains: Mutex::new(Vec::new()),
        }
    }

    /// The table of a revision.
    ///
    /// # Errors
    /// There is no such revision, or its table can't be read. Those that are generated can.
    pub fn table(&'static self, revision: &str) -> Result<&'static Table, Unrepresentable> {
        let internal = |because: String| Unrepresentable::new(error_code::INTERNAL_ERROR, because, AUTOMATIC);
        let tables = self
            .tables
            .get_or_init(|| self.sources.iter().map(|_| OnceLock::new()).collect());
        let mut sources = self.sources.iter().zip(tables);
        let (source, table) = sources
            .find(|(source, _)| source.revision == revision)
            .ok_or_else(|| internal(format!("revision {revision} has no table")))?;
        table
            .get_or_init(|| Table::parse(source.table, source.schema))
            .as_ref()
            .map_err(|error| internal(format!("the table of revision {revision}: {error}")))
    }

    /// The conversions from one revision to another.
    pub(crate) fn chain(&'static self, from: &str, to: &str) -> Result<&'static Chain, Unrepresentable> {
        let find = |chains: &[(&str, &str, &'static Chain)]| {
            let mut chains = chains.iter();
            chains.find_map(|(first, last, chain)| (*first == from && *last == to).then_some(*chain))
        };
        if let Some(chain) = find(&self.chains.lock().unwrap_or_else(PoisonError::into_inner)) {
            return Ok(chain);
        }
        let position = |name: &str| {
            self.sources
                .iter()
                .position(|source| source.revision == name)
                .unwrap_or_default()
        };
        let (first, last) = (position(from), position(to));
        let steps = match first <= last {
            true => (first + 1..=last).map(|later| self.step(later, true)).collect(),
            false => (last + 1..=first).rev().map(|later| self.step(later, false)).collect(),
        };
        let steps: Result<Vec<&'static Step>, Unrepresentable> = steps;
        let chain = Chain::new(self.table(from)?, steps?);
        let mut chains = self.chains.lock().unwrap_or_else(PoisonError::into_inner);
        // Another thread may have been faster.
        if let Some(chain) = find(&chains) {
            return Ok(chain);
        }
        let chain: &'static Chain = Box::leak(Box::new(chain));
        chains.push((self.sources[first].revision, self.sources[last].revision, chain));
        Ok(chain)
    }

    /// The conversions between the revision at a position and the one before.
    fn step(&'static self, later: usize, upward: bool) -> Result<&'static Step, Unrepresentable> {
        let none = || self.sources.iter().map(|_| Default::default()).collect();
        let steps = self.steps.get_or_init(none);
        let (before, table) = (&self.sources[later - 1], &self.sources[later]);
        let (before, table) = (self.table(before.revision)?, self.table(table.revision)?);
        Ok(match upward {
            true => steps[later][0].get_or_init(|| Step::new(before, table, table.up.as_ref())),
            false => steps[later][1].get_or_init(|| Step::new(table, before, table.down.as_ref())),
        })
    }

    /// Converts the JSON of a type between two revisions. The types are at these pointers of their schemas.
    pub(crate) fn convert_at(
        &'static self,
        from: &str,
        to: &str,
        (source, target): (&str, &str),
        json: &str,
        state: &mut State,
    ) -> Result<String, Unrepresentable> {
        let (table, other) = (self.table(from)?, self.table(to)?);
        let no_counterpart = |name: &str| Unrepresentable::no_counterpart(name, other.revision());
        let name = table.name_at(source).ok_or_else(|| no_counterpart(source))?;
        let chain = self.chain(from, to)?;
        let converted = table
            .named(name)
            .map(|ty| chain.read(Reader::new(json), ty, false, state))
            .transpose();
        let mut node = match converted {
            Ok(Some(node)) => node,
            Ok(None) => return Err(no_counterpart(name)),
            Err(error) => return Err(Unrepresentable::by_rule(&error.reason(), AUTOMATIC).at(&error.path())),
        };
        let becomes = match chain.convert(name, &mut node, state) {
            Ok(becomes) => becomes,
            Err(Failed::Unrepresentable(error)) => return Err(error),
            Err(Failed::Invalid(error)) => return Err(Unrepresentable::by_rule(&error.reason(), AUTOMATIC)),
            Err(Failed::NoCounterpart { revision, name }) => {
                return Err(Unrepresentable::no_counterpart(name, revision));
            }
        };
        if other.name_at(target) != Some(becomes) {
            let because = format!("the counterpart of `{name}` in revision {to} is `{becomes}`");
            return Err(Unrepresentable::new(error_code::INTERNAL_ERROR, because, AUTOMATIC));
        }
        Ok(node.into_text().into_owned())
    }
}
