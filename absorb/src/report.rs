//! The report about many made-up revisions, by kind of edit.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use crate::edit::kind;
use crate::{MadeUp, Outcome};

/// The sums of the outcomes of made-up revisions.
#[derive(Debug, Default, Serialize)]
pub struct Report {
    rows: BTreeMap<String, Row>,
    all: Row,
    failed: Vec<Failed>,
}

/// A seed whose revision fails.
#[derive(Debug, Serialize)]
pub struct Failed {
    /// The seed.
    pub seed: u64,
    /// The revision.
    pub made_up: MadeUp,
    /// The failures.
    pub failures: Vec<String>,
}

#[derive(Debug, Default, Clone, Serialize)]
struct Row {
    seeds: usize,
    accepted: usize,
    with_suggestions: usize,
    instances: usize,
    translations: usize,
    refusals: usize,
    failing: usize,
}

impl Row {
    fn add(&mut self, outcome: &Outcome) {
        self.seeds += 1;
        self.accepted += usize::from(outcome.accepted);
        self.with_suggestions += usize::from(outcome.accepted && outcome.suggestions > 0);
        self.instances += outcome.instances;
        self.translations += outcome.translations;
        self.refusals += outcome.refusals;
        self.failing += usize::from(!outcome.failures.is_empty());
    }

    fn line(&self, name: &str) -> String {
        let Self {
            seeds,
            accepted,
            with_suggestions,
            instances,
            translations,
            refusals,
            failing,
        } = self;
        format!(
            "| {name} | {seeds} | {accepted} | {with_suggestions} | {instances} | {translations} | {refusals} | {failing} |\n"
        )
    }
}

impl Report {
    /// Adds the outcome of a seed.
    pub fn add(&mut self, seed: u64, made_up: MadeUp, outcome: Outcome) {
        let edits = made_up.edits.iter().chain(&made_up.base_edits);
        let mut kinds: Vec<String> = edits.map(kind).collect();
        kinds.sort_unstable();
        kinds.dedup();
        for kind in kinds {
            self.rows.entry(kind).or_default().add(&outcome);
        }
        self.all.add(&outcome);
        if !outcome.failures.is_empty() {
            let failures = outcome.failures;
            self.failed.push(Failed {
                seed,
                made_up,
                failures,
            });
        }
    }

    /// Whether a seed failed.
    #[must_use]
    pub fn has_failed(&self, seed: u64) -> bool {
        self.failed.iter().any(|failed| failed.seed == seed)
    }

    /// The seeds that failed.
    #[must_use]
    pub fn failed(&self) -> &[Failed] {
        &self.failed
    }
}

/// Formats the report as a table in Markdown. A revision with several kinds of edits is counted for each.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("| Edit | Seeds | Accepted | With suggestions | Instances | Translations | Refused | Failing |\n")?;
        f.write_str("| --- | --- | --- | --- | --- | --- | --- | --- |\n")?;
        for (kind, row) in &self.rows {
            f.write_str(&row.line(kind))?;
        }
        f.write_str(&self.all.line("all"))
    }
}
