//! Other people's packages, as lock files pin them.

use std::path::PathBuf;

use sha2::{Digest, Sha256};

use crate::error::Error;
use crate::process::{leading, run};

/// What pins the packages. Python's are there only if requirements.txt is.
const DESCRIPTIONS: [&str; 4] = ["package.json", "package-lock.json", ".npmrc", REQUIREMENTS];
const REQUIREMENTS: &str = "requirements.txt";

const NODE: &str = "install Node 20 or later, which brings it";
const PYTHON: &str = "install Python 3.10 or later with its module venv";

/// Packages, and where they are installed.
#[derive(Debug, Clone)]
pub struct Packages {
    /// Where their names and versions stand.
    pub described: PathBuf,
    /// Where they are installed.
    pub installed: PathBuf,
}

impl Packages {
    /// Installs the packages, unless these very ones are.
    pub async fn install(&self, tell: impl Fn(&str)) -> Result<(), Error> {
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

        tell("installing the npm packages");
        let mut npm = leading("npm");
        npm.args(["ci", "--no-audit", "--no-fund", "--loglevel=error"]);
        npm.current_dir(&self.installed);
        run(npm, NODE).await?;

        if self.described.join(REQUIREMENTS).exists() {
            tell("installing the Python packages");
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

    /// The interpreter that has the Python packages.
    pub fn python(&self) -> PathBuf {
        self.installed.join("venv/bin/python")
    }

    /// Where an npm package is installed.
    pub fn module(&self, name: &str) -> PathBuf {
        self.installed.join("node_modules").join(name)
    }

    fn descriptions(&self) -> impl Iterator<Item = (&'static str, PathBuf)> {
        let files = DESCRIPTIONS.map(|name| (name, self.described.join(name)));
        files.into_iter().filter(|(_, path)| path.exists())
    }

    /// Tells these packages from others, and this place from others: a virtual environment can't be moved.
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
