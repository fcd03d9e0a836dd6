//! The actions of rules on lists, maps and members, which the types don't imply.

use mcp_wire::{JsonType, Reader, from_str, push_string};

use super::members::{Members, position, refused};
use super::moved::put;
use super::node::{Entry, Node};
use super::state::Part;
use super::step::{Change, EnsurePlan, JoinPlan};
use super::value::{Run, variant_of};
use crate::loss::LossKind;
use crate::placeholders::fill_template;
use crate::tables::rows::{Condition, Ensure, PathStep, Without};
use crate::unrepresentable::{Converted, Unrepresentable};

impl<'a> Run<'_> {
    /// Leaves out the entries of a map that the target can't represent, unless they are needed.
    pub(super) fn omit(
        &mut self,
        change: &Change,
        rule: &'static str,
        value: &mut Node<'a>,
        needed: &[String],
    ) -> Converted {
        if self.step.keeps(change) {
            return Ok(());
        }
        let entries = std::mem::take(value.members()?);
        let mut kept = Vec::with_capacity(entries.len());
        for mut entry in entries {
            let before = self.state.losses.len();
            let converted = self.within(Part::Member(&entry.name), |run| run.change(change, &mut entry.value));
            match converted {
                Ok(()) => kept.push(entry),
                Err(error) if needed.iter().any(|name| *name == entry.name) => return Err(error),
                Err(_) => {
                    self.state.losses.truncate(before);
                    self.state.lose_member(&entry.name, LossKind::Dropped, rule);
                }
            }
        }
        *value = Node::Object(kept);
        Ok(())
    }

    /// Leaves out the elements of a list that a rule hides. Elements that were kept as text lack a member that the
    /// conditions require.
    pub(super) fn hide(
        &mut self,
        change: &Change,
        when: &[Condition],
        rule: &'static str,
        value: &mut Node<'a>,
    ) -> Converted {
        if value.is_kept() {
            return Ok(());
        }
        let elements = std::mem::take(value.elements()?);
        let mut shown = Vec::with_capacity(elements.len());
        for (index, mut element) in elements.into_iter().enumerate() {
            let stays = self.within(Part::Element(index), |run| {
                if !element.is_kept() && meets(&element, when) && !run.state.carries() {
                    run.state.lose(LossKind::Dropped, rule);
                    return Ok(false);
                }
                run.change(change, &mut element).map(|()| true)
            })?;
            if stays {
                shown.push(element);
            }
        }
        *value = Node::Array(shown);
        Ok(())
    }

    /// Splits the elements of a list. `member` is a list in each of them, and each of its elements gets a separate
    /// copy.
    pub(super) fn split(
        &mut self,
        change: &Change,
        member: &str,
        rule: &'static str,
        value: &mut Node<'a>,
    ) -> Converted {
        let elements = std::mem::take(value.elements()?);
        let mut split = Vec::with_capacity(elements.len());
        for (index, mut element) in elements.into_iter().enumerate() {
            self.within(Part::Element(index), |run| {
                let members = element.members()?;
                let parts = members.iter_mut().find(|entry| entry.name == member);
                let parts = match parts.filter(|parts| parts.value.json_type() == JsonType::Array) {
                    Some(parts) => std::mem::take(parts.value.elements()?),
                    None => {
                        let mut element = Node::Text(element.into_text());
                        run.change(change, &mut element)?;
                        split.push(element);
                        return Ok(());
                    }
                };
                run.state.lose_member(member, LossKind::Replaced, rule);
                for part in parts {
                    let mut one = element.clone();
                    run.state.add(one.to_text().len())?;
                    for entry in one.members()? {
                        if entry.name == member {
                            entry.value = part.clone();
                        }
                    }
                    let mut one = Node::Text(one.into_text());
                    run.change(change, &mut one)?;
                    split.push(one);
                }
                Ok(())
            })?;
        }
        *value = Node::Array(split);
        Ok(())
    }

    /// Turns a list into one element: its only one, or one with the joined texts of all.
    pub(super) fn join(&mut self, plan: &JoinPlan, value: &mut Node<'a>) -> Converted {
        let JoinPlan {
            change,
            row: join,
            target,
        } = plan;
        if value.json_type() != JsonType::Array {
            return self.change(change, value);
        }
        self.state.lose(LossKind::Replaced, join.otherwise.rule);
        let elements = value.elements()?;
        if elements.len() == 1
            && let Some(only) = elements.pop()
        {
            *value = only;
            return self.change(change, value);
        }
        let texts = elements.iter().map(|element| {
            let text = element.at(&[join.member]).filter(|_| meets(element, &join.when))?;
            from_str::<String>(&text).ok()
        });
        match texts.collect::<Option<Vec<String>>>() {
            Some(texts) if !texts.is_empty() => {
                let mut joined = String::from("{");
                push_string(&mut joined, join.member);
                joined.push(':');
                push_string(&mut joined, &texts.join(join.separator));
                joined.push('}');
                let filled = fill_template(join.item, &joined);
                let filled = filled.map_err(|error| Unrepresentable::unfilled(error, join.otherwise.rule))?;
                *value = Node::text(filled);
                self.check_filled(value, target, join.otherwise.rule)
            }
            _ => Err(refused(&join.otherwise)),
        }
    }

    /// Takes members out of an object, or drops it. Returns whether it stays.
    pub(super) fn without(&mut self, without: &Without, value: &mut Node<'a>) -> Converted<bool> {
        if self.state.carries() {
            return Ok(true);
        }
        let members = value.members()?;
        let has = |members: &Members<'_>, name: &str| {
            members.iter().any(|entry| entry.name == name && !entry.value.is_null())
        };
        if let Some((one, other)) = without.unless
            && has(members, one)
            && !has(members, other)
        {
            self.state.lose(LossKind::Dropped, without.rule);
            return Ok(false);
        }
        for name in &without.members {
            if has(members, name) {
                members.retain(|entry| entry.name != *name);
                self.state.lose_member(name, LossKind::Dropped, without.rule);
            }
        }
        Ok(true)
    }

    /// Copies a value to a member of the target, unless that has one.
    pub(super) fn copy(&mut self, path: &[PathStep], copied: Node<'a>, rule: &'static str, members: &mut Members<'a>) {
        if let Some(depth) = put(path, copied, members) {
            let names: Vec<_> = path[..depth].iter().filter_map(PathStep::member).collect();
            self.state.lose_within(&names, LossKind::Defaulted, rule);
        }
    }

    /// Appends an element with the value of the member `name` to a list, unless there is one of its variant.
    pub(super) fn ensure(
        &mut self,
        plan: &EnsurePlan,
        name: &str,
        value: &Node<'a>,
        members: &mut Members<'a>,
    ) -> Converted {
        let Ensure { list, item, rule } = &plan.row;
        let filled = fill_template(item, &value.to_text());
        let filled = filled.map_err(|error| Unrepresentable::unfilled(error, rule).within_member(name))?;
        self.state.add(filled.len())?;
        let element = Node::text(filled);
        let at = position(members, list, true).unwrap_or_else(|| {
            members.push(Entry::declared(*list, Node::Array(Vec::new())));
            members.len() - 1
        });
        let elements = members[at].value.elements()?;
        let variant = |node: &Node<'_>| variant_of(self.step.to, &plan.element, node);
        let kind = variant(&element)?;
        for other in elements.iter() {
            if variant(other)? == kind {
                return Ok(());
            }
        }
        self.within(Part::Member(list), |run| {
            run.within(Part::Element(elements.len()), |run| {
                run.state.lose(LossKind::Defaulted, rule);
                run.check_filled(&element, &plan.element, rule)
            })
        })?;
        elements.push(element);
        Ok(())
    }
}

fn meets(element: &Node<'_>, conditions: &[Condition]) -> bool {
    conditions.iter().all(|Condition { path, text }| {
        let found = element.at(path);
        found.is_some_and(|json| Reader::new(&json).string().is_ok_and(|found| found == *text))
    })
}
