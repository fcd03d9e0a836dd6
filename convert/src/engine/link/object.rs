//! Pairing of the objects of two neighbouring revisions, member by member.

use mcp_wire::json_schema::pointer::child;

use super::Linker;
use crate::engine::accepted::Accepted;
use crate::engine::step::{
    Adopted, Change, ConstantPlan, ConstantSource, EnsurePlan, JoinPlan, LeftPlan, MemberChange, MemberPlan,
    MemberSource, ObjectPlan, ValuePlan,
};
use crate::tables::rows::{Action, Ensure, LeftAction, MemberRow, ObjectRow, PathStep};
use crate::tables::types::{Member, ObjectType, TypeRef};

impl Linker<'_> {
    pub(super) fn object(
        &mut self,
        source: &'static ObjectType,
        (target, pointer, closed): (&'static ObjectType, &'static str, bool),
        row: &ObjectRow,
    ) -> ObjectPlan {
        let constants = target.members.iter().filter(|member| member.constant().is_some());
        let mut plan = ObjectPlan {
            closed: closed.then(|| constants.map(|member| member.name).collect()),
            ..ObjectPlan::default()
        };
        let none = MemberRow::default();
        let is_filled = |name| {
            let mut actions = row.left.values().map(|left| &left.action);
            actions.any(|action| match action {
                Some(LeftAction::Move(path)) => PathStep::first(path) == Some(name) && PathStep::leads_into_list(path),
                _ => false,
            })
        };
        let mut taken = Vec::new();
        for member in &target.members {
            let Some(constant) = member.constant() else {
                let row = row.members.get(member.name).unwrap_or(&none);
                let name = row.from.unwrap_or(member.name);
                let own = source.member(name);
                taken.extend(own.map(|own| own.name));
                if let Some(mut planned) = self.member(own, member, (target, pointer), row) {
                    if let (MemberSource::Shared(name, MemberChange::Refuse(refusal)), Some(own)) =
                        (&planned.source, own)
                        && own.required
                    {
                        plan.refused = plan.refused.take().or_else(|| Some((name, refusal.clone())));
                    }
                    if let MemberSource::Adopted(adopted) = &mut planned.source {
                        adopted.is_filled = is_filled(member.name);
                    }
                    plan.members.push(planned);
                }
                continue;
            };
            let own = source.member(member.name);
            let constant_source = match own {
                Some(own) => match own.constant() {
                    Some(value) if value == constant || self.is_same_method(value, constant) => ConstantSource::Same,
                    Some(_) => ConstantSource::Other,
                    None => ConstantSource::Member,
                },
                None => ConstantSource::Undeclared,
            };
            let is_same_value = own.and_then(Member::constant) == Some(constant);
            let may_lack = own.is_none_or(|own| !own.required);
            if constant_source == ConstantSource::Same && is_same_value && !(member.required && may_lack) {
                continue;
            }
            plan.constants.push(ConstantPlan {
                name: member.name,
                json: constant,
                required: member.required,
                source: constant_source,
            });
        }
        let left = source
            .members
            .iter()
            .filter(|member| target.member(member.name).is_none() && !taken.contains(&member.name));
        // Constants first, as rules are applied to them first.
        let (constants, others): (Vec<_>, Vec<_>) = left.partition(|member| member.constant().is_some());
        let left = constants.into_iter().chain(others).map(|member| {
            let row = row.left.get(member.name).cloned().unwrap_or_default();
            let ensure = match &row.action {
                Some(LeftAction::Ensure(ensure)) => Some(self.ensure(ensure, target)),
                _ => None,
            };
            let moved = self.moved(row.action.as_ref(), member, (source, target));
            LeftPlan {
                name: member.name,
                constant: member.constant().is_some(),
                row,
                ensure,
                moved,
            }
        });
        plan.left = left.collect();
        plan
    }

    /// Returns the values that an action moves to other places.
    fn moved(
        &mut self,
        action: Option<&LeftAction>,
        member: &'static Member,
        (source, target): (&'static ObjectType, &'static ObjectType),
    ) -> Vec<ValuePlan> {
        let (from, to) = (self.step.from, self.step.to);
        let places: Vec<_> = match action {
            Some(LeftAction::Move(path)) => vec![(member.ty(), to.at_path(target, path))],
            Some(LeftAction::Take(taken)) => {
                let there = |name| target.member(name).and_then(Member::ty);
                let places = taken
                    .iter()
                    .map(|(path, name)| (from.at_path(source, path), there(name)));
                places.collect()
            }
            _ => Vec::new(),
        };
        let moved = places.into_iter().map(|place| match place {
            (Some(source), Some(target)) => ValuePlan {
                change: self.change(source, target),
                holds_null: to.resolve(target).holds_null(),
            },
            // A generated table has both.
            _ => ValuePlan {
                change: Change::Keep,
                holds_null: false,
            },
        });
        moved.collect()
    }

    /// Plans the conversion between a value and the only element of a list.
    fn element(&mut self, from: &TypeRef, to: &TypeRef) -> ValuePlan {
        let [source, target] = [(self.step.from, from), (self.step.to, to)].map(|(table, ty)| {
            match table.resolve(table.resolve(ty).not_null()) {
                TypeRef::List(element) => (**element).clone(),
                ty => ty.clone(),
            }
        });
        ValuePlan {
            change: self.change(&source, &target),
            holds_null: self.step.to.resolve(to).holds_null(),
        }
    }

    fn ensure(&self, row: &Ensure, target: &ObjectType) -> EnsurePlan {
        let list = target
            .member(row.list)
            .and_then(Member::ty)
            .map(|ty| self.step.to.resolve(ty));
        let element = match list {
            Some(TypeRef::List(element)) => self.step.to.resolve(element).clone(),
            _ => TypeRef::Any,
        };
        EnsurePlan {
            row: row.clone(),
            element,
        }
    }

    fn is_same_method(&self, from: &'static str, to: &'static str) -> bool {
        let text = |json: &'static str| json.strip_prefix('"')?.strip_suffix('"');
        let renamed = text(from).and_then(|from| self.step.methods.get(from));
        renamed.is_some() && renamed.copied() == text(to)
    }

    /// Plans a member of the target that isn't constant. `None` if it is the same in the source.
    fn member(
        &mut self,
        own: Option<&'static Member>,
        member: &'static Member,
        (target, pointer): (&ObjectType, &'static str),
        row: &MemberRow,
    ) -> Option<MemberPlan> {
        let to = member.ty()?;
        let source = match own.map(|own| (own, own.ty())) {
            Some((own, Some(from))) if row.action.is_none() && self.named_by == Some((own.name, member.name)) => {
                let change = MemberChange::Text {
                    from: self.step.from.revision,
                    to: self.step.to.revision,
                    change: self.change(from, to),
                };
                MemberSource::Shared(own.name, change)
            }
            Some((own, Some(from))) => MemberSource::Shared(own.name, self.member_change(from, to, (row, target))),
            other => {
                let implied = || &*child(&format!("{pointer}/properties"), member.name).leak();
                MemberSource::Adopted(Adopted {
                    constant: other.map(|(own, _)| own.name),
                    ty: to.clone(),
                    pointer: row.pointer.unwrap_or_else(|| Some(implied())),
                    supplied: row.supplied,
                    is_filled: false,
                    accepted: Accepted::default(),
                })
            }
        };
        let plan = MemberPlan {
            name: member.name,
            required: member.required,
            source,
            default: row.default.clone(),
            check: row.check.clone(),
            declared: row.declared.clone(),
            lacks: member.required && own.is_none_or(|own| !own.required),
            accepted: Accepted::default(),
        };
        let is_same = match &plan.source {
            MemberSource::Shared(name, MemberChange::Plain(change)) => {
                *name == member.name && *change == Change::Keep && !plan.does_more()
            }
            _ => false,
        };
        (!is_same).then_some(plan)
    }

    fn member_change(
        &mut self,
        from: &'static TypeRef,
        to: &'static TypeRef,
        (row, target): (&MemberRow, &ObjectType),
    ) -> MemberChange {
        let (table, other) = (self.step.from, self.step.to);
        let entry = |linker: &mut Self| match (table.resolve(from), other.resolve(to)) {
            (TypeRef::List(from), TypeRef::List(to)) | (TypeRef::Map(from), TypeRef::Map(to)) => {
                linker.change(from, to)
            }
            _ => Change::Keep,
        };
        match &row.action {
            None => MemberChange::Plain(self.change(from, to)),
            Some(Action::Variants(variants)) => {
                let (from, to) = (table.resolve(from).clone(), other.resolve(to).clone());
                MemberChange::Variants(self.union(&from, &to, Some(variants)))
            }
            Some(Action::Tag(tag, other)) => MemberChange::Text {
                from: tag,
                to: other,
                change: self.change(from, to),
            },
            Some(Action::Fill) => MemberChange::Fill(self.change(from, to)),
            Some(Action::Empty) => MemberChange::Empty(self.change(from, to)),
            Some(Action::Wrap) => MemberChange::Wrap(self.element(from, to)),
            Some(Action::Unwrap) => MemberChange::Unwrap(self.element(from, to)),
            Some(Action::Ensure(ensure)) => MemberChange::Ensure(self.change(from, to), self.ensure(ensure, target)),
            Some(Action::Omit { unless, rule }) => MemberChange::Omit {
                entry: entry(self),
                unless,
                rule,
            },
            Some(Action::Hide { when, rule }) => MemberChange::Hide {
                element: entry(self),
                when: when.clone(),
                rule,
            },
            Some(Action::Split { member, rule }) => MemberChange::Split {
                element: entry(self),
                member,
                rule,
            },
            Some(Action::Join(join)) => MemberChange::Join(JoinPlan {
                row: join.clone(),
                change: match table.resolve(from) {
                    TypeRef::List(element) => self.change(element, to),
                    _ => self.change(from, to),
                },
                target: to.clone(),
            }),
            Some(Action::Without(without)) => MemberChange::Without(without.clone()),
            Some(Action::Drop { rule }) => MemberChange::Drop { rule },
            Some(Action::Refuse(refusal)) => MemberChange::Refuse(refusal.clone()),
        }
    }
}
