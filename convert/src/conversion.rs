//! Conversions of values between revisions.

use std::marker::PhantomData;
use std::sync::Arc;

use mcp_wire::{Decode, Encode, Validate, from_str};

use crate::engine::state::State;
use crate::loss::{AUTOMATIC, Loss, finished};
use crate::policy::Policy;
use crate::revision::ProtocolRevision;
use crate::supply::Supply;
use crate::unrepresentable::Unrepresentable;

/// The state of one conversion: its policy, and the losses so far.
#[derive(Debug, Clone)]
pub struct Conversion<R> {
    pub(crate) state: State,
    revisions: PhantomData<R>,
}

impl<R> Default for Conversion<R> {
    fn default() -> Self {
        Self::new(Policy::default())
    }
}

impl<R> From<Policy> for Conversion<R> {
    fn from(policy: Policy) -> Self {
        Self::new(policy)
    }
}

impl<R> Conversion<R> {
    /// Creates a conversion with a policy.
    #[must_use]
    pub fn new(policy: Policy) -> Self {
        Self {
            state: State::new(policy),
            revisions: PhantomData,
        }
    }

    /// Sets the supply: the values for members that only the target declares. Members that only the source declares are
    /// added to it, where a rule has a key for them, instead of being lost.
    #[must_use]
    pub fn supplied_with(mut self, supply: impl Into<Arc<Supply>>) -> Self {
        self.state.supply = Some(supply.into());
        self
    }

    /// Reads every value as a tree, even if its text wouldn't change. Tests compare this with the usual way.
    #[doc(hidden)]
    #[must_use]
    pub fn by_trees(mut self) -> Self {
        self.state.only_trees = true;
        self
    }

    /// Takes the supply out of the conversion, with the values that were added to it.
    pub fn take_supply(&mut self) -> Option<Supply> {
        self.state.supply.take().map(Arc::unwrap_or_clone)
    }

    /// Returns the policy of the conversion.
    #[must_use]
    pub fn policy(&self) -> Policy {
        self.state.policy
    }

    /// Whether nothing has been lost so far.
    #[must_use]
    pub fn is_lossless(&self) -> bool {
        self.state.losses.is_empty()
    }

    /// Returns the losses, in the order in which they occurred.
    #[must_use]
    pub fn into_losses(self) -> Vec<Loss> {
        finished(self.state.losses)
    }
}

impl<R: ProtocolRevision> Conversion<R> {
    /// Converts a value to its counterpart in another revision. The types determine the two revisions.
    ///
    /// # Errors
    /// The other revision can't represent the value, or `T` isn't the counterpart of `S`.
    pub fn convert<S: Encode + Validate, T: Decode + Validate>(&mut self, value: S) -> Result<T, Unrepresentable> {
        let missing = |name| Unrepresentable::internal(format!("revision {name} isn't among those that are compiled"));
        let revision = |name: &'static str| R::by_name(name).ok_or_else(|| missing(name));
        let (from, to) = (revision(S::schema().revision())?, revision(T::schema().revision())?);
        let json = mcp_wire::to_string(&value).map_err(|error| Unrepresentable::by_rule(&error, AUTOMATIC))?;
        let converted = R::protocol().convert_at(
            from.index(),
            to.index(),
            (S::POINTER, T::POINTER),
            &json,
            &mut self.state,
        )?;
        from_str(&converted).map_err(Unrepresentable::undecodable)
    }
}
