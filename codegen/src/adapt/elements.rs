//! Plans lists and maps whose elements are members of objects in one of the two revisions.

use serde_json::json;

use super::pairing::Objects;
use super::path::{InElements, Step};
use super::plan::Conversion;
use super::planner::Planner;
use super::relation::Relation;
use super::rows::RowAction;
use super::template_check::require;
use crate::model::{Member, TypeRef};

impl<'m> Planner<'m> {
    /// Plans a list or map by a rule that puts its elements into objects, in the target or in the source.
    pub(super) fn plan_elements(
        &mut self,
        at: &str,
        objects: Objects<'m>,
        members: [&Member; 2],
        (rule, (path, in_target)): (usize, (InElements<'_>, bool)),
        planned: &mut Conversion,
    ) -> RowAction {
        self.ruled(at, "renamed", rule);
        let models = [&self.pair.from.model, &self.pair.to.model];
        // The elements would also be converted on the way back if they weren't before.
        let is_ambiguous = models[0].is_ambiguous(objects.from_name) || models[1].is_ambiguous(objects.to_name);
        let checked = require(!is_ambiguous, "the object can be read as another variant of a union");
        let checked = checked.and_then(|()| self.check_elements(at, members, (path, in_target), planned));
        self.check_arguments(rule, checked);
        let action = if in_target { "enclose" } else { "extract" };
        let mut row = json!({"member": path.member});
        if let Some(key) = path.key {
            row["key"] = json!(key);
        }
        (action, row)
    }

    fn check_elements(
        &mut self,
        at: &str,
        members: [&Member; 2],
        (path, in_target): (InElements<'_>, bool),
        planned: &mut Conversion,
    ) -> Result<(), String> {
        let sides = [self.pair.from, self.pair.to];
        let element = |side: usize| {
            let model = &sides[side].model;
            match model.resolve(&members[side].ty) {
                TypeRef::List(element) => Ok(((**element).clone(), false)),
                TypeRef::Map(element) => Ok(((**element).clone(), true)),
                TypeRef::RawObject => Ok((TypeRef::Any, true)),
                _ => Err(format!("it is neither a list nor a map in {}", model.revision)),
            }
        };
        let [(source, was_map), (target, is_map)] = [element(0)?, element(1)?];
        let fits = match path.key {
            Some(_) => was_map == in_target && is_map != in_target,
            None => was_map == is_map,
        };
        let what = "a path with a key is for a map and a list, and one without is for two lists or two maps";
        require(fits, what)?;
        let (side, around) = match in_target {
            true => (sides[1], &target),
            false => (sides[0], &source),
        };
        let name = side.model.resolve(around).to_string();
        let object = side.model.struct_of(around);
        let object = object.ok_or_else(|| format!("{name} isn't an object with declared members"))?;
        let member = |member: &str| {
            let found = object.member(member);
            found.ok_or_else(|| format!("{name} has no member `{member}`"))
        };
        let inner = member(path.member)?;
        let key = path.key.map(member).transpose()?;
        let is_text = |key: &Member| *side.model.resolve(&key.ty) == TypeRef::String;
        require(key.is_none_or(is_text), format!("the key in {name} isn't a text"))?;
        let place = format!("{at}[].{}", path.member);
        let relation = match in_target {
            true => self.relate_at(&place, &source, &inner.ty),
            false => self.relate_at(&place, &inner.ty, &target),
        };
        let what = format!("`{}` of {name} has another type", path.member);
        require(relation != Relation::Impossible, what)?;
        let is_other = |other: &str| other != path.member && Some(other) != path.key;
        if in_target {
            let what = format!("{name} requires other members than `{}`", path.member);
            require(!object.required().any(|other| is_other(other)), what)?;
            let mut members = [Some(path.member), path.key].into_iter().flatten();
            planned.narrower |= members.any(|member| side.asserts_at(&name, &[Step::Member(member.to_owned())]));
            return Ok(());
        }
        for lacking in [Some(inner), key]
            .into_iter()
            .flatten()
            .filter(|member| !member.required)
        {
            self.refused(at, &format!("an element without `{}`", lacking.name));
        }
        if path.key.is_some() {
            self.refused(at, "elements with the same key");
            self.automatic(at, "the order of several elements is lost");
        }
        if object.members.iter().any(|member| is_other(&member.name)) {
            self.automatic(
                at,
                &format!("members of the elements dropped, except `{}`", path.member),
            );
        }
        Ok(())
    }
}
