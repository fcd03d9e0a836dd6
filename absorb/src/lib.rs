//! Tests that revisions are absorbed: every schema that `ingest` accepts generates, compiles, and converts without a
//! silent loss.
//!
//! Schemas are read from files, or made up by random edits of official ones. Each is ingested into a copy of the
//! schemas, and its tables are generated and used in this process.

mod base;
mod choose;
mod compile;
mod edit;
mod new_schema;
mod official;
mod pick;
mod report;
mod revision;
mod schemas;
mod trial;
mod values;

use fastrand::Rng;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::base::Base;
use crate::choose::{CONSTRAINTS, EDITS, choose};
use crate::edit::Edit;

pub use crate::compile::{Compilation, CompileError, Crates};
pub use crate::official::{FileRow, files};
pub use crate::report::Report;
pub use crate::schemas::Schemas;
pub use crate::trial::{Outcome, Trial};

/// The maximum number of edits of most made-up revisions.
const MAX_EDITS: usize = 6;

/// The maximum number of edits of a tenth of them.
const MANY_EDITS: usize = 40;

/// The number of constraints that the base also gets, for another tenth of them.
const COMMON_CONSTRAINTS: usize = 20;

/// The error of schemas that can't be read or copied.
#[derive(Debug, thiserror::Error)]
pub enum AbsorbError {
    /// A file can't be read or written.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// A schema isn't JSON.
    #[error("a schema isn't JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// The manifest has problems.
    #[error(transparent)]
    Problems(#[from] mcp_codegen::Problems),
    /// There is no revision with the name of the base.
    #[error("there is no revision {0}")]
    Base(String),
    /// An edit doesn't apply to the schema.
    #[error("an edit doesn't apply to {revision}: {edit}")]
    Edit {
        /// The revision that is edited.
        revision: String,
        /// The edit.
        edit: String,
    },
    /// Crates can't be compiled.
    #[error(transparent)]
    Compile(#[from] CompileError),
}

/// A made-up revision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MadeUp {
    /// The revision whose schema is edited.
    pub base: String,
    /// The position among the revisions.
    pub position: usize,
    /// The edits of the base, which the made-up revision shares.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    base_edits: Vec<Edit>,
    /// The edits of the made-up revision, in order.
    edits: Vec<Edit>,
    /// Whether it is ingested as a release, instead of a draft.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    released: bool,
}

impl MadeUp {
    /// Makes up the revision of a seed.
    #[must_use]
    pub fn of_seed(schemas: &Schemas, seed: u64) -> Self {
        let mut rng = Rng::with_seed(seed);
        let revisions = &schemas.manifest.revisions;
        let names: Vec<&str> = revisions.iter().map(|entry| entry.revision.as_str()).collect();
        let position = rng.usize(..=names.len());
        // The base is one of the adjacent revisions.
        let base = match position {
            0 => 0,
            last if last == names.len() => last - 1,
            between => between - rng.usize(..2),
        };
        let base = names[base].to_owned();
        let (constraints, most) = match rng.u8(..10) {
            0 => (0, MANY_EDITS),
            1 => (COMMON_CONSTRAINTS, MAX_EDITS),
            _ => (0, MAX_EDITS),
        };
        let (base_edits, schema) = choose(&schemas.official[&base], &CONSTRAINTS, constraints, &mut rng);
        let count = rng.usize(1..=most);
        let (edits, _) = choose(&schema, &EDITS, count, &mut rng);
        Self {
            base,
            position,
            base_edits,
            edits,
            released: position == names.len() && rng.bool(),
        }
    }

    /// Returns the trial of the revision under a name.
    ///
    /// # Errors
    /// There is no such base, or an edit doesn't apply to it.
    pub fn trial(&self, schemas: &Schemas, name: &str) -> Result<Trial, AbsorbError> {
        let official = schemas.official.get(&self.base);
        let official = official.ok_or_else(|| AbsorbError::Base(self.base.clone()))?;
        let edited = |schema: &Value, edits: &[Edit]| {
            let mut edited = schema.clone();
            let inapplicable = edits.iter().find(|edit| edit.apply(&mut edited).is_none());
            inapplicable.map_or(Ok(edited), |edit| {
                Err(AbsorbError::Edit {
                    revision: self.base.clone(),
                    edit: format!("{edit:?}"),
                })
            })
        };
        let base = edited(official, &self.base_edits)?;
        Ok(Trial {
            revision: name.to_owned(),
            position: self.position,
            released: self.released,
            schema: edited(&base, &self.edits)?,
            base: Some(Base {
                revision: self.base.clone(),
                official: official.clone(),
                edited: (!self.base_edits.is_empty()).then_some(base),
            }),
        })
    }

    /// Removes edits as long as the revision still fails.
    ///
    /// # Errors
    /// As [`Trial::run`].
    pub fn shrunk(self, schemas: &Schemas) -> Result<Self, AbsorbError> {
        let mut least = self;
        let lists: [fn(&mut Self) -> &mut Vec<Edit>; 2] = [|it| &mut it.edits, |it| &mut it.base_edits];
        for edits in lists {
            let mut at = 0;
            while at < edits(&mut least).len() {
                let mut fewer = least.clone();
                edits(&mut fewer).remove(at);
                let fails = match fewer.trial(schemas, "shrunk") {
                    Ok(trial) => !trial.run(schemas)?.failures.is_empty(),
                    // A later edit depends on the removed one.
                    Err(AbsorbError::Edit { .. }) => false,
                    Err(error) => return Err(error),
                };
                match fails {
                    true => least = fewer,
                    false => at += 1,
                }
            }
        }
        Ok(least)
    }
}
