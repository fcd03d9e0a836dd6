//! What cargo knows of a registry, and what it sends there.

use std::error::Error;
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use chrono::{DateTime, Utc};
use serde::Serialize;
use tempfile::TempDir;

use super::command::{cargo, output, read};
use super::workspace::Package;
use crate::print::status;

/// How long a registry may take until its index has what was sent.
const INDEX: Duration = Duration::from_secs(600);
/// How long a registry may ask to wait before it takes more.
const LIMIT: Duration = Duration::from_secs(3600);
/// How often the index is read while it is waited for.
const PAUSE: Duration = Duration::from_secs(5);

/// What the registry has of a crate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Published {
    /// Nobody has published a crate of that name.
    Free,
    /// There is a crate of that name, and it lacks this version.
    Taken,
    /// This version is there.
    Out,
    /// The registry wasn't asked, or didn't answer.
    Unknown,
}

/// A registry that cargo is set up for.
pub struct Registry {
    name: Option<String>,
    /// A directory without a workspace, whose crates `cargo info` would show instead.
    directory: TempDir,
}

impl Registry {
    /// The registry of that name in cargo's configuration, or else the usual one.
    pub fn new(name: Option<String>) -> Result<Self, Box<dyn Error>> {
        let directory = TempDir::new()?;
        Ok(Self { name, directory })
    }

    /// Where cargo takes the token from. Nothing else is read for one.
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

    /// A command of cargo that uses this registry.
    pub fn cargo(&self, args: &[&str]) -> Command {
        let mut command = cargo();
        command.args(args).args(["--color", "never"]);
        let name = self.name.iter().flat_map(|name| ["--registry", name]);
        command.args(name).current_dir(&self.directory);
        command
    }

    /// What the registry has of a crate.
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

    /// Publishes a crate, as often as the registry asks to wait, and returns when the index has it.
    pub fn publish(&self, package: &Package) -> Result<(), Box<dyn Error>> {
        let mut command = self.cargo(&["publish", "--no-verify"]);
        command.arg("--manifest-path").arg(&package.manifest_path);
        while let Err(error) = read(&mut command) {
            let wait = asked_to_wait(&error.to_string(), Utc::now()).filter(|wait| *wait <= LIMIT);
            let Some(wait) = wait else { return Err(error) };
            status(format_args!("the registry takes more in {} s", wait.as_secs()));
            sleep(wait);
        }
        // Cargo waits too, for a minute, and ends as if all were well.
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

    /// Keeps others from starting to use a version.
    pub fn yank(&self, package: &Package) -> Result<(), Box<dyn Error>> {
        let spec = format!("{}@{}", package.name, package.version);
        read(&mut self.cargo(&["yank", &spec])).map(|_| ())
    }
}

/// Cargo doesn't find a name that is free, and says the same where it may not use the network: it is free only if cargo asked.
fn published_of(found: bool, text: &str) -> Published {
    let asked = text.lines().any(|line| line.trim_start().starts_with("Updating "));
    match found {
        true => Published::Out,
        false if asked && text.contains("could not find `") => Published::Free,
        false => Published::Unknown,
    }
}

/// How long a registry that limits what is sent wants to be left alone: until the time that it names, or ten minutes.
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
    fn a_name_is_free_only_if_the_registry_was_asked() {
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
    fn a_limit_is_waited_for_until_the_time_that_the_registry_names() {
        let now = DateTime::parse_from_rfc3339("2099-01-01T00:00:00Z").unwrap().to_utc();
        let limited = "(status 429 Too Many Requests): Please try again after Thu, 01 Jan 2099 00:00:30 GMT and see …";
        assert_eq!(asked_to_wait(limited, now), Some(Duration::from_secs(31)));
        let later = now + Duration::from_secs(60);
        assert_eq!(asked_to_wait(limited, later), Some(Duration::from_secs(1)));
        assert_eq!(asked_to_wait("status 429", now), Some(Duration::from_secs(600)));
        assert_eq!(asked_to_wait("status 403 Forbidden", now), None);
    }
}
