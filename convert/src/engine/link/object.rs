//! Pairing of the objects of two neighbouring revisions, member by member.

use std::cmp::Reverse;

use mcp_wire::json_schema::pointer::child;
use rustc_hash::FxHashMap;

use super::Linker;
use crate::engine::accepted::Accepted;
use crate::engine::node::Entry;
use crate::engine::step::{
    Adopted, Change, ConstantPlan, ConstantSource, EnclosedPlan, EnsurePlan, JoinPlan, LeftPlan, MemberChange,
    MemberPlan, MemberSource, MovePlan, MovesPlan, ObjectPlan, Required, ValuePlan,
};
use crate::tables::rows::{Action, Enclosing, Ensure, LeftAction, MemberRow, ObjectRow, PathStep};
use crate::tables::types::{Member, ObjectType, TypeRef};

impl Linker<'_> {
    pub(super) fn object(
        &mut self,
        source: &'static ObjectType,
        (target, pointer): (&'static ObjectType, &'static str),
        row: &ObjectRow,
    ) -> ObjectPlan {
        let mut plan = ObjectPlan::default();
        let none = MemberRow::default();
        let is_filled = |name| {
            let mut places = row.moves.iter().map(|[_, to]| to);
            places.any(|to| PathStep::first(to) == Some(name) && PathStep::leads_into_list(to))
        };
        // The member of the target isn't that of the source with the same name, but in it, or around it.
        let is_apart = |name| {
            let mut moves = row.moves.iter();
            let is_it = |path| PathStep::first(path) == Some(name);
            moves.any(|[from, to]| is_it(from) && is_it(to) && (from.len() == 1 || to.len() == 1))
        };
        let mut taken = FxHashMap::default();
        for member in &target.members {
            let Some(constant) = member.constant() else {
                let row = row.members.get(member.name).unwrap_or(&none);
                let name = row.from.unwrap_or(member.name);
                let own = source.member(name).filter(|own| !is_apart(own.name));
                taken.extend(own.map(|own| (own.name, member.required)));
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
                    None => ConstantSource::Member(match row.members.get(member.name).map(|row| &row.action) {
                        Some(Some(Action::Tag(tag, _))) => Some(tag),
                        _ => None,
                    }),
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
        plan.moves = self.moves(row, (source, target), &taken);
        let left = source.members.iter().filter(|member| {
            target.member(member.name).is_none()
                && !taken.contains_key(member.name)
                && !plan.moves.iter().any(|moves| moves.name == member.name)
        });
        // Constants first, as rules are applied to them first.
        let (constants, others): (Vec<_>, Vec<_>) = left.partition(|member| member.constant().is_some());
        let left = constants.into_iter().chain(others).map(|member| {
            let row = row.left.get(member.name).cloned().unwrap_or_default();
            let ensure = match &row.action {
                Some(LeftAction::Ensure(ensure)) => Some(self.ensure(ensure, target)),
                _ => None,
            };
            LeftPlan {
                name: member.name,
                constant: member.constant().is_some(),
                row,
                ensure,
            }
        });
        plan.left = left.collect();
        plan
    }

    /// Plans the values that have another place in the target, by the member of the source that they are in. `taken` are
    /// the members of the source that become members of the target.
    fn moves(
        &mut self,
        row: &ObjectRow,
        (source, target): (&'static ObjectType, &'static ObjectType),
        taken: &FxHashMap<&'static str, Required>,
    ) -> Vec<MovesPlan> {
        let mut plans: Vec<MovesPlan> = Vec::new();
        for [from, to] in &row.moves {
            // In a generated table, a path begins with a member.
            let Some(member) = PathStep::first(from).and_then(|name| source.member(name)) else {
                continue;
            };
            let value = self.moved((source, from), (target, to));
            let mut to = to.clone();
            let own_name = |name| row.members.get(name).and_then(|row| row.from).unwrap_or(name);
            let around = PathStep::container(&to)
                .map(own_name)
                .filter(|name| taken.contains_key(name));
            let around = around.and_then(|name| source.member(name));
            // The object that the value is put into gets its new name afterwards.
            if let Some(around) = around {
                to[0] = PathStep::Member(around.name);
            }
            let planned = MovePlan {
                from: from.clone(),
                to,
                value,
                fills: around.is_some_and(|around| !around.required),
            };
            match plans.iter_mut().find(|plan| plan.name == member.name) {
                Some(plan) => plan.moves.push(planned),
                None => plans.push(MovesPlan {
                    name: member.name,
                    constant: member.constant().is_some(),
                    rest: taken.get(member.name).copied(),
                    moves: vec![planned],
                }),
            }
        }
        for plan in &mut plans {
            // A value leaves an object before the object moves.
            plan.moves.sort_by_key(|planned| Reverse(planned.from.len()));
        }
        plans
    }

    /// Plans the conversion of a value that has another place in the target.
    fn moved(
        &mut self,
        (source, from): (&'static ObjectType, &[PathStep]),
        (target, to): (&'static ObjectType, &[PathStep]),
    ) -> ValuePlan {
        let types = (self.step.from.at_path(source, from), self.step.to.at_path(target, to));
        match types {
            (Some(source), Some(target)) => ValuePlan {
                change: self.change(source, target),
                holds_null: self.step.to.resolve(target).holds_null(),
            },
            // The value is constant.
            _ => ValuePlan {
                change: Change::Keep,
                holds_null: false,
            },
        }
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

    /// Plans the conversion between a list of objects with a member, and a list or a map of its values.
    fn enclosed(&mut self, row: Enclosing, types: [&'static TypeRef; 2], is_extracted: bool) -> EnclosedPlan {
        let tables = [self.step.from, self.step.to];
        let [source, target] = [0, 1].map(|side| match tables[side].resolve(types[side]) {
            TypeRef::List(element) | TypeRef::Map(element) => &**element,
            TypeRef::Object => &TypeRef::Any,
            ty => ty,
        });
        let object = match is_extracted {
            true => tables[0].object(source),
            false => tables[1].object(target),
        };
        let members = object.map_or(&[][..], |object| &object.members);
        let inner = object.and_then(|object| object.member(row.member)?.ty());
        let change = match inner {
            Some(inner) if is_extracted => self.change(inner, target),
            Some(inner) => self.change(source, inner),
            // In a generated table, the objects have the member.
            None => Change::Keep,
        };
        let required = members.iter().filter(|member| member.required);
        let constants: Vec<_> = required
            .filter_map(|member| Some((member.name, member.constant()?)))
            .collect();
        let names = [Some(row.member), row.key].into_iter().flatten();
        let texts = names.chain(constants.iter().flat_map(|(name, json)| [*name, *json]));
        EnclosedPlan {
            row,
            are_maps: [0, 1].map(|side| !matches!(tables[side].resolve(types[side]), TypeRef::List(_))),
            change,
            added: texts.map(|text| text.len() + size_of::<Entry<'_>>()).sum(),
            constants,
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
        let source = match (own.map(|own| (own, own.ty())), &row.action) {
            (Some((own, Some(from))), None) if self.named_by == Some((own.name, member.name)) => {
                let change = MemberChange::Text {
                    from: self.step.from.revision,
                    to: self.step.to.revision,
                    change: self.change(from, to),
                };
                MemberSource::Shared(own.name, change)
            }
            (Some((own, Some(from))), _) => MemberSource::Shared(own.name, self.member_change(from, to, (row, target))),
            (Some((own, None)), Some(Action::Tag(from, tag))) => MemberSource::Shared(
                own.name,
                MemberChange::Text {
                    from,
                    to: tag,
                    change: Change::Keep,
                },
            ),
            (other, _) => {
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
            null_is_absence: own.is_some_and(|own| own.required),
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
            Some(Action::Enclose(row)) => MemberChange::Enclose(self.enclosed(*row, [from, to], false)),
            Some(Action::Extract(row)) => MemberChange::Extract(self.enclosed(*row, [from, to], true)),
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
