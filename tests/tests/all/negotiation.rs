//! Negotiation of a revision, and the facts and methods of each revision.

use crate::revisions::{V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28};
use mcp_adapters::mcp_wire::{Direction, definition_name, error_code};
use mcp_adapters::{Facts, Revision, UnknownRevision, accept, negotiate};
use serde_json::{Value, json};

/// The revisions whose data are repeated in these tests; there can be later ones.
const KNOWN: [Revision; 4] = [V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25];

/// Names that no revision has.
const ODD: [&str; 12] = [
    "",
    " ",
    "1.0",
    "2025-11-26",
    "2099-01-01",
    "2025-11-25 ",
    " 2025-11-25",
    "2025-11-25\0",
    "2025-11-25T00:00:00Z",
    "2025/11/25",
    "V2025_11_25",
    "２０２５-１１-２５",
];

// The server's side.

#[test]
fn a_server_chooses_the_requested_revision_if_it_supports_it() {
    for revision in Revision::ALL
        .into_iter()
        .filter(|revision| revision.facts().initializes)
    {
        assert_eq!(negotiate(revision.as_str(), &Revision::ALL), Some(revision));
        assert_eq!(negotiate(revision.as_str(), &[revision]), Some(revision));
    }
}

/// Returns the revisions that have a handshake.
fn with_handshake() -> impl Iterator<Item = Revision> {
    Revision::ALL
        .into_iter()
        .filter(|revision| revision.facts().initializes)
}

/// Returns the latest revision with a handshake.
fn latest() -> Option<Revision> {
    with_handshake().max()
}

#[test]
fn a_server_never_negotiates_a_revision_without_a_handshake() {
    for revision in Revision::ALL
        .into_iter()
        .filter(|revision| !revision.facts().initializes)
    {
        assert_eq!(negotiate(revision.as_str(), &Revision::ALL), latest());
        assert_eq!(negotiate(revision.as_str(), &[revision]), None);
    }
}

#[test]
fn a_server_chooses_its_latest_revision_if_it_does_not_support_the_requested_one() {
    assert_eq!(negotiate("2025-11-25", &[V2024_11_05, V2025_03_26]), Some(V2025_03_26));
    assert_eq!(negotiate("2024-11-05", &[V2025_11_25]), Some(V2025_11_25));
    assert_eq!(negotiate("2025-03-26", &[V2025_06_18, V2024_11_05]), Some(V2025_06_18));
}

#[test]
fn a_server_chooses_its_latest_revision_in_any_order_of_its_list() {
    for supported in [
        [V2024_11_05, V2025_06_18, V2025_03_26],
        [V2025_06_18, V2025_03_26, V2024_11_05],
    ] {
        assert_eq!(negotiate("2099-01-01", &supported), Some(V2025_06_18));
    }
}

#[test]
fn a_server_chooses_its_latest_revision_for_unknown_and_malformed_names() {
    for name in ODD {
        assert_eq!(negotiate(name, &Revision::ALL), latest(), "{name:?}");
        assert_eq!(negotiate(name, &[V2025_03_26]), Some(V2025_03_26), "{name:?}");
    }
    let long = "2025-11-25".repeat(100_000);
    assert_eq!(negotiate(&long, &Revision::ALL), latest());
}

#[test]
fn a_server_that_supports_no_revision_negotiates_none() {
    assert_eq!(negotiate::<Revision>("2025-11-25", &[]), None);
    assert_eq!(negotiate::<Revision>("", &[]), None);
}

// The client's side.

#[test]
fn a_client_accepts_any_revision_that_it_supports() {
    for revision in Revision::ALL {
        assert_eq!(accept(revision.as_str(), &Revision::ALL), Ok(revision));
    }
    assert_eq!(accept("2024-11-05", &[V2025_11_25, V2024_11_05]), Ok(V2024_11_05));
}

#[test]
fn a_client_refuses_a_revision_that_it_does_not_support() {
    let mismatch = accept("2024-11-05", &[V2025_06_18, V2025_11_25]).unwrap_err();
    assert_eq!(mismatch.requested, "2024-11-05");
    assert_eq!(mismatch.supported, [V2025_06_18, V2025_11_25]);
    assert_eq!(
        mismatch.to_string(),
        "revision \"2024-11-05\" is not among 2025-06-18, 2025-11-25"
    );
    for name in ODD {
        assert_eq!(accept(name, &Revision::ALL).unwrap_err().requested, name);
    }
    assert!(accept::<Revision>("2025-11-25", &[]).is_err());
}

#[test]
fn a_client_accepts_the_revision_of_a_server_only_if_it_supports_it() {
    for requested in with_handshake() {
        for only in with_handshake() {
            let answered = negotiate(requested.as_str(), &[only]).unwrap();
            let accepted = accept(answered.as_str(), &[requested]);
            assert_eq!(accepted.is_ok(), requested == only, "{requested} {only}");
        }
    }
}

#[test]
fn a_mismatch_is_reported_with_the_documented_error() {
    let error = accept("1.0.0", &[V2024_11_05]).unwrap_err().to_error();
    assert_eq!(error.code, error_code::INVALID_PARAMS);
    assert_eq!(
        serde_json::to_value(&error).unwrap(),
        json!({
            "code": -32602,
            "message": "Unsupported protocol version",
            "data": {"supported": ["2024-11-05"], "requested": "1.0.0"},
        })
    );
}

// The revisions.

#[test]
fn revisions_are_in_the_order_of_the_protocol() {
    assert!(Revision::ALL.starts_with(&KNOWN));
    assert!(Revision::ALL.is_sorted() && Revision::ALL.windows(2).all(|pair| pair[0] < pair[1]));
    assert_eq!(Revision::ALL.last(), Some(&Revision::LATEST));
    assert!(Revision::ALL.contains(&Revision::HUB));
}

#[test]
fn a_revision_is_written_by_its_name_in_the_protocol_and_read_back() {
    for (revision, name) in KNOWN
        .into_iter()
        .zip(["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
    {
        assert_eq!(revision.as_str(), name);
        assert_eq!(revision.to_string(), name);
        assert_eq!(name.parse(), Ok(revision));
        assert_eq!(serde_json::to_value(revision).unwrap(), json!(name));
        assert_eq!(serde_json::from_value::<Revision>(json!(name)).unwrap(), revision);
    }
    // A name with escapes can't be borrowed from the text.
    assert_eq!(
        serde_json::from_str::<Revision>(r#""2025\u002d11-25""#).unwrap(),
        V2025_11_25
    );
}

#[test]
fn an_unknown_name_is_an_error_that_lists_the_known_revisions() {
    let names = Revision::ALL.map(Revision::as_str).join(", ");
    assert!(names.starts_with("2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25"));
    for name in ODD {
        let unknown = UnknownRevision::new::<Revision>(name);
        assert_eq!(name.parse::<Revision>(), Err(unknown.clone()));
        let text = format!("there is no revision {name:?}; there are {names}");
        assert_eq!(unknown.to_string(), text);
        let error = serde_json::from_value::<Revision>(json!(name)).unwrap_err();
        assert_eq!(error.to_string(), text);
    }
    for other in [json!(20251125), json!(null), json!(["2025-11-25"])] {
        assert!(serde_json::from_value::<Revision>(other).is_err());
    }
}

#[test]
fn the_facts_of_each_revision_build_on_those_of_earlier_ones() {
    let first = Facts {
        released: true,
        initializes: true,
        ..Facts::default()
    };
    let without_specification = |revision: Revision| Facts {
        specification: "",
        ..*revision.facts()
    };
    assert_eq!(without_specification(V2024_11_05), first);
    let with_sessions = Facts {
        session_header: Some("Mcp-Session-Id"),
        listening: true,
        resumption: true,
        ..first
    };
    let with_batches = Facts {
        batches: true,
        authorizes_at_origin: true,
        ..with_sessions
    };
    assert_eq!(without_specification(V2025_03_26), with_batches);
    let with_version = Facts {
        version_header: Some("MCP-Protocol-Version"),
        ..with_sessions
    };
    assert_eq!(without_specification(V2025_06_18), with_version);
    let with_polling = Facts {
        errors_without_id: true,
        polling: true,
        input_errors_as_results: true,
        ..with_version
    };
    assert_eq!(without_specification(V2025_11_25), with_polling);
    let stateless = V2026_07_28.facts();
    assert!(!stateless.initializes && !stateless.listening && !stateless.resumption && !stateless.polling);
    assert!(stateless.cancels_by_closing && stateless.session_header.is_none());
    assert_eq!(stateless.version_header, Some("MCP-Protocol-Version"));
    for (code, status) in [
        (-32601, Some(404)),
        (-32020, Some(400)),
        (-32022, Some(400)),
        (-32602, None),
    ] {
        assert_eq!(stateless.status(code), status);
    }
}

#[test]
fn each_revision_links_the_specification_of_its_definitions() {
    let link = |revision: Revision| revision.facts().link("CallToolResult");
    let page = "https://modelcontextprotocol.io/specification";
    assert_eq!(link(V2025_11_25), format!("{page}/2025-11-25/schema#calltoolresult"));
    assert_eq!(link(V2026_07_28), format!("{page}/2026-07-28/schema#calltoolresult"));
    // The first revisions have no page about their schema, so the link leads to the schema itself.
    assert!(
        link(V2024_11_05).ends_with("/schema/2024-11-05/schema.ts"),
        "{}",
        link(V2024_11_05)
    );
    for revision in Revision::ALL {
        assert!(!link(revision).contains(['{', '}']), "{}", link(revision));
    }
}

// Methods.

/// Returns the methods of a revision with their directions, sorted by name.
fn methods(revision: Revision) -> Vec<(&'static str, Direction)> {
    let mut methods: Vec<_> = revision
        .methods()
        .iter()
        .map(|method| (method.name, method.direction))
        .collect();
    methods.sort_unstable_by_key(|(name, _)| *name);
    methods
}

/// Returns the methods that `later` has and `earlier` lacks.
fn added(earlier: Revision, later: Revision) -> Vec<(&'static str, Direction)> {
    let known = methods(earlier);
    let is_new = |method: &(&str, Direction)| !known.contains(method);
    methods(later).into_iter().filter(is_new).collect()
}

#[test]
fn the_methods_of_2024_11_05_have_their_directions() {
    use Direction::{Both, ClientToServer, ServerToClient};
    let expected = [
        ("completion/complete", ClientToServer),
        ("initialize", ClientToServer),
        ("logging/setLevel", ClientToServer),
        ("notifications/cancelled", Both),
        ("notifications/initialized", ClientToServer),
        ("notifications/message", ServerToClient),
        ("notifications/progress", Both),
        ("notifications/prompts/list_changed", ServerToClient),
        ("notifications/resources/list_changed", ServerToClient),
        ("notifications/resources/updated", ServerToClient),
        ("notifications/roots/list_changed", ClientToServer),
        ("notifications/tools/list_changed", ServerToClient),
        ("ping", Both),
        ("prompts/get", ClientToServer),
        ("prompts/list", ClientToServer),
        ("resources/list", ClientToServer),
        ("resources/read", ClientToServer),
        ("resources/subscribe", ClientToServer),
        ("resources/templates/list", ClientToServer),
        ("resources/unsubscribe", ClientToServer),
        ("roots/list", ServerToClient),
        ("sampling/createMessage", ServerToClient),
        ("tools/call", ClientToServer),
        ("tools/list", ClientToServer),
    ];
    assert_eq!(methods(V2024_11_05), expected);
}

#[test]
fn each_known_revision_adds_methods_and_removes_none() {
    use Direction::{Both, ServerToClient};
    assert_eq!(added(V2024_11_05, V2025_03_26), []);
    assert_eq!(
        added(V2025_03_26, V2025_06_18),
        [("elicitation/create", ServerToClient)]
    );
    let tasks = [
        ("notifications/elicitation/complete", ServerToClient),
        ("notifications/tasks/status", Both),
        ("tasks/cancel", Both),
        ("tasks/get", Both),
        ("tasks/list", Both),
        ("tasks/result", Both),
    ];
    assert_eq!(added(V2025_06_18, V2025_11_25), tasks);
    for pair in KNOWN.windows(2) {
        assert_eq!(added(pair[1], pair[0]), [], "{} to {}", pair[0], pair[1]);
    }
}

#[test]
fn a_method_is_found_by_name_in_the_revisions_that_have_it() {
    assert!(V2025_03_26.method("elicitation/create").is_none());
    let elicit = V2025_06_18.method("elicitation/create").unwrap();
    assert_eq!(
        (elicit.definition, elicit.results),
        ("#/definitions/ElicitRequest", &["#/definitions/ElicitResult"][..])
    );
    assert!(elicit.is_request() && elicit.direction.from_server() && !elicit.direction.from_client());
    for revision in Revision::ALL {
        for method in revision.methods() {
            assert_eq!(revision.method(method.name), Some(method));
            assert_eq!(
                method.is_request(),
                !method.name.starts_with("notifications/"),
                "{}",
                method.name
            );
        }
        for name in ["", "tools", "tools/call ", "Tools/Call", "example/extension"] {
            assert!(revision.method(name).is_none(), "{name:?}");
        }
    }
}

#[test]
fn requests_that_support_tasks_have_a_task_among_their_results() {
    for (method, result) in [
        ("tools/call", "CallToolResult"),
        ("sampling/createMessage", "CreateMessageResult"),
        ("elicitation/create", "ElicitResult"),
    ] {
        let results = |revision: Revision| {
            let results = revision.method(method).unwrap().results.iter();
            results.map(|pointer| definition_name(pointer)).collect::<Vec<_>>()
        };
        assert_eq!(results(V2025_06_18), [result]);
        assert_eq!(results(V2025_11_25), [result, "CreateTaskResult"]);
    }
    assert_eq!(V2025_11_25.method("ping").unwrap().results, ["#/$defs/EmptyResult"]);
}

#[test]
fn a_mismatch_lists_the_supported_revisions_in_their_order() {
    let error = accept("x", &[V2025_11_25, V2024_11_05]).unwrap_err().to_error();
    let data: Value = serde_json::from_str(error.data.unwrap().text()).unwrap();
    assert_eq!(data["supported"], json!(["2025-11-25", "2024-11-05"]));
}
