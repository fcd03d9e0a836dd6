//! What is true of a revision as a whole, as a row of the table of revisions.

use std::collections::BTreeMap;

use super::input::RevisionInput;
use crate::facts::{MirroredArguments, Mirrors};

/// What is true of a revision, by the names of the members of `Facts`: those that aren't as in `Facts::NONE`.
pub(super) fn facts(revision: &RevisionInput<'_>) -> Vec<String> {
    let (model, stated) = (revision.model, revision.facts);
    let truths = [
        ("released", revision.released),
        ("batches", model.batches),
        ("errors_without_id", model.errors_without_id),
        ("initializes", model.lifecycle.names.contains_key("begin")),
        ("listening", stated.listening.unwrap_or_default()),
        ("resumption", stated.resumption.unwrap_or_default()),
        ("polling", stated.polling.unwrap_or_default()),
        ("cancels_by_closing", stated.cancels_by_closing.unwrap_or_default()),
        ("authorizes_at_origin", stated.authorizes_at_origin.unwrap_or_default()),
        (
            "input_errors_as_results",
            stated.input_errors_as_results.unwrap_or_default(),
        ),
    ];
    let truths = truths.iter().filter(|(_, is_true)| *is_true);
    let mut facts: Vec<String> = truths.map(|(name, _)| format!("{name}: true")).collect();
    facts.push(format!("specification: {:?}", revision.specification));
    let headers = [
        ("version_header", &stated.version_header),
        ("session_header", &stated.session_header),
    ];
    let headers = headers
        .iter()
        .filter_map(|(name, header)| Some((name, header.as_ref()?.as_ref()?)));
    facts.extend(headers.map(|(name, header)| format!("{name}: Some({header:?})")));
    facts.extend(statuses(revision));
    facts.extend(stated.mirrors.as_ref().and_then(mirrors));
    facts
}

/// The statuses by code: those of the facts, and of the errors that the overlay defines.
fn statuses(revision: &RevisionInput<'_>) -> Option<String> {
    let mut statuses = revision.facts.statuses.clone().unwrap_or_default();
    let errors = revision.model.error_codes.iter();
    statuses.extend(errors.filter_map(|error| Some((error.code, error.status?))));
    let statuses: Vec<String> = statuses
        .iter()
        .map(|(code, status)| format!("({code}, {status})"))
        .collect();
    (!statuses.is_empty()).then(|| format!("statuses: &[{}]", statuses.join(", ")))
}

fn mirrors(mirrors: &Mirrors) -> Option<String> {
    if *mirrors == Mirrors::default() {
        return None;
    }
    let params = mirrors
        .params
        .iter()
        .flat_map(|(header, methods)| params(header, methods));
    let params = params.collect::<Vec<_>>().join(", ");
    let arguments = match &mirrors.arguments {
        Some(rule) => format!("Some({})", arguments(rule)),
        None => "None".to_owned(),
    };
    let method = &mirrors.method;
    Some(format!(
        "mirrors: mcp_convert::Mirrors {{ method: {method:?}, params: &[{params}], arguments: {arguments} }}"
    ))
}

fn params(header: &str, methods: &BTreeMap<String, String>) -> impl Iterator<Item = String> {
    methods.iter().map(move |(method, parameter)| {
        format!("mcp_convert::MirroredParam {{ header: {header:?}, method: {method:?}, parameter: {parameter:?} }}")
    })
}

fn arguments(arguments: &MirroredArguments) -> String {
    let MirroredArguments {
        prefix,
        keyword,
        call,
        list,
    } = arguments;
    let call = format!(
        "mcp_convert::MirroredCall {{ method: {:?}, name: {:?}, arguments: {:?} }}",
        call.method, call.name, call.arguments
    );
    let list = format!(
        "mcp_convert::MirroredList {{ method: {:?}, items: {:?}, name: {:?}, schema: {:?}, cursor: {:?}, next: {:?} }}",
        list.method, list.items, list.name, list.schema, list.cursor, list.next
    );
    format!("mcp_convert::MirroredArguments {{ prefix: {prefix:?}, keyword: {keyword:?}, call: {call}, list: {list} }}")
}
