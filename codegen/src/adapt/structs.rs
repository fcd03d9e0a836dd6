//! Plans the conversion of an object: its members, its constants, and the members that the target doesn't declare.

use std::collections::BTreeSet;

use super::planner::Planner;
use super::rules::{Action, Place};
use super::side::Side;
use super::template_check::type_of;
use super::{
    ConstantPlan, ConstantSource, EnsurePlan, MemberPlan, Refusal, StructPlan, UndeclaredAction, UndeclaredMember,
};
use crate::model::{ConstantMember, Member, Struct, TypeRef};
use crate::normalise::Scalar;

impl<'m> Planner<'m> {
    /// Plans the conversion of an object.
    pub(super) fn plan_struct(
        &mut self,
        from_name: &str,
        from: &'m Struct,
        to_name: &str,
        to: &'m Struct,
    ) -> StructPlan {
        let mut plan = StructPlan {
            closed: self.is_closed(self.to, Some(to_name)),
            ..StructPlan::default()
        };
        if plan.closed && !self.is_closed(self.from, Some(from_name)) {
            self.automatic(from_name, "undeclared members dropped: the target allows none");
        }
        for member in &to.members {
            let planned = self.plan_member((from_name, from), (to_name, to), member);
            plan.members.push(planned);
        }
        for constant in &to.constants {
            // A constant by another name is the target's own; what is renamed distinguishes variants.
            self.member_there((from_name, from), (to_name, to), &constant.name);
            plan.constants.push(self.plan_constant(from_name, from, constant));
        }
        let taken: BTreeSet<String> = plan.members.iter().filter_map(MemberPlan::source).collect();
        let is_left = |name: &str| !to.declares(name) && !taken.contains(name);
        for constant in from.constants.iter().filter(|constant| is_left(&constant.name)) {
            let how = self.plan_undeclared(
                (from_name, from),
                &constant.name,
                (&type_of(&constant.value), true),
                (to_name, to),
            );
            plan.undeclared.push(UndeclaredMember {
                name: constant.name.clone(),
                constant: Some(constant.value.clone()),
                optional: !constant.required,
                boxed: false,
                implied: None,
                how,
            });
        }
        for member in from.members.iter().filter(|member| is_left(&member.name)) {
            let how = self.plan_undeclared((from_name, from), &member.name, (&member.ty, false), (to_name, to));
            plan.undeclared.push(UndeclaredMember {
                name: member.name.clone(),
                constant: None,
                optional: !member.required,
                boxed: member.boxed,
                implied: self.implied_by_absence(from_name, member),
                how,
            });
        }
        plan
    }

    /// Whether a constant of the source names a method, and one of the target names the same method there.
    fn is_same_method(&self, from: &Scalar, to: &Scalar) -> bool {
        match (from, to) {
            (Scalar::String(from), Scalar::String(to)) => !to.is_empty() && self.method_there(from) == to,
            _ => false,
        }
    }

    fn plan_constant(&mut self, from_name: &str, from: &Struct, constant: &ConstantMember) -> ConstantPlan {
        let name = constant.name.as_str();
        let source = if let Some(own) = from.constants.iter().find(|own| own.name == name) {
            let optional = !own.required;
            if own.value == constant.value || self.is_same_method(&own.value, &constant.value) {
                ConstantSource::Same { optional }
            } else {
                ConstantSource::Other { optional }
            }
        } else if let Some(member) = from.members.iter().find(|member| member.name == name) {
            ConstantSource::Member(member.clone())
        } else {
            ConstantSource::Undeclared
        };
        let at = format!("{from_name}.{name}");
        match &source {
            ConstantSource::Other { .. } => self.automatic(&at, "replaced by the constant of the target"),
            ConstantSource::Member(_) => self.refused(&at, "any value but the constant of the target"),
            ConstantSource::Undeclared if constant.required => {
                self.automatic(&at, "the constant of the target, which requires it")
            }
            _ => {}
        }
        ConstantPlan {
            name: name.to_owned(),
            value: constant.value.clone(),
            optional: !constant.required,
            source,
        }
    }

    fn plan_undeclared(
        &mut self,
        (from_name, from): (&str, &'m Struct),
        member: &str,
        (ty, is_constant): (&TypeRef, bool),
        (to_name, to): (&str, &'m Struct),
    ) -> UndeclaredAction {
        let place = Place::member(from_name, member);
        let at = place.to_string();
        if let Some(path) = self.moved_into(&place, ty, to) {
            return UndeclaredAction::Moved { to: path };
        }
        let members = self.moved_out_of((from, member), (to_name, to));
        if !members.is_empty() {
            return UndeclaredAction::Taken { members };
        }
        if let Some((index, key)) = self.supplied(&place).filter(|_| !is_constant) {
            self.ruled(&at, "supplied", index);
            let (key, rule) = (key.clone(), self.rule_name(index));
            return UndeclaredAction::Supplied { key, rule };
        }
        let Some((index, action)) = self.rule(&place) else {
            self.automatic(&at, "dropped, or carried as an undeclared member");
            return UndeclaredAction::Left {
                rule: super::AUTOMATIC.to_owned(),
            };
        };
        let rule = self.rule_name(index);
        let how = match action {
            Action::Copy(path) => {
                let path: Vec<String> = path.split('.').map(str::to_owned).collect();
                let checked = self.can_copy((!is_constant).then_some(ty), &path, to);
                self.check_arguments(index, checked);
                UndeclaredAction::Copied { to: path, rule }
            }
            Action::Ensure(ensure) => {
                let checked = self.can_ensure(ty, ensure, to);
                self.check_arguments(index, checked);
                UndeclaredAction::Ensured(EnsurePlan::of(ensure, rule))
            }
            Action::Refuse(refuse) => UndeclaredAction::Refused(Refusal {
                code: refuse.code,
                because: refuse.because.clone(),
                rule,
            }),
            Action::Drop(_) => UndeclaredAction::Left { rule },
            other => {
                let word = other.word();
                self.wrong_rule(
                    index,
                    format!("`{word}` can't be done with a member that the target doesn't declare"),
                );
                UndeclaredAction::Left { rule }
            }
        };
        self.ruled(&at, action.word(), index);
        how
    }

    /// The value of a member that means the same as its absence in the other revision, which doesn't declare the member.
    fn implied_by_absence(&mut self, ty: &str, member: &Member) -> Option<String> {
        let place = Place::member(ty, &member.name);
        let (index, value) = self.implied(&place).filter(|_| member.required && !member.boxed)?;
        self.ruled(&place.to_string(), "implied", index);
        Some(value.to_string())
    }

    /// Whether a type is an object that holds no member which it doesn't declare.
    pub(super) fn is_closed(&self, side: Side<'_>, name: Option<&str>) -> bool {
        let ty = name.and_then(|name| side.model.types.get(name));
        ty.is_some_and(|ty| ty.schema.closed)
    }
}
