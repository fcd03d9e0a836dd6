//! Revisions that nobody published: what they are called, and how the latest one becomes them.

use std::fs;
use std::path::{Path, PathBuf};

use mcp_codegen::GenerateOptions;
use mcp_codegen::ingest::{IngestOptions, Position, ingest};
use serde_json::{Value, json};

pub const LATEST: &str = "2026-07-28";
pub const MADE_UP: &str = "2099-01-01";

/// A revision that is made of the latest one.
pub struct MadeUp {
    /// The directory of its definitions and rules.
    pub name: &'static str,
    /// What the methods and members of the latest revision are called in it.
    pub renamed: &'static [(&'static str, &'static str)],
    /// What it has that the latest revision lacks: the role, and the method.
    pub new: &'static [(&'static str, &'static str)],
    /// Changes the schema of the latest revision beyond its names.
    pub change: fn(&mut Value),
}

/// A revision with sessions and a discovery.
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
        // Servers ask their clients again, outside of results.
        for name in ["ElicitRequest", "CreateMessageRequest", "ListRootsRequest"] {
            let request = &mut definitions[name];
            request["properties"]["jsonrpc"] = json!({"const": "2.0", "type": "string"});
            request["properties"]["id"] = reference("RequestId");
            let required = request["required"].as_array_mut().unwrap();
            required.extend([json!("id"), json!("jsonrpc")]);
        }
        for (new, old) in [("ServerRequest", "InputRequest"), ("ClientResult", "InputResponse")] {
            let union = definitions[old].clone();
            definitions.insert(new.to_owned(), union);
        }
        for name in ["CallTool", "GetPrompt", "ReadResource"] {
            let result = reference(&format!("{name}Result"));
            definitions[&format!("{name}ResultResponse")]["properties"]["result"] = result;
            let params = &mut definitions[&format!("{name}RequestParams")]["properties"];
            let params = params.as_object_mut().unwrap();
            params.retain(|member, _| !["inputResponses", "requestState"].contains(&member.as_str()));
        }
        let results = definitions["ServerResult"]["anyOf"].as_array_mut().unwrap();
        results.retain(|result| *result != reference("InputRequiredResult"));
        definitions.retain(|name, _| !name.starts_with("Input"));
    },
};

/// A revision without sessions: all that a session does by itself has another name.
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
        ("to: \"2026-07-28\"", "to: \"2099-01-01\""),
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

/// The same with other names for what handlers do, for the members of rounds and of progress, and with other error codes and
/// statuses.
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
        ("to: \"2026-07-28\"", "to: \"2099-01-01\""),
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

/// The same with another request that occurs in results.
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

/// The same with other names for all definitions, and with definitions for what has no name in the latest revision.
pub const RENAMED: MadeUp = MadeUp {
    name: "renamed",
    change: |schema| {
        let definitions = schema["$defs"].as_object_mut().unwrap();
        let mut added = Vec::new();
        for definition in definitions.values_mut() {
            name_inline(definition, &mut added);
        }
        definitions.extend(added);
        let names: Vec<String> = definitions
            .keys()
            .filter(|name| !by_convention(name))
            .cloned()
            .collect();
        for name in &names {
            let definition = definitions.remove(name).unwrap();
            definitions.insert(format!("{OTHER}{name}"), definition);
        }
        rename_references(schema, &names);
    },
    ..STATELESS
};

/// What the names of renamed definitions begin with.
const OTHER: &str = "Other";

/// Whether the generator finds a definition by its name.
fn by_convention(name: &str) -> bool {
    let sides = ["Client", "Server", "JSONRPC"];
    sides.iter().any(|side| name.starts_with(side)) || ["Request", "Result"].iter().any(|end| name.ends_with(end))
}

/// Replaces the objects and enumerations within a definition by references to new definitions.
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

/// Leads references to definitions by their old names to the new ones.
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

/// Adds a definition to a union.
fn add(union: &mut Value, name: &str) {
    union["anyOf"].as_array_mut().unwrap().push(reference(name));
}

impl MadeUp {
    /// A text of the latest revision in the words of this one.
    fn words(&self, text: &str) -> String {
        let renamed = self.renamed.iter();
        renamed.fold(text.to_owned(), |text, (old, new)| text.replace(old, new))
    }

    fn file(&self, name: &str) -> PathBuf {
        here("tests/made_up").join(self.name).join(name)
    }

    fn schema(&self) -> Value {
        let latest = read(&here("../schema").join(LATEST).join("schema.json"));
        let mut schema: Value = serde_json::from_str(&self.words(&latest)).unwrap();
        let definitions = schema["$defs"].as_object_mut().unwrap();
        let new: Value = serde_json::from_str(&read(&self.file("definitions.json"))).unwrap();
        definitions.extend(new.as_object().unwrap().clone());
        (self.change)(&mut schema);
        schema
    }

    /// The overlay of the latest revision, without the corrections of what this revision lacks.
    fn overlay(&self, schema: &Value) -> String {
        let overlay = self.words(&read(&here("../schema").join(LATEST).join("overlay.yaml")));
        let overlay: Value = yaml_serde::from_str(&overlay).unwrap();
        let renamed = schema["$defs"].as_object().unwrap().keys();
        let renamed = renamed.filter_map(|name| name.strip_prefix(OTHER));
        let overlay = renamed.fold(overlay.to_string(), |overlay, name| {
            let at = |start: &str, end: &str| format!("\"#/$defs/{start}{name}{end}");
            overlay
                .replace(&at("", "/"), &at(OTHER, "/"))
                .replace(&at("", "\""), &at(OTHER, "\""))
        });
        let mut overlay: Value = serde_json::from_str(&overlay).unwrap();
        let declared = |pointer: &Value| {
            let place = pointer.as_str().and_then(|it| it.strip_prefix('#')?.rsplit_once('/'));
            place.is_some_and(|(parent, _)| schema.pointer(parent).is_some())
        };
        overlay["corrections"]
            .as_array_mut()
            .unwrap()
            .retain_mut(|correction| match &mut correction["at"] {
                Value::Array(pointers) => {
                    pointers.retain(declared);
                    !pointers.is_empty()
                }
                pointer => declared(pointer),
            });
        let own: Value = yaml_serde::from_str(&read(&self.file("overlay.yaml"))).unwrap();
        let corrections = overlay["corrections"].as_array_mut().unwrap();
        corrections.extend(own["corrections"].as_array().unwrap().clone());
        overlay.to_string()
    }

    /// A file about all revisions in which each name of the latest one has the new name beside it.
    fn with_new_names(&self, text: &str) -> String {
        let lines = text.lines().map(|line| {
            let Some((key, name)) = line.split_once(": ").filter(|_| !line.starts_with('#')) else {
                return format!("{line}\n");
            };
            let new = self.new.iter().find(|(role, _)| *role == key);
            let renamed = new.map_or_else(|| self.words(name), |(_, new)| (*new).to_owned());
            let other_key = self.words(key);
            match (renamed != name, other_key != key) {
                (true, _) => format!("{key}: [{name}, {renamed}]\n"),
                (false, true) => format!("{line}\n{other_key}: {name}\n"),
                (false, false) => format!("{line}\n"),
            }
        });
        lines.collect()
    }

    /// Ingests the revision into a copy of the schemas.
    pub fn ingested(&self, root: &Path) -> GenerateOptions {
        let schema = root.join("schema");
        copy(&here("../schema"), &schema);
        for file in ["lifecycle.yaml", "capabilities.yaml"] {
            let text = self.with_new_names(&read(&schema.join(file)));
            fs::write(schema.join(file), text).unwrap();
        }
        let tolerances = schema.join("tolerances.yaml");
        let text = read(&tolerances);
        let lines = text
            .lines()
            .flat_map(|line| [Some(line.to_owned()), Some(self.words(line)).filter(|new| new != line)]);
        fs::write(&tolerances, lines.flatten().collect::<Vec<_>>().join("\n")).unwrap();
        let own = schema.join(MADE_UP);
        fs::create_dir_all(&own).unwrap();
        let official = self.schema();
        fs::write(own.join("overlay.yaml"), self.overlay(&official)).unwrap();
        fs::copy(self.file("adapt.yaml"), own.join("adapt.yaml")).unwrap();
        let file = root.join("official.json");
        fs::write(&file, official.to_string()).unwrap();
        let added = ingest(&IngestOptions {
            schema: schema.clone(),
            revision: MADE_UP.parse().unwrap(),
            from: file.display().to_string(),
            source: Some("https://example.org/schema.json".into()),
            commit: None,
            accept: false,
            keep_prose: false,
            draft: Some(true),
            position: Position::Keep,
        });
        added.unwrap_or_else(|error| panic!("{error}"));
        GenerateOptions {
            schema,
            out: root.join("generated"),
            crates: "../..".to_owned(),
            check: false,
        }
    }
}

pub fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

pub fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Copies the files of a directory and of those in it. One that hasn't changed must not look new to cargo.
pub fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else if fs::read(&target).ok() != fs::read(&path).ok() {
            fs::copy(&path, &target).unwrap();
        }
    }
}
