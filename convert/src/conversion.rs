//! Moving values from one revision to the next.

use std::collections::BTreeMap;
use std::marker::PhantomData;

use mcp_wire::path::Segment;
use mcp_wire::{OpenJson, Path};

use crate::loss::{Loss, LossKind, Reversed, without_detours};
use crate::unrepresentable::Unrepresentable;

/// A value that has a counterpart in an adjacent revision.
///
/// Going to the later revision is an upgrade, going to the earlier one a downgrade; which it is, the types say. `R` is the
/// enumeration of the revisions, `mcp_adapters::Revision`. It is a parameter so that the crate which declares it may
/// implement the trait for types of other crates.
pub trait Convert<T, R>: Sized {
    /// The counterpart, made by moving what the value holds. What is lost is noted in `conversion`.
    ///
    /// # Errors
    /// When the other revision can't represent the value.
    fn convert(self, conversion: &mut Conversion<R>) -> Result<T, Unrepresentable>;
}

/// What happens to what the target revision doesn't declare.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Policy {
    /// It is removed, or put into words the target has, and recorded as lost: what comes out conforms to the target.
    #[default]
    Conform,
    /// It stays, as undeclared members and unknown variants, and a later conversion puts it back where it belongs.
    /// What comes out is for those who will convert it back, such as gateways.
    Carry,
}

/// What whoever converts knows of a session, and some revisions say in every message: JSON by the names that rules have for it.
pub type Supply = BTreeMap<String, OpenJson>;

/// The state of one conversion: its policy, and what has been lost so far.
///
/// The functions that rules call use it to record losses, and to convert what is inside of a value.
#[derive(Debug)]
pub struct Conversion<R> {
    policy: Policy,
    pub(crate) supply: Option<Supply>,
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
    /// A conversion with a policy.
    #[must_use]
    pub fn new(policy: Policy) -> Self {
        Self {
            policy,
            supply: None,
            losses: Vec::new(),
            revisions: PhantomData,
        }
    }

    /// The same conversion, with what is supplied to revisions that say more than others. What the source says and the target
    /// doesn't is added to it, instead of being lost.
    #[must_use]
    pub fn supplied_with(mut self, supply: Supply) -> Self {
        self.supply = Some(supply);
        self
    }

    /// What was supplied and what was added, once.
    pub fn take_supply(&mut self) -> Option<Supply> {
        self.supply.take()
    }

    /// Converts a value.
    ///
    /// # Errors
    /// When the other revision can't represent it.
    pub fn convert<S: Convert<T, R>, T>(&mut self, value: S) -> Result<T, Unrepresentable> {
        value.convert(self)
    }

    /// What happens to what the target doesn't declare.
    #[must_use]
    pub fn policy(&self) -> Policy {
        self.policy
    }

    /// Whether nothing has been lost so far.
    #[must_use]
    pub fn is_lossless(&self) -> bool {
        self.losses.is_empty()
    }

    /// What was lost, in the order in which it was.
    #[must_use]
    pub fn into_losses(self) -> Vec<Loss> {
        let finished = self.losses.into_iter().map(|loss| Loss {
            path: Path::from_reversed(loss.path),
            kind: loss.kind,
            rule: loss.rule,
        });
        without_detours(finished.collect())
    }

    /// Notes that something about the value at hand was lost.
    pub fn lose(&mut self, kind: LossKind, rule: &'static str) {
        let path = Vec::new();
        self.losses.push(Reversed { path, kind, rule });
    }

    /// Notes that something about a member of the value at hand was lost.
    pub fn lose_member(&mut self, member: &str, kind: LossKind, rule: &'static str) {
        let path = vec![Segment::Member(member.to_owned())];
        self.losses.push(Reversed { path, kind, rule });
    }

    /// Notes that something further inside was lost.
    pub fn lose_within(&mut self, path: &[&str], kind: LossKind, rule: &'static str) {
        let path = path
            .iter()
            .rev()
            .map(|member| Segment::Member((*member).to_owned()))
            .collect();
        self.losses.push(Reversed { path, kind, rule });
    }

    /// Whether what the target doesn't declare stays.
    #[must_use]
    pub fn carries(&self) -> bool {
        self.policy == Policy::Carry
    }

    /// Does something inside a member: what is lost or refused there has the member on its path.
    ///
    /// # Errors
    /// Those of `inside`.
    pub fn within_member<T>(
        &mut self,
        member: &str,
        inside: impl FnOnce(&mut Self) -> Result<T, Unrepresentable>,
    ) -> Result<T, Unrepresentable> {
        self.within(|| Segment::Member(member.to_owned()), inside)
    }

    /// Does something inside an element of a list.
    ///
    /// # Errors
    /// Those of `inside`.
    pub fn within_element<T>(
        &mut self,
        index: usize,
        inside: impl FnOnce(&mut Self) -> Result<T, Unrepresentable>,
    ) -> Result<T, Unrepresentable> {
        self.within(|| Segment::Index(index), inside)
    }

    fn within<T>(
        &mut self,
        segment: impl Fn() -> Segment,
        inside: impl FnOnce(&mut Self) -> Result<T, Unrepresentable>,
    ) -> Result<T, Unrepresentable> {
        let before = self.losses.len();
        let result = inside(self);
        for loss in &mut self.losses[before..] {
            loss.path.push(segment());
        }
        result.map_err(|error| error.within(segment()))
    }
}
