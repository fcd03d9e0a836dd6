//! Two models, and which of their types correspond.

use std::collections::{BTreeMap, BTreeSet};
use std::mem::discriminant;

use serde_json::json;

use super::change::{ChangeKind, Compatibility};
use super::place::describe_type;
use crate::adapt::Plan;
use crate::model::{Model, Struct, TypeKind, TypeRef};
use crate::normalise::Scalar;

/// Maximum depth of nested types.
const MAX_DEPTH: usize = 16;

/// A list or a map in the description of a type.
const LIST: &str = "list of ";
const MAP: &str = "map of ";

/// Two models, and which of their types correspond.
pub(crate) struct Pair<'m> {
    pub(super) earlier: &'m Model,
    pub(super) later: &'m Model,
    /// Earlier and later Rust names.
    counterparts: BTreeSet<(&'m str, &'m str)>,
}

/// A type that a value, or an element of it, may have: unions are split into their variants.
pub(super) struct LeafType<'m> {
    /// The lists and maps around it, from the outside: [`LIST`] and [`MAP`].
    around: Vec<&'static str>,
    what: Values<'m>,
}

/// The values of a type, or a single value.
enum Values<'m> {
    Of(&'m TypeRef),
    One(Scalar),
}

/// The values that only one revision has.
pub(super) struct Difference {
    pub(crate) removed: Vec<String>,
    pub(crate) added: Vec<String>,
}

impl Difference {
    pub(super) fn kind(&self) -> Option<(ChangeKind, Compatibility)> {
        ChangeKind::of_values(!self.removed.is_empty(), !self.added.is_empty())
    }
}

impl<'m> Pair<'m> {
    pub(crate) fn new(earlier: &'m Model, later: &'m Model, up: &'m Plan) -> Self {
        let mut counterparts = BTreeSet::new();
        for (name, ty) in &earlier.types {
            let same = later.types.get_key_value(name);
            if let Some((other, _)) = same.filter(|(_, other)| discriminant(&other.kind) == discriminant(&ty.kind)) {
                counterparts.insert((name.as_str(), other.as_str()));
            }
        }
        let taken: (BTreeSet<&str>, BTreeSet<&str>) = counterparts.iter().copied().unzip();
        // A type is renamed if only this one is converted to the other, and each name is in one of the revisions only.
        let mut renamed = Vec::<(&str, &str)>::new();
        for (source, target) in up.conversions.keys() {
            let (TypeRef::Named(name), TypeRef::Named(other)) = (source, target) else {
                continue;
            };
            let Some((ty, other_ty)) = earlier.types.get(name).zip(later.types.get(other)) else {
                continue;
            };
            let is_message = matches!(ty.kind, TypeKind::Methods(_) | TypeKind::Results(_));
            if is_message || discriminant(&ty.kind) != discriminant(&other_ty.kind) {
                continue;
            }
            let (is_gone, is_new) = (!taken.0.contains(name.as_str()), !taken.1.contains(other.as_str()));
            if is_gone && is_new {
                renamed.push((name, other));
            } else if is_gone && !ty.official || is_new && !other_ty.official {
                // One of the schemas doesn't name the type there.
                counterparts.insert((name, other));
            }
        }
        counterparts.extend(renamed.iter().filter(|(name, other)| {
            let mut same = renamed
                .iter()
                .filter(|(earlier, later)| earlier == name || later == other);
            same.nth(1).is_none()
        }));
        Self {
            earlier,
            later,
            counterparts,
        }
    }

    /// Returns the types that both models have, by their earlier and later Rust names.
    pub(crate) fn types(&self) -> impl Iterator<Item = (&'m str, &'m str)> {
        self.counterparts.iter().copied()
    }

    /// Returns the earlier Rust name of each type of the later model that the earlier one has too.
    pub(crate) fn earlier_names(&self) -> BTreeMap<&'m str, &'m str> {
        let mut names = BTreeMap::new();
        for (before, after) in self.types() {
            // A type that kept its name takes precedence over others that became the same type.
            if names.get(after) != Some(&after) {
                names.insert(after, before);
            }
        }
        names
    }

    /// Whether both types are a union that both schemas name, or lists of one, so that the union's own changes show the
    /// difference.
    pub(super) fn are_same_union(&self, earlier: &TypeRef, later: &TypeRef) -> bool {
        match (self.earlier.resolve(earlier), self.later.resolve(later)) {
            (TypeRef::List(earlier), TypeRef::List(later)) | (TypeRef::Map(earlier), TypeRef::Map(later)) => {
                self.are_same_union(earlier, later)
            }
            (TypeRef::Named(name), TypeRef::Named(other)) => {
                self.earlier.is_official(name)
                    && self.later.is_official(other)
                    && self.counterparts.contains(&(name.as_str(), other.as_str()))
            }
            _ => false,
        }
    }

    /// Returns the values that only one of two types has. Corresponding named types are the same here, even if their
    /// contents differ.
    pub(super) fn compare(&self, earlier: &[LeafType<'_>], later: &[LeafType<'_>]) -> Difference {
        let gone = earlier
            .iter()
            .filter(|atom| !later.iter().any(|other| self.fits(atom, other, true)));
        let new = later
            .iter()
            .filter(|atom| !earlier.iter().any(|other| self.fits(atom, other, false)));
        Difference {
            removed: gone.map(|atom| atom.describe(self.earlier)).collect(),
            added: new.map(|atom| atom.describe(self.later)).collect(),
        }
    }

    /// Whether every value of one is a value of the other. `up` means that the other belongs to the later model.
    fn fits(&self, atom: &LeafType<'_>, other: &LeafType<'_>, up: bool) -> bool {
        let (from, to) = if up {
            (self.earlier, self.later)
        } else {
            (self.later, self.earlier)
        };
        let Some(around) = atom.around.strip_prefix(&other.around[..]) else {
            return false;
        };
        match (&atom.what, &other.what) {
            (_, Values::Of(TypeRef::Any)) => true,
            (_, Values::Of(TypeRef::RawObject)) if around.first() == Some(&MAP) => true,
            _ if !around.is_empty() => false,
            (Values::One(value), Values::One(other)) => value == other,
            (Values::One(value), Values::Of(ty)) => has_type(value, ty, to),
            (Values::Of(_), Values::One(_)) => false,
            (Values::Of(TypeRef::Named(name)), Values::Of(TypeRef::Named(other))) => {
                let (before, after) = if up { (name, other) } else { (other, name) };
                self.counterparts.contains(&(before.as_str(), after.as_str()))
            }
            (Values::Of(TypeRef::Named(name)), Values::Of(TypeRef::RawObject)) => {
                matches!(from.kind(name), Some(TypeKind::Struct(_)))
            }
            (Values::Of(TypeRef::Named(name)), Values::Of(TypeRef::String)) => from.is_strings(name),
            (Values::Of(TypeRef::String), Values::Of(TypeRef::Named(name))) => {
                to.is_strings(name) && !to.is_enumeration(name)
            }
            // Any object may lack members that are declared and not required.
            (Values::Of(TypeRef::RawObject), Values::Of(ty)) if *ty != &TypeRef::RawObject => {
                let required = |object: &Struct| object.members.iter().any(|member| member.required);
                to.struct_of(ty)
                    .is_some_and(|object| object.constants.is_empty() && !required(object))
            }
            (Values::Of(TypeRef::Integer), Values::Of(TypeRef::Number)) => true,
            (Values::Of(ty), Values::Of(other)) => ty == other,
        }
    }
}

/// Returns the types that a value of a type may have.
pub(super) fn leaf_types<'m>(model: &'m Model, ty: &'m TypeRef) -> Vec<LeafType<'m>> {
    let mut found = Vec::new();
    collect(model, ty, &mut Vec::new(), 0, &mut found);
    found
}

fn collect<'m>(
    model: &'m Model,
    ty: &'m TypeRef,
    around: &mut Vec<&'static str>,
    depth: usize,
    found: &mut Vec<LeafType<'m>>,
) {
    let ty = model.resolve(ty);
    let mut within = |inner, container| {
        around.push(container);
        collect(model, inner, around, depth + 1, found);
        around.pop();
    };
    match (ty, model.union_of(ty)) {
        (TypeRef::List(inner), _) => within(inner, LIST),
        (TypeRef::Map(inner), _) => within(inner, MAP),
        (TypeRef::Nullable(inner), _) => {
            collect(model, &TypeRef::Null, around, depth, found);
            collect(model, inner, around, depth, found);
        }
        (_, Some(union)) if depth < MAX_DEPTH => {
            for variant in &union.variants {
                collect(model, &variant.ty, around, depth + 1, found);
            }
        }
        _ => found.push(LeafType {
            around: around.clone(),
            what: Values::Of(ty),
        }),
    }
}

fn has_type(value: &Scalar, ty: &TypeRef, model: &Model) -> bool {
    match (value, ty) {
        (Scalar::String(text), TypeRef::Named(name)) => match model.kind(name) {
            Some(TypeKind::Strings { values, .. }) => !model.is_enumeration(name) || values.contains(text),
            _ => false,
        },
        (Scalar::String(_), TypeRef::String)
        | (Scalar::Boolean(_), TypeRef::Boolean)
        | (Scalar::Integer(_), TypeRef::Integer | TypeRef::Number) => true,
        _ => false,
    }
}

impl<'m> LeafType<'m> {
    pub(super) fn value(value: Scalar) -> Self {
        Self {
            around: Vec::new(),
            what: Values::One(value),
        }
    }

    fn describe(&self, model: &Model) -> String {
        let what = match &self.what {
            Values::Of(ty) => describe_type(model, ty),
            Values::One(value) => json!(value).to_string(),
        };
        self.around.concat() + &what
    }
}
