//! Values that have another place in the target: in another member, or no longer in one.

use super::members::{Members, is_empty, position};
use super::node::{Entry, Node};
use super::state::Part;
use super::step::{MovePlan, MovesPlan};
use super::value::Run;
use crate::loss::{AUTOMATIC, LossKind};
use crate::tables::rows::PathStep;
use crate::unrepresentable::Converted;

impl<'a> Run<'_> {
    /// Moves values out of a member of the source to their places in the target. If the member is carried, `null` marks
    /// the places in lists that values were taken from.
    pub(super) fn move_out_of(&mut self, plan: &MovesPlan, members: &mut Members<'a>) -> Converted {
        let is_it = |entry: &Entry<'_>| entry.name == plan.name && (entry.declared || plan.constant);
        let Some(at) = members.iter().position(is_it) else {
            return Ok(());
        };
        let mut around = members.remove(at);
        let values = self.moved_values(plan, &mut around.value)?;
        let rest = match plan.rest {
            _ if values.is_empty() => Some(around),
            _ if values.iter().any(|(planned, ..)| planned.from.len() == 1) => None,
            Some(required) => {
                for (planned, ..) in &values {
                    remove(&mut around.value, rest_of(&planned.from));
                }
                (required || !is_empty(&around.value)).then_some(around)
            }
            None => self.left_in(around, values.iter().map(|(planned, ..)| &*planned.from)),
        };
        if plan.rest.is_some() {
            rest.into_iter().for_each(|rest| members.insert(at, rest));
            return self.put_all(values, members);
        }
        self.put_all(values, members)?;
        let Some(rest) = rest else { return Ok(()) };
        if members.iter().any(|entry| entry.name == rest.name) {
            self.state.lose_member(plan.name, LossKind::Dropped, AUTOMATIC);
            return Ok(());
        }
        members.push(rest);
        self.take_out(members.len() - 1, members, plan.name, AUTOMATIC);
        Ok(())
    }

    /// Converts the values that move, and leaves marks in their places.
    fn moved_values<'p>(&mut self, plan: &'p MovesPlan, around: &mut Node<'a>) -> Converted<Vec<Moved<'p, 'a>>> {
        // Members that are opened from text are undeclared, so text without such a value stays text.
        let is_text = plan.rest.is_some() && !matches!(around, Node::Object(_));
        let text = is_text.then(|| around.clone());
        let mut values: Vec<Moved<'p, 'a>> = Vec::new();
        for planned in &plan.moves {
            let rest = rest_of(&planned.from);
            let mut parts = vec![Part::Member(plan.name)];
            let is_value = |value: &Node<'_>| rest.is_empty() || planned.value.holds_null || !value.is_null();
            let Some(place) = at_path(around, rest, &mut parts).filter(|value| is_value(value)) else {
                continue;
            };
            let mut value = std::mem::replace(place, mark());
            // The values that have left it before are nowhere in it.
            for inner in values
                .iter()
                .filter_map(|(inner, ..)| inner.from.strip_prefix(&planned.from[..]))
            {
                remove(&mut value, inner);
            }
            self.within_path(&parts, |run| run.change(&planned.value.change, &mut value))?;
            values.push((planned, value, parts));
        }
        if let Some(text) = text.filter(|_| values.is_empty()) {
            *around = text;
        }
        Ok(values)
    }

    /// Returns a member that the target doesn't have, without the values that were taken out of it at some paths. `None`
    /// if it has no others.
    fn left_in<'p>(
        &mut self,
        mut around: Entry<'a>,
        taken: impl Iterator<Item = &'p [PathStep]> + Clone,
    ) -> Option<Entry<'a>> {
        // What the conversion back would create.
        let mut back = Vec::new();
        for path in taken.clone() {
            put(path, mark(), &mut back);
        }
        if back
            .pop()
            .is_none_or(|back| around.value.is_same_as(&back.value.to_text()))
        {
            return None;
        }
        for path in taken {
            if !self.state.carries() || !PathStep::leads_into_list(path) {
                remove(&mut around.value, rest_of(path));
            }
        }
        if is_empty(&around.value) {
            // The elements of the list are in another order.
            self.state.lose_member(&around.name, LossKind::Replaced, AUTOMATIC);
            return None;
        }
        Some(around)
    }

    /// Puts moved values at their places in the target. Each comes with the parts that led to it in the source.
    fn put_all(&mut self, mut values: Vec<Moved<'_, 'a>>, members: &mut Members<'a>) -> Converted {
        // An object moves before a value is put into it.
        values.sort_by_key(|(planned, ..)| planned.to.len());
        for (planned, value, parts) in values {
            let path = &planned.to;
            let Some(name) = PathStep::first(path) else { continue };
            if path.len() > 1 {
                if PathStep::leads_into_list(path)
                    && let Some(at) = position(members, name, false)
                {
                    self.put_into_undeclared(path, value.clone(), &mut members[at]);
                }
                let around = position(members, name, true).filter(|_| planned.fills);
                if around.is_some_and(|at| is_empty(&members[at].value)) {
                    self.state.lose_member(name, LossKind::Replaced, AUTOMATIC);
                }
            } else if let Some(at) = members.iter().position(|entry| entry.name == name) {
                members.remove(at);
                self.state.lose_member(name, LossKind::Dropped, AUTOMATIC);
            }
            if put(path, value, members).is_none() {
                self.within_path(&parts, |run| {
                    run.state.lose(LossKind::Dropped, AUTOMATIC);
                    Ok(())
                })?;
            }
        }
        Ok(())
    }

    /// Puts a value into an undeclared member with a list, in place of its mark.
    fn put_into_undeclared(&mut self, path: &[PathStep], value: Node<'a>, around: &mut Entry<'a>) {
        if let Some(place) = at_path(&mut around.value, rest_of(path), &mut Vec::new()) {
            if !place.is_null() {
                self.state.lose_member(&around.name, LossKind::Replaced, AUTOMATIC);
            }
            *place = value;
            return;
        }
        put_in(rest_of(path), value, &mut around.value);
    }
}

/// A value that moves, with the parts that lead to it in the source.
type Moved<'p, 'a> = (&'p MovePlan, Node<'a>, Vec<Part<'static>>);

/// Takes the place of a value that was moved.
fn mark() -> Node<'static> {
    Node::text("null")
}

/// Returns the steps of a path in its first member.
fn rest_of(path: &[PathStep]) -> &[PathStep] {
    path.get(1..).unwrap_or_default()
}

/// Puts a value at a path, unless there is one. Missing objects and elements on the path are created. Returns the number
/// of steps to the first member that is new, or `None` if the value wasn't put there.
pub(super) fn put<'a>(path: &[PathStep], value: Node<'a>, members: &mut Members<'a>) -> Option<usize> {
    let [PathStep::Member(name), rest @ ..] = path else {
        return None;
    };
    let known = position(members, name, true);
    if rest.is_empty() {
        if known.is_some() {
            return None;
        }
        members.retain(|entry| entry.name != *name);
        members.push(Entry::declared(*name, value));
        return Some(1);
    }
    let at = known.unwrap_or_else(|| {
        let empty = match rest[0] {
            PathStep::Member(_) => Node::Object(Vec::new()),
            PathStep::Element(_) => Node::Array(Vec::new()),
        };
        members.push(Entry::declared(*name, empty));
        members.len() - 1
    });
    let depth = put_in(rest, value, &mut members[at].value)?;
    Some(known.map_or(1, |_| 1 + depth))
}

/// Does the same in an object or a list.
fn put_in<'a>(path: &[PathStep], value: Node<'a>, around: &mut Node<'a>) -> Option<usize> {
    let (object, path) = match path {
        [PathStep::Element(texts), rest @ ..] => (element_with(around, texts)?, rest),
        path => (around, path),
    };
    let members = object.members().ok()?;
    // The members of an object that was opened from text are undeclared. They count as declared here, unless they are
    // `null`.
    for entry in members.iter_mut().filter(|entry| !entry.value.is_null()) {
        entry.declared = true;
    }
    put(path, value, members)
}

/// Returns the element of a list with these texts, which is created if there is none.
fn element_with<'n, 'a>(list: &'n mut Node<'a>, texts: &[(&'static str, &'static str)]) -> Option<&'n mut Node<'a>> {
    let elements = list.elements().ok()?;
    let known = elements.iter_mut().position(|element| has_texts(element, texts));
    let at = known.unwrap_or_else(|| {
        let members = texts
            .iter()
            .map(|(name, text)| Entry::declared(*name, Node::string(text)));
        elements.push(Node::Object(members.collect()));
        elements.len() - 1
    });
    elements.get_mut(at)
}

/// Whether a value is an object with these texts in these members.
fn has_texts(value: &mut Node<'_>, texts: &[(&str, &str)]) -> bool {
    let Ok(members) = value.members() else { return false };
    texts.iter().all(|(name, text)| {
        let mut members = members.iter();
        members.any(|entry| entry.name == *name && entry.value.as_str().as_deref() == Some(*text))
    })
}

/// Returns the value at a path, and adds the parts that lead to it.
fn at_path<'n, 'a>(
    value: &'n mut Node<'a>,
    path: &[PathStep],
    parts: &mut Vec<Part<'static>>,
) -> Option<&'n mut Node<'a>> {
    let Some((first, rest)) = path.split_first() else {
        return Some(value);
    };
    let depth = parts.len();
    match first {
        PathStep::Member(name) => {
            let mut members = value.members().ok()?.iter_mut();
            parts.push(Part::Member(name));
            at_path(&mut members.find(|entry| entry.name == *name)?.value, rest, parts)
        }
        PathStep::Element(texts) => {
            let mut elements = value.elements().ok()?.iter_mut().enumerate();
            elements.find_map(|(index, element)| {
                parts.truncate(depth);
                parts.push(Part::Element(index));
                has_texts(element, texts).then(|| at_path(element, rest, parts))?
            })
        }
    }
}

/// Removes the value at a path, and the objects and elements on the path that have nothing else then.
fn remove(value: &mut Node<'_>, path: &[PathStep]) -> Option<()> {
    let (first, rest) = path.split_first()?;
    match first {
        PathStep::Member(name) => {
            let members = value.members().ok()?;
            let at = members.iter().position(|entry| entry.name == *name)?;
            if !rest.is_empty() {
                remove(&mut members[at].value, rest)?;
            }
            if rest.is_empty() || is_empty(&members[at].value) {
                members.remove(at);
            }
        }
        PathStep::Element(texts) => {
            let elements = value.elements().ok()?;
            let at = elements
                .iter_mut()
                .position(|element| has_texts(element, texts) && at_path(element, rest, &mut Vec::new()).is_some())?;
            remove(&mut elements[at], rest)?;
            if elements[at].members().ok()?.len() == texts.len() {
                elements.remove(at);
            }
        }
    }
    Some(())
}
