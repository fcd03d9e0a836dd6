//! The messages that a side of the hub receives from the other, as values for templates.

use heck::ToSnakeCase;
use serde::Serialize;
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
    side: &'static str,
    other: &'static str,
    /// The union of the other side's requests.
    requests: String,
    /// The union of their results.
    results: String,
}

/// A message that the other side may send, as a function.
#[derive(Serialize)]
pub(super) struct Call<'i> {
    #[serde(skip)]
    pub(super) method: &'i Method,
    name: &'i str,
    /// The note of its deprecation.
    deprecated: Option<String>,
    /// Its variant in the union of such messages.
    pub(super) variant: String,
    /// The name of the handler's and the caller's function for it.
    function: String,
    /// The name of the function that sends it, if it is a notification.
    notify: String,
    /// The declared type of the argument with its parameters; `None` for a message that declares none.
    params: Option<String>,
    /// Whether they may be absent.
    pub(super) optional: bool,
    /// The field of the message that has them.
    pub(super) field: Option<String>,
    /// A statement that creates the message.
    pub(super) message: String,
    /// Whether a session handles it itself.
    internal: bool,
    /// The result of its handler, and the expression that converts this to a result of the side.
    handled: Option<Handled>,
    pub(super) result: Option<UsualResult>,
}

#[derive(Serialize)]
struct Handled {
    result: String,
    made: String,
}

/// The usual result of a method, and its variant in the union of results.
#[derive(Serialize)]
pub(super) struct UsualResult {
    pub(super) ty: String,
    pub(super) variant: String,
}

impl<'i> Side<'i> {
    pub(super) fn new(input: &AdaptersInput<'i>, side: &'static str, other: &'static str) -> Self {
        let model = input.hub();
        let (requests, results) = model.requests_of(other);
        Self {
            model,
            identifiers: input.identifiers,
            side,
            other,
            requests,
            results,
        }
    }

    /// Returns the template's values for the side's handler, and for the calls to it.
    pub(super) fn values(&self) -> Value {
        let results = self.results();
        // No request can be handled if there are no results.
        let requests = self.calls(&self.requests, MessageKind::Request);
        let requests = requests.filter(|_| !results.is_empty());
        let notifications = format!("{}Notification", self.other);
        let sent = self.calls(&notifications, MessageKind::Notification);
        let all = [&requests, &sent].into_iter().flatten().flat_map(|(calls, _)| calls);
        let internal = all.filter(|call| call.internal);
        let internal = Vec::from_iter(internal.map(|call| format!("`{}`", call.method.name))).join(", ");
        let calls = requests.as_ref().map_or(&[][..], |(calls, _)| calls.as_slice());
        json!({
            "side": self.side,
            "handler": self.side.to_lowercase(),
            "caller": self.other.to_lowercase(),
            "by_session": internal,
            "results": self.results,
            "has_others": results.len() > 1,
            "pages": self.pages(calls),
            "rounds": self.rounds(calls),
            "requests": requests.map(|(calls, unknown)| union(&self.requests, &calls, &unknown)),
            "notifications": sent.map(|(calls, unknown)| union(&notifications, &calls, &unknown)),
        })
    }

    /// Returns the messages of a union that the other side may send, and the variant for undeclared ones.
    fn calls(&self, union: &str, kind: MessageKind) -> Option<(Vec<Call<'_>>, String)> {
        let TypeKind::Methods(methods) = self.model.kind(union)? else {
            return None;
        };
        let (variants, unknown) = method_variants(methods);
        let calls = methods.iter().zip(variants).filter_map(|((name, ty), variant)| {
            let method = self.model.method(name)?;
            self.call(method, ty, variant, kind)
        });
        Some((calls.collect(), unknown))
    }

    fn call<'c>(&'c self, method: &'c Method, ty: &str, variant: String, kind: MessageKind) -> Option<Call<'c>> {
        let (prefix, suffix) = match kind {
            MessageKind::Request => ("", "Request"),
            MessageKind::Notification => ("on_", "Notification"),
        };
        let declared = self.model.params(method);
        let field = self.identifiers.of(ty)?.get(PARAMS).cloned();
        let stem = ty.strip_suffix(suffix).unwrap_or(ty).to_snake_case();
        let result = method.results.first().and_then(|usual| {
            let (ty, variant) = self.results().into_iter().find(|(ty, _)| ty == usual)?;
            let ty = qualified(&ty);
            Some(UsualResult { ty, variant })
        });
        Some(Call {
            method,
            name: &method.name,
            deprecated: self.model.deprecation_of_method(method).map(Deprecation::note),
            variant,
            function: identifier(&format!("{prefix}{stem}")),
            notify: format!("notify_{stem}"),
            params: declared.map(|member| match member.required {
                true => qualified(&member.ty),
                false => format!("Option<{}>", qualified(&member.ty)),
            }),
            optional: declared.is_some_and(|member| !member.required),
            message: message(
                &qualified(&TypeRef::Named(method.ty.clone())),
                declared,
                field.as_deref(),
            ),
            field,
            internal: method.role.as_deref().is_some_and(is_internal),
            handled: result.as_ref().and_then(|usual| self.handled(method, usual)),
            result,
        })
    }

    /// Returns the results that this side may send, each with its variant in the union of results.
    fn results(&self) -> Vec<(TypeRef, String)> {
        let variants = variants_of_results(self.model, &self.results);
        let variants = variants.into_iter().flatten();
        variants.filter_map(|(ty, variant)| Some((ty?, variant))).collect()
    }

    fn handled(&self, method: &Method, usual: &UsualResult) -> Option<Handled> {
        let (model, results) = (self.model, &self.results);
        let Some(any) = &method.result_union else {
            return Some(Handled {
                result: usual.ty.clone(),
                made: format!("map(hub::{results}::{})", usual.variant),
            });
        };
        let result = qualified(any);
        if let Some(TypeKind::Results(all)) = model.kind(results)
            && method_results(model, method, all).is_some()
        {
            let made = "map(Into::into)".to_owned();
            return Some(Handled { result, made });
        }
        let ours = self.results();
        let arms = model.union_of(any)?.variants.iter().filter_map(|variant| {
            let (_, own) = ours.iter().find(|(own, _)| *own == variant.ty)?;
            Some(format!(
                "{result}::{}(result) => Ok(hub::{results}::{own}(result)),",
                variant.name
            ))
        });
        let arms: String = arms.collect();
        let name = &method.name;
        let made = format!("and_then(|result| match result {{ {arms} _ => Err(undeclared_kind({name:?})), }})");
        Some(Handled { result, made })
    }

    /// The type of a call's parameters.
    pub(super) fn params(&self, call: &Call<'_>) -> Option<&TypeRef> {
        Some(&self.model.params(call.method)?.ty)
    }

    pub(super) fn field(&self, ty: &TypeRef, member: &str) -> Option<String> {
        let TypeRef::Named(name) = self.model.resolve(ty) else {
            return None;
        };
        self.identifiers.of(name)?.get(member).cloned()
    }
}

fn union(name: &str, calls: &[Call<'_>], unknown: &str) -> Value {
    json!({"union": name, "unknown": unknown, "calls": calls})
}

/// Returns a statement that creates a message of a type, with its parameters in a field.
fn message(ty: &str, params: Option<&Member>, field: Option<&str>) -> String {
    match (params, field) {
        (Some(params), Some(_)) if params.is_argument() => format!("let message = {ty}::new(params);"),
        (Some(_), Some(PARAMS)) => format!("let message = {ty} {{ params, ..{ty}::default() }};"),
        (Some(_), Some(field)) => format!("let message = {ty} {{ {field}: params, ..{ty}::default() }};"),
        _ => format!("let message = {ty}::default();"),
    }
}
