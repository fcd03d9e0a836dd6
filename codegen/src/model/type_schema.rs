//! What the schema says beyond the types.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// What the schema of a type says beyond the type.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct TypeSchema {
    /// Whether no other members are valid than those that are declared.
    pub(crate) closed: bool,
    /// Whether no other values are valid than those that are declared.
    pub(crate) enumeration: bool,
    /// What it says of each member, by the member's name.
    pub(crate) members: BTreeMap<String, MemberSchema>,
}

/// What the schema of a member says beyond the member's type.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct MemberSchema {
    /// Where it is: the first place, where several parts of an intersection declare the member.
    pub(crate) pointer: String,
    pub(crate) others: Vec<String>,
    /// The assertions by their keywords.
    pub(crate) assertions: BTreeMap<&'static str, Value>,
    /// Which of the assertions hold wherever the type is: places that differ in assertions alone share a type.
    pub(crate) everywhere: BTreeSet<&'static str>,
    /// Of an open object, the members that are declared and not required, with the pointers of their schemas.
    pub(crate) optional: BTreeMap<String, String>,
    /// Of an open object, the members that are required, with their schemas.
    pub(crate) required: BTreeMap<String, Value>,
    /// Of an open object, the members that are declared, also in what the schema is an intersection of.
    pub(crate) declared: BTreeSet<String>,
}

impl MemberSchema {
    /// The assertion that a keyword makes wherever the type is.
    pub(crate) fn everywhere(&self, keyword: &str) -> Option<&Value> {
        self.assertions
            .get(keyword)
            .filter(|_| self.everywhere.contains(keyword))
    }

    /// Keeps those of the assertions that hold everywhere that hold in one more place.
    pub(super) fn loosen(&mut self, holds: impl Fn(&str, &Value) -> bool) {
        let assertions = &self.assertions;
        self.everywhere
            .retain(|keyword| assertions.get(keyword).is_some_and(|bound| holds(keyword, bound)));
    }
}
