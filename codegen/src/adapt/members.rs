//! Plans the conversion of a member that the target declares.

use mcp_json_schema::pointer;
use mcp_wire::error_code;
use serde_json::{Value, json};

use super::moves::{Move, are_separate};
use super::pairing::{Objects, Pairing};
use super::plan::Conversion;
use super::planner::Planner;
use super::relation::Relation;
use super::rows::{RowAction, refusal};
use super::rules::{Action, Refuse};
use crate::model::{Member, MemberSchema, ModelledRevision, OpenSchema, Struct, TypeRef};

/// The note about a member that the target requires.
pub(crate) const NOTHING_SUPPLIES: &str = "a value without it: the target requires it, and nothing supplies it";

/// The note about a member whose values the target's type can't hold.
pub(crate) const OTHER_TYPE: &str = "any value: the target has another type there";

impl<'m> Planner<'m> {
    /// Plans the member `to` of the target. Returns the name of the source's member, and the row, which is `null` if
    /// the value is converted by its types.
    pub(super) fn plan_member(
        &mut self,
        objects: Objects<'m>,
        to: &'m Member,
        moves: &[Move],
        planned: &mut Conversion,
    ) -> (&'m str, Value) {
        let to_name = objects.to_name;
        let name = self.source_member(objects, &to.name);
        let is_declared = objects.from.declares(name) && !are_separate(moves, name);
        let at = format!("{}.{name}", objects.from_name);
        let rule = self.rule(&at);
        let mut row = self.plan_absence(&at, objects, (name, is_declared, to), moves, rule, planned);
        let Some(source) = objects.from.member(name).filter(|_| is_declared) else {
            if let Some(pointer) = self.pair.unexpected_pointer(to_name, &to.name) {
                row["at"] = json!(pointer);
            }
            self.plan_check(&at, &[], rule, to);
            let constant = objects.from.constant(name).filter(|_| is_declared);
            let constant = constant.and_then(|constant| constant.value.text());
            if let Some(tags) = self.plan_tag(&at, [constant, to.tag.as_deref()]) {
                row["tag"] = tags;
            }
            return (name, row);
        };
        let action = match rule {
            Some((_, Action::Default(_) | Action::DropInvalid(_))) | None => {
                self.plan_member_conversion(&at, objects, (source, to), planned)
            }
            Some(rule) => self.plan_ruled(&at, objects, (source, to), rule),
        };
        let schema = self.pair.to.member_schema(to_name, &to.name);
        // A value that an action sets is validated with the object.
        let is_set = action.as_ref().is_some_and(|(key, _)| *key != "tag");
        // So is open JSON that was in a list, or is in one now.
        let is_element = matches!(action, Some(("wrap" | "unwrap", _)));
        let requires = |schema: &MemberSchema| schema.open.as_ref().is_some_and(|open| *open != OpenSchema::default());
        planned.narrower |= is_element && schema.is_some_and(requires);
        let schema = schema.filter(|schema| !schema.assertions.is_empty());
        planned.narrower |= is_set && schema.is_some();
        if let Some((_, Action::Ensure { list, .. })) = rule {
            planned.narrower |= self.pair.to.may_refuse_added(to_name, list);
        }
        let narrower = self.pair.narrower(objects, source, to);
        let narrower = if is_set { &[] } else { narrower };
        let pair = (source.ty.clone(), to.ty.clone());
        if let Some(check) = self.plan_check(&at, narrower, rule, to) {
            row["check"] = check;
        } else if let Some(schema) = schema.filter(|_| action.is_none()) {
            let check = json!({"at": schema.pointers, "drop": null});
            planned.unchecked_members.push((to.name.clone(), pair.clone(), check));
        }
        let declared = self.pair.newly_declared(objects, source, to);
        if let Some(declared) = declared.filter(|declared| action.is_none() && !declared.is_empty()) {
            row["declared"] = json!(declared);
        }
        planned.lossy |= action.is_some() || row.get("check").is_some() || row.get("declared").is_some();
        planned.parts.push(pair);
        if let Some((key, json)) = action {
            row[key] = json;
        }
        (name, row)
    }

    /// Plans what a member of the target has if the source lacks it: a default, the value that its absence implies, or one
    /// that is supplied.
    fn plan_absence(
        &mut self,
        at: &str,
        objects: Objects<'m>,
        (name, is_declared, to): (&str, bool, &Member),
        moves: &[Move],
        rule: Option<(usize, &Action)>,
        planned: &mut Conversion,
    ) -> Value {
        let Objects { from, to_name, .. } = objects;
        let mut row = Value::Null;
        let source = from.member(name).filter(|_| is_declared);
        let constant = from.constant(name).filter(|_| is_declared);
        let is_required = source.is_some_and(|source| source.required);
        let always_present = is_required || constant.is_some_and(|constant| constant.required);
        match rule {
            Some((index, Action::Default(value))) => {
                if !to.required || is_required {
                    let what = "a default is for a member that the target requires and the source may lack";
                    self.wrong_rule(index, what);
                }
                row["default"] = self.plan_default(at, "default", (index, value), (to_name, to));
            }
            Some((index, _)) if !is_declared => {
                self.wrong_rule(index, format!("the source declares no member `{}`", to.name));
            }
            _ => {}
        }
        if !is_declared {
            // The rules of such a member are at its place in the target.
            let place = format!("{to_name}.{}", to.name);
            if let Some((index, key)) = self.find(&place, |rule| rule.supplied.as_ref()) {
                self.ruled(at, "supplied", index);
                row["supplied"] = json!(key);
            }
            let implied = self.implied(self.pair.to, &place, to);
            let has_none = row.get("default").or(row.get("supplied")).is_none();
            let is_moved = moves.iter().any(|it| it.becomes(&to.name));
            if let Some(implied) = implied.filter(|_| to.required && !to.recursive && has_none) {
                // On the way back, a value that moves would be set where the source has none. And a value that can be read
                // as another variant may not have been this one.
                let is_other = is_moved || self.pair.from.model.is_ambiguous(objects.from_name);
                let key = if is_other { "default" } else { "implied" };
                row[key] = match implied {
                    (Some(rule), value) => self.plan_default(at, "implied", (rule, &value), (to_name, to)),
                    (None, value) => self.plan_automatic_default(at, &value),
                };
            }
        } else if to.required && !always_present && row.get("default").is_none() {
            let may_be_null = source.is_some_and(|source| self.pair.from.is_nullable(&source.ty));
            let null = self.pair.to.is_nullable(&to.ty).then_some(Value::Null);
            let key = if to.tag.is_some() || may_be_null {
                "default"
            } else {
                "implied"
            };
            if let Some(value) = to.tag.as_deref().map(Value::from).or(null) {
                row[key] = self.plan_automatic_default(at, &value);
                planned.adds_members = true;
            }
        }
        let has = |key| row.get(key).is_some();
        let is_missing = to.required && !always_present && !has("default") && !has("implied");
        let is_filled = source.is_some_and(|source| self.pair.is_filled(self.pair.from, source, self.pair.to, to));
        if is_missing && !has("supplied") && !is_filled && !self.pair.is_always_moved(objects, &to.name) {
            self.refused(at, NOTHING_SUPPLIES);
        }
        planned.lossy |= is_missing || has("default");
        row
    }

    /// Returns the value of a member that means the same as its absence in the other revision, and the rule that has it.
    /// Without a rule for its type, the value is the one that distinguishes the object from others, or `null`.
    pub(super) fn implied(
        &mut self,
        side: &ModelledRevision,
        place: &str,
        member: &Member,
    ) -> Option<(Option<usize>, Value)> {
        let rule = self.find(place, |rule| rule.implied.as_ref());
        match (rule, member.tag.as_deref()) {
            (Some((rule, value)), tag)
                if self.pair.rules.rules[rule].at == place || tag.is_none_or(|tag| value == tag) =>
            {
                Some((Some(rule), value.clone()))
            }
            (_, Some(tag)) => Some((None, json!(tag))),
            _ => side.is_nullable(&member.ty).then_some((None, Value::Null)),
        }
    }

    /// Plans the value that distinguishes an object, or `null`, if the source has none.
    fn plan_automatic_default(&mut self, at: &str, value: &Value) -> Value {
        self.automatic(at, &format!("`{value}`, if the source has none"));
        json!({"json": value.to_string(), "rule": "automatic"})
    }

    /// Plans the value of an absent member, from a `default` rule or an `implied` value.
    fn plan_default(
        &mut self,
        at: &str,
        word: &str,
        (index, value): (usize, &Value),
        (to_name, to): (&str, &Member),
    ) -> Value {
        let checked = self.pair.can_hold(None, value, &to.ty);
        let checked = checked.and_then(|()| self.pair.accepts(value, to_name, &to.name));
        self.check_arguments(index, checked);
        self.ruled(at, word, index);
        json!({"json": value.to_string(), "rule": self.pair.rule_name(index)})
    }

    /// Plans the check of a value by the target's schema at `narrower`.
    fn plan_check(
        &mut self,
        at: &str,
        narrower: &[String],
        rule: Option<(usize, &Action)>,
        to: &Member,
    ) -> Option<Value> {
        let drop = match rule {
            Some((index, Action::DropInvalid(_))) => {
                if narrower.is_empty() || to.required {
                    let what = "`drop-invalid` is for an optional member that the target narrows";
                    self.wrong_rule(index, what);
                }
                self.ruled(at, "drop-invalid", index);
                Some(self.pair.rule_name(index))
            }
            _ => None,
        };
        if !narrower.is_empty() && drop.is_none() {
            self.refused_by_schema(at);
        }
        (!narrower.is_empty()).then(|| json!({"at": narrower, "drop": drop}))
    }

    /// Plans what happens to the value of a member beyond what its types imply.
    fn plan_member_conversion(
        &mut self,
        at: &str,
        objects: Objects<'m>,
        (from, to): (&Member, &Member),
        planned: &mut Conversion,
    ) -> Option<RowAction> {
        if let Some(variants) = self.plan_scoped(at, &from.ty, &to.ty) {
            return Some(("variants", json!(variants)));
        }
        if let Some(enclosing) = self.pair.enclosing(objects, [&from.name, &to.name]) {
            return Some(self.plan_elements(at, objects, [from, to], enclosing, planned));
        }
        let relation = self.relate_at(at, &from.ty, &to.ty);
        if relation == Relation::Converts {
            self.note_null(at, from, to);
        }
        if relation != Relation::Impossible
            && let Some(tags) = self.plan_tag(at, [&from.tag, &to.tag].map(Option::as_deref))
        {
            return Some(("tag", tags));
        }
        match relation {
            Relation::Converts if self.pair.is_filled(self.pair.from, from, self.pair.to, to) => {
                Some(("fill", json!(true)))
            }
            Relation::Converts if self.pair.is_filled(self.pair.to, to, self.pair.from, from) => {
                Some(("empty", json!(true)))
            }
            Relation::Same | Relation::Converts => None,
            Relation::Impossible => self.plan_list(at, objects, (from, to)).or_else(|| {
                self.refused(at, OTHER_TYPE);
                let target = &self.pair.to.model.revision;
                let refuse = Refuse {
                    code: error_code::INVALID_PARAMS,
                    because: format!("revision {target} has another type there"),
                };
                Some(("refuse", refusal(&refuse, "automatic")))
            }),
        }
    }

    /// Plans a value that becomes the only element of a list, or the other way round. `None` if neither type is a list
    /// of what the other can be converted to, and in an object that can be read as another variant of a union: the value
    /// would be converted on the way back, even if it wasn't before.
    fn plan_list(&mut self, at: &str, objects: Objects<'m>, (from, to): (&Member, &Member)) -> Option<RowAction> {
        if self.pair.from.model.is_ambiguous(objects.from_name) || self.pair.to.model.is_ambiguous(objects.to_name) {
            return None;
        }
        let (action, (source, target)) = self.pair.only_element(&from.ty, &to.ty)?;
        if self.relate_at(at, &source, &target) == Relation::Impossible {
            return None;
        }
        self.note_null(at, from, to);
        match action {
            "wrap" => self.automatic(at, "the value becomes the only element of a list"),
            _ if to.required => self.refused(at, "a list that doesn't have exactly one element"),
            _ => {
                self.automatic(
                    at,
                    "an empty list dropped, or refused if undeclared members are carried",
                );
                self.refused(at, "a list of several elements");
            }
        }
        Some((action, json!(true)))
    }

    /// Notes for the report what happens to `null` if only the source allows it.
    fn note_null(&mut self, at: &str, from: &Member, to: &Member) {
        let is_nullable = self.pair.from.is_nullable(&from.ty);
        match self.pair.to.model.resolve(&to.ty) {
            TypeRef::Nullable(_) | TypeRef::Any => {}
            _ if is_nullable && to.required => self.refused(at, "null: the target allows none there"),
            _ if is_nullable && from.required => self.automatic(at, "null becomes the absence of the member"),
            _ if is_nullable => self.automatic(at, "null dropped, or refused if undeclared members are carried"),
            _ => {}
        }
    }

    /// Plans what a rule does with the value of a member that both revisions declare.
    fn plan_ruled(
        &mut self,
        at: &str,
        objects: Objects<'m>,
        (from, to): (&Member, &Member),
        (index, action): (usize, &Action),
    ) -> Option<RowAction> {
        let relation = self.relate(&from.ty, &to.ty);
        if let (Action::Join { .. }, Some((_, (element, to)))) = (action, self.pair.only_element(&from.ty, &to.ty)) {
            self.relate(&element, &to);
        }
        // `hide` is also for values that could be converted.
        if !matches!(action, Action::Hide(_)) {
            match relation {
                Relation::Same => {
                    let what = "the member is the same in both revisions, and is moved automatically";
                    self.wrong_rule(index, what);
                }
                Relation::Converts => self.covered.push((index, (from.ty.clone(), to.ty.clone()))),
                Relation::Impossible => {}
            }
        }
        self.ruled(at, &action.word(), index);
        let checked = match action {
            Action::Ensure { list, item } => self.pair.can_ensure(&from.ty, (list, item), objects.to),
            Action::OmitUnlessIn(member) => self.pair.can_omit(objects.from_name, from, to, member),
            Action::Hide(conditions) => self.pair.can_hide(from, to, conditions),
            Action::SplitBy(member) => self.pair.can_split(from, to, member),
            Action::Join { when, text, item, .. } => self.pair.can_join(from, to, (when, text, item)),
            Action::Without { members, or_drop } => self.pair.can_do_without(from, to, (members, or_drop.as_ref())),
            _ => Ok(()),
        };
        self.check_arguments(index, checked);
        let is_possible = match action {
            Action::Ensure { .. } => relation == Relation::Converts && !to.required && !from.recursive && !to.recursive,
            Action::Drop(_) => !to.required,
            Action::Copy(_) => false,
            _ => true,
        };
        let action_of_row = action.row(&self.pair.rule_name(index)).filter(|_| is_possible);
        if action_of_row.is_none() {
            self.wrong_action(index, action, "a member that both revisions declare");
        }
        action_of_row
    }
}

impl<'m> Pairing<'m> {
    /// Returns the pointer of the schema of a member, if that isn't in `properties` of the type's schema.
    fn unexpected_pointer(&self, ty: &str, member: &str) -> Option<Option<&'m String>> {
        let schema = self.to.member_schema(ty, member);
        let found = schema.and_then(|schema| schema.pointers.first());
        let properties = pointer::child(&self.to.model.types.get(ty)?.pointer, "properties");
        (found != Some(&pointer::child(&properties, member))).then_some(found)
    }

    /// Whether `member` is an optional object that the other side requires, and all its required members are supplied
    /// there.
    fn is_filled(&self, side: &ModelledRevision, member: &Member, other: &ModelledRevision, required: &Member) -> bool {
        let may_be_empty = |object: &Struct| {
            let mut constants = object.constants.iter();
            object.required().next().is_none() && !constants.any(|constant| constant.required)
        };
        required.required
            && !member.required
            && !required.recursive
            && !member.recursive
            && side.model.struct_of(&member.ty).is_some_and(may_be_empty)
            && self.is_supplied(other, &required.ty, 0)
    }

    /// Returns the pointers of the target's schemas of a member if these are narrower than the source's.
    ///
    /// Compares the assertions about the member and the elements of its lists and maps, and for open JSON all
    /// assertions. Types that the member refers to are compared separately.
    fn narrower(&self, objects: Objects<'_>, from: &Member, to: &Member) -> &'m [String] {
        let source = self.from.member_schema(objects.from_name, &from.name);
        let open = || self.from.open_schema(objects.from_name, &from.name);
        let target = self.to.member_schema(objects.to_name, &to.name).filter(|target| {
            let is_implied = |target| open().is_some_and(|source| source.implies(target));
            !target.assertions.follow_from(source.map(|source| &source.assertions))
                || !target.open.as_ref().is_none_or(is_implied)
        });
        target.map_or(&[], |target| &target.pointers)
    }

    /// Returns the members that only the target's schema declares, or that it narrows, in an object whose type is open,
    /// each with its pointer.
    fn newly_declared(
        &self,
        objects: Objects<'_>,
        from: &Member,
        to: &Member,
    ) -> Option<Vec<(&'m String, &'m String)>> {
        let target = self.to.member_schema(objects.to_name, &to.name);
        let target = target.filter(|_| *self.to.model.resolve(&to.ty) == TypeRef::RawObject)?;
        let source = self.from.open_schema(objects.from_name, &from.name)?;
        let declared = target.declared().filter(|(_, member)| !member.required);
        let added = declared.filter(|(name, member)| !source.implies_declared(name, member));
        let places = added.flat_map(|(name, member)| member.pointers.iter().map(move |pointer| (name, pointer)));
        Some(places.collect())
    }
}
