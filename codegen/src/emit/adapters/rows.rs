//! The rows of the tables that conversions are written in; `None` where a conversion needs code of its own.

use super::objects::field_of;
use super::pair::{Pair, methods_of, results_of, union_of};
use crate::adapt::{
    ConstantSource, MemberConversion, MemberPlan, StructPlan, UndeclaredAction, UndeclaredMember, ValuePlan,
    VariantConversion, VariantPlan,
};
use crate::emit::members::Field;
use crate::emit::messages::{method_variants, result_variants};
use crate::emit::source;
use crate::emit::tokens::ident;
use crate::emit::unions::unknown_variant;
use crate::model::TypeRef;

/// The tables of a file: rows by the name of the macro.
pub(super) type Tables = std::collections::BTreeMap<&'static str, Vec<String>>;

/// What a row begins with: the name of the type in both revisions, or two names.
fn names(source: &TypeRef, target: &TypeRef) -> Option<String> {
    let (source, target) = (ident(source.named()?), ident(target.named()?));
    Some(match source == target {
        true => source.to_string(),
        false => format!("{source} => {target}"),
    })
}

impl Pair<'_> {
    /// A row of `objects!`.
    pub(super) fn object_row(&self, source: &TypeRef, target: &TypeRef, plan: &StructPlan) -> Option<String> {
        let (from, to) = (self.places(true, source)?, self.places(false, target)?);
        let is_same = |source: &ConstantSource| *source == ConstantSource::Same { optional: false };
        let constants_are_implied = plan
            .constants
            .iter()
            .all(|constant| !constant.optional && is_same(&constant.source));
        if plan.closed || !constants_are_implied {
            return None;
        }
        let fields: Option<Vec<String>> = plan
            .members
            .iter()
            .map(|member| member_row(member, &from, &to))
            .collect();
        let left: Option<Vec<String>> = plan.undeclared.iter().map(|member| left_row(member, &from)).collect();
        let (names, fields, left) = (names(source, target)?, fields?, left?);
        let leave = match left.is_empty() {
            true => String::new(),
            false => format!(" [leave {}]", left.join(", ")),
        };
        let line = format!("    {names} {{ {} }}{leave}", fields.join(", ")).replace("{  }", "{}");
        if line.len() <= source::WIDTH {
            return Some(line);
        }
        let fields = source::wrapped("        ", &fields);
        Some(format!("    {names} {{\n{fields}    }}{leave}"))
    }

    /// A row of `unions!`.
    pub(super) fn union_row(&self, source: &TypeRef, target: &TypeRef, variants: &[VariantPlan]) -> Option<String> {
        let (from, to) = (union_of(self.from, source)?, union_of(self.to, target));
        let other_unknown = to.and_then(unknown_variant);
        if variants.len() < 2 {
            return None;
        }
        let mut lines = Vec::new();
        for plan in variants {
            let name = ident(plan.variant.as_deref()?);
            let carry = other_unknown.as_ref().filter(|_| self.is_object(&plan.from));
            let carry = carry.map(|unknown| format!("carry({unknown}) or "));
            let carry = carry.unwrap_or_default();
            lines.push(match &plan.how {
                VariantConversion::Converted { boxed, .. } if *boxed != plan.boxed => return None,
                VariantConversion::Converted {
                    variant: Some(held), ..
                } => format!("{name} => {}", ident(held)),
                VariantConversion::Converted { .. } => format!("{name}: convert()"),
                VariantConversion::Replaced { template, rule } => {
                    format!("{name}: {carry}replace({template:?}, {rule:?})")
                }
                VariantConversion::NoCounterpart { name: what } => format!("{name}: {carry}no_counterpart({what:?})"),
                VariantConversion::Refused(refusal) => {
                    format!(
                        "{name}: refuse({}, {:?}, {:?})",
                        refusal.code, refusal.because, refusal.rule
                    )
                }
            });
        }
        if let Some(unknown) = unknown_variant(from) {
            lines.push(match other_unknown {
                Some(other) => format!("{unknown}: reinterpret({other})"),
                None => format!("{unknown}: close()"),
            });
        }
        let lines: String = lines.iter().map(|line| format!("        {line},\n")).collect();
        Some(format!("    {} {{\n{lines}    }}", names(source, target)?))
    }

    /// A row of `strings!`.
    pub(super) fn strings_row(&self, source: &TypeRef, target: &TypeRef) -> Option<String> {
        let is_enumeration = |revision: &super::input::RevisionInput<'_>, ty: &TypeRef| {
            ty.named()
                .is_some_and(|name| revision.items.enumeration(name).is_some())
        };
        let are_enumerations = is_enumeration(self.from, source) && is_enumeration(self.to, target);
        are_enumerations.then(|| names(source, target).map(|names| format!("    {names},")))?
    }

    /// A row of `methods!`.
    pub(super) fn methods_row(
        &self,
        source: &TypeRef,
        target: &TypeRef,
        methods: &[(String, Option<String>)],
    ) -> Option<String> {
        let (own, others) = (methods_of(self.from, source)?, methods_of(self.to, target)?);
        let (variants, unknown) = method_variants(own);
        let (other_variants, other_unknown) = method_variants(others);
        let lines = own.iter().zip(&variants).map(|((method, ty), variant)| {
            let becomes = methods
                .iter()
                .find(|(name, _)| name == ty)
                .and_then(|(_, other)| other.as_ref());
            let other = becomes.and_then(|ty| others.iter().position(|(_, other)| other == ty));
            match other.and_then(|at| other_variants.get(at)) {
                Some(other) => format!("        {variant} => {other},\n"),
                None => format!("        {variant} => missing {method:?},\n"),
            }
        });
        let lines: String = lines.collect();
        let only_there = others.iter().map(|(method, _)| method);
        let only_there = only_there.filter(|method| own.iter().all(|(own, _)| own != *method));
        let only_there: Vec<String> = only_there.map(|method| format!("{method:?}")).collect();
        let except = match only_there.is_empty() {
            true => String::new(),
            false => format!(" except {}", only_there.join(" | ")),
        };
        let names = names(source, target)?;
        Some(format!(
            "    {names} {{\n{lines}        _ => {unknown} => {other_unknown}{except},\n    }}"
        ))
    }

    /// A row of `results!`.
    pub(super) fn results_row(
        &self,
        source: &TypeRef,
        target: &TypeRef,
        results: &[(TypeRef, Option<TypeRef>)],
    ) -> Option<String> {
        let (own, others) = (results_of(self.from, source)?, results_of(self.to, target)?);
        let unknown = self.from.model.unknown_result(own).map(|unknown| {
            let other = self.to.model.unknown_result(others);
            format!("        _ => {unknown} => {},\n", other.as_deref().unwrap_or("missing"))
        });
        let others = result_variants(others);
        let lines = result_variants(own).into_iter().map(|(ty, variant)| {
            let becomes = results
                .iter()
                .find(|(own, _)| *own == ty)
                .and_then(|(_, other)| other.as_ref());
            match becomes.and_then(|ty| others.iter().find(|(other, _)| other == ty)) {
                Some((_, other)) => format!("        {variant} => {other},\n"),
                None => format!("        {variant} => missing,\n"),
            }
        });
        let lines: String = lines.chain(unknown).collect();
        let name = ident(source.named().filter(|name| target.named() == Some(*name))?);
        Some(format!("    {name} {{\n{lines}    }}"))
    }
}

/// A field of a row of `objects!`.
fn member_row(plan: &MemberPlan, from: &[Field<'_>], to: &[Field<'_>]) -> Option<String> {
    if plan.default.is_some() || plan.checked.is_some() || !plan.declared.is_empty() {
        return None;
    }
    let name = &plan.to.name;
    let field = field_of(to, name)?;
    match &plan.value {
        ValuePlan::Shared(source, how) => {
            if source.boxed != plan.to.boxed || source.name != *name || field_of(from, &source.name)? != field {
                return None;
            }
            match (how, source.required, plan.to.required) {
                (MemberConversion::Moved, is, must) if is == must => Some(field.to_string()),
                (MemberConversion::Converted, is, must) if is == must => Some(format!("{field}: {name:?}")),
                (MemberConversion::Moved, false, true) => Some(format!("{field}: {name:?} [require]")),
                (MemberConversion::Called { function, rule }, ..) => Some(format!(
                    "{field}: {name:?} [call functions::{}, {rule:?}]",
                    ident(function)
                )),
                _ => None,
            }
        }
        ValuePlan::Adopted {
            constant: None,
            pointer: Some(pointer),
            supplied: None,
        } if !plan.to.required && !plan.to.boxed => Some(format!("{field}: {name:?} [adopt {pointer:?}]")),
        ValuePlan::Adopted { .. } => None,
    }
}

/// A member of a row of `objects!` that the target doesn't declare.
fn left_row(member: &UndeclaredMember, from: &[Field<'_>]) -> Option<String> {
    let UndeclaredAction::Left { rule } = &member.how else {
        return None;
    };
    if member.constant.is_some() || !member.optional || member.implied.is_some() {
        return None;
    }
    let (name, field) = (&member.name, field_of(from, &member.name)?);
    Some(match rule.as_str() {
        crate::adapt::AUTOMATIC => format!("{name:?} => {field}"),
        rule => format!("{name:?} => {field} by {rule:?}"),
    })
}
