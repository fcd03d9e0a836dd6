//! A compiled schema: an arena of nodes that refer to each other by index.

use serde_json::Number;

use super::number::{Divisor, Exact, is_integer};
use super::pattern::Pattern;
use crate::JsonType;
use crate::json::Json;

/// A subschema's index in the arena. Nodes are never removed.
pub(super) type NodeId = usize;

/// A subschema. The schema `true` has no rules.
#[derive(Debug)]
pub(super) struct Node {
    /// The pointer of the subschema in the document.
    pub(super) at: String,
    pub(super) rules: Vec<Rule>,
    pub(super) memoized: Memoized,
}

/// The values whose verdicts are memoized, because several schemas may need them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Memoized {
    /// No values: the verdict is needed once, or costs no more than a look-up.
    Never,
    /// Arrays and objects. The verdict on a scalar costs no more than a look-up.
    Containers,
    Always,
}

impl Memoized {
    pub(super) fn includes(self, value: &Json<'_>) -> bool {
        match self {
            Self::Never => false,
            Self::Containers => matches!(value, Json::Array(_) | Json::Object(_)),
            Self::Always => true,
        }
    }
}

/// The rule of a keyword, or of a group of keywords that are evaluated together.
#[derive(Debug)]
pub(super) enum Rule {
    /// The schema `false`.
    Never,
    Ref(NodeId),
    Type(TypeSet),
    Const(Json<'static>),
    Enum(Vec<Json<'static>>),
    Bound(Bound, Number, Exact),
    MultipleOf(Number, Divisor),
    MinLength(u64),
    MaxLength(u64),
    Pattern(Pattern),
    MinItems(u64),
    MaxItems(u64),
    UniqueItems,
    Items(Items),
    Contains(Contains),
    MinProperties(u64),
    MaxProperties(u64),
    Required(Vec<String>),
    Members(Members),
    PropertyNames(NodeId),
    DependentRequired(&'static str, Vec<(String, Vec<String>)>),
    DependentSchemas(Vec<(String, NodeId)>),
    AllOf(Vec<NodeId>),
    AnyOf(Vec<NodeId>),
    OneOf(Vec<NodeId>),
    Not(NodeId),
    If(Conditional),
    /// These two come last, because they depend on the others.
    UnevaluatedMembers(NodeId),
    UnevaluatedItems(NodeId),
}

impl Rule {
    /// Returns the number of steps that the rule takes for a value, without those of other schemas that it applies.
    pub(super) fn steps(&self, value: &Json<'_>) -> u64 {
        const COUNTED_IN_A_STEP: u64 = 256;
        let inside = match (self, value) {
            (Self::MinLength(_) | Self::MaxLength(_), Json::String(text)) => text.len() as u64 / COUNTED_IN_A_STEP,
            (Self::Pattern(pattern), Json::String(text)) => pattern.steps(text),
            (Self::UniqueItems, value @ Json::Array(_)) => value.size(),
            (Self::Enum(allowed), _) => allowed.len() as u64,
            (Self::Required(names), Json::Object(_)) => names.len() as u64,
            (Self::DependentRequired(_, dependents), Json::Object(_)) => {
                dependents.iter().map(|(_, names)| 1 + names.len() as u64).sum()
            }
            (Self::DependentSchemas(schemas), Json::Object(_)) => schemas.len() as u64,
            (Self::Members(rule), Json::Object(members)) if rule.patterns.is_empty() => members.len() as u64,
            (Self::Members(rule), Json::Object(members)) => {
                let patterns = rule.patterns.iter();
                let matches = |name: &str| patterns.clone().map(|(pattern, _)| pattern.steps(name)).sum::<u64>();
                members.iter().map(|(name, _)| 1 + matches(name)).sum()
            }
            _ => 0,
        };
        1 + inside
    }
}

/// The keywords that bound a number.
#[derive(Debug, Clone, Copy)]
pub(super) enum Bound {
    Minimum,
    ExclusiveMinimum,
    Maximum,
    ExclusiveMaximum,
}

impl Bound {
    pub(super) const ALL: [Self; 4] = [
        Self::Minimum,
        Self::ExclusiveMinimum,
        Self::Maximum,
        Self::ExclusiveMaximum,
    ];

    pub(super) fn keyword(self) -> &'static str {
        match self {
            Self::Minimum => "minimum",
            Self::ExclusiveMinimum => "exclusiveMinimum",
            Self::Maximum => "maximum",
            Self::ExclusiveMaximum => "exclusiveMaximum",
        }
    }
}

/// The schemas of an array's elements.
#[derive(Debug)]
pub(super) struct Items {
    /// The schemas of the first elements, by position.
    pub(super) prefix: Vec<NodeId>,
    /// The schema of the other elements.
    pub(super) rest: Option<NodeId>,
}

#[derive(Debug)]
pub(super) struct Contains {
    pub(super) node: NodeId,
    pub(super) min: u64,
    pub(super) max: Option<u64>,
}

/// The schemas of an object's members.
#[derive(Debug)]
pub(super) struct Members {
    /// Sorted by name.
    pub(super) named: Vec<(String, NodeId)>,
    pub(super) patterns: Vec<(Pattern, NodeId)>,
    /// The schema of the members that are neither named nor matched by a pattern.
    pub(super) others: Option<NodeId>,
}

#[derive(Debug)]
pub(super) struct Conditional {
    pub(super) condition: NodeId,
    pub(super) then: Option<NodeId>,
    pub(super) otherwise: Option<NodeId>,
}

impl Members {
    /// Returns the schema of the member `name`.
    pub(super) fn named(&self, name: &str) -> Option<NodeId> {
        let at = self
            .named
            .binary_search_by(|(other, _)| other.as_str().cmp(name))
            .ok()?;
        self.named.get(at).map(|(_, node)| *node)
    }
}

/// The types that `type` lists.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TypeSet(u8);

/// The types in the order in which a set names them. A type's bit is its index.
const TYPES: [(&str, &str); 7] = [
    ("object", "an object"),
    ("array", "an array"),
    ("string", "a string"),
    ("number", "a number"),
    ("integer", "an integer"),
    ("boolean", "a boolean"),
    ("null", "null"),
];

impl TypeSet {
    /// Returns the names of all types.
    pub(super) fn names() -> [&'static str; 7] {
        TYPES.map(|(name, _)| name)
    }

    /// Adds the type `name`, and returns whether there is such a type.
    pub(super) fn insert(&mut self, name: &str) -> bool {
        let index = TYPES.iter().position(|(known, _)| *known == name);
        self.0 |= index.map_or(0, |index| 1 << index);
        index.is_some()
    }

    pub(super) fn admits(self, value: &Json<'_>) -> bool {
        match value {
            Json::Object(_) => self.has(0),
            Json::Array(_) => self.has(1),
            Json::String(_) => self.has(2),
            Json::Number(number) => self.has(3) || self.has(4) && is_integer(number),
            Json::Bool(_) => self.has(5),
            Json::Null => self.has(6),
        }
    }

    /// Whether all values of a JSON type are admitted. For numbers, this requires `number`: whether a number is an
    /// integer depends on the value.
    pub(super) fn admits_type(self, found: JsonType) -> bool {
        self.has(match found {
            JsonType::Object => 0,
            JsonType::Array => 1,
            JsonType::String => 2,
            JsonType::Number => 3,
            JsonType::Boolean => 5,
            JsonType::Null => 6,
        })
    }

    /// Whether `null` is the only value that is admitted.
    pub(super) fn is_null(self) -> bool {
        self.0 == 1 << 6
    }

    /// Whether the set has the type at an index of [`TYPES`].
    fn has(self, index: usize) -> bool {
        self.0 & (1 << index) != 0
    }

    /// Returns the names with their articles, as in "a string or null".
    pub(super) fn describe(self) -> String {
        let named: Vec<&str> = TYPES
            .iter()
            .enumerate()
            .filter(|(index, _)| self.has(*index))
            .map(|(_, (_, described))| *described)
            .collect();
        match named.as_slice() {
            [others @ .., last] if !others.is_empty() => format!("{} or {last}", others.join(", ")),
            _ => named.concat(),
        }
    }
}

impl Node {
    /// Returns the nodes that apply to the same value as this one.
    pub(super) fn in_place(&self) -> Vec<NodeId> {
        self.successors(|rule, out| match rule {
            Rule::Ref(node) | Rule::Not(node) => out.push(*node),
            Rule::AllOf(nodes) | Rule::AnyOf(nodes) | Rule::OneOf(nodes) => out.extend(nodes),
            Rule::DependentSchemas(named) => out.extend(named.iter().map(|(_, node)| node)),
            Rule::If(conditional) => {
                out.push(conditional.condition);
                out.extend(conditional.then);
                out.extend(conditional.otherwise);
            }
            _ => {}
        })
    }

    /// Returns the nodes that apply to values inside the value.
    pub(super) fn inward(&self) -> Vec<NodeId> {
        self.successors(|rule, out| match rule {
            Rule::Items(items) => {
                out.extend(&items.prefix);
                out.extend(items.rest);
            }
            Rule::Contains(contains) => out.push(contains.node),
            Rule::Members(members) => {
                out.extend(members.named.iter().map(|(_, node)| node));
                out.extend(members.patterns.iter().map(|(_, node)| node));
                out.extend(members.others);
            }
            Rule::PropertyNames(node) | Rule::UnevaluatedMembers(node) | Rule::UnevaluatedItems(node) => {
                out.push(*node)
            }
            _ => {}
        })
    }

    pub(super) fn has_unevaluated(&self) -> bool {
        let is_unevaluated = |rule: &Rule| matches!(rule, Rule::UnevaluatedMembers(_) | Rule::UnevaluatedItems(_));
        self.rules.last().is_some_and(is_unevaluated)
    }

    fn successors(&self, gather: impl Fn(&Rule, &mut Vec<NodeId>)) -> Vec<NodeId> {
        let mut nodes = Vec::new();
        for rule in &self.rules {
            gather(rule, &mut nodes);
        }
        nodes
    }
}
