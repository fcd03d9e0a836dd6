//! Lists whose elements are members of objects in one of the two revisions.

use super::node::{Entry, Node};
use super::state::Part;
use super::step::EnclosedPlan;
use super::value::Run;
use crate::loss::{AUTOMATIC, LossKind};
use crate::unrepresentable::{Converted, Unrepresentable};

impl<'a> Run<'_> {
    /// Puts each element of a list into an object.
    pub(super) fn enclose(&mut self, plan: &EnclosedPlan, list: &mut Node<'a>) -> Converted {
        for (index, element) in list.elements()?.iter_mut().enumerate() {
            self.within(Part::Element(index), |run| run.change(&plan.change, element))?;
            self.state.add(plan.added)?;
            let inner = std::mem::replace(element, Node::text(""));
            let constants = plan.constants.iter();
            let constants = constants.map(|(name, json)| Entry::declared(*name, Node::text(*json)));
            let members = constants.chain([Entry::declared(plan.member, inner)]);
            *element = Node::Object(members.collect());
        }
        Ok(())
    }

    /// Replaces each element of a list by one of its members. The others are dropped, unless [`enclose`](Self::enclose)
    /// adds them again.
    pub(super) fn extract(&mut self, plan: &EnclosedPlan, list: &mut Node<'a>) -> Converted {
        for (index, element) in list.elements()?.iter_mut().enumerate() {
            self.within(Part::Element(index), |run| {
                let members = element.members()?;
                let at = members.iter().position(|entry| entry.name == plan.member);
                let at = at.ok_or_else(|| Unrepresentable::lacks(plan.member, None))?;
                let mut inner = members.remove(at).value;
                for entry in members {
                    let mut constants = plan.constants.iter();
                    if !constants.any(|(name, json)| entry.name == *name && entry.value.is_same_as(json)) {
                        run.state.lose_member(&entry.name, LossKind::Dropped, AUTOMATIC);
                    }
                }
                run.within(Part::Member(plan.member), |run| run.change(&plan.change, &mut inner))?;
                *element = inner;
                Ok(())
            })?;
        }
        Ok(())
    }
}
