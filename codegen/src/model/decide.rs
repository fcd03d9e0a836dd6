//! Decides how the variants of a union are distinguished.
//!
//! The objects of a union are distinguished by a constant tag, by a required member, or by one of these inside a
//! member. An object is decoded by trial only if the schema accepts it, and it isn't the variant that its members
//! suggest.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap};

use mcp_json_schema::JsonType;
use serde::Serialize;
use serde_json::json;

use crate::normalise::{Node, Property, Scalar, Shape, Shapes};

/// A rule that identifies the variant of an object, in the form in which tables contain it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub(crate) enum Decision {
    /// The variant with this index.
    Is(usize),
    /// By the value of a member: a string, or else an integer or a boolean.
    Tag {
        #[serde(rename = "tag")]
        member: String,
        /// The JSON types of the member, whose values are written as JSON; empty for any. `None` if it is a string.
        #[serde(skip_serializing_if = "Option::is_none")]
        types: Option<BTreeSet<JsonType>>,
        /// The decision for each value.
        cases: Vec<(Vec<String>, Decision)>,
        /// The decision if the member is absent, where it is optional.
        absent: Option<Box<Decision>>,
        /// The decision for all other values, if the schema allows any value of a type in some variant.
        #[serde(skip_serializing_if = "Option::is_none")]
        others: Option<Box<Decision>>,
    },
    /// By the presence of one of several members.
    Has {
        /// The decision for the presence of each member, in the order in which they are checked.
        #[serde(rename = "has")]
        cases: Vec<Case>,
        /// The decision if all are absent.
        otherwise: Box<Decision>,
        /// The members that are required if all are absent.
        needs: Vec<String>,
    },
    /// By a decision about the object that is the value of a member.
    Within {
        #[serde(rename = "within")]
        member: String,
        #[serde(rename = "is")]
        decision: Box<Decision>,
    },
}

impl Decision {
    /// Whether required tags identify every variant.
    pub(super) fn is_by_tags(&self) -> bool {
        match self {
            Self::Is(_) => true,
            Self::Tag {
                cases,
                absent: None,
                others: None,
                ..
            } => cases.iter().all(|(_, decision)| decision.is_by_tags()),
            Self::Within { decision, .. } => decision.is_by_tags(),
            Self::Tag { .. } | Self::Has { .. } => false,
        }
    }
}

/// A member whose presence identifies the variant.
///
/// The other variants can also contain it, as an undeclared member: then its value can be of any kind, and the members
/// of `needs` can be missing.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Case {
    pub(crate) member: String,
    /// The JSON types of its value; all, if empty.
    pub(crate) kinds: BTreeSet<JsonType>,
    /// The other members that are required with it.
    pub(crate) needs: Vec<String>,
    /// The decision if it is present.
    #[serde(rename = "is")]
    pub(crate) decision: Decision,
}

/// A variant that is an object: its index and its members.
type Candidate<'n> = (usize, &'n BTreeMap<String, Property>);

/// The maximum number of partial decisions that are tried for one union. Unions whose variants can be distinguished
/// take a few for each variant; for others, the number of combinations would explode.
const BUDGET: usize = 2_000;

/// The maximum depth of nested unions that are searched for the JSON types of their values.
const DEEPEST: usize = 16;

/// Finds a decision that distinguishes `candidates`; `None` if the schema allows none.
pub(super) fn decide<'n>(shapes: &'n Shapes, candidates: &[Candidate<'n>], default: Option<usize>) -> Option<Decision> {
    let search = Search {
        shapes,
        budget: Cell::new(BUDGET),
        known: RefCell::default(),
    };
    search.decide(candidates, default)
}

/// The search for a decision.
struct Search<'n> {
    shapes: &'n Shapes,
    budget: Cell<usize>,
    /// The known decisions for sets of candidates. Several members can lead to the same set.
    known: RefCell<HashMap<CandidateSet, KnownDecision>>,
}

/// The candidates, by their indices and the addresses of their members, and the variant without a tag.
type CandidateSet = (Vec<(usize, usize)>, Option<usize>);

/// A decision, and the part of the budget that it took.
type KnownDecision = (Option<Decision>, usize);

impl<'n> Search<'n> {
    fn decide(&self, candidates: &[Candidate<'n>], default: Option<usize>) -> Option<Decision> {
        self.budget.set(self.budget.get().checked_sub(1)?);
        if let [(index, _)] = candidates {
            return Some(Decision::Is(*index));
        }
        let identified = candidates
            .iter()
            .map(|(index, members)| (*index, std::ptr::from_ref(*members).addr()));
        let set = (identified.collect(), default);
        let budget = self.budget.get();
        if let Some((decision, cost)) = self.known.borrow().get(&set) {
            // A known decision takes as much of the budget as another search, so that the outcome is the same.
            self.budget.set(budget.saturating_sub(*cost));
            return decision.clone().filter(|_| *cost <= budget);
        }
        let decision = self.search(candidates, default);
        let left = self.budget.get();
        // A search that exhausted the budget has no result to keep.
        if left > 0 {
            let known = (decision.clone(), budget - left);
            self.known.borrow_mut().insert(set, known);
        }
        decision
    }

    fn search(&self, candidates: &[Candidate<'n>], default: Option<usize>) -> Option<Decision> {
        // An optional member is weaker evidence than the value of a required one, because any variant can lack it.
        self.by_tag(candidates, default)
            .or_else(|| self.by_presence(candidates, true))
            .or_else(|| self.within(candidates))
            .or_else(|| self.by_presence(candidates, false))
    }

    /// Decides by a member of all candidates, whose values in the schema differ at least partly: by strings, if possible.
    fn by_tag(&self, candidates: &[Candidate<'n>], default: Option<usize>) -> Option<Decision> {
        let (_, first) = candidates.first()?;
        let by = |strings| {
            let mut members = first.keys();
            members.find_map(|member| self.by_tag_member(candidates, member, default, strings))
        };
        by(true).or_else(|| by(false))
    }

    fn by_tag_member(
        &self,
        candidates: &[Candidate<'n>],
        member: &str,
        default: Option<usize>,
        strings: bool,
    ) -> Option<Decision> {
        let mut groups: BTreeMap<Scalar, Vec<Candidate<'n>>> = BTreeMap::new();
        let mut untagged: Vec<Candidate<'n>> = Vec::new();
        let mut any_value: Vec<Candidate<'n>> = Vec::new();
        for (index, members) in candidates {
            let property = members.get(member)?;
            match self.tag_values(&property.node) {
                Some(values) => {
                    for value in values {
                        groups.entry(value).or_default().push((*index, members));
                    }
                }
                None => match self.shapes.shape(&property.node) {
                    Shape::String => any_value.push((*index, members)),
                    Shape::Boolean | Shape::Integer | Shape::Number if !strings => any_value.push((*index, members)),
                    _ => return None,
                },
            }
            if !property.required {
                untagged.push((*index, members));
            }
        }
        // A value that all candidates can have doesn't reduce their number.
        if groups.is_empty()
            || groups.keys().all(|value| value.json_type() == JsonType::String) != strings
            || groups.values().any(|group| group.len() == candidates.len())
        {
            return None;
        }
        let others = match any_value.as_slice() {
            [] => None,
            any_value => Some(self.decide(any_value, None)?),
        };
        let absent = match (default, untagged.as_slice()) {
            (Some(default), _) if untagged.iter().any(|(index, _)| *index == default) => Some(Decision::Is(default)),
            (_, []) => None,
            (_, untagged) if untagged.len() == candidates.len() => return None,
            (_, untagged) => Some(self.decide(untagged, None)?),
        };
        let types = groups.keys().filter(|_| others.is_none()).map(Scalar::json_type);
        let types = (!strings).then(|| types.collect());
        // Values that lead to the same decision share a case, in the order of the first variant that has them.
        let mut cases: Vec<(Vec<String>, Decision)> = Vec::new();
        let mut in_order: Vec<_> = groups.into_iter().collect();
        in_order.sort_by_key(|(_, group)| group.iter().map(|(index, _)| *index).min());
        for (value, group) in in_order {
            let decision = self.decide(&group, None)?;
            let value = match value {
                Scalar::String(text) if strings => text,
                // As `Reader::peek_constant` writes it.
                value => json!(value).to_string(),
            };
            match cases.iter_mut().find(|(_, other)| *other == decision) {
                Some((values, _)) => values.push(value),
                None => cases.push((vec![value], decision)),
            }
        }
        Some(Decision::Tag {
            member: member.to_owned(),
            types,
            cases,
            absent: absent.map(Box::new),
            others: others.map(Box::new),
        })
    }

    /// Returns the values of this member that distinguish its object from others.
    fn tag_values(&self, node: &'n Node) -> Option<Vec<Scalar>> {
        if let Some(tag) = &node.tag {
            return Some(vec![Scalar::String(tag.clone())]);
        }
        match self.shapes.shape(node) {
            Shape::Constant(value) => Some(vec![value.clone()]),
            Shape::Strings(strings) => Some(strings.values.iter().cloned().map(Scalar::String).collect()),
            _ => None,
        }
    }

    /// Decides by a member that some candidates require and the others don't declare; or without `must_require`, by one
    /// that some declare, if the others can hold the objects without it.
    fn by_presence(&self, candidates: &[Candidate<'n>], must_require: bool) -> Option<Decision> {
        let names: BTreeSet<&String> = candidates.iter().flat_map(|(_, members)| members.keys()).collect();
        // Once the budget is used up, no member decides anything.
        let mut names = names.iter().take_while(|_| self.budget.get() > 0);
        names.find_map(|member| {
            let (with, without) = split_by_presence(self.shapes, candidates, member, must_require)?;
            let present = self.decide(&with, None)?;
            let absent = self.decide(&without, None)?;
            let kinds = with
                .iter()
                .map(|(_, members)| self.kinds(&members[*member].node, DEEPEST));
            let kinds: Option<Vec<_>> = kinds.collect();
            let mut needs = required_by_all(&with);
            needs.retain(|name| name != *member);
            let mut cases = vec![Case {
                member: (*member).clone(),
                kinds: kinds.into_iter().flatten().flatten().collect(),
                needs,
                decision: present,
            }];
            let (otherwise, needs) = match absent {
                Decision::Has {
                    cases: further,
                    otherwise,
                    needs,
                } => {
                    cases.extend(further);
                    (otherwise, needs)
                }
                other => (Box::new(other), required_by_all(&without)),
            };
            Some(Decision::Has {
                cases,
                otherwise,
                needs,
            })
        })
    }

    /// Returns the JSON types that a value can have; `None` if it can have any.
    fn kinds(&self, node: &'n Node, depth: usize) -> Option<BTreeSet<JsonType>> {
        let depth = depth.checked_sub(1)?;
        let kind = match self.shapes.shape(node) {
            Shape::Any | Shape::Reference(_) => return None,
            Shape::Null => JsonType::Null,
            Shape::Nullable(inner) => {
                let mut kinds = self.kinds(inner, depth)?;
                kinds.insert(JsonType::Null);
                return Some(kinds);
            }
            Shape::Union(variants) => {
                let kinds: Option<Vec<_>> = variants.iter().map(|variant| self.kinds(variant, depth)).collect();
                return Some(kinds?.into_iter().flatten().collect());
            }
            shape => json_kind(shape),
        };
        Some([kind].into())
    }

    /// Decides by the value of a member that all candidates require, and that is an object in each.
    fn within(&self, candidates: &[Candidate<'n>]) -> Option<Decision> {
        let (_, first) = candidates.first()?;
        first.keys().find_map(|member| {
            let inner: Option<Vec<Candidate<'n>>> = candidates
                .iter()
                .map(|(index, members)| {
                    let property = members.get(member).filter(|property| property.required)?;
                    Some((*index, self.shapes.members(&property.node)?))
                })
                .collect();
            let inner = inner?;
            // Equal members don't distinguish anything, and can contain themselves.
            if inner.windows(2).any(|pair| pair[0].1 == pair[1].1) {
                return None;
            }
            let decision = self
                .by_tag(&inner, None)
                .or_else(|| self.by_presence(&inner, true))
                .or_else(|| self.by_presence(&inner, false))?;
            Some(Decision::Within {
                member: member.clone(),
                decision: Box::new(decision),
            })
        })
    }
}

fn required_by_all(candidates: &[Candidate<'_>]) -> Vec<String> {
    let names = candidates.first().into_iter().flat_map(|(_, first)| first.keys());
    let required = names.filter(|name| candidates.iter().all(|(_, members)| requires(members, name)));
    required.cloned().collect()
}

fn requires(members: &BTreeMap<String, Property>, name: &str) -> bool {
    members.get(name).is_some_and(|property| property.required)
}

pub(crate) fn json_kind(shape: &Shape) -> JsonType {
    match shape {
        Shape::Constant(value) => value.json_type(),
        Shape::Boolean => JsonType::Boolean,
        Shape::Integer | Shape::Number => JsonType::Number,
        Shape::String | Shape::Strings(_) => JsonType::String,
        Shape::List(_) => JsonType::Array,
        _ => JsonType::Object,
    }
}

/// Returns the tag of each variant with exactly one value, by the variant's index.
pub(super) fn single_tags(cases: &[(Vec<String>, Decision)]) -> BTreeMap<usize, &str> {
    let tags = cases
        .iter()
        .filter_map(|(values, decision)| match (values.as_slice(), decision) {
            ([value], Decision::Is(index)) => Some((*index, value.as_str())),
            _ => None,
        });
    tags.collect()
}

/// Splits the candidates into those that declare a member and those that don't. Returns `None` if one group is empty,
/// or the member doesn't distinguish them.
fn split_by_presence<'n>(
    shapes: &Shapes,
    candidates: &[Candidate<'n>],
    member: &str,
    must_require: bool,
) -> Option<(Vec<Candidate<'n>>, Vec<Candidate<'n>>)> {
    let (with, without): (Vec<_>, Vec<_>) = candidates
        .iter()
        .copied()
        .partition(|(_, members)| members.contains_key(member));
    if with.is_empty() || without.is_empty() {
        return None;
    }
    let distinguishes = with.iter().all(|(_, members)| {
        requires(members, member)
            || (!must_require
                && without
                    .iter()
                    .any(|(_, other)| requires_no_more(other, members) && !contradicts(shapes, other, members))
                && without.iter().all(|(_, other)| declares_no_more(other, members)))
    });
    distinguishes.then_some((with, without))
}

/// Whether `other` declares nothing that `members` doesn't. Otherwise an object without the distinguishing member could
/// be either, and decoding it as the wrong one would misread a member that only the other declares.
fn declares_no_more(other: &BTreeMap<String, Property>, members: &BTreeMap<String, Property>) -> bool {
    other.keys().all(|name| members.contains_key(name))
}

/// Whether `other` requires nothing that `members` doesn't.
fn requires_no_more(other: &BTreeMap<String, Property>, members: &BTreeMap<String, Property>) -> bool {
    let mut required = other.keys().filter(|name| requires(other, name));
    required.all(|name| requires(members, name))
}

/// Whether two objects have different constants in a member, so that neither can hold an object of the other.
fn contradicts(shapes: &Shapes, one: &BTreeMap<String, Property>, other: &BTreeMap<String, Property>) -> bool {
    one.iter().any(|(name, property)| {
        let there = other.get(name).map(|there| shapes.shape(&there.node));
        let both = (shapes.shape(&property.node), there);
        matches!(both, (Shape::Constant(here), Some(Shape::Constant(there))) if here != there)
    })
}
