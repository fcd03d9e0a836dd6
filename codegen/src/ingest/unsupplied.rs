//! Members that one of two revisions requires and the other doesn't declare.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;

use super::renamed::{Renamed, suggestion};
use crate::adapt::{NOTHING_SUPPLIES, NoteKind, OTHER_TYPE, Plan, Rules};
use crate::model::{ModelledRevision, TypeRef};
use crate::problem::Problem;

/// Returns a warning for each member that a new revision, or the one before, requires and that no rule supplies, since
/// conversions refuse all values then. A member that seems to be renamed already has a warning.
pub(super) fn unsupplied(
    [before, after]: [&ModelledRevision; 2],
    [up, down]: &[Plan; 2],
    renamed: &[Renamed],
) -> Vec<Problem> {
    let is_renamed = |member: &str| renamed.iter().any(|renamed| renamed.concerns(member));
    let warnings = |direction: &str, [source, target]: [&ModelledRevision; 2], plan: &Plan| {
        let mut found = refused(source, plan);
        found.retain(|member, _| !is_renamed(member));
        let is_consequence = |member: &str| {
            let objects = target.model.objects();
            let mut inner = objects.filter_map(|(_, object)| target.model.struct_of(&object.member(member)?.ty));
            inner.any(|object| object.required().any(|name| found.contains_key(name.as_str())))
        };
        let causes = found.iter().filter(|(member, _)| !is_consequence(member));
        let [from, to] = [source, target].map(|side| &side.model.revision);
        let warnings = causes.map(|(member, types)| {
            // The place of such a rule is where the member is declared.
            let known = supplied_before(target, member);
            let at = match types[..] {
                [only] if known.is_none() => format!("{only}.{member}"),
                _ => format!("*.{member}"),
            };
            let types = types.join(", ");
            let what = format!(
                "{to} requires `{member}` in {types}, and nothing supplies it: conversions from {from} refuse these"
            );
            let action = known.unwrap_or_else(|| format!("{direction}: {{default: …}}"));
            let condition = format!("if this is true of every peer of {from}");
            suggestion(after, what, &condition, &at, &action)
        });
        warnings.collect::<Vec<_>>()
    };
    let mut found = warnings("up", [before, after], up);
    found.extend(warnings("down", [after, before], down));
    found
}

/// Returns a warning for each required member whose type in a new revision no conversion knows: all objects that have it
/// are refused.
pub(super) fn of_another_type([before, after]: [&ModelledRevision; 2], [up, down]: &[Plan; 2]) -> Vec<Problem> {
    let refused = |source: &ModelledRevision, plan: &Plan| -> BTreeSet<String> {
        let notes = plan.notes.iter();
        let notes = notes.filter(|note| note.kind == NoteKind::Refused && note.what == OTHER_TYPE);
        let is_required = |at: &&String| {
            at.split_once('.').is_some_and(|(ty, member)| {
                let object = source.model.struct_of(&TypeRef::Named(ty.to_owned()));
                object.is_some_and(|object| object.required().any(|name| name == member))
            })
        };
        notes.map(|note| &note.at).filter(is_required).cloned().collect()
    };
    let [from, to] = [before, after].map(|revision| &revision.model.revision);
    let (up, down) = (refused(before, up), refused(after, down));
    let warnings = up.union(&down).map(|at| {
        let directions = match (up.contains(at), down.contains(at)) {
            (true, true) => format!("between {from} and {to}"),
            (true, false) => format!("from {from}"),
            (false, _) => format!("from {to}"),
        };
        let what = format!("{to} has another type of `{at}`: conversions {directions} refuse these");
        let help = "no rule converts the value; `cargo xtask adapters` lists what else is refused";
        Problem::new(after.documents.rules.file(), what).help(help)
    });
    warnings.collect()
}

/// Returns the members that the source doesn't declare and the target requires, each with the types that lack it.
fn refused<'p>(source: &ModelledRevision, plan: &'p Plan) -> BTreeMap<&'p str, Vec<&'p str>> {
    let mut found = BTreeMap::<_, Vec<_>>::new();
    let notes = plan.notes.iter();
    let refused = notes.filter(|note| note.kind == NoteKind::Refused && note.what == NOTHING_SUPPLIES);
    for (ty, member) in refused.filter_map(|note| note.at.split_once('.')) {
        let object = source.model.struct_of(&TypeRef::Named(ty.to_owned()));
        if !object.is_some_and(|object| object.declares(member)) {
            found.entry(member).or_default().push(ty);
        }
    }
    found
}

/// Returns what the rules of the revision that requires a member say about its absence in the revision before.
fn supplied_before(revision: &ModelledRevision, member: &str) -> Option<String> {
    let rules = Rules::of(revision.documents.rules.clone()).ok()?.rules.into_iter();
    let of_member = rules.filter(|rule| rule.at.split_once('.').is_some_and(|(_, name)| name == member));
    { of_member }.find_map(|rule| {
        let implied = rule.implied.map(|value| format!("implied: {value}"));
        implied.or_else(|| Some(format!("supplied: {}", json!(rule.supplied?))))
    })
}
