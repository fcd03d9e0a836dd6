//! Measured translations: a result is decoded, or it is converted to another revision and decoded there.

use std::hint::black_box;

use mcp_adapters::{Loss, Policy, Revision, translate};
use mcp_adapters::{v2024_11_05 as first, v2025_06_18 as earlier, v2025_11_25 as later, v2026_07_28 as latest};
use mcp_bench_cases::inputs::{Members, blocks, tools};
use mcp_bench_cases::{Case, Failure};
use mcp_wire::{Decode, Validate};

/// A direction of translation: to a neighbouring revision, or across all revisions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// From 2025-06-18 to 2025-11-25.
    Up,
    /// From 2025-11-25 to 2025-06-18, without losses.
    Down,
    /// The same for a result with members that 2025-06-18 lacks, which are removed and recorded.
    DownWithLosses,
    /// The same, but those members are carried.
    DownCarrying,
    /// From 2024-11-05 to 2026-07-28. Members that the former doesn't declare are kept until a revision declares them.
    FourUp,
    /// From 2026-07-28 to 2024-11-05, which drops or replaces later members and content.
    FourDown,
}

impl Way {
    /// Every direction.
    pub const ALL: [Self; 6] = [
        Self::Up,
        Self::Down,
        Self::DownWithLosses,
        Self::DownCarrying,
        Self::FourUp,
        Self::FourDown,
    ];

    /// The name in tables and on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Up => "up",
            Self::Down => "down",
            Self::DownWithLosses => "losing",
            Self::DownCarrying => "carrying",
            Self::FourUp => "four-up",
            Self::FourDown => "four-down",
        }
    }

    fn members(self) -> Members {
        match self {
            Self::Up | Self::Down | Self::FourUp => Members::Common,
            Self::FourDown => Members::Latest,
            Self::DownWithLosses | Self::DownCarrying => Members::Newer,
        }
    }

    fn policy(self) -> Policy {
        match self {
            Self::DownCarrying => Policy::Carry,
            _ => Policy::Conform,
        }
    }
}

/// A result as JSON, and its translation to another revision.
pub struct Hop {
    json: String,
    policy: Policy,
    decode: fn(&[u8]) -> Result<(), Failure>,
    translate: fn(&[u8], Policy) -> Result<Vec<Loss>, Failure>,
}

impl Hop {
    /// The cases that have a result.
    pub const CASES: [Case; 2] = [Case::Tools, Case::Blocks];

    /// Makes the translation of a case's result.
    ///
    /// # Errors
    /// If the case has no result, or the result can't be translated that way.
    pub fn new(case: Case, way: Way) -> Result<Self, Failure> {
        let (members, policy) = (way.members(), way.policy());
        let hop = match (case, way) {
            (Case::Tools, Way::Up) => {
                Self::between::<earlier::ListToolsResult, later::ListToolsResult>(tools(members), policy)
            }
            (Case::Tools, Way::Down | Way::DownWithLosses | Way::DownCarrying) => {
                Self::between::<later::ListToolsResult, earlier::ListToolsResult>(tools(members), policy)
            }
            (Case::Tools, Way::FourUp) => {
                Self::between::<first::ListToolsResult, latest::ListToolsResult>(tools(members), policy)
            }
            (Case::Tools, Way::FourDown) => {
                Self::between::<latest::ListToolsResult, first::ListToolsResult>(tools(members), policy)
            }
            (Case::Blocks, Way::FourUp) => {
                Self::between::<first::CallToolResult, latest::CallToolResult>(blocks(members), policy)
            }
            (Case::Blocks, Way::FourDown) => {
                Self::between::<latest::CallToolResult, first::CallToolResult>(blocks(members), policy)
            }
            (Case::Blocks, Way::Up) => {
                Self::between::<earlier::CallToolResult, later::CallToolResult>(blocks(members), policy)
            }
            (Case::Blocks, Way::Down | Way::DownWithLosses | Way::DownCarrying) => {
                Self::between::<later::CallToolResult, earlier::CallToolResult>(blocks(members), policy)
            }
            _ => return Err("the case has no result".into()),
        };
        hop.losses()?;
        Ok(hop)
    }

    fn between<S: Decode + Validate, T: Decode + Validate>(json: String, policy: Policy) -> Self {
        Self {
            json,
            policy,
            decode: decode::<S>,
            translate: converted::<S, T>,
        }
    }

    /// Returns the length of the JSON in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.json.len() as u64
    }

    /// Decodes the result and drops it.
    pub fn decode(&self) {
        drop(black_box((self.decode)(black_box(self.json.as_bytes()))));
    }

    /// Converts the result to the other revision, decodes it there, and drops it and the losses.
    pub fn translate(&self) {
        drop(black_box(self.losses()));
    }

    /// Translates the result, and returns its losses.
    ///
    /// # Errors
    /// If it can't be translated.
    pub fn losses(&self) -> Result<Vec<Loss>, Failure> {
        (self.translate)(black_box(self.json.as_bytes()), self.policy)
    }
}

fn decode<S: Decode>(json: &[u8]) -> Result<(), Failure> {
    drop(black_box(mcp_wire::from_slice::<S>(json)?));
    Ok(())
}

fn converted<S: Validate, T: Decode + Validate>(json: &[u8], policy: Policy) -> Result<Vec<Loss>, Failure> {
    let revision = |schema: &mcp_wire::Schema| schema.revision().parse::<Revision>();
    let (from, to) = (revision(S::schema())?, revision(T::schema())?);
    let (_, name) = S::POINTER.rsplit_once('/').ok_or("a type with a definition")?;
    let converted = translate(from, to, name, black_box(json), policy).map_err(Box::new)?;
    let target: T = mcp_wire::from_str(converted.value.text())?;
    drop(black_box(target));
    Ok(converted.losses)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_translations_that_are_meant_to_have_losses_have_them() {
        let losses = |case, way| Hop::new(case, way).unwrap().losses().unwrap().len();
        for case in Hop::CASES {
            for way in [Way::Up, Way::Down, Way::DownCarrying, Way::FourUp] {
                assert_eq!(losses(case, way), 0, "{case:?} {way:?}");
            }
        }
        // `icons` and `execution` of each tool, and `icons` of each link.
        assert_eq!(losses(Case::Tools, Way::DownWithLosses), 400);
        assert_eq!(losses(Case::Blocks, Way::DownWithLosses), 10);
        // The title and the annotations of each tool, and the cache hints of the list.
        assert_eq!(losses(Case::Tools, Way::FourDown), 401);
        // The ten links, the ten audio blocks, and the structured content.
        assert_eq!(losses(Case::Blocks, Way::FourDown), 21);
    }
}
