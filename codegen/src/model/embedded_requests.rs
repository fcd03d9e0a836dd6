//! Input requests: requests that aren't sent, but are values in a result. The next request contains their results.
//!
//! They are recognised by the structure of the schema: such a request is in no union of the messages that a side sends,
//! has no envelope, and is reachable from the results of a request that is sent.

use std::collections::BTreeSet;

use mcp_wire::Direction;

use super::method::Method;
use super::modules::reachable;
use super::type_ref::TypeRef;
use super::types::{Model, TypeKind};
use super::unions_of_messages::union_members;
use crate::messages::{MessageKind, RESULTS};
use crate::normalise::Shapes;

/// The unions of the requests that a server sends directly, and of their results.
pub(super) const DIRECT: (&str, &str) = ("ServerRequest", "ClientResult");

/// Sets the direction of requests that only occur in results. `is_sent` identifies the methods in a union of sent
/// messages.
pub(super) fn find_requests_in_results(
    (model, shapes): (&Model, &Shapes),
    methods: &mut [Method],
    is_sent: impl Fn(&Method) -> bool,
) {
    let sent = methods.iter().filter(|method| is_sent(method));
    let results = sent.flat_map(|method| &method.results).filter_map(TypeRef::named);
    // A schema can have results that it pairs with no request.
    let unpaired = RESULTS
        .iter()
        .flat_map(|(union, _)| union_members(shapes, union).into_keys());
    let unpaired = unpaired.filter_map(|pointer| model.places.get(&pointer).cloned());
    let reached = reachable(model, results.map(str::to_owned).chain(unpaired).collect(), |_| false);
    for method in methods {
        let definition = model.definitions.get(&method.definition);
        let has_envelope = definition.is_some_and(|definition| definition.envelope.is_some());
        if method.kind == MessageKind::Request && reached.contains(&method.ty) && !has_envelope && !is_sent(method) {
            method.direction = Direction::InResult;
        }
    }
}

/// Turns the unions of such requests, and those of other requests that results contain, into unions of messages, which
/// are distinguished by their methods.
pub(super) fn unite_requests_in_results(model: &mut Model) {
    let results = model.methods.iter().flat_map(|method| &method.results);
    let results = results.filter_map(TypeRef::named).map(str::to_owned);
    let reached = reachable(model, results.collect(), |_| false);
    let method_of = |ty: &TypeRef| {
        let mut methods = model.methods.iter();
        let method = methods.find(|method| ty.as_named() == Some(&method.ty))?;
        (method.kind == MessageKind::Request).then_some(method)
    };
    let unions = model.types.iter().filter_map(|(name, ty)| {
        let TypeKind::Union(union) = &ty.kind else { return None };
        let methods = union.variants.iter().map(|variant| method_of(&variant.ty));
        let methods: Vec<&Method> = methods.collect::<Option<_>>()?;
        let is_in_result =
            reached.contains(name) || methods.iter().all(|method| method.direction == Direction::InResult);
        let methods = methods
            .into_iter()
            .map(|method| (method.name.clone(), method.ty.clone()));
        let mut methods = Vec::from_iter(methods);
        methods.sort();
        is_in_result.then(|| (name.clone(), methods))
    });
    for (name, methods) in unions.collect::<Vec<_>>() {
        if let Some(ty) = model.types.get_mut(&name) {
            ty.kind = TypeKind::Methods(methods);
        }
    }
}

impl Model {
    /// Returns the unions of the requests of a server to a client, each with that of their results: those that it sends,
    /// and those in its results. If there is only one request, these can be the types of that request and its result.
    pub(crate) fn input_requests(&self) -> Vec<(&str, &str)> {
        let is_union = |name: &str| matches!(self.kind(name), Some(TypeKind::Methods(_) | TypeKind::Results(_)));
        let (requests, results) = DIRECT;
        let direct = (is_union(requests) && is_union(results)).then_some(DIRECT);
        let in_results = self.types.iter().filter_map(|(name, ty)| {
            let TypeKind::Methods(methods) = &ty.kind else {
                return None;
            };
            let asked = methods.iter().map(|(name, _)| self.method(name));
            let asked = asked.map(|method| method.filter(|method| method.direction == Direction::InResult));
            let asked: Option<Vec<&Method>> = asked.collect();
            Some((name.as_str(), self.union_of_results(&asked?)?))
        });
        let mut found: Vec<_> = direct.into_iter().chain(in_results).collect();
        let mut embedded = self
            .methods
            .iter()
            .filter(|method| method.direction == Direction::InResult);
        if found.is_empty()
            && let (Some(only), None) = (embedded.next(), embedded.next())
            && let [result] = &only.results[..]
        {
            found.extend(result.named().map(|result| (only.ty.as_str(), result)));
        }
        found
    }

    /// Returns the union of exactly the results of some methods.
    fn union_of_results(&self, methods: &[&Method]) -> Option<&str> {
        let results = methods.iter().flat_map(|method| &method.results);
        let results: BTreeSet<&TypeRef> = results.map(|ty| self.resolve(ty)).collect();
        let mut unions = self.types.iter().filter(|(_, ty)| match &ty.kind {
            TypeKind::Union(union) => {
                let variants = union.variants.iter().map(|variant| self.resolve(&variant.ty));
                variants.collect::<BTreeSet<_>>() == results
            }
            _ => false,
        });
        unions.next().map(|(name, _)| name.as_str())
    }
}
