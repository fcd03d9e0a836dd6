//! Plans the conversion of an object: its members, its constants, and the members that the target doesn't declare.

use std::collections::BTreeSet;

use super::pairing::Objects;
use super::planner::{Losses, Planner};
use super::rows::{LeftRow, ObjectRow, RowAction, split};
use super::rules::{Action, Place};
use super::template_check::type_of;
use crate::model::{ConstantMember, Member, TypeRef};

impl<'m> Planner<'m> {
    /// Plans the conversion of an object.
    pub(super) fn plan_struct(&mut self, objects: Objects<'m>) -> (ObjectRow, Losses) {
        let (from, to, to_name) = (objects.from, objects.to, objects.to_name);
        let (mut row, mut losses) = (ObjectRow::default(), Losses::default());
        if self.pair.to.is_closed(to_name) && !self.pair.from.is_closed(objects.from_name) {
            self.automatic(objects.from_name, "undeclared members dropped: the target allows none");
            losses.certain = true;
        }
        let mut taken: BTreeSet<&str> = BTreeSet::new();
        for member in &to.members {
            let (source, planned) = self.plan_member(objects, member, &mut losses);
            taken.insert(source);
            if planned != Default::default() {
                row.members.insert(member.name.clone(), planned);
            }
        }
        for constant in &to.constants {
            // This only marks the rule of a renamed constant as used: the target has its own value, and the rename
            // serves to match variants.
            self.source_member(objects, &constant.name);
            losses.certain |= self.loses_constant(objects, constant);
        }
        let is_left = |name: &str| !to.declares(name) && !taken.contains(name);
        for constant in from.constants.iter().filter(|constant| is_left(&constant.name)) {
            let ty = type_of(&constant.value);
            let left = LeftRow {
                implied: None,
                action: self.plan_left(objects, &constant.name, (&ty, true)),
            };
            row.left.insert(constant.name.clone(), left);
        }
        for member in from.members.iter().filter(|member| is_left(&member.name)) {
            let left = LeftRow {
                action: self.plan_left(objects, &member.name, (&member.ty, false)),
                implied: self.implied_by_absence(objects.from_name, member),
            };
            row.left.insert(member.name.clone(), left);
        }
        losses.unchecked |= row.left.values().any(|left| self.pair.may_refuse(to_name, left));
        losses.certain |= !row.left.is_empty();
        row.left.retain(|_, left| *left != LeftRow::default());
        (row, losses)
    }

    /// Whether a constant of the target may differ from the source's value.
    fn loses_constant(&mut self, objects: Objects<'m>, constant: &ConstantMember) -> bool {
        let (name, from) = (constant.name.as_str(), objects.from);
        let at = format!("{}.{name}", objects.from_name);
        if let Some(own) = from.constant(name) {
            if own.value == constant.value || self.pair.is_same_method(&own.value, &constant.value) {
                return constant.required && !own.required;
            }
            self.automatic(&at, "replaced by the constant of the target");
            true
        } else if from.member(name).is_some() {
            self.refused(&at, "any value but the constant of the target");
            true
        } else {
            if constant.required {
                self.automatic(&at, "the constant of the target, which requires it");
            }
            constant.required
        }
    }

    /// Plans what happens to a member that the target doesn't declare.
    fn plan_left(
        &mut self,
        objects: Objects<'m>,
        member: &str,
        (ty, is_constant): (&TypeRef, bool),
    ) -> Option<RowAction> {
        let (place, to) = (Place::member(objects.from_name, member), objects.to);
        let at = place.to_string();
        if let Some(path) = self.moved_into(&place, ty, to) {
            return Some(RowAction::Move(path));
        }
        let members = self.moved_out_of(objects, member);
        if !members.is_empty() {
            return Some(RowAction::Take(members));
        }
        if let Some((index, key)) = self.supplied(&place).filter(|_| !is_constant) {
            self.ruled(&at, "supplied", index);
            let (key, rule) = (key.clone(), self.pair.rule_name(index));
            return Some(RowAction::Supply { key, rule });
        }
        let Some((index, action)) = self.rule(&place) else {
            self.automatic(&at, "dropped, or carried as an undeclared member");
            return None;
        };
        let checked = match action {
            Action::Copy(path) => self.pair.can_copy((!is_constant).then_some(ty), &split(path), to),
            Action::Ensure(ensure) => self.pair.can_ensure(ty, ensure, to),
            Action::Refuse(_) | Action::Drop(_) => Ok(()),
            other => {
                self.wrong_action(index, other, "a member that the target doesn't declare");
                Ok(())
            }
        };
        self.check_arguments(index, checked);
        self.ruled(&at, action.word(), index);
        RowAction::of(action, self.pair.rule_name(index))
    }

    /// Returns the value of a member that means the same as its absence in the other revision, which doesn't declare
    /// it.
    fn implied_by_absence(&mut self, ty: &str, member: &Member) -> Option<String> {
        let place = Place::member(ty, &member.name);
        let (index, value) = self.implied(&place).filter(|_| member.required && !member.boxed)?;
        self.ruled(&place.to_string(), "implied", index);
        Some(value.to_string())
    }
}
