//! The made-up revisions.

use serde_json::{Value, json};

use super::MadeUp;

/// A revision with sessions and a discovery request.
pub const SESSIONS: MadeUp = MadeUp {
    name: "sessions",
    renamed: &[
        ("notifications/cancelled", "notifications/aborted"),
        ("notifications/message", "notifications/logged"),
        ("notifications/progress", "notifications/advanced"),
        (
            "notifications/subscriptions/acknowledged",
            "notifications/changes/watching",
        ),
        ("server/discover", "session/describe"),
        ("subscriptions/listen", "changes/watch"),
        ("io.modelcontextprotocol/logLevel", "org.example/level"),
        ("io.modelcontextprotocol/serverInfo", "org.example/host"),
        ("io.modelcontextprotocol/subscriptionId", "org.example/watch"),
        ("resultType", "resultSort"),
        ("toolsListChanged", "toolsNews"),
        ("resourceSubscriptions", "news"),
        (
            "session_header: null",
            "session_header: Example-Session\n  version_header: Example-Revision",
        ),
        ("listening: false", "listening: true"),
        ("cancels_by_closing: true", "cancels_by_closing: false"),
        ("statuses: {-32601: 404}", "statuses: {}"),
        ("Mcp-Method", "Example-Method"),
        ("Mcp-Name", "Example-Name"),
    ],
    new: &[
        ("begin", "session/open"),
        ("begun", "notifications/opened"),
        ("ping", "session/alive"),
        ("set-level", "session/level"),
        ("subscribe", "changes/follow"),
        ("unsubscribe", "changes/unfollow"),
    ],
    change: |schema| {
        let definitions = schema["$defs"].as_object_mut().unwrap();
        let meta = &mut definitions["RequestMetaObject"];
        meta.as_object_mut().unwrap().remove("required");
        let keys = meta["properties"].as_object_mut().unwrap();
        keys.retain(|key, _| !key.starts_with("io.modelcontextprotocol/"));
        for name in [
            "OpenRequest",
            "AliveRequest",
            "LevelRequest",
            "FollowRequest",
            "UnfollowRequest",
        ] {
            add(&mut definitions["ClientRequest"], name);
        }
        let notifications = ["CancelledNotification", "OpenNotification"].map(reference);
        definitions["ClientNotification"] = json!({"anyOf": notifications});
        // As in earlier revisions, servers send these as requests, not within results.
        for name in ["ElicitRequest", "CreateMessageRequest", "ListRootsRequest"] {
            let Some(request) = definitions.get_mut(name) else {
                continue;
            };
            request["properties"]["jsonrpc"] = json!({"const": "2.0", "type": "string"});
            request["properties"]["id"] = reference("RequestId");
            let required = request["required"].as_array_mut().unwrap();
            required.extend([json!("id"), json!("jsonrpc")]);
        }
        for (new, old) in [("ServerRequest", "InputRequest"), ("ClientResult", "InputResponse")] {
            let union = definitions[old].clone();
            definitions.insert(new.to_owned(), union);
        }
        // The state of a round, which refers to no definition.
        for definition in definitions.values_mut() {
            if let Some(members) = definition.get_mut("properties").and_then(Value::as_object_mut) {
                members.remove("requestState");
            }
        }
        remove(schema, |name| name.starts_with("Input"));
    },
};

/// A revision without sessions in which every method and member that the runtime uses on its own has another name.
pub const STATELESS: MadeUp = MadeUp {
    name: "stateless",
    renamed: &[
        ("notifications/cancelled", "notifications/aborted"),
        ("notifications/message", "notifications/logged"),
        ("notifications/progress", "notifications/advanced"),
        (
            "notifications/subscriptions/acknowledged",
            "notifications/changes/watching",
        ),
        ("server/discover", "server/describe"),
        ("subscriptions/listen", "changes/watch"),
        ("io.modelcontextprotocol/clientCapabilities", "org.example/offers"),
        ("io.modelcontextprotocol/clientInfo", "org.example/guest"),
        ("io.modelcontextprotocol/logLevel", "org.example/level"),
        ("io.modelcontextprotocol/protocolVersion", "org.example/revision"),
        ("io.modelcontextprotocol/serverInfo", "org.example/host"),
        ("io.modelcontextprotocol/subscriptionId", "org.example/watch"),
        ("io.modelcontextprotocol~1clientCapabilities", "org.example~1offers"),
        ("io.modelcontextprotocol~1protocolVersion", "org.example~1revision"),
        ("resultType", "resultSort"),
        ("promptsListChanged", "promptsNews"),
        ("resourcesListChanged", "resourcesNews"),
        ("toolsListChanged", "toolsNews"),
        ("resourceSubscriptions", "news"),
        ("supportedVersions", "speaks"),
        ("[complete, input_required]", "[complete, input_required, postponed]"),
        ("session_header: null", "version_header: Example-Revision"),
        ("Mcp-Method", "Example-Method"),
        ("Mcp-Name", "Example-Name"),
    ],
    new: &[],
    change: |schema| {
        let meta = &mut schema["$defs"]["RequestMetaObject"];
        meta["properties"]["org.example/trace"] = json!({"type": "string"});
        meta["required"]
            .as_array_mut()
            .unwrap()
            .push(json!("org.example/trace"));
    },
};

/// [`STATELESS`] with another kind of input request in results.
pub const ASKING: MadeUp = MadeUp {
    name: "asking",
    change: |schema| {
        (STATELESS.change)(schema);
        let definitions = schema["$defs"].as_object_mut().unwrap();
        add(&mut definitions["InputRequest"], "LocateRequest");
        add(&mut definitions["InputResponse"], "LocateResult");
    },
    ..STATELESS
};

/// A revision without sessions that renames methods of handlers and members of input requests and of progress, and that
/// has other error codes and statuses.
pub const EVERYTHING: MadeUp = MadeUp {
    name: "everything",
    renamed: &[
        ("notifications/cancelled", "aborted"),
        ("notifications/message", "logged"),
        ("notifications/progress", "advanced"),
        ("notifications/subscriptions/acknowledged", "watching"),
        ("notifications/tools/list_changed", "tools/changed"),
        ("notifications/resources/updated", "resource/changed"),
        ("server/discover", "describe"),
        ("subscriptions/listen", "watch"),
        ("tools/call", "tool/run"),
        ("tools/list", "tool/all"),
        ("resources/read", "resource/fetch"),
        ("elicitation/create", "question/form"),
        ("io.modelcontextprotocol/", "org.example/"),
        ("io.modelcontextprotocol~1", "org.example~1"),
        ("resultType", "resultSort"),
        ("requestState", "roundState"),
        ("inputRequests", "questions"),
        ("inputResponses", "answers"),
        ("progressToken", "progressKey"),
        ("\"requestId\"", "\"request\""),
        ("resourceSubscriptions", "news"),
        ("supportedVersions", "speaks"),
        ("session_header: null", "version_header: Example-Revision"),
        ("-32020", "-32120"),
        ("-32021", "-32121"),
        ("-32022", "-32122"),
        ("status: 400", "status: 422"),
        ("-32601: 404", "-32601: 410"),
        ("Mcp-Method", "Example-Method"),
        ("Mcp-Name", "Example-Name"),
        ("Mcp-Param-", "Example-Param-"),
    ],
    new: &[],
    change: |_| {},
};

/// A revision with sessions and subscriptions to single resources, without log messages, progress and cancellation.
pub const QUIET: MadeUp = MadeUp {
    name: "quiet",
    renamed: &[
        (
            "session_header: null",
            "session_header: Example-Session\n  version_header: Example-Revision",
        ),
        ("listening: false", "listening: true"),
        ("cancels_by_closing: true", "cancels_by_closing: false"),
        ("statuses: {-32601: 404}", "statuses: {}"),
    ],
    new: &[
        ("begin", "session/open"),
        ("begun", "notifications/opened"),
        ("ping", "session/alive"),
        ("subscribe", "changes/follow"),
        ("unsubscribe", "changes/unfollow"),
    ],
    change: |schema| {
        (SESSIONS.change)(schema);
        let is_gone = |name: &str| {
            let gone = [
                "SubscriptionsListen",
                "SubscriptionsAcknowledged",
                "LoggingMessage",
                "Level",
                "Progress",
                "Cancelled",
            ];
            gone.iter().any(|prefix| name.starts_with(prefix)) && name != "ProgressToken"
        };
        remove(schema, is_gone);
    },
};

/// A revision with a handshake in which each request nevertheless repeats the data of the handshake.
pub const BOTH: MadeUp = MadeUp {
    name: "both",
    renamed: &[
        (
            "session_header: null",
            "session_header: Example-Session\n  version_header: Example-Revision",
        ),
        ("listening: false", "listening: true"),
        ("cancels_by_closing: true", "cancels_by_closing: false"),
        ("resultType", "resultSort"),
    ],
    new: &[("begin", "session/open"), ("begun", "notifications/opened")],
    change: |schema| {
        let definitions = schema["$defs"].as_object_mut().unwrap();
        add(&mut definitions["ClientRequest"], "OpenRequest");
        let notifications = ["CancelledNotification", "OpenNotification"].map(reference);
        definitions["ClientNotification"] = json!({"anyOf": notifications});
    },
};

/// A revision that renames members, drops completion, and has parameters so large that messages have them behind a
/// pointer. Code written against the latest revision is compiled with it.
pub const HUB: MadeUp = MadeUp {
    name: "hub",
    renamed: &[
        ("\"isError\"", "\"failed\""),
        ("/isError", "/failed"),
        ("\"structuredContent\"", "\"structured\""),
        ("/structuredContent", "/structured"),
        ("\"nextCursor\"", "\"next\""),
        ("/nextCursor", "/next"),
        ("next: nextCursor", "next: next"),
    ],
    new: &[],
    change: |schema| {
        let is_gone = |name: &str| {
            let gone = ["Complete", "PromptReference", "ResourceTemplateReference"];
            gone.iter().any(|prefix| name.starts_with(prefix))
        };
        remove(schema, is_gone);
        let definitions = &mut schema["$defs"];
        let capabilities = &mut definitions["ServerCapabilities"]["properties"];
        capabilities.as_object_mut().unwrap().remove("completions");
        for index in 0..16 {
            let note = format!("note{index}");
            definitions["CreateMessageRequestParams"]["properties"][&note] = json!({"type": "string"});
            definitions["ListRootsRequest"]["properties"]["params"]["properties"][&note] = json!({"type": "string"});
        }
    },
};

/// [`STATELESS`] with other names for all definitions, and with named definitions for inline schemas of the latest
/// revision.
pub const RENAMED: MadeUp = MadeUp {
    name: "renamed",
    change: |schema| {
        let definitions = schema["$defs"].as_object_mut().unwrap();
        let mut added = Vec::new();
        for definition in definitions.values_mut() {
            name_inline(definition, &mut added);
        }
        definitions.extend(added);
        rename(schema, |name| !by_convention(name));
    },
    ..STATELESS
};

/// [`STATELESS`] with another name for the definition by which peers describe themselves.
pub const DESCRIBED: MadeUp = MadeUp {
    change: |schema| {
        (STATELESS.change)(schema);
        rename(schema, |name| name == "Implementation");
    },
    ..STATELESS
};

/// The prefix of renamed definitions.
pub(super) const OTHER: &str = "Other";

/// Whether the generator finds a definition by its name, so that it can't be renamed.
fn by_convention(name: &str) -> bool {
    let sides = ["Client", "Server", "JSONRPC"];
    sides.iter().any(|side| name.starts_with(side)) || ["Request", "Result"].iter().any(|end| name.ends_with(end))
}

/// Replaces objects and enumerations within a definition by references to new definitions.
fn name_inline(schema: &mut Value, added: &mut Vec<(String, Value)>) {
    let within = match schema {
        Value::Object(members) => members.values_mut().collect(),
        Value::Array(elements) => elements.iter_mut().collect::<Vec<_>>(),
        _ => return,
    };
    for schema in within {
        name_inline(schema, added);
        let is_object = schema["type"] == "object" && schema["properties"].is_object();
        if is_object || schema["enum"].is_array() {
            let name = format!("Inline{}", added.len());
            let definition = std::mem::replace(schema, reference(&name));
            added.push((name, definition));
        }
    }
}

/// Gives definitions other names.
fn rename(schema: &mut Value, is_renamed: impl Fn(&str) -> bool) {
    let definitions = schema["$defs"].as_object_mut().unwrap();
    let names: Vec<String> = definitions.keys().filter(|name| is_renamed(name)).cloned().collect();
    for name in &names {
        let definition = definitions.remove(name).unwrap();
        definitions.insert(format!("{OTHER}{name}"), definition);
    }
    rename_references(schema, &names);
}

/// Replaces the old names of definitions in references.
fn rename_references(schema: &mut Value, names: &[String]) {
    match schema {
        Value::Object(members) => {
            for (keyword, value) in members {
                let old = value.as_str().and_then(|it| it.strip_prefix("#/$defs/"));
                let new = old.filter(|old| keyword == "$ref" && names.iter().any(|name| name == old));
                match new.map(|name| json!(format!("#/$defs/{OTHER}{name}"))) {
                    Some(new) => *value = new,
                    None => rename_references(value, names),
                }
            }
        }
        Value::Array(elements) => elements.iter_mut().for_each(|value| rename_references(value, names)),
        _ => {}
    }
}

fn reference(name: &str) -> Value {
    json!({"$ref": format!("#/$defs/{name}")})
}

/// Removes definitions, and the members and variants that refer to them.
fn remove(schema: &mut Value, is_gone: impl Fn(&str) -> bool) {
    let definitions = schema["$defs"].as_object_mut().unwrap();
    definitions.retain(|name, _| !is_gone(name));
    let refers = |schema: &Value| {
        let definition = schema["$ref"].as_str().and_then(|it| it.strip_prefix("#/$defs/"));
        definition.is_some_and(&is_gone)
    };
    for definition in definitions.values_mut() {
        remove_references(definition, &refers);
    }
}

fn remove_references(schema: &mut Value, refers: &dyn Fn(&Value) -> bool) {
    if let Some(members) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        members.retain(|_, member| !refers(member));
    }
    if let Some(variants) = schema.get_mut("anyOf").and_then(Value::as_array_mut) {
        let all = variants.len();
        variants.retain(|variant| !refers(variant));
        if let ([only], true) = (&**variants, all > 1) {
            *schema = only.clone();
        }
    }
    match schema {
        Value::Object(members) => members.values_mut().for_each(|inner| remove_references(inner, refers)),
        Value::Array(elements) => elements.iter_mut().for_each(|inner| remove_references(inner, refers)),
        _ => {}
    }
}

/// Adds a definition to a union, or to a definition that is the same as another one.
fn add(union: &mut Value, name: &str) {
    match union.get_mut("anyOf").and_then(Value::as_array_mut) {
        Some(variants) => variants.push(reference(name)),
        None => *union = json!({"anyOf": [union.clone(), reference(name)]}),
    }
}
