//! Conversions of objects.

use std::borrow::Cow;
use std::sync::Arc;

use mcp_wire::{RawJson, from_str};

use super::check::is_constant;
use super::members::{Members, is_empty, merge, position, refused};
use super::node::{Entry, Node};
use super::state::{Part, State};
use super::step::{
    Adopted, Change, ConstantPlan, ConstantSource, EnsurePlan, LeftPlan, MemberChange, MemberPlan, MemberSource,
    MovesPlan, ObjectPlan,
};
use super::value::Run;
use crate::loss::{AUTOMATIC, LossKind};
use crate::tables::rows::{LeftAction, PathStep};
use crate::unrepresentable::{Converted, Unrepresentable};

/// An action of a rule that follows the conversion of all members.
enum Afterwards<'p, 'a> {
    Copy(&'p [PathStep], Node<'a>, &'static str),
    Ensure(&'static str, &'p EnsurePlan, Node<'a>),
}

impl<'a> Run<'_> {
    /// Converts an object in place.
    pub(super) fn object(&mut self, plan: &ObjectPlan, node: &mut Node<'a>) -> Converted {
        let Node::Object(members) = node else {
            return Ok(());
        };
        if let Some((member, refusal)) = &plan.refused {
            return Err(refused(refusal).within_member(member));
        }
        for constant in &plan.constants {
            self.constant(constant, members)?;
        }
        let mut afterwards = Vec::new();
        let mut needed = Vec::new();
        // An undeclared object can be valid only with what is moved into it.
        let is_early = |moves: &&MovesPlan| {
            let mut containers = moves
                .moves
                .iter()
                .filter_map(|planned| PathStep::container(&planned.to));
            containers.any(|name| position(members, name, false).is_some())
        };
        let (early, others): (Vec<_>, Vec<_>) = plan.moves.iter().partition(is_early);
        for moves in early {
            self.move_out_of(moves, members)?;
        }
        for member in &plan.members {
            self.prepare(member, members, &mut needed, &mut afterwards)?;
        }
        for moves in others {
            self.move_out_of(moves, members)?;
        }
        for member in &plan.left {
            self.leave(member, members, &mut afterwards)?;
        }
        if let Some(staying) = &plan.closed {
            self.close_members(staying, members);
        }
        for member in &plan.members {
            self.member(member, members, &needed)?;
        }
        for action in afterwards {
            match action {
                Afterwards::Copy(path, value, rule) => self.copy(path, value, rule, members),
                Afterwards::Ensure(name, ensure, value) => self.ensure(ensure, name, &value, members)?,
            }
        }
        Ok(())
    }

    /// Adds members to an object that lacks them, as its conversion does.
    pub(super) fn add(&mut self, plan: &ObjectPlan, names: &[&str], members: &mut Members<'a>) -> Converted {
        let plans = || plan.members.iter().filter(|member| names.contains(&member.name));
        for member in plans() {
            self.prepare(member, members, &mut Vec::new(), &mut Vec::new())?;
        }
        for member in plans() {
            self.member(member, members, &[])?;
        }
        Ok(())
    }

    /// Sets a constant of the target. The source can have another constant, or a value that was carried in its place.
    fn constant(&mut self, plan: &ConstantPlan, members: &mut Members<'a>) -> Converted {
        let ConstantPlan {
            name,
            json,
            required,
            source,
        } = plan;
        let at = members.iter().position(|entry| entry.name == *name);
        let Some(at) = at else {
            if *required {
                self.state.lose_member(name, LossKind::Defaulted, AUTOMATIC);
                members.push(Entry::declared(*name, Node::text(*json)));
            }
            return Ok(());
        };
        let entry = &mut members[at];
        let is_it = is_constant(&entry.value.to_text(), json);
        match source {
            // A value that was carried in place of the constant stays.
            ConstantSource::Same if entry.declared => entry.value = Node::text(*json),
            ConstantSource::Same => {}
            ConstantSource::Member(tag) if entry.declared => {
                let is_meant = match tag {
                    Some(tag) => entry.value.as_str().is_some_and(|value| value == *tag),
                    None => is_it,
                };
                if !is_meant {
                    let because = format!("the target revision has nothing but {json} there");
                    return Err(Unrepresentable::by_rule(&because, AUTOMATIC).within_member(name));
                }
                entry.value = Node::text(*json);
            }
            ConstantSource::Other if entry.declared => {
                self.state.lose_member(name, LossKind::Replaced, AUTOMATIC);
                entry.value = Node::text(*json);
            }
            _ if is_it => entry.declared = true,
            _ if self.state.carries() => {}
            _ if *required => {
                self.state.lose_member(name, LossKind::Replaced, AUTOMATIC);
                *entry = Entry::declared(*name, Node::text(*json));
            }
            _ => {
                self.state.lose_member(name, LossKind::Dropped, AUTOMATIC);
                members.remove(at);
            }
        }
        Ok(())
    }

    /// Prepares a member of the target before the values are converted: undeclared and supplied members come in, and
    /// dropped ones go out.
    fn prepare<'p>(
        &mut self,
        plan: &'p MemberPlan,
        members: &mut Members<'a>,
        needed: &mut Vec<String>,
        afterwards: &mut Vec<Afterwards<'p, 'a>>,
    ) -> Converted {
        match &plan.source {
            MemberSource::Shared(name, how) => {
                if *name != plan.name
                    && let Some(at) = position(members, plan.name, false)
                {
                    members.remove(at);
                    self.state.lose_member(plan.name, LossKind::Dropped, AUTOMATIC);
                }
                self.prepare_shared(plan, name, how, members, needed, afterwards)
            }
            MemberSource::Adopted(adopted) => {
                if let Some(constant) = adopted.constant
                    && let Some(at) = position(members, constant, true)
                {
                    members[at].declared = false;
                    members[at].name = Cow::Borrowed(plan.name);
                }
                self.adopt(plan.name, adopted, members);
                self.supply(plan.name, adopted, members)
            }
        }
    }

    fn prepare_shared<'p>(
        &mut self,
        plan: &'p MemberPlan,
        name: &'static str,
        how: &'p MemberChange,
        members: &mut Members<'a>,
        needed: &mut Vec<String>,
        afterwards: &mut Vec<Afterwards<'p, 'a>>,
    ) -> Converted {
        let at = position(members, name, true);
        match how {
            MemberChange::Drop { rule } => {
                if let Some(at) = at {
                    self.take_out(at, members, name, rule);
                }
            }
            MemberChange::Refuse(refusal) if at.is_some() => return Err(refused(refusal).within_member(name)),
            MemberChange::Ensure(change, ensure) => {
                let Some(at) = at else { return Ok(()) };
                let before = self.state.losses.len();
                let mut value = members[at].value.clone();
                let converted = self.within(Part::Member(name), |run| run.change(change, &mut value));
                if converted.is_ok() {
                    members[at].value = value;
                } else {
                    self.state.losses.truncate(before);
                    self.state.lose_member(name, LossKind::Replaced, ensure.row.rule);
                    afterwards.push(Afterwards::Ensure(plan.name, ensure, members.remove(at).value));
                }
            }
            MemberChange::Omit { unless, .. } => {
                if let Some(at) = position(members, unless, true) {
                    let keys = from_str::<Vec<String>>(&members[at].value.to_text());
                    needed.extend(keys.unwrap_or_default());
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Takes a member that only the target declares from the undeclared members, if its value is valid, together with
    /// what was moved into it.
    fn adopt(&mut self, name: &'static str, adopted: &Adopted, members: &mut Members<'a>) {
        let Some(at) = position(members, name, false) else {
            return;
        };
        // It comes after the undeclared member.
        let moved = position(members, name, true).map(|after| members.remove(after));
        let value = &mut members[at].value;
        let is_whole = adopted.is_filled || moved.as_ref().is_none_or(|moved| merge(value, moved.value.clone()));
        if is_whole && self.check_adopted(adopted, &value.to_text()).is_ok() {
            members[at].declared = true;
            return;
        }
        self.state.lose_member(name, LossKind::Dropped, AUTOMATIC);
        match moved {
            Some(moved) => members[at] = moved,
            None => drop(members.remove(at)),
        }
    }

    /// Takes a member that the source doesn't declare from the supply.
    fn supply(&mut self, name: &'static str, adopted: &Adopted, members: &mut Members<'a>) -> Converted {
        let supply = self.state.supply.as_ref().zip(adopted.supplied);
        let supplied = supply.and_then(|(supply, key)| supply.get(key));
        let (None, Some(json)) = (position(members, name, true), supplied) else {
            return Ok(());
        };
        let checked = self.check_adopted(adopted, json.text());
        checked.map_err(|refused| refused.within_member(name))?;
        members.push(Entry::declared(name, Node::text(json.text().to_owned())));
        Ok(())
    }

    /// Converts a member that the target doesn't declare.
    fn leave<'p>(
        &mut self,
        plan: &'p LeftPlan,
        members: &mut Members<'a>,
        afterwards: &mut Vec<Afterwards<'p, 'a>>,
    ) -> Converted {
        let name = plan.name;
        let Some(at) = members
            .iter()
            .position(|entry| entry.name == name && (entry.declared || plan.constant))
        else {
            return Ok(());
        };
        if let Some(implied) = plan.row.implied
            && members[at].value.is_same_as(implied)
        {
            members.remove(at);
            return Ok(());
        }
        match &plan.row.action {
            Some(LeftAction::Refuse(refusal)) => return Err(refused(refusal).within_member(name)),
            Some(LeftAction::Supply { key, .. }) => {
                let json = from_str::<RawJson>(&self.original(&members[at].value));
                if json.is_ok_and(|json| hand_over(self.state, key, json)) {
                    members.remove(at);
                    return Ok(());
                }
            }
            Some(LeftAction::Copy { to, rule }) if !self.state.carries() && members[at].declared => {
                afterwards.push(Afterwards::Copy(to, members[at].value.clone(), rule));
            }
            Some(LeftAction::Ensure(_)) if !self.state.carries() && members[at].declared => {
                let value = members[at].value.clone();
                afterwards.extend(
                    plan.ensure
                        .as_ref()
                        .map(|ensure| Afterwards::Ensure(name, ensure, value)),
                );
            }
            _ => {}
        }
        self.take_out(at, members, name, plan.rule());
        Ok(())
    }

    /// Returns the text of a value. The name of a revision is the one in the source, before steps replaced it.
    fn original<'n>(&self, value: &'n Node<'a>) -> Cow<'n, str> {
        match self.state.renamed {
            Some((named, now)) if value.as_str().as_deref() == Some(now) => Node::string(named).into_text(),
            _ => value.to_text(),
        }
    }

    /// Drops a member and records the loss, or carries it as an undeclared one.
    pub(super) fn take_out(&mut self, at: usize, members: &mut Members<'a>, name: &str, rule: &'static str) {
        if self.state.carries() {
            members[at].declared = false;
        } else {
            members.remove(at);
            self.state.lose_member(name, LossKind::Dropped, rule);
        }
    }

    /// Drops the members that the target doesn't declare, because it allows no others.
    fn close_members(&mut self, staying: &[&str], members: &mut Members<'a>) {
        let state = &mut *self.state;
        members.retain(|entry| {
            let stays = entry.declared || staying.contains(&&*entry.name);
            if !stays {
                state.lose_member(&entry.name, LossKind::Dropped, AUTOMATIC);
            }
            stays
        });
    }

    /// Converts the value of a member.
    fn member(&mut self, plan: &MemberPlan, members: &mut Members<'a>, needed: &[String]) -> Converted {
        let name = plan.name;
        if let MemberSource::Shared(from, MemberChange::Fill(change)) = &plan.source {
            return self.fill(name, from, change, members);
        }
        let source = plan.source_name();
        let Some(at) = position(members, source, true) else {
            return match (&plan.default, &plan.source) {
                _ if !plan.required => Ok(()),
                (Some(default), _) => {
                    if !default.implied {
                        self.state.lose_member(name, LossKind::Defaulted, default.rule);
                    }
                    members.push(Entry::declared(name, Node::text(default.json)));
                    Ok(())
                }
                (None, MemberSource::Adopted(adopted)) => Err(Unrepresentable::lacks(name, adopted.supplied)),
                (None, MemberSource::Shared(..)) => Err(Unrepresentable::lacks(name, None)),
            };
        };
        let is_left_out = !plan.required && plan.refuses_null() && (plan.null_is_absence || !self.state.carries());
        if is_left_out && members[at].value.is_null() {
            members.remove(at);
            if !plan.null_is_absence {
                self.state.lose_member(source, LossKind::Dropped, AUTOMATIC);
            }
            return Ok(());
        }
        members[at].name = Cow::Borrowed(name);
        if let MemberSource::Shared(_, how) = &plan.source {
            let value = &mut members[at].value;
            let stays = self.within(Part::Member(source), |run| run.shared(how, value, needed))?;
            let is_emptied = matches!(how, MemberChange::Empty(_)) && is_empty(&members[at].value);
            if !stays && plan.required {
                return Err(Unrepresentable::lacks(name, None));
            }
            if !stays || is_emptied {
                members.remove(at);
                return Ok(());
            }
        }
        self.check_member(plan, members, at)
    }

    /// Converts the value of a member that both revisions declare, and returns whether it stays.
    fn shared(&mut self, how: &MemberChange, value: &mut Node<'a>, needed: &[String]) -> Converted<bool> {
        match how {
            MemberChange::Plain(change) | MemberChange::Fill(change) | MemberChange::Empty(change) => {
                self.change(change, value)?;
            }
            MemberChange::Text { from, to, .. } if value.as_str().as_deref() == Some(*from) => {
                // The name of a revision, not a tag.
                if *from == self.step.from.revision {
                    let before = self.state.renamed.filter(|(_, now)| now == from);
                    self.state.renamed = Some((before.map_or(*from, |(named, _)| named), to));
                }
                *value = Node::string(to);
            }
            MemberChange::Text { change, .. } => self.change(change, value)?,
            MemberChange::Variants(plan) => self.union(plan, value)?,
            MemberChange::Omit { entry, rule, .. } => self.omit(entry, rule, value, needed)?,
            MemberChange::Hide { element, when, rule } => self.hide(element, when, rule, value)?,
            MemberChange::Split { element, member, rule } => self.split(element, member, rule, value)?,
            MemberChange::Join(plan) => self.join(plan, value)?,
            MemberChange::Wrap(plan) | MemberChange::Unwrap(plan) if value.is_null() => match plan.holds_null {
                true => {}
                false => return Err(Unrepresentable::no_null()),
            },
            MemberChange::Wrap(plan) => {
                self.change(&plan.change, value)?;
                *value = Node::Array(vec![std::mem::replace(value, Node::text(""))]);
            }
            MemberChange::Unwrap(plan) => return self.only_element(&plan.change, value),
            MemberChange::Enclose(plan) => self.enclose(plan, value)?,
            MemberChange::Extract(plan) => self.extract(plan, value)?,
            MemberChange::Without(without) => return self.without(without, value),
            MemberChange::Ensure(..) | MemberChange::Drop { .. } | MemberChange::Refuse(_) => {}
        }
        Ok(true)
    }

    /// Turns a list into its only element. Returns whether the value stays: an empty list is left out.
    fn only_element(&mut self, change: &Change, value: &mut Node<'a>) -> Converted<bool> {
        let elements = value.elements()?;
        let count = elements.len();
        match elements.pop() {
            Some(mut only) if count == 1 => {
                self.within(Part::Element(0), |run| run.change(change, &mut only))?;
                *value = only;
                Ok(true)
            }
            None if !self.state.carries() => {
                self.state.lose(LossKind::Dropped, AUTOMATIC);
                Ok(false)
            }
            _ => Err(Unrepresentable::not_one(count, self.step.to.revision)),
        }
    }

    /// Converts an optional object whose required members are all supplied. An absent object is converted like an empty
    /// one.
    fn fill(&mut self, name: &'static str, from: &str, change: &Change, members: &mut Members<'a>) -> Converted {
        let at = match position(members, from, true) {
            Some(at) => {
                if is_empty(&members[at].value) {
                    // In the other direction, an empty object can't be distinguished from an absent one.
                    self.state.lose_member(from, LossKind::Replaced, AUTOMATIC);
                }
                members[at].name = Cow::Borrowed(name);
                at
            }
            None => {
                members.push(Entry::declared(name, self.empty(change)));
                members.len() - 1
            }
        };
        self.within(Part::Member(from), |run| run.change(change, &mut members[at].value))
    }
}

impl Run<'_> {
    /// Returns an empty object that a change can be applied to.
    fn empty<'a>(&self, change: &Change) -> Node<'a> {
        match change {
            Change::Pair(pair) if self.step.has_empty(*pair) => Node::Object(Vec::new()),
            _ => Node::text("{}"),
        }
    }
}

/// Adds a value to the supply, and returns whether the supply has this value now.
fn hand_over(state: &mut State, key: &str, json: RawJson) -> bool {
    let Some(supply) = &mut state.supply else { return false };
    let supply = Arc::make_mut(supply);
    match supply.get(key) {
        Some(known) => *known == json,
        None => {
            supply.insert(key.to_owned(), json);
            true
        }
    }
}
