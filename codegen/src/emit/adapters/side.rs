//! The messages that a side of the hub receives from the other, as values for templates.

use heck::ToSnakeCase;
use serde_json::{Value, json};

use super::input::AdaptersInput;
use crate::emit::identifiers::Identifiers;
use crate::emit::messages::{method_results, method_variants, variants_of_results};
use crate::emit::names::{identifier, qualified};
use crate::model::{Member, MessageKind, Method, Model, TypeKind, TypeRef, is_internal};
use crate::overlay::Deprecation;

/// The member of a message that has its parameters.
const PARAMS: &str = "params";

/// The handler of one side, and the calls of the other.
pub(super) struct Side<'i> {
    pub(super) model: &'i Model,
    /// The Rust names of the model's members and values.
    identifiers: &'i Identifiers,
    /// The union of the results of the other side's requests.
    union: &'i str,
    /// The results that this side may send, each with its variant in that union.
    results: Vec<(TypeRef, String)>,
}

/// A message that the other side may send.
pub(super) struct Call<'i> {
    pub(super) method: &'i Method,
    /// The member that has its parameters, if it declares any.
    pub(super) params: Option<&'i Member>,
    /// The template's values for the functions that handle, call and send it.
    pub(super) values: Value,
}

impl<'i> Side<'i> {
    /// Returns the template's values for the handler of a side, and for the other's calls to it.
    pub(super) fn values(input: &AdaptersInput<'i>, side: &str, other: &str) -> Value {
        let model = input.hub();
        let (requests, union) = model.requests_of(other);
        let results = variants_of_results(model, union).into_iter().flatten();
        let this = Self {
            model,
            identifiers: input.identifiers,
            union,
            results: results.filter_map(|(ty, variant)| Some((ty?, variant))).collect(),
        };
        let (calls, requests) = this.calls(requests, MessageKind::Request);
        let (sent, notifications) = this.calls(&format!("{other}Notification"), MessageKind::Notification);
        let internal = calls.iter().chain(&sent).filter(|call| call.values["internal"] == true);
        let internal = Vec::from_iter(internal.map(|call| format!("`{}`", call.method.name))).join(", ");
        json!({
            "side": side,
            "handler": side.to_lowercase(),
            "caller": other.to_lowercase(),
            "by_session": internal,
            "results": this.union,
            "has_others": this.results.len() > 1,
            "pages": this.pages(&calls),
            "rounds": this.rounds(&calls),
            "requests": requests,
            "notifications": notifications,
        })
    }

    /// Returns the messages of a union that the other side may send, and the template's values for the union, if there
    /// is one. No request can be handled if there are no results.
    fn calls(&self, union: &str, kind: MessageKind) -> (Vec<Call<'_>>, Option<Value>) {
        let is_handled = kind == MessageKind::Notification || !self.results.is_empty();
        let Some(TypeKind::Methods(methods)) = self.model.kind(union).filter(|_| is_handled) else {
            return (Vec::new(), None);
        };
        let (variants, unknown) = method_variants(methods);
        let calls = methods.iter().zip(variants).filter_map(|((name, ty), variant)| {
            let method = self.model.method(name)?;
            self.call(method, ty, variant, kind)
        });
        let calls: Vec<Call<'_>> = calls.collect();
        let values = Vec::from_iter(calls.iter().map(|call| &call.values));
        let values = json!({"union": union, "unknown": unknown, "calls": values});
        (calls, Some(values))
    }

    fn call<'c>(&'c self, method: &'c Method, ty: &str, variant: String, kind: MessageKind) -> Option<Call<'c>> {
        let (prefix, suffix) = match kind {
            MessageKind::Request => ("", "Request"),
            MessageKind::Notification => ("on_", "Notification"),
        };
        let params = self.model.params(method);
        let field = self.identifiers.of(ty)?.get(PARAMS);
        let place = format!("message.{}", field.map_or("", String::as_str));
        // How the parameters are taken from the message, and put there.
        let (taken, put) = match params.filter(|params| params.is_boxed()) {
            None => (place, PARAMS),
            Some(params) if params.required => (format!("*{place}"), "Box::new(params)"),
            Some(_) => (format!("{place}.map(|params| *params)"), "params.map(Box::new)"),
        };
        let stem = ty.strip_suffix(suffix).unwrap_or(ty).to_snake_case();
        let usual = method.results.first();
        let result = usual.and_then(|usual| self.results.iter().find(|(ty, _)| ty == usual));
        let values = json!({
            "name": method.name,
            "deprecated": self.model.deprecation_of_method(method).map(Deprecation::note),
            "internal": method.role.as_deref().is_some_and(is_internal),
            "variant": variant,
            "function": identifier(&format!("{prefix}{stem}")),
            "notify": format!("notify_{stem}"),
            "params": params.map(|member| match member.required {
                true => qualified(&member.ty),
                false => format!("Option<{}>", qualified(&member.ty)),
            }),
            "field": field,
            "taken": taken,
            "put": put,
            "ty": qualified(&TypeRef::Named(method.ty.clone())),
            "is_argument": params.is_some_and(Member::is_argument),
            "handled": result.and_then(|usual| self.handled(method, usual)),
            "result": result.map(|(ty, variant)| json!({"ty": qualified(ty), "variant": variant})),
        });
        Some(Call { method, params, values })
    }

    /// Returns the result of a method's handler, and what converts it to a result of the side: the function that maps it,
    /// or an arm for each variant.
    fn handled(&self, method: &Method, (usual, variant): &(TypeRef, String)) -> Option<Value> {
        let (model, results) = (self.model, self.union);
        let Some(any) = &method.result_union else {
            return Some(json!({"result": qualified(usual), "mapped_by": format!("hub::{results}::{variant}")}));
        };
        let result = qualified(any);
        if let Some(TypeKind::Results(all)) = model.kind(results)
            && method_results(model, method, all).is_some()
        {
            return Some(json!({"result": result, "mapped_by": "Into::into"}));
        }
        let arms = model.union_of(any)?.variants.iter().filter_map(|variant| {
            let (_, own) = self.results.iter().find(|(own, _)| *own == variant.ty)?;
            Some(json!({"variant": variant.name, "own": own}))
        });
        Some(json!({"result": result, "arms": Vec::from_iter(arms)}))
    }

    pub(super) fn field(&self, ty: &TypeRef, member: &str) -> Option<String> {
        let TypeRef::Named(name) = self.model.resolve(ty) else {
            return None;
        };
        self.identifiers.of(name)?.get(member).cloned()
    }
}
