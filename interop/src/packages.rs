//! Other people's packages, pinned by lock files: of npm, pip and cargo.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::error::Error;
use crate::process::{leading, run};

/// The files that pin the packages of npm and pip. Each kind is installed if its file is present.
const DESCRIPTIONS: [&str; 4] = [PACKAGE, "package-lock.json", ".npmrc", REQUIREMENTS];
const PACKAGE: &str = "package.json";
const REQUIREMENTS: &str = "requirements.txt";
/// The manifest of a program that cargo builds; its lock file pins the packages.
const MANIFEST: &str = "Cargo.toml";

const NODE: &str = "install Node 20 or later, which brings it";
const RUST: &str = "install Rust";
const PYTHON: &str = "install Python 3.10 or later with its module venv";

/// Packages, and the directory of their installation.
#[derive(Debug, Clone)]
pub struct Packages {
    /// The directory with the files that pin their versions.
    pub described: PathBuf,
    /// The directory of the installation.
    pub installed: PathBuf,
}

impl Packages {
    /// Installs the packages, unless the same ones are already installed.
    pub async fn install(&self, status: impl Fn(&str)) -> Result<(), Error> {
        if self.described.join(MANIFEST).exists() {
            status("building with the packages of crates.io");
            let mut cargo = leading("cargo");
            cargo.args(["build", "--quiet", "--locked", "--manifest-path"]);
            cargo.arg(self.described.join(MANIFEST));
            cargo.arg("--target-dir").arg(&self.installed);
            return run(cargo, RUST).await.map(drop);
        }
        let stamp = self.installed.join("stamp");
        let wanted = self.fingerprint()?;
        if std::fs::read_to_string(&stamp).is_ok_and(|stamp| stamp == wanted) {
            return Ok(());
        }
        if self.installed.exists() {
            std::fs::remove_dir_all(&self.installed).map_err(Error::io(&self.installed))?;
        }
        std::fs::create_dir_all(&self.installed).map_err(Error::io(&self.installed))?;
        for (name, path) in self.descriptions() {
            std::fs::copy(&path, self.installed.join(name)).map_err(Error::io(&path))?;
        }

        if self.described.join(PACKAGE).exists() {
            status("installing the npm packages");
            let mut npm = leading("npm");
            npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]);
            npm.current_dir(&self.installed);
            run(npm, NODE).await?;
        }

        if self.described.join(REQUIREMENTS).exists() {
            status("installing the Python packages");
            let mut venv = leading("python3");
            venv.args(["-m", "venv"]).arg(self.installed.join("venv"));
            run(venv, PYTHON).await?;
            let mut pip = leading(self.python());
            pip.args([
                "-m",
                "pip",
                "install",
                "--quiet",
                "--no-input",
                "--disable-pip-version-check",
                "-r",
            ]);
            pip.arg(self.installed.join(REQUIREMENTS));
            run(pip, PYTHON).await?;
        }
        std::fs::write(&stamp, wanted).map_err(Error::io(&stamp))
    }

    /// The interpreter with the Python packages.
    pub fn python(&self) -> PathBuf {
        self.installed.join("venv/bin/python")
    }

    /// The Node among the packages, or the machine's if none is published for its platform.
    pub fn node(&self) -> PathBuf {
        let installed = self.module(".bin/node");
        if installed.exists() { installed } else { "node".into() }
    }

    /// A program that cargo built.
    pub fn program(&self, name: &str) -> PathBuf {
        self.installed.join("debug").join(name)
    }

    /// The directory of an npm package.
    pub fn module(&self, name: &str) -> PathBuf {
        self.installed.join("node_modules").join(name)
    }

    /// The version of an npm package.
    pub fn npm_version(&self, name: &str) -> Result<String, Error> {
        /// The dependencies in package.json.
        #[derive(Deserialize)]
        struct Wanted {
            dependencies: BTreeMap<String, String>,
        }
        let path = self.described.join(PACKAGE);
        let text = std::fs::read(&path).map_err(Error::io(&path))?;
        let wanted: Wanted = serde_json::from_slice(&text).map_err(|error| Error::malformed(&path, error))?;
        let version = wanted.dependencies.get(name).cloned();
        version.ok_or_else(|| Error::malformed(&path, format!("{name} isn't among the dependencies")))
    }

    /// The version of a Python package.
    pub fn python_version(&self, name: &str) -> Result<String, Error> {
        let separated = |line: &str| Some(line.strip_prefix(name)?.strip_prefix("==")?.trim().to_owned());
        self.version_in(REQUIREMENTS, name, |text| text.lines().find_map(separated))
    }

    /// The version of a crate.
    pub fn crate_version(&self, name: &str) -> Result<String, Error> {
        let entry = format!("name = \"{name}\"\nversion = \"");
        self.version_in("Cargo.lock", name, |text| {
            let (_, rest) = text.split_once(&entry)?;
            Some(rest.split_once('"')?.0.to_owned())
        })
    }

    fn version_in(&self, file: &str, name: &str, find: impl Fn(&str) -> Option<String>) -> Result<String, Error> {
        let path = self.described.join(file);
        let text = std::fs::read_to_string(&path).map_err(Error::io(&path))?;
        find(&text).ok_or_else(|| Error::malformed(&path, format!("{name} isn't pinned")))
    }

    fn descriptions(&self) -> impl Iterator<Item = (&'static str, PathBuf)> {
        let files = DESCRIPTIONS.map(|name| (name, self.described.join(name)));
        files.into_iter().filter(|(_, path)| path.exists())
    }

    /// Distinguishes these packages, and this location, from others: a virtual environment can't be moved.
    fn fingerprint(&self) -> Result<String, Error> {
        let mut hash = Sha256::new();
        hash.update(self.installed.to_string_lossy().as_bytes());
        for (name, path) in self.descriptions() {
            hash.update(name);
            hash.update(std::fs::read(&path).map_err(Error::io(&path))?);
        }
        Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
    }
}
