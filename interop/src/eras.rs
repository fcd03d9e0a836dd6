//! The eras: what the official SDKs and the reference server were when a revision was new.

use std::collections::BTreeMap;
use std::path::PathBuf;

use mcp_runtime::Revision;
use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::error::Error;
use crate::places;
use crate::process::{leading, run};

/// The packages of a revision's time.
#[derive(Debug, Clone)]
pub struct Era {
    /// The revision that they speak.
    pub revision: Revision,
    /// Where their names and versions stand.
    described: PathBuf,
    /// Where they are installed.
    pub packages: PathBuf,
}

/// What npm is asked to install, in package.json.
#[derive(Deserialize)]
struct Wanted {
    dependencies: BTreeMap<String, String>,
}

const DESCRIPTIONS: [&str; 4] = ["package.json", "package-lock.json", ".npmrc", "requirements.txt"];
const NODE: &str = "install Node 20 or later, which brings it";
const PYTHON: &str = "install Python 3.10 or later with its module venv";

impl Era {
    /// Every era, by its directory.
    pub fn all() -> Result<Vec<Self>, Error> {
        let directory = places::in_workspace("interop/eras");
        let mut eras = Vec::new();
        for entry in std::fs::read_dir(&directory).map_err(Error::io(&directory))? {
            let described = entry.map_err(Error::io(&directory))?.path();
            let name = described.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let revision = name.parse().map_err(|source| Error::Era {
                path: described.clone(),
                source,
            })?;
            let packages = places::workshop().join(name);
            eras.push(Self {
                revision,
                described,
                packages,
            });
        }
        eras.sort_by_key(|era| era.revision);
        Ok(eras)
    }

    /// The eras of these revisions; every era if there are none.
    pub fn of(revisions: &[Revision]) -> Result<Vec<Self>, Error> {
        let mut eras = Self::all()?;
        let known: Vec<Revision> = eras.iter().map(|era| era.revision).collect();
        if let Some(&asked) = revisions.iter().find(|revision| !known.contains(revision)) {
            let known = known.iter().map(ToString::to_string).collect();
            return Err(Error::NoEra { asked, known });
        }
        eras.retain(|era| revisions.is_empty() || revisions.contains(&era.revision));
        Ok(eras)
    }

    /// Installs the packages, unless these very ones are.
    pub async fn install(&self, tell: impl Fn(&str)) -> Result<(), Error> {
        let stamp = self.packages.join("stamp");
        let wanted = self.fingerprint()?;
        if std::fs::read_to_string(&stamp).is_ok_and(|stamp| stamp == wanted) {
            return Ok(());
        }
        if self.packages.exists() {
            std::fs::remove_dir_all(&self.packages).map_err(Error::io(&self.packages))?;
        }
        std::fs::create_dir_all(&self.packages).map_err(Error::io(&self.packages))?;
        for (name, path) in self.descriptions() {
            std::fs::copy(&path, self.packages.join(name)).map_err(Error::io(&path))?;
        }

        tell("installing the TypeScript packages");
        let mut npm = leading("npm");
        npm.args(["ci", "--no-audit", "--no-fund", "--loglevel=error"]);
        npm.current_dir(&self.packages);
        run(npm, NODE).await?;

        tell("installing the Python packages");
        let mut venv = leading("python3");
        venv.args(["-m", "venv"]).arg(self.packages.join("venv"));
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
        pip.arg(self.packages.join("requirements.txt"));
        run(pip, PYTHON).await?;

        std::fs::write(&stamp, wanted).map_err(Error::io(&stamp))
    }

    /// The interpreter that has the Python packages.
    pub fn python(&self) -> PathBuf {
        self.packages.join("venv/bin/python")
    }

    /// Where an npm package is installed.
    pub fn module(&self, name: &str) -> PathBuf {
        self.packages.join("node_modules").join(name)
    }

    /// The version of an npm package.
    pub fn npm_version(&self, name: &str) -> Result<String, Error> {
        let path = self.described.join("package.json");
        let text = std::fs::read(&path).map_err(Error::io(&path))?;
        let wanted: Wanted = serde_json::from_slice(&text).map_err(|error| Error::malformed(&path, error))?;
        let version = wanted.dependencies.get(name).cloned();
        version.ok_or_else(|| Error::malformed(&path, format!("{name} isn't among the dependencies")))
    }

    /// The version of a Python package.
    pub fn python_version(&self, name: &str) -> Result<String, Error> {
        let path = self.described.join("requirements.txt");
        let text = std::fs::read_to_string(&path).map_err(Error::io(&path))?;
        let version = text
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix("=="));
        let version = version.map(|version| version.trim().to_owned());
        version.ok_or_else(|| Error::malformed(&path, format!("{name} isn't pinned")))
    }

    fn descriptions(&self) -> impl Iterator<Item = (&'static str, PathBuf)> {
        let files = DESCRIPTIONS.map(|name| (name, self.described.join(name)));
        files.into_iter().filter(|(_, path)| path.exists())
    }

    /// Tells these packages from others, and this place from others: a virtual environment can't be moved.
    fn fingerprint(&self) -> Result<String, Error> {
        let mut hash = Sha256::new();
        hash.update(self.packages.to_string_lossy().as_bytes());
        for (name, path) in self.descriptions() {
            hash.update(name);
            hash.update(std::fs::read(&path).map_err(Error::io(&path))?);
        }
        Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
    }
}

/// Where a driver stands, which is a script that runs with the packages of any era.
pub fn driver(name: &str) -> PathBuf {
    places::in_workspace("interop/drivers").join(name)
}
