//! Rules for conversions that two schemas don't imply: data in `adapt.yaml`, each with its reason and a link.

use std::collections::BTreeMap;

use mcp_json_schema::pointer;
use serde::de::{Error, IgnoredAny};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value, json};

use super::error_rules::ErrorRule;
use super::path::{InElements, Step, only_name, steps};
use crate::load::Document;
use crate::load::OneOrMany;
use crate::problem::{Problem, Problems};

const SECTIONS: [&str; 2] = ["rules", "errors"];

/// Wildcard for the type in a place.
pub(super) const ANY_TYPE: &str = "*";

/// The rules between a revision and the one before it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rules {
    pub(crate) rules: Vec<Rule>,
    pub(crate) errors: Vec<ErrorRule>,
    pub(super) document: Document,
}

/// A rule: what to do at one place.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rule {
    /// The places in the file. Each becomes a rule.
    #[serde(rename = "at")]
    places: OneOrMany,
    /// The place: `Type`, `Type.member`, `*.member`, `Type[variant]` or `Type.member[variant]`. A type has its Rust
    /// name, or is `*` for every type that has the member. A variant is named by its tag, by the type that it holds, or
    /// by its JSON type.
    ///
    /// It is in the revision that the value comes from. For `implied` and `supplied` it is in the revision that declares
    /// the member, and for `renamed` in the earlier one, where it can also be a [path](steps).
    #[serde(skip)]
    pub(crate) at: String,
    /// For a member that only one of the revisions declares: the value with the meaning that absence has in the other.
    pub(crate) implied: Option<Value>,
    /// The key in `Supply` of a member that only one of the revisions declares.
    pub(crate) supplied: Option<String>,
    /// The name in the later revision of this member or type of the earlier one, or the [path](steps) of the member.
    pub(crate) renamed: Option<String>,
    /// The action when the value goes to the earlier revision.
    pub(crate) down: Option<Action>,
    /// The action when the value goes to the later revision.
    pub(crate) up: Option<Action>,
    pub(crate) why: String,
    /// Link to the part of the specification, or the discussion, that justifies the rule.
    pub(crate) link: String,
    /// The pointer of the rule in its file.
    #[serde(skip)]
    pub(crate) pointer: String,
}

/// The strings that members of a value must be, by their paths.
pub(super) type Conditions = BTreeMap<String, String>;

/// The action of a rule.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum Action {
    /// Copies the member's value to this member of the target, such as `annotations.title`, unless that has a value.
    Copy(String),
    /// The value of a member that the target requires and the source may lack.
    Default(Value),
    /// Leaves the value out, and records it.
    #[serde(deserialize_with = "only_true")]
    Drop(()),
    /// Leaves the value out and records it, if the target's schema refuses it.
    #[serde(deserialize_with = "only_true")]
    DropInvalid(()),
    /// Replaces a variant with this JSON, in which `{member}` is replaced with the variant's member.
    Replace(Value),
    /// Adds an element of this kind to a list of the target, unless it has one.
    Ensure {
        /// The list: a member of the same object, in the target.
        #[serde(rename = "in")]
        list: String,
        /// The element to append, unless there is one of the same variant; `{}` in it is replaced with the member's JSON.
        item: Value,
    },
    /// Leaves out the elements of a list whose members have these values; the keys are paths such as `execution.taskSupport`.
    Hide(Conditions),
    /// Leaves out the entries of a map that the target can't hold, unless this member of the object lists their keys.
    OmitUnlessIn(String),
    Refuse(Refuse),
    /// Splits each element of a list into one for each element of this member, which is a list.
    SplitBy(String),
    /// Turns a list into one value: its only element, or one with the joined texts of all.
    Join {
        /// The conditions on each element, if there are several.
        when: Conditions,
        /// The member of an element that has its text.
        text: String,
        /// The separator of the texts.
        with: String,
        /// The value; `{member}` in it is replaced with the joined text.
        item: Value,
        /// The refusal of any other list.
        otherwise: Refuse,
    },
    /// Leaves out these members of an object.
    Without {
        members: Vec<String>,
        /// An object that has one member and lacks another one is left out as a whole.
        #[serde(rename = "or-drop")]
        or_drop: Option<HasAndLacks>,
    },
}

/// A condition on an object: one member is present, and another is absent.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HasAndLacks {
    pub(crate) has: String,
    /// The absent member.
    pub(crate) lacks: String,
}

/// The refusal of a value.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Refuse {
    pub(crate) code: i64,
    /// The message for the peer.
    pub(crate) because: String,
}

fn only_true<'de, D: Deserializer<'de>>(deserializer: D) -> Result<(), D::Error> {
    let otherwise = || D::Error::custom("leave the line out instead");
    bool::deserialize(deserializer)?.then_some(()).ok_or_else(otherwise)
}

impl Rules {
    /// Reads rules from their document.
    pub(crate) fn of(document: Document) -> Result<Self, Problems> {
        let mut problems = Vec::new();
        let _: BTreeMap<String, Vec<IgnoredAny>> = document.decode_or_report(&mut problems);
        let sections = document.root().as_object().into_iter().flat_map(Map::keys);
        let unknown = sections.filter(|section| !SECTIONS.contains(&section.as_str()));
        let unknown = unknown.map(|section| {
            let what = format!("there is no section `{section}`");
            let problem = document.problem(&pointer::child("#", section), what);
            problem.help("everything is under `rules` or `errors`")
        });
        problems.extend(unknown);
        let mut rules = Vec::new();
        for (pointer, rule) in document.entries_at::<Rule>("rules", &mut problems) {
            rules.extend(rule.places.iter().map(|at| Rule {
                at: at.clone(),
                pointer: pointer.clone(),
                ..rule.clone()
            }));
        }
        let errors = document.entries_at::<ErrorRule>("errors", &mut problems).into_iter();
        let errors: Vec<ErrorRule> = errors.map(|(pointer, rule)| ErrorRule { pointer, ..rule }).collect();
        let wrong = rules.iter().filter_map(Rule::wrong);
        let wrong = wrong.chain(errors.iter().filter_map(ErrorRule::wrong));
        problems.extend(wrong.map(|problem| document.locate(problem)));
        Problems::check(problems)?;
        Ok(Self {
            rules,
            errors,
            document,
        })
    }

    /// Returns a part of a rule for a place; one that names the type precedes one for any type.
    pub(super) fn find<'r, T>(&'r self, place: &str, what: impl Fn(&'r Rule) -> Option<T>) -> Option<(usize, T)> {
        let ty = place.find(['.', '[']).unwrap_or(place.len());
        let in_any_type = format!("{ANY_TYPE}{}", &place[ty..]);
        [place, &in_any_type].into_iter().find_map(|place| {
            let mut rules = self.rules.iter().enumerate().filter(|(_, rule)| rule.at == place);
            rules.find_map(|(index, rule)| Some((index, what(rule)?)))
        })
    }

    /// Removes the rules that have problems, and returns whether there were any.
    pub(super) fn ignore(&mut self, problems: &[Problem]) -> bool {
        let before = self.rules.len() + self.errors.len();
        let is_wrong = |pointer: &String| problems.iter().any(|problem| problem.pointer == *pointer);
        self.rules.retain(|rule| !is_wrong(&rule.pointer));
        self.errors.retain(|rule| !is_wrong(&rule.pointer));
        self.rules.len() + self.errors.len() < before
    }
}

impl Rule {
    /// Creates a rule that renames something.
    pub(crate) fn renames(at: &str, renamed: &str, pointer: String) -> Self {
        Self {
            places: OneOrMany(Vec::new()),
            at: at.to_owned(),
            implied: None,
            supplied: None,
            renamed: Some(renamed.to_owned()),
            down: None,
            up: None,
            why: String::new(),
            link: String::new(),
            pointer,
        }
    }

    pub(super) fn action(&self, upward: bool) -> Option<&Action> {
        let action = if upward { &self.up } else { &self.down };
        action.as_ref()
    }

    /// Whether it applies to one direction.
    pub(super) fn is_about(&self, upward: bool) -> bool {
        let holds_both_ways = self.implied.is_some() || self.supplied.is_some() || self.renamed.is_some();
        holds_both_ways || self.action(upward).is_some()
    }

    /// Returns the new name of the member or type, if that isn't in another member.
    pub(super) fn new_name(&self) -> Option<&str> {
        self.renamed.as_deref().and_then(only_name)
    }

    /// Returns the earlier and the later name of a member of a type that the rule is about: one that it renames, or a list or
    /// map whose elements are in objects in one of the revisions.
    pub(super) fn names(&self, ty: &str) -> Option<[&str; 2]> {
        let list = |path| InElements::of(path).map(|path| path.list);
        let earlier = self.at.strip_prefix(ty)?.strip_prefix('.')?;
        let later = self.renamed.as_deref()?;
        Some([
            list(earlier).unwrap_or(earlier),
            only_name(later).or_else(|| list(later))?,
        ])
    }

    /// Returns the path of the elements that are in objects in one of the revisions, and whether that is the later one.
    pub(super) fn enclosing(&self) -> Option<(InElements<'_>, bool)> {
        let later = InElements::of(self.renamed.as_deref()?);
        let earlier = self.at.split_once('.').and_then(|(_, path)| InElements::of(path));
        match (earlier, later) {
            (Some(path), None) => Some((path, false)),
            (None, Some(path)) => Some((path, true)),
            _ => None,
        }
    }

    /// Returns the path in the target of a value that the rule moves.
    pub(super) fn moved_to(&self, upward: bool) -> Option<Vec<Step>> {
        let renamed = self.renamed.as_deref()?;
        match upward {
            true => steps(renamed),
            false => steps(self.at.split_once('.')?.1),
        }
    }

    fn wrong(&self) -> Option<Problem> {
        if !is_place(&self.at) {
            let kinds = "`Type.member`, `*.member`, `Type[variant]` or `Type.member[variant]`";
            let what = format!("`{}` isn't a place; a place is {kinds}", self.at);
            return Some(Problem::at_pointer(&self.pointer, what));
        }
        if let Some(renamed) = self.renamed.as_deref()
            && only_name(renamed).is_none()
            && steps(renamed).is_none()
            && InElements::of(renamed).is_none()
        {
            let what = format!("`{renamed}` is neither a name nor a path");
            let help = "a path is `features.tools`, or `outputs[audience=user].content` for an element of a list, or \
                        `content[].block` for each, or `inputs[{key}].request` for each entry of a map";
            return Some(Problem::at_pointer(&self.pointer, what).help(help));
        }
        let has_others = self.down.is_some() || self.up.is_some() || self.implied.is_some();
        let separate = "remove the others, or move them to a separate rule";
        let (what, help) = match (self.renamed.is_some(), self.supplied.is_some(), has_others) {
            (false, false, false) => (
                "the rule does nothing",
                "give it `down`, `up` or both, `implied`, `supplied` or `renamed`",
            ),
            (true, false, false) | (false, true, false) | (false, false, true) => return None,
            (true, ..) => ("`renamed` can't be combined with other keys", separate),
            (false, true, true) => ("`supplied` can't be combined with other keys", separate),
        };
        Some(Problem::at_pointer(&self.pointer, what).help(help))
    }
}

impl Action {
    /// Returns its key in the file.
    pub(super) fn word(&self) -> String {
        let json = json!(self);
        let keys = json.as_object().into_iter().flat_map(|action| action.keys());
        keys.cloned().collect()
    }
}

/// Whether a text has the form of a rule's place.
fn is_place(text: &str) -> bool {
    let variant = text.strip_suffix(']').and_then(|text| text.split_once('['));
    let (path, variant) = variant.map_or((text, None), |(path, variant)| (path, Some(variant)));
    let member = path.split_once('.');
    let (ty, member) = member.map_or((path, None), |(ty, member)| (ty, Some(member)));
    let names_nothing = ty == ANY_TYPE && (member.is_none() || variant.is_some());
    let is_complete = ![Some(ty), member, variant].contains(&Some(""));
    is_complete && !names_nothing && !ty.contains(['[', ']'])
}
