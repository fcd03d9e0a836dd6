//! The rows of a revision's table: what the conversions from and to the previous revision do beyond what the types
//! imply.
//!
//! `mcp_convert` documents and reads them. Empty entries aren't written.

use std::collections::BTreeMap;

use serde::Serialize;

use super::rules::{Action, Ensure, HasAndLacks, Refuse, Without};

/// The rule of automatic losses.
const AUTOMATIC: &str = "automatic";

/// The row of a pair of types.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Row {
    /// The types imply the conversion.
    Implied,
    Object(ObjectRow),
    /// Variant by variant.
    Union(Vec<VariantRow>),
    /// Result by result: those that don't become the one of the same name.
    Results(BTreeMap<String, Option<String>>),
}

/// The row of an object.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub(crate) struct ObjectRow {
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) members: BTreeMap<String, MemberRow>,
    /// Members of the source that the target doesn't declare.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) left: BTreeMap<String, LeftRow>,
}

/// The entry of a member of the target.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub(crate) struct MemberRow {
    /// The member of the source, if it has another name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) from: Option<String>,
    /// The action on the value of the source.
    #[serde(flatten)]
    pub(crate) action: Option<RowAction>,
    /// The value of a required member that is absent in the source. Using it is a loss.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) default: Option<DefaultRow>,
    /// The value that its absence in the source means.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) implied: Option<DefaultRow>,
    /// Validation by the target's schema, if that is stricter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) check: Option<Check>,
    /// The members that only the target declares in an open object: names, and the pointers of their schemas.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) declared: Vec<(String, String)>,
    /// The pointer of the schema of a member that the source doesn't declare, if its name doesn't imply it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) at: Option<Option<String>>,
    /// The key of the session's value that supplies the member.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) supplied: Option<String>,
}

/// The entry of a member of the source that the target doesn't declare. Without an action the member is dropped and
/// recorded, or carried.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub(crate) struct LeftRow {
    /// The value with the same meaning as absence: it is removed without a loss.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) implied: Option<String>,
    /// The action on its value.
    #[serde(flatten)]
    pub(crate) action: Option<RowAction>,
}

/// An action on a value beyond its conversion, with the rule's name in losses.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum RowAction {
    /// Its variants are converted differently from those of the same type elsewhere.
    Variants(Vec<VariantRow>),
    /// The object's tag has another value: that of the source, and that of the target.
    Tag(String, String),
    /// If it is absent, an empty object is converted, because all members of it that the target requires are supplied.
    Fill(bool),
    /// If it becomes empty, it is left out, because the members of it that the source requires are supplied.
    Empty(bool),
    /// A list of the target gets an element. For a member that both revisions declare, only if it can't be converted.
    Ensure { list: String, item: String, rule: String },
    /// Each element is split into one for each element of its member `by`, which is a list.
    Split { by: String, rule: String },
    /// A list becomes its only element, or one with the joined texts of all.
    Join {
        /// The conditions on each element, if there are several.
        when: Vec<Condition>,
        /// The member of an element that has its text.
        member: String,
        /// The separator of the texts.
        with: String,
        item: String,
        /// The refusal of any other list.
        #[serde(flatten)]
        otherwise: Refusal,
    },
    /// Some members of the object are left out.
    Without {
        members: Vec<String>,
        /// An object that has one member and lacks another one is left out as a whole.
        #[serde(flatten)]
        or_drop: Option<HasAndLacks>,
        rule: String,
    },
    /// Entries that the target can't hold are left out, unless this member of the object lists their keys.
    Omit { unless: String, rule: String },
    /// Elements whose members have these values are left out.
    Hide { when: Vec<Condition>, rule: String },
    /// It is dropped and recorded.
    Drop(String),
    /// It is copied to another member of the target, at this path.
    Copy { to: Vec<String>, rule: String },
    /// It becomes the member of the target at this path.
    Move(Vec<String>),
    /// Its members at these paths become members of the target with these names.
    Take(Vec<(Vec<String>, String)>),
    /// It is stored in `Supply` under this key, for the conversion back.
    Supply { key: String, rule: String },
    /// It can't be represented.
    Refuse(Refusal),
}

/// The path of a member within the value, and the string that it must be.
pub(crate) type Condition = (Vec<String>, String);

/// The value of a member that is absent in the source.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct DefaultRow {
    pub(crate) json: String,
    pub(crate) rule: String,
}

/// A validation by the schema of the target.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Check {
    /// The pointers of the schemas: several, where parts of an intersection declare the member.
    pub(crate) at: Vec<String>,
    /// The rule by which an invalid value is dropped; `None` if it is refused.
    pub(crate) drop: Option<String>,
}

/// The conversion of a variant of the source.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub(crate) enum VariantRow {
    /// The variant of the target at this position.
    Becomes(usize),
    /// This JSON, with placeholders.
    Replaced {
        replace: String,
        rule: String,
    },
    /// Nothing: the target has no counterpart of the variant with this name.
    Nothing {
        none: String,
    },
    Refused {
        refuse: Refusal,
    },
}

/// The reason why a value can't be represented.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Refusal {
    pub(crate) code: i64,
    /// The message for the peer.
    pub(crate) because: String,
    /// The rule, or `automatic` if there is none.
    pub(crate) rule: String,
}

impl Refusal {
    pub(super) fn new(refuse: &Refuse, rule: String) -> Self {
        let Refuse { code, because } = refuse.clone();
        Self { code, because, rule }
    }

    /// A refusal that the schemas imply, with JSON-RPC's "invalid params".
    pub(super) fn automatic(because: String) -> Self {
        Self {
            code: -32602,
            because,
            rule: AUTOMATIC.to_owned(),
        }
    }
}

impl RowAction {
    /// Returns the row's action for a rule's; `None` if that isn't for the value of a member.
    pub(super) fn of(action: &Action, rule: String) -> Option<Self> {
        let condition = |(path, text): (&String, &String)| (split(path), text.clone());
        Some(match action.clone() {
            Action::Copy(path) => Self::Copy { to: split(&path), rule },
            Action::Drop(_) => Self::Drop(rule),
            Action::Ensure(Ensure { list, item }) => Self::Ensure {
                list,
                item: item.to_string(),
                rule,
            },
            Action::Hide(when) => Self::Hide {
                when: when.iter().map(condition).collect(),
                rule,
            },
            Action::OmitUnlessIn(unless) => Self::Omit { unless, rule },
            Action::Refuse(refuse) => Self::Refuse(Refusal::new(&refuse, rule)),
            Action::SplitBy(by) => Self::Split { by, rule },
            Action::Join(join) => Self::Join {
                when: join.when.iter().map(condition).collect(),
                member: join.text,
                with: join.with,
                item: join.item.to_string(),
                otherwise: Refusal::new(&join.otherwise, rule),
            },
            Action::Without(Without { members, or_drop }) => Self::Without { members, or_drop, rule },
            Action::Default(_) | Action::DropInvalid(_) | Action::Replace(_) => return None,
        })
    }
}

/// The steps of a path such as `annotations.title`.
pub(super) fn split(path: &str) -> Vec<String> {
    path.split('.').map(str::to_owned).collect()
}
