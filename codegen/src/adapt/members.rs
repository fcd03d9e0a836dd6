//! Plans the conversion of a member that the target declares.

use serde_json::Value;

use super::accepts::Schemas;
use super::planner::Planner;
use super::relation::Relation;
use super::rules::{Action, Place};
use super::side::Side;
use super::{Check, DefaultPlan, EnsurePlan, MemberConversion, MemberPlan, Refusal, ValuePlan};
use crate::model::{Member, Struct, TypeRef};

impl<'m> Planner<'m> {
    /// Plans the member `to` of the target.
    pub(super) fn plan_member(
        &mut self,
        (from_name, from): (&str, &'m Struct),
        (to_name, target): (&str, &Struct),
        to: &'m Member,
    ) -> MemberPlan {
        let name = self.member_there((from_name, from), (to_name, target), &to.name);
        let place = Place::member(from_name, name);
        let at = place.to_string();
        let rule = self.rule(&place);
        let source = from.members.iter().find(|member| member.name == name);
        let constant = from.constants.iter().find(|constant| constant.name == name);
        let mut default = None;
        if let Some((index, Action::Default(value))) = rule {
            if !to.required || source.is_some_and(|source| source.required) {
                self.wrong_rule(
                    index,
                    "a default is for a member that the target requires and the source may lack",
                );
            }
            default = Some(self.plan_default(&at, (index, value), to, false));
        }
        let mut supplied = None;
        if (source, constant) == (None, None) {
            supplied = self.plan_adopted(&at, to_name, to, &mut default);
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
        if let (Some((index, action)), None, None) = (rule, source, constant)
            && !matches!(action, Action::Default(_))
        {
            self.wrong_rule(index, format!("the source declares no member `{}`", to.name));
        }
        let value = match (source, rule) {
            (Some(source), Some((_, Action::Default(_) | Action::DropInvalid(_))) | None) => ValuePlan::Shared(
                Box::new(source.clone()),
                self.plan_member_conversion(&place, source, to),
            ),
            (Some(source), Some(rule)) => {
                let how = self.plan_ruled(&place, (source, to), target, rule);
                ValuePlan::Shared(Box::new(source.clone()), how)
            }
            (None, _) => ValuePlan::Adopted {
                constant: constant.cloned(),
                pointer: self
                    .to
                    .member_schema(to_name, &to.name)
                    .map(|schema| schema.pointer.clone()),
                supplied,
            },
        };
        let narrower = match (&value, source) {
            (
                ValuePlan::Shared(
                    _,
                    MemberConversion::Moved | MemberConversion::Converted | MemberConversion::Retagged { .. },
                ),
                Some(source),
            ) => self.narrower(from_name, source, to_name, to),
            _ => Vec::new(),
        };
        let checked = self.plan_check(&at, narrower, rule, to);
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

    /// By which name a member that only the target declares is supplied. An implied value becomes its default.
    fn plan_adopted(
        &mut self,
        at: &str,
        to_name: &str,
        to: &Member,
        default: &mut Option<DefaultPlan>,
    ) -> Option<String> {
        // The rules of such a member are at its place in the target.
        let place = Place::member(to_name, &to.name);
        let supplied = self.supplied(&place);
        if let Some((index, _)) = supplied {
            self.ruled(at, "supplied", index);
        }
        let supplied = supplied.map(|(_, key)| key.clone());
        let implied = self.implied(&place);
        if let Some(implied) = implied.filter(|_| to.required && !to.boxed && default.is_none()) {
            *default = Some(self.plan_default(at, implied, to, true));
        }
        supplied
    }

    /// The default of a member, by a `default` rule or by an `implied` value.
    fn plan_default(&mut self, at: &str, (index, value): (usize, &Value), to: &Member, implied: bool) -> DefaultPlan {
        let checked = self.can_hold(None, value, &to.ty);
        self.check_arguments(index, checked);
        self.ruled(at, if implied { "implied" } else { "default" }, index);
        DefaultPlan {
            json: value.to_string(),
            implied,
            rule: self.rule_name(index),
        }
    }

    /// The check of a value by the target's schema at `narrower`.
    fn plan_check(
        &mut self,
        at: &str,
        narrower: Vec<String>,
        rule: Option<(usize, &Action)>,
        to: &Member,
    ) -> Option<Check> {
        let drop = match rule {
            Some((index, Action::DropInvalid(_))) => {
                if narrower.is_empty() || to.required {
                    self.wrong_rule(
                        index,
                        "`drop-invalid` is for an optional member that the target narrows",
                    );
                }
                self.ruled(at, "drop-invalid", index);
                Some(self.rule_name(index))
            }
            _ => None,
        };
        if !narrower.is_empty() && drop.is_none() {
            self.refused(at, "a value that the target's narrower bounds exclude");
        }
        (!narrower.is_empty()).then_some(Check {
            pointers: narrower,
            drop,
        })
    }

    fn plan_member_conversion(&mut self, place: &Place, from: &Member, to: &Member) -> MemberConversion {
        if let Some(variants) = self.plan_scoped(place, &from.ty, &to.ty) {
            return MemberConversion::Matched(variants);
        }
        let at = place.to_string();
        let relation = self.relate_at(&at, &from.ty, &to.ty);
        if let (Some(from), Some(to)) = (from.tag.clone(), to.tag.clone())
            && from != to
            && relation != Relation::Impossible
        {
            self.automatic(&at, &format!("the tag `{from}` becomes `{to}`"));
            return MemberConversion::Retagged { from, to };
        }
        match relation {
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

    /// Whether `member` is an optional object that `other` requires, and all required members of which are supplied there.
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
        // A hidden value can be convertible.
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
            Action::SplitBy(member) => self.can_split(from, to, member),
            Action::Join(join) => self.can_join(from, to, join),
            Action::Without(without) => self.can_do_without(from, to, without),
            _ => Ok(()),
        };
        self.check_arguments(index, checked);
        match action {
            Action::SplitBy(member) => MemberConversion::Split {
                member: member.clone(),
                rule,
            },
            Action::Join(join) => MemberConversion::Joined {
                join: join.clone(),
                rule,
            },
            Action::Without(without) => MemberConversion::Without {
                without: without.clone(),
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

    /// The pointers of the target's schemas of a member that are narrower than the source's.
    ///
    /// Assertions at the member itself, the required members of an open object, and all that the schemas say of open JSON are
    /// compared. Bounds of a list's elements, or within a definition that the member refers to, are left to the validation of the
    /// message.
    fn narrower(&self, from_name: &str, from: &Member, to_name: &str, to: &Member) -> Vec<String> {
        let Some(target) = self.to.member_schema(to_name, &to.name) else {
            return Vec::new();
        };
        let source = self.from.member_schema(from_name, &from.name);
        let said = |(keyword, value): (&&str, _)| source.and_then(|source| source.everywhere(keyword)) == Some(value);
        let had = |(name, schema)| source.and_then(|source| source.required.get(name)) == Some(schema);
        let closes = || match source {
            Some(source) if self.to.is_open(&to.ty) => {
                !Schemas::new(self.to, self.from).accept_others(&target.pointer, &source.pointer)
            }
            _ => false,
        };
        let is_narrower = !target.assertions.iter().all(said) || !target.required.iter().all(had) || closes();
        let others = target.others.iter().filter(|other| match source {
            Some(source) if self.to.is_open(&to.ty) => {
                let mut sources = source.others.iter().chain([&source.pointer]);
                !sources.any(|source| Schemas::new(self.to, self.from).accept(other, source))
            }
            _ => false,
        });
        let first = is_narrower.then_some(&target.pointer);
        first.into_iter().chain(others).cloned().collect()
    }

    /// The members that only the target's schema declares in an object that both revisions keep open, or that it narrows.
    fn newly_declared(&self, from_name: &str, from: &Member, to_name: &str, to: &Member) -> Vec<(String, String)> {
        if *self.to.model.resolve(&to.ty) != TypeRef::RawObject {
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
            .filter(|(name, pointer)| match source.optional.get(*name) {
                Some(source) => !Schemas::new(self.to, self.from).accept(pointer, source),
                None => !source.declared.contains(*name),
            });
        added.map(|(name, pointer)| (name.clone(), pointer.clone())).collect()
    }
}
