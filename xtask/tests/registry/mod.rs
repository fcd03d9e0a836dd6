//! A local registry of crates, which cargo uses instead of crates.io: a sparse index, downloads, and the web API that
//! `cargo publish`, `owner` and `yank` use.

use std::collections::BTreeMap;
use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};

use axum::body::Bytes;
use axum::extract::{Path as Parts, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, put};
use axum::{Json, Router};
use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

const TOKEN: &str = "made-up";

/// The contents of the registry, and its behavior.
#[derive(Default)]
pub struct Contents {
    /// The lines of the index, by crate.
    pub index: BTreeMap<String, Vec<Value>>,
    pub packages: BTreeMap<(String, String), Bytes>,
    pub owners: BTreeMap<String, Vec<String>>,
    /// The requests to the web API, in order.
    pub log: Vec<String>,
    /// The number of new crates before its rate limit applies; `None` for no limit.
    pub burst: Option<usize>,
    /// The time at which it accepts another one.
    pub opens: Option<DateTime<Utc>>,
    /// A crate whose publication fails, once.
    pub fails: Option<String>,
}

type Shared = Arc<Mutex<Contents>>;

/// A registry that runs until it is dropped.
pub struct Registry {
    contents: Shared,
    address: SocketAddr,
    _runtime: tokio::runtime::Runtime,
}

impl Registry {
    pub fn start(contents: Contents) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        let contents = Arc::new(Mutex::new(contents));
        let config = Json(json!({"dl": format!("http://{address}/dl"), "api": format!("http://{address}")}));
        let app = Router::new()
            .route("/config.json", get(async || config))
            .route("/dl/{name}/{version}/download", get(download))
            .route("/api/v1/crates/new", put(publish))
            .route("/api/v1/crates/{name}/owners", get(owners).put(add_owner))
            .route("/api/v1/crates/{name}/{version}/yank", delete(yank))
            .route("/{*path}", get(index))
            .layer(axum::extract::DefaultBodyLimit::disable())
            .with_state(Arc::clone(&contents));
        runtime.spawn(async move { axum::serve(listener, app).await });
        Self {
            contents,
            address,
            _runtime: runtime,
        }
    }

    /// Its current contents.
    pub fn contents(&self) -> std::sync::MutexGuard<'_, Contents> {
        self.contents.lock().unwrap()
    }

    /// Makes a command, and the cargo that it runs, use this registry instead of crates.io.
    pub fn set_up<'c>(&self, command: &'c mut Command, cargo_home: &Path) -> &'c mut Command {
        let index = format!("sparse+http://{}/", self.address);
        let config = format!(
            "[source.crates-io]\nreplace-with = \"local\"\n[source.local]\nregistry = \"{index}\"\n\
             [registries.local]\nindex = \"{index}\"\n"
        );
        fs::create_dir_all(cargo_home).unwrap();
        fs::write(cargo_home.join("config.toml"), config).unwrap();
        command
            .env("CARGO_HOME", cargo_home)
            .env("CARGO_REGISTRIES_LOCAL_TOKEN", TOKEN)
    }
}

/// An error response of the web API.
fn error(status: StatusCode, detail: &str) -> Response {
    (status, Json(json!({"errors": [{"detail": detail}]}))).into_response()
}

fn not_allowed(headers: &HeaderMap) -> Option<Response> {
    let token = headers.get("authorization").and_then(|token| token.to_str().ok());
    (token != Some(TOKEN)).then(|| error(StatusCode::FORBIDDEN, "this needs a token"))
}

/// `se/rd/serde`
async fn index(State(contents): State<Shared>, Parts(path): Parts<String>) -> Response {
    let name = path.rsplit('/').next().unwrap_or_default();
    match contents.lock().unwrap().index.get(name) {
        Some(lines) => {
            let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
            lines.join("\n").into_response()
        }
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

async fn download(State(contents): State<Shared>, Parts(crate_): Parts<(String, String)>) -> Response {
    match contents.lock().unwrap().packages.get(&crate_) {
        Some(package) => package.clone().into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

async fn publish(State(contents): State<Shared>, headers: HeaderMap, body: Bytes) -> Response {
    if let Some(refused) = not_allowed(&headers) {
        return refused;
    }
    let (metadata, rest) = split(&body);
    let (package, _) = split(rest);
    let metadata: Value = serde_json::from_slice(metadata).unwrap();
    let text = |member: &str| metadata[member].as_str().unwrap().to_owned();
    let (name, version) = (text("name"), text("vers"));
    let mut contents = contents.lock().unwrap();
    contents.log.push(format!("publish {name} {version}"));
    if contents.fails.take_if(|fails| *fails == name).is_some() {
        return error(StatusCode::INTERNAL_SERVER_ERROR, "out of order");
    }
    if !contents.index.contains_key(&name)
        && let Some(refused) = limit(&mut contents)
    {
        return refused;
    }
    let line = index_line(&metadata, package);
    contents.index.entry(name.clone()).or_default().push(line);
    contents
        .owners
        .entry(name.clone())
        .or_insert_with(|| vec!["publisher".to_owned()]);
    contents
        .packages
        .insert((name, version), Bytes::copy_from_slice(package));
    Json(json!({"warnings": {"invalid_categories": [], "invalid_badges": [], "other": []}})).into_response()
}

/// Splits the first part off the body of a publish request. Each part is preceded by its length.
fn split(body: &[u8]) -> (&[u8], &[u8]) {
    let (length, rest) = body.split_first_chunk().unwrap();
    rest.split_at(u32::from_le_bytes(*length).try_into().unwrap())
}

/// Refuses a new crate when there were too many, as crates.io does.
fn limit(contents: &mut Contents) -> Option<Response> {
    match &mut contents.burst {
        None => None,
        Some(0) if contents.opens.is_some_and(|opens| opens <= Utc::now()) => {
            contents.opens = None;
            None
        }
        Some(0) => {
            let opens = contents
                .opens
                .get_or_insert(Utc::now() + TimeDelta::seconds(1))
                .format("%a, %d %b %Y %H:%M:%S GMT");
            let text = format!(
                "You have published too many new crates. Please try again after {opens} and see the documentation."
            );
            Some(error(StatusCode::TOO_MANY_REQUESTS, &text))
        }
        Some(left) => {
            *left -= 1;
            None
        }
    }
}

/// The entry of a version in the index, from the metadata that `cargo publish` sends.
fn index_line(metadata: &Value, package: &[u8]) -> Value {
    let dependency = |sent: &Value| {
        let renamed = sent["explicit_name_in_toml"].is_string();
        json!({
            "name": sent[if renamed { "explicit_name_in_toml" } else { "name" }],
            "package": if renamed { sent["name"].clone() } else { Value::Null },
            "req": sent["version_req"], "features": sent["features"], "optional": sent["optional"],
            "default_features": sent["default_features"], "target": sent["target"], "kind": sent["kind"],
        })
    };
    let dependencies: Vec<Value> = metadata["deps"].as_array().unwrap().iter().map(dependency).collect();
    let sum: String = Sha256::digest(package)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    json!({
        "name": metadata["name"], "vers": metadata["vers"], "deps": dependencies, "cksum": sum, "features": {}, "features2": metadata["features"],
        "yanked": false, "links": metadata["links"], "rust_version": metadata["rust_version"], "v": 2,
    })
}

async fn owners(State(contents): State<Shared>, headers: HeaderMap, Parts(name): Parts<String>) -> Response {
    if let Some(refused) = not_allowed(&headers) {
        return refused;
    }
    let contents = contents.lock().unwrap();
    let users = contents
        .owners
        .get(&name)
        .into_iter()
        .flatten()
        .map(|login| json!({"id": 1, "login": login, "name": null}));
    Json(json!({"users": users.collect::<Vec<_>>()})).into_response()
}

async fn add_owner(
    State(contents): State<Shared>,
    headers: HeaderMap,
    Parts(name): Parts<String>,
    Json(added): Json<Value>,
) -> Response {
    if let Some(refused) = not_allowed(&headers) {
        return refused;
    }
    let mut contents = contents.lock().unwrap();
    for login in added["users"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
    {
        contents.log.push(format!("owner {name} {login}"));
        contents.owners.entry(name.clone()).or_default().push(login.to_owned());
    }
    Json(json!({"ok": true, "msg": "added"})).into_response()
}

async fn yank(
    State(contents): State<Shared>,
    headers: HeaderMap,
    Parts((name, version)): Parts<(String, String)>,
) -> Response {
    if let Some(refused) = not_allowed(&headers) {
        return refused;
    }
    let mut contents = contents.lock().unwrap();
    contents.log.push(format!("yank {name} {version}"));
    for line in contents
        .index
        .get_mut(&name)
        .into_iter()
        .flatten()
        .filter(|line| line["vers"] == version.as_str())
    {
        line["yanked"] = true.into();
    }
    Json(json!({"ok": true})).into_response()
}
