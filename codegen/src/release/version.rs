//! The version after a release.

use serde::Serialize;

/// The extent of a release's changes, by [Semantic Versioning](https://semver.org).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bump {
    /// Changes that don't affect whether code compiles.
    Patch,
    /// Additions.
    Minor,
    /// Something that code may rely on is gone or different.
    Major,
}

/// A string that isn't `MAJOR.MINOR.PATCH`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} isn't a version of the form 1.2.3")]
pub struct VersionError(String);

/// Returns the version after `released`. Before 1.0.0 the minor number counts breaking changes, as in Cargo.
///
/// ```
/// use mcp_codegen::release::{Bump, next_version};
///
/// assert_eq!(next_version("1.2.3", Bump::Major)?, "2.0.0");
/// assert_eq!(next_version("0.2.3", Bump::Major)?, "0.3.0");
/// assert_eq!(next_version("0.2.3", Bump::Minor)?, "0.2.4");
/// # Ok::<(), mcp_codegen::release::VersionError>(())
/// ```
///
/// # Errors
/// A version that isn't three numbers.
pub fn next_version(released: &str, bump: Bump) -> Result<String, VersionError> {
    let unreadable = || VersionError(released.to_owned());
    let numbers: Result<Vec<u32>, _> = released.split('.').map(str::parse).collect();
    let [major, minor, patch] = numbers.map_err(|_| unreadable())?[..] else {
        return Err(unreadable());
    };
    let next = |number: u32| number.checked_add(1).ok_or_else(unreadable);
    Ok(match (major, bump) {
        (1.., Bump::Major) => format!("{}.0.0", next(major)?),
        (0, Bump::Major) | (1.., Bump::Minor) => format!("{major}.{}.0", next(minor)?),
        (_, Bump::Patch) | (0, Bump::Minor) => format!("{major}.{minor}.{}", next(patch)?),
    })
}
