//! The configuration file in which hosts list their servers.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use mcp_adapters::mcp_wire::{Map, RawJson};
use mcp_runtime_http::client::{HttpError, HttpOptions};
use mcp_runtime_local::stdio::SpawnOptions;
use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::server::{HttpServerConfig, ProcessConfig, ServerConfig};

/// The servers of a host's configuration file, such as `mcp.json`: an object `mcpServers`, or `servers`, with the
/// servers by their names. A server has a `command` with `args`, `env` and `cwd`, or a `url` with `headers`. In these
/// strings, `${NAME}` and `${NAME:-default}` are replaced by environment variables. Servers with `"disabled": true` are
/// left out, except for their names. The file may contain comments and trailing commas, as that of Visual Studio Code may.
///
/// ```
/// use mcp_runtime::clients::ServersFile;
///
/// let file = r#"{"mcpServers": {
///     "git": {"command": "git-mcp", "args": ["--repository", "${HOME:-/}/project"]},
///     "wiki": {"url": "https://example.org/mcp", "headers": {"Authorization": "Bearer ${TOKEN:-none}"}}
/// }}"#;
/// let servers = ServersFile::parse(file).unwrap().servers;
/// assert_eq!(servers.keys().collect::<Vec<_>>(), ["git", "wiki"]);
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ServersFile {
    /// The servers by their names, in the order of the file.
    pub servers: Map<ServerConfig>,
    /// The problems of the invalid servers, by their names.
    pub invalid: BTreeMap<String, String>,
    /// The names of the disabled servers.
    pub disabled: BTreeSet<String>,
}

/// The error of a configuration file.
#[derive(Debug, thiserror::Error)]
#[error("{}: {reason}", path.display())]
#[non_exhaustive]
pub struct FileError {
    /// The file.
    pub path: PathBuf,
    /// The problem.
    pub reason: String,
}

#[derive(Deserialize)]
#[serde(expecting = "an object with `mcpServers`")]
struct Content {
    #[serde(rename = "mcpServers", alias = "servers")]
    servers: Map<RawJson>,
}

/// The members of a server that aren't used yet.
struct Entry(serde_json::Map<String, Value>);

impl ServersFile {
    /// Reads a file.
    ///
    /// # Errors
    /// When it can't be read, or isn't such a file.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, FileError> {
        let path = path.as_ref();
        let failed = |reason: String| FileError {
            path: path.to_owned(),
            reason,
        };
        let text = std::fs::read_to_string(path).map_err(|error| failed(error.to_string()))?;
        Self::parse(&text).map_err(failed)
    }

    /// Parses the text of a file.
    ///
    /// # Errors
    /// When the text isn't that of such a file: the problem. A single invalid server isn't an error: see
    /// [`Self::invalid`].
    pub fn parse(text: &str) -> Result<Self, String> {
        // Some editors start a file with a byte order mark.
        let mut text = text.strip_prefix('\u{feff}').unwrap_or(text).to_owned();
        // Spaces take the place of what is removed, so that errors have the right line and column.
        json_strip_comments::strip(&mut text).map_err(|error| error.to_string())?;
        let Content { servers } = serde_json::from_str(&text).map_err(|error| error.to_string())?;
        let mut file = Self {
            servers: Map::new(),
            invalid: BTreeMap::new(),
            disabled: BTreeSet::new(),
        };
        for (name, entry) in servers {
            match Entry::config(&name, &entry) {
                Ok(Some(config)) => _ = file.servers.insert(name, config),
                Ok(None) => _ = file.disabled.insert(name),
                Err(reason) => _ = file.invalid.insert(name, reason),
            }
        }
        Ok(file)
    }

    /// Returns the servers, if none is invalid.
    ///
    /// # Errors
    /// The problem of the first invalid server.
    pub fn all(self) -> Result<Map<ServerConfig>, String> {
        match self.invalid.into_iter().next() {
            None => Ok(self.servers),
            Some((name, reason)) => Err(format!("server {name:?}: {reason}")),
        }
    }
}

impl Entry {
    /// Returns the configuration of a server, or `None` if it is disabled.
    fn config(name: &str, entry: &RawJson) -> Result<Option<ServerConfig>, String> {
        let Ok(Value::Object(members)) = serde_json::from_str(entry.text()) else {
            return Err("it isn't an object".to_owned());
        };
        let mut entry = Self(members);
        if entry.take("disabled")? {
            return Ok(None);
        }
        match (entry.take("command")?, entry.take("url")?) {
            (Some(command), None) => entry.process(name, command).map(Some),
            (None, Some(url)) => entry.http(url).map(Some),
            _ => Err("it needs either a `command` or a `url`".to_owned()),
        }
    }

    fn process(&mut self, name: &str, command: String) -> Result<ServerConfig, String> {
        let (arguments, environment): (Vec<String>, BTreeMap<String, String>) = (self.take("args")?, self.take("env")?);
        let directory: Option<String> = self.take("cwd")?;
        let arguments = arguments.iter().map(|argument| Ok(expanded(argument)?.into()));
        let environment = environment
            .into_iter()
            .map(|(name, value)| Ok((name, expanded(&value)?)));
        Ok(ServerConfig::Process(ProcessConfig {
            program: expanded(&command)?.into(),
            arguments: arguments.collect::<Result<_, String>>()?,
            environment: environment.collect::<Result<_, String>>()?,
            directory: directory.as_deref().map(expanded).transpose()?.map(PathBuf::from),
            options: SpawnOptions::default().server(name),
        }))
    }

    fn http(&mut self, url: String) -> Result<ServerConfig, String> {
        let url = expanded(&url)?;
        if !Url::parse(&url).is_ok_and(|url| matches!(url.scheme(), "http" | "https")) {
            return Err(format!("`url`: {}", HttpError::Address(url)));
        }
        let mut headers = HeaderMap::new();
        for (name, value) in self.take::<BTreeMap<String, String>>("headers")? {
            let failed = |reason: String| format!("header {name:?}: {reason}");
            let (name, value) = header(&name, &expanded(&value)?).map_err(failed)?;
            headers.append(name, value);
        }
        Ok(ServerConfig::Http(HttpServerConfig {
            url,
            headers,
            options: HttpOptions::default(),
        }))
    }

    /// Takes the value of a member, which can be absent.
    fn take<T: DeserializeOwned + Default>(&mut self, name: &str) -> Result<T, String> {
        let value = self.0.remove(name).map(serde_json::from_value).transpose();
        Ok(value.map_err(|error| format!("`{name}`: {error}"))?.unwrap_or_default())
    }
}

fn header(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), String> {
    let name = name.parse().map_err(|_| "the name isn't a valid header name")?;
    let mut value: HeaderValue = value.parse().map_err(|_| "the value isn't a valid header value")?;
    value.set_sensitive(true);
    Ok((name, value))
}

/// Replaces environment variables in a text, written as `${NAME}` or `${NAME:-default}`.
///
/// # Errors
/// When a variable isn't set, and has no default.
pub fn expanded(text: &str) -> Result<String, String> {
    let mut expanded = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let Some((variable, after)) = after.split_once('}') else {
            break;
        };
        let (name, default) = variable
            .split_once(":-")
            .map_or((variable, None), |(name, default)| (name, Some(default)));
        let value = std::env::var(name).ok().or_else(|| default.map(str::to_owned));
        expanded.push_str(before);
        expanded.push_str(&value.ok_or_else(|| format!("the environment has no {name}, and there is no default"))?);
        rest = after;
    }
    Ok(expanded + rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_replaced_and_a_missing_one_needs_a_default() {
        assert_eq!(expanded("a ${MCP_NONE:-b} c ${MCP_NONE:-}d").unwrap(), "a b c d");
        assert_eq!(expanded("${CARGO_PKG_NAME}/x").unwrap(), "mcp-runtime-clients/x");
        assert_eq!(expanded("$HOME and ${unfinished").unwrap(), "$HOME and ${unfinished");
        assert!(expanded("${MCP_NONE}").unwrap_err().contains("MCP_NONE"));
    }

    #[test]
    fn variables_are_replaced_in_command_args_and_cwd() {
        let file =
            r#"{"servers":{"a":{"command":"${MCP_NONE:-x}","args":["${MCP_NONE:-y}"],"cwd":"${MCP_NONE:-/z}/w"}}}"#;
        let mut servers = ServersFile::parse(file).and_then(ServersFile::all).unwrap();
        let Some(ServerConfig::Process(process)) = servers.remove("a") else {
            panic!("it is a process");
        };
        assert_eq!((process.program, process.arguments), ("x".into(), vec!["y".into()]));
        assert_eq!(process.directory, Some("/z/w".into()));
        assert_eq!(process.options.server.as_deref(), Some("a"));
    }

    #[test]
    fn errors_name_the_invalid_server_and_disabled_servers_are_left_out() {
        let reason = |text: &str| ServersFile::parse(text).and_then(ServersFile::all).unwrap_err();
        for not_servers in ["{}", "[]", "5"] {
            assert!(reason(not_servers).contains("mcpServers"), "{}", reason(not_servers));
        }
        let both = r#"{"servers":{"a":{"command":"x","url":"y"}}}"#;
        assert_eq!(reason(both), r#"server "a": it needs either a `command` or a `url`"#);
        let header = r#"{"servers":{"a":{"url":"http://x","headers":{"b c":"d"}}}}"#;
        assert!(reason(header).starts_with(r#"server "a": header "b c": "#));
        for url in ["nowhere", "ftp://x", "http://"] {
            let invalid = format!("server \"a\": `url`: {url:?} isn't an HTTP URL");
            assert_eq!(
                reason(&serde_json::json!({"servers": {"a": {"url": url}}}).to_string()),
                invalid
            );
        }
        let arguments = r#"{"servers":{"a":{"command":"x","args":"y"}}}"#;
        assert_eq!(
            reason(arguments),
            r#"server "a": `args`: invalid type: string "y", expected a sequence"#
        );
        assert_eq!(reason(r#"{"servers":{"a":5}}"#), r#"server "a": it isn't an object"#);
        let disabled = r#"{"mcpServers":{"a":{"disabled":true,"args":5}}}"#;
        let file = ServersFile::parse(disabled).unwrap();
        assert!(file.servers.is_empty() && file.disabled.contains("a"));
    }

    #[test]
    fn a_member_of_the_wrong_type_affects_only_its_server() {
        let file = r#"{"servers":{"a":{"command":"x","env":{"A":1}},"b":{"command":"x"}}}"#;
        let file = ServersFile::parse(file).unwrap();
        assert!(file.servers.contains_key("b") && file.invalid["a"].starts_with("`env`: "));
    }

    #[test]
    fn servers_have_the_order_of_the_file() {
        let file = r#"{"mcpServers":{"zed":{"command":"x"},"abe":{"command":"x"}}}"#;
        let servers = ServersFile::parse(file).and_then(ServersFile::all).unwrap();
        assert_eq!(servers.keys().collect::<Vec<_>>(), ["zed", "abe"]);
    }

    #[test]
    fn a_byte_order_mark_is_skipped() {
        let file = ServersFile::parse("\u{feff}{\"servers\":{\"a\":{\"command\":\"x\"}}}").unwrap();
        assert!(file.servers.contains_key("a"));
    }

    #[test]
    fn comments_and_trailing_commas_are_skipped_and_errors_keep_their_place() {
        let file = "{ // of the editor\n\"servers\": {/* one */ \"a\": {\"url\": \"http://x/*\", },},}";
        let servers = ServersFile::parse(file).and_then(ServersFile::all).unwrap();
        let Some(ServerConfig::Http(server)) = servers.get("a") else {
            panic!("it has a URL");
        };
        assert_eq!(server.url, "http://x/*");
        let reason = ServersFile::parse("{ // of the editor\n/* é */ 5}").unwrap_err();
        assert!(reason.ends_with("line 2 column 10"), "{reason}");
        ServersFile::parse("{\"servers\": {} /* unfinished").unwrap_err();
    }
}
