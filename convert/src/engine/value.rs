//! Conversions of values: containers, unions, strings, messages and results.

use std::borrow::Cow;

use mcp_wire::{JsonType, Reader, Schema, accepts_text, validate_text};

use super::check::check;
use super::choose::{choose, choose_result, has_tag, of_method};
use super::members::refused;
use super::node::{Node, open};
use super::read::Read;
use super::state::{Part, State};
use super::step::{Change, How, MethodsPlan, PairId, Step, StringsPlan, UnionPlan, VariantPlan};
use crate::loss::{AUTOMATIC, LossKind};
use crate::placeholders::fill_template;
use crate::tables::types::{Decision, Kind, TypeId, TypeRef, Union};
use crate::tables::{Role, Table};
use crate::unrepresentable::{Converted, Unrepresentable};

/// A step that is applied to a value.
pub(crate) struct Run<'s> {
    pub(crate) step: &'s Step,
    pub(crate) state: &'s mut State,
}

impl<'a> Run<'_> {
    /// Converts a value in place.
    pub(crate) fn change(&mut self, change: &Change, node: &mut Node<'a>) -> Converted {
        match change {
            Change::Keep => Ok(()),
            Change::Pair(_) | Change::List(_) | Change::Map(_) | Change::Nullable(_) if node.is_kept() => Ok(()),
            Change::List(inner) => self.each(inner, node),
            Change::Map(inner) => self.entries(inner, node),
            Change::Nullable(inner) if self.step.keeps(inner) || node.is_null() => Ok(()),
            Change::Nullable(inner) => self.change(inner, node),
            Change::NotNull(_) if node.is_null() => Err(Unrepresentable::no_null()),
            Change::NotNull(inner) => self.change(inner, node),
            Change::Pair(pair) => self.pair(*pair, node),
            Change::Integer => self.integer(node),
            Change::Object => read_as(self.step.to, node, &TypeRef::Object),
            Change::Close(target) => self.close(node, target),
            Change::Open(target) => self.described(*target, node),
        }
    }

    /// Runs `inside` for a part of the current value: the paths of its losses and its error start with the part.
    pub(super) fn within<T>(&mut self, part: Part<'_>, inside: impl FnOnce(&mut Self) -> Converted<T>) -> Converted<T> {
        self.within_path(&[part], inside)
    }

    /// Like [`Self::within`], for the last of these parts, of which each is in the one before.
    pub(super) fn within_path<T>(
        &mut self,
        parts: &[Part<'_>],
        inside: impl FnOnce(&mut Self) -> Converted<T>,
    ) -> Converted<T> {
        let before = self.state.losses.len();
        let mut result = inside(self);
        for part in parts.iter().rev() {
            for loss in &mut self.state.losses[before..] {
                loss.path.push(part.segment());
            }
            result = result.map_err(|error| error.within(part.segment()));
        }
        result
    }

    fn each(&mut self, inner: &Change, node: &mut Node<'a>) -> Converted {
        if self.step.keeps(inner) {
            return Ok(());
        }
        for (index, element) in node.elements()?.iter_mut().enumerate() {
            self.within(Part::Element(index), |run| run.change(inner, element))?;
        }
        Ok(())
    }

    fn entries(&mut self, inner: &Change, node: &mut Node<'a>) -> Converted {
        if self.step.keeps(inner) {
            return Ok(());
        }
        for entry in node.members()? {
            self.within(Part::Member(&entry.name), |run| run.change(inner, &mut entry.value))?;
        }
        Ok(())
    }

    fn pair(&mut self, id: PairId, node: &mut Node<'a>) -> Converted {
        let pair = &self.step.pairs[id];
        if pair.keeps {
            return Ok(());
        }
        self.state.enter()?;
        let converted = match &pair.how {
            How::Object(plan) => self.open(node, &pair.source).and_then(|()| self.object(plan, node)),
            How::Union(plan) => self.union(plan, node),
            How::Strings(plan) => self.string(plan, node),
            How::Methods(plan) => self.message(plan, &pair.target, node),
        };
        self.state.leave();
        converted?;
        match &pair.narrower {
            Some(narrower) => self.check_narrower(*narrower, node),
            None => Ok(()),
        }
    }

    /// Writes a number as an integer, without a fraction or an exponent.
    fn integer(&mut self, node: &mut Node<'a>) -> Converted {
        read_as(self.step.to, node, &TypeRef::Integer)?;
        if let Ok(integer) = Reader::new(&node.to_text()).integer()
            && node.to_text().contains(['.', 'e', 'E'])
        {
            *node = Node::text(integer.to_string());
        }
        Ok(())
    }

    /// Opens an object that is still text.
    fn open(&self, node: &mut Node<'a>, ty: &TypeRef) -> Converted {
        let (Node::Text(text), Some(Kind::Object(object))) = (&*node, self.step.from.kind(ty)) else {
            return Ok(());
        };
        let table = self.step.from;
        *node = open(text, |text| {
            Read::open(table).object(&mut Reader::new(text), object, None)
        })
        .map_err(Unrepresentable::undecodable)?;
        Ok(())
    }

    /// Converts a union, variant by variant.
    pub(crate) fn union(&mut self, plan: &UnionPlan, node: &mut Node<'a>) -> Converted {
        let Some(at) = variant_of(self.step.from, &plan.source, node)? else {
            return self.reinterpret(plan, node);
        };
        let variant = match plan.variants.get(at) {
            Some(VariantPlan::OneOf(several)) => self.chosen(several, plan, node).or(several.last()),
            variant => variant,
        };
        // Without a rule that relates the variants, a value with a tag that the target declares would be misread.
        let is_unknown = || matches!(variant_of(self.step.to, &plan.target, node), Ok(None));
        let is_related = matches!(variant, Some(VariantPlan::Replace { .. }));
        let is_carried = || plan.holds_unknown && node.json_type() == JsonType::Object && (is_related || is_unknown());
        match variant {
            Some(VariantPlan::Becomes(there, change)) if plan.gains_tag => self.gain_tag(plan, (*there, change), node),
            Some(VariantPlan::Becomes(_, change)) => self.change(change, node),
            Some(VariantPlan::Refuse(refusal)) => Err(refused(refusal)),
            _ if self.state.carries() && is_carried() => {
                *node = Node::Unknown(std::mem::replace(node, Node::text("")).into_text());
                Ok(())
            }
            Some(VariantPlan::Replace { template, rule }) => self.replace(template, rule, &plan.target, node),
            Some(VariantPlan::None(name)) => Err(Unrepresentable::no_counterpart(name, self.step.to.revision)),
            Some(VariantPlan::OneOf(_)) | None => Err(Unrepresentable::unknown_variant(self.step.to.revision)),
        }
    }

    /// Returns the variant that the tag of a value decides, or its members.
    fn chosen<'p>(&self, several: &'p [VariantPlan], plan: &UnionPlan, node: &Node<'a>) -> Option<&'p VariantPlan> {
        let there = variant_of(self.step.to, &plan.target, node).ok()??;
        several
            .iter()
            .find(|variant| matches!(variant, VariantPlan::Becomes(at, _) if *at == there))
    }

    /// Converts a value of a variant whose tag the source leaves open. If the target has another variant with that tag, or
    /// none, the value isn't of the target's variant.
    fn gain_tag(&mut self, plan: &UnionPlan, (there, change): (usize, &Change), node: &mut Node<'a>) -> Converted {
        let (text, losses) = (node.to_text().into_owned(), self.state.losses.len());
        self.change(change, node)?;
        if variant_of(self.step.to, &plan.target, node)? == Some(there) {
            return Ok(());
        }
        *node = Node::text(text);
        self.state.losses.truncate(losses);
        self.reinterpret(plan, node)
    }

    /// Converts a value of a variant that the source doesn't declare, since the target may declare it.
    fn reinterpret(&mut self, plan: &UnionPlan, node: &mut Node<'a>) -> Converted {
        let (from, to) = (self.step.from, self.step.to);
        if !plan.holds_unknown {
            read_as(to, node, &plan.target)?;
        }
        let text = std::mem::replace(node, Node::text("")).into_text();
        // A value that is invalid in the source too is passed on as it is.
        if !self.state.carries() && is_valid(from, &text, &plan.source) && !is_valid(to, &text, &plan.target) {
            return Err(Unrepresentable::unknown_variant(to.revision));
        }
        let is_known = !plan.holds_unknown || is_declared(to, &text, &plan.target);
        *node = if is_known {
            Node::Text(text)
        } else {
            Node::Unknown(text)
        };
        Ok(())
    }

    /// Replaces a value by the JSON of a rule.
    fn replace(&mut self, template: &str, rule: &'static str, target: &TypeRef, node: &mut Node<'a>) -> Converted {
        let filled =
            fill_template(template, &node.to_text()).map_err(|error| Unrepresentable::unfilled(error, rule))?;
        self.state.lose(LossKind::Replaced, rule);
        self.state.add(filled.len())?;
        *node = Node::text(filled);
        self.check_filled(node, target, rule)
    }

    /// Checks the JSON of a rule by the schema of its type: the values that are filled in can be of the wrong type or
    /// out of bounds.
    pub(super) fn check_filled(&self, node: &Node<'a>, target: &TypeRef, rule: &'static str) -> Converted {
        match self.step.to.schema_pointer(target) {
            Some(pointer) => self.step.validate(node, pointer, rule),
            None => Ok(()),
        }
    }

    fn string(&mut self, plan: &StringsPlan, node: &mut Node<'a>) -> Converted {
        let Some(text) = node.as_str() else { return Ok(()) };
        let changed = plan.changed.get(&text);
        if let Some(new) = changed.filter(|new| new.replaced.is_none() || !self.state.carries()) {
            if let Some(rule) = new.replaced {
                self.state.lose(LossKind::Replaced, rule);
            }
            *node = Node::string(new.text);
            return Ok(());
        }
        if self.state.carries() {
            return Ok(());
        }
        let is_refused = plan.refused.iter().any(|value| *value == text)
            || plan
                .only
                .as_ref()
                .is_some_and(|values| !values.iter().any(|value| *value == text));
        match is_refused {
            true => Err(Unrepresentable::no_such_value(&text, self.step.to.revision)),
            false => Ok(()),
        }
    }

    fn message(&mut self, plan: &MethodsPlan, target: &TypeRef, node: &mut Node<'a>) -> Converted {
        let method = method_of(node).unwrap_or_default();
        match of_method(&plan.methods, &method) {
            Some(Some(change)) => self.change(change, node),
            // A message of a method that the other revision doesn't have is carried as it is.
            _ if self.state.carries() && plan.holds_unknown => read_as(self.step.to, node, target),
            Some(None) => Err(Unrepresentable::no_such_method(&method, self.step.to.revision)),
            // A peer of the source's revision doesn't have the method.
            None if plan.only_there.iter().any(|only| *only == method) => {
                Err(Unrepresentable::no_such_method(&method, self.step.from.revision))
            }
            None if plan.holds_unknown => Ok(()),
            None => Err(Unrepresentable::no_such_method(&method, self.step.to.revision)),
        }
    }

    /// Checks a value that is open JSON in the target by the schema of its definition.
    fn described(&mut self, definition: TypeId, node: &Node<'a>) -> Converted {
        if self.state.carries() {
            return Ok(());
        }
        self.step
            .validate(node, self.step.to.types[definition].pointer, AUTOMATIC)
    }

    /// Reads JSON that the source leaves open as a type of the target.
    fn close(&mut self, node: &mut Node<'a>, target: &TypeRef) -> Converted {
        // The source declares no members, but the target does.
        *node = Node::Text(std::mem::replace(node, Node::text("")).into_text());
        read_as(self.step.to, node, target)?;
        self.validate(node, target)
    }

    /// Checks a value by the schemas of the types in it that have one.
    fn validate(&mut self, node: &mut Node<'a>, ty: &TypeRef) -> Converted {
        let table = self.step.to;
        match table.resolve(ty) {
            TypeRef::Named(id) => self.step.validate(node, table.types[*id].pointer, AUTOMATIC)?,
            TypeRef::Nullable(inner) if !node.is_null() => self.validate(node, inner)?,
            TypeRef::List(inner) => {
                for (index, element) in node.elements()?.iter_mut().enumerate() {
                    self.within(Part::Element(index), |run| run.validate(element, inner))?;
                }
            }
            TypeRef::Map(inner) => {
                for entry in node.members()? {
                    self.within(Part::Member(&entry.name), |run| run.validate(&mut entry.value, inner))?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Converts the result of a method, and returns its type in the target. `ty` is its type in the source. `None` is a
    /// kind of result that the revision doesn't declare.
    pub(crate) fn result(
        &mut self,
        role: Role,
        ty: Option<&TypeRef>,
        node: &mut Node<'a>,
    ) -> Converted<Option<TypeRef>> {
        let refused = || Unrepresentable::no_such_result(self.step.to.revision);
        let plan = self.step.results(role).ok_or_else(refused)?;
        let Some(ty) = ty else {
            return plan.holds_unknown.then_some(None).ok_or_else(refused);
        };
        match plan.results.iter().find(|(known, _)| known == ty) {
            Some((_, Some((target, change)))) => {
                self.change(change, node)?;
                self.step.result_in(role, target, node).map(Some)
            }
            _ => Err(refused()),
        }
    }
}

impl Step {
    /// Returns the result that a converted value is: its type in the target, or if this is a union of several results, the
    /// variant.
    fn result_in(&self, role: Role, ty: &TypeRef, node: &Node<'_>) -> Converted<TypeRef> {
        let to = self.to;
        let Some(Kind::Union(union)) = to.kind(ty) else {
            return Ok(ty.clone());
        };
        let results = to.sent_by(role).results.and_then(|name| to.kind(to.named(name)?));
        match results {
            Some(Kind::Results(results)) if !results.variants.contains(ty) => {
                let variant = variant_of(to, ty, node)?.map_or(ty, |at| &union.variants[at].ty);
                Ok(variant.clone())
            }
            _ => Ok(ty.clone()),
        }
    }

    /// Validates a value by a schema of the target.
    pub(super) fn validate(&self, node: &Node<'_>, pointer: &str, rule: &'static str) -> Converted {
        let valid = validate_text(&node.to_text(), pointer, self.to.schema);
        valid.map_err(|invalid| Unrepresentable::invalid(&invalid, rule))
    }

    /// Returns the pointer of the schema by which the converted value of a definition has to be checked. This is needed
    /// if the value is valid in the source, and the target has no separate type for it, such as for a list: types don't
    /// determine then whether the schema accepts it.
    pub(super) fn schema_to_check(&self, (name, next): (&str, &str), node: &Node<'_>) -> Option<String> {
        let (from, to) = (self.from, self.to);
        let has_type = to
            .named(next)
            .is_none_or(|ty| matches!(to.resolve(ty), TypeRef::Named(_)));
        let (source, target) = (from.pointer_of(name)?, to.pointer_of(next)?);
        (!has_type && accepts(node, &source, from.schema)).then_some(target)
    }
}

/// Returns the type of a method's result. `None` for an unknown method, and `Some(None)` for a result with an unknown
/// tag.
pub(crate) fn type_of_result(
    table: &Table,
    union: &TypeRef,
    method: &str,
    result: &mut Reader<'_>,
) -> mcp_wire::Decoded<Option<Option<TypeRef>>> {
    let Some(Kind::Results(union)) = table.kind(union) else {
        return Ok(None);
    };
    let Some(results) = of_method(&union.methods, method) else {
        return Ok(None);
    };
    Ok(Some(choose_result(result, results)?.cloned()))
}

/// Returns the variant of a union that a value is. `None` for an undeclared one.
pub(super) fn variant_of(table: &Table, ty: &TypeRef, node: &Node<'_>) -> Converted<Option<usize>> {
    match (table.kind(ty), node) {
        (Some(Kind::Union(_)), Node::Unknown(_)) => Ok(None),
        (Some(Kind::Union(union)), node) => match tagged(union, node) {
            Some(at) => Ok(Some(at)),
            None => held_by(table, union, &node.to_text()).map_err(Unrepresentable::undecodable),
        },
        _ => Ok(Some(0)),
    }
}

/// Returns the variant of a text: the one that its members indicate, or another one if only the schema of that one
/// accepts the text.
fn held_by(table: &Table, union: &Union, text: &str) -> mcp_wire::Decoded<Option<usize>> {
    let chosen = choose(&mut Reader::new(text), union);
    let is_other = |chosen: &Option<usize>| chosen.is_none_or(|at| union.variants[at].json_type != JsonType::Object);
    if chosen.as_ref().is_ok_and(is_other) || union.objects.as_ref().is_none_or(has_tag) {
        return chosen;
    }
    let holds = |at: &usize| is_valid(table, text, &union.variants[*at].ty);
    let mut others = (0..union.variants.len()).filter(|at| union.variants[*at].json_type == JsonType::Object);
    match chosen {
        Ok(Some(at)) if holds(&at) => Ok(Some(at)),
        chosen => others.find(holds).map_or(chosen, |at| Ok(Some(at))),
    }
}

/// Returns the variant of an opened object by its tag, so that the object needn't be written as text for that.
fn tagged(union: &Union, node: &Node<'_>) -> Option<usize> {
    let (Some(decision), Node::Object(members)) = (&union.objects, node) else {
        return None;
    };
    let Decision::Tag {
        member,
        types: None,
        cases,
        ..
    } = decision
    else {
        return None;
    };
    if !has_tag(decision) {
        return None;
    }
    let tag = members.iter().find(|entry| entry.name == *member)?.value.as_str()?;
    let (_, decision) = cases
        .iter()
        .find(|(values, _)| values.iter().any(|value| *value == tag))?;
    match decision {
        Decision::Is(at) => Some(*at),
        _ => None,
    }
}

/// Returns the method of a message.
pub(crate) fn method_of<'n>(node: &'n Node<'_>) -> Option<Cow<'n, str>> {
    match node {
        Node::Object(members) => members.iter().find(|entry| entry.name == "method")?.value.as_str(),
        Node::Text(text) => Reader::new(text).peek_tag("method").ok()?,
        _ => None,
    }
}

/// Whether the schema of a type accepts a value.
pub(super) fn is_valid(table: &Table, text: &str, ty: &TypeRef) -> bool {
    let pointer = table.schema_pointer(ty);
    pointer.is_none_or(|pointer| accepts_text(text, pointer, table.schema))
}

/// Whether a value is a declared variant of a type.
fn is_declared(table: &Table, text: &str, ty: &TypeRef) -> bool {
    let mut reader = Reader::new(text);
    match table.kind(ty) {
        Some(Kind::Union(union)) => match choose(&mut reader, union) {
            Ok(Some(at)) => check(table, &mut reader, &union.variants[at].ty).is_ok(),
            _ => false,
        },
        _ => check(table, &mut reader, ty).is_ok(),
    }
}

/// Checks that a value is one of a type of the target.
fn read_as(table: &Table, node: &Node<'_>, ty: &TypeRef) -> Converted {
    let text = node.to_text();
    let mut reader = Reader::new(&text);
    check(table, &mut reader, ty).map_err(Unrepresentable::undecodable)
}

/// Whether a schema accepts a value.
pub(crate) fn accepts(node: &Node<'_>, pointer: &str, schema: &Schema) -> bool {
    accepts_text(&node.to_text(), pointer, schema)
}
