//! Checks of members by the schema of the target, where it is stricter than its types.

use mcp_wire::{Reader, Schema, accepts_text, validate_text};

use super::check::check;
use super::members::Members;
use super::node::{Entry, Node};
use super::step::{Adopted, MemberPlan, MemberSource, Narrower};
use super::value::{Run, accepts};
use crate::loss::{AUTOMATIC, LossKind};
use crate::unrepresentable::{Converted, Unrepresentable};

/// The members of the envelope of messages.
pub(super) const ENVELOPE: [&str; 2] = ["jsonrpc", "id"];

impl<'a> Run<'_> {
    /// Checks the value of a member. An invalid one is dropped or refused.
    pub(super) fn check_member(&mut self, plan: &MemberPlan, members: &mut Members<'a>, at: usize) -> Converted {
        if plan.has_no_check() || plan.accepts(&members[at].value.to_text(), self.step.to.schema) {
            return Ok(());
        }
        self.declare(plan, &mut members[at].value)?;
        let Some(check) = &plan.check else { return Ok(()) };
        let mut pointers = check.pointers.iter();
        let valid = pointers.try_for_each(|pointer| self.step.validate(&members[at].value, pointer, AUTOMATIC));
        match (valid, check.drop) {
            (Ok(()), _) => {}
            (Err(_), Some(_)) if self.state.carries() => {}
            (Err(_), Some(rule)) => {
                members.remove(at);
                self.state.lose_member(plan.source_name(), LossKind::Dropped, rule);
            }
            (Err(refused), None) => return Err(refused.within_member(plan.source_name())),
        }
        Ok(())
    }

    /// Checks a value by the schema of the target, which is stricter than its types.
    pub(super) fn check_narrower(&self, narrower: Narrower, node: &Node<'a>) -> Converted {
        let is_of_envelope = |entry: &&Entry<'_>| ENVELOPE.contains(&&*entry.name);
        match node {
            Node::Object(members) if narrower.is_message => {
                let members = members.iter().filter(|entry| !is_of_envelope(entry)).cloned();
                self.step
                    .validate(&Node::Object(members.collect()), narrower.pointer, AUTOMATIC)
            }
            _ => self.step.validate(node, narrower.pointer, AUTOMATIC),
        }
    }

    /// Removes from an open object the members that only the target declares, if their values are invalid there.
    fn declare(&mut self, plan: &MemberPlan, value: &mut Node<'a>) -> Converted {
        if plan.declared.is_empty() || self.state.carries() {
            return Ok(());
        }
        let schema = self.step.to.schema;
        let members = value.members()?;
        for (name, pointer) in &plan.declared {
            let invalid = |entry: &Entry<'_>| entry.name == *name && !accepts(&entry.value, pointer, schema);
            if members.iter().any(invalid) {
                members.retain(|entry| !invalid(entry));
                self.state
                    .lose_within(&[plan.source_name(), name], LossKind::Dropped, AUTOMATIC);
            }
        }
        Ok(())
    }

    /// Checks an undeclared value of the source as a member of the target.
    pub(super) fn check_adopted(&self, adopted: &Adopted, json: &str) -> Converted {
        let mut checked = Ok(());
        adopted.accepted.or_check(json, || {
            checked = self.validate_adopted(adopted, json);
            checked.is_ok()
        });
        checked
    }

    fn validate_adopted(&self, adopted: &Adopted, json: &str) -> Converted {
        let table = self.step.to;
        let read = check(table, &mut Reader::new(json), &adopted.ty);
        read.map_err(|error| Unrepresentable::by_rule(&error, AUTOMATIC))?;
        let Some(pointer) = adopted.pointer else { return Ok(()) };
        let valid = validate_text(json, pointer, table.schema);
        valid.map_err(|invalid| Unrepresentable::invalid(&invalid, AUTOMATIC))
    }
}

impl MemberPlan {
    /// Returns the name of the member in the source, by which losses and errors refer to it.
    pub(super) fn source_name(&self) -> &'static str {
        match self.source {
            MemberSource::Shared(name, _) => name,
            MemberSource::Adopted(_) => self.name,
        }
    }

    /// Whether the target accepts every value of the source.
    pub(super) fn has_no_check(&self) -> bool {
        self.declared.is_empty() && self.check.is_none()
    }

    /// Whether a value is valid in the target, including the members in it that only the target declares.
    pub(super) fn accepts(&self, text: &str, schema: &Schema) -> bool {
        self.accepted.or_check(text, || {
            let mut pointers = self.check.iter().flat_map(|check| &check.pointers);
            let accepts = pointers.all(|pointer| accepts_text(text, pointer, schema));
            accepts && accepts_declared(&self.declared, text, schema)
        })
    }
}

/// Whether the members of an object are accepted by the schemas that are declared for them.
fn accepts_declared(declared: &[(&str, &str)], object: &str, schema: &Schema) -> bool {
    if declared.is_empty() {
        return true;
    }
    let mut accepts = true;
    let read = Reader::new(object).members(|reader, name| {
        let member = reader.raw()?;
        let mut pointers = declared.iter().filter(|(declared, _)| name == *declared);
        accepts &= pointers.all(|(_, pointer)| accepts_text(member, pointer, schema));
        Ok(())
    });
    accepts && read.is_ok()
}
