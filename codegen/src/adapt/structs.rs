//! Plans the conversion of an object: its members, its constants, and the members that the target doesn't declare.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::pairing::Objects;
use super::path::Step;
use super::plan::Conversion;
use super::planner::Planner;
use super::rows::{RowAction, split};
use super::rules::Action;
use super::template_check::type_of;
use crate::model::{ConstantMember, TypeRef};
use crate::normalise::Scalar;

impl<'m> Planner<'m> {
    /// Plans the conversion of an object.
    pub(super) fn plan_struct(&mut self, objects: Objects<'m>) -> Conversion {
        let (from, to, to_name) = (objects.from, objects.to, objects.to_name);
        let (mut row, mut planned) = (json!({}), Conversion::default());
        if self.pair.to.is_closed(to_name) && !self.pair.from.is_closed(objects.from_name) {
            self.automatic(objects.from_name, "undeclared members dropped: the target allows none");
            planned.lossy = true;
        }
        let moves = self.plan_moves(objects, &mut planned);
        if !moves.is_empty() {
            row["moves"] = moves.iter().map(|it| json!(it.paths)).collect();
        }
        let mut taken: BTreeSet<&str> = BTreeSet::new();
        for member in &to.members {
            let (source, exceptions) = self.plan_member(objects, member, &moves, &mut planned);
            taken.insert(source);
            if !exceptions.is_null() {
                row["members"][&member.name] = exceptions;
            }
            if source != member.name {
                row["members"][&member.name]["from"] = json!(source);
            }
        }
        for constant in &to.constants {
            // This only marks the rule of a renamed constant as used: the target has its own value, and the rename
            // serves to match variants.
            self.source_member(objects, &constant.name);
            planned.lossy |= self.loses_constant(objects, constant);
            let tag = from.member(&constant.name).and_then(|member| member.tag.as_deref());
            let at = format!("{}.{}", objects.from_name, constant.name);
            if let Some(tags) = self.plan_tag(&at, [tag, constant.value.text()]) {
                row["members"][&constant.name]["tag"] = tags;
            }
        }
        let constants = from.constants.iter();
        let constants = constants.map(|constant| (&constant.name, type_of(&constant.value), None));
        let members = from.members.iter();
        let members = members.map(|member| (&member.name, member.ty.clone(), Some(member)));
        for (name, ty, member) in constants.chain(members) {
            if to.declares(name) || taken.contains(name.as_str()) {
                continue;
            }
            let at = format!("{}.{name}", objects.from_name);
            // The value of a member that means the same as its absence in the other revision. It stays if it is moved.
            let implied = member.and_then(|member| self.implied(self.pair.from, &at, member));
            if moves.iter().any(|it| it.is_in(name)) {
                continue;
            }
            planned.lossy = true;
            if let Some((action, json)) = self.plan_left(&at, objects, (&ty, member.is_none()), &mut planned) {
                row["left"][name][action] = json;
            }
            if let Some((rule, value)) = implied.filter(|_| member.is_some_and(|it| it.required && !it.recursive)) {
                if let Some(rule) = rule {
                    self.ruled(&at, "implied", rule);
                }
                row["left"][name]["implied"] = json!(value.to_string());
            }
        }
        planned.adds_members |= to.members.iter().any(|member| !from.declares(&member.name));
        planned.row = Some(("objects", row));
        planned
    }

    /// Whether a constant of the target may differ from the source's value.
    fn loses_constant(&mut self, objects: Objects<'m>, constant: &ConstantMember) -> bool {
        let (name, from) = (constant.name.as_str(), objects.from);
        let at = format!("{}.{name}", objects.from_name);
        let is_same = |own: &ConstantMember| match (&own.value, &constant.value) {
            (Scalar::String(own), Scalar::String(there)) if own != there => {
                let method = self.pair.target_method(own);
                method.is_some_and(|method| method.name == *there)
            }
            (own, there) => own == there,
        };
        match (from.constant(name), from.member(name)) {
            (Some(own), _) if is_same(own) => return constant.required && !own.required,
            (Some(_), _) => self.automatic(&at, "replaced by the constant of the target"),
            (None, Some(member)) => {
                let what = if member.tag.is_some() {
                    "tag"
                } else {
                    "constant of the target"
                };
                self.refused(&at, &format!("any value but the {what}"));
            }
            (None, None) if constant.required => self.automatic(&at, "the constant of the target, which requires it"),
            (None, None) => return false,
        }
        true
    }

    /// Plans the value of a member that distinguishes the object from others in the source, and that in the target, if
    /// they differ.
    pub(super) fn plan_tag(&mut self, at: &str, tags: [Option<&str>; 2]) -> Option<Value> {
        let [Some(from), Some(to)] = tags else { return None };
        if from == to {
            return None;
        }
        self.automatic(at, &format!("the tag `{from}` becomes `{to}`"));
        Some(json!([from, to]))
    }

    /// Plans what happens to a member that the target doesn't declare. Without an action, it is dropped and recorded, or
    /// carried.
    fn plan_left(
        &mut self,
        at: &str,
        objects: Objects<'m>,
        (ty, is_constant): (&TypeRef, bool),
        planned: &mut Conversion,
    ) -> Option<RowAction> {
        let to = objects.to;
        if let Some((index, key)) = self.find(at, |rule| rule.supplied.as_ref()).filter(|_| !is_constant) {
            self.ruled(at, "supplied", index);
            return Some(("supply", json!({"key": key, "rule": self.pair.rule_name(index)})));
        }
        let Some((index, action)) = self.rule(at) else {
            self.automatic(at, "dropped, or carried as an undeclared member");
            return None;
        };
        let checked = match action {
            Action::Copy(path) => {
                let path: Vec<_> = split(path).into_iter().map(Step::Member).collect();
                // The target's schema may refuse a value that is set there.
                planned.narrower |= self.pair.to.asserts_at(objects.to_name, &path);
                self.pair.can_copy((!is_constant).then_some(ty), &path, to)
            }
            Action::Ensure { list, item } => {
                planned.narrower |= self.pair.to.may_refuse_added(objects.to_name, list);
                self.pair.can_ensure(ty, (list, item), to)
            }
            Action::Refuse(_) | Action::Drop(_) => Ok(()),
            other => {
                self.wrong_action(index, other, "a member that the target doesn't declare");
                Ok(())
            }
        };
        self.check_arguments(index, checked);
        self.ruled(at, &action.word(), index);
        action.row(&self.pair.rule_name(index))
    }
}
