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

impl<'a> Run<'_> {
    /// Puts each element of a list, or each value of a map with its key, into an object.
    pub(super) fn enclose(&mut self, plan: &EnclosedPlan, value: &mut Node<'a>) -> Converted {
        let elements: Vec<(Option<Cow<'a, str>>, Node<'a>)> = match plan.row.key {
            Some(_) => {
                let entries = std::mem::take(value.members()?).into_iter();
                entries.map(|entry| (Some(entry.name), entry.value)).collect()
            }
            None => {
                let elements = std::mem::take(value.elements()?).into_iter();
                elements.map(|element| (None, element)).collect()
            }
        };
        let mut enclosed = Vec::with_capacity(elements.len());
        for (index, (name, mut element)) in elements.into_iter().enumerate() {
            let part = name.as_deref().map_or(Part::Element(index), Part::Member);
            self.within(part, |run| run.change(&plan.change, &mut element))?;
            self.state.add(plan.added)?;
            let mut members = Members::new();
            let constants = plan.constants.iter();
            members.extend(constants.map(|(name, json)| Entry::declared(*name, Node::text(*json))));
            if let (Some(key), Some(name)) = (plan.row.key, name) {
                members.push(Entry::declared(key, Node::string(&name)));
            }
            members.push(Entry::declared(plan.row.member, element));
            enclosed.push(Node::Object(members));
        }
        *value = Node::Array(enclosed);
        Ok(())
    }

    /// Replaces each element of a list by one of its members, or makes it an entry of a map. The other members are dropped,
    /// unless [`enclose`](Self::enclose) adds them again.
    pub(super) fn extract(&mut self, plan: &EnclosedPlan, value: &mut Node<'a>) -> Converted {
        let mut elements = std::mem::take(value.elements()?);
        let (mut entries, mut names) = (Members::new(), FxHashSet::default());
        for (index, element) in elements.iter_mut().enumerate() {
            let name = self.within(Part::Element(index), |run| run.extract_element(plan, element))?;
            let Some(name) = name else { continue };
            if !names.insert(name.clone()) {
                let because = format!("another element has the same key, {name:?}");
                let error = Unrepresentable::new(error_code::INVALID_PARAMS, because, AUTOMATIC);
                return self.within(Part::Element(index), |_| Err(error));
            }
            entries.push(Entry::declared(name, std::mem::replace(element, Node::text(""))));
        }
        if entries.len() > 1 {
            // A map has no order.
            self.state.lose(LossKind::Replaced, AUTOMATIC);
        }
        *value = match plan.row.key {
            Some(_) => Node::Object(entries),
            None => Node::Array(elements),
        };
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

fn taken<'a>(members: &mut Members<'a>, name: &str) -> Converted<Node<'a>> {
    let at = members.iter().position(|entry| entry.name == name);
    let at = at.ok_or_else(|| Unrepresentable::lacks(name, None))?;
    Ok(members.remove(at).value)
}
