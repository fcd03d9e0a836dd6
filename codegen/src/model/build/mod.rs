//! Builds the types of a model from the shapes of a schema.

mod builder;
mod definitions;
mod shared;
mod unions;

use std::collections::BTreeMap;

use serde_json::Value;

use builder::{Builder, Context};
use definitions::{definitions, is_string_or_integer, name_definitions, request_id};
use shared::{group_of, key};

use super::assign_roles::find_error_data;
use super::check_depth::check_depth;
use super::check_members::check_members;
use super::check_messages::check_messages;
use super::cycles::{mark_recursive_parts, open_endless_aliases, shorten_aliases};
use super::input::BuildInput;
use super::messages::add_messages;
use super::modules::assign_modules;
use super::names::{member_name, unique};
use super::sizes::mark_large_members;
use super::type_ref::TypeRef;
use super::types::{ConstantMember, Member, Model, Struct, Type, TypeKind};
use crate::messages::{RESULTS, message_unions};
use crate::normalise::{Node, Property, Scalar, Shape};
use crate::problem::Problems;

/// Builds a revision's model.
///
/// # Errors
/// Definitions with the same Rust name, messages that would be lost, requests without a result, and invalid names of
/// fields and presets.
pub(super) fn build_model(input: &BuildInput<'_>) -> Result<Model, Problems> {
    let document = &input.schema.document;
    build(input).map_err(|found| found.into_iter().map(|problem| document.locate(problem)).collect())
}

fn build(input: &BuildInput<'_>) -> Result<Model, Problems> {
    let rust_names = name_definitions(input);
    // The names of the unions of messages are reserved even if the schema doesn't define these unions.
    let reserved = message_unions().map(|name| (name.to_owned(), "messages".to_owned()));
    let defined = input.shapes().definitions.iter();
    let defined = defined.map(|(pointer, definition)| (rust_names[pointer].clone(), key(&definition.node.shape)));
    let mut builder = Builder {
        input,
        keys: reserved.chain(defined).collect(),
        rust_names,
        shared: BTreeMap::new(),
        types: BTreeMap::new(),
        positions: BTreeMap::new(),
        inline: BTreeMap::new(),
        request_id: request_id(input.shapes()),
    };
    builder.name_shared();
    for (pointer, definition) in &input.shapes().definitions {
        let name = builder.rust_names[pointer].clone();
        let documented_as = definition.node.name.as_ref().unwrap_or(&definition.name);
        builder.define(&name, &definition.node, documented_as, definition.official);
    }
    let positions = builder.positions.into_iter();
    let positions = positions.filter_map(|(position, name)| Some((position, name?)));
    let mut model = Model {
        revision: input.revision.to_owned(),
        definitions: definitions(input, &builder.rust_names),
        types: builder.types,
        error_codes: input.schema.overlay.error_codes.clone(),
        deprecated: input.schema.overlay.deprecated.clone(),
        summary: input.schema.overlay.summary.clone(),
        positions: positions.collect(),
        places: builder.rust_names.into_iter().chain(builder.inline).collect(),
        ..Model::default()
    };
    add_messages(&mut model, input);
    check_messages(&model, input.schema)?;
    check_members(&model, input.schema)?;
    open_endless_aliases(&mut model);
    shorten_aliases(&mut model);
    mark_recursive_parts(&mut model);
    mark_large_members(&mut model);
    check_depth(&model)?;
    assign_modules(&mut model, input.modules);
    input.lock.apply_modules(&mut model);
    find_error_data(&mut model);
    Ok(model)
}

impl Builder<'_> {
    fn define(&mut self, name: &str, node: &Node, documented_as: &str, official: bool) {
        let kind = self.kind(name, node);
        let ty = Type {
            official,
            pointer: node.pointer.clone(),
            description: node.description.clone(),
            ..Type::new(documented_as, kind)
        };
        self.types.insert(name.to_owned(), ty);
    }

    fn kind(&mut self, name: &str, node: &Node) -> TypeKind {
        match &node.shape {
            Shape::Object(members) => TypeKind::Struct(self.object(name, members)),
            Shape::Strings(strings) => TypeKind::Strings(strings.clone()),
            Shape::Union(_) if self.is_request_id(node) => TypeKind::Alias(TypeRef::RequestId),
            Shape::Union(variants) => match self.union(name, node, variants) {
                Ok(union) => TypeKind::Union(union),
                Err(wider) => TypeKind::Alias(wider),
            },
            _ => TypeKind::Alias(self.type_ref(node, &Context::of_type(name))),
        }
    }

    fn object(&mut self, name: &str, properties: &BTreeMap<String, Property>) -> Struct {
        let mut object = Struct::default();
        for (member, property) in properties {
            if let Shape::Constant(value) = self.input.shapes().shape(&property.node) {
                object.constants.push(ConstantMember {
                    name: member.clone(),
                    value: value.clone(),
                    required: property.required,
                });
                continue;
            }
            let context = Context::of_member(name, member);
            object.members.push(Member {
                name: member.clone(),
                field: property.node.field.clone(),
                ty: self.type_ref(&property.node, &context),
                required: property.required,
                tag: property.node.tag.clone(),
                preset: preset(property),
                recursive: false,
                large: false,
                description: property.node.description.clone(),
            });
        }
        object
    }

    fn type_ref(&mut self, node: &Node, context: &Context<'_>) -> TypeRef {
        match &node.shape {
            Shape::Any => TypeRef::Any,
            Shape::Null => TypeRef::Null,
            Shape::Boolean | Shape::Constant(Scalar::Boolean(_)) => TypeRef::Boolean,
            Shape::String | Shape::Constant(Scalar::String(_)) => TypeRef::String,
            Shape::Integer | Shape::Constant(Scalar::Integer(_)) => TypeRef::Integer,
            Shape::Number => TypeRef::Number,
            Shape::RawObject => TypeRef::RawObject,
            Shape::List(inner) => TypeRef::List(Box::new(self.type_ref(inner, &context.within("[]")))),
            Shape::Map(inner) => TypeRef::Map(Box::new(self.type_ref(inner, &context.within("{}")))),
            Shape::Nullable(inner) => {
                let inner = Node {
                    name: inner.name.clone().or_else(|| node.name.clone()),
                    ..(**inner).clone()
                };
                TypeRef::Nullable(Box::new(self.type_ref(&inner, context)))
            }
            // The type of the result depends on the request, which isn't known here.
            Shape::Reference(pointer) if self.is_result_union(pointer) => TypeRef::Any,
            Shape::Reference(pointer) => match self.rust_names.get(pointer) {
                Some(name) => {
                    let name = name.clone();
                    self.record(context, &name);
                    TypeRef::Named(name)
                }
                None => TypeRef::Any,
            },
            Shape::Union(_) if self.is_request_id(node) => TypeRef::RequestId,
            Shape::Strings(_) | Shape::Object(_) | Shape::Union(_) => self.inline(node, context),
        }
    }

    /// Records the name of the type at a position, unless another type has the same position.
    fn record(&mut self, context: &Context<'_>, name: &str) {
        let recorded = self.positions.entry(context.position.clone());
        let recorded = recorded.or_insert_with(|| Some(name.to_owned()));
        recorded.take_if(|recorded| recorded != name);
    }

    /// Whether a union is the id of JSON-RPC's messages, or an unnamed one with the same values.
    fn is_request_id(&self, node: &Node) -> bool {
        let is_definition = self.rust_names.contains_key(&node.pointer);
        let is_id = |id: &Node| id.pointer == node.pointer || !is_definition && is_string_or_integer(&node.shape);
        self.request_id.is_some_and(is_id)
    }

    fn is_result_union(&self, pointer: &str) -> bool {
        let definition = self.input.shapes().definitions.get(pointer);
        definition.is_some_and(|definition| RESULTS.iter().any(|(name, _)| *name == definition.name))
    }

    /// Returns the type of an unnamed node.
    fn inline(&mut self, node: &Node, context: &Context<'_>) -> TypeRef {
        let shape = key(&node.shape);
        let shared = group_of(node, context, &shape).and_then(|group| self.shared.get(&group).cloned());
        let name = shared.unwrap_or_else(|| {
            let wanted = self.wanted_name(node, context).1;
            unique(&wanted, |name| self.keys.get(name).is_some_and(|other| *other != shape))
        });
        self.record(context, &name);
        self.inline.insert(node.pointer.clone(), name.clone());
        let is_definition = self.rust_names.values().any(|definition| *definition == name);
        if self.types.contains_key(&name) {
            // The type is already built, but its parts have other positions here, which are recorded.
            self.kind(&name, node);
        } else if !is_definition {
            self.keys.insert(name.clone(), shape);
            // The name is recorded before the type is built, because the type can contain itself.
            self.define(&name, node, &name, false);
        }
        TypeRef::Named(name)
    }
}

/// Returns the value that constructors give a member: its preset, or for a required member, its tag.
fn preset(property: &Property) -> Option<Value> {
    let tag = property.node.tag.clone().filter(|_| property.required);
    property.node.preset.clone().or(tag.map(Value::String))
}

impl<'c> Context<'c> {
    /// The position of a type itself.
    fn of_type(parent: &'c str) -> Self {
        let position = parent.to_owned();
        Self {
            parent,
            member: "",
            position,
        }
    }

    fn of_member(parent: &'c str, member: &'c str) -> Self {
        let position = format!("{parent}.{member}");
        Self {
            parent,
            member,
            position,
        }
    }

    /// The position of a variant of the union at this position. An unnamed variant is named after its label.
    fn variant(&self, label: Option<&'c str>) -> Self {
        let step = format!("|{}", label.unwrap_or_default());
        Self {
            member: label.unwrap_or(self.member),
            ..self.within(&step)
        }
    }

    fn within(&self, step: &str) -> Self {
        let position = format!("{}{step}", self.position);
        Self { position, ..*self }
    }

    /// Returns the parent's name followed by the member's; with the suffix `Value` in a map, and `Item` instead of a
    /// missing member.
    fn default_name(&self) -> String {
        let in_map = self.position.ends_with("{}");
        match (self.member, in_map) {
            ("", true) => format!("{}Value", self.parent),
            ("", false) => format!("{}Item", self.parent),
            (member, true) => format!("{}Value", member_name(self.parent, member)),
            (member, false) => member_name(self.parent, member),
        }
    }
}
