//! What the schema says beyond the types.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// A keyword that says more about a value than its Rust type does, with the keywords around it (`items/minLength`), and its JSON.
pub(crate) type Assertion = (String, String);

/// What the schema of a type says beyond the type.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct TypeSchema {
    /// What it says of the value as a whole.
    pub(crate) assertions: Assertions,
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
    /// Where it is: in several places, where several parts of an intersection declare the member.
    pub(crate) pointers: Vec<String>,
    pub(crate) assertions: Assertions,
    /// Of open JSON, all that is asserted, but for what is in `declared`.
    pub(crate) open: Assertions,
    /// Of an open object, the members that are declared, also in what the schema is an intersection of.
    pub(crate) declared: BTreeMap<String, DeclaredMember>,
}

/// A member that the schema of an open object declares.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DeclaredMember {
    /// Where its schema is.
    pub(crate) pointer: String,
    pub(crate) required: bool,
    /// All that its schema asserts.
    pub(crate) assertions: Assertions,
}

impl MemberSchema {
    /// Whether what the target asserts of open JSON holds where this does: of it as a whole, and of the members that it requires.
    pub(crate) fn implies_open(&self, target: &Self) -> bool {
        let mut required = target.declared.iter().filter(|(_, member)| member.required);
        target.open.follow_from(Some(&self.open)) && required.all(|(name, member)| self.implies_declared(name, member))
    }

    /// Whether an open object declares a member, and what the target asserts of that holds here.
    pub(crate) fn implies_declared(&self, name: &str, target: &DeclaredMember) -> bool {
        let own = self.declared.get(name);
        own.is_some_and(|own| target.assertions.follow_from(Some(&own.assertions)))
    }
}

/// The assertions about a value, but for what other types and the members of the value say.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Assertions {
    /// Those in the first of the places of the type.
    pub(crate) here: BTreeSet<Assertion>,
    /// Those in all its places: places that differ in assertions alone share a type.
    everywhere: BTreeSet<Assertion>,
    /// The definitions that they refer to: one of the same name may say something else in another revision.
    definitions: BTreeSet<String>,
}

impl Assertions {
    pub(super) fn new(here: BTreeSet<Assertion>, definitions: BTreeSet<String>) -> Self {
        Self {
            everywhere: here.clone(),
            here,
            definitions,
        }
    }

    /// Adds the assertions of another schema, with the keywords around it.
    pub(super) fn extend(&mut self, around: &str, others: Self) {
        let Self { here, definitions, .. } = others;
        let others: Vec<Assertion> = here
            .into_iter()
            .map(|(keyword, value)| (format!("{around}{keyword}"), value))
            .collect();
        self.here.extend(others.iter().cloned());
        self.everywhere.extend(others);
        self.definitions.extend(definitions);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.here.is_empty()
    }

    pub(super) fn has(&self, keyword: &str, value: &Value) -> bool {
        self.here.contains(&(keyword.to_owned(), value.to_string()))
    }

    /// Whether these hold where the others hold.
    pub(crate) fn follow_from(&self, others: Option<&Self>) -> bool {
        self.is_empty()
            || others.is_some_and(|others| {
                self.here.is_subset(&others.everywhere) && self.definitions.is_subset(&others.definitions)
            })
    }

    /// Keeps those that hold in one more place.
    pub(super) fn loosen(&mut self, there: Option<&Self>) {
        self.everywhere
            .retain(|assertion| there.is_some_and(|there| there.here.contains(assertion)));
    }
}
