//! From one object to another: which member of the source becomes which of the target, and what is left over.

use serde_json::Value;

use super::plan::Planner;
use super::relation::Relation;
use super::rules::{Action, Place};
use super::{Refusal, VariantPlan};
use crate::model::{Member, Struct, TypeKind};
use crate::normalise::Scalar;

/// How an object becomes another.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StructPlan {
    /// The declared members of the target.
    pub members: Vec<MemberPlan>,
    /// The constants of the target that need a look at the source.
    pub constants: Vec<ConstantPlan>,
    /// The members of the source that the target doesn't declare.
    pub leftovers: Vec<Leftover>,
    /// Whether the target holds no member that it doesn't declare.
    pub closed: bool,
}

/// A declared member of the target.
#[derive(Debug, Clone, PartialEq)]
pub struct MemberPlan {
    /// The member, as the target declares it.
    pub to: Member,
    /// Where its value comes from.
    pub value: ValuePlan,
    /// What it is where the source has none: JSON, and the rule.
    pub default: Option<(String, String)>,
    /// Where the target says more about the value than the source does.
    pub checked: Option<String>,
}

/// Where a member's value comes from.
#[derive(Debug, Clone, PartialEq)]
pub enum ValuePlan {
    /// The same member of the source, and how it is taken over.
    Taken(Member, Taking),
    /// A constant of the source.
    Constant(Scalar),
    /// A member that the source doesn't declare; the pointer is what it is judged by.
    Adopted(Option<String>),
}

/// How a value is taken over.
#[derive(Debug, Clone, PartialEq)]
pub enum Taking {
    /// As it is.
    Moved,
    /// As the value of another revision's type.
    Converted,
    /// Variant by variant, because rules differ here from elsewhere.
    Matched(Vec<VariantPlan>),
    /// By a hand-written function.
    Called {
        /// The function.
        function: String,
    },
    /// Without the entries that can't be held, unless the object's member lists their keys.
    Omitting {
        /// The member that lists keys.
        unless_in: String,
        /// The rule.
        rule: String,
    },
    /// Without the elements whose members have these values.
    Hiding {
        /// The members to look at, each from the element inwards, and the values that hide.
        when: Vec<(Vec<String>, String)>,
        /// The rule.
        rule: String,
    },
    /// Not at all, and recorded.
    Dropped {
        /// The rule.
        rule: String,
    },
    /// It can't be.
    Refused(Refusal),
}

/// A constant of the target.
#[derive(Debug, Clone, PartialEq)]
pub struct ConstantPlan {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: Scalar,
    /// Whether the target may lack it.
    pub optional: bool,
    /// What the source says.
    pub source: ConstantSource,
}

/// What the source says about a constant of the target.
#[derive(Debug, Clone, PartialEq)]
pub enum ConstantSource {
    /// It has the same constant, and may lack it or not.
    Same {
        /// Whether it may lack it.
        optional: bool,
    },
    /// It has another value there.
    Other,
    /// It has a member of that name whose value varies.
    Member(Member),
    /// It declares nothing of that name.
    Undeclared,
}

/// A member of the source that the target doesn't declare.
#[derive(Debug, Clone, PartialEq)]
pub struct Leftover {
    /// Its name.
    pub name: String,
    /// Its value; `None` for a member whose value varies.
    pub constant: Option<Scalar>,
    /// Whether the source may lack it.
    pub optional: bool,
    /// Whether it is held behind a pointer.
    pub boxed: bool,
    /// What becomes of it.
    pub fate: LeftoverFate,
}

/// What becomes of a member that the target doesn't declare.
#[derive(Debug, Clone, PartialEq)]
pub enum LeftoverFate {
    /// It is dropped and recorded, or carried; by a rule or automatically.
    Left {
        /// The rule.
        rule: String,
    },
    /// It is copied to another member first.
    Copied {
        /// From the target inwards.
        to: Vec<String>,
        /// The rule.
        rule: String,
    },
    /// A list of the target gets an element first.
    Ensured {
        /// The list's member.
        list: String,
        /// The element, with placeholders.
        item: String,
        /// The rule.
        rule: String,
    },
    /// It must not be there.
    Refused(Refusal),
}

impl Planner<'_> {
    pub(super) fn plan_struct(&mut self, from_name: &str, from: &Struct, to_name: &str, to: &Struct) -> StructPlan {
        let mut plan = StructPlan {
            closed: self.is_closed(to_name),
            ..StructPlan::default()
        };
        for member in &to.members {
            let planned = self.plan_member(from_name, from, to_name, member);
            plan.members.push(planned);
        }
        for constant in &to.constants {
            let source = if let Some(own) = from.constants.iter().find(|own| own.name == constant.name) {
                if own.value == constant.value {
                    ConstantSource::Same {
                        optional: !own.required,
                    }
                } else {
                    ConstantSource::Other
                }
            } else if let Some(member) = from.members.iter().find(|member| member.name == constant.name) {
                ConstantSource::Member(member.clone())
            } else {
                ConstantSource::Undeclared
            };
            let at = format!("{from_name}.{}", constant.name);
            match &source {
                ConstantSource::Other => self.automatic(&at, "replaced by the constant of the target"),
                ConstantSource::Member(_) => self.refused(&at, "any value but the constant of the target"),
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
            let fate = self.plan_leftover(from_name, &constant.name, to);
            plan.leftovers.push(Leftover {
                name: constant.name.clone(),
                constant: Some(constant.value.clone()),
                optional: !constant.required,
                boxed: false,
                fate,
            });
        }
        for member in from.members.iter().filter(|member| !declared(&member.name)) {
            let fate = self.plan_leftover(from_name, &member.name, to);
            plan.leftovers.push(Leftover {
                name: member.name.clone(),
                constant: None,
                optional: !member.required,
                boxed: member.boxed,
                fate,
            });
        }
        plan
    }

    fn plan_leftover(&mut self, from_name: &str, member: &str, to: &Struct) -> LeftoverFate {
        let place = Place {
            ty: from_name.to_owned(),
            member: Some(member.to_owned()),
            variant: None,
        };
        let at = place.to_string();
        let Some((index, action)) = self.rule(&place) else {
            self.automatic(&at, "dropped, or carried as an undeclared member");
            return LeftoverFate::Left {
                rule: super::AUTOMATIC.to_owned(),
            };
        };
        let rule = self.rule_name(index);
        let fate = match action {
            Action::Copy(path) => {
                let to: Vec<String> = path.split('.').map(str::to_owned).collect();
                LeftoverFate::Copied { to, rule }
            }
            Action::Ensure(ensure) => {
                if !to.members.iter().any(|member| member.name == ensure.list) {
                    self.wrong_rule(index, format!("the target has no member `{}`", ensure.list));
                }
                LeftoverFate::Ensured {
                    list: ensure.list.clone(),
                    item: ensure.item.to_string(),
                    rule,
                }
            }
            Action::Refuse(refuse) => LeftoverFate::Refused(Refusal {
                code: refuse.code,
                because: refuse.because.clone(),
                rule,
            }),
            Action::Drop(_) => LeftoverFate::Left { rule },
            other => {
                let word = other.word();
                self.wrong_rule(
                    index,
                    format!("`{word}` can't be done with a member that the target doesn't declare"),
                );
                LeftoverFate::Left { rule }
            }
        };
        self.ruled(&at, action, index);
        fate
    }

    fn plan_member(&mut self, from_name: &str, from: &Struct, to_name: &str, to: &Member) -> MemberPlan {
        let place = Place {
            ty: from_name.to_owned(),
            member: Some(to.name.clone()),
            variant: None,
        };
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
            default = Some((value.to_string(), self.rule_name(*index)));
            self.ruled(&at, &Action::Default(value.clone()), *index);
        }
        let may_lack = match (source, constant) {
            (Some(source), _) => !source.required,
            (None, Some(constant)) => !constant.required,
            (None, None) => true,
        };
        if to.required && may_lack && default.is_none() {
            self.refused(
                &at,
                "a value without it: the target requires it, and nothing supplies it",
            );
        }
        let value = match (source, constant) {
            (Some(source), _) => {
                let taking = match rule {
                    Some((index, action)) if !matches!(action, Action::Default(_)) => {
                        self.plan_ruled(&place, source, to, index, action)
                    }
                    _ => self.plan_taking(&place, source, to),
                };
                ValuePlan::Taken(source.clone(), taking)
            }
            (None, Some(constant)) => ValuePlan::Constant(constant.value.clone()),
            (None, None) => {
                if let Some((index, action)) = &rule
                    && !matches!(action, Action::Default(_))
                {
                    self.wrong_rule(*index, format!("the source declares no member `{}`", to.name));
                }
                ValuePlan::Adopted(self.to.member_pointer(to_name, &to.name))
            }
        };
        let checked = match (&value, source) {
            (ValuePlan::Taken(_, Taking::Moved | Taking::Converted), Some(source)) => {
                self.narrower(from_name, source, to_name, to)
            }
            _ => None,
        };
        if checked.is_some() {
            self.refused(&at, "a value that the target's narrower bounds exclude");
        }
        MemberPlan {
            to: to.clone(),
            value,
            default,
            checked,
        }
    }

    fn plan_taking(&mut self, place: &Place, from: &Member, to: &Member) -> Taking {
        if let Some(variants) = self.plan_scoped(place, &from.ty, &to.ty) {
            return Taking::Matched(variants);
        }
        match self.relate(&from.ty, &to.ty) {
            Relation::Same => Taking::Moved,
            Relation::Converts => Taking::Converted,
            Relation::Impossible => {
                let at = place.to_string();
                self.refused(&at, "any value: the target has another type there");
                Taking::Refused(Refusal::automatic(format!(
                    "{at} has another type in the target revision"
                )))
            }
        }
    }

    fn plan_ruled(&mut self, place: &Place, from: &Member, to: &Member, index: usize, action: &Action) -> Taking {
        let at = place.to_string();
        let relation = self.relate(&from.ty, &to.ty);
        let rule = self.rule_name(index);
        let is_automatic = relation == Relation::Same && !matches!(action, Action::Hide(_));
        if is_automatic {
            self.wrong_rule(
                index,
                "the member is the same in both revisions, and is moved automatically",
            );
        }
        self.ruled(&at, action, index);
        match action {
            Action::Call(function) => Taking::Called {
                function: function.clone(),
            },
            Action::OmitUnlessIn(member) => Taking::Omitting {
                unless_in: member.clone(),
                rule,
            },
            Action::Hide(conditions) => {
                let when = conditions
                    .iter()
                    .map(|(path, value)| (path.split('.').map(str::to_owned).collect(), value.clone()));
                Taking::Hiding {
                    when: when.collect(),
                    rule,
                }
            }
            Action::Drop(_) if !to.required => Taking::Dropped { rule },
            Action::Refuse(refuse) => Taking::Refused(Refusal {
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
                Taking::Moved
            }
        }
    }

    /// Where the target asserts something about a member's value that the source doesn't.
    fn narrower(&self, from_name: &str, from: &Member, to_name: &str, to: &Member) -> Option<String> {
        let pointer = self.to.member_pointer(to_name, &to.name)?;
        let target = self.to.assertions(&pointer);
        let source = self.from.member_pointer(from_name, &from.name);
        let source = source.map(|pointer| self.from.assertions(&pointer)).unwrap_or_default();
        let said = |(keyword, value): (&&str, &&Value)| source.get(*keyword) == Some(value);
        (!target.iter().all(|(keyword, value)| said((keyword, value)))).then_some(pointer)
    }

    fn is_closed(&self, to_name: &str) -> bool {
        match self.to.model.types.get(to_name) {
            Some(ty) if matches!(ty.kind, TypeKind::Struct(_)) => self.to.is_closed(&ty.pointer),
            _ => false,
        }
    }
}
