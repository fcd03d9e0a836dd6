//! Lists and maps whose elements are members of objects in one of the two revisions.

use std::borrow::Cow;

use mcp_wire::error_code;
use rustc_hash::FxHashSet;

use super::members::Members;
use super::node::{Entry, Node};
use super::state::Part;
use super::step::EnclosedPlan;
use super::value::Run;
use crate::loss::{AUTOMATIC, LossKind};
use crate::unrepresentable::{Converted, Unrepresentable};

/// The elements of a list, or the values of a map with their keys.
type Elements<'a> = Vec<(Option<Cow<'a, str>>, Node<'a>)>;

impl<'a> Run<'_> {
    /// Puts each element of a list, or value of a map, into an object.
    pub(super) fn enclose(&mut self, plan: &EnclosedPlan, value: &mut Node<'a>) -> Converted {
        let mut elements = elements_of(value, plan.are_maps[0])?;
        for (index, (name, element)) in elements.iter_mut().enumerate() {
            let part = name.as_deref().map_or(Part::Element(index), Part::Member);
            self.within(part, |run| run.change(&plan.change, element))?;
            self.state.add(plan.added)?;
            let mut members = Members::new();
            let constants = plan.constants.iter();
            members.extend(constants.map(|(name, json)| Entry::declared(*name, Node::text(*json))));
            if let (Some(key), Some(name)) = (plan.row.key, name) {
                members.push(Entry::declared(key, Node::string(name)));
            }
            let inner = std::mem::replace(element, Node::text(""));
            members.push(Entry::declared(plan.row.member, inner));
            *element = Node::Object(members);
        }
        *value = collected(elements, plan.are_maps[1]);
        Ok(())
    }

    /// Replaces each element of a list, or value of a map, by one of its members. The others are dropped, unless
    /// [`enclose`](Self::enclose) adds them again.
    pub(super) fn extract(&mut self, plan: &EnclosedPlan, value: &mut Node<'a>) -> Converted {
        let mut elements = elements_of(value, plan.are_maps[0])?;
        let mut names = FxHashSet::default();
        for (index, (name, element)) in elements.iter_mut().enumerate() {
            let part = name.as_deref().map_or(Part::Element(index), Part::Member);
            let Some(key) = self.within(part, |run| run.extract_element(plan, element))? else {
                continue;
            };
            if !names.insert(key.clone()) {
                let because = format!("another element has the same key, {key:?}");
                let error = Unrepresentable::new(error_code::INVALID_PARAMS, because, AUTOMATIC);
                return self.within(part, |_| Err(error));
            }
            *name = Some(key.into());
        }
        if names.len() > 1 {
            // A map has no order.
            self.state.lose(LossKind::Replaced, AUTOMATIC);
        }
        *value = collected(elements, plan.are_maps[1]);
        Ok(())
    }

    /// Replaces an object by its member, and returns the key that it has.
    fn extract_element(&mut self, plan: &EnclosedPlan, element: &mut Node<'a>) -> Converted<Option<String>> {
        let members = element.members()?;
        let mut inner = taken(members, plan.row.member)?;
        let key = match plan.row.key {
            Some(key) => {
                let name = taken(members, key)?;
                Some(self.within(Part::Member(key), |_| name.characters())?)
            }
            None => None,
        };
        for entry in members {
            let mut constants = plan.constants.iter();
            if !constants.any(|(name, json)| entry.name == *name && entry.value.is_same_as(json)) {
                self.state.lose_member(&entry.name, LossKind::Dropped, AUTOMATIC);
            }
        }
        self.within(Part::Member(plan.row.member), |run| {
            run.change(&plan.change, &mut inner)
        })?;
        *element = inner;
        Ok(key)
    }
}

fn elements_of<'a>(value: &mut Node<'a>, is_map: bool) -> Converted<Elements<'a>> {
    if is_map {
        let entries = std::mem::take(value.members()?).into_iter();
        return Ok(entries.map(|entry| (Some(entry.name), entry.value)).collect());
    }
    let elements = std::mem::take(value.elements()?).into_iter();
    Ok(elements.map(|element| (None, element)).collect())
}

fn collected(elements: Elements<'_>, is_map: bool) -> Node<'_> {
    let elements = elements.into_iter();
    match is_map {
        true => Node::Object(
            elements
                .map(|(name, value)| Entry::declared(name.unwrap_or_default(), value))
                .collect(),
        ),
        false => Node::Array(elements.map(|(_, element)| element).collect()),
    }
}

fn taken<'a>(members: &mut Members<'a>, name: &str) -> Converted<Node<'a>> {
    let at = members.iter().position(|entry| entry.name == name);
    let at = at.ok_or_else(|| Unrepresentable::lacks(name, None))?;
    Ok(members.remove(at).value)
}
