//! Changes of definitions, the members of objects, and values.

use std::collections::{BTreeMap, BTreeSet};

use super::change::{Change, ChangeKind, Compatibility, Subject, list};
use super::pair::{Difference, Leaf, Pair, leaves};
use super::place::name_of;
use crate::model::{Assertions, DeclaredMember, Model, Struct, Type, TypeKind, TypeRef};
use crate::normalise::Scalar;

pub(super) fn changes(pair: &Pair<'_>) -> Vec<Change> {
    let mut changes = definitions(pair);
    for (before, after) in pair.types() {
        let matched = Matched {
            pair,
            rust_names: [before, after],
            // A pair has the names of types of both models.
            earlier: &pair.earlier.types[before],
            later: &pair.later.types[after],
        };
        changes.extend(matched.changes());
    }
    changes
}

/// Returns the definitions that are new, gone or renamed.
fn definitions(pair: &Pair<'_>) -> Vec<Change> {
    let (earlier, later) = (&pair.earlier.definitions, &pair.later.definitions);
    let official = |model: &Model, name: &str| {
        let ty = model.types.get(name).filter(|ty| ty.official)?;
        Some(ty.documented_as.clone())
    };
    let renamed = pair.types().filter_map(|(before, after)| {
        let names = official(pair.earlier, before).zip(official(pair.later, after))?;
        (names.0 != names.1).then_some(names)
    });
    let renamed: BTreeMap<String, String> = renamed.collect();
    let targets: BTreeSet<&String> = renamed.values().collect();
    let change = |name: &str, what, compatibility| Change::new(Subject::Definition, name, what, compatibility);
    let pointer = |model: &Model, name: &str| Some(model.definitions.get(name)?.pointer.clone());
    let is_new = |name: &&String| !earlier.contains_key(*name) && !targets.contains(name);
    let added = later.keys().filter(is_new).map(|name| {
        let added = change(name, ChangeKind::Added, Compatibility::Additive);
        added.at(None, pointer(pair.later, name))
    });
    let is_gone = |name: &&String| !later.contains_key(*name) && !renamed.contains_key(*name);
    let removed = earlier.keys().filter(is_gone).map(|name| {
        let removed = change(name, ChangeKind::Removed, Compatibility::Cosmetic);
        removed.at(pointer(pair.earlier, name), None)
    });
    let moved = renamed.iter().map(|(before, after)| {
        change(after, ChangeKind::Renamed, Compatibility::Cosmetic)
            .at(pointer(pair.earlier, before), pointer(pair.later, after))
            .values(Some(before.clone()), Some(after.clone()))
    });
    added.chain(removed).chain(moved).collect()
}

/// A type of both revisions.
struct Matched<'p, 'm> {
    pair: &'p Pair<'m>,
    rust_names: [&'m str; 2],
    earlier: &'m Type,
    later: &'m Type,
}

/// A member or a constant.
struct Field<'m> {
    required: bool,
    leaves: Vec<Leaf>,
    /// `None` for a constant.
    ty: Option<&'m TypeRef>,
}

impl<'m> Matched<'_, 'm> {
    fn changes(&self) -> Vec<Change> {
        let mut changes = match (&self.earlier.kind, &self.later.kind) {
            (TypeKind::Struct(before), TypeKind::Struct(after)) => self.members(before, after),
            (TypeKind::Strings(before), TypeKind::Strings(after)) => {
                self.enumeration(&before.values, &after.values).into_iter().collect()
            }
            // A union without a name is compared at each place where it is used.
            (TypeKind::Union(_), TypeKind::Union(_)) if self.earlier.official && self.later.official => {
                let [before, after] = self.rust_names.map(|name| TypeRef::Named(name.to_owned()));
                let (before, after) = (leaves(self.pair.earlier, &before), leaves(self.pair.later, &after));
                let values = self.pair.compare(&before, &after);
                self.loosened_or_tightened(None, values).into_iter().collect()
            }
            _ => Vec::new(),
        };
        changes.extend(self.assertions(None, &self.earlier.schema.assertions, &self.later.schema.assertions));
        changes
    }

    fn change(&self, member: Option<&str>, what: ChangeKind, compatibility: Compatibility) -> Change {
        let member = |text: String, sign: &str| member.map_or(text.clone(), |member| format!("{text}{sign}{member}"));
        let at = |ty: &Type| Some(member(ty.pointer.clone(), "/properties/"));
        let (earlier, later) = match what {
            ChangeKind::Added => (None, at(self.later)),
            ChangeKind::Removed => (at(self.earlier), None),
            _ => (at(self.earlier), at(self.later)),
        };
        Change::new(Subject::Type, member(name_of(self.later), "."), what, compatibility)
            .at(earlier, later)
            .planned_as(self.rust_names.map(|name| member(name.to_owned(), ".")))
    }

    fn loosened_or_tightened(&self, member: Option<&str>, values: Difference) -> Option<Change> {
        let (what, compatibility) = values.kind()?;
        let change = self.change(member, what, compatibility);
        Some(change.values(list(&values.removed), list(&values.added)))
    }

    fn enumeration(&self, before: &[String], after: &[String]) -> Option<Change> {
        let leaves = |values: &[String]| -> Vec<_> {
            let texts = values.iter().cloned().map(Scalar::String);
            texts.map(Leaf::One).collect()
        };
        let mut change = self.loosened_or_tightened(None, self.pair.compare(&leaves(before), &leaves(after)))?;
        if !self.earlier.schema.enumeration && !self.later.schema.enumeration {
            // Any other value was valid, and still is.
            change.compatibility = Compatibility::Additive;
        }
        Some(change)
    }

    fn members(&self, before: &'m Struct, after: &'m Struct) -> Vec<Change> {
        let (before, after) = (fields(self.pair.earlier, before), fields(self.pair.later, after));
        let mut found = self.fields("", &before, &after);
        let others = || vec!["other members".to_owned()];
        let (removed, added) = match (self.earlier.schema.closed, self.later.schema.closed) {
            (false, true) => (others(), Vec::new()),
            (true, false) => (Vec::new(), others()),
            _ => return found,
        };
        found.extend(self.loosened_or_tightened(None, Difference { removed, added }));
        found
    }

    /// Returns the changes of members. `object` is the member whose object they are in, or empty.
    fn fields(&self, object: &str, before: &Fields<'m>, after: &Fields<'m>) -> Vec<Change> {
        let names: BTreeSet<&str> = before.keys().chain(after.keys()).copied().collect();
        let found = names.into_iter().flat_map(|name| {
            let place = if object.is_empty() {
                name.to_owned()
            } else {
                format!("{object}.{name}")
            };
            let (before, after) = (before.get(name), after.get(name));
            let [was, is] = [before, after].map(|field| field.map(|field| field.required));
            let mut changes = Vec::new();
            if let Some((what, compatibility)) = ChangeKind::of_member(was, is) {
                let required = (was.is_none() && is == Some(true)).then(|| "required".to_owned());
                changes.push(self.change(Some(&place), what, compatibility).values(None, required));
            }
            if let (Some(before), Some(after)) = (before, after) {
                changes.extend(self.value(name, before, after));
                changes.extend(self.beyond_the_type(name, before, after));
            }
            changes
        });
        found.collect()
    }

    /// Returns the values of a member that only one of the revisions has, as changes.
    fn value(&self, name: &str, before: &Field<'m>, after: &Field<'m>) -> Vec<Change> {
        // A named type is a definition, whose changes are listed there.
        let object = |model: &'m Model, field: &Field<'m>| {
            let name = field.ty.and_then(TypeRef::named)?;
            let object = field.ty.and_then(|ty| model.struct_of(ty));
            object.filter(|_| !model.is_official(name))
        };
        let nothing = BTreeMap::new();
        let parts = match (object(self.pair.earlier, before), object(self.pair.later, after)) {
            (None, Some(object)) if before.is_open() => self.fields(name, &nothing, &fields(self.pair.later, object)),
            (Some(object), None) if after.is_open() => self.fields(name, &fields(self.pair.earlier, object), &nothing),
            _ => Vec::new(),
        };
        let named = || [before.ty, after.ty].into_iter().flatten().filter_map(|ty| ty.named());
        let parts = parts.into_iter().map(|part| {
            let inner = part.name.rsplit('.').next().unwrap_or_default().to_owned();
            let part = part.planned_as(named().map(|name| format!("{name}.{inner}")));
            part.planned_as(self.rust_names.map(|ty| format!("{ty}.{name}")))
        });
        let parts: Vec<Change> = parts.collect();
        let types = before.ty.zip(after.ty);
        if types.is_some_and(|(before, after)| self.pair.are_same_union(before, after)) {
            return parts;
        }
        let values = self.pair.compare(&before.leaves, &after.leaves);
        let change = self.loosened_or_tightened(Some(name), values);
        let change = change.map(|change| change.planned_as(named().map(str::to_owned)));
        parts.into_iter().chain(change).collect()
    }

    /// Returns the bounds of a value, or of one of its members, that are new or gone.
    fn assertions(&self, member: Option<&str>, before: &Assertions, after: &Assertions) -> Option<Change> {
        let bounds = |own: &Assertions, other: &Assertions| {
            let own = own.here.difference(&other.here);
            let bounds: Vec<String> = own.map(|(keyword, bound)| format!("{keyword} {bound}")).collect();
            list(&bounds)
        };
        let (before_only, after_only) = (bounds(before, after), bounds(after, before));
        let (what, compatibility) = ChangeKind::of_values(after_only.is_some(), before_only.is_some())?;
        Some(self.change(member, what, compatibility).values(before_only, after_only))
    }

    /// Returns the changes of a member's bounds, and of the members that the schema declares in an open object.
    fn beyond_the_type(&self, name: &str, before: &Field<'m>, after: &Field<'m>) -> Vec<Change> {
        let schema = |ty: &'m Type| ty.schema.members.get(name).cloned().unwrap_or_default();
        let (earlier, later) = (schema(self.earlier), schema(self.later));
        let bounds = self.assertions(Some(name), &earlier.assertions, &later.assertions);
        let mut changes: Vec<Change> = bounds.into_iter().collect();
        let [earlier, later] = [(before, earlier), (after, later)].map(|(field, schema)| match field.is_open() {
            true => schema.open.unwrap_or_default().declared,
            false => BTreeMap::new(),
        });
        let members: BTreeSet<&String> = earlier.keys().chain(later.keys()).collect();
        for member in members {
            let required = |declared: &BTreeMap<String, DeclaredMember>| declared.get(member).map(|it| it.required);
            let kind = match (required(&earlier), required(&later)) {
                // A member that isn't declared any more may still be present.
                (Some(_), None) => Some((ChangeKind::Loosened, Compatibility::BreakingForReceivers)),
                (before, after) => ChangeKind::of_member(before, after),
            };
            let Some((what, compatibility)) = kind else { continue };
            let change = self.change(Some(&format!("{name}.{member}")), what, compatibility);
            let any = (what == ChangeKind::Loosened).then(|| "any JSON, undeclared".to_owned());
            changes.push(change.values(None, any));
        }
        changes
    }
}

impl Field<'_> {
    /// Whether it is an object that no type describes.
    fn is_open(&self) -> bool {
        self.ty == Some(&TypeRef::RawObject)
    }
}

type Fields<'m> = BTreeMap<&'m str, Field<'m>>;

fn fields<'m>(model: &'m Model, object: &'m Struct) -> Fields<'m> {
    let constants = object.constants.iter().map(|constant| {
        let field = Field {
            required: constant.required,
            leaves: vec![Leaf::One(constant.value.clone())],
            ty: None,
        };
        (constant.name.as_str(), field)
    });
    let members = object.members.iter().map(|member| {
        let field = Field {
            required: member.required,
            leaves: leaves(model, &member.ty),
            ty: Some(model.resolve(&member.ty)),
        };
        (member.name.as_str(), field)
    });
    constants.chain(members).collect()
}
