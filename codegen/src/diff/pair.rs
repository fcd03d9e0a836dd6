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

/// Two models, and which of their types correspond.
pub(crate) struct Pair<'m> {
    pub(super) earlier: &'m Model,
    pub(super) later: &'m Model,
    /// Earlier and later Rust names.
    counterparts: BTreeSet<(&'m str, &'m str)>,
}

/// The values of a type that isn't a union, whose elements have such a type too, or a single value.
pub(super) enum Leaf {
    Of(TypeRef),
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
    pub(super) fn compare(&self, earlier: &[Leaf], later: &[Leaf]) -> Difference {
        let gone = earlier
            .iter()
            .filter(|leaf| !later.iter().any(|other| self.fits(leaf, other, true)));
        let new = later
            .iter()
            .filter(|leaf| !earlier.iter().any(|other| self.fits(leaf, other, false)));
        Difference {
            removed: gone.map(|leaf| leaf.describe(self.earlier)).collect(),
            added: new.map(|leaf| leaf.describe(self.later)).collect(),
        }
    }

    /// Whether every value of one is a value of the other. `up` means that the other belongs to the later model.
    fn fits(&self, leaf: &Leaf, other: &Leaf, up: bool) -> bool {
        match (leaf, other) {
            (Leaf::Of(ty), Leaf::Of(other)) => self.type_fits(ty, other, up),
            (Leaf::One(value), Leaf::One(other)) => value == other,
            (Leaf::One(_), Leaf::Of(TypeRef::Any)) => true,
            (Leaf::One(value), Leaf::Of(ty)) => has_type(value, ty, if up { self.later } else { self.earlier }),
            (Leaf::Of(_), Leaf::One(_)) => false,
        }
    }

    fn type_fits(&self, ty: &TypeRef, other: &TypeRef, up: bool) -> bool {
        let (from, to) = if up {
            (self.earlier, self.later)
        } else {
            (self.later, self.earlier)
        };
        match (ty, other) {
            (_, TypeRef::Any) | (TypeRef::Map(_), TypeRef::RawObject) | (TypeRef::Integer, TypeRef::Number) => true,
            (TypeRef::List(ty), TypeRef::List(other)) | (TypeRef::Map(ty), TypeRef::Map(other)) => {
                self.type_fits(ty, other, up)
            }
            (TypeRef::Named(name), TypeRef::Named(other)) => {
                let (before, after) = if up { (name, other) } else { (other, name) };
                self.counterparts.contains(&(before.as_str(), after.as_str()))
            }
            (TypeRef::Named(name), TypeRef::RawObject) => matches!(from.kind(name), Some(TypeKind::Struct(_))),
            (TypeRef::Named(name), TypeRef::String) => from.is_strings(name),
            (TypeRef::String, TypeRef::Named(name)) => to.is_strings(name) && !to.is_enumeration(name),
            // Any object may lack members that are declared and not required.
            (TypeRef::RawObject, ty) if *ty != TypeRef::RawObject => {
                let required = |object: &Struct| object.members.iter().any(|member| member.required);
                to.struct_of(ty)
                    .is_some_and(|object| object.constants.is_empty() && !required(object))
            }
            (ty, other) => ty == other,
        }
    }
}

/// Returns the types that a value of a type may have: unions are split into their variants.
pub(super) fn leaves(model: &Model, ty: &TypeRef) -> Vec<Leaf> {
    leaf_types(model, ty, 0).into_iter().map(Leaf::Of).collect()
}

fn leaf_types(model: &Model, ty: &TypeRef, depth: usize) -> Vec<TypeRef> {
    let ty = model.resolve(ty);
    let within = |inner, container: fn(Box<TypeRef>) -> TypeRef| {
        let inner = leaf_types(model, inner, depth + 1).into_iter();
        inner.map(|inner| container(Box::new(inner))).collect()
    };
    match (ty, model.union_of(ty)) {
        (TypeRef::List(inner), _) => within(inner, TypeRef::List),
        (TypeRef::Map(inner), _) => within(inner, TypeRef::Map),
        (TypeRef::Nullable(inner), _) => [vec![TypeRef::Null], leaf_types(model, inner, depth)].concat(),
        (_, Some(union)) if depth < MAX_DEPTH => {
            let variants = union.variants.iter();
            variants
                .flat_map(|variant| leaf_types(model, &variant.ty, depth + 1))
                .collect()
        }
        _ => vec![ty.clone()],
    }
}

fn has_type(value: &Scalar, ty: &TypeRef, model: &Model) -> bool {
    match (value, ty) {
        (Scalar::String(text), TypeRef::Named(name)) => match model.kind(name) {
            Some(TypeKind::Strings(strings)) => !model.is_enumeration(name) || strings.values.contains(text),
            _ => false,
        },
        (Scalar::String(_), TypeRef::String)
        | (Scalar::Boolean(_), TypeRef::Boolean)
        | (Scalar::Integer(_), TypeRef::Integer | TypeRef::Number) => true,
        _ => false,
    }
}

impl Leaf {
    fn describe(&self, model: &Model) -> String {
        match self {
            Self::Of(ty) => describe_type(model, ty),
            Self::One(value) => json!(value).to_string(),
        }
    }
}
