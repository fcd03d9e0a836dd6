//! What the schema says beyond the types: conversions need it to tell which values the other revision refuses.

use std::collections::{BTreeMap, BTreeSet};

use mcp_wire::json_schema::pointer;
use serde_json::Value;

use super::assertions;
use super::type_ref::TypeRef;
use super::types::{Model, TypeKind};
use crate::normalise::follow;

/// A keyword that says more about a value than its Rust type does, with the keywords around it (`items/minLength`), and its JSON.
pub(crate) type Assertion = (String, String);

/// What the schema of a type says beyond the type.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct TypeSchema {
    /// What it says of the value as a whole.
    pub(crate) assertions: Assertions,
    /// Whether no other members are valid than those that are declared.
    pub(crate) closed: bool,
    /// Whether no other values are valid than those that are declared.
    pub(crate) enumeration: bool,
    /// What it says of each member, by the member's name.
    pub(crate) members: BTreeMap<String, MemberSchema>,
}

/// What the schema of a member says beyond the member's type.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct MemberSchema {
    /// Where it is: the first place, where several parts of an intersection declare the member.
    pub(crate) pointer: String,
    pub(crate) others: Vec<String>,
    pub(crate) assertions: Assertions,
    /// Of an open object, the members that are declared and not required, with the pointers of their schemas.
    pub(crate) optional: BTreeMap<String, String>,
    /// Of an open object, the members that are required, with their schemas.
    pub(crate) required: BTreeMap<String, Value>,
    /// Of an open object, the members that are declared, also in what the schema is an intersection of.
    pub(crate) declared: BTreeSet<String>,
}

impl MemberSchema {
    /// The pointers of all places that declare the member.
    pub(crate) fn pointers(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.pointer).chain(&self.others).map(String::as_str)
    }
}

/// The assertions about a value, but for what other types and the members of the value say.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Assertions {
    /// Those in the first of the places of the type.
    pub(crate) here: BTreeSet<Assertion>,
    /// Those in all its places: places that differ in assertions alone share a type.
    everywhere: BTreeSet<Assertion>,
    /// The definitions that they refer to: one of the same name may say something else in another revision.
    definitions: BTreeSet<String>,
}

impl Assertions {
    pub(super) fn new(here: BTreeSet<Assertion>, definitions: BTreeSet<String>) -> Self {
        Self {
            everywhere: here.clone(),
            here,
            definitions,
        }
    }

    /// Adds the assertions of another schema, with the keywords around it.
    pub(super) fn extend(&mut self, around: &str, others: Self) {
        let Self { here, definitions, .. } = others;
        let others: Vec<Assertion> = here
            .into_iter()
            .map(|(keyword, value)| (format!("{around}{keyword}"), value))
            .collect();
        self.here.extend(others.iter().cloned());
        self.everywhere.extend(others);
        self.definitions.extend(definitions);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.here.is_empty()
    }

    /// Whether these hold where the others hold.
    pub(crate) fn follow_from(&self, others: Option<&Self>) -> bool {
        self.is_empty()
            || others.is_some_and(|others| {
                self.here.is_subset(&others.everywhere) && self.definitions.is_subset(&others.definitions)
            })
    }

    /// Keeps those that hold in one more place.
    pub(super) fn loosen(&mut self, there: Option<&Self>) {
        self.everywhere
            .retain(|assertion| there.is_some_and(|there| there.here.contains(assertion)));
    }
}

/// Puts what the schema says beyond the types into a model.
pub(super) fn describe_types(model: &mut Model, schema: &Value) {
    let schema = Schema { root: schema };
    let mut places: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (pointer, name) in &model.places {
        places.entry(name).or_default().push(pointer);
    }
    let described = model.types.iter().map(|(name, ty)| {
        let mut described = schema.of_type(model, &ty.pointer, &ty.kind);
        let others = places.get(name.as_str()).into_iter().flatten();
        for place in others.filter(|place| **place != ty.pointer) {
            let there = schema.of_type(model, place, &ty.kind);
            described.assertions.loosen(Some(&there.assertions));
            for (name, member) in &mut described.members {
                member
                    .assertions
                    .loosen(there.members.get(name).map(|there| &there.assertions));
            }
        }
        (name.clone(), described)
    });
    let described: BTreeMap<String, TypeSchema> = described.collect();
    for (name, ty) in &mut model.types {
        ty.schema = described.get(name).cloned().unwrap_or_default();
    }
}

struct Schema<'s> {
    root: &'s Value,
}

impl Schema<'_> {
    fn of_type(&self, model: &Model, at: &str, kind: &TypeKind) -> TypeSchema {
        let schema = self.follow(at).unwrap_or(&Value::Null);
        let has = |keyword| schema.get(keyword).is_some();
        let mut assertions = assertions::of_type(model, self.root, at);
        let mut members = BTreeMap::new();
        if let TypeKind::Struct(object) = kind {
            let declarations = declarations(self.root, at);
            for member in &object.members {
                let mut places = places_of(&declarations, &member.name);
                let Some(pointer) = places.next() else { continue };
                let mut described = self.of_member(model, pointer.to_owned(), &member.ty);
                for other in places {
                    let asserted = assertions::of_member(model, self.root, other);
                    described.assertions.extend("", asserted);
                    described.others.push(other.to_owned());
                }
                members.insert(member.name.clone(), described);
            }
            // What another part of an intersection asserts of a constant may be wrong of it. Then no value is valid.
            for constant in &object.constants {
                for place in places_of(&declarations, &constant.name) {
                    let around = format!("properties/{}/", constant.name);
                    assertions.extend(&around, assertions::of_member(model, self.root, place));
                }
            }
        }
        TypeSchema {
            assertions,
            closed: matches!(kind, TypeKind::Struct(_))
                && schema.get("additionalProperties") == Some(&Value::Bool(false)),
            enumeration: !matches!(kind, TypeKind::Struct(_))
                && ["enum", "const", "anyOf", "oneOf"].into_iter().any(has),
            members,
        }
    }

    fn of_member(&self, model: &Model, pointer: String, ty: &TypeRef) -> MemberSchema {
        let schema = self.follow(&pointer).unwrap_or(&Value::Null);
        let (mut optional, mut required, mut declared) = (BTreeMap::new(), BTreeMap::new(), BTreeSet::new());
        if *model.resolve(ty) == TypeRef::RawObject {
            let declarations = declarations(self.root, &pointer);
            declared = declarations.iter().map(|(name, _)| (*name).to_owned()).collect();
            let first_place = |name: &str| declarations.iter().find(|(other, _)| *other == name);
            let must = schema.get("required").and_then(Value::as_array).into_iter().flatten();
            let must: BTreeSet<&str> = must.filter_map(Value::as_str).collect();
            let properties = schema.get("properties").and_then(Value::as_object);
            let names = properties.into_iter().flatten().map(|(name, _)| name);
            optional = names
                .filter(|name| !must.contains(name.as_str()))
                .filter_map(|name| Some((name.clone(), first_place(name)?.1.clone())))
                .collect();
            let said = |name: &str| self.follow(&first_place(name)?.1);
            required = must
                .into_iter()
                .map(|name| (name.to_owned(), said(name).cloned().unwrap_or(Value::Bool(true))))
                .collect();
        }
        MemberSchema {
            assertions: assertions::of_member(model, self.root, &pointer),
            pointer,
            others: Vec::new(),
            optional,
            required,
            declared,
        }
    }

    /// The schema at a pointer, or that which it refers to.
    fn follow(&self, at: &str) -> Option<&Value> {
        follow(self.root, pointer::resolve(self.root, at)?)
    }
}

/// How many references and intersections lead to a member.
const MAX_DEPTH: usize = 16;

/// The members that the schema at a pointer declares, and where: a member has several places if several parts of an intersection
/// declare it.
pub(super) fn declarations<'s>(root: &'s Value, at: &str) -> Vec<(&'s str, String)> {
    let mut found = Vec::new();
    collect(root, at, 0, &mut found);
    found
}

/// The places of a member.
pub(super) fn places_of<'d>(declarations: &'d [(&str, String)], member: &'d str) -> impl Iterator<Item = &'d str> {
    let own = declarations.iter().filter(move |(name, _)| *name == member);
    own.map(|(_, place)| place.as_str())
}

fn collect<'s>(root: &'s Value, at: &str, depth: usize, found: &mut Vec<(&'s str, String)>) {
    let Some(schema) = pointer::resolve(root, at).filter(|_| depth <= MAX_DEPTH) else {
        return;
    };
    let members = schema.get("properties").and_then(Value::as_object);
    let properties = pointer::child(at, "properties");
    let members = members.into_iter().flatten().map(|(name, _)| name.as_str());
    found.extend(members.map(|name| (name, pointer::child(&properties, name))));
    for part in parts(at, schema) {
        collect(root, &part, depth + 1, found);
    }
}

/// The schema that a schema refers to, or else those that it is an intersection of.
fn parts(at: &str, schema: &Value) -> Vec<String> {
    if let Some(target) = schema.get("$ref").and_then(Value::as_str) {
        return pointer::canonical(target).into_iter().collect();
    }
    let count = schema.get("allOf").and_then(Value::as_array).map_or(0, Vec::len);
    (0..count).map(|index| format!("{at}/allOf/{index}")).collect()
}
