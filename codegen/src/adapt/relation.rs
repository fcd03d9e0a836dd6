//! Relates types of two revisions, and collects the pairs that must be planned.

use std::mem::discriminant;

use super::pairing::Pairing;
use super::plan::Pair;
use super::planner::Planner;
use crate::model::{Model, TypeKind, TypeRef};
use mcp_json_schema::JsonType;

/// Maximum depth of nested unions.
const MAX_DEPTH: usize = 8;

/// The relation between values of two types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Relation {
    Same,
    /// A conversion exists, or will be planned.
    Converts,
    Impossible,
}

impl Planner<'_> {
    /// Returns how two types relate, and queues them for planning if necessary.
    pub(super) fn relate(&mut self, source: &TypeRef, target: &TypeRef) -> Relation {
        let relation = self.pair.relation(source, target, 0);
        if relation == Relation::Converts {
            let (source, target) = self.pair.innermost(source, target);
            if !is_everywhere(source, target) {
                self.pending.push((source.clone(), target.clone()));
            }
        }
        relation
    }

    /// The same as `relate`, and notes for the report which values at this place are refused.
    pub(super) fn relate_at(&mut self, at: &str, source: &TypeRef, target: &TypeRef) -> Relation {
        let relation = self.relate(source, target);
        let refused = self.pair.refused_values(source, target);
        if let Some(what) = refused.filter(|_| relation == Relation::Converts) {
            self.refused(at, what);
        }
        relation
    }
}

impl Pairing<'_> {
    /// Resolves aliases, and unwraps the lists and maps that both types have around them.
    pub(super) fn innermost<'t>(&'t self, source: &'t TypeRef, target: &'t TypeRef) -> (&'t TypeRef, &'t TypeRef) {
        let (source, target) = (self.from.model.resolve(source), self.to.model.resolve(target));
        match source.within(target) {
            Some((source, target)) => self.innermost(source, target),
            None => (source, target),
        }
    }

    /// Returns the row's action that converts between a value and the only element of a list, and the types of both, if
    /// one of two types is a list.
    pub(super) fn only_element(&self, from: &TypeRef, to: &TypeRef) -> Option<(&'static str, Pair)> {
        let element = |model: &Model, ty: &TypeRef| match model.resolve(model.resolve(ty).not_null()) {
            TypeRef::List(element) => Some((**element).clone()),
            _ => None,
        };
        match (element(&self.from.model, from), element(&self.to.model, to)) {
            (None, Some(element)) => Some(("wrap", (from.clone(), element))),
            (Some(element), None) => Some(("unwrap", (element, to.clone()))),
            _ => None,
        }
    }

    /// Describes the values of a type that the target's type can't hold, if they have no type of their own.
    fn refused_values(&self, source: &TypeRef, target: &TypeRef) -> Option<&'static str> {
        let (source, target) = self.innermost(source, target);
        Some(match (source.not_null(), target.not_null()) {
            (TypeRef::Number, TypeRef::Integer) => {
                "a number that isn't an integer of 64 bits: the target has integers there"
            }
            (TypeRef::Any, TypeRef::RawObject) => "JSON that isn't an object",
            (TypeRef::Any, target) if is_plain(target) => "JSON that the target's type can't hold",
            (source @ TypeRef::RequestId, target) | (source, target @ TypeRef::RequestId)
                if !self.holds(source, target) =>
            {
                "an id that the target's type can't hold"
            }
            (TypeRef::String, target @ TypeRef::Named(name))
                if self.to.is_enumeration(target) && self.to.model.is_strings(name) =>
            {
                "a string that isn't one of the target's values"
            }
            _ => return None,
        })
    }

    /// Whether types are the same, or one can be converted to the other.
    pub(super) fn converts(&self, source: &TypeRef, target: &TypeRef, depth: usize) -> bool {
        self.relation(source, target, depth) != Relation::Impossible
    }

    pub(super) fn relation(&self, source: &TypeRef, target: &TypeRef, depth: usize) -> Relation {
        let (source, target) = self.innermost(source, target);
        if source == target && source.named().is_none() {
            return Relation::Same;
        }
        let converts = match (source, target) {
            (TypeRef::Integer, TypeRef::Number) | (TypeRef::Number, TypeRef::Integer) => true,
            (TypeRef::Any, _) | (_, TypeRef::Any) => true,
            (TypeRef::RawObject, other) if may_be_object(&self.to.model, other) => true,
            (other, TypeRef::RawObject) if may_be_object(&self.from.model, other) => true,
            // A type converts to a nullable one, or the other way round, if the types convert apart from null.
            (source, TypeRef::Nullable(inner)) => self.converts(source, inner, depth),
            (TypeRef::Nullable(inner), target) => self.converts(inner, target, depth),
            (TypeRef::Named(name), TypeRef::String) if self.from.model.is_strings(name) => true,
            (TypeRef::String, TypeRef::Named(name)) if self.to.model.is_strings(name) => true,
            (source, target) => self.is_same_kind(source, target) || self.unions(source, target, depth),
        };
        if converts {
            Relation::Converts
        } else {
            Relation::Impossible
        }
    }

    /// Whether the conversion of two types is planned member by member, or value by value.
    fn is_same_kind(&self, source: &TypeRef, target: &TypeRef) -> bool {
        if self.messages(source, target).is_some() {
            return true;
        }
        let kinds = self.from.model.kind_of(source).zip(self.to.model.kind_of(target));
        kinds.is_some_and(|(kind, there)| {
            let is_union = matches!(kind, TypeKind::Union(_));
            discriminant(kind) == discriminant(there) && !is_union
        })
    }

    /// Whether each variant of a union is one of the other.
    fn holds(&self, source: &TypeRef, target: &TypeRef) -> bool {
        let targets = self.to.candidates(target);
        self.from.candidates(source).iter().all(|source| {
            let is_same = |target| source == target || (source, target) == (&TypeRef::Integer, &TypeRef::Number);
            targets.iter().any(is_same)
        })
    }

    /// Whether one of two types is a union, and one of its variants corresponds to the other type. An id is a union too: it
    /// stays as it was sent, or is refused.
    fn unions(&self, source: &TypeRef, target: &TypeRef, depth: usize) -> bool {
        let is_union = |model: &Model, ty: &TypeRef| *ty == TypeRef::RequestId || model.union_of(ty).is_some();
        if depth > MAX_DEPTH || !(is_union(&self.from.model, source) || is_union(&self.to.model, target)) {
            return false;
        }
        let (sources, targets) = (self.from.candidates(source), self.to.candidates(target));
        let corresponds = |source, target| {
            let is_similar = || self.similarity((source, &sources), (target, &targets)).is_some();
            self.converts(source, target, depth + 1) && is_similar()
        };
        sources
            .iter()
            .any(|source| targets.iter().any(|target| corresponds(source, target)))
    }
}

/// Whether some value of a type is an object.
fn may_be_object(model: &Model, ty: &TypeRef) -> bool {
    match ty {
        TypeRef::Map(_) => true,
        TypeRef::Named(name) => match model.kind(name) {
            Some(TypeKind::Struct(_) | TypeKind::Methods(_)) => true,
            Some(TypeKind::Union(union)) => union.variants.iter().any(|variant| variant.kind == JsonType::Object),
            _ => false,
        },
        _ => false,
    }
}

/// Whether the conversion is the same between all revisions, so that no plan is needed.
fn is_everywhere(source: &TypeRef, target: &TypeRef) -> bool {
    let is_open = |ty: &TypeRef| is_plain(ty) || matches!(ty, TypeRef::Any | TypeRef::RawObject);
    let (not_null, not_null_there) = (source.not_null(), target.not_null());
    [not_null, not_null_there].contains(&&TypeRef::RequestId)
        || is_plain(not_null) && not_null == not_null_there
        || is_open(source) && is_open(target)
}

/// Whether values of a type have no parts, and are the same Rust type in every revision.
fn is_plain(ty: &TypeRef) -> bool {
    matches!(
        ty,
        TypeRef::String | TypeRef::Boolean | TypeRef::Integer | TypeRef::Number | TypeRef::RequestId
    )
}
