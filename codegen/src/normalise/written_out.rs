//! Places where a schema repeats a definition instead of referring to it. The overlay names the definition, whose type
//! must be able to hold every value that is valid at the place.

use std::collections::{BTreeMap, BTreeSet};

use mcp_json_schema::{change_schemas, pointer, walk};
use serde_json::Value;

use super::references::pointer_of;
use super::shape_builder::{ShapeBuilder, TYPE};
use super::union::either_scalar;
use super::{DefinitionShape, Node, Property, Shape, Shapes};
use crate::problem::Problem;

/// Returns a problem for each such place where the definition doesn't exist, or its type can't hold every valid value.
pub(super) fn unfit(root: &Value, shapes: &Shapes) -> Vec<Problem> {
    let mut places = Vec::new();
    walk(root, |at, schema| {
        let name = schema.get(TYPE).and_then(Value::as_str);
        places.extend(name.map(|name| (at.to_owned(), name)));
    });
    if places.is_empty() {
        return Vec::new();
    }
    let mut bare = root.clone();
    change_schemas(&mut bare, &mut |schema| {
        if let Some(keywords) = schema.as_object_mut() {
            keywords.retain(|keyword, _| !keyword.starts_with("x-"));
        }
    });
    let builder = ShapeBuilder::new(&bare);
    let problems = places.iter().filter_map(|(at, name)| {
        let wrong = |what: String| Problem::at_pointer(pointer::child(at, TYPE), what);
        let definition = pointer_of(root, name).and_then(|pointer| shapes.definitions.get(&pointer));
        let (Some(definition), Some(here)) = (definition, pointer::resolve(&bare, at)) else {
            return Some(wrong(format!("there is no definition `{name}`")));
        };
        let mut comparison = Comparison {
            root: &bare,
            definitions: &shapes.definitions,
            builder: &builder,
            assumed: BTreeSet::new(),
        };
        let held = comparison.holds(&definition.node, &builder.build(here, at), "");
        held.err()
            .map(|what| wrong(format!("`{name}` can't hold what is valid here: {what}")))
    });
    problems.collect()
}

struct Comparison<'c> {
    root: &'c Value,
    definitions: &'c BTreeMap<String, DefinitionShape>,
    builder: &'c ShapeBuilder<'c>,
    /// The references whose comparison is in progress.
    assumed: BTreeSet<(String, String)>,
}

impl Comparison<'_> {
    /// Checks that the type of `ty` can hold every value of `value`, or returns why it can't. `path` leads to the
    /// value.
    fn holds(&mut self, ty: &Node, value: &Node, path: &str) -> Result<(), String> {
        if let Shape::Reference(target) = &value.shape {
            let pair = (ty.pointer.clone(), target.clone());
            if matches!(&ty.shape, Shape::Reference(same) if same == target) || !self.assumed.insert(pair.clone()) {
                return Ok(());
            }
            let target = pointer::resolve(self.root, target).map(|schema| self.builder.build(schema, target));
            let held = target.map_or(Ok(()), |target| self.holds(ty, &target, path));
            if held.is_err() {
                self.assumed.remove(&pair);
            }
            return held;
        }
        if let Shape::Reference(target) = &ty.shape {
            let definitions = self.definitions;
            let target = definitions.get(target);
            return target.map_or(Ok(()), |target| self.holds(&target.node, value, path));
        }
        let is_held = match (&ty.shape, &value.shape) {
            (Shape::Any, _) | (Shape::RawObject, Shape::RawObject | Shape::Object(_) | Shape::Map(_)) => true,
            (Shape::Nullable(_), Shape::Null) => true,
            (Shape::Nullable(ty), Shape::Nullable(value)) => return self.holds(ty, value, path),
            (Shape::Nullable(ty), _) => return self.holds(ty, value, path),
            (Shape::List(ty), Shape::List(value)) => return self.holds(ty, value, &format!("{path}[]")),
            (Shape::Map(ty), Shape::Map(value)) => return self.holds(ty, value, &format!("{path}.*")),
            (Shape::Object(ty), Shape::Object(members)) => {
                return self.object_holds(ty, (members, &value.pointer), path);
            }
            (Shape::Union(_), Shape::Union(variants)) => {
                return variants.iter().try_for_each(|variant| self.holds(ty, variant, path));
            }
            (Shape::Union(variants), _) => variants.iter().any(|variant| self.holds(variant, value, path).is_ok()),
            (ty, value) => scalar_holds(ty, value),
        };
        match is_held {
            true => Ok(()),
            false => Err(format!("`{}` is another type", path.trim_start_matches('.'))),
        }
    }

    /// Checks that an object can hold the members of another one. Undeclared members are kept as they are.
    fn object_holds(
        &mut self,
        ty: &BTreeMap<String, Property>,
        (members, at): (&BTreeMap<String, Property>, &str),
        path: &str,
    ) -> Result<(), String> {
        let schema = pointer::resolve(self.root, at);
        let is_closed = schema.is_some_and(|schema| schema.get("additionalProperties") == Some(&Value::Bool(false)));
        for (name, property) in ty {
            let path = format!("{path}.{name}");
            match members.get(name) {
                Some(member) if property.required && !member.required => {
                    return Err(format!("`{}` may be absent", path.trim_start_matches('.')));
                }
                Some(member) => self.holds(&property.node, &member.node, &path)?,
                None if property.required => return Err(format!("there is no `{}`", path.trim_start_matches('.'))),
                None if is_closed => {}
                None => return Err(format!("`{}` may be anything", path.trim_start_matches('.'))),
            }
        }
        Ok(())
    }
}

/// Whether all values of the scalar shape `value` are values of `ty`: then the shape that accepts both is `ty`.
fn scalar_holds(ty: &Shape, value: &Shape) -> bool {
    let is_wider = match (ty, either_scalar(ty, value)) {
        (Shape::Strings(known), Some(Shape::Strings(both))) => known.values == both.values,
        (ty, both) => both.as_ref() == Some(ty),
    };
    ty == value || is_wider
}
