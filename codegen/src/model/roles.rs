//! The roles of methods and members, by which sessions find them.

use std::collections::BTreeMap;

use crate::load::OneOrMany;

/// The methods, or the members, of each role. A revision uses the first one that it declares.
pub(super) type Roles = BTreeMap<String, OneOrMany>;

/// The roles of methods, and whether handlers also receive them.
const METHOD_ROLES: [(&str, bool); 12] = [
    ("acknowledge", false),
    ("begin", false),
    ("begun", false),
    ("cancel", false),
    ("discover", false),
    ("listen", false),
    ("log", true),
    ("ping", false),
    ("progress", false),
    ("set-level", false),
    ("subscribe", false),
    ("unsubscribe", false),
];

/// The roles of members: keys of `_meta`, members of the filter of changes, and one of results.
const MEMBER_ROLES: [&str; 12] = [
    "filter.prompts",
    "filter.resources",
    "filter.tools",
    "filter.uris",
    "meta.capabilities",
    "meta.client",
    "meta.log-level",
    "meta.progress",
    "meta.server",
    "meta.subscription",
    "meta.version",
    RESULT_KIND,
];

/// The role of the member of a result that identifies its kind.
pub(super) const RESULT_KIND: &str = "result.kind";

/// All roles.
pub(super) fn roles() -> impl Iterator<Item = &'static str> {
    METHOD_ROLES.iter().map(|(role, _)| *role).chain(MEMBER_ROLES)
}

/// Whether methods of a role never reach handlers.
pub(crate) fn is_internal(role: &str) -> bool {
    METHOD_ROLES
        .iter()
        .any(|(name, for_handlers)| *name == role && !for_handlers)
}

/// Whether a role belongs to a member, instead of a method.
pub(crate) fn is_of_member(role: &str) -> bool {
    MEMBER_ROLES.contains(&role)
}
