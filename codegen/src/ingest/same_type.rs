//! Comparison of types of two revisions.

use std::mem;

use crate::model::{Member, Model, TypeKind, TypeRef};

/// Whether two types are the same, or have no definition and are objects that declare the same members, or the same
/// enumeration: these have names after their place.
pub(super) fn is_same(models: [&Model; 2], types: [&TypeRef; 2]) -> bool {
    let [earlier, later] = [0, 1].map(|index| models[index].resolve(types[index]));
    let kinds = [models[0].kind_of(earlier), models[1].kind_of(later)];
    if earlier == later {
        return kinds[0].map(mem::discriminant) == kinds[1].map(mem::discriminant);
    }
    let is_defined = |model: &Model, ty: &TypeRef| model.definitions.values().any(|definition| definition.ty == *ty);
    if is_defined(models[0], earlier) || is_defined(models[1], later) {
        return false;
    }
    if let [Some(TypeKind::Strings(earlier)), Some(TypeKind::Strings(later))] = kinds {
        return earlier.values == later.values;
    }
    let [Some(earlier), Some(later)] = [models[0].struct_of(earlier), models[1].struct_of(later)] else {
        return false;
    };
    // A type that contains itself has another name in each place too, and comparing it would never end.
    let is_alike = |(old, new): (&Member, &Member)| {
        let is_recursive = old.recursive || new.recursive;
        (&old.name, old.required) == (&new.name, new.required) && !is_recursive && is_same(models, [&old.ty, &new.ty])
    };
    let mut members = earlier.members.iter().zip(&later.members);
    (&earlier.constants, earlier.members.len()) == (&later.constants, later.members.len()) && members.all(is_alike)
}
