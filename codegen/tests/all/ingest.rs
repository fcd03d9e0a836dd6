//! Files that `ingest` writes. It writes none if there is a problem.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;

use mcp_codegen::ingest::{
    ExtensionOptions, FetchError, IngestError, IngestOptions, Ingested, Position, ingest, ingest_extension,
    write_overlay,
};
use mcp_codegen::load::{MANIFEST, MAX_BYTES, Manifest};
use mcp_codegen::{Cache, GenerateError, GenerateOptions, Generated, generate};
use mcp_json_schema::Dialect;
use serde_json::{Value, json};
use tempfile::TempDir;

const SCHEMA: &str = r##"{
  "$schema": "http://json-schema.org/draft-07/schema#",
  "title": "Prose",
  "definitions": {
    "Thing": {
      "description": "Prose",
      "type": "object",
      "properties": {
        "title": { "type": "string", "title": "Prose", "examples": ["Prose"] },
        "description": { "description": "Prose", "$comment": "Prose", "$ref": "#/definitions/Name" },
        "kind": { "const": { "description": "a value" }, "default": { "title": "a value" }, "enum": [{ "description": "a value" }] }
      },
      "required": ["title", "description"],
      "x-annotation": { "description": "kept" }
    },
    "Name": { "type": "string" }
  }
}"##;

/// A schema directory, in a folder that also holds the official files.
struct Fixture {
    directory: TempDir,
}

impl Fixture {
    fn new() -> Self {
        let directory = TempDir::new().unwrap();
        fs::create_dir(directory.path().join("schema")).unwrap();
        Self { directory }
    }

    fn schema(&self) -> PathBuf {
        self.directory.path().join("schema")
    }

    fn file(&self, name: &str, text: &str) -> String {
        let path = self.directory.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }

    fn overlay(&self, revision: &str, text: &str) {
        let folder = self.schema().join(revision);
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("overlay.yaml"), text).unwrap();
    }

    fn options(&self, revision: &str, from: &str) -> IngestOptions {
        IngestOptions::new(self.schema(), revision.parse().unwrap(), from)
    }

    fn ingest(&self, revision: &str, text: &str) -> Result<Ingested, IngestError> {
        ingest(&self.options(revision, &self.file("schema.json", text)))
    }

    /// Generates from what was ingested.
    fn generate(&self) -> Result<Generated, GenerateError> {
        generate(&GenerateOptions {
            schema: self.schema(),
            out: self.directory.path().join("generated"),
            crates: String::new(),
            check: false,
        })
    }

    fn manifest(&self) -> Manifest {
        Manifest::load(&self.schema()).unwrap()
    }

    fn order(&self) -> Vec<String> {
        self.manifest()
            .revisions
            .iter()
            .map(|entry| entry.revision.to_string())
            .collect()
    }

    /// Every file of the schema directory with its contents.
    fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut files = BTreeMap::new();
        let mut directories = vec![self.schema()];
        while let Some(directory) = directories.pop() {
            files.insert(directory.clone(), Vec::new());
            for entry in fs::read_dir(directory).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    directories.push(path);
                } else {
                    files.insert(path.clone(), fs::read(&path).unwrap());
                }
            }
        }
        files
    }
}

/// Responds to one HTTP request on loopback, then stops.
fn serve(status: &'static str, headers: &'static str, body: Vec<u8>) -> (String, JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let thread = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = Vec::new();
        let mut byte = [0];
        while !request.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap() == 1 {
            request.push(byte[0]);
        }
        let head = format!("HTTP/1.1 {status}\r\n{headers}Connection: close\r\n\r\n");
        // The client closes the connection when the body is over its limit.
        let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body));
        String::from_utf8_lossy(&request).into_owned()
    });
    (format!("http://{address}/schema.json"), thread)
}

#[test]
fn a_new_revision_is_written_without_prose_and_recorded() {
    let house = Fixture::new();
    let done = house.ingest("2099-01-01", SCHEMA).unwrap();
    assert!(done.is_new);
    let expected = r##"{
  "$schema": "http://json-schema.org/draft-07/schema#",
  "definitions": {
    "Name": {
      "type": "string"
    },
    "Thing": {
      "properties": {
        "description": {
          "$ref": "#/definitions/Name"
        },
        "kind": {
          "const": {
            "description": "a value"
          },
          "default": {
            "title": "a value"
          },
          "enum": [
            {
              "description": "a value"
            }
          ]
        },
        "title": {
          "type": "string"
        }
      },
      "required": [
        "title",
        "description"
      ],
      "type": "object",
      "x-annotation": {
        "description": "kept"
      }
    }
  }
}
"##;
    assert_eq!(fs::read_to_string(&done.schema).unwrap(), expected);
    let manifest = house.manifest();
    let entry = manifest.entry("2099-01-01").unwrap();
    assert_eq!(
        (entry.dialect, entry.released, &entry.sha256),
        (Dialect::Draft07, true, &done.sha256)
    );
    assert!(entry.source.ends_with("schema.json"));
    assert_eq!(manifest.hub().unwrap().as_str(), "2099-01-01");
    assert_eq!(
        house.files().len(),
        4,
        "a manifest and a schema in their directories, and nothing left over"
    );
}

#[test]
fn prose_is_kept_on_request() {
    let house = Fixture::new();
    let options = IngestOptions {
        keep_prose: true,
        ..house.options("a", &house.file("schema.json", SCHEMA))
    };
    let written = fs::read_to_string(ingest(&options).unwrap().schema).unwrap();
    assert_eq!(
        serde_json::from_str::<Value>(&written).unwrap(),
        serde_json::from_str::<Value>(SCHEMA).unwrap()
    );
}

#[test]
fn revisions_are_inserted_at_the_requested_position_and_keep_it() {
    let house = Fixture::new();
    let from = house.file("schema.json", SCHEMA);
    for revision in ["b", "a"] {
        ingest(&house.options(revision, &from)).unwrap();
    }
    ingest(&IngestOptions {
        position: Position::After("b".parse().unwrap()),
        draft: Some(true),
        ..house.options("c", &from)
    })
    .unwrap();
    ingest(&IngestOptions {
        position: Position::Before("b".parse().unwrap()),
        ..house.options("d", &from)
    })
    .unwrap();
    ingest(&house.options("c", &from)).unwrap();
    assert_eq!(house.order(), ["d", "b", "c", "a"]);
    assert!(!house.manifest().entry("c").unwrap().released);
    let lost = ingest(&IngestOptions {
        position: Position::After("x".parse().unwrap()),
        ..house.options("e", &from)
    });
    assert_eq!(
        lost.unwrap_err().to_string(),
        "the manifest has no revision x to put this one beside; it has d, b, c, a"
    );
}

#[test]
fn ingesting_the_same_bytes_again_changes_no_file() {
    let house = Fixture::new();
    let from = house.file("schema.json", SCHEMA);
    let first = IngestOptions {
        source: Some("https://example.org/schema.json".into()),
        commit: Some("0123abc".into()),
        ..house.options("a", &from)
    };
    ingest(&first).unwrap();
    let before = house.files();
    assert!(!ingest(&house.options("a", &from)).unwrap().is_new);
    assert_eq!(house.files(), before);
}

#[test]
fn changed_bytes_are_refused_until_they_are_accepted() {
    let house = Fixture::new();
    let first = house.ingest("a", SCHEMA).unwrap();
    let changed = SCHEMA.replace("\"string\"", "\"integer\"");
    let before = house.files();
    let error = house.ingest("a", &changed).unwrap_err();
    let IngestError::Mismatch { found, known, .. } = &error else {
        panic!("{error}")
    };
    assert_eq!((known, house.files()), (&first.sha256, before));
    let text = error.to_string();
    assert!(
        text.contains(found.as_str()) && text.contains(known.as_str()) && text.contains("--accept"),
        "{text}"
    );

    let options = IngestOptions {
        accept: true,
        ..house.options("a", &house.file("schema.json", &changed))
    };
    ingest(&options).unwrap();
    let entry = house.manifest().entry("a").cloned().unwrap();
    assert_eq!((&entry.sha256, &entry.accepted), (found, &vec![first.sha256.clone()]));
    // The earlier form is known now and needs no second permission.
    house.ingest("a", SCHEMA).unwrap();
    let entry = house.manifest().entry("a").cloned().unwrap();
    assert_eq!((&entry.sha256, &entry.accepted), (&first.sha256, &vec![found.clone()]));
}

#[test]
fn all_problems_of_a_bad_schema_are_reported_and_no_file_changes() {
    let house = Fixture::new();
    house.ingest("a", SCHEMA).unwrap();
    let before = house.files();
    let bad = "{\n  \"$defs\": {\n    \"A\": { \"$ref\": \"#/$defs/B\" },\n    \"C\": { \"type\": \"text\" }\n  }\n}";
    let error = house.ingest("b", bad).unwrap_err().to_string();
    assert!(
        error.contains("schema.json:3:20: #/$defs/A/$ref: #/$defs/B leads to nothing"),
        "{error}"
    );
    assert!(
        error.contains("schema.json:4:20: #/$defs/C/type: expected one of object, array"),
        "{error}"
    );
    assert_eq!(house.files(), before);
}

#[test]
fn a_schema_that_its_overlay_corrects_is_written_uncorrected() {
    let house = Fixture::new();
    let bad = r##"{ "$defs": { "A": { "$ref": "#/$defs/B" } } }"##;
    house.ingest("a", bad).unwrap_err();
    fs::create_dir(house.schema().join("a")).unwrap();
    let overlay =
        "corrections:\n- {at: '#/$defs/B', to: {type: string}, why: it is missing, link: 'https://example.org'}\n";
    fs::write(house.schema().join("a/overlay.yaml"), overlay).unwrap();
    let done = house.ingest("a", bad).unwrap();
    let written: Value = serde_json::from_str(&fs::read_to_string(done.schema).unwrap()).unwrap();
    assert_eq!(written, json!({ "$defs": { "A": { "$ref": "#/$defs/B" } } }));
}

#[test]
fn a_schema_that_its_overlay_corrects_is_ingested_and_generated() {
    let house = Fixture::new();
    fs::create_dir(house.schema().join("a")).unwrap();
    let overlay =
        "corrections:\n- {at: '#/$defs/B', to: {type: string}, why: it is missing, link: 'https://example.org'}\n";
    fs::write(house.schema().join("a/overlay.yaml"), overlay).unwrap();
    house
        .ingest("a", r##"{ "$defs": { "A": { "$ref": "#/$defs/B" } } }"##)
        .unwrap();
    house.generate().unwrap();
}

#[test]
fn a_dangling_reference_in_a_nested_definition_is_reported_only_if_that_is_used() {
    let house = Fixture::new();
    let schema = |used: &str| {
        let nested = r##""Used": {"type": "string"}, "Left": {"$ref": "#/$defs/Gone"}, "Over": {"$ref": "#/$defs/A/$defs/Left"}"##;
        format!(
            r##"{{"$defs": {{"A": {{"type": "object", "properties": {{"x": {{"$ref": "#/$defs/A/$defs/{used}"}}}}, "$defs": {{{nested}}}}}}}}}"##
        )
    };
    house.ingest("a", &schema("Used")).unwrap();
    house.generate().unwrap();
    let error = house.ingest("b", &schema("Over")).unwrap_err().to_string();
    assert!(
        error.contains("#/$defs/A/$defs/Left/$ref: #/$defs/Gone leads to nothing"),
        "{error}"
    );
}

#[test]
fn references_to_identifiers_become_pointers() {
    let house = Fixture::new();
    let definitions = |written: &[&str; 4]| {
        let [thing, size, to_size, to_thing] = written;
        format!(
            r##"{{
              "$id": "https://example.org/schema.json",
              "$defs": {{
                "Thing": {{ {thing} "type": "object", "properties": {{ "$id": {to_size}, "100%": {to_thing} }} }},
                "Size": {{ {size} "type": "integer" }}
              }}
            }}"##
        )
    };
    let expected = definitions(&[
        "",
        "",
        r##"{"$ref": "#/$defs/Size"}"##,
        r##"{"$ref": "#/$defs/Thing"}"##,
    ]);
    for (revision, written) in [
        (
            "anchors",
            [
                "",
                r#""$anchor": "size","#,
                r##"{"$ref": "#size"}"##,
                r##"{"$ref": "#/$defs/Thing"}"##,
            ],
        ),
        (
            "documents",
            [
                r#""$id": "thing.json","#,
                r#""$id": "size.json","#,
                r#"{"$ref": "size.json"}"#,
                r##"{"$ref": "#"}"##,
            ],
        ),
        (
            "absolute",
            [
                "",
                "",
                r##"{"$ref": "https://example.org/schema.json#/$defs/Size"}"##,
                r##"{"$ref": "schema.json#/$defs/Thing"}"##,
            ],
        ),
    ] {
        let done = house.ingest(revision, &definitions(&written)).unwrap();
        let ingested: Value = serde_json::from_str(&fs::read_to_string(done.schema).unwrap()).unwrap();
        assert_eq!(
            ingested,
            serde_json::from_str::<Value>(&expected).unwrap(),
            "{revision}"
        );
    }
    let error = house
        .ingest(
            "twice",
            &definitions(&[r#""$anchor": "a","#, r#""$anchor": "a","#, "{}", "{}"]),
        )
        .unwrap_err();
    assert!(error.to_string().contains("#/$defs/Size/$anchor"), "{error}");
}

#[test]
fn problems_that_would_stop_generate_are_reported_by_ingest_and_no_file_changes() {
    let house = Fixture::new();
    house.ingest("a", SCHEMA).unwrap();
    let before = house.files();
    let no_result = r#"{"$defs": {"AskRequest": {"type": "object", "properties": {"method": {"const": "ask"}}, "required": ["method"]}}}"#;
    let bad_pattern = r#"{"$defs": {"A": {"type": "string", "pattern": "("}}}"#;
    for (schema, said) in [
        (
            no_result,
            "schema.json:1:26: #/$defs/AskRequest: the request `ask` has no result",
        ),
        (bad_pattern, "schema.json:1:47: #/$defs/A/pattern: "),
    ] {
        let error = house.ingest("b", schema).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
        assert_eq!(house.files(), before);
    }
}

#[test]
fn a_revision_that_stops_generate_does_not_stop_ingesting_another() {
    let house = Fixture::new();
    house.ingest("a", SCHEMA).unwrap();
    fs::write(house.schema().join("a/schema.json"), "{").unwrap();
    house.generate().unwrap_err();
    house.ingest("b", SCHEMA).unwrap();
    house.ingest("a", SCHEMA).unwrap();
    house.generate().unwrap();
}

#[test]
fn a_line_about_a_new_revision_hides_no_problem_of_it() {
    let house = Fixture::new();
    house.ingest("2098-01-01", &protocol(&json!({}))).unwrap();
    fs::write(house.schema().join("modules.yaml"), "things: [Thing]\n").unwrap();
    let rule =
        "rules:\n  - {at: Gone.member, up: {drop: true}, why: It is gone., link: \"https://example.org/gone\"}\n";
    let folder = house.schema().join("2099-01-01");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("adapt.yaml"), rule).unwrap();
    let text = protocol(&json!({ "Thing": { "type": "object" } }));
    let error = house.ingest("2099-01-01", &text).unwrap_err().to_string();
    assert!(error.contains("the rule matches nothing on the way up"), "{error}");
    fs::remove_file(folder.join("adapt.yaml")).unwrap();
    house.ingest("2099-01-01", &text).unwrap();
}

#[test]
fn a_write_that_fails_changes_no_file() {
    let house = Fixture::new();
    house.ingest("a", SCHEMA).unwrap();
    // A directory where the schema should go can't be replaced by a file.
    fs::create_dir_all(house.schema().join("b/schema.json/in-the-way")).unwrap();
    let before = house.files();
    let error = house.ingest("b", SCHEMA).unwrap_err();
    assert!(matches!(error, IngestError::Files(_)), "{error}");
    assert_eq!(house.files(), before);
}

#[test]
fn a_schema_is_fetched_over_http() {
    let house = Fixture::new();
    let (url, server) = serve("200 OK", "", SCHEMA.into());
    ingest(&IngestOptions {
        commit: Some("0123abc".into()),
        ..house.options("a", &url)
    })
    .unwrap();
    assert!(server.join().unwrap().starts_with("GET /schema.json HTTP/1.1\r\n"));
    let manifest = house.manifest();
    let entry = manifest.entry("a").unwrap();
    assert_eq!((&entry.source, entry.commit.as_deref()), (&url, Some("0123abc")));
}

#[test]
fn problems_of_a_fetched_schema_are_reported_with_its_url() {
    let house = Fixture::new();
    let (url, server) = serve("200 OK", "", b"{\n\"$defs\": 1}".to_vec());
    let error = ingest(&house.options("a", &url)).unwrap_err().to_string();
    server.join().unwrap();
    assert!(
        error.contains(&format!("{url}:2:10: #/$defs: expected an object, found 1")),
        "{error}"
    );
}

#[test]
fn a_failed_fetch_reports_the_reason_and_changes_no_file() {
    let house = Fixture::new();
    let before = house.files();
    let too_long = vec![b' '; MAX_BYTES + 2];
    let cases = [
        ("404 Not Found", "", b"no".to_vec(), "404"),
        (
            "200 OK",
            "Content-Length: 100\r\n",
            b"{\"$defs\"".to_vec(),
            "can't fetch",
        ),
        ("200 OK", "", too_long, "bytes, too many for a schema"),
    ];
    for (status, headers, body, said) in cases {
        let (url, server) = serve(status, headers, body);
        let error = ingest(&house.options("a", &url)).unwrap_err().to_string();
        server.join().unwrap();
        assert!(error.contains(said) && error.contains(&url), "{error}");
    }
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let error = ingest(&house.options("a", &format!("http://{closed}/"))).unwrap_err();
    assert!(matches!(error, IngestError::Fetch(FetchError::Fetch { .. })), "{error}");
    let error = ingest(&house.options("a", "ftp://example.org/schema.json")).unwrap_err();
    assert!(
        matches!(error, IngestError::Fetch(FetchError::Scheme { .. })),
        "{error}"
    );
    let error = ingest(&house.options("a", "no/such/file.json")).unwrap_err();
    assert!(matches!(error, IngestError::Fetch(FetchError::Read { .. })), "{error}");
    assert_eq!(house.files(), before);
}

const ALIAS: &str =
    "aliases:\n  https://example.org/token.yaml#Token: {type: [string, integer], description: ours}\nrevisions: []\n";

#[test]
fn an_alias_replaces_a_reference_to_another_document() {
    let house = Fixture::new();
    fs::write(house.schema().join(MANIFEST), ALIAS).unwrap();
    let yaml = "\
$schema: https://json-schema.org/draft/2020-12/schema
definitions:
  Token:
    $ref: https://example.org/token.yaml#Token
  Short:
    $ref: https://example.org/token.yaml#Token
    type: string
    x-annotation: kept
";
    let done = ingest(&house.options("a", &house.file("schema.yaml", yaml))).unwrap();
    let written: Value = serde_json::from_str(&fs::read_to_string(done.schema).unwrap()).unwrap();
    let expected = json!({
        "Token": { "type": ["string", "integer"] },
        "Short": { "allOf": [{ "type": ["string", "integer"] }], "type": "string", "x-annotation": "kept" },
    });
    assert_eq!(written["definitions"], expected);
}

#[test]
fn an_alias_that_refers_to_itself_is_a_problem() {
    let house = Fixture::new();
    let alias =
        "aliases:\n  https://example.org/a: {properties: {a: {$ref: 'https://example.org/a'}}}\nrevisions: []\n";
    fs::write(house.schema().join(MANIFEST), alias).unwrap();
    let error = house
        .ingest("a", r#"{ "$defs": { "A": { "$ref": "https://example.org/a" } } }"#)
        .unwrap_err();
    assert!(error.to_string().contains("leads out of this document"), "{error}");
}

fn shared(path: &str) -> String {
    format!("{}/../../shared/schema/{path}", env!("CARGO_MANIFEST_DIR"))
}

fn committed() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../schema")
}

/// Copies the contents of a folder into an existing one.
fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_file() {
            fs::copy(entry.path(), target).unwrap();
        } else {
            fs::create_dir_all(&target).unwrap();
            copy(&entry.path(), &target);
        }
    }
}

#[test]
#[ignore = "reads ../shared"]
fn every_committed_schema_is_the_ingested_form_of_the_official_one() {
    let house = Fixture::new();
    copy(&committed(), &house.schema());
    for revision in house.order() {
        let written = house.schema().join(&revision).join("schema.json");
        let expected = fs::read_to_string(&written).unwrap();
        // The file gets another text, so that it has to be rewritten.
        fs::write(&written, expected.clone() + "\n").unwrap();
        ingest(&house.options(&revision, &shared(&format!("{revision}/schema.json")))).unwrap();
        assert_eq!(fs::read_to_string(written).unwrap(), expected, "{revision}");
    }
    let extensions = Manifest::load(&committed()).unwrap().extensions.into_iter();
    for (name, extension) in extensions.filter(|(_, extension)| extension.official) {
        let version = extension.schema.revision.as_str();
        let written = house
            .schema()
            .join("extensions")
            .join(&name)
            .join(version)
            .join("schema.json");
        let expected = fs::read_to_string(&written).unwrap();
        fs::write(&written, expected.clone() + "\n").unwrap();
        let options = house.options(version, &shared(&format!("extensions/{name}/{version}.json")));
        let extension = ExtensionOptions {
            id: extension.id,
            name: Some(name.clone()),
            of: extension.of,
            official: extension.official,
        };
        ingest_extension(&extension, &options).unwrap();
        assert_eq!(fs::read_to_string(written).unwrap(), expected, "{name}");
    }
    let (written, expected) = (house.schema().join(MANIFEST), committed().join(MANIFEST));
    assert_eq!(
        fs::read_to_string(written).unwrap(),
        fs::read_to_string(expected).unwrap()
    );
}

#[test]
#[ignore = "reads ../shared"]
fn the_official_yaml_is_ingested_with_its_annotations() {
    let house = Fixture::new();
    fs::copy(committed().join(MANIFEST), house.schema().join(MANIFEST)).unwrap();
    let results = [
        "ping",
        "logging/setLevel",
        "resources/subscribe",
        "resources/unsubscribe",
    ]
    .map(|method| {
        format!("  - {{method: {method}, result: EmptyResult, why: no name says it, link: 'https://example.org'}}\n")
    });
    house.overlay("2025-06-18-ogc", &format!("results:\n{}", results.concat()));
    let done = ingest(&house.options("2025-06-18-ogc", &shared("ogc-2025-06-18.yaml"))).unwrap();
    let read = |path: PathBuf| -> Value { serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap() };
    let (yaml, json) = (read(done.schema), read(committed().join("2025-06-18/schema.json")));
    let names =
        |schema: &Value| -> Vec<String> { schema["definitions"].as_object().unwrap().keys().cloned().collect() };
    // It was made from an earlier form of the schema, which had the same definitions.
    assert_eq!(names(&yaml), names(&json));
    let token = json!({ "type": ["string", "integer"] });
    assert_eq!(yaml["definitions"]["ProgressToken"], token);
    let annotated = &yaml["definitions"]["Annotations"]["properties"]["audience"];
    assert!(annotated.get("x-jsonld-id").is_some() && annotated.get("description").is_none());
}

#[test]
fn an_inherited_entry_that_only_a_later_stage_refuses_is_left_out() {
    let house = Fixture::new();
    let find = |kind: &str| {
        let name = format!("Find{kind}");
        let message = json!({
            "type": "object",
            "properties": { "method": { "type": "string", "const": "find" }, "params": { "type": "object" } },
            "required": ["method"],
        });
        let result = json!({ "type": "object" });
        let (union, definition) = (
            json!({ "anyOf": [{ "$ref": format!("#/definitions/{name}") }] }),
            "FindResult",
        );
        json!({ "definitions": { (name.clone()): message, format!("Client{kind}"): union, definition: result } })
            .to_string()
    };
    let code = |name: &str, method: &str| {
        format!("  - {{name: {name}, code: -32050,{method} why: It is bad., link: \"https://example.org/{name}\"}}\n")
    };
    let codes = format!(
        "error_codes:\n{}{}",
        code("GONE", " method: find,"),
        code("BAD", "").replace("50", "51")
    );
    house.overlay("2098-01-01", &codes);
    house.ingest("2098-01-01", &find("Request")).unwrap();
    let second = house.ingest("2099-01-01", &find("Notification")).unwrap();
    let overlay = fs::read_to_string(second.overlay.unwrap()).unwrap();
    let kept: Vec<&str> = overlay.lines().filter(|line| line.starts_with("  - ")).collect();
    assert!(matches!(&kept[..], [only] if only.contains("BAD")), "{overlay}");
    let [left_out] = &second.left_out[..] else {
        panic!("{overlay}")
    };
    assert!(left_out.entry.contains("GONE"), "{left_out:?}");
    assert_eq!(left_out.why, "the revision has no request `find`");
    assert!(
        overlay.contains("# the revision has no request `find`:\n#   - {name: GONE"),
        "{overlay}"
    );
    house.generate().unwrap();
}

#[test]
fn a_new_revision_inherits_the_overlay_entries_that_fit_its_schema() {
    let house = Fixture::new();
    house.overlay(
        "2098-01-01",
        r##"# About 2098-01-01.

corrections:
  # Numbers.
  - at: "#/definitions/Name/type"
    expect: string
    to: number
    why: Names are numbers.
    link: https://example.org/2098-01-01#name
  # Both titles.
  - at:
      - "#/definitions/Thing/properties/title/x-name"
      - "#/definitions/Thing/properties/nothing/x-name"
    to: Title
    why: >-
      A title has a name,
      in two lines.
    link: https://example.org/2098-01-01#title
  - at: "#/definitions/Thing/properties/title/type"
    expect: string
    to: [string, "null"]
    why: Titles can be null in 2098-01-01.
    link: https://example.org/2098-01-01#title
  - at: "#/definitions/Thing/properties/title/x-preset"
    to: "2098-01-01"
    why: Every title is 2098-01-01.
    link: https://example.org/2098-01-01#title

error_codes:
  - {name: BAD, code: -32050, why: It is bad., link: "https://example.org/2098-01-01#bad"}

# What no schema says.
facts:
  listening: true

summary:
  - Names are numbers.
"##,
    );
    let first = SCHEMA.replace(
        r#""title": { "#,
        r#""nothing": { "type": "string", "enum": ["a", "b"] }, "title": { "enum": ["2098-01-01", "2099-01-01"], "#,
    );
    let first = house.ingest("2098-01-01", &first).unwrap();
    assert_eq!(first.overlay, None, "it has one already");

    let second = SCHEMA.replace(
        r#""title": { "type": "string", "#,
        r#""title": { "enum": ["2098-01-01", "2099-01-01"], "type": ["string", "null"], "#,
    );
    let second = house.ingest("2099-01-01", &second).unwrap();
    let overlay = fs::read_to_string(second.overlay.unwrap()).unwrap();
    assert_eq!(
        overlay,
        r##"# From the overlay of 2098-01-01, without what doesn't fit this schema. Review it: what is said of 2098-01-01 here may
# no longer hold; the addresses and the version are those of 2099-01-01.

corrections:
  # Numbers.
  - at: "#/definitions/Name/type"
    expect: string
    to: number
    why: Names are numbers.
    link: https://example.org/2099-01-01#name
  # Both titles.
  - at:
      - "#/definitions/Thing/properties/title/x-name"
    to: Title
    why: >-
      A title has a name,
      in two lines.
    link: https://example.org/2099-01-01#title
  - at: "#/definitions/Thing/properties/title/x-preset"
    to: "2099-01-01"
    why: Every title is 2098-01-01.
    link: https://example.org/2099-01-01#title

error_codes:
  - {name: BAD, code: -32050, why: It is bad., link: "https://example.org/2099-01-01#bad"}

# What the overlay of 2098-01-01 has and this schema can't have:
#
# this schema doesn't have what it expects:
#   - at: "#/definitions/Thing/properties/title/type"
#     expect: string
#     to: [string, "null"]
#     why: Titles can be null in 2098-01-01.
#     link: https://example.org/2098-01-01#title
"##
    );
    house.generate().unwrap();

    let third = house
        .ingest("2100-01-01", r#"{ "definitions": { "Other": { "type": "object" } } }"#)
        .unwrap();
    let overlay = fs::read_to_string(third.overlay.unwrap()).unwrap();
    let (kept, left_out) = overlay.split_once("# What the overlay of").unwrap();
    assert!(!kept.contains("Name") && kept.contains("BAD"), "{overlay}");
    assert!(
        left_out.contains("Names are numbers.") && !left_out.contains("Titles can be null"),
        "{overlay}"
    );
}

#[test]
fn the_entries_of_an_inherited_overlay_are_kept_however_its_lists_are_written() {
    let entry =
        |name: &str, at: &str| format!(r#"{{at: {at}, to: {name}, why: It has one., link: "https://example.org/x"}}"#);
    let kept = entry("Title", r##""#/definitions/Thing/properties/title/x-name""##);
    let left_out = entry("Gone", r##""#/definitions/Gone/x-name""##);
    let gone = r##"{"name": "BAD", "code": -32050, "why": "It is bad.", "link": "https://example.org/bad"}"##;
    let overlays = [
        format!("error_codes: [{gone}]\ncorrections: [{kept}, {left_out}]\n"),
        format!("error_codes: [\n  {gone}\n]\ncorrections: [\n  {kept}, {left_out}\n]\n"),
        format!("{{error_codes: [{gone}], corrections: [{kept}, {left_out}]}}\n"),
        format!("error_codes:\n- {gone}\ncorrections:\n- {kept}\n- {left_out}\n"),
        format!("error_codes:\n  - {gone}\ncorrections:\n  - {kept}\n  - {left_out}\n"),
    ];
    for overlay in overlays {
        let house = Fixture::new();
        house.overlay("2098-01-01", &overlay);
        let schema = SCHEMA.replace(r#""title": { "#, r#""title": { "enum": ["a", "b"], "#);
        let first = schema.replace(r#""Name": {"#, r#""Gone": { "type": "object" }, "Name": {"#);
        house.ingest("2098-01-01", &first).unwrap();
        let second = house.ingest("2099-01-01", &schema).unwrap();
        let [left_out] = &second.left_out[..] else {
            panic!("{overlay}: {:?}", second.left_out)
        };
        assert!(left_out.entry.contains("Gone"), "{left_out:?}");
        let inherited: Value = yaml_serde::from_str(&fs::read_to_string(second.overlay.unwrap()).unwrap()).unwrap();
        assert_eq!(inherited["error_codes"][0]["name"], "BAD", "{overlay}");
        assert_eq!(inherited["corrections"][0]["to"], "Title", "{overlay}");
        assert_eq!(inherited["corrections"].as_array().unwrap().len(), 1, "{overlay}");
        house.generate().unwrap();
    }
}

#[test]
fn an_inherited_overlay_follows_definitions_to_the_other_keyword() {
    let house = Fixture::new();
    let overlay = r##"corrections:
  - at: "#/definitions/Thing/properties/size"
    expect: {type: integer}
    to: {$ref: "#/definitions/Name"}
    why: A size is a name.
    link: https://example.org/2098-01-01#size

deprecated:
  - feature: names
    at: ["#/definitions/Name"]
    since: 2098-01-01
    removal: soon
    instead: say it
    why: Nobody reads them.
    link: https://example.org/2098-01-01#names
"##;
    house.overlay("2098-01-01", overlay);
    let schema = |definitions: &str, name: &str| {
        format!(
            r##"{{"{definitions}": {{"Thing": {{"type": "object", "properties": {{"size": {{"type": "integer"}}}}}}{name}}}}}"##
        )
    };
    let name = r#", "Name": {"type": "string"}"#;
    house.ingest("2098-01-01", &schema("definitions", name)).unwrap();
    let second = house.ingest("2099-01-01", &schema("$defs", name)).unwrap();
    assert_eq!(second.left_out, []);
    let kept = fs::read_to_string(second.overlay.unwrap()).unwrap();
    let (_, kept) = kept.split_once("2099-01-01.\n\n").unwrap();
    let expected = overlay
        .replace("definitions", "$defs")
        .replace("2098-01-01#", "2099-01-01#");
    assert_eq!(kept, expected);

    // The deprecated feature is gone, as a whole.
    let third = house
        .ingest("2100-01-01", r#"{"$defs": {"Other": {"type": "object"}}}"#)
        .unwrap();
    let gone = third
        .left_out
        .iter()
        .find(|left_out| left_out.entry.contains("feature: names"));
    assert_eq!(gone.unwrap().why, "this schema doesn't have what it expects");
}

/// A schema with the request `find`, whose parameters are `name` and `size`. `definitions` are added or replaced.
fn protocol(definitions: &Value) -> String {
    let mut all = json!({
        "FindRequest": {
            "type": "object",
            "properties": {
                "method": { "type": "string", "const": "find" },
                "params": { "$ref": "#/definitions/FindParams" }
            },
            "required": ["method", "params"]
        },
        "FindParams": {
            "type": "object",
            "properties": { "name": { "type": "string" }, "size": { "type": "integer" } },
            "required": ["name"]
        },
        "FindResult": { "type": "object" },
        "ClientRequest": { "anyOf": [{ "$ref": "#/definitions/FindRequest" }] },
        "ServerResult": { "anyOf": [{ "$ref": "#/definitions/FindResult" }] }
    });
    for (name, definition) in definitions.as_object().unwrap() {
        all[name] = definition.clone();
    }
    json!({ "definitions": all }).to_string()
}

/// Ingests a schema as a release, which is refused, and as a draft, and returns the warnings of the draft.
fn draft_warnings(house: &Fixture, text: &str, position: &Position, refusal: &str) -> Vec<String> {
    let options = IngestOptions {
        position: position.clone(),
        ..house.options("draft", &house.file("draft.json", text))
    };
    let error = ingest(&options).unwrap_err().to_string();
    assert!(error.contains(refusal), "{error}");
    let draft = IngestOptions {
        draft: Some(true),
        ..options
    };
    let done = ingest(&draft).unwrap();
    let warnings = whats(&house.generate().unwrap().warnings);
    // The rest suggests rules.
    assert!(whats(&done.warnings).starts_with(&warnings), "{:?}", done.warnings);
    warnings
}

fn whats(problems: &[mcp_codegen::Problem]) -> Vec<String> {
    problems.iter().map(|problem| problem.what.clone()).collect()
}

#[test]
fn a_role_that_does_not_fit_is_a_problem_only_for_a_release_without_sessions() {
    let house = Fixture::new();
    fs::write(house.schema().join("lifecycle.yaml"), "subscribe: find\n").unwrap();
    house.ingest("2098-01-01", &protocol(&json!({}))).unwrap();
    let text = protocol(&json!({ "FindParams": { "type": "object" } }));
    let lacking = "`find` of revision draft has no parameter with the URI: one required text";
    let refusal = "no session could begin without this, which only a draft may lack";
    let warnings = draft_warnings(&house, &text, &Position::Keep, refusal);
    assert_eq!(warnings, [lacking]);
    let roles = "subscribe: find\nmeta.capabilities: can\nmeta.version: speaks\n";
    fs::write(house.schema().join("lifecycle.yaml"), roles).unwrap();
    let meta = json!({ "type": "object", "properties": { "can": {}, "speaks": { "type": "string" } } });
    let text = protocol(&json!({ "FindParams": { "type": "object" }, "Meta": meta }));
    let release = house.ingest("2099-01-01", &text).unwrap();
    let lacking = lacking.replace("draft", "2099-01-01");
    assert!(whats(&release.warnings).contains(&lacking), "{:?}", release.warnings);
}

#[test]
fn the_id_of_a_request_to_cancel_is_found_however_the_schema_writes_it() {
    let ids = [
        json!({ "type": ["string", "integer"] }),
        json!({ "type": ["string", "integer", "null"] }),
        json!({ "anyOf": [{ "type": "string" }, { "type": "number" }] }),
    ];
    let text = json!({ "type": "string" });
    let reference = json!({ "$ref": "#/definitions/RequestId" });
    let spellings = ids.iter().chain([&text]).flat_map(|id| [(id, &reference), (id, id)]);
    for (definition, id) in spellings {
        let house = Fixture::new();
        fs::write(
            house.schema().join("lifecycle.yaml"),
            "cancel: notifications/cancelled\n",
        )
        .unwrap();
        let params = json!({
            "type": "object",
            "properties": { "requestId": id, "reason": { "type": "string" } },
            "required": ["requestId"]
        });
        let protocol = protocol(&json!({
            "RequestId": definition,
            "JSONRPCRequest": {
                "type": "object",
                "properties": { "jsonrpc": { "const": "2.0" }, "id": id, "method": { "type": "string" } },
                "required": ["jsonrpc", "id", "method"]
            },
            "CancelledNotification": {
                "type": "object",
                "properties": { "method": { "const": "notifications/cancelled" }, "params": params },
                "required": ["method", "params"]
            },
            "ClientNotification": { "anyOf": [{ "$ref": "#/definitions/CancelledNotification" }] }
        }));
        let ingested = house.ingest("2099-01-01", &protocol);
        if *definition == text {
            let problems = ingested.unwrap_err().to_string();
            assert!(problems.contains("The type must accept integers"), "{problems}");
            continue;
        }
        house.generate().unwrap();
        let table = house
            .directory
            .path()
            .join("generated/mcp-adapters/tables/2099-01-01.json");
        let table = fs::read_to_string(table).unwrap();
        assert!(table.contains(r#""request":"requestId""#), "{definition} {id}: {table}");
    }
}

#[test]
fn an_inherited_error_of_a_method_in_a_part_of_an_all_of_is_kept() {
    let house = Fixture::new();
    let error = "error_codes:\n  - {name: BAD, code: -32050, method: find, why: It is bad., link: \"https://example.org/bad\"}\n";
    house.overlay("2098-01-01", error);
    house.ingest("2098-01-01", &protocol(&json!({}))).unwrap();
    let method = json!({ "properties": { "method": { "const": "find" } }, "required": ["method"] });
    let request = json!({ "allOf": [method, { "type": "object", "properties": { "params": { "type": "object" } } }] });
    let second = house
        .ingest("2099-01-01", &protocol(&json!({ "FindRequest": request })))
        .unwrap();
    assert_eq!(second.left_out, []);
    assert!(fs::read_to_string(second.overlay.unwrap()).unwrap().contains("BAD"));
}

#[test]
fn inherited_facts_that_do_not_fit_are_left_out() {
    let house = Fixture::new();
    let facts = "facts:\n  mirrors:\n    params: {X-Name: {find: name}, X-Size: {find: size}}\n";
    house.overlay("2098-01-01", facts);
    house.ingest("2098-01-01", &protocol(&json!({}))).unwrap();
    let params = json!({ "type": "object", "properties": { "size": { "type": "integer" } } });
    let done = house
        .ingest("2099-01-01", &protocol(&json!({ "FindParams": params })))
        .unwrap();
    let warnings = whats(&house.generate().unwrap().warnings);
    assert_eq!(warnings, ["`find` has no parameter `name`"]);
    assert!(whats(&done.warnings).starts_with(&warnings), "{:?}", done.warnings);
    let tables = house.directory.path().join("generated/mcp-adapters/tables");
    let table = fs::read_to_string(tables.join("2099-01-01.json")).unwrap();
    assert!(table.contains("X-Size") && !table.contains("X-Name"), "{table}");
}

#[test]
fn a_method_or_member_that_sessions_lose_is_a_warning_with_the_new_methods() {
    let house = Fixture::new();
    let shared = |name: &str, text: &str| fs::write(house.schema().join(name), text).unwrap();
    shared(
        "lifecycle.yaml",
        "meta.progress: size\nmeta.subscription: server\nping: find\n",
    );
    shared("capabilities.yaml", "find: ServerCapabilities.find\n");
    let capabilities = json!({ "type": "object", "properties": { "find": { "type": "object" } } });
    let request = |method: &str| {
        json!({
            "type": "object",
            "properties": { "method": { "const": method }, "params": { "$ref": "#/definitions/FindParams" } },
            "required": ["method", "params"]
        })
    };
    let meta = |key: &str| json!({ "type": "object", "properties": { key: { "type": "string" } }, "required": [key] });
    let first = protocol(&json!({ "ServerCapabilities": capabilities, "Meta": meta("server") }));
    assert_eq!(house.ingest("2097-01-01", &first).unwrap().warnings, []);
    let unlike = json!({
        "ServerCapabilities": capabilities, "Meta": meta("server"), "FindParams": { "type": "object" },
    });
    let second = house.ingest("2098-01-01", &protocol(&unlike)).unwrap();
    let of = |ingested: Ingested| Vec::from_iter(ingested.warnings.iter().map(ToString::to_string));
    let client = "lifecycle.yaml: 2098-01-01 has no `size`, so its sessions lack what the role `meta.progress` is for\n  \
                  if it has this by another name, add the name: `meta.progress: [size, …]`";
    assert_eq!(of(second), [client]);
    let renamed = json!({
        "ServerCapabilities": capabilities, "Meta": meta("host"), "FindRequest": request("seek"),
    });
    let third = house.ingest("2099-01-01", &protocol(&renamed)).unwrap();
    let replaced = [("host", "server", "meta.subscription"), ("seek", "find", "ping")].map(|(new, old, role)| {
        format!(
            "lifecycle.yaml: 2099-01-01 has `{new}` instead of `{old}`: its sessions use that for the role `{role}`\n  \
             check that it means the same"
        )
    });
    assert_eq!(of(third), replaced);
    let replaced = json!({
        "ServerCapabilities": capabilities, "Meta": meta("host"),
        "FindRequest": { "type": "object" }, "LookRequest": request("look"),
        "ClientRequest": { "anyOf": [{ "$ref": "#/definitions/LookRequest" }] },
    });
    let fourth = house.ingest("2099-02-01", &protocol(&replaced)).unwrap();
    assert_eq!(
        of(fourth)[..2],
        [
            "lifecycle.yaml: 2099-02-01 has no `seek`, so its sessions lack what the role `ping` is for\n  \
             if it has this by another name, such as `look`, add the name: `ping: [seek, look]`",
            "capabilities.yaml: 2099-02-01 has no `seek`, which requires `find`\n  \
             if it has this by another name, such as `look`, add a line for that name",
        ]
    );
    house.ingest("2099-03-01", &first).unwrap();
    let without = json!({ "Meta": meta("server"), "ServerCapabilities": { "type": "object" } });
    let fifth = house.ingest("2099-04-01", &protocol(&without)).unwrap();
    let undeclared = "capabilities.yaml: 2099-04-01 doesn't declare `find`, so `find` requires no capability\n  \
                      if it declares this by another name, add that to the line of the method";
    assert_eq!(of(fifth), [undeclared]);
    house.ingest("2099-05-01", &first).unwrap();
    let around = json!({ "type": "object", "properties": { "features": capabilities } });
    let moved = json!({ "Meta": meta("server"), "ServerCapabilities": around });
    let sixth = house.ingest("2099-06-01", &protocol(&moved)).unwrap();
    let undeclared = "capabilities.yaml: 2099-06-01 doesn't declare `find`, so `find` requires no capability\n  \
                      if it declares this by another name, such as `ServerCapabilities.features.find`, add that to the \
                      line of the method";
    assert!(of(sixth).contains(&undeclared.to_owned()));
    house.ingest("2099-07-01", &first).unwrap();
    let texts =
        json!({ "type": "object", "properties": { "server": { "type": "array", "items": { "type": "string" } } } });
    let retyped = json!({ "Meta": texts, "ServerCapabilities": capabilities });
    let seventh = house.ingest("2099-08-01", &protocol(&retyped)).unwrap();
    let lost = "lifecycle.yaml: 2099-08-01 has another type of `server` than an id, so its sessions lack what the role \
                `meta.subscription` is for\n  \
                if the schema is wrong, correct it by an entry under `corrections` in the revision's overlay.yaml";
    assert!(of(seventh).contains(&lost.to_owned()));
}

#[test]
fn an_unnecessary_rule_is_a_warning_for_a_draft_and_a_problem_for_a_release() {
    let house = Fixture::new();
    let earlier = protocol(&json!({}));
    let params = json!({
        "type": "object",
        "properties": { "name": { "type": "string" }, "size": { "type": "integer" }, "depth": { "type": "integer" } },
        "required": ["name", "depth"]
    });
    let later = protocol(&json!({ "FindParams": params }));
    house.ingest("2098-01-01", &earlier).unwrap();
    house.ingest("2099-01-01", &later).unwrap();
    let rule = "rules:\n  - at: FindParams.depth\n    up: {default: 0}\n    why: All of it.\n    link: https://example.org/depth\n";
    fs::write(house.schema().join("2099-01-01/adapt.yaml"), rule).unwrap();
    house.generate().unwrap();
    let between = Position::After("2098-01-01".parse().unwrap());
    let warnings = draft_warnings(&house, &later, &between, "FindParams.depth");
    assert!(
        matches!(&warnings[..], [only] if only.contains("FindParams.depth")),
        "{warnings:?}"
    );
}

#[test]
fn only_the_inherited_entries_that_a_problem_of_the_schema_concerns_are_left_out() {
    let house = Fixture::new();
    let overlay = r##"corrections:
  - at:
      - "#/$defs/Open/properties/params/x-preset"
      - "#/$defs/Shut/properties/params/x-preset"
    to: {}
    why: The parameters have no members.
    link: https://example.org/2098-01-01#params
  - at: "#/$defs/Shut/properties/kind/x-preset"
    to: shut
    why: It is shut.
    link: https://example.org/2098-01-01#kind
"##;
    house.overlay("2098-01-01", overlay);
    let schema = |required: Value| {
        let object = |required: &Value| {
            let params =
                json!({ "type": "object", "properties": { "name": { "type": "string" } }, "required": required });
            let properties = json!({ "params": params, "kind": { "type": "string" } });
            json!({ "type": "object", "properties": properties, "required": ["params", "kind"] })
        };
        json!({ "$defs": { "Open": object(&json!([])), "Shut": object(&required) } }).to_string()
    };
    house.ingest("2098-01-01", &schema(json!([]))).unwrap();
    let second = house.ingest("2099-01-01", &schema(json!(["name"]))).unwrap();
    let overlay = fs::read_to_string(second.overlay.unwrap()).unwrap();
    let (kept, left_out) = overlay.split_once("# What the overlay of").unwrap();
    assert!(
        kept.contains("Open/properties/params") && kept.contains("to: shut"),
        "{overlay}"
    );
    assert!(!kept.contains("Shut/properties/params"), "{overlay}");
    assert!(
        left_out.contains("constructors can't give this member the value {}"),
        "{overlay}"
    );
}

#[test]
fn an_inherited_overlay_follows_members_into_a_part_of_an_all_of_and_out_of_it() {
    let house = Fixture::new();
    let overlay = r##"corrections:
  - at: ["#/$defs/Thing/properties/size/type", "#/$defs/Thing/properties/a~1b/type"]
    expect: integer
    to: number
    why: A size may have a fraction.
    link: https://example.org/2098-01-01#size
"##;
    house.overlay("2098-01-01", overlay);
    let members =
        json!({ "type": "object", "properties": { "size": { "type": "integer" }, "a/b": { "type": "integer" } } });
    let schema = |thing: &Value| json!({ "$defs": { "Base": { "type": "object" }, "Thing": thing } }).to_string();
    house.ingest("2098-01-01", &schema(&members)).unwrap();
    let parts = json!({ "allOf": [{ "$ref": "#/$defs/Base" }, members] });
    let second = house.ingest("2099-01-01", &schema(&parts)).unwrap();
    assert_eq!(second.left_out, []);
    let overlay = fs::read_to_string(second.overlay.unwrap()).unwrap();
    for member in ["size", "a~1b"] {
        let place = format!("\"#/$defs/Thing/allOf/1/properties/{member}/type\"");
        assert!(overlay.contains(&place), "{overlay}");
    }
    let third = house.ingest("2100-01-01", &schema(&members)).unwrap();
    assert_eq!(third.left_out, []);
}

#[test]
fn an_inherited_preset_that_no_longer_fits_is_left_out_of_a_part_of_an_all_of() {
    let house = Fixture::new();
    let overlay = r##"corrections:
  - at: "#/$defs/Thing/properties/size/x-preset"
    to: {}
    why: A size is empty at first.
    link: https://example.org/2098-01-01#size
"##;
    house.overlay("2098-01-01", overlay);
    let thing = |required: &[&str]| {
        let size = json!({ "type": "object", "properties": { "a": { "type": "string" } }, "required": required });
        json!({ "type": "object", "properties": { "size": size }, "required": ["size"] })
    };
    let schema = |thing: &Value| json!({ "$defs": { "Base": { "type": "object" }, "Thing": thing } }).to_string();
    house.ingest("2098-01-01", &schema(&thing(&[]))).unwrap();
    let parts = json!({ "allOf": [{ "$ref": "#/$defs/Base" }, thing(&["a"])] });
    let second = house.ingest("2099-01-01", &schema(&parts)).unwrap();
    let reason = "#/$defs/Thing/allOf/1/properties/size/x-preset: constructors can't give this member the value {}";
    assert_eq!(second.left_out.len(), 1);
    assert!(second.left_out[0].why.contains(reason), "{:?}", second.left_out);
}

#[test]
fn an_inherited_overlay_follows_renamed_definitions_and_distinct_members() {
    let house = Fixture::new();
    let overlay = r##"corrections:
  - at:
      - "#/$defs/Box/properties/size/type"
      - "#/$defs/Crate/properties/count/type"
    expect: integer
    to: number
    why: These may have a fraction.
    link: https://example.org/2098-01-01#size
  - at: "#/$defs/Box/properties/note/type"
    expect: string
    to: boolean
    why: A note is there, or it isn't.
    link: https://example.org/2098-01-01#note
"##;
    house.overlay("2098-01-01", overlay);
    let schema = |size: &str, note: &str, container: &str| {
        let properties = json!({ size: { "type": "integer" }, note: { "type": "string" } });
        let count = json!({ "type": "object", "properties": { "count": { "type": "integer" } } });
        let of_box = json!({ "type": "object", "properties": properties, "required": [size] });
        json!({ "$defs": { "Box": of_box, container: count } }).to_string()
    };
    house.ingest("2098-01-01", &schema("size", "note", "Crate")).unwrap();
    let second = house
        .ingest("2099-01-01", &schema("volume", "remark", "Barrel<\"oak\">"))
        .unwrap();
    let overlay = fs::read_to_string(second.overlay.unwrap()).unwrap();
    let (kept, left_out) = overlay.split_once("# What the overlay of").unwrap();
    for place in ["Box/properties/volume/type", r#"Barrel<\"oak\">/properties/count/type"#] {
        assert!(kept.contains(&format!("- \"#/$defs/{place}\"")), "{overlay}");
    }
    // Another text could have the same schema by chance.
    assert!(left_out.contains("Box/properties/note/type"), "{overlay}");
}

#[test]
fn an_inherited_overlay_follows_members_into_an_object() {
    let overlay = r##"corrections:
  - at:
      - "#/$defs/Box/properties/size/type"
      - "#/$defs/Crate/properties/size/type"
    expect: integer
    to: number
    why: A size may have a fraction.
    link: https://example.org/2098-01-01#size
"##;
    let members = json!({ "size": { "type": "integer" }, "note": { "type": "string" } });
    let whole = json!({ "type": "object", "properties": members });
    let inside = |limits: Value| json!({ "type": "object", "properties": { "limits": limits } });
    let by_reference = inside(json!({ "$ref": "#/$defs/Limits" }));
    let mut with_limits = whole.clone();
    with_limits["properties"]["limits"] = json!({ "type": "object", "properties": { "note": { "type": "string" } } });
    let cases = [
        // A definition of several objects is corrected once.
        (
            &whole,
            by_reference.clone(),
            by_reference,
            &["Limits/properties/size/type"][..],
        ),
        (
            &whole,
            inside(whole.clone()),
            inside(whole.clone()),
            &[
                "Box/properties/limits/properties/size/type",
                "Crate/properties/limits/properties/size/type",
            ],
        ),
        // The object isn't new.
        (
            &with_limits,
            inside(whole.clone()),
            whole.clone(),
            &[
                "Box/properties/limits/properties/size/type",
                "Crate/properties/size/type",
            ],
        ),
    ];
    for (before, of_box, of_crate, expected) in cases {
        let house = Fixture::new();
        house.overlay("2098-01-01", overlay);
        let before = json!({ "$defs": { "Box": before, "Crate": before } });
        house.ingest("2098-01-01", &before.to_string()).unwrap();
        let after = json!({ "$defs": { "Box": of_box, "Crate": of_crate, "Limits": whole } });
        let second = house.ingest("2099-01-01", &after.to_string()).unwrap();
        assert_eq!(second.left_out, []);
        let overlay = fs::read_to_string(second.overlay.unwrap()).unwrap();
        let places = overlay
            .lines()
            .filter_map(|line| line.trim().strip_prefix("- \"#/$defs/"));
        let places: Vec<_> = places.map(|place| place.trim_end_matches('"')).collect();
        assert_eq!(places, expected, "{overlay}");
    }
}

#[test]
fn an_inherited_order_is_left_out_with_the_correction_that_sorts_the_values() {
    let house = Fixture::new();
    let overlay = r##"corrections:
  - at: "#/$defs/Level/enum"
    expect: [high, low]
    to: [low, high]
    why: The schema sorts the values by name.
    link: https://example.org/2098-01-01#level
  - at: "#/$defs/Level/x-ordered"
    to: true
    why: Levels are comparable.
    link: https://example.org/2098-01-01#level
"##;
    house.overlay("2098-01-01", overlay);
    let schema = |values: &[&str]| json!({ "$defs": { "Level": { "type": "string", "enum": values } } }).to_string();
    house.ingest("2098-01-01", &schema(&["high", "low"])).unwrap();
    let inherited = |revision: &str, values: &[&str]| {
        let ingested = house.ingest(revision, &schema(values)).unwrap();
        fs::read_to_string(ingested.overlay.unwrap_or_default()).unwrap_or_default()
    };
    // Nothing states where the new value belongs.
    assert_eq!(inherited("2099-01-01", &["high", "low", "middle"]), "");
    // The values are in this order already.
    house.overlay("2099-02-01", overlay);
    house.ingest("2099-02-01", &schema(&["high", "low"])).unwrap();
    let overlay = inherited("2099-03-01", &["low", "high"]);
    let kept = overlay.split("# What the overlay of").next().unwrap();
    assert!(kept.contains("x-ordered") && !kept.contains("Level/enum"), "{overlay}");
}

#[test]
fn an_inherited_overlay_follows_a_union_to_the_other_keyword() {
    let house = Fixture::new();
    let overlay = r##"corrections:
  - at: "#/$defs/Size/anyOf"
    expect: [{type: integer}, {type: string}]
    to: [{type: number}, {type: string}]
    why: A size may have a fraction.
    link: https://example.org/2098-01-01#size
"##;
    house.overlay("2098-01-01", overlay);
    let schema = |keyword: &str| {
        json!({ "$defs": { "Size": { keyword: [{ "type": "integer" }, { "type": "string" }] } } }).to_string()
    };
    house.ingest("2098-01-01", &schema("anyOf")).unwrap();
    let second = house.ingest("2099-01-01", &schema("oneOf")).unwrap();
    assert_eq!(second.left_out, []);
    let overlay = fs::read_to_string(second.overlay.unwrap()).unwrap();
    assert!(overlay.contains(r##"- at: "#/$defs/Size/oneOf""##), "{overlay}");
}

#[test]
fn an_inherited_correction_of_a_reference_applies_to_an_intersection_of_only_that_reference() {
    let house = Fixture::new();
    let overlay = r##"corrections:
  - at: "#/$defs/Thing/properties/size"
    expect: {$ref: "#/$defs/Size"}
    to: {type: number}
    why: A size may have a fraction.
    link: https://example.org/2098-01-01#size
"##;
    house.overlay("2098-01-01", overlay);
    let schema = |size: &Value| {
        let thing = json!({ "type": "object", "properties": { "size": size, "most": { "$ref": "#/$defs/Size" } } });
        json!({ "$defs": { "Thing": thing, "Size": { "type": "integer" } } }).to_string()
    };
    let reference = json!({ "$ref": "#/$defs/Size" });
    house.ingest("2098-01-01", &schema(&reference)).unwrap();
    let intersection = json!({ "allOf": [reference], "description": "The size." });
    let second = house.ingest("2099-01-01", &schema(&intersection)).unwrap();
    assert_eq!(second.left_out, []);
    house.generate().unwrap();
}

#[test]
fn a_wrong_rule_is_no_reason_to_leave_out_the_inherited_overlay() {
    let house = Fixture::new();
    let name = "corrections:\n  - {at: \"#/definitions/FindParams/x-name\", to: Search, why: It is one., link: \"https://example.org/name\"}\n";
    house.overlay("2098-01-01", name);
    house.ingest("2098-01-01", &protocol(&json!({}))).unwrap();
    // Without the overlay, the type would have the new name.
    let rule =
        "rules:\n  - {at: Search, renamed: FindParams, why: It is the same., link: \"https://example.org/rule\"}\n";
    let folder = house.schema().join("2099-01-01");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("adapt.yaml"), rule).unwrap();
    let error = house.ingest("2099-01-01", &protocol(&json!({}))).unwrap_err();
    assert!(
        error.to_string().contains("the rule matches nothing on the way up"),
        "{error}"
    );
}

#[test]
fn an_inherited_overlay_is_written_before_the_schema_that_it_corrects() {
    let house = Fixture::new();
    let correction = |name: &str| {
        format!(
            "  - {{at: \"#/$defs/{name}/type\", expect: integer, to: number, why: It has fractions., link: \"https://example.org/x\"}}\n"
        )
    };
    let of_gone =
        r##"  - {at: "#/$defs/Box", to: {$ref: "#/$defs/Gone"}, why: It has one., link: "https://example.org/x"}"##;
    house.overlay(
        "2098-01-01",
        &format!("corrections:\n{}{}{of_gone}\n", correction("Size"), correction("Gone")),
    );
    let gone = r#", "Gone": { "type": "integer" }"#;
    let schema = |rest: &str| format!(r#"{{ "$defs": {{ "Size": {{ "type": "integer" }}{rest} }} }}"#);
    house.ingest("2098-01-01", &schema(gone)).unwrap();
    let wrong = house.file("wrong.json", &schema(r##", "Code": { "$ref": "#/$defs/Lost" }"##));
    let options = house.options("2099-01-01", &wrong);
    ingest(&options).unwrap_err();

    let path = write_overlay(&options, &Cache::default()).unwrap().unwrap();
    assert_eq!(path, house.schema().join("2099-01-01/overlay.yaml"));
    let overlay = fs::read_to_string(&path).unwrap();
    assert!(
        overlay.contains("Size") && overlay.contains("# this schema doesn't have what it expects"),
        "{overlay}"
    );
    assert!(overlay.contains("# #/$defs/Box/$ref: "), "{overlay}");
    let found = r##"  - {at: "#/$defs/Code/$ref", expect: "#/$defs/Lost", to: "#/$defs/Size", why: It is a size., link: "https://example.org/x"}"##;
    let end = overlay.find("\n# What the overlay of").unwrap();
    fs::write(&path, format!("{}{found}\n{}", &overlay[..end], &overlay[end..])).unwrap();
    let done = ingest(&options).unwrap();
    assert_eq!(done.overlay, None);
    assert_eq!(write_overlay(&options, &Cache::default()).unwrap(), None);
    house.generate().unwrap();
}

#[test]
fn the_line_for_an_inherited_fact_is_added_to_the_inherited_overlay() {
    let house = Fixture::new();
    let correction = r##"corrections:
  - at: "#/definitions/FindParams/properties/size/type"
    expect: integer
    to: number
    why: It has fractions.
    link: https://example.org/size
"##;
    let facts = "facts:\n  mirrors:\n    params: {X-Name: {find: name}}\n";
    house.overlay("2098-01-01", &format!("{correction}{facts}"));
    house.ingest("2098-01-01", &protocol(&json!({}))).unwrap();
    let params = json!({ "type": "object", "properties": { "size": { "type": "integer" } } });
    let done = house
        .ingest("2099-01-01", &protocol(&json!({ "FindParams": params })))
        .unwrap();
    let help = done.warnings[0].help.as_deref().unwrap_or_default();
    let (_, line) = help.split_once("overlay.yaml: mirrors: ").unwrap();
    let path = done.overlay.unwrap();
    let overlay = fs::read_to_string(&path).unwrap();
    assert!(overlay.contains("It has fractions."), "{overlay}");
    fs::write(&path, format!("{overlay}facts:\n  mirrors: {line}\n")).unwrap();
    assert_eq!(house.generate().unwrap().warnings, []);
}

#[test]
fn an_inherited_fact_about_a_request_that_is_gone_is_left_out() {
    let house = Fixture::new();
    let facts = "facts:\n  mirrors:\n    params: {X-Name: {find: name, things/find: name}}\n";
    house.overlay("2098-01-01", facts);
    let things = |method: &str| {
        let properties = json!({ "method": { "const": method }, "params": { "$ref": "#/definitions/FindParams" } });
        let request = json!({ "type": "object", "properties": properties, "required": ["method", "params"] });
        protocol(&json!({ "FindThingsRequest": request, "FindThingsResult": { "type": "object" } }))
    };
    house.ingest("2098-01-01", &things("things/find")).unwrap();
    let done = house.ingest("2099-01-01", &protocol(&json!({}))).unwrap();
    let warnings: Vec<&str> = done.warnings.iter().map(|problem| problem.what.as_str()).collect();
    assert_eq!(warnings, ["the revision has no request `things/find`"]);
    house.generate().unwrap();
}
