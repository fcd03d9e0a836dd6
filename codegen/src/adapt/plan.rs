//! The planned conversions between adjacent revisions.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use super::report::Note;
use super::rows::Row;
use crate::model::TypeRef;

/// The conversions from one revision to an adjacent one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Plan {
    /// The revision that values come from.
    pub(crate) from: String,
    /// The revision that they go to.
    pub(crate) to: String,
    /// The pairs of types, and how one becomes the other.
    pub(crate) conversions: BTreeMap<Pair, Conversion>,
    /// What the definitions become that don't become the one of the same name, by the names of
    /// [`Model::named_types`](crate::model::Model::named_types).
    pub(crate) definitions: BTreeMap<String, Value>,
    /// The methods that have another name in the target.
    pub(crate) methods: BTreeMap<String, Value>,
    /// The codes of errors that change, in the order in which the rules are tried.
    pub(crate) errors: Vec<ErrorPlan>,
    /// The report's notes on values that aren't simply copied.
    pub(crate) notes: BTreeSet<Note>,
}

/// The conversions from a revision to the one after it, and those back.
pub(crate) type Plans = Arc<[Plan; 2]>;

/// The types of a value on both sides.
pub(super) type Pair = (TypeRef, TypeRef);

/// The planned conversion of a type into another.
#[derive(Debug, Clone, Default)]
pub(crate) struct Conversion {
    /// Its row in the table.
    pub(crate) row: Row,
    /// Whether the target's schema refuses values that the source's accepts, or that a rule sets, by assertions that
    /// types don't express.
    pub(crate) narrower: bool,
    /// Whether it may lose or refuse something of the value itself, apart from its parts.
    pub(super) lossy: bool,
    /// Whether the target declares members that the source doesn't: an undeclared one may be dropped, or renamed.
    pub(super) adds_members: bool,
    /// The types of the value's parts, whose conversions may lose something too.
    pub(super) parts: Vec<Pair>,
    /// The members that the target's schema asserts something about, although the conversion doesn't validate them: name
    /// in the target, types, and the check that would validate the value.
    pub(super) unchecked_members: Vec<(String, Pair, Value)>,
}

impl Conversion {
    pub(super) fn implied(lossy: bool) -> Self {
        Self {
            lossy,
            ..Self::default()
        }
    }

    /// Returns the conversion of a value with these parts; `None` is a part that the target lacks.
    pub(super) fn of(parts: impl Iterator<Item = (TypeRef, Option<TypeRef>)>) -> Self {
        let mut conversion = Self::default();
        for (source, target) in parts {
            match target {
                Some(target) => conversion.parts.push((source, target)),
                None => conversion.lossy = true,
            }
        }
        conversion
    }
}

/// A rule about the errors of one method in one direction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct ErrorPlan {
    /// The method; `None` for all of them.
    pub(crate) method: Option<String>,
    pub(crate) from: i64,
    /// The path of the member that the error's data must have; empty if the rule applies to every error.
    pub(crate) data: Vec<String>,
    pub(crate) to: i64,
    /// The name of the rule in losses.
    pub(crate) rule: String,
}
