//! Conversion of values between adjacent revisions.

use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::sync::Arc;

use mcp_wire::path::Segment;
use mcp_wire::{OpenJson, Path};

use crate::loss::{Loss, LossKind, Reversed, without_detours};
use crate::unrepresentable::Unrepresentable;

/// A type with a counterpart in another revision: an adjacent one, or the hub.
///
/// The types determine whether a conversion is an upgrade to the later revision or a downgrade to the earlier one. `R` is the
/// enumeration of the revisions, `mcp_adapters::Revision`. It is a parameter so that the crate that declares it may implement
/// the trait for types of other crates.
pub trait Convert<T, R>: Sized {
    /// Converts the value to its counterpart. Losses are recorded in `conversion`.
    ///
    /// # Errors
    /// When the other revision can't represent the value.
    fn convert(self, conversion: &mut Conversion<R>) -> Result<T, Unrepresentable>;
}

/// The treatment of members and variants that the target revision doesn't declare.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Policy {
    /// It is removed or replaced by what the target declares, and recorded as a loss. The result conforms to the target's schema.
    #[default]
    Conform,
    /// It stays, as undeclared members and unknown variants, and a later conversion puts it back where it belongs.
    /// What comes out is for those who will convert it back, such as gateways.
    Carry,
}

/// Values that some revisions repeat in every message and others don't, by the names that rules have for them. The caller
/// knows them from the session.
pub type Supply = BTreeMap<String, OpenJson>;

/// The state of one conversion: its policy, and the losses so far.
///
/// The functions that rules call use it to record losses, and to convert inner values.
#[derive(Debug, Clone)]
pub struct Conversion<R> {
    policy: Policy,
    pub(crate) supply: Option<Arc<Supply>>,
    pub(crate) losses: Vec<Reversed>,
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
            policy,
            supply: None,
            losses: Vec::new(),
            revisions: PhantomData,
        }
    }

    /// Sets the values for members that only the target declares. Such members of the source that the target doesn't declare
    /// are added to the supply, instead of being lost.
    #[must_use]
    pub fn supplied_with(mut self, supply: impl Into<Arc<Supply>>) -> Self {
        self.supply = Some(supply.into());
        self
    }

    /// Takes the supply, with the values that the conversion added.
    pub fn take_supply(&mut self) -> Option<Supply> {
        self.supply.take().map(Arc::unwrap_or_clone)
    }

    /// Converts a value.
    ///
    /// # Errors
    /// When the other revision can't represent the value.
    pub fn convert<S: Convert<T, R>, T>(&mut self, value: S) -> Result<T, Unrepresentable> {
        value.convert(self)
    }

    /// The policy of the conversion.
    #[must_use]
    pub fn policy(&self) -> Policy {
        self.policy
    }

    /// Whether nothing has been lost so far.
    #[must_use]
    pub fn is_lossless(&self) -> bool {
        self.losses.is_empty()
    }

    /// The losses, in the order in which they occurred.
    #[must_use]
    pub fn into_losses(self) -> Vec<Loss> {
        let finished = self.losses.into_iter().map(|loss| Loss {
            path: Path::from_reversed(loss.path),
            kind: loss.kind,
            rule: loss.rule,
        });
        without_detours(finished.collect())
    }

    /// Records a loss of the current value.
    pub fn lose(&mut self, kind: LossKind, rule: &'static str) {
        let path = Vec::new();
        self.losses.push(Reversed { path, kind, rule });
    }

    /// Records a loss of a member of the current value.
    pub fn lose_member(&mut self, member: &str, kind: LossKind, rule: &'static str) {
        let path = vec![Segment::Member(member.to_owned())];
        self.losses.push(Reversed { path, kind, rule });
    }

    /// Records a loss at a path inside the current value.
    pub fn lose_within(&mut self, path: &[&str], kind: LossKind, rule: &'static str) {
        let path = path
            .iter()
            .rev()
            .map(|member| Segment::Member((*member).to_owned()))
            .collect();
        self.losses.push(Reversed { path, kind, rule });
    }

    /// Whether the policy is [`Policy::Carry`].
    #[must_use]
    pub fn carries(&self) -> bool {
        self.policy == Policy::Carry
    }

    /// Runs `inside` for a member: the paths of its losses and its error begin with the member.
    ///
    /// # Errors
    /// When `inside` fails.
    pub fn within_member<T>(
        &mut self,
        member: &str,
        inside: impl FnOnce(&mut Self) -> Result<T, Unrepresentable>,
    ) -> Result<T, Unrepresentable> {
        self.within(Place::Member(member), inside)
    }

    /// Runs `inside` for an element of a list.
    ///
    /// # Errors
    /// When `inside` fails.
    pub fn within_element<T>(
        &mut self,
        index: usize,
        inside: impl FnOnce(&mut Self) -> Result<T, Unrepresentable>,
    ) -> Result<T, Unrepresentable> {
        self.within(Place::Element(index), inside)
    }

    fn within<T>(
        &mut self,
        place: Place<'_>,
        inside: impl FnOnce(&mut Self) -> Result<T, Unrepresentable>,
    ) -> Result<T, Unrepresentable> {
        let before = self.losses.len();
        let result = inside(self);
        if self.losses.len() > before {
            self.move_losses(before, place);
        }
        result.map_err(|error| place.of(error))
    }

    /// Prepends a place to the paths of the losses after the first `before`. Not generic, so that it is compiled once.
    fn move_losses(&mut self, before: usize, place: Place<'_>) {
        for loss in &mut self.losses[before..] {
            loss.path.push(place.segment());
        }
    }
}

/// A member or an element of the current value.
#[derive(Clone, Copy)]
enum Place<'a> {
    Member(&'a str),
    Element(usize),
}

impl Place<'_> {
    fn segment(self) -> Segment {
        match self {
            Self::Member(member) => Segment::Member(member.to_owned()),
            Self::Element(index) => Segment::Index(index),
        }
    }

    #[cold]
    fn of(self, error: Unrepresentable) -> Unrepresentable {
        error.within(self.segment())
    }
}
