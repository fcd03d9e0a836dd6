//! The type crates of many revisions, compiled in one build.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use mcp_codegen::{GenerateError, GenerateOptions, generate};
use tempfile::TempDir;

use crate::schemas::{Schemas, copy};
use crate::{AbsorbError, Trial};

const MANIFEST: &str = "[workspace]\nresolver = \"3\"\nmembers = [\"crates/*\"]\n";

/// The error of crates that can't be generated, or don't compile.
#[derive(Debug, thiserror::Error)]
pub enum CompileError {
    /// They can't be generated.
    #[error("{revision} is accepted, but not generated: {error}")]
    Generate {
        /// The revision.
        revision: String,
        /// The problems.
        error: GenerateError,
    },
    /// They don't compile.
    #[error("{0}")]
    Cargo(String),
}

/// A selection of the crates to compile for a revision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Crates {
    /// The type crate of the revision.
    Types,
    /// The crates of all revisions, and the adapters.
    All,
}

/// A workspace of generated crates.
pub struct Compilation {
    /// The workspace of `mcp-wire`.
    root: PathBuf,
    directory: PathBuf,
    crates: usize,
}

impl Compilation {
    /// Creates a workspace in a directory. Build artifacts that the directory already contains are kept. `root` is the
    /// workspace of `mcp-wire`.
    ///
    /// # Errors
    /// The directory can't be written.
    pub fn new(root: &Path, directory: &Path) -> Result<Self, AbsorbError> {
        let mut made = Self {
            root: fs::canonicalize(root)?,
            directory: directory.to_owned(),
            crates: 0,
        };
        made.clear()?;
        fs::write(directory.join("Cargo.toml"), MANIFEST)?;
        fs::copy(root.join("Cargo.lock"), directory.join("Cargo.lock"))?;
        Ok(made)
    }

    /// Removes all crates. Their build artifacts stay.
    pub(crate) fn clear(&mut self) -> Result<(), AbsorbError> {
        let crates = self.directory.join("crates");
        if crates.exists() {
            fs::remove_dir_all(&crates)?;
        }
        self.crates = 0;
        Ok(fs::create_dir_all(&crates)?)
    }

    /// The number of crates.
    #[must_use]
    pub fn crates(&self) -> usize {
        self.crates
    }

    /// Generates the crates of a revision, and adds them. `false` if the revision isn't accepted.
    ///
    /// # Errors
    /// The revision is accepted, and can't be generated.
    pub fn add(&mut self, trial: &Trial, schemas: &Schemas, crates: Crates) -> Result<bool, AbsorbError> {
        if !trial.ingest(schemas)? {
            return Ok(false);
        }
        let out = TempDir::new()?;
        let options = GenerateOptions {
            schema: schemas.copy().to_owned(),
            out: out.path().to_owned(),
            crates: self.root.display().to_string(),
            check: false,
        };
        generate(&options).map_err(|error| CompileError::Generate {
            revision: trial.revision.clone(),
            error,
        })?;
        let own = format!("mcp-types-{}", trial.revision);
        for made in fs::read_dir(out.path())? {
            let made = made?;
            if crates == Crates::All || made.file_name() == *own {
                copy(&made.path(), &self.directory.join("crates").join(made.file_name()))?;
                self.crates += 1;
            }
        }
        Ok(true)
    }

    /// Checks that all crates compile without a warning.
    ///
    /// # Errors
    /// The output of the compiler.
    pub fn check(&self) -> Result<(), AbsorbError> {
        if self.crates == 0 {
            return Ok(());
        }
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        // The tested revision is a draft.
        let has_adapters = self.directory.join("crates/mcp-adapters").exists();
        let features = has_adapters.then_some(["--features", "mcp-adapters/unstable-draft"]);
        let output = Command::new(cargo)
            .args(["check", "--quiet", "--workspace", "--keep-going"])
            .args(features.into_iter().flatten())
            .current_dir(&self.directory)
            .env("CARGO_TARGET_DIR", self.directory.join("target"))
            .env("RUSTFLAGS", "-D warnings")
            .output()?;
        match output.status.success() {
            true => Ok(()),
            false => Err(CompileError::Cargo(String::from_utf8_lossy(&output.stderr).into_owned()).into()),
        }
    }
}
