//! The members that conversions add to objects whose other members stay as they are.

use std::sync::Arc;

use mcp_wire::{SharedJson, push_string};

use super::effects::Effects;
use super::members::Members;
use super::state::State;
use super::value::Run;
use crate::policy::Policy;
use crate::supply::{Added, Supply};

/// Adds members to objects, by a policy and a supply.
#[derive(Clone, Copy)]
pub(super) struct Adding<'t> {
    pub(super) policy: Policy,
    pub(super) supply: Option<&'t Arc<Supply>>,
    /// A cache of the members that conversions without a supply add.
    pub(super) unsupplied: &'t Added,
}

impl Adding<'_> {
    /// Returns the members to add to an object. `lacking` has the bits of the members that it lacks, of those that
    /// conversions add to its type.
    pub(super) fn to(self, effects: &Effects, lacking: u64) -> Option<Arc<SharedJson>> {
        let added = self.supply.map_or(self.unsupplied, |supply| &supply.added);
        let lacks = (std::ptr::from_ref(effects).addr(), lacking, self.policy);
        added.to(lacks, || self.run(effects, lacking))
    }

    fn run(self, effects: &Effects, lacking: u64) -> Option<SharedJson> {
        let mut state = State::new(self.policy);
        state.supply = self.supply.cloned();
        let names: Vec<&str> = effects.lacked(lacking).collect();
        let mut members = Members::new();
        for (step, plan) in &effects.plans {
            let state = &mut state;
            Run { step, state }.add(plan, &names, &mut members).ok()?;
        }
        let (mut text, mut start) = (String::new(), 0);
        for entry in &members {
            if !text.is_empty() {
                text.push(',');
            }
            push_string(&mut text, &entry.name);
            text.push(':');
            start = text.len();
            text.push_str(&entry.value.to_text());
        }
        state.losses.is_empty().then(|| SharedJson::new(text, start))
    }
}
