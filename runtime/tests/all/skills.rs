//! A folder of skills that a server offers.

use std::fs;
use std::path::Path;

use mcp_ext_skills::{EXTENSION, Skill, SkillResources};
use mcp_runtime::mcp_wire::{RawJson, UnknownMethod, Validate};
use mcp_runtime::skills::{CallSkills, SkillFileError, Skills};
use mcp_runtime::transport::channel;
use mcp_runtime::{CallError, CallServer, Client, ClientSession, ErrorObject, Options, Router, error_code, hub};
use serde_json::{Value, json};
use tempfile::TempDir;

const REFUNDS: &str = "skill://acme/refunds/SKILL.md";

fn write(root: &Path, file: &str, contents: impl AsRef<[u8]>) {
    let path = root.join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, contents).unwrap();
}

fn skill(name: &str) -> String {
    format!("---\nname: {name}\ndescription: Does {name}\nlicense: MIT\n---\n# {name}\n")
}

/// A folder with a skill, another skill nested in it, and a file that belongs to neither.
fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    write(folder.path(), "README.md", "not a skill");
    write(folder.path(), "acme/refunds/SKILL.md", skill("refunds"));
    write(folder.path(), "acme/refunds/examples/an email.txt", "Dear customer");
    write(folder.path(), "acme/refunds/logo.bin", [0xff, 0, 1]);
    write(folder.path(), "acme/refunds/nested/SKILL.md", skill("nested"));
    folder
}

async fn client(folder: &TempDir) -> ClientSession {
    let (ours, theirs) = channel(16);
    let router = Skills::read(folder.path())
        .unwrap()
        .add_to(Router::new("skills", "1.0"));
    drop(router.serve(Options::default(), theirs));
    Client::new("test", "1.0")
        .extension(&EXTENSION)
        .connect(ours)
        .await
        .unwrap()
}

fn refused<T: std::fmt::Debug>(result: Result<T, CallError>) -> ErrorObject {
    match result {
        Err(CallError::Peer(error)) => error,
        other => panic!("not refused: {other:?}"),
    }
}

fn files(skill: &Skill) -> Vec<&str> {
    let SkillResources::List(files) = &skill.resources else {
        panic!("{skill:?}")
    };
    files.iter().map(|file| file.uri.as_str()).collect()
}

#[tokio::test]
async fn skills_are_listed_with_their_files_and_files_are_verified_when_read() {
    let folder = folder();
    let client = client(&folder).await;
    let declared = client.peer().info().unwrap().server_capabilities();
    let settings = declared.extensions.unwrap().get(EXTENSION.id).unwrap().clone();
    assert_eq!(settings.parse::<Value>().unwrap(), json!({"directoryRead": true}));
    assert!(declared.resources.is_some());

    let skills = client.peer().list_skills().await.unwrap();
    skills.iter().for_each(|skill| skill.validate().unwrap());
    let uris: Vec<&str> = skills.iter().map(|skill| skill.uri.as_str()).collect();
    assert_eq!(uris, [REFUNDS, "skill://acme/refunds/nested/SKILL.md"]);
    let refunds = &skills[0];
    assert_eq!(refunds.frontmatter.description, "Does refunds");
    assert_eq!(refunds.frontmatter.extra.get("license").unwrap().text(), "\"MIT\"");
    let email = "skill://acme/refunds/examples/an%20email.txt";
    let logo = "skill://acme/refunds/logo.bin";
    assert_eq!(
        files(refunds),
        [REFUNDS, email, logo, "skill://acme/refunds/nested/SKILL.md"]
    );
    assert_eq!(client.peer().get_skill(REFUNDS).await.unwrap(), *refunds);

    for (uri, bytes) in [
        (REFUNDS, skill("refunds").into_bytes()),
        (email, b"Dear customer".to_vec()),
        (logo, vec![0xff, 0, 1]),
    ] {
        assert_eq!(
            client.peer().read_skill_file(refunds, uri).await.unwrap(),
            bytes,
            "{uri}"
        );
    }
    let outside = client.peer().read_skill_file(&skills[1], email).await.unwrap_err();
    assert!(matches!(outside, SkillFileError::Unlisted(uri) if uri == email));
    let mut other = refunds.clone();
    let SkillResources::List(listed) = &mut other.resources else {
        panic!()
    };
    listed[0].digest = listed[1].digest.clone();
    let changed = client.peer().read_skill_file(&other, REFUNDS).await.unwrap_err();
    assert!(matches!(changed, SkillFileError::Changed { .. }), "{changed}");
    listed_size(&mut other);
    let changed = client.peer().read_skill_file(&other, REFUNDS).await.unwrap_err();
    assert!(changed.to_string().contains("size"), "{changed}");

    let listed = client
        .peer()
        .list_resources(hub::PaginatedRequestParams::default())
        .await
        .unwrap()
        .resources;
    let listed: Vec<(&str, Option<&str>)> = listed
        .iter()
        .map(|resource| (resource.name.as_str(), resource.mime_type.as_deref()))
        .collect();
    assert!(listed.contains(&("refunds", Some("text/markdown"))), "{listed:?}");
    assert!(!listed.iter().any(|(name, _)| *name == "README.md"), "{listed:?}");
}

fn listed_size(skill: &mut Skill) {
    if let SkillResources::List(files) = &mut skill.resources {
        files[0].size += 1;
    }
}

#[tokio::test]
async fn directories_are_read_one_level_at_a_time() {
    let folder = folder();
    let client = client(&folder).await;
    let read = |uri: &str| {
        let params = RawJson::from(json!({"uri": uri}));
        client
            .peer()
            .call_unknown(UnknownMethod::new("resources/directory/read").with_params(params))
    };
    let root: Value = read("skill://acme/refunds").await.unwrap().parse().unwrap();
    let children = root["resources"].as_array().unwrap().iter();
    let children: Vec<(&str, &str)> = children
        .map(|child| (child["name"].as_str().unwrap(), child["mimeType"].as_str().unwrap()))
        .collect();
    let directory = "inode/directory";
    assert_eq!(
        children,
        [
            ("SKILL.md", "text/markdown"),
            ("examples", directory),
            ("logo.bin", "application/octet-stream"),
            ("nested", directory)
        ]
    );
    for uri in ["skill://acme", "skill://acme/refunds/", REFUNDS, "skill://other"] {
        assert_eq!(refused(read(uri).await).code, error_code::INVALID_PARAMS, "{uri}");
    }
    assert_eq!(
        refused(client.peer().get_skill("skill://acme/SKILL.md").await).code,
        error_code::INVALID_PARAMS
    );
}

#[tokio::test]
async fn many_skills_are_listed_in_pages() {
    let folder = TempDir::new().unwrap();
    for number in 0..120 {
        write(
            folder.path(),
            &format!("skill-{number}/SKILL.md"),
            skill(&format!("skill-{number}")),
        );
    }
    let client = client(&folder).await;
    assert_eq!(client.peer().list_skills().await.unwrap().len(), 120);
    let wrong = UnknownMethod::new("skills/list").with_params(RawJson::from(json!({"cursor": "121"})));
    assert_eq!(
        refused(client.peer().call_unknown(wrong).await).code,
        error_code::INVALID_PARAMS
    );
}

#[test]
fn the_root_folder_can_itself_be_a_skill() {
    let folder = folder();
    let skills = Skills::read(folder.path().join("acme/refunds")).unwrap();
    let shown = format!("{skills:?}");
    assert!(
        shown.contains("skill://refunds/SKILL.md") && shown.contains("skill://refunds/nested/SKILL.md"),
        "{shown}"
    );
}

#[test]
fn all_faults_of_a_skills_folder_are_reported_in_one_error() {
    let folder = folder();
    write(folder.path(), "acme/other/SKILL.md", skill("name"));
    write(folder.path(), "plain/SKILL.md", "# No front matter");
    let large = vec![b'x'; (16 << 20) + 1];
    write(folder.path(), "large/SKILL.md", skill("large"));
    write(folder.path(), "large/data.txt", large);
    #[cfg(unix)]
    std::os::unix::fs::symlink("/etc/hosts", folder.path().join("acme/refunds/link")).unwrap();
    let error = Skills::read(folder.path()).unwrap_err().to_string();
    for what in [
        "acme/other/SKILL.md: the skill is called `name`",
        "plain/SKILL.md: it doesn't begin",
        "large/SKILL.md: the skill has 2 files",
    ] {
        assert!(error.contains(what), "{error}");
    }
    #[cfg(unix)]
    assert!(error.contains("acme/refunds/link: it isn't a regular file"), "{error}");
    let none = Skills::read(TempDir::new().unwrap().path()).unwrap_err().to_string();
    assert!(none.contains("no directory here has a `SKILL.md`"), "{none}");
    assert!(Skills::read("/no/such/folder").is_err());
}
