//! Adapters between made-up revisions: each folder of `adapters` holds two of them.
//!
//! A case has `earlier.json` and `later.json`, and optionally `later_overlay.yaml` and `adapt.yaml`. `values.jsonl` has
//! conversions and their expected results: lines `{"what": …, "way": "up", "type": …, "value": …, "gives": …}`, with
//! `error` and optionally `method` instead of `type` and `value` for errors. `expected/ADAPTERS.md` is the report, to
//! be reviewed when it changes; `UPDATE_GOLDEN=1` rewrites it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use mcp_codegen::ingest::{IngestOptions, ingest};
use mcp_codegen::{GenerateError, GenerateOptions, generate, revision_tables};
use mcp_convert::Protocol;
use mcp_instances::Instances;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::runner::{self, run};

const CASES: [&str; 25] = [
    "no_rules",
    "rules",
    "constants",
    "moved",
    "moved_out",
    "elements",
    "only_elements",
    "enclosed",
    "aliases",
    "closed_messages",
    "answers",
    "results_by_status",
    "result_in_parts",
    "questions",
    "only_question",
    "only_question_sent",
    "renamed",
    "session",
    "split_by_a_constant",
    "tags",
    "tags_that_are_no_strings",
    "merged_variants",
    "open_enumerations",
    "ids",
    "namespace",
];

/// Number of random instances for each definition, valid and invalid.
const RANDOM: usize = 60;

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn case(name: &str) -> PathBuf {
    here("tests/adapters").join(name)
}

/// The directory in which a case is generated and built. It is kept, so that the next run has less to build.
fn workspace(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("adapters").join(name)
}

fn crates() -> String {
    fs::canonicalize(here(".."))
        .unwrap()
        .display()
        .to_string()
        .replace('\\', "/")
}

/// Ingests both revisions of a case into `schema`, and returns the options to generate from it.
fn ingest_case(name: &str, root: &Path) -> GenerateOptions {
    let schema = root.join("schema");
    let _ = fs::remove_dir_all(&schema);
    fs::create_dir_all(&schema).unwrap();
    for revision in ["earlier", "later"] {
        ingest(&IngestOptions {
            source: Some("https://example.org/schema.json".into()),
            ..IngestOptions::new(
                schema.clone(),
                revision.parse().unwrap(),
                case(name).join(revision).with_extension("json").display().to_string(),
            )
        })
        .unwrap();
    }
    for (file, copy) in [("adapt.yaml", "adapt.yaml"), ("later_overlay.yaml", "overlay.yaml")] {
        if case(name).join(file).exists() {
            fs::copy(case(name).join(file), schema.join("later").join(copy)).unwrap();
        }
    }
    GenerateOptions {
        schema,
        out: root.join("generated"),
        crates: crates(),
        check: false,
    }
}

/// A generated case.
struct Generated {
    name: &'static str,
    root: PathBuf,
    protocol: &'static Protocol,
}

static GENERATED: LazyLock<Vec<Generated>> = LazyLock::new(|| {
    let made = CASES.into_iter().map(|name| {
        let root = workspace(name);
        let mut options = ingest_case(name, &root);
        generate(&options).unwrap_or_else(|error| panic!("{name}: {error}"));
        options.check = true;
        let again = generate(&options).unwrap().files;
        assert!(again.is_current(), "{name}: a second run changes files: {again:?}");
        let protocol = runner::protocol(revision_tables(&options.schema).unwrap());
        Generated { name, root, protocol }
    });
    made.collect()
});

/// Compiles the crates of a case, and returns the output of the compiler.
fn build(root: &Path) -> String {
    let manifest = "[workspace]\nresolver = \"3\"\nmembers = [\"generated/*\"]\n\n[profile.dev]\ndebug = false\n";
    write_if_new(&root.join("Cargo.toml"), manifest);
    fs::copy(here("../Cargo.lock"), root.join("Cargo.lock")).unwrap();
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let built = Command::new(program)
        .args([
            "check",
            "--quiet",
            "--message-format=short",
            "--features",
            "mcp-adapters/definitions",
        ])
        .current_dir(root)
        .env("CARGO_TARGET_DIR", root.join("target"))
        .output()
        .unwrap();
    let output = String::from_utf8_lossy(&built.stderr).into_owned();
    assert!(built.status.success(), "{output}");
    output
}

/// Writes a file unless it has these contents already: cargo would rebuild what depends on a new file.
fn write_if_new(path: &Path, contents: &str) {
    if fs::read_to_string(path).is_ok_and(|found| found == contents) {
        return;
    }
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, contents).unwrap();
}

fn sorted(losses: &Value) -> Vec<String> {
    let losses = losses.as_array().map(Vec::as_slice).unwrap_or_default();
    let mut losses: Vec<String> = losses.iter().map(Value::to_string).collect();
    losses.sort_unstable();
    losses
}

fn assert_none(failures: &[String]) {
    assert!(failures.is_empty(), "\n{}\n", failures.join("\n"));
}

#[test]
fn the_report_of_each_case_equals_the_reviewed_one() {
    for Generated { name, root, .. } in &*GENERATED {
        let found = fs::read_to_string(root.join("generated/mcp-adapters/ADAPTERS.md")).unwrap();
        let expected = case(name).join("expected/ADAPTERS.md");
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            write_if_new(&expected, &found);
        } else {
            assert_eq!(found, fs::read_to_string(&expected).unwrap_or_default(), "{name}");
        }
    }
}

/// `values.jsonl` has a value for each of these.
#[test]
fn the_report_lists_refused_and_dropped_values() {
    let root = &GENERATED[0].root;
    let report = fs::read_to_string(root.join("generated/mcp-adapters/ADAPTERS.md")).unwrap();
    let (up, down) = report.split_once("## later to earlier").unwrap();
    let said = [
        ("a string that becomes an enumeration", up.contains("`Thing.label`")),
        ("undeclared members of a closed object", up.contains("`Seal`")),
        ("a fraction where an integer is declared", down.contains("`Thing.size`")),
    ];
    let missing = said.iter().filter(|(_, is_there)| !is_there);
    assert_none(&missing.map(|(what, _)| (*what).to_owned()).collect::<Vec<_>>());
}

#[test]
fn values_convert_to_the_expected_results_of_each_case() {
    let mut failures = Vec::new();
    for Generated { name, protocol, .. } in &*GENERATED {
        let text = fs::read_to_string(case(name).join("values.jsonl")).unwrap();
        let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        for (line, answer) in lines.iter().zip(run(protocol, &lines)) {
            let (gives, what) = (line["gives"].as_object().unwrap(), &line["what"]);
            let differs = gives.iter().any(|(member, expected)| match member.as_str() {
                "losses" => sorted(expected) != sorted(&answer["losses"]),
                _ => answer[member] != *expected,
            });
            if differs {
                failures.push(format!("{name}: {what}\n  is {answer}\n not {}", line["gives"]));
            }
        }
    }
    assert_none(&failures);
}

#[test]
#[ignore = "compiles crates"]
fn adapters_compile_without_a_warning() {
    for Generated { name, root, .. } in &*GENERATED {
        assert_eq!(build(root), "", "{name}");
    }
    for name in ["no_messages", "pages"] {
        let root = workspace(name);
        generate(&ingest_case(name, &root)).unwrap();
        assert_eq!(build(&root), "", "{name}");
    }
}

#[test]
fn item_types_are_paginated_if_exactly_one_paginated_method_lists_them() {
    let root = workspace("pages");
    generate(&ingest_case("pages", &root)).unwrap();
    let handlers = fs::read_to_string(root.join("generated/mcp-adapters/src/handlers.rs")).unwrap();
    let paginated = handlers.lines().filter_map(|line| line.strip_prefix("impl Paginated<"));
    let expected = [
        "hub::ServerRequest, hub::ClientResult> for hub::Mark {",
        "hub::ServerRequest, hub::ClientResult> for hub::Thing {",
        "hub::ClientRequest, hub::ServerResult> for hub::Thing {",
    ];
    let mut found: Vec<&str> = paginated.collect();
    found.sort_unstable();
    let mut expected = expected.to_vec();
    expected.sort_unstable();
    assert_eq!(found, expected);
}

#[test]
fn handlers_have_no_function_for_methods_that_the_session_handles() {
    let root = workspace("lifecycle");
    let options = ingest_case("session", &root);
    fs::write(options.schema.join("lifecycle.yaml"), "ping: ping\n").unwrap();
    generate(&options).unwrap();
    let handlers = fs::read_to_string(root.join("generated/mcp-adapters/src/handlers.rs")).unwrap();
    assert!(handlers.contains("/// Handles `things/list`."));
    assert!(!handlers.contains("/// Handles `ping`."));
    // It can still be called, and a handler without a session refuses it.
    assert!(handlers.contains("/// Calls `ping`."));
    assert!(handlers.contains(r#"PingRequest(_) => Err(not_found("ping"))"#));
}

#[test]
fn a_session_method_that_lacks_a_preset_is_reported_with_a_suggestion() {
    let root = workspace("unwritable");
    let options = ingest_case("pages", &root);
    fs::write(options.schema.join("lifecycle.yaml"), "ping: shelves/list\n").unwrap();
    let error = generate(&options).unwrap_err().to_string();
    let lacking = "`shelves/list` of revision later has no `x-preset` in the overlay for `shelves`";
    assert!(error.contains(lacking), "{error}");
    // The suggested lines permit it.
    for revision in ["earlier", "later"] {
        let lines = error
            .lines()
            .skip_while(|line| !line.contains(&format!("of revision {revision}")));
        let line = lines
            .skip(1)
            .find_map(|line| Some(line.split_once("overlay.yaml: ")?.1));
        let overlay =
            line.map(|line| format!("corrections:\n  {}\n", line.replace("https://…", "https://example.org")));
        fs::write(
            options.schema.join(revision).join("overlay.yaml"),
            overlay.unwrap_or_default(),
        )
        .unwrap();
    }
    generate(&options).unwrap();
}

/// Both directions of a case: the way and the way back, and the official schemas of the source and the target.
fn ways(name: &str) -> [([&'static str; 2], Instances, Instances); 2] {
    let schema = |revision: &str| {
        let text = fs::read_to_string(case(name).join(revision).with_extension("json")).unwrap();
        Instances::new(&serde_json::from_str(&text).unwrap()).unwrap()
    };
    [
        (["up", "down"], schema("earlier"), schema("later")),
        (["down", "up"], schema("later"), schema("earlier")),
    ]
}

/// Valid instances of every definition, as lines for the runner.
fn valid_instances(schema: &Instances, way: &str, carry: bool) -> Vec<Value> {
    let made = schema.definitions().flat_map(|definition| {
        let valid = schema.of(definition, 3, RANDOM).into_iter().filter(|made| made.valid);
        let known = match way {
            "up" => json!({"version": "1"}),
            _ => json!({"visit": "1"}),
        };
        valid.map(
            move |made| json!({"way": way, "carry": carry, "type": definition, "value": made.value, "supply": known}),
        )
    });
    made.collect()
}

/// Converts lines there and back. Returns each convertible line, its result, and the result of the way back.
fn there_and_back(protocol: &'static Protocol, lines: Vec<Value>, back: &str) -> Vec<[Value; 3]> {
    let answers = run(protocol, &lines);
    let good: Vec<(Value, Value)> = lines
        .into_iter()
        .zip(answers)
        .filter(|(_, there)| there["code"].is_null())
        .collect();
    let returning = good.iter().map(
        |(line, there)| {
            json!({
                "way": back, "carry": line["carry"], "type": there["type"], "value": there["value"], "supply": there["supply"],
            })
        },
    );
    let returned = run(protocol, &returning.collect::<Vec<_>>());
    let trips = good
        .into_iter()
        .zip(returned)
        .map(|((line, there), returned)| [line, there, returned]);
    trips.collect()
}

/// Whether a definition has replaced several. Its values convert back only where one of these is expected.
fn has_replaced_several(there: &Value, returned: &Value) -> bool {
    let none = format!("has no counterpart of {}", there["type"].as_str().unwrap());
    returned["error"].as_str().is_some_and(|error| error.ends_with(&none))
}

#[test]
fn random_instances_stay_valid_and_survive_the_round_trip_unless_a_loss_is_recorded() {
    let mut failures = Vec::new();
    for Generated { name, protocol, .. } in &*GENERATED {
        for ([way, back], from, to) in ways(name) {
            let lines = valid_instances(&from, way, false);
            let (count, trips) = (lines.len(), there_and_back(protocol, lines, back));
            println!("{name} {way}: {} of {count} instances translated", trips.len());
            assert!(trips.len() > 100, "{name} {way}: too little was tested");
            for [line, there, returned] in trips {
                if to.accepts(there["type"].as_str().unwrap(), &there["value"]) == Some(false) {
                    failures.push(format!("{name} {way}: {line} became {there}, which is invalid"));
                }
                if has_replaced_several(&there, &returned) {
                    continue;
                }
                let lossless = [&there, &returned].iter().all(|answer| answer["losses"] == json!([]));
                let refused = way == "down" && !returned["code"].is_null();
                if !refused && lossless && !is_equal(&returned["value"], &line["value"]) {
                    failures.push(format!(
                        "{name} {way}: {line} became {there} and came back as {returned}"
                    ));
                }
                if way == "up" && !is_equal(&returned["value"], &line["value"]) && there["losses"] == json!([]) {
                    failures.push(format!("{name} up: {line} became {there} and came back as {returned}"));
                }
            }
        }
    }
    assert_none(&failures);
}

#[test]
fn carried_instances_survive_the_round_trip_unless_a_rule_causes_a_loss() {
    let mut failures = Vec::new();
    for Generated { name, protocol, .. } in &*GENERATED {
        for ([way, back], from, _) in ways(name) {
            for [line, there, returned] in there_and_back(protocol, valid_instances(&from, way, true), back) {
                let lossless = there["losses"] == json!([]);
                if !lossless && *name == "no_rules" && way == "down" {
                    failures.push(format!("{name} {way}: {line} became {there}"));
                }
                let is_kept = has_replaced_several(&there, &returned) || is_equal(&returned["value"], &line["value"]);
                if lossless && !is_kept {
                    failures.push(format!(
                        "{name} {way}: {line} became {there} and came back as {returned}"
                    ));
                }
            }
        }
    }
    assert_none(&failures);
}

/// Replaces a constant by the constants of the source and the target, and by values that neither declares.
#[test]
fn a_value_in_place_of_a_constant_is_kept_or_its_loss_is_recorded() {
    let case = GENERATED.iter().find(|case| case.name == "constants").unwrap();
    let members = ["mode", "level", "on", "tag"];
    let values = [
        json!("form"),
        json!(1),
        json!(2),
        json!(true),
        json!("a"),
        json!("weird"),
        json!(null),
        json!({}),
    ];
    let mut failures = Vec::new();
    for ([way, back], from, _) in ways("constants") {
        let instances = valid_instances(&from, way, false)
            .into_iter()
            .filter(|line| line["value"]["name"].is_string());
        let lines = instances.flat_map(|line| {
            let mut lines = Vec::new();
            for (member, value) in members
                .iter()
                .flat_map(|member| values.iter().map(move |value| (member, value)))
            {
                for carry in [false, true] {
                    let mut line = line.clone();
                    line["value"][member] = value.clone();
                    line["carry"] = carry.into();
                    line["member"] = (*member).into();
                    lines.push(line);
                }
            }
            lines
        });
        let trips = there_and_back(case.protocol, lines.collect(), back);
        assert!(trips.len() > 1000, "{way}: too little was tested");
        for [line, there, returned] in trips {
            let member = line["member"].as_str().unwrap();
            let losses = there["losses"].as_array().unwrap();
            let kinds: Vec<_> = losses
                .iter()
                .filter(|loss| loss[0] == *member)
                .map(|loss| &loss[1])
                .collect();
            let (before, after) = (line["value"].get(member), there["value"].get(member));
            // The later revision declares a string there, and `null` means that it is absent.
            let is_absent = line["type"] == "Loosened" && member == "tag" && before == Some(&Value::Null);
            if way == "down" && is_absent && after.is_none() && kinds.is_empty() {
                continue;
            }
            let kept = before.zip(after).is_some_and(|(before, after)| is_equal(before, after));
            let told = match kinds.as_slice() {
                [] => kept,
                [kind] if *kind == "dropped" => after.is_none(),
                _ => after.is_some() && !kept,
            };
            if !told {
                failures.push(format!("{way}: {line} became {there}"));
            }
            let lossless = [&there, &returned].iter().all(|answer| answer["losses"] == json!([]));
            if lossless && !is_equal(&returned["value"], &line["value"]) {
                failures.push(format!("{way}: {line} became {there} and came back as {returned}"));
            }
        }
    }
    failures.truncate(20);
    assert_none(&failures);
}

/// Compares as JSON Schema does: `1.0` equals `1`.
fn is_equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => left == right || left.as_f64() == right.as_f64(),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| is_equal(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            let same = |(name, value): (&String, &Value)| right.get(name).is_some_and(|other| is_equal(value, other));
            left.len() == right.len() && left.iter().all(same)
        }
        _ => left == right,
    }
}

// Invalid rules.

/// Returns the problems of a rules file for the revisions of the case `rules`, in place of the rules of that case.
#[track_caller]
fn problems(rules: &str) -> String {
    found(rules).expect("invalid rules were accepted")
}

/// Returns the same problems; `None` if the rules are accepted.
fn found(rules: &str) -> Option<String> {
    found_in("rules", rules)
}

/// Returns the same problems for the revisions of another case.
fn found_in(case: &str, rules: &str) -> Option<String> {
    let directory = TempDir::new().unwrap();
    let options = ingest_case(case, directory.path());
    let later = options.schema.join("later");
    fs::write(later.join("adapt.yaml"), rules).unwrap();
    let error = generate(&options).err()?;
    assert!(matches!(error, GenerateError::Problems(_)), "{error}");
    assert!(!options.out.exists(), "something was written");
    let folder = options.schema.join("").display().to_string();
    Some(error.to_string().replace(&folder, ""))
}

/// A rule with a reason and a link.
fn rule(at: &str, what: &str) -> String {
    format!("rules:\n  - at: {at}\n    {what}\n    why: A reason.\n    link: https://example.org\n")
}

#[track_caller]
fn says(found: &str, expected: &str) {
    assert!(found.contains(expected), "got\n{found}\nwithout\n{expected}");
}

#[test]
fn a_rule_that_matches_nothing_is_refused_with_position_and_suggestion() {
    for at in ["Thing.colour", "Nothing.title", "Block[light]", "Thing.title[text]"] {
        let found = problems(&rule(at, "down: {drop: true}"));
        says(&found, "later/adapt.yaml:2:5: #/rules/0: ");
        says(
            &found,
            &format!("{at}: the rule matches nothing on the way down\n  remove the rule"),
        );
    }
    let found = problems(&rule("Thing.secret", "up: {drop: true}"));
    says(&found, "later/adapt.yaml:2:5: #/rules/0: Thing.secret: ");
}

#[test]
fn a_rule_for_an_automatic_conversion_is_refused_with_reason_and_suggestion() {
    let cases = [
        (
            "Thing.name",
            "down: {refuse: {code: -32602, because: no}}",
            "moved automatically",
        ),
        (
            "Block[text]",
            "down: {replace: {type: image, data: a}}",
            "converted automatically",
        ),
        (
            "Thing.name",
            "up: {default: a}",
            "a default is for a member that the target requires",
        ),
    ];
    for (at, what, because) in cases {
        let found = problems(&rule(at, what));
        says(&found, &format!("later/adapt.yaml:2:5: #/rules/0: {at}: "));
        says(&found, because);
        says(&found, "\n  remove the rule, or see with `cargo xtask adapters`");
    }
}

#[test]
fn dropping_a_member_that_converts_automatically_is_refused() {
    let found = problems(&rule("Thing.about", "down: {drop: true}"));
    says(&found, "later/adapt.yaml:2:5: #/rules/0: Thing.about: ");
}

#[test]
fn two_rules_for_one_place_are_refused() {
    let mut rules = rule("Thing.title", "down: {drop: true}");
    rules.push_str(
        rule("Thing.title", "down: {copy: about.title}")
            .strip_prefix("rules:\n")
            .unwrap(),
    );
    says(&problems(&rules), "later/adapt.yaml:6:5: #/rules/1: Thing.title: ");
}

#[test]
fn an_action_that_does_not_apply_to_its_place_is_refused_with_a_suggestion() {
    let cases = [
        ("Thing.title", "down: {default: a}"),
        (
            "Thing.data",
            "down: {ensure: {in: nowhere, item: {type: text, text: a}}}",
        ),
        ("Block[sound]", "down: {hide: {title: a}}"),
    ];
    for (at, what) in cases {
        let found = problems(&rule(at, what));
        says(&found, &format!("later/adapt.yaml:2:5: #/rules/0: {at}: "));
        says(&found, "\n  remove the rule");
    }
}

/// Some of these would give adapters that don't compile, others adapters that refuse or ignore every value.
#[test]
fn an_action_whose_arguments_do_not_fit_the_schemas_is_refused() {
    let cases = [
        ("Thing.title", "down: {copy: nowhere}"),
        ("Shelf.stories", "down: {split-by: by}"),
        ("Shelf.stories", "down: {split-by: nowhere}"),
        ("Thing.care", "down: {without: {members: [nowhere]}}"),
        ("Thing.label", "down: {without: {members: [text]}}"),
        (
            "Thing.care",
            "down: {join: {when: {a: b}, text: a, with: b, item: {}, otherwise: {code: 1, because: a}}}",
        ),
        (
            "Thing.label",
            "down: {join: {when: {type: text}, text: nowhere, with: b, item: {}, otherwise: {code: 1, because: a}}}",
        ),
        ("Thing.title", "down: {copy: about.nowhere}"),
        ("Thing.data", "down: {ensure: {in: name, item: {type: text, text: a}}}"),
        ("Thing.data", "down: {ensure: {in: blocks, item: {type: smell}}}"),
        ("Block[sound]", "down: {replace: {type: light}}"),
        ("Block[sound]", "down: {replace: {type: text, text: '{nothing}'}}"),
        ("Shelf.things", "down: {hide: {nothing.at.all: a}}"),
        ("Shelf.answers", "down: {omit-unless-in: nothing}"),
        ("Shelf.things", "down: {omit-unless-in: needed}"),
        ("Thing.owner", "up: {default: 1}"),
        // These exist, but can't be used like this.
        ("Thing.title", "down: {copy: name}"),
        ("Thing.title", "down: {copy: size.title}"),
        ("Thing.title", "down: {copy: blocks}"),
        ("Thing.data", "down: {copy: about}"),
        ("Thing.data", "down: {ensure: {in: blocks, item: {type: text}}}"),
        (
            "Thing.data",
            "down: {ensure: {in: blocks, item: {type: text, text: 1}}}",
        ),
        (
            "Thing.hint",
            "down: {ensure: {in: blocks, item: {type: text, text: '{of}'}}}",
        ),
        ("Block[sound]", "down: {replace: a}"),
        ("Block[sound]", "down: {replace: {type: text, txt: a}}"),
        ("Block[sound]", "down: {replace: {type: text, text: '{title}'}}"),
        ("Block[sound]", "down: {replace: {type: text, text: 'a {title'}}"),
        ("Block[sound]", "down: {replace: {type: text, text: '{title[]}'}}"),
        ("Shelf.things", "down: {hide: {}}"),
        ("Shelf.things", "down: {hide: {about: a}}"),
        ("Shelf.things", "down: {hide: {visible.often: a}}"),
        ("Shelf.answers", "down: {hide: {type: text}}"),
        ("Shelf.answers", "down: {omit-unless-in: things}"),
        ("Thing.owner", "up: {default: {a: 1}}"),
        ("Thing.owner", "up: {default: a}"),
        ("Thing.owner", "implied: {a: 1}"),
        ("Thing.title", "down: {drop-invalid: true}"),
        ("Thing.name", "implied: a"),
        ("Thing.name", "supplied: a"),
    ];
    let taken = cases.iter().filter_map(|(at, what)| match found(&rule(at, what)) {
        Some(found) => {
            says(&found, &format!("later/adapt.yaml:2:5: #/rules/0: {at}: "));
            says(&found, "\n  remove the rule");
            None
        }
        None => Some(format!("{at}: {what}")),
    });
    assert_none(&taken.collect::<Vec<_>>());
}

#[test]
fn arguments_that_do_not_fit_are_reported_with_the_names_of_the_schemas() {
    let cases = [
        (
            "Thing.title",
            "copy: about.nowhere",
            "the target has no member `about.nowhere`",
        ),
        ("Thing.title", "copy: blocks", "`blocks` of the target has another type"),
        (
            "Thing.data",
            "ensure: {in: name, item: {type: text, text: a}}",
            "`name` of the target isn't a list",
        ),
        (
            "Thing.data",
            "ensure: {in: blocks, item: {type: smell}}",
            "{\"type\":\"smell\"} isn't a variant of Block",
        ),
        ("Block[sound]", "replace: {type: text}", "TextBlock requires `text`"),
        (
            "Block[sound]",
            "replace: {type: text, text: '{nothing}'}",
            "SoundBlock declares no member `nothing`",
        ),
        (
            "Block[sound]",
            "replace: {type: text, text: '{title}'}",
            "TextBlock requires `text`, and the value that replaces the placeholder may be absent",
        ),
        ("Shelf.things", "hide: {about: a}", "`about` isn't a string"),
        (
            "Shelf.answers",
            "omit-unless-in: things",
            "`things` isn't a list of strings",
        ),
    ];
    for (at, what, expected) in cases {
        says(&problems(&rule(at, &format!("down: {{{what}}}"))), expected);
    }
}

fn refuses_renaming(case: &str, [at, renamed]: [&str; 2], expected: &str) {
    let rule = rule(at, &format!("renamed: {renamed}"));
    let found = found_in(case, &rule).expect("an invalid path was accepted");
    says(&found, "later/adapt.yaml:2:5: #/rules/0: ");
    says(&found, expected);
}

#[test]
fn a_path_that_leads_nowhere_is_refused_with_the_reason() {
    let cases = [
        (
            "CallResult.content",
            "outputs[audience=robot].content",
            "`outputs` of the target isn't a list of objects with these texts",
        ),
        (
            "CallResult.content",
            "isError[audience=model].content",
            "`isError` of the target isn't a list of objects with these texts",
        ),
        (
            "CallResult.content",
            "outputs.content",
            "`outputs` of the target isn't an object with declared members",
        ),
        (
            "CallResult.content",
            "outputs[audience=model].text",
            "the target has no member `outputs[audience=model].text`",
        ),
        (
            "Tool.outputTitle",
            "outputVariants[audience=program].schema",
            "there it has another type",
        ),
        (
            "CallResult.structured",
            "outputs[audience=program].value",
            "`outputs[audience=program]` of the target can't be made, because it requires `format`",
        ),
        (
            "CallResult.content",
            r#"'["a.b"].content'"#,
            r#"the target has no member `["a.b"]`"#,
        ),
        (
            "CallResult.content",
            "outputs[audience=model]",
            "`outputs[audience=model]` is neither a name nor a path",
        ),
        (
            "CallResult.content",
            "outputs[model].content",
            "`outputs[model].content` is neither a name nor a path",
        ),
        (
            "CallResult.content",
            "outputs[audience=model.content",
            "`outputs[audience=model.content` is neither a name nor a path",
        ),
        (
            "CallResult.content",
            "outputs..content",
            "`outputs..content` is neither a name nor a path",
        ),
    ];
    for (at, path, expected) in cases {
        refuses_renaming("elements", [at, path], expected);
    }
}

#[test]
fn a_value_that_cannot_move_out_of_an_object_is_refused_with_the_reason() {
    let cases = [
        (
            "Tool.hints.fast",
            "readOnly",
            "Tool.hints.fast: the target has `hints.fast` too",
        ),
        (
            "Tool.hints.door.open",
            "readOnly",
            "only a member of `hints` itself can have another place, because the target has `hints` too",
        ),
        (
            "Tool.hints.slow",
            "readOnly",
            "Tool.hints.slow: the source has no member `hints.slow`",
        ),
        (
            "Tool.hints.readOnly",
            "entrance",
            "Tool.hints.readOnly: there it has another type",
        ),
        ("Tool.hints.readOnly", "name", "the rule matches nothing on the way up"),
        (
            "Crate.label",
            "label.text",
            "`label` of the target can't be made, because it requires `lid`",
        ),
    ];
    for (at, path, expected) in cases {
        refuses_renaming("moved_out", [at, path], expected);
    }
    let both = [("Hints.readOnly", "strict"), ("Tool.hints.readOnly", "readOnly")];
    let both = both
        .map(|(at, path)| format!("  - at: {at}\n    renamed: {path}\n    why: so\n    link: https://example.org\n"));
    let found = found_in("moved_out", &format!("rules:\n{}", both.concat())).expect("two moves were accepted");
    says(&found, "#/rules/1: Tool.hints.readOnly: a rule for Hints moves it too");
}

#[test]
fn the_objects_around_the_elements_of_a_list_are_bounded_by_its_length() {
    let Generated { protocol, .. } = GENERATED.iter().find(|case| case.name == "enclosed").unwrap();
    let lines =
        |count| json!({"way": "down", "type": "CallResult", "value": {"content": [], "lines": vec![""; count]}});
    let answers = run(protocol, &[lines(1000), lines(100_000)]);
    assert_eq!(answers[0]["value"]["lines"][999], json!({"line": ""}));
    let refused = "the other revision needs many times as much text for the value";
    assert_eq!(answers[1]["error"], refused);
}

#[test]
fn a_rule_about_elements_that_cannot_be_enclosed_is_refused_with_the_reason() {
    let cases = [
        (
            "CallResult.codes",
            "codes[].code",
            "the rule matches nothing on the way up",
        ),
        ("CallResult.codes", "errors[].text", "Code has no member `text`"),
        (
            "CallResult.content",
            "content[].audience",
            "`audience` of Part has another type",
        ),
        ("CallResult.content", "content[].kind", "Part has no member `kind`"),
        (
            "CallResult.codes",
            "tags[].label",
            "the rule matches nothing on the way up",
        ),
        (
            "CallResult.tags[].label",
            "tags[].label",
            "the rule matches nothing on the way up",
        ),
        (
            "CallResult.tags[].color",
            "tags",
            "Tag requires other members than `color`",
        ),
        (
            "CallRequestParams.name",
            "name[].text",
            "it is neither a list nor a map in earlier",
        ),
        (
            "CallResult.codes",
            "errors[{code}].code",
            "a path with a key is for a map and a list",
        ),
        (
            "CallResult.answers",
            "answers[{code}].value",
            "Answer has no member `code`",
        ),
        (
            "CallResult.answers",
            "answers[{value}].name",
            "the key in Answer isn't a text",
        ),
        (
            "CallResult.answers",
            "answers[].value",
            "a path with a key is for a map and a list",
        ),
        (
            "CallResult.codes",
            "errors[]",
            "`errors[]` is neither a name nor a path",
        ),
    ];
    for (at, path, expected) in cases {
        refuses_renaming("enclosed", [at, path], expected);
    }
}

#[test]
fn a_rule_in_place_of_a_lossy_conversion_is_accepted() {
    assert_eq!(found(&rule("Shelf.answers", "down: {drop: true}")), None);
}

#[test]
fn an_unknown_key_is_refused_and_the_known_keys_are_listed() {
    let cases = [
        (
            "rules:\n  - at: Thing.title\n    dwon: {drop: true}\n    why: a\n    link: https://example.org\n",
            "dwon",
        ),
        (
            "rules:\n  - at: Thing.title\n    down: {dorp: true}\n    why: a\n    link: https://example.org\n",
            "dorp",
        ),
        (
            "rules:\n  - at: Thing.title\n    down: {refuse: {code: 1, because: a, kode: 2}}\n    why: a\n    link: https://example.org\n",
            "kode",
        ),
    ];
    for (rules, key) in cases {
        let found = problems(rules);
        says(&found, "later/adapt.yaml:");
        says(&found, &format!("`{key}`"));
        says(&found, "expected");
    }
    let found = problems("rulez:\n  - at: Thing.title\n");
    says(
        &found,
        "later/adapt.yaml:2:3: #/rulez: there is no section `rulez`\n  everything is under `rules` or `errors`",
    );
}

#[test]
fn a_rule_without_reason_link_or_action_is_refused_with_a_suggestion() {
    let cases = [
        (
            "    down: {drop: true}\n    why: ' '\n    link: https://example.org\n",
            "`why` is missing or empty\n  ",
        ),
        (
            "    down: {drop: true}\n    why: a\n    link: example\n",
            "`link` isn't an https address\n  ",
        ),
        (
            "    why: a\n    link: https://example.org\n",
            "the rule does nothing\n  give it `down`, `up` or both, `implied`, `supplied` or `renamed`",
        ),
        (
            "    down: {drop: true}\n    link: https://example.org\n",
            "missing field `why`",
        ),
    ];
    for (rest, because) in cases {
        let found = problems(&format!("rules:\n  - at: Thing.title\n{rest}"));
        says(&found, "later/adapt.yaml:2:5: #/rules/0: ");
        says(&found, because);
    }
    let found = problems(&rule("Thing.", "down: {drop: true}"));
    says(&found, "later/adapt.yaml:2:");
    says(
        &found,
        "`Thing.` isn't a place; a place is `Type.member`, `*.member`, `Type[variant]` or `Type.member[variant]`",
    );
}

#[test]
fn an_invalid_rule_for_errors_is_refused_with_position_and_suggestion() {
    let cases = [
        (
            "method: shelves/burn, down: {from: -32602, to: -32603}",
            "neither revision later nor earlier has a request `shelves/burn`\n  correct the name",
        ),
        (
            "down: {from: -5, to: -32603}",
            "revision later has no error code -5\n  correct the code, or name it under `error_codes`",
        ),
        ("up: {from: -32603, to: -5}", "revision later has no error code -5\n  "),
        (
            "down: {from: -32602, to: -32602}",
            "the code doesn't change\n  such errors need no rule",
        ),
        ("method: []", "the rule does nothing\n  give it `down`, `up` or both"),
        (
            "down: {from: -32602, if: uri, to: -32603}",
            "`if` names no member of the error's data\n  write its path, such as `data.uri`",
        ),
        (
            "down: {from: -32602, if: data..uri, to: -32603}",
            "`if` names no member of the error's data\n  ",
        ),
        (
            "down: {from: -32602, iff: data.uri, to: -32603}",
            "#/errors/0/down/iff: unknown field `iff`",
        ),
    ];
    for (rule, because) in cases {
        let found = problems(&format!(
            "errors:\n  - {{{rule}, why: a, link: 'https://example.org'}}\n"
        ));
        says(&found, "later/adapt.yaml:2:");
        says(&found, because);
    }
    let rule = "  - {down: {from: -32602, to: -32603}, why: a, link: 'https://example.org'}\n";
    let found = problems(&format!("errors:\n{rule}{rule}"));
    says(
        &found,
        "later/adapt.yaml:3:5: #/errors/1: #/errors/0 is about the same errors\n  remove one of the two",
    );
    let found = problems("errors:\n  - {down: {from: -32602, to: -32603}, why: ' ', link: a}\n");
    says(&found, "`why` is missing or empty");
}

#[test]
fn every_wrong_value_of_the_rules_is_reported_at_its_place() {
    let text = "rules:\n- {at: 5, down: {drop: 1}, up: {without: []}, why: 4}\n- []\nerrors: {a: b}\n";
    assert_eq!(
        problems(text),
        "later/adapt.yaml:2:8: #/rules/0/at: expected a string or an array of strings\n\
         later/adapt.yaml:2:24: #/rules/0/down/drop: expected a boolean, found 1\n\
         later/adapt.yaml:2:42: #/rules/0/up/without: expected an object, found an array\n\
         later/adapt.yaml:2:52: #/rules/0/why: expected a string, found 4\n\
         later/adapt.yaml:3:3: #/rules/1: expected an object, found an array\n\
         later/adapt.yaml:4:9: #/errors: expected an array, found an object"
    );
}

#[test]
fn all_invalid_rules_are_reported_at_once() {
    let mut rules = rule("Thing.colour", "down: {drop: true}");
    rules.push_str(
        rule("Thing.name", "down: {drop: true}")
            .strip_prefix("rules:\n")
            .unwrap(),
    );
    let found = problems(&rules);
    says(&found, "later/adapt.yaml:2:5: #/rules/0: Thing.colour: ");
    says(&found, "later/adapt.yaml:6:5: #/rules/1: Thing.name: ");
}
