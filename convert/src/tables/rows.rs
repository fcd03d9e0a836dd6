//! The parts of conversions between neighbouring revisions that the types don't imply.

use super::named::Named;

/// The rows of one direction.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    /// Definitions that have another name in the target, or no counterpart.
    pub(crate) definitions: Named<Option<&'static str>>,
    /// Methods that have another name in the target.
    pub(crate) methods: Named<&'static str>,
    /// Objects, by the notation of the pair of types.
    pub(crate) objects: Named<ObjectRow>,
    /// Unions, by the notation of the pair of types.
    pub(crate) unions: Named<Vec<VariantRow>>,
    /// Values of enumerations that become others in the target, by the notation of the pair of types.
    pub(crate) strings: Named<Named<NewString>>,
    /// Pairs of types whose values are validated by the schema of the target, which is stricter than its types.
    pub(crate) narrower: Named<()>,
    /// Results that have another name in the target, or no counterpart, by the union of results.
    pub(crate) results: Named<Named<Option<&'static str>>>,
}

impl Rows {
    /// Returns the keys of the supply that members of the target use.
    pub(crate) fn supply_keys(&self) -> impl Iterator<Item = &'static str> {
        let members = self.objects.values().flat_map(|object| object.members.values());
        members.filter_map(|member| member.supplied)
    }
}

/// The rows of an object.
#[derive(Debug, Default)]
pub(crate) struct ObjectRow {
    /// The rows of the members of the target.
    pub(crate) members: Named<MemberRow>,
    /// The rows of the members of the source that the target doesn't declare.
    pub(crate) left: Named<LeftRow>,
    /// The values that have another place in the target: the path of each in the source, and that in the target.
    pub(crate) moves: Vec<[Vec<PathStep>; 2]>,
}

/// The row of a member of the target.
#[derive(Debug, Default)]
pub(crate) struct MemberRow {
    /// The member of the source, if it has another name.
    pub(crate) from: Option<&'static str>,
    /// The action on the value of the source.
    pub(crate) action: Option<Action>,
    /// The value of a required member that the source doesn't have.
    pub(crate) default: Option<DefaultRow>,
    /// The validation of a value for which the target is stricter.
    pub(crate) check: Option<Check>,
    /// Members that the target declares in an open object, and the pointers of their schemas.
    pub(crate) declared: Vec<(&'static str, &'static str)>,
    /// The pointer of the schema of a member that the source doesn't declare, if it doesn't follow from the name.
    pub(crate) pointer: Option<Option<&'static str>>,
    /// The key of a value of the supply.
    pub(crate) supplied: Option<&'static str>,
}

/// The action on the value of a member that both revisions declare.
#[derive(Debug, Clone)]
pub(crate) enum Action {
    Variants(Vec<VariantRow>),
    /// The tag of the source, and that of the target.
    Tag(&'static str, &'static str),
    Fill,
    Empty,
    /// The value becomes the only element of a list.
    Wrap,
    /// The only element of a list becomes the value.
    Unwrap,
    /// Each element of a list, or value of a map, becomes a member of an object.
    Enclose(Enclosing),
    /// Each element of a list is an object, and becomes its member.
    Extract(Enclosing),
    Ensure(Ensure),
    Omit {
        unless: &'static str,
        rule: &'static str,
    },
    Hide {
        when: Vec<Condition>,
        rule: &'static str,
    },
    Split {
        member: &'static str,
        rule: &'static str,
    },
    Join(Join),
    Without(Without),
    Drop {
        rule: &'static str,
    },
    Refuse(Refusal),
}

/// The members of objects in a list that are a list or a map in the other revision.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Enclosing {
    /// The member with an element of the list, or a value of the map.
    pub(crate) member: &'static str,
    /// The member with the key of the map.
    pub(crate) key: Option<&'static str>,
}

/// The condition that there is a certain text at a path.
#[derive(Debug, Clone)]
pub(crate) struct Condition {
    pub(crate) path: Vec<&'static str>,
    pub(crate) text: &'static str,
}

/// An element that a list of the target must have.
#[derive(Debug, Clone)]
pub(crate) struct Ensure {
    pub(crate) list: &'static str,
    pub(crate) item: &'static str,
    pub(crate) rule: &'static str,
}

/// A list that becomes one element: its only one, or one with the joined texts of all.
#[derive(Debug, Clone)]
pub(crate) struct Join {
    /// The conditions that each of several elements must meet.
    pub(crate) when: Vec<Condition>,
    /// The member of an element with its text.
    pub(crate) member: &'static str,
    pub(crate) separator: &'static str,
    /// The template of the element, with a placeholder for the joined text.
    pub(crate) item: &'static str,
    /// The refusal of other lists.
    pub(crate) otherwise: Refusal,
}

/// The removal of members from an object.
#[derive(Debug, Clone)]
pub(crate) struct Without {
    pub(crate) members: Vec<&'static str>,
    /// An object that has the first and not the second member is dropped.
    pub(crate) unless: Option<(&'static str, &'static str)>,
    pub(crate) rule: &'static str,
}

/// The refusal of a value by a rule.
#[derive(Debug, Clone)]
pub(crate) struct Refusal {
    pub(crate) code: i64,
    pub(crate) because: &'static str,
    pub(crate) rule: &'static str,
}

/// The default value of a member.
#[derive(Debug, Clone)]
pub(crate) struct DefaultRow {
    pub(crate) json: &'static str,
    pub(crate) rule: &'static str,
    /// Whether the absence of the member means this value, so that no loss is recorded.
    pub(crate) implied: bool,
}

/// A validation by the schema of the target.
#[derive(Debug, Clone)]
pub(crate) struct Check {
    /// The schemas that all have to accept the value.
    pub(crate) pointers: Vec<&'static str>,
    /// The rule that drops an invalid value. Without one it is refused.
    pub(crate) drop: Option<&'static str>,
}

/// The value of the target that a value of an enumeration becomes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NewString {
    pub(crate) text: &'static str,
    /// The rule that replaces the value; `None` if only its name changes.
    pub(crate) replaced: Option<&'static str>,
}

/// A variant of the source.
#[derive(Debug, Clone)]
pub(crate) enum VariantRow {
    /// It becomes the variant of the target at this position; any position if the target isn't a union.
    Becomes(usize),
    /// A value becomes the one of several variants of the target that its tag decides, or its members, or else what the last
    /// row says.
    OneOf(Vec<VariantRow>),
    Replace {
        template: &'static str,
        rule: &'static str,
    },
    Refuse(Refusal),
    /// The target has no counterpart of the type with this name.
    None(&'static str),
}

/// A member of the source that the target doesn't declare.
#[derive(Debug, Clone, Default)]
pub(crate) struct LeftRow {
    /// The JSON of the value that means the same as the absence of the member.
    pub(crate) implied: Option<&'static str>,
    pub(crate) action: Option<LeftAction>,
}

/// A step of the path to a value in an object.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum PathStep {
    Member(&'static str),
    /// The first element of a list that has these texts in these members.
    Element(Vec<(&'static str, &'static str)>),
}

impl PathStep {
    /// Returns the name of the member, if the step isn't an element.
    pub(crate) fn member(&self) -> Option<&'static str> {
        match self {
            Self::Member(name) => Some(name),
            Self::Element(_) => None,
        }
    }

    /// Returns the name of the member that a path begins with.
    pub(crate) fn first(path: &[Self]) -> Option<&'static str> {
        path.first()?.member()
    }

    /// Returns the name of the member that a path leads into.
    pub(crate) fn container(path: &[Self]) -> Option<&'static str> {
        Self::first(path).filter(|_| path.len() > 1)
    }

    /// Whether a path leads into a list.
    pub(crate) fn leads_into_list(path: &[Self]) -> bool {
        path.iter().any(|step| step.member().is_none())
    }
}

#[derive(Debug, Clone)]
pub(crate) enum LeftAction {
    Drop { rule: &'static str },
    Copy { to: Vec<PathStep>, rule: &'static str },
    Ensure(Ensure),
    Supply { key: &'static str, rule: &'static str },
    Refuse(Refusal),
}
