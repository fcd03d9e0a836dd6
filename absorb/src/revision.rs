//! The revisions of one run, in the form that the engine needs.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{LazyLock, Mutex, PoisonError};

use mcp_codegen::RevisionTable;
use mcp_convert::{Protocol, ProtocolRevision, TableSource};
use mcp_wire::Schema;

/// A revision, by its position in the protocol of this thread.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place(pub(crate) usize);

thread_local! {
    static PROTOCOL: Cell<Option<&'static Protocol>> = const { Cell::new(None) };
}

/// A cache of used schemas. The official ones are the same in every run, and compiling their validators takes time.
static SCHEMAS: LazyLock<Mutex<BTreeMap<String, &'static Schema>>> = LazyLock::new(Mutex::default);

/// Sets the revisions of this thread. The engine requires tables with a static lifetime, so each run leaks its own.
pub(crate) fn load(tables: &[RevisionTable]) {
    let sources = tables.iter().enumerate().map(|(index, made)| {
        let schema = schema(&made.revision, &made.schema);
        TableSource {
            index,
            revision: schema.revision(),
            table: made.table.clone().leak(),
            schema,
        }
    });
    let sources = sources.collect::<Vec<_>>().leak();
    PROTOCOL.set(Some(Box::leak(Box::new(Protocol::new(sources)))));
}

fn schema(revision: &str, text: &str) -> &'static Schema {
    let mut schemas = SCHEMAS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = schemas.get(text) {
        return known;
    }
    let name: &'static str = revision.to_owned().leak();
    let made: &'static Schema = Box::leak(Box::new(Schema::new(name, text.to_owned().leak())));
    schemas.insert(text.to_owned(), made);
    made
}

impl ProtocolRevision for Place {
    const HUB: Self = Self(0);

    fn protocol() -> &'static Protocol {
        static NONE: Protocol = Protocol::new(&[]);
        PROTOCOL.get().unwrap_or(&NONE)
    }

    fn index(self) -> usize {
        self.0
    }

    fn at(index: usize) -> Self {
        Self(index)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
