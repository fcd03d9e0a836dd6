//! The failures that are known for the peers of an era: `expected-failures.yaml` in its directory. The list must only
//! shrink.

use serde::Deserialize;

use super::case::{Case, Mode, Transport};
use super::report::{Status, Step};
use crate::error::Error;
use crate::validation::OurRole;

/// Steps that fail in some rows.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Known {
    ours: OurRole,
    transports: Vec<Transport>,
    modes: Vec<Mode>,
    /// The prefix of the peers' names; empty for all peers.
    #[serde(default)]
    peer: String,
    /// The steps that fail; `None` for every step.
    steps: Option<Vec<String>>,
    why: String,
}

impl Known {
    fn is_about(&self, case: &Case, peer: &str) -> bool {
        peer.starts_with(&self.peer)
            && self.ours == case.ours
            && self.transports.contains(&case.transport)
            && self.modes.contains(&case.mode)
    }
}

/// Marks known failures, and adds a failure for each step that is known to fail but passes.
pub fn mark(case: &Case, peer: &str, steps: &mut Vec<Step>) -> Result<(), Error> {
    let path = case.era.packages.described.join("expected-failures.yaml");
    if !path.exists() {
        return Ok(());
    }
    let text = std::fs::read_to_string(&path).map_err(Error::io(&path))?;
    let all: Vec<Known> = yaml_serde::from_str(&text).map_err(|error| Error::malformed(&path, error))?;
    for known in all.iter().filter(|known| known.is_about(case, peer)) {
        let stale = |name: &str| {
            Step::failed(
                name,
                format!("it is listed as a known failure, but passes; see {}", path.display()),
            )
        };
        let mut marked = 0;
        for step in steps.iter_mut().filter(|step| step.status == Status::Failed) {
            if known.steps.as_ref().is_none_or(|names| names.contains(&step.step)) {
                step.status = Status::Known;
                step.detail = format!("{}: {}", known.why, step.detail);
                marked += 1;
            }
        }
        match &known.steps {
            None if marked == 0 => steps.push(stale("the session")),
            None => {}
            Some(names) => {
                let passed = |name: &&String| {
                    steps
                        .iter()
                        .any(|step| step.step == **name && step.status == Status::Ok)
                };
                let passed: Vec<Step> = names.iter().filter(passed).map(|name| stale(name)).collect();
                steps.extend(passed);
            }
        }
    }
    Ok(())
}
