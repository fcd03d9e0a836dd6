//! Plans lists whose elements are members of objects in one of the two revisions.

use serde_json::json;

use super::pairing::Objects;
use super::path::Step;
use super::plan::Conversion;
use super::planner::Planner;
use super::relation::Relation;
use super::rows::RowAction;
use super::template_check::require;
use crate::model::{Member, ModelledRevision, TypeRef};

impl<'m> Planner<'m> {
    /// Plans a list by a rule that puts its elements into this member of objects, in the target or in the source.
    pub(super) fn plan_elements(
        &mut self,
        at: &str,
        objects: Objects<'m>,
        lists: [&Member; 2],
        (rule, (member, in_target)): (usize, (&str, bool)),
        planned: &mut Conversion,
    ) -> RowAction {
        self.ruled(at, "renamed", rule);
        let models = [&self.pair.from.model, &self.pair.to.model];
        // The elements would also be converted on the way back if they weren't before.
        let is_ambiguous = models[0].is_ambiguous(objects.from_name) || models[1].is_ambiguous(objects.to_name);
        let checked = require(!is_ambiguous, "the object can be read as another variant of a union");
        let checked = checked.and_then(|()| self.check_elements(at, lists, (member, in_target), planned));
        self.check_arguments(rule, checked);
        let key = if in_target { "enclose" } else { "extract" };
        (key, json!(member))
    }

    fn check_elements(
        &mut self,
        at: &str,
        lists: [&Member; 2],
        (member, in_target): (&str, bool),
        planned: &mut Conversion,
    ) -> Result<(), String> {
        let sides = [self.pair.from, self.pair.to];
        let element = |side: usize| sides[side].element(&lists[side].ty);
        let [source, target] = [element(0)?, element(1)?];
        let (side, around) = match in_target {
            true => (sides[1], target),
            false => (sides[0], source),
        };
        let name = side.model.resolve(around).to_string();
        let object = side.model.struct_of(around);
        let object = object.ok_or_else(|| format!("{name} isn't an object with declared members"))?;
        let inner = object.member(member);
        let inner = inner.ok_or_else(|| format!("{name} has no member `{member}`"))?;
        let place = format!("{at}[].{member}");
        let relation = match in_target {
            true => self.relate_at(&place, source, &inner.ty),
            false => self.relate_at(&place, &inner.ty, target),
        };
        require(
            relation != Relation::Impossible,
            format!("`{member}` of {name} has another type"),
        )?;
        if in_target {
            let other = object.required().find(|other| *other != member);
            require(
                other.is_none(),
                format!("{name} requires other members than `{member}`"),
            )?;
            planned.narrower |= side.asserts_at(&name, &[Step::Member(member.to_owned())]);
            return Ok(());
        }
        if !inner.required {
            self.refused(at, &format!("an element without `{member}`"));
        }
        if object.members.len() > 1 {
            self.automatic(at, &format!("members of the elements dropped, except `{member}`"));
        }
        Ok(())
    }
}

impl ModelledRevision {
    fn element<'t>(&'t self, list: &'t TypeRef) -> Result<&'t TypeRef, String> {
        match self.model.resolve(list) {
            TypeRef::List(element) => Ok(element),
            _ => Err(format!("it isn't a list in {}", self.model.revision)),
        }
    }
}
