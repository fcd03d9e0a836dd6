//! The members that conversions add to objects whose other members stay as they are.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use mcp_wire::push_string;

use super::look::Look;
use super::members::Members;
use super::state::State;
use super::value::Run;
use crate::conversion::Policy;
use crate::supply::Supply;

/// The members that were added to the objects of each type that lack them, as text without braces. `None` where an object has to be
/// converted to know it.
#[derive(Debug, Default)]
pub(crate) struct Added(Mutex<HashMap<Lacking, Option<Arc<str>>>>);

/// The type of an object, by the address of what is looked at in it, the members that it lacks, and the policy.
type Lacking = (usize, u64, Policy);

/// How many kinds of objects are remembered.
const MOST: usize = 1 << 10;

/// What adds members.
#[derive(Clone, Copy)]
pub(super) struct Adding<'t> {
    pub(super) policy: Policy,
    pub(super) supply: Option<&'t Arc<Supply>>,
    /// What conversions without a supply add.
    pub(super) unsupplied: &'t Added,
}

impl Adding<'_> {
    /// What is added to an object that lacks some of the members that are added to its type: those whose bits are set.
    pub(super) fn to(self, look: &Look, lacking: u64) -> Option<Arc<str>> {
        let Added(added) = self.supply.map_or(self.unsupplied, |supply| &supply.added);
        let key = (std::ptr::from_ref(look).addr(), lacking, self.policy);
        let lock = || added.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(&key) {
            return known.clone();
        }
        let members = self.run(look, lacking).map(Arc::from);
        let mut added = lock();
        if added.len() < MOST {
            added.insert(key, members.clone());
        }
        members
    }

    fn run(self, look: &Look, lacking: u64) -> Option<String> {
        let mut state = State::new(self.policy);
        state.supply = self.supply.cloned();
        let names: Vec<&str> = look.lacked(lacking).collect();
        let mut members = Members::new();
        for (step, plan) in look.plans() {
            let state = &mut state;
            Run { step, state }.add(plan, &names, &mut members).ok()?;
        }
        let mut text = String::new();
        for entry in &members {
            if !text.is_empty() {
                text.push(',');
            }
            push_string(&mut text, &entry.name);
            text.push(':');
            text.push_str(&entry.value.to_text());
        }
        state.losses.is_empty().then_some(text)
    }
}
