//! The enum of revisions, and the table of what is known of each.

use std::collections::{BTreeMap, BTreeSet};

use super::facts::facts;
use super::input::AdaptersInput;
use super::names::{module_name, variant_name};
use crate::adapt::{ErrorPlan, Plan};
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
        source::import("mcp_convert", &BTreeSet::from(["revisions".to_owned()])) + &input.imports(&table, &["hub"]);
    let title = "//! The revisions by name and in order, and what is known of each.".to_owned();
    let schemas = input.revisions.iter().filter(|revision| !input.is_hub(revision)).map(|revision| {
        let name = &revision.model.revision;
        format!(
            "{}    pub(super) static {}: mcp_wire::Schema = mcp_wire::Schema::new({name:?}, include_str!(\"../schemas/{name}.json\"));\n",
            input.cfg(revision, "    "),
            schema_name(name),
        )
    });
    let schemas: String = schemas.collect();
    let schemas = match schemas.is_empty() {
        true => String::new(),
        false => format!(
            "/// The schemas of the revisions whose types this crate doesn't need.\nmod schemas {{\n{schemas}}}\n"
        ),
    };
    source::file(header, [title, imports, item, schemas, table, definitions(input)])
}

/// The function for the definitions of a revision, which needs the type crates.
fn definitions(input: &AdaptersInput<'_>) -> String {
    let arms = input.revisions.iter().map(|revision| {
        let (variant, module) = (revision.variant(), &revision.module);
        format!("            Self::{variant} => crate::{module}::definitions::DEFINITIONS,\n")
    });
    let arms: String = arms.collect();
    format!(
        "#[cfg(feature = \"definitions\")]\nimpl Revision {{\n    /// The definitions of the revision's schema, by name.\n    \
         #[must_use]\n    pub const fn definitions(self) -> &'static [mcp_wire::Definition] {{\n        match self {{\n{arms}        }}\n    \
         }}\n}}\n"
    )
}

/// The name of the constant with the schema of a revision.
fn schema_name(revision: &str) -> String {
    module_name(revision).to_ascii_uppercase()
}

fn table(input: &AdaptersInput<'_>) -> String {
    let latest = input.revisions.last().map(|revision| revision.variant().to_string());
    let (latest, hub) = (latest.unwrap_or_default(), variant_name(input.hub));
    let rows = input.revisions.iter().map(|revision| {
        let (variant, name) = (revision.variant(), &revision.model.revision);
        let schema = match input.is_hub(revision) {
            true => "&hub::SCHEMA".to_owned(),
            false => format!("&schemas::{}", schema_name(name)),
        };
        let cfg = input.cfg(revision, "        ");
        let facts: String = facts(revision)
            .iter()
            .map(|fact| format!("            {fact},\n"))
            .collect();
        let table = format!("include_str!(\"../tables/{name}.json\")");
        format!("{cfg}        {variant} = {name:?}: {table}, {schema}, {{\n{facts}        }};\n")
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
    let errors: String = input.plans.iter().filter_map(|plan| errors(input, plan)).collect();
    format!(
        "revisions! {{\n    Revision: latest {latest}, hub {hub}\n    revisions {{\n{}    }}\n    needs {{\n{needs}    }}\n    tolerances \
         {{\n{tolerances}    }}\n    errors {{\n{errors}    }}\n}}\n",
        rows.collect::<String>()
    )
}

/// The rules about errors that go from one revision to the next, if there are any.
fn errors(input: &AdaptersInput<'_>, plan: &Plan) -> Option<String> {
    let rules = plan.errors.iter().map(|plan| {
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
    let (from, to) = (input.revision(&plan.from)?, input.revision(&plan.to)?);
    let cfg = input.cfg(input.earlier(from, to), "        ");
    let (from, to) = (from.variant(), to.variant());
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
