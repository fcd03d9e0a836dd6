//! Changes between two revisions: made-up schemas, and the revisions of the protocol.

use std::fs;
use std::path::{Path, PathBuf};

use mcp_codegen::load::Manifest;
use mcp_codegen::{GenerateError, revision_diff};
use serde_json::Value;
use tempfile::TempDir;

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The diff of two files, with an empty schema directory.
fn of_files(earlier: &Path, later: &Path) -> mcp_codegen::diff::Diff {
    let schema = TempDir::new().unwrap();
    let [earlier, later] = [earlier, later].map(|path| path.to_str().unwrap());
    revision_diff(schema.path(), earlier, later).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn the_diff_of_each_case_equals_the_reviewed_one() {
    for case in fs::read_dir(here("tests/diff")).unwrap() {
        let case = case.unwrap().path();
        let diff = of_files(&case.join("earlier.json"), &case.join("later.json"));
        let found = diff.markdown().unwrap().replace(case.to_str().unwrap(), "");
        let expected = case.join("expected.md");
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            fs::write(&expected, found).unwrap();
        } else {
            assert_eq!(
                found,
                fs::read_to_string(&expected).unwrap_or_default(),
                "{}",
                case.display()
            );
        }
    }
}

#[test]
fn a_schema_has_no_changes_from_itself() {
    for case in fs::read_dir(here("tests/diff")).unwrap() {
        let schema = case.unwrap().path().join("later.json");
        assert_eq!(of_files(&schema, &schema).changes, []);
    }
}

#[test]
fn a_raw_file_is_compared_as_it_would_be_ingested_after_the_other_revision() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("official.json");
    let raw = |revision: &str| {
        let text = fs::read_to_string(here("../schema").join(revision).join("schema.json")).unwrap();
        let mut schema: Value = serde_json::from_str(&text).unwrap();
        schema["$defs"]["Tool"]["title"] = "Prose".into();
        schema["$defs"]["Tool"]["description"] = "Prose".into();
        fs::write(&file, schema.to_string()).unwrap();
    };
    let changes = |from: &str, to: &str| {
        let diff = revision_diff(&here("../schema"), from, to).unwrap_or_else(|error| panic!("{error}"));
        diff.changes
    };
    let file = file.to_str().unwrap();
    for revision in ["2025-11-25", "2026-07-28"] {
        raw(revision);
        assert_eq!(changes(revision, file), [], "{revision}");
    }
    raw("2025-11-25");
    assert!(
        changes(file, "2026-07-28")
            .iter()
            .any(|change| change.name == "server/discover")
    );
}

#[test]
#[ignore = "reads ../shared"]
fn an_official_file_has_no_changes_from_its_revision() {
    let schema = here("../schema");
    for entry in Manifest::load(&schema).unwrap().revisions {
        let revision = entry.revision.as_str();
        let official = here("../../shared/schema").join(revision).join("schema.json");
        let diff = revision_diff(&schema, revision, official.to_str().unwrap());
        assert_eq!(diff.unwrap_or_else(|error| panic!("{error}")).changes, [], "{revision}");
    }
}

#[test]
fn an_unknown_revision_is_refused_and_the_known_ones_are_listed() {
    let error = revision_diff(&here("../schema"), "2025-11-25", "tomorrow").unwrap_err();
    assert!(matches!(error, GenerateError::UnknownRevision { .. }), "{error}");
    assert!(error.to_string().contains("2025-11-25"), "{error}");
}

/// The changes between two revisions, each as `subject what name`.
struct Changes {
    json: Value,
}

impl Changes {
    fn between(from: &str, to: &str) -> Self {
        let diff = revision_diff(&here("../schema"), from, to).unwrap_or_else(|error| panic!("{error}"));
        let json = serde_json::from_str(&diff.json().unwrap()).unwrap();
        Self { json }
    }

    fn all(&self) -> impl Iterator<Item = &Value> {
        self.json["changes"].as_array().unwrap().iter()
    }

    /// The names of the subjects that changed in this way.
    fn names(&self, subject: &str, what: &str) -> Vec<&str> {
        let found = self
            .all()
            .filter(|change| change["subject"] == subject && change["what"] == what);
        found.map(|change| change["name"].as_str().unwrap()).collect()
    }

    fn ending_in(&self, subject: &str, what: &str, member: &str) -> usize {
        let names = self.names(subject, what);
        names
            .iter()
            .filter(|name| name.rsplit('.').next() == Some(member))
            .count()
    }

    #[track_caller]
    fn find(&self, subject: &str, what: &str, name: &str) -> &Value {
        let mut all = self.all();
        let found = all.find(|change| change["subject"] == subject && change["what"] == what && change["name"] == name);
        found.unwrap_or_else(|| panic!("{subject} {name} isn't {what}"))
    }

    #[track_caller]
    fn each(&self, subject: &str, what: &str, names: &[&str]) {
        for name in names {
            self.find(subject, what, name);
        }
    }

    /// Checks that a loosened or tightened place now includes these values.
    #[track_caller]
    fn has_now(&self, what: &str, name: &str, values: &[&str]) {
        let after = self.find("type", what, name)["after"].as_str().unwrap();
        for value in values {
            assert!(after.contains(value), "{name} is {after}, without {value}");
        }
    }
}

#[test]
fn every_known_change_from_2024_11_05_to_2025_03_26_is_found() {
    let changes = Changes::between("2024-11-05", "2025-03-26");
    let added = [
        "Annotations",
        "AudioContent",
        "JSONRPCBatchRequest",
        "JSONRPCBatchResponse",
        "ToolAnnotations",
    ];
    assert_eq!(changes.names("definition", "added"), added);
    assert_eq!(changes.names("definition", "removed"), ["Annotated"]);
    assert_eq!(changes.names("definition", "renamed"), [""; 0]);
    let members = [
        "ProgressNotification.params.message",
        "ServerCapabilities.completions",
        "Tool.annotations",
    ];
    assert_eq!(changes.names("type", "added"), members);
    let audio = [
        "CallToolResult.content",
        "CreateMessageResult.content",
        "PromptMessage.content",
        "SamplingMessage.content",
    ];
    assert_eq!(changes.names("type", "loosened"), audio);
    for place in audio {
        changes.has_now("loosened", place, &["AudioContent"]);
    }
    assert_eq!(changes.names("method", "added"), [""; 0]);
    assert_eq!(
        changes.find("method", "changed", "completion/complete")["after"],
        "capability completions"
    );
    assert_eq!(
        changes.find("fact", "added", "batches")["compatibility"],
        "breaking-for-receivers"
    );
    changes.find("fact", "added", "session_header");
}

#[test]
fn every_known_change_from_2025_03_26_to_2025_06_18_is_found() {
    let changes = Changes::between("2025-03-26", "2025-06-18");
    changes.each(
        "definition",
        "added",
        &[
            "BaseMetadata",
            "ContentBlock",
            "ResourceLink",
            "ElicitRequest",
            "ElicitResult",
            "BooleanSchema",
        ],
    );
    changes.each(
        "definition",
        "added",
        &[
            "NumberSchema",
            "StringSchema",
            "EnumSchema",
            "PrimitiveSchemaDefinition",
        ],
    );
    assert_eq!(
        changes.names("definition", "removed"),
        ["JSONRPCBatchRequest", "JSONRPCBatchResponse"]
    );
    let renamed = changes.find("definition", "renamed", "ResourceTemplateReference");
    assert_eq!(renamed["before"], "ResourceReference");
    assert_eq!(changes.ending_in("type", "added", "title"), 7);
    assert_eq!(changes.ending_in("type", "added", "_meta"), 12);
    assert_eq!(changes.names("type", "added").len(), 24);
    changes.each(
        "type",
        "added",
        &[
            "Annotations.lastModified",
            "CallToolResult.structuredContent",
            "Tool.outputSchema",
        ],
    );
    changes.each(
        "type",
        "added",
        &["CompleteRequest.params.context", "ClientCapabilities.elicitation"],
    );
    assert_eq!(
        changes.names("type", "loosened"),
        ["CallToolResult.content", "PromptMessage.content"]
    );
    for place in changes.names("type", "loosened") {
        changes.has_now("loosened", place, &["ResourceLink"]);
    }
    assert_eq!(changes.names("method", "added"), ["elicitation/create"]);
    let elicitation = changes.find("method", "added", "elicitation/create");
    assert_eq!(
        elicitation["after"],
        "request, server to client, capability elicitation"
    );
    assert_eq!(changes.find("type", "added", "Tool.title")["down"][0], "by rule: copy");
    changes.each("fact", "removed", &["batches"]);
    changes.each("fact", "added", &["version_header"]);
}

#[test]
fn every_known_change_from_2025_06_18_to_2025_11_25_is_found() {
    let changes = Changes::between("2025-06-18", "2025-11-25");
    let renamed = [
        "JSONRPCErrorResponse",
        "JSONRPCResultResponse",
        "LegacyTitledEnumSchema",
    ];
    assert_eq!(changes.names("definition", "renamed"), renamed);
    let before = renamed.map(|name| changes.find("definition", "renamed", name)["before"].clone());
    assert_eq!(before, ["JSONRPCError", "JSONRPCResponse", "EnumSchema"]);
    assert_eq!(changes.names("definition", "added").len() + renamed.len(), 55);
    assert_eq!(changes.names("definition", "removed"), [""; 0]);
    assert_eq!(changes.ending_in("type", "added", "icons"), 6);
    assert_eq!(changes.ending_in("type", "added", "default"), 3);
    assert_eq!(changes.ending_in("type", "added", "$schema"), 3);
    changes.each(
        "type",
        "added",
        &[
            "Implementation.description",
            "Implementation.websiteUrl",
            "Tool.execution",
        ],
    );
    changes.each(
        "type",
        "added",
        &[
            "Tool.inputSchema.$schema",
            "Tool.outputSchema.$schema",
            "SamplingMessage._meta",
        ],
    );
    changes.each(
        "type",
        "added",
        &["CallToolRequestParams.task", "CreateMessageRequestParams.task"],
    );
    changes.each(
        "type",
        "added",
        &[
            "CreateMessageRequestParams.tools",
            "CreateMessageRequestParams.toolChoice",
        ],
    );
    changes.each(
        "type",
        "added",
        &["ClientCapabilities.tasks", "ServerCapabilities.tasks"],
    );
    changes.each(
        "type",
        "added",
        &[
            "ClientCapabilities.sampling.tools",
            "ClientCapabilities.elicitation.url",
        ],
    );
    changes.each(
        "type",
        "optional",
        &["CancelledNotificationParams.requestId", "JSONRPCErrorResponse.id"],
    );
    for place in ["CreateMessageResult.content", "SamplingMessage.content"] {
        changes.has_now(
            "loosened",
            place,
            &["ToolUseContent", "ToolResultContent", "list of TextContent"],
        );
    }
    changes.has_now("loosened", "ElicitRequest.params", &["ElicitRequestURLParams"]);
    changes.has_now("loosened", "ElicitResult.content", &["map of list of string"]);
    let forms = [
        "UntitledSingleSelectEnumSchema",
        "TitledSingleSelectEnumSchema",
        "UntitledMultiSelectEnumSchema",
        "TitledMultiSelectEnumSchema",
    ];
    changes.has_now("loosened", "PrimitiveSchemaDefinition", &forms);
    for task in [
        "tasks/get",
        "tasks/result",
        "tasks/cancel",
        "tasks/list",
        "notifications/tasks/status",
    ] {
        let after = &changes.find("method", "added", task)["after"];
        assert!(after.as_str().unwrap().contains("both directions"), "{task}: {after}");
    }
    let complete = &changes.find("method", "added", "notifications/elicitation/complete")["after"];
    assert_eq!(complete, "notification, server to client");
    for method in ["tools/call", "sampling/createMessage", "elicitation/create"] {
        assert_eq!(
            changes.find("method", "loosened", method)["after"],
            "result CreateTaskResult"
        );
    }
    changes.find("error-code", "added", "-32042");
}

#[test]
fn every_known_change_from_2025_11_25_to_2026_07_28_is_found() {
    let changes = Changes::between("2025-11-25", "2026-07-28");
    assert_eq!(changes.names("definition", "added").len(), 42);
    assert_eq!(changes.names("definition", "removed").len(), 32);
    changes.each(
        "method",
        "removed",
        &["initialize", "ping", "logging/setLevel", "resources/subscribe"],
    );
    changes.each(
        "method",
        "removed",
        &["resources/unsubscribe", "tasks/get", "tasks/result", "tasks/cancel"],
    );
    changes.each(
        "method",
        "removed",
        &["tasks/list", "notifications/initialized", "notifications/tasks/status"],
    );
    changes.each(
        "method",
        "removed",
        &["notifications/roots/list_changed", "notifications/elicitation/complete"],
    );
    let new = [
        "notifications/subscriptions/acknowledged",
        "server/discover",
        "subscriptions/listen",
    ];
    assert_eq!(changes.names("method", "added"), new);
    changes.each("definition", "removed", &["ServerRequest"]);
    changes.each(
        "definition",
        "added",
        &["InputRequest", "InputResponse", "InputRequiredResult"],
    );
    for method in ["sampling/createMessage", "elicitation/create", "roots/list"] {
        assert_eq!(changes.find("method", "changed", method)["after"], "in a result");
    }
    changes.each(
        "type",
        "required",
        &[
            "ListToolsRequest.params",
            "ListPromptsRequest.params",
            "RequestParams._meta",
        ],
    );
    changes.each(
        "type",
        "required",
        &["ListResourcesRequest.params", "ListResourceTemplatesRequest.params"],
    );
    changes.each(
        "type",
        "required",
        &["CallToolRequestParams._meta", "CancelledNotificationParams.requestId"],
    );
    for result in [
        "CallToolResult",
        "CompleteResult",
        "GetPromptResult",
        "ListToolsResult",
        "ReadResourceResult",
    ] {
        let change = changes.find("type", "added", &format!("{result}.resultType"));
        assert_eq!(
            (&change["after"], &change["up"][0]),
            (&"required".into(), &"by rule: implied".into())
        );
    }
    for member in ["ttlMs", "cacheScope"] {
        assert_eq!(changes.ending_in("type", "added", member), 5);
    }
    for member in ["inputResponses", "requestState"] {
        assert_eq!(changes.ending_in("type", "added", member), 3);
    }
    for method in ["prompts/get", "resources/read"] {
        assert_eq!(
            changes.find("method", "loosened", method)["after"],
            "result InputRequiredResult"
        );
    }
    assert_eq!(
        changes.find("method", "changed", "tools/call")["after"],
        "result InputRequiredResult"
    );
    assert_eq!(changes.ending_in("type", "added", "extensions"), 2);
    assert_eq!(changes.ending_in("type", "removed", "task"), 4);
    changes.each(
        "type",
        "removed",
        &["Tool.execution", "ElicitRequestURLParams.elicitationId"],
    );
    changes.each(
        "type",
        "removed",
        &["ClientCapabilities.tasks", "ServerCapabilities.tasks"],
    );
    changes.each(
        "type",
        "removed",
        &[
            "ClientCapabilities.roots.listChanged",
            "CreateMessageRequestParams._meta",
        ],
    );
    changes.each(
        "type",
        "removed",
        &[
            "ElicitRequestFormParams._meta",
            "ElicitResult._meta",
            "ListRootsResult._meta",
        ],
    );
    changes.has_now("loosened", "CallToolResult.structuredContent", &["any JSON"]);
    changes.has_now("loosened", "ToolResultContent.structuredContent", &["any JSON"]);
    changes.each(
        "type",
        "loosened",
        &["Tool.outputSchema.properties", "Tool.inputSchema.properties"],
    );
    changes.each(
        "definition",
        "added",
        &[
            "MetaObject",
            "RequestMetaObject",
            "NotificationMetaObject",
            "ResultMetaObject",
        ],
    );
    changes.each(
        "definition",
        "added",
        &["CallToolResultResponse", "MethodNotFoundError", "HeaderMismatchError"],
    );
    changes.each("error-code", "added", &["-32020", "-32021", "-32022"]);
    changes.each("error-code", "removed", &["-32002", "-32042"]);
    changes.each("fact", "removed", &["session_header", "listening", "resumption"]);
    changes.each("fact", "added", &["mirrors", "cancels_by_closing"]);
}
