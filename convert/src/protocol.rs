//! The tables of all revisions, and the conversions between them.

use std::fmt;
use std::sync::{Mutex, OnceLock, PoisonError, RwLock};

use mcp_wire::{DecodeError, Reader, Schema};

use crate::engine::state::State;
use crate::engine::{Chain, Step};
use crate::tables::{self, Known, Table};
use crate::unrepresentable::Unrepresentable;

/// The revisions of a protocol, by their tables.
///
/// A table is read when its revision is first used.
#[derive(Debug)]
pub struct Protocol {
    sources: &'static [TableSource],
    compiled: OnceLock<Vec<Entry>>,
    /// The revisions that were loaded at run time. Like compiled ones, they are never removed.
    loaded: RwLock<Vec<&'static Entry>>,
    /// A cache of the chains of conversions, by the source and the target revision.
    chains: Mutex<Vec<(usize, usize, &'static Chain)>>,
}

/// The source of a revision: its name, table and schema.
#[derive(Debug, Clone, Copy)]
pub struct TableSource {
    /// The position of the revision in the protocol, counting those that aren't compiled.
    pub index: usize,
    /// The name of the revision.
    pub revision: &'static str,
    /// The text of the table.
    pub table: &'static str,
    /// The schema of the revision.
    pub schema: &'static Schema,
}

/// A revision.
#[derive(Debug)]
struct Entry {
    source: TableSource,
    known: OnceLock<Known>,
    table: OnceLock<Result<Table, DecodeError>>,
    /// The conversions from the previous revision, and back to it.
    steps: [OnceLock<Step>; 2],
}

/// The error of a revision that can't be loaded.
#[derive(Debug)]
pub enum LoadError {
    /// There is already a revision with this name.
    Exists(String),
    /// The text isn't the table of the revision.
    Table {
        /// The name of the revision.
        revision: String,
        /// The cause.
        error: DecodeError,
    },
    /// The revision isn't the successor of the last one.
    Order {
        /// The name of the revision.
        revision: String,
        /// The revision that it is the successor of.
        after: String,
    },
    /// The text isn't a JSON Schema that values can be validated by.
    Schema {
        /// The name of the revision.
        revision: String,
        /// The cause.
        error: mcp_wire::json_schema::SchemaError,
    },
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exists(revision) => write!(f, "there is a revision {revision} already"),
            Self::Table { revision, error } => write!(f, "the table of revision {revision}: {error}"),
            Self::Order { revision, after } => {
                write!(f, "revision {revision} comes after {after}, which isn't the last one")
            }
            Self::Schema { revision, error } => write!(f, "the schema of revision {revision}: {error}"),
        }
    }
}

impl std::error::Error for LoadError {}

impl Entry {
    fn new(source: TableSource) -> Self {
        Self {
            source,
            known: OnceLock::new(),
            table: OnceLock::new(),
            steps: Default::default(),
        }
    }
}

impl Protocol {
    /// Creates a protocol with these revisions, the earliest first.
    #[must_use]
    pub const fn new(sources: &'static [TableSource]) -> Self {
        Self {
            sources,
            compiled: OnceLock::new(),
            loaded: RwLock::new(Vec::new()),
            chains: Mutex::new(Vec::new()),
        }
    }

    /// Adds a revision after the others, and returns its position. Its texts are kept as long as the program runs.
    ///
    /// # Errors
    /// When there is a revision with this name, a text can't be read, or the revision isn't the successor of the last
    /// one.
    pub fn load(&'static self, revision: &str, table: &str, schema: &str) -> Result<usize, LoadError> {
        let mut loaded = self.loaded.write().unwrap_or_else(PoisonError::into_inner);
        let names = self.sources.iter().chain(loaded.iter().map(|entry| &entry.source));
        if names.clone().any(|source| source.revision == revision) {
            return Err(LoadError::Exists(revision.to_owned()));
        }
        let index = names.clone().map(|source| source.index + 1).max().unwrap_or_default();
        let in_table = |error| LoadError::Table {
            revision: revision.to_owned(),
            error,
        };
        // If a revision can't be read, only its leaked texts remain.
        let name: &'static str = revision.to_owned().leak();
        let schema = Schema::new(name, schema.to_owned().leak());
        if let Err(error) = schema.validator() {
            return Err(LoadError::Schema {
                revision: revision.to_owned(),
                error: error.clone(),
            });
        }
        let source = TableSource {
            index,
            revision: name,
            table: table.to_owned().leak(),
            schema: Box::leak(Box::new(schema)),
        };
        let entry = Entry::new(source);
        let known = tables::known(source.table).map_err(in_table)?;
        let table = Table::parse(source.table, source.schema).map_err(in_table)?;
        if table.revision() != revision {
            return Err(in_table(Reader::new(source.table).missing(revision)));
        }
        let last = names.last().map(|source| source.revision);
        if table.before != last {
            return Err(LoadError::Order {
                revision: revision.to_owned(),
                after: table.before.unwrap_or("none").to_owned(),
            });
        }
        let (_, _) = (entry.known.set(known), entry.table.set(Ok(table)));
        loaded.push(Box::leak(Box::new(entry)));
        Ok(index)
    }

    /// Returns the positions of the revisions, the earliest first.
    pub fn indices(&'static self) -> std::ops::Range<usize> {
        let first = self.sources.first().map_or(0, |source| source.index);
        let loaded = self.loaded.read().unwrap_or_else(PoisonError::into_inner).len();
        first..first + self.sources.len() + loaded
    }

    fn entry(&'static self, index: usize) -> Result<&'static Entry, Unrepresentable> {
        let compiled = self
            .compiled
            .get_or_init(|| self.sources.iter().copied().map(Entry::new).collect());
        let first = self.sources.first().map_or(0, |source| source.index);
        let missing = || Unrepresentable::internal(format!("there is no revision {index}"));
        let position = index.checked_sub(first).ok_or_else(missing)?;
        match compiled.get(position) {
            Some(entry) => Ok(entry),
            None => {
                let loaded = self.loaded.read().unwrap_or_else(PoisonError::into_inner);
                loaded.get(position - compiled.len()).copied().ok_or_else(missing)
            }
        }
    }

    /// Returns the source of a revision.
    pub(crate) fn source(&'static self, index: usize) -> Option<&'static TableSource> {
        self.entry(index).ok().map(|entry| &entry.source)
    }

    /// Returns the part of a revision's table that sessions need. Generated tables always have it.
    pub(crate) fn known(&'static self, index: usize) -> &'static Known {
        static NOTHING: std::sync::LazyLock<Known> = std::sync::LazyLock::new(Known::default);
        match self.entry(index) {
            Ok(entry) => entry
                .known
                .get_or_init(|| tables::known(entry.source.table).unwrap_or_default()),
            Err(_) => &NOTHING,
        }
    }

    /// Returns the table of a revision.
    ///
    /// # Errors
    /// There is no such revision, or its table can't be read. Generated tables always can.
    pub fn table(&'static self, index: usize) -> Result<&'static Table, Unrepresentable> {
        let entry = self.entry(index)?;
        let source = &entry.source;
        entry
            .table
            .get_or_init(|| Table::parse(source.table, source.schema))
            .as_ref()
            .map_err(|error| Unrepresentable::internal(format!("the table of revision {}: {error}", source.revision)))
    }

    /// Returns the conversions from one revision to another.
    pub(crate) fn chain(&'static self, from: usize, to: usize) -> Result<&'static Chain, Unrepresentable> {
        let find = |chains: &[(usize, usize, &'static Chain)]| {
            let mut chains = chains.iter();
            chains.find_map(|(first, last, chain)| (*first == from && *last == to).then_some(*chain))
        };
        if let Some(chain) = find(&self.chains.lock().unwrap_or_else(PoisonError::into_inner)) {
            return Ok(chain);
        }
        let steps: Result<_, _> = match from <= to {
            true => (from + 1..=to).map(|later| self.step(later, true)).collect(),
            false => (to + 1..=from).rev().map(|later| self.step(later, false)).collect(),
        };
        let chain = Chain::new(self.table(from)?, steps?);
        let mut chains = self.chains.lock().unwrap_or_else(PoisonError::into_inner);
        // Another thread may have added it in the meantime.
        if let Some(chain) = find(&chains) {
            return Ok(chain);
        }
        let chain: &'static Chain = Box::leak(Box::new(chain));
        chains.push((from, to, chain));
        Ok(chain)
    }

    /// Returns the name of a method of one revision in another one, according to the conversions between the two.
    pub(crate) fn method_there(&'static self, from: usize, to: usize, name: &'static str) -> Option<&'static str> {
        let there = self.chain(from, to).ok()?.method_there(name);
        let mut methods = self.known(to).methods.iter();
        methods.any(|method| method.name == there).then_some(there)
    }

    /// Returns the conversions between a revision and the previous one.
    fn step(&'static self, later: usize, upward: bool) -> Result<&'static Step, Unrepresentable> {
        let steps = &self.entry(later)?.steps;
        let (before, table) = (self.table(later - 1)?, self.table(later)?);
        let [earlier, own] = [later - 1, later].map(|index| self.known(index).lifecycle.meta_version);
        Ok(match upward {
            true => steps[0].get_or_init(|| Step::new((before, table), table.up.as_ref(), earlier.zip(own))),
            false => steps[1].get_or_init(|| Step::new((table, before), table.down.as_ref(), own.zip(earlier))),
        })
    }

    /// Converts the JSON of a type between two revisions. `source` and `target` are the pointers of the types in their
    /// schemas.
    pub(crate) fn convert_at(
        &'static self,
        from: usize,
        to: usize,
        (source, target): (&str, &str),
        json: &str,
        state: &mut State,
    ) -> Result<String, Unrepresentable> {
        let (table, other) = (self.table(from)?, self.table(to)?);
        let no_counterpart = |name: &str| Unrepresentable::no_counterpart(name, other.revision());
        let name = table.name_at(source).ok_or_else(|| no_counterpart(source))?;
        let chain = self.chain(from, to)?;
        let ty = table.named(name).ok_or_else(|| no_counterpart(name))?;
        let mut node = chain
            .read(Reader::new(json), ty, false, state)
            .map_err(Unrepresentable::undecodable)?;
        let becomes = chain.convert(name, &mut node, state)?;
        if other.name_at(target) != Some(becomes) {
            return Err(Unrepresentable::internal(format!(
                "the counterpart of `{name}` in revision {} is `{becomes}`",
                other.revision()
            )));
        }
        Ok(node.into_text().into_owned())
    }
}
