//! How the variants of a union are told apart.
//!
//! A union's objects are told apart by what tells them apart in the schema: a constant tag, a required member, or the
//! same one level further in. Nothing is ever tried out.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::normalise::{Node, Property, Scalar, Shape};

/// A way to tell which variant an object is.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decision {
    /// It is this one, by its index.
    Is(usize),
    /// By the value of a string member.
    Tag {
        /// The member.
        member: String,
        /// What each value leads to.
        cases: Vec<(Vec<String>, Decision)>,
        /// What the member's absence leads to, where it may be absent.
        #[serde(skip_serializing_if = "Option::is_none")]
        absent: Option<Box<Decision>>,
    },
    /// By which of several members is there.
    Has {
        /// What the presence of each leads to, in the order in which they are asked for.
        cases: Vec<(String, Decision)>,
        /// What the absence of all leads to.
        otherwise: Box<Decision>,
    },
    /// By the same means, in the object that is a member.
    Within {
        /// The member.
        member: String,
        /// How to decide there.
        decision: Box<Decision>,
    },
}

/// An object that may be a variant: its index and its members.
type Candidate<'n> = (usize, &'n BTreeMap<String, Property>);

/// How many partial decisions may be looked at for one union. Unions that can be told apart take a few for each variant;
/// for those that can't, the combinations would be endless.
const BUDGET: usize = 2_000;

/// Looks through references at an object's members.
pub trait Lookup<'n> {
    /// The members of `node`, if it is an object.
    fn members(&self, node: &'n Node) -> Option<&'n BTreeMap<String, Property>>;
    /// The shape of `node`, past references.
    fn shape(&self, node: &'n Node) -> &'n Shape;
}

/// Finds a way to tell `candidates` apart; `None` where the schema gives none.
pub fn decide<'n>(lookup: &impl Lookup<'n>, candidates: &[Candidate<'n>], default: Option<usize>) -> Option<Decision> {
    let search = Search {
        lookup,
        budget: Cell::new(BUDGET),
    };
    search.decide(candidates, default)
}

/// The search for a decision.
struct Search<'l, L> {
    lookup: &'l L,
    budget: Cell<usize>,
}

impl<'n, L: Lookup<'n>> Search<'_, L> {
    fn decide(&self, candidates: &[Candidate<'n>], default: Option<usize>) -> Option<Decision> {
        self.budget.set(self.budget.get().checked_sub(1)?);
        if let [(index, _)] = candidates {
            return Some(Decision::Is(*index));
        }
        self.by_tag(candidates, default)
            .or_else(|| self.by_presence(candidates))
            .or_else(|| self.within(candidates))
    }

    /// By a string member whose values in the schema differ from candidate to candidate, at least in part.
    fn by_tag(&self, candidates: &[Candidate<'n>], default: Option<usize>) -> Option<Decision> {
        let names: BTreeSet<&String> = candidates.iter().flat_map(|(_, members)| members.keys()).collect();
        names
            .into_iter()
            .find_map(|member| self.by_tag_member(candidates, member, default))
    }

    fn by_tag_member(&self, candidates: &[Candidate<'n>], member: &str, default: Option<usize>) -> Option<Decision> {
        let mut groups: BTreeMap<&str, Vec<Candidate<'n>>> = BTreeMap::new();
        let mut untagged: Vec<Candidate<'n>> = Vec::new();
        for (index, members) in candidates {
            let property = members.get(member)?;
            for value in tag_values(self.lookup.shape(&property.node))? {
                groups.entry(value).or_default().push((*index, members));
            }
            if !property.required {
                untagged.push((*index, members));
            }
        }
        if groups.values().all(|group| group.len() == candidates.len()) {
            return None;
        }
        let absent = match (default, untagged.as_slice()) {
            (Some(default), _) if untagged.iter().any(|(index, _)| *index == default) => Some(Decision::Is(default)),
            (_, []) => None,
            (_, untagged) => Some(self.decide(untagged, None)?),
        };
        // Values that lead to the same decision share a case, in the order of the first variant that has them.
        let mut cases: Vec<(Vec<String>, Decision)> = Vec::new();
        let mut in_order: Vec<_> = groups.into_iter().collect();
        in_order.sort_by_key(|(_, group)| group.iter().map(|(index, _)| *index).min());
        for (value, group) in in_order {
            let decision = self.decide(&group, None)?;
            match cases.iter_mut().find(|(_, other)| *other == decision) {
                Some((values, _)) => values.push(value.to_owned()),
                None => cases.push((vec![value.to_owned()], decision)),
            }
        }
        Some(Decision::Tag {
            member: member.to_owned(),
            cases,
            absent: absent.map(Box::new),
        })
    }

    /// By a member that some candidates require and the others don't declare; failing that, by one that some declare, if
    /// what lacks it can be held by the others.
    fn by_presence(&self, candidates: &[Candidate<'n>]) -> Option<Decision> {
        let names: BTreeSet<&String> = candidates.iter().flat_map(|(_, members)| members.keys()).collect();
        [true, false].into_iter().find_map(|must_require| {
            names.iter().find_map(|member| {
                let (with, without) = split_by_presence(candidates, member, must_require)?;
                let present = self.decide(&with, None)?;
                let mut cases = vec![((*member).clone(), present)];
                let otherwise = match self.decide(&without, None)? {
                    Decision::Has {
                        cases: further,
                        otherwise,
                    } => {
                        cases.extend(further);
                        otherwise
                    }
                    other => Box::new(other),
                };
                Some(Decision::Has { cases, otherwise })
            })
        })
    }

    /// By what tells apart an object that all candidates require as the same member.
    fn within(&self, candidates: &[Candidate<'n>]) -> Option<Decision> {
        let (_, first) = candidates.first()?;
        first.keys().find_map(|member| {
            let inner: Option<Vec<Candidate<'n>>> = candidates
                .iter()
                .map(|(index, members)| {
                    let property = members.get(member).filter(|property| property.required)?;
                    Some((*index, self.lookup.members(&property.node)?))
                })
                .collect();
            let inner = inner?;
            // The same members tell nothing apart, and may contain themselves.
            if inner.windows(2).any(|pair| pair[0].1 == pair[1].1) {
                return None;
            }
            let decision = self.by_tag(&inner, None).or_else(|| self.by_presence(&inner))?;
            Some(Decision::Within {
                member: member.clone(),
                decision: Box::new(decision),
            })
        })
    }
}

fn tag_values(shape: &Shape) -> Option<Vec<&str>> {
    match shape {
        Shape::Constant(Scalar::String(value)) => Some(vec![value]),
        Shape::Strings(strings) => Some(strings.values.iter().map(String::as_str).collect()),
        _ => None,
    }
}

/// Those that have a member and those that don't, if there are both.
fn split_by_presence<'n>(
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
    let tells = with.iter().all(|(_, members)| {
        let required = members[member].required;
        required || (!must_require && without.iter().any(|(_, other)| requires_no_more(other, members)))
    });
    tells.then_some((with, without))
}

/// Whether `other` requires nothing that `members` doesn't.
fn requires_no_more(other: &BTreeMap<String, Property>, members: &BTreeMap<String, Property>) -> bool {
    let required = other.iter().filter(|(_, property)| property.required);
    required
        .into_iter()
        .all(|(name, _)| members.get(name).is_some_and(|property| property.required))
}
