//! The eras: the official SDKs and the reference server as they were when a revision was new, and other implementations
//! of that revision.

use std::path::PathBuf;

use mcp_runtime::Revision;

use crate::error::Error;
use crate::packages::Packages;
use crate::paths;

/// The packages from the time of a revision.
#[derive(Debug, Clone)]
pub struct Era {
    /// The revision that they implement.
    pub revision: Revision,
    /// The packages.
    pub packages: Packages,
}

impl Era {
    /// Every era, by its directory.
    pub fn all() -> Result<Vec<Self>, Error> {
        let directory = paths::in_workspace("interop/eras");
        let mut eras = Vec::new();
        for entry in std::fs::read_dir(&directory).map_err(Error::io(&directory))? {
            let described = entry.map_err(Error::io(&directory))?.path();
            let name = described.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let revision = name.parse().map_err(|source| Error::Era {
                path: described.clone(),
                source,
            })?;
            let installed = paths::install_directory().join(name);
            let packages = Packages { described, installed };
            eras.push(Self { revision, packages });
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

    /// The packages of another implementation in this folder, if the era has them.
    pub fn others(&self, folder: &str) -> Option<Packages> {
        let described = self.packages.described.join(folder);
        described.exists().then(|| Packages {
            described,
            installed: paths::install_directory().join(format!("{}-{folder}", self.revision)),
        })
    }
}

/// The path of a driver: a script that runs with the packages of any era.
pub fn driver(name: &str) -> PathBuf {
    paths::in_workspace("interop/drivers").join(name)
}
