//! The trial of one revision.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::AbsorbError;
use crate::base::Base;
use crate::schemas::{Candidate, Schemas};
use crate::values::{self, Subject};

/// A revision to test.
#[derive(Debug, Clone)]
pub struct Trial {
    /// The name of the revision.
    pub revision: String,
    /// The position among the revisions.
    pub position: usize,
    /// Whether it is ingested as a release, instead of a draft.
    pub released: bool,
    /// The schema.
    pub schema: Value,
    /// The revision that it was made from.
    pub(crate) base: Option<Base>,
}

/// The outcome of a trial.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Whether it was ingested.
    pub accepted: bool,
    /// The number of suggestions that were applied until it was accepted.
    pub suggestions: usize,
    /// The number of tested instances, of this revision and of others.
    pub instances: usize,
    /// The number of successful translations.
    pub translations: usize,
    /// The number of refused translations.
    pub refusals: usize,
    /// The failures. There should be none.
    pub failures: Vec<String>,
    /// The time to ingest it, including the application of suggestions.
    pub ingesting: Duration,
    /// The time to test its values.
    pub testing: Duration,
}

impl Outcome {
    /// Adds a failure.
    pub(crate) fn fail(&mut self, why: impl Into<String>) {
        self.failures.push(why.into());
    }
}

impl Trial {
    /// Ingests the revision into a copy of these schemas, and tests it.
    ///
    /// # Errors
    /// The schemas can't be copied.
    pub fn run(&self, schemas: &Schemas) -> Result<Outcome, AbsorbError> {
        let mut outcome = Outcome::default();
        let candidate = Candidate::new(schemas, self)?;
        // A panic is reported as a failure, and must not end the run.
        let done = catch_unwind(AssertUnwindSafe(|| -> Result<(), AbsorbError> {
            let start = Instant::now();
            let tables = candidate.try_ingest(&mut outcome)?;
            // If only one table was generated, the edited base wasn't accepted.
            let tables = tables.filter(|tables| tables.len() > 1 || !self.has_edited_base());
            outcome.accepted = tables.is_some();
            outcome.ingesting = start.elapsed();
            if let Some(tables) = tables {
                let start = Instant::now();
                let subject = Subject {
                    revision: &self.revision,
                    position: self.position,
                    base: self.base.as_ref(),
                    schema: &self.schema,
                    hub: candidate.hub(),
                };
                values::check(&tables, subject, &mut outcome);
                outcome.testing = start.elapsed();
            }
            Ok(())
        }));
        match done {
            Ok(done) => done?,
            Err(_) => outcome.fail("panicked"),
        }
        Ok(outcome)
    }

    fn has_edited_base(&self) -> bool {
        self.base.as_ref().is_some_and(|base| base.edited.is_some())
    }

    /// Ingests the revision into a copy of these schemas, and returns whether it was accepted.
    ///
    /// # Errors
    /// The schemas can't be copied.
    pub(crate) fn ingest(&self, schemas: &Schemas) -> Result<bool, AbsorbError> {
        Candidate::new(schemas, self)?.ingest()
    }
}
