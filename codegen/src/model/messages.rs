//! Methods, their directions, and their results.
//!
//! They follow from the protocol's naming conventions: the result of `XRequest` is `XResult`, and unions such as
//! `ClientRequest` define which side sends which messages. The overlay defines the exceptions.

use std::collections::{BTreeMap, BTreeSet};

use mcp_json_schema::pointer;
use mcp_wire::Direction;
use serde_json::Value;

use super::embedded_requests::{find_requests_in_results, unite_requests_in_results};
use super::input::BuildInput;
use super::method::Method;
use super::type_ref::TypeRef;
use super::types::{Definition, Model, Type, TypeKind};
use super::unions_of_messages::{METHOD, union_members};
use crate::messages::{DIRECTIONS, MessageKind, RESPONSES, RESULTS, message_unions};
use crate::normalise::{Node, Shape, Shapes};

/// The definitions of an empty result, in the order of preference.
const EMPTY_RESULTS: [&str; 2] = ["EmptyResult", "Result"];

/// Adds the methods to a model that has its types, and replaces the unions of messages.
pub(crate) fn add_messages(model: &mut Model, input: &BuildInput<'_>) {
    model.methods = methods(model, input);
    complete_results(model, input.shapes());
    model.batches = has_batches(input.shapes());
    model.errors_without_id = has_errors_without_id(input.shapes());
    for (union, kind, direction) in DIRECTIONS {
        let members = model.methods.iter();
        let members = members.filter(|method| method.kind == kind && method.direction.includes(direction));
        let variants: Vec<(String, String)> = members.map(|method| (method.name.clone(), method.ty.clone())).collect();
        if variants.is_empty() {
            continue;
        }
        let repeats_envelope = |(_, ty): &(String, String)| {
            let mut definitions = model
                .definitions
                .values()
                .filter(|definition| definition.envelope.is_some());
            definitions.any(|definition| definition.ty.as_named() == Some(ty))
        };
        let envelope = variants.iter().any(repeats_envelope).then_some(kind);
        replace(model, union, TypeKind::Methods(variants), envelope);
    }
    for (union, direction) in RESULTS {
        let members = model.methods.iter();
        let members = members.filter(|method| method.direction.includes(direction) && !method.results.is_empty());
        let variants: Vec<(String, Vec<TypeRef>)> = members
            .map(|method| (method.name.clone(), method.results.clone()))
            .collect();
        if !variants.is_empty() {
            replace(model, union, TypeKind::Results(variants), None);
        }
    }
    unite_requests_in_results(model);
}

impl Model {
    /// Returns the methods of a union of messages, or that of a single message, each with the type of its message.
    pub(crate) fn messages(&self, ty: &TypeRef) -> Option<Vec<(String, String)>> {
        let ty = self.resolve(ty).as_named()?;
        match self.kind(ty)? {
            TypeKind::Methods(methods) => Some(methods.clone()),
            TypeKind::Struct(object) => Some(vec![(object.constant_text(METHOD)?.to_owned(), ty.to_owned())]),
            _ => None,
        }
    }
}

/// Replaces a type of the schema by a union of messages, or adds the union.
fn replace(model: &mut Model, name: &str, kind: TypeKind, envelope: Option<MessageKind>) {
    let (mut rust_name, mut pointer, mut official) = (name.to_owned(), String::new(), false);
    if let Some(definition) = model.definitions.get_mut(name) {
        definition.envelope = envelope;
        if let TypeRef::Named(existing) = &definition.ty {
            (rust_name, pointer, official) = (existing.clone(), definition.pointer.clone(), true);
        }
    }
    let ty = Type {
        official,
        pointer,
        ..Type::new(name, kind)
    };
    model.types.insert(rust_name, ty);
}

fn methods(model: &Model, input: &BuildInput<'_>) -> Vec<Method> {
    let senders = senders(input.shapes());
    let mut methods: Vec<Method> = model
        .definitions
        .iter()
        .filter(|(name, _)| DIRECTIONS.iter().all(|(union, ..)| union != name))
        .filter_map(|(name, definition)| method(model, input, &senders, name, definition))
        .collect();
    let is_sent = |method: &Method| {
        let definition = model.definitions.get(&method.definition);
        definition.is_some_and(|definition| senders.contains_key(&definition.pointer))
    };
    remove_copies(model, input.shapes(), &mut methods, is_sent);
    methods.sort_by(|a, b| (a.kind, &a.name).cmp(&(b.kind, &b.name)));
    find_requests_in_results((model, input.shapes()), &mut methods, is_sent);
    methods
}

/// Removes unions of messages that inline their one member, and whose names aren't those of the direction unions: their
/// schemas are copies of that member's.
fn remove_copies(model: &Model, shapes: &Shapes, methods: &mut Vec<Method>, is_sent: impl Fn(&Method) -> bool) {
    let is_named_as_one = |method: &Method| {
        let mut kinds = ["Request", "Notification"].into_iter();
        kinds.any(|kind| method.definition.ends_with(kind))
    };
    methods.sort_by_key(|method| {
        let last = (!is_sent(method), method.results.is_empty(), !is_named_as_one(method));
        (method.name.clone(), last)
    });
    // A definition that others refer to contains its envelope as a nested one, and the overlay can name it.
    let schema = |method: &Method| {
        let schema = pointer::resolve(&shapes.schema, model.pointer_of(method)).and_then(Value::as_object);
        let keywords = schema
            .into_iter()
            .flatten()
            .filter(|(keyword, _)| *keyword != "$defs" && !keyword.starts_with("x-"));
        keywords.collect::<Vec<_>>()
    };
    methods.dedup_by(|copy, method| {
        let is_same = copy.name == method.name && schema(copy) == schema(method);
        is_same && copy.results.is_empty() && !is_sent(copy)
    });
}

fn method(
    model: &Model,
    input: &BuildInput<'_>,
    senders: &Senders,
    name: &str,
    definition: &Definition,
) -> Option<Method> {
    let ty = definition.ty.as_named()?;
    let TypeKind::Struct(object) = model.kind(ty)? else {
        return None;
    };
    let method = object.constant_text(METHOD)?;
    if input.schema.imported.contains(&definition.pointer)
        || input.shapes().definitions.get(&definition.pointer)?.node.is_no_method
    {
        return None;
    }
    let unions = senders.get(&definition.pointer).map(Vec::as_slice).unwrap_or_default();
    let stated = unions.first().map(|(kind, _)| *kind);
    let kind = match stated.or(definition.envelope) {
        Some(kind) => kind,
        None if name.ends_with("Notification") => MessageKind::Notification,
        None => MessageKind::Request,
    };
    let (results, result_union) = match kind {
        MessageKind::Request => results(model, input, name, method),
        MessageKind::Notification => (Vec::new(), None),
    };
    let sent = |wanted: Direction| unions.iter().any(|(_, direction)| *direction == wanted);
    let direction = match (sent(Direction::ClientToServer), sent(Direction::ServerToClient)) {
        (true, false) => Direction::ClientToServer,
        (false, true) => Direction::ServerToClient,
        (true, true) => Direction::Both,
        (false, false) => direction_of_results(input.shapes(), model, &results),
    };
    Some(Method {
        role: None,
        capability: None,
        needs: Vec::new(),
        tolerances: Vec::new(),
        name: method.to_owned(),
        kind,
        direction,
        ty: ty.to_owned(),
        definition: name.to_owned(),
        results,
        result_union,
    })
}

/// The kinds and directions of the direction unions that contain each definition, by its pointer.
type Senders = BTreeMap<String, Vec<(MessageKind, Direction)>>;

fn senders(shapes: &Shapes) -> Senders {
    let mut senders = Senders::new();
    for (union, kind, direction) in DIRECTIONS {
        for pointer in union_members(shapes, union).into_keys() {
            senders.entry(pointer).or_default().push((kind, direction));
        }
    }
    senders
}

/// Returns the results of a request, and their union: those that `XResultResponse` or `XResult` defines and the overlay
/// adds, or else those that the overlay of an earlier revision defines.
fn results(model: &Model, input: &BuildInput<'_>, name: &str, method: &str) -> (Vec<TypeRef>, Option<TypeRef>) {
    let by_name = |name: &str| model.definitions.get(name).map(|definition| definition.ty.clone());
    let stem = result_stem(model, name);
    let response = RESPONSES.iter().find_map(|end| by_name(&format!("{stem}{end}")));
    let result_of = |response: &TypeRef| Some(model.struct_of(response)?.member("result")?.ty.clone());
    // A response can be a union with errors.
    let result_in = |response: &TypeRef| {
        let mut variants = model.union_of(response)?.variants.iter();
        variants.find_map(|variant| result_of(&variant.ty))
    };
    let stated = response.and_then(|response| result_of(&response).or_else(|| result_in(&response)));
    let usual = by_name(&format!("{stem}Result"));
    let tagged = stated.as_ref().and_then(|stated| model.union_of(stated)?.tagged());
    // The usual result can't be left out.
    let tagged = tagged.filter(|tagged| !tagged.others.iter().any(|other| Some(*other) == usual.as_ref()));
    let union = stated.clone().filter(|_| tagged.is_some());
    let mut results: Vec<TypeRef> = match tagged {
        // The kind of a result that has no value of the tag is unknown, which `ingest` warns of.
        Some(tagged) => tagged.variants.into_iter().map(|(ty, _)| ty.clone()).collect(),
        None => stated.or_else(|| usual.clone()).into_iter().collect(),
    };
    results.sort_by_key(|result| Some(result) != usual.as_ref());
    let said = |results: &BTreeMap<String, Vec<String>>| -> Vec<TypeRef> {
        let names = results.get(method).into_iter().flatten();
        names.filter_map(|name| by_name(name)).collect()
    };
    for result in said(&input.schema.overlay.results_by_method()) {
        if !results.contains(&result) {
            results.push(result);
        }
    }
    if results.is_empty() {
        results = said(input.inherited_results);
    }
    if results.is_empty() {
        results.extend(only_result_named(model, stem));
    }
    // Only named types and open JSON know how to validate themselves: a list or null isn't a type of its own.
    let results = results.into_iter().map(|result| match model.resolve(&result) {
        TypeRef::Named(_) | TypeRef::RawObject => result,
        _ => TypeRef::Any,
    });
    (results.collect(), union)
}

/// Gives a request without a result the only one that is the result of no request, or the empty one if each is the result
/// of a request.
fn complete_results(model: &mut Model, shapes: &Shapes) {
    let is_without = |method: &Method| method.kind == MessageKind::Request && method.results.is_empty();
    let without = model.methods.iter().filter(|method| is_without(method)).count();
    let result = match (&unused_results(model, shapes)[..], without) {
        ([only], 1) => Some(*only),
        ([], _) => empty_result(model),
        _ => None,
    };
    let result = result.and_then(|name| Some(model.definitions.get(name)?.ty.clone()));
    for method in model.methods.iter_mut().filter(|method| is_without(method)) {
        method.results.extend(result.clone());
    }
}

/// Returns the definition of empty results.
pub(super) fn empty_result(model: &Model) -> Option<&'static str> {
    let mut names = EMPTY_RESULTS.into_iter();
    names.find(|name| model.definitions.contains_key(*name))
}

/// Returns the definitions in the unions of results that are the result of no request, and aren't empty ones.
pub(super) fn unused_results<'s>(model: &Model, shapes: &'s Shapes) -> Vec<&'s str> {
    let used = model.requests().flat_map(|method| model.result_pointers(method));
    let used: BTreeSet<&str> = used.collect();
    let members = RESULTS
        .into_iter()
        .flat_map(|(union, _)| union_members(shapes, union).into_keys());
    let unused: BTreeSet<String> = members.filter(|pointer| !used.contains(pointer.as_str())).collect();
    let names = unused
        .iter()
        .filter_map(|pointer| Some(shapes.definitions.get(pointer)?.name.as_str()));
    names.filter(|name| !EMPTY_RESULTS.contains(name)).collect()
}

/// Returns the only definition whose name is that of a request with another last word, as in `XOutput`, in a schema without
/// `XResult`.
fn only_result_named(model: &Model, stem: &str) -> Option<TypeRef> {
    if model.definitions.keys().any(|name| name.ends_with("Result")) {
        return None;
    }
    let is_word = |word: &str| word.starts_with(char::is_uppercase) && word.matches(char::is_uppercase).count() == 1;
    let is_result = |word: &str| is_word(word) && !["Request", "Notification", "Params"].contains(&word);
    let mut named = model
        .definitions
        .iter()
        .filter(|(name, _)| name.strip_prefix(stem).is_some_and(is_result));
    let (_, only) = named.next().filter(|_| named.next().is_none())?;
    model.struct_of(&only.ty).map(|_| only.ty.clone())
}

/// Returns what the names of a request's results begin with. Requests that the schema defines as one have the results of
/// that one.
pub(super) fn result_stem<'m>(model: &'m Model, name: &'m str) -> &'m str {
    let stem = |name: &'m str| name.strip_suffix("Request").unwrap_or(name);
    let pointer = model.definitions.get(name).map(|definition| &definition.pointer);
    let around = pointer.and_then(|pointer| pointer.rsplit_once("/$defs/"));
    let outer = around.and_then(|(around, _)| {
        let mut definitions = model.definitions.iter();
        let (outer, definition) = definitions.find(|(_, definition)| definition.pointer == around)?;
        let is_of_messages = message_unions().any(|union| union == outer);
        model.union_of(&definition.ty).filter(|_| !is_of_messages)?;
        Some(outer.as_str())
    });
    stem(outer.unwrap_or(name))
}

/// Returns the direction of a request that is in no union: its sender is the peer that doesn't send its result.
fn direction_of_results(shapes: &Shapes, model: &Model, results: &[TypeRef]) -> Direction {
    let result = results.first().and_then(TypeRef::as_named);
    let pointer = result.and_then(|result| Some(&model.types.get(result)?.pointer));
    let is_in = |union: &str| pointer.is_some_and(|pointer| union_members(shapes, union).contains_key(pointer));
    let mut found = RESULTS.into_iter().filter(|(union, _)| is_in(union));
    match (found.next(), found.next()) {
        (Some((_, only)), None) => only,
        _ => Direction::Both,
    }
}

/// Whether messages can be sent in batches: a union of JSON-RPC messages has an array as a variant.
fn has_batches(shapes: &Shapes) -> bool {
    let has = |variants: &[Node], is_meant: fn(&Shape) -> bool| {
        variants.iter().any(|variant| is_meant(shapes.shape(variant)))
    };
    let is_message = |shape: &Shape| matches!(shape, Shape::Object(members) if members.contains_key("jsonrpc"));
    let mut definitions = shapes.definitions.values();
    definitions.any(|definition| match &definition.node.shape {
        Shape::Union(variants) => has(variants, is_message) && has(variants, |shape| matches!(shape, Shape::List(_))),
        _ => false,
    })
}

/// Whether an error response can lack the id: no definition of an error response requires it.
fn has_errors_without_id(shapes: &Shapes) -> bool {
    let definitions = shapes.definitions.values();
    let errors = definitions.filter_map(|definition| match &definition.node.shape {
        Shape::Object(members) if members.contains_key("jsonrpc") && members.contains_key("error") => Some(members),
        _ => None,
    });
    let mut errors = errors.peekable();
    errors.peek().is_some() && errors.all(|members| members.get("id").is_none_or(|id| !id.required))
}
