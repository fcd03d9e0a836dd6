//! The rows of a revision's table: what the conversions from and to the revision before do beyond what the types imply.
//!
//! `mcp_convert` documents and reads them. What says nothing isn't written.

use std::collections::BTreeMap;

use serde::Serialize;

use super::rules::{Action, Ensure, HasAndLacks, Refuse, Without};

/// What automatic losses name as their rule.
const AUTOMATIC: &str = "automatic";

/// How a type becomes another.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Row {
    Implied,
    Object(ObjectRow),
    /// Variant by variant. The row may be implied.
    Union(Option<Vec<VariantRow>>),
    /// Result by result: those that don't become the one of the same name.
    Results(BTreeMap<String, Option<String>>),
}

/// An object.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub(crate) struct ObjectRow {
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) members: BTreeMap<String, MemberRow>,
    /// Members of the source that the target doesn't declare.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) left: BTreeMap<String, LeftRow>,
}

/// A member of the target.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub(crate) struct MemberRow {
    /// The member of the source, if it has another name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) from: Option<String>,
    /// What happens to the value of the source.
    #[serde(flatten)]
    pub(crate) action: Option<RowAction>,
    /// What a required member is where the source has none. That is a loss.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) default: Option<DefaultRow>,
    /// What its absence in the source means.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) implied: Option<DefaultRow>,
    /// The validation of a value for which the target is stricter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) check: Option<Check>,
    /// What the target declares in an open object and the source doesn't: names, and the pointers of their schemas.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) declared: Vec<(String, String)>,
    /// The pointer of the schema of a member that the source doesn't declare, if its name doesn't imply it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) at: Option<Option<String>>,
    /// The key of a value of the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) supplied: Option<String>,
}

/// A member of the source that the target doesn't declare. Without an action it is dropped and recorded, or carried.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub(crate) struct LeftRow {
    /// The value that means what its absence means: this one leaves without a trace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) implied: Option<String>,
    /// What happens to it.
    #[serde(flatten)]
    pub(crate) action: Option<RowAction>,
}

/// What happens to a value beyond its conversion, with the rule as losses name it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum RowAction {
    /// Its variants are converted otherwise than elsewhere.
    Variants(Vec<VariantRow>),
    /// What distinguishes the object from others is another value: that of the source, and that of the target.
    Tag(String, String),
    /// If it is absent, an empty object is converted, because all that the target requires in it is supplied.
    Fill(bool),
    /// If nothing is in it any more, it is left out, because what the source requires in it is supplied.
    Empty(bool),
    /// A list of the target gets an element, where a member that both revisions declare can't be converted.
    Ensure { list: String, item: String, rule: String },
    /// There is an element for each element of the list that this member of theirs is.
    Split { by: String, rule: String },
    /// It becomes the only element of the list, or one with the joined texts of all.
    Join {
        /// What each of several elements must be.
        when: Vec<Condition>,
        /// The member of an element that has its text.
        member: String,
        /// What is put between the texts.
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
    /// Entries that can't be held are left out, unless this member of the object lists their keys.
    Omit { unless: String, rule: String },
    /// Elements whose members have these values are left out.
    Hide { when: Vec<Condition>, rule: String },
    /// It is dropped and recorded.
    Drop(String),
    /// It is copied to another member, by the way from the target inwards.
    Copy { to: Vec<String>, rule: String },
    /// It is the member of the target at the end of this way.
    Move(Vec<String>),
    /// What is at the ends of these ways in it are members of the target by these names.
    Take(Vec<(Vec<String>, String)>),
    /// It is stored in `Supply` by this key, for the way back.
    Supply { key: String, rule: String },
    /// It can't be represented.
    Refuse(Refusal),
}

/// A way to a member, from the value inwards, and its text.
pub(crate) type Condition = (Vec<String>, String);

/// What a member is where the source has none.
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

/// What becomes of a variant of the source.
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
    /// Nothing: the target has no counterpart of what has this name.
    Nothing {
        none: String,
    },
    Refused {
        refuse: Refusal,
    },
}

/// Why a value can't be represented.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Refusal {
    pub(crate) code: i64,
    /// What the peer is told.
    pub(crate) because: String,
    /// The rule, or that there is none.
    pub(crate) rule: String,
}

impl Refusal {
    pub(super) fn new(refuse: &Refuse, rule: String) -> Self {
        let Refuse { code, because } = refuse.clone();
        Self { code, because, rule }
    }

    /// What the schemas alone refuse, with JSON-RPC's "invalid params".
    pub(super) fn automatic(because: String) -> Self {
        Self {
            code: -32602,
            because,
            rule: AUTOMATIC.to_owned(),
        }
    }
}

impl RowAction {
    /// What a rule does with the value of a member; `None` for what it can't do with one.
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
