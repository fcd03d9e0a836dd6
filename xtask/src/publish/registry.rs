//! A registry of crates, queried and changed through cargo.

use std::error::Error;
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use chrono::{DateTime, Utc};
use serde::Serialize;
use tempfile::TempDir;

use super::workspace::Package;
use crate::command::{cargo, output, read};
use crate::print::status;

/// The time after which a published version must be in the index.
const INDEX: Duration = Duration::from_secs(600);
/// The longest wait that a registry may request.
const LIMIT: Duration = Duration::from_secs(3600);
/// The pause between two reads of the index.
const PAUSE: Duration = Duration::from_secs(5);

/// The state of a crate in the registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Published {
    /// Nobody has published a crate of that name.
    Free,
    /// There is a crate of that name, without this version.
    Taken,
    /// This version is published.
    Out,
    /// The registry wasn't queried, or didn't respond.
    Unknown,
}

/// A registry that cargo is configured for.
pub struct Registry {
    name: Option<String>,
    /// A directory to run cargo in: within a workspace, `cargo info` would show the crates of that workspace.
    directory: TempDir,
}

impl Registry {
    /// The registry of that name in cargo's configuration, or else the default one.
    pub fn new(name: Option<String>) -> Result<Self, Box<dyn Error>> {
        let directory = TempDir::new()?;
        Ok(Self { name, directory })
    }

    /// The environment variable from which cargo reads the token. It is the only source of a token.
    pub fn token(&self) -> String {
        match &self.name {
            Some(name) => format!("CARGO_REGISTRIES_{}_TOKEN", name.to_uppercase().replace('-', "_")),
            None => "CARGO_REGISTRY_TOKEN".to_owned(),
        }
    }

    /// Whether there is a token.
    pub fn has_token(&self) -> bool {
        std::env::var_os(self.token()).is_some_and(|token| !token.is_empty())
    }

    /// A cargo command that uses this registry.
    pub fn cargo(&self, args: &[&str]) -> Command {
        let mut command = cargo();
        command.args(args).args(["--color", "never"]);
        let name = self.name.iter().flat_map(|name| ["--registry", name]);
        command.args(name).current_dir(&self.directory);
        command
    }

    /// The state of a crate in the registry.
    pub fn published(&self, package: &Package) -> Result<Published, Box<dyn Error>> {
        let named = self.info(&package.name)?;
        if named != Published::Out {
            return Ok(named);
        }
        Ok(match self.info(&format!("{}@{}", package.name, package.version))? {
            Published::Free => Published::Taken,
            other => other,
        })
    }

    fn info(&self, spec: &str) -> Result<Published, Box<dyn Error>> {
        let answer = output(&mut self.cargo(&["info", spec]))?;
        Ok(published_of(
            answer.status.success(),
            &String::from_utf8_lossy(&answer.stderr),
        ))
    }

    /// The logins of those who may publish a crate.
    pub fn owners(&self, name: &str) -> Result<Vec<String>, Box<dyn Error>> {
        let list = read(&mut self.cargo(&["owner", "--quiet", "--list", name]))?;
        let logins = list.lines().filter_map(|line| line.split_whitespace().next());
        Ok(logins.map(str::to_owned).collect())
    }

    /// Lets others publish a crate too.
    pub fn add_owner(&self, name: &str, owner: &str) -> Result<(), Box<dyn Error>> {
        read(&mut self.cargo(&["owner", "--add", owner, name])).map(|_| ())
    }

    /// Publishes a crate, and returns when the index has it. If the registry asks to wait, it is tried again after that
    /// time.
    pub fn publish(&self, package: &Package) -> Result<(), Box<dyn Error>> {
        let mut command = self.cargo(&["publish", "--no-verify"]);
        command.arg("--manifest-path").arg(&package.manifest_path);
        while let Err(error) = read(&mut command) {
            let wait = asked_to_wait(&error.to_string(), Utc::now()).filter(|wait| *wait <= LIMIT);
            let Some(wait) = wait else { return Err(error) };
            status(format_args!(
                "the registry limits new crates; trying again in {} s",
                wait.as_secs()
            ));
            sleep(wait);
        }
        // Cargo waits too, but only for a minute, and then succeeds anyway.
        let mut waited = Duration::ZERO;
        while self.published(package)? != Published::Out {
            if waited >= INDEX {
                return Err(format!("{}: the index doesn't have it yet; run this again", package.name).into());
            }
            sleep(PAUSE);
            waited += PAUSE;
        }
        Ok(())
    }

    /// Yanks a version, so that no new project depends on it.
    pub fn yank(&self, package: &Package) -> Result<(), Box<dyn Error>> {
        let spec = format!("{}@{}", package.name, package.version);
        read(&mut self.cargo(&["yank", &spec])).map(|_| ())
    }
}

/// Cargo reports a free name as not found, but without the network any name: it is free only if cargo queried the
/// index.
fn published_of(found: bool, text: &str) -> Published {
    let asked = text.lines().any(|line| line.trim_start().starts_with("Updating "));
    match found {
        true => Published::Out,
        false if asked && text.contains("could not find `") => Published::Free,
        false => Published::Unknown,
    }
}

/// The wait that a registry with a rate limit requests: until the time in its response, or else ten minutes.
fn asked_to_wait(text: &str, now: DateTime<Utc>) -> Option<Duration> {
    if !text.contains("429") {
        return None;
    }
    let time = text.split_once("try again after ").and_then(|(_, rest)| {
        let end = rest.find("GMT")? + "GMT".len();
        DateTime::parse_from_rfc2822(&rest[..end]).ok()
    });
    let second = Duration::from_secs(1);
    Some(match time {
        Some(time) => (time.to_utc() - now).to_std().unwrap_or_default() + second,
        None => Duration::from_secs(600),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_free_only_if_the_registry_was_queried() {
        let asked = "    Updating an index\nerror: could not find `mcp-wire` in registry\n";
        assert_eq!(published_of(false, asked), Published::Free);
        assert_eq!(published_of(true, "    Updating an index\n"), Published::Out);
        for text in [
            "error: could not find `mcp-wire` in registry\n",
            "    Updating an index\nerror: failed to query\n",
        ] {
            assert_eq!(published_of(false, text), Published::Unknown, "{text}");
        }
    }

    #[test]
    fn the_wait_for_a_rate_limit_ends_at_the_time_in_the_response() {
        let now = DateTime::parse_from_rfc3339("2099-01-01T00:00:00Z").unwrap().to_utc();
        let limited = "(status 429 Too Many Requests): Please try again after Thu, 01 Jan 2099 00:00:30 GMT and see …";
        assert_eq!(asked_to_wait(limited, now), Some(Duration::from_secs(31)));
        let later = now + Duration::from_secs(60);
        assert_eq!(asked_to_wait(limited, later), Some(Duration::from_secs(1)));
        assert_eq!(asked_to_wait("status 429", now), Some(Duration::from_secs(600)));
        assert_eq!(asked_to_wait("status 403 Forbidden", now), None);
    }
}
