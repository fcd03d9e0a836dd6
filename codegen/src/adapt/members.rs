//! From one object to another: which member of the source becomes which of the target, and what is left over.

use super::fitting::type_of;
use super::planner::Planner;
use super::relation::Relation;
use super::rules::{Action, Place};
use super::side::Side;
use super::{
    Check, ConstantPlan, ConstantSource, DefaultPlan, EnsurePlan, MemberConversion, MemberPlan, Refusal, StructPlan,
    UndeclaredAction, UndeclaredMember, ValuePlan,
};
use crate::model::{Member, Struct, TypeRef};

impl Planner<'_> {
    pub(super) fn plan_struct(&mut self, from_name: &str, from: &Struct, to_name: &str, to: &Struct) -> StructPlan {
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
            let source = if let Some(own) = from.constants.iter().find(|own| own.name == constant.name) {
                if own.value == constant.value {
                    ConstantSource::Same {
                        optional: !own.required,
                    }
                } else {
                    ConstantSource::Other {
                        optional: !own.required,
                    }
                }
            } else if let Some(member) = from.members.iter().find(|member| member.name == constant.name) {
                ConstantSource::Member(member.clone())
            } else {
                ConstantSource::Undeclared
            };
            let at = format!("{from_name}.{}", constant.name);
            match &source {
                ConstantSource::Other { .. } => self.automatic(&at, "replaced by the constant of the target"),
                ConstantSource::Member(_) => self.refused(&at, "any value but the constant of the target"),
                ConstantSource::Undeclared if constant.required => {
                    self.automatic(&at, "the constant of the target, which requires it")
                }
                _ => {}
            }
            plan.constants.push(ConstantPlan {
                name: constant.name.clone(),
                value: constant.value.clone(),
                optional: !constant.required,
                source,
            });
        }
        let declared = |name: &str| {
            to.members.iter().any(|member| member.name == name)
                || to.constants.iter().any(|constant| constant.name == name)
        };
        for constant in from.constants.iter().filter(|constant| !declared(&constant.name)) {
            let how = self.plan_undeclared(from_name, &constant.name, (&type_of(&constant.value), true), to);
            plan.undeclared.push(UndeclaredMember {
                name: constant.name.clone(),
                constant: Some(constant.value.clone()),
                optional: !constant.required,
                boxed: false,
                implied: None,
                how,
            });
        }
        for member in from.members.iter().filter(|member| !declared(&member.name)) {
            let how = self.plan_undeclared(from_name, &member.name, (&member.ty, false), to);
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

    fn plan_undeclared(
        &mut self,
        from_name: &str,
        member: &str,
        (ty, is_constant): (&TypeRef, bool),
        to: &Struct,
    ) -> UndeclaredAction {
        let place = Place::member(from_name, member);
        let at = place.to_string();
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

    /// The value by which a member, which only one of the revisions declares, means what its absence means in the other.
    fn implied_by_absence(&mut self, ty: &str, member: &Member) -> Option<String> {
        let place = Place::member(ty, &member.name);
        let (index, value) = self.implied(&place).filter(|_| member.required && !member.boxed)?;
        self.ruled(&place.to_string(), "implied", index);
        Some(value.to_string())
    }

    fn plan_member(
        &mut self,
        (from_name, from): (&str, &Struct),
        (to_name, target): (&str, &Struct),
        to: &Member,
    ) -> MemberPlan {
        let place = Place::member(from_name, &to.name);
        let at = place.to_string();
        let rule = self.rule(&place);
        let source = from.members.iter().find(|member| member.name == to.name);
        let constant = from.constants.iter().find(|constant| constant.name == to.name);
        let mut default = None;
        if let Some((index, Action::Default(value))) = &rule {
            if !to.required || source.is_some_and(|source| source.required) {
                self.wrong_rule(
                    *index,
                    "a default is for a member that the target requires and the source may lack",
                );
            }
            let checked = self.can_hold(None, value, &to.ty);
            self.check_arguments(*index, checked);
            default = Some(DefaultPlan {
                json: value.to_string(),
                implied: false,
                rule: self.rule_name(*index),
            });
            self.ruled(&at, "default", *index);
        }
        // What only the target declares has its place there.
        let mut supplied = None;
        if (source, constant) == (None, None) {
            let place = Place::member(to_name, &to.name);
            if let Some((index, key)) = self.supplied(&place) {
                self.ruled(&at, "supplied", index);
                supplied = Some(key.clone());
            }
            if let Some((index, value)) = self
                .implied(&place)
                .filter(|_| to.required && !to.boxed && default.is_none())
            {
                let checked = self.can_hold(None, value, &to.ty);
                self.check_arguments(index, checked);
                self.ruled(&at, "implied", index);
                default = Some(DefaultPlan {
                    json: value.to_string(),
                    implied: true,
                    rule: self.rule_name(index),
                });
            }
        }
        let may_lack = match (source, constant) {
            (Some(source), _) => !source.required,
            (None, Some(constant)) => !constant.required,
            (None, None) => true,
        };
        let is_filled = source.is_some_and(|source| self.is_filled(self.from, source, self.to, to));
        if to.required && may_lack && default.is_none() && supplied.is_none() && !is_filled {
            self.refused(
                &at,
                "a value without it: the target requires it, and nothing supplies it",
            );
        }
        let value = match (source, constant) {
            (Some(source), _) => {
                let how = match rule {
                    Some((_, Action::Default(_) | Action::DropInvalid(_))) | None => {
                        self.plan_member_conversion(&place, source, to)
                    }
                    Some(rule) => self.plan_ruled(&place, (source, to), target, rule),
                };
                ValuePlan::Shared(source.clone(), how)
            }
            (None, constant) => {
                if let (Some((index, action)), None) = (&rule, constant)
                    && !matches!(action, Action::Default(_))
                {
                    self.wrong_rule(*index, format!("the source declares no member `{}`", to.name));
                }
                ValuePlan::Adopted {
                    constant: constant.cloned(),
                    pointer: self
                        .to
                        .member_schema(to_name, &to.name)
                        .map(|schema| schema.pointer.clone()),
                    supplied,
                }
            }
        };
        let narrower = match (&value, source) {
            (ValuePlan::Shared(_, MemberConversion::Moved | MemberConversion::Converted), Some(source)) => {
                self.narrower(from_name, source, to_name, to)
            }
            _ => None,
        };
        let drop = match rule {
            Some((index, Action::DropInvalid(_))) => {
                if narrower.is_none() || to.required {
                    self.wrong_rule(
                        index,
                        "`drop-invalid` is for an optional member that the target narrows",
                    );
                }
                self.ruled(&at, "drop-invalid", index);
                Some(self.rule_name(index))
            }
            _ => None,
        };
        if narrower.is_some() && drop.is_none() {
            self.refused(&at, "a value that the target's narrower bounds exclude");
        }
        let checked = narrower.map(|pointer| Check { pointer, drop });
        let declared = match (&value, source) {
            (ValuePlan::Shared(_, MemberConversion::Moved), Some(source)) => {
                self.newly_declared(from_name, source, to_name, to)
            }
            _ => Vec::new(),
        };
        MemberPlan {
            to: to.clone(),
            value,
            default,
            checked,
            declared,
        }
    }

    fn plan_member_conversion(&mut self, place: &Place, from: &Member, to: &Member) -> MemberConversion {
        if let Some(variants) = self.plan_scoped(place, &from.ty, &to.ty) {
            return MemberConversion::Matched(variants);
        }
        let at = place.to_string();
        match self.relate_at(&at, &from.ty, &to.ty) {
            Relation::Same => MemberConversion::Moved,
            Relation::Converts if self.is_filled(self.from, from, self.to, to) => MemberConversion::Filled,
            Relation::Converts if self.is_filled(self.to, to, self.from, from) => MemberConversion::Emptied,
            Relation::Converts => MemberConversion::Converted,
            Relation::Impossible => {
                self.refused(&at, "any value: the target has another type there");
                let target = &self.to.model.revision;
                MemberConversion::Refused(Refusal::automatic(format!("revision {target} has another type there")))
            }
        }
    }

    /// Whether one revision may lack an object that the other requires for nothing but what whoever converts supplies.
    fn is_filled(&self, side: Side<'_>, member: &Member, other: Side<'_>, required: &Member) -> bool {
        let may_be_empty = |object: &Struct| {
            let constant = object.constants.iter().any(|constant| constant.required);
            !constant && object.members.iter().all(|member| !member.required)
        };
        required.required
            && !member.required
            && !required.boxed
            && !member.boxed
            && side.model.struct_of(&member.ty).is_some_and(may_be_empty)
            && self.is_supplied(other, &required.ty, 0)
    }

    fn plan_ruled(
        &mut self,
        place: &Place,
        (from, to): (&Member, &Member),
        target: &Struct,
        (index, action): (usize, &Action),
    ) -> MemberConversion {
        let at = place.to_string();
        let relation = self.relate(&from.ty, &to.ty);
        let rule = self.rule_name(index);
        // What is hidden could be shown.
        if !matches!(action, Action::Hide(_)) {
            match relation {
                Relation::Same => self.wrong_rule(
                    index,
                    "the member is the same in both revisions, and is moved automatically",
                ),
                Relation::Converts => self.covered.push((index, (from.ty.clone(), to.ty.clone()))),
                Relation::Impossible => {}
            }
        }
        self.ruled(&at, action.word(), index);
        let checked = match action {
            Action::Ensure(ensure) => self.can_ensure(&from.ty, ensure, target),
            Action::OmitUnlessIn(member) => self.can_omit(&place.ty, from, to, member),
            Action::Hide(conditions) => self.can_hide(from, to, conditions),
            _ => Ok(()),
        };
        self.check_arguments(index, checked);
        match action {
            Action::Call(function) => MemberConversion::Called {
                function: function.clone(),
                rule,
            },
            Action::OmitUnlessIn(member) => MemberConversion::Omitting {
                unless_in: member.clone(),
                rule,
            },
            Action::Hide(conditions) => {
                let when = conditions
                    .iter()
                    .map(|(path, value)| (path.split('.').map(str::to_owned).collect(), value.clone()));
                MemberConversion::Hiding {
                    when: when.collect(),
                    rule,
                }
            }
            Action::Ensure(ensure) if relation == Relation::Converts && !to.required && !from.boxed && !to.boxed => {
                MemberConversion::Ensured(EnsurePlan::of(ensure, rule))
            }
            Action::Drop(_) if !to.required => MemberConversion::Dropped { rule },
            Action::Refuse(refuse) => MemberConversion::Refused(Refusal {
                code: refuse.code,
                because: refuse.because.clone(),
                rule,
            }),
            other => {
                let word = other.word();
                self.wrong_rule(
                    index,
                    format!("`{word}` can't be done with a member that both revisions declare"),
                );
                MemberConversion::Moved
            }
        }
    }

    /// Where the target asserts something about a member's value that the source doesn't.
    ///
    /// Only what stands at the member itself is compared, and what an open object must have: bounds of a list's elements, or
    /// within a definition that it refers to, are left to whoever validates the message.
    fn narrower(&self, from_name: &str, from: &Member, to_name: &str, to: &Member) -> Option<String> {
        let target = self.to.member_schema(to_name, &to.name)?;
        let source = self.from.member_schema(from_name, &from.name);
        let said = |(keyword, value)| source.and_then(|source| source.assertions.get(keyword)) == Some(value);
        let had = |(name, schema)| source.and_then(|source| source.required.get(name)) == Some(schema);
        let is_narrower = !target.assertions.iter().all(said) || !target.required.iter().all(had);
        is_narrower.then(|| target.pointer.clone())
    }

    /// What the target's schema declares in an object that both revisions keep open, and the source's schema doesn't.
    fn newly_declared(&self, from_name: &str, from: &Member, to_name: &str, to: &Member) -> Vec<(String, String)> {
        if *self.to.model.resolve(&to.ty) != TypeRef::OpenObject {
            return Vec::new();
        }
        let source = self.from.member_schema(from_name, &from.name);
        let target = self.to.member_schema(to_name, &to.name);
        let (Some(source), Some(target)) = (source, target) else {
            return Vec::new();
        };
        let added = target
            .optional
            .iter()
            .filter(|(name, _)| !source.declared.contains(*name));
        added.map(|(name, pointer)| (name.clone(), pointer.clone())).collect()
    }

    /// Whether a type is an object that holds no member which it doesn't declare.
    pub(super) fn is_closed(&self, side: Side<'_>, name: Option<&str>) -> bool {
        let ty = name.and_then(|name| side.model.types.get(name));
        ty.is_some_and(|ty| ty.schema.closed)
    }
}
