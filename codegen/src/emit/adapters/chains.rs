//! Longer distances: conversions as chains of adjacent steps, by type and by name.

use std::collections::{BTreeMap, BTreeSet};

use super::input::{AdaptersInput, RevisionInput};
use super::names::mentions;
use super::pair::qualified;
use crate::adapt::Plan;
use crate::emit::source;
use crate::emit::tokens::{ident, text};
use crate::model::{TypeKind, TypeRef};

impl AdaptersInput<'_> {
    /// The plan from one revision to an adjacent one.
    fn plan(&self, from: usize, to: usize) -> Option<&Plan> {
        let (from, to) = (self.revisions.get(from)?, self.revisions.get(to)?);
        self.plans
            .iter()
            .find(|plan| plan.from == from.model.revision && plan.to == to.model.revision)
    }

    /// What a named type becomes one step further: the type of the same name, or the only one that there is.
    fn next(&self, from: usize, to: usize, ty: &str) -> Option<String> {
        let plan = self.plan(from, to)?;
        let becomes = plan
            .conversions
            .keys()
            .filter_map(|(source, target)| match (source, target) {
                (TypeRef::Named(source), TypeRef::Named(target)) if source == ty => Some(target),
                _ => None,
            });
        let becomes: Vec<&String> = becomes.collect();
        match becomes.as_slice() {
            [only] => Some((*only).clone()),
            several => several
                .iter()
                .find(|target| **target == ty)
                .map(|target| (*target).clone()),
        }
    }

    /// What a named type becomes at a distance.
    fn distant(&self, from: usize, to: usize, ty: &str) -> Option<String> {
        let mut at = from;
        let mut ty = ty.to_owned();
        while at != to {
            let next = if to > at { at + 1 } else { at - 1 };
            ty = self.next(at, next, &ty)?;
            at = next;
        }
        Some(ty)
    }
}

/// A module of conversions over more than one revision.
pub(super) struct Chain<'i> {
    pub(super) module: String,
    /// Of the two revisions, the one that isn't the hub.
    pub(super) other: &'i RevisionInput<'i>,
    pub(super) parts: [String; 3],
}

/// Conversions between the hub and the revisions that aren't next to it: a module for each way.
pub(super) fn chains<'i>(input: &AdaptersInput<'i>) -> Vec<Chain<'i>> {
    let Some(hub) = input.revisions.iter().position(|revision| input.is_hub(revision)) else {
        return Vec::new();
    };
    let others = (0..input.revisions.len()).filter(|other| other.abs_diff(hub) > 1);
    let modules = others.flat_map(|other| {
        let next_to_other = if other < hub { other + 1 } else { other - 1 };
        let ways = [(other, hub), (hub, other)].into_iter();
        ways.filter_map(move |(from, to)| {
            let table = chain(input, from, next_to_other, to)?;
            let [from, to] = [from, to].map(|at| &input.revisions[at].module);
            let title = "//! Conversions over more than one revision.".to_owned();
            let convert = source::import("mcp_convert", &BTreeSet::from(["chains".to_owned()]));
            let modules = input.revisions.iter().map(|revision| revision.module.to_string());
            let mut names: BTreeSet<String> = modules.filter(|module| mentions(&table, module)).collect();
            names.insert("Revision".to_owned());
            Some(Chain {
                module: format!("{from}_to_{to}"),
                other: &input.revisions[other],
                parts: [title, convert + &source::import("crate", &names), table],
            })
        })
    });
    modules.collect()
}

/// The chains from one revision to another; the part between the hub and `via` is a chain itself, or a single step.
fn chain(input: &AdaptersInput<'_>, from: usize, via: usize, to: usize) -> Option<String> {
    let [source, next, target] = [from, via, to].map(|at| &input.revisions[at].module);
    let types = input.revisions[from].model.types.iter();
    let types = types.filter(|(_, ty)| !matches!(ty.kind, TypeKind::Alias(_)));
    let rows = types.filter_map(|(ty, _)| {
        let between = input.distant(from, via, ty)?;
        let becomes = input.distant(via, to, &between)?;
        if *ty == between && *ty == becomes {
            return Some(ident(ty).to_string());
        }
        let [ty, between, becomes] = [ty, &between, &becomes].map(|name| ident(name));
        Some(format!("{ty} => {between} => {becomes}"))
    });
    let rows: Vec<String> = rows.collect();
    let rows = source::wrapped("    ", &rows);
    (!rows.is_empty()).then(|| format!("chains! {{\n    Revision: {source} => {next} => {target};\n{rows}}}\n"))
}

/// The file of the definitions of each revision by name, and what they become one revision earlier and later: a line each.
pub(super) fn translations(input: &AdaptersInput<'_>, header: &str) -> String {
    let tables: Vec<String> = (0..input.revisions.len()).map(|at| table(input, at)).collect();
    let modules = input.revisions.iter().map(|revision| revision.module.to_string());
    let mut names: BTreeSet<String> = modules.filter(|module| mentions(&tables.concat(), module)).collect();
    names.insert("Revision".to_owned());
    let arms = input.revisions.iter().zip(&tables).map(|(revision, table)| {
        let variant = revision.variant();
        format!("            Self::{variant} => definitions! {{\n{table}            }},\n")
    });
    let arms: String = arms.collect();
    let convert = ["Definition", "Translations", "definitions"].map(str::to_owned);
    let title = "//! What each definition becomes one revision earlier or later, by name.".to_owned();
    let imports = source::import("mcp_convert", &convert.into()) + &source::import("crate", &names);
    let code = format!(
        "impl Translations for Revision {{\n    fn translations(self) -> &'static [Definition<Self>] {{\n        match self \
         {{\n{arms}        }}\n    }}\n}}\n"
    );
    source::file(header, [title, imports, code])
}

/// A line for each definition of a revision.
fn table(input: &AdaptersInput<'_>, at: usize) -> String {
    let revision = &input.revisions[at];
    let model = revision.model;
    let neighbour = |to: Option<usize>| {
        let to = to?;
        let target = input.revisions.get(to)?;
        Some((input.plan(at, to)?, target, target.model.named_types()))
    };
    let (earlier, later) = (neighbour(at.checked_sub(1)), neighbour(Some(at + 1)));
    let types = model.named_types();
    let lines = types.iter().filter_map(|(name, ty)| {
        let ty = model.resolve(ty);
        if let TypeRef::Named(named) = ty
            && matches!(model.types.get(named).map(|ty| &ty.kind), Some(TypeKind::Results(_)))
        {
            // Which result it is depends on the request, which nobody tells.
            return None;
        }
        let step = |which: &str, neighbour: &Option<(&Plan, &RevisionInput<'_>, BTreeMap<&str, TypeRef>)>| {
            let (plan, target, types) = neighbour.as_ref()?;
            let name = plan.definitions.get(*name)?;
            let ty = typed(target, target.model.resolve(types.get(name.as_str())?));
            Some(format!(", {which} {name:?}: {ty}"))
        };
        let steps = [step("earlier", &earlier), step("later", &later)].into_iter().flatten();
        let steps: String = steps.collect();
        Some(format!("                {name:?}: {}{steps};\n", typed(revision, ty)))
    });
    lines.collect()
}

fn typed(revision: &RevisionInput<'_>, ty: &TypeRef) -> String {
    text(&qualified(&revision.module.to_string(), ty))
}
