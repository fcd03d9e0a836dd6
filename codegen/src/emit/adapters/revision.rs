//! The enum of revisions, and the table of what is known of each.

use std::collections::{BTreeMap, BTreeSet};

use super::facts::facts;
use super::input::AdaptersInput;
use super::names::variant_name;
use super::pair::Pair;
use crate::adapt::ErrorPlan;
use crate::emit::source;
use crate::model::{Method, Need};

/// The file of the enum.
pub(super) fn revisions(input: &AdaptersInput<'_>, header: &str) -> String {
    let variants = input.revisions.iter().map(|revision| {
        let (name, variant) = (&revision.model.revision, revision.variant());
        format!(
            "    /// Revision {name}.\n{}    {variant},\n",
            input.cfg(revision, "    ")
        )
    });
    let item = format!(
        "/// A revision of the protocol. The order is the protocol's, not that of the names.\n\
         #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]\n\
         #[non_exhaustive]\n\
         #[allow(non_camel_case_types, reason = \"the names are dates\")]\n\
         pub enum Revision {{\n{}}}\n",
        variants.collect::<String>()
    );
    let table = table(input);
    let imports =
        source::import("mcp_convert", &BTreeSet::from(["revisions".to_owned()])) + &input.imports(&table, &[]);
    let title = "//! The revisions by name and in order, and what is known of each.".to_owned();
    source::file(header, [title, imports, item, table])
}

fn table(input: &AdaptersInput<'_>) -> String {
    let latest = input.revisions.last().map(|revision| revision.variant().to_string());
    let (latest, hub) = (latest.unwrap_or_default(), variant_name(input.hub));
    let rows = input.revisions.iter().map(|revision| {
        let (variant, name, module) = (revision.variant(), &revision.model.revision, &revision.module);
        let cfg = input.cfg(revision, "        ");
        let facts: String = facts(revision)
            .iter()
            .map(|fact| format!("            {fact},\n"))
            .collect();
        format!("{cfg}        {variant} = {name:?}: {module} {{\n{facts}        }};\n")
    });
    let needs = by_method(input, |method| {
        let needs = method.needs.iter().map(|need| {
            let Need {
                member,
                value,
                other_than,
                capability,
                or_empty,
            } = need;
            format!(
                "mcp_convert::Need {{ member: {member:?}, value: {value:?}, other_than: {other_than:?}, \
                 capability: {capability:?}, or_empty: {or_empty} }}"
            )
        });
        needs.collect()
    });
    let tolerances = by_method(input, |method| {
        let tolerances = method.tolerances.iter().map(|tolerance| {
            let (member, found, beside, read) =
                (&tolerance.member, &tolerance.found, &tolerance.beside, &tolerance.read);
            format!(
                "mcp_convert::Tolerance {{ member: {member:?}, found: {found:?}, beside: {beside:?}, read: {read:?} }}"
            )
        });
        tolerances.collect()
    });
    let errors: String = input
        .pairs()
        .iter()
        .filter_map(|(_, pair, _)| errors(input, pair))
        .collect();
    format!(
        "revisions! {{\n    Revision: latest {latest}, hub {hub}\n    revisions {{\n{}    }}\n    needs {{\n{needs}    }}\n    tolerances \
         {{\n{tolerances}    }}\n    errors {{\n{errors}    }}\n}}\n",
        rows.collect::<String>()
    )
}

/// The rules about errors that go from one revision to the next, if there are any.
fn errors(input: &AdaptersInput<'_>, pair: &Pair<'_>) -> Option<String> {
    let rules = pair.plan.errors.iter().map(|plan| {
        let ErrorPlan {
            method,
            from,
            data,
            to,
            rule,
        } = plan;
        format!(
            "            mcp_convert::ErrorRule {{ method: {method:?}, from: {from}, data: &{data:?}, to: {to}, rule: {rule:?} }},\n"
        )
    });
    let rules: String = rules.collect();
    let (from, to) = (pair.from.variant(), pair.to.variant());
    let cfg = input.cfg(input.earlier(pair.from, pair.to), "        ");
    (!rules.is_empty()).then(|| format!("{cfg}        {from} {to} => [\n{rules}        ];\n"))
}

/// A row for the methods of a revision about which the same is said.
fn by_method(input: &AdaptersInput<'_>, said: impl Fn(&Method) -> Vec<String>) -> String {
    let rows = input.revisions.iter().flat_map(|revision| {
        let mut methods: BTreeMap<Vec<String>, Vec<String>> = BTreeMap::new();
        for method in &revision.model.methods {
            methods
                .entry(said(method))
                .or_default()
                .push(format!("{:?}", method.name));
        }
        methods.remove(&Vec::new());
        let (cfg, variant) = (input.cfg(revision, "        "), revision.variant());
        methods.into_iter().map(move |(said, methods)| {
            let said: String = said.iter().map(|said| format!("            {said},\n")).collect();
            format!(
                "{cfg}        {variant} {} => [\n{said}        ];\n",
                methods.join(" | ")
            )
        })
    });
    rows.collect()
}
