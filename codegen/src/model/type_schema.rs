//! Requirements of the schema that the types don't express.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// A keyword that restricts a value more than its Rust type does, with the keywords around it (`items/minLength`), and
/// its JSON.
pub(crate) type Assertion = (String, String);

/// The requirements of a type's schema that the type doesn't express.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct TypeSchema {
    /// The assertions about the value as a whole.
    pub(crate) assertions: Assertions,
    /// Whether only declared members are valid.
    pub(crate) closed: bool,
    /// Whether only declared values are valid.
    pub(crate) enumeration: bool,
    /// The requirements of each member, by its name.
    pub(crate) members: BTreeMap<String, MemberSchema>,
}

/// The requirements of a member's schema that the member's type doesn't express.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct MemberSchema {
    /// The pointers of the schema: several, if several parts of an intersection declare the member.
    pub(crate) pointers: Vec<String>,
    pub(crate) assertions: Assertions,
    /// Its requirements of open JSON, if the member's type is open.
    pub(crate) open: Option<OpenSchema>,
}

/// The requirements of a schema of open JSON, whose type expresses none.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct OpenSchema {
    /// All assertions except those in `declared`.
    pub(super) assertions: Assertions,
    /// The declared members of an object, including those in the schema's `allOf`.
    pub(crate) declared: BTreeMap<String, DeclaredMember>,
}

/// A member that the schema of an open object declares.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct DeclaredMember {
    /// The pointers of its schema: several, if several parts of an intersection declare it.
    pub(crate) pointers: Vec<String>,
    pub(crate) required: bool,
    /// All assertions of its schema.
    pub(crate) assertions: Assertions,
}

impl MemberSchema {
    /// The members that the schema of an open object declares.
    pub(crate) fn declared(&self) -> impl Iterator<Item = (&String, &DeclaredMember)> {
        self.open.iter().flat_map(|open| &open.declared)
    }
}

impl OpenSchema {
    /// Whether this schema implies the target's assertions: those about the whole, and those about the members that the
    /// target requires.
    pub(crate) fn implies(&self, target: &Self) -> bool {
        let mut required = target.declared.iter().filter(|(_, member)| member.required);
        target.assertions.follow_from(Some(&self.assertions))
            && required.all(|(name, member)| self.implies_declared(name, member))
    }

    /// Whether this object declares a member, and its assertions imply those of the target.
    pub(crate) fn implies_declared(&self, name: &str, target: &DeclaredMember) -> bool {
        let own = self.declared.get(name);
        own.is_some_and(|own| target.assertions.follow_from(Some(&own.assertions)))
    }
}

/// The assertions about a value, without those of other types and of the value's members.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Assertions {
    /// The assertions at the type's first place.
    pub(crate) here: BTreeSet<Assertion>,
    /// The assertions at all its places: places that only differ in assertions share a type.
    everywhere: BTreeSet<Assertion>,
    /// The definitions that they refer to, because a definition with the same name can differ in another revision.
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

    /// Whether the others imply these.
    pub(crate) fn follow_from(&self, others: Option<&Self>) -> bool {
        self.is_empty()
            || others.is_some_and(|others| {
                self.here.is_subset(&others.everywhere) && self.definitions.is_subset(&others.definitions)
            })
    }

    /// Keeps the assertions that also hold at another place.
    pub(super) fn loosen(&mut self, there: Option<&Self>) {
        self.everywhere
            .retain(|assertion| there.is_some_and(|there| there.here.contains(assertion)));
    }
}
