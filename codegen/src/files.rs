//! The set of output files, and all functions of the generator that write files.
//!
//! All contents are complete before the first file is written. A file that isn't in the set is removed only if its
//! header marks it as generated, or if it is a copy of a file in the set.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

/// The mark in the header of each generated file. Files without it are never removed, except copies of files in the
/// set.
pub(crate) const GENERATED: &str = "@generated";

/// The number of bytes at the start of a file in which the mark is searched for.
const HEADER_BYTES: u64 = 1024;

/// A file that can't be written, read or added to the set.
#[derive(Debug, thiserror::Error)]
pub enum FilesError {
    /// Two files of one set have the same path.
    #[error("{} is written twice: two things have the same name", .0.display())]
    Twice(PathBuf),
    /// A path of the set leads out of the output directory.
    #[error("{} isn't a path below the output directory", .0.display())]
    Outside(PathBuf),
    /// An operation of the file system failed.
    #[error("can't {what} {}: {source}", path.display())]
    Io {
        /// The operation.
        what: &'static str,
        /// The path of the file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
}

impl FilesError {
    /// Returns a function that converts an I/O error to the error of an operation on a file.
    fn io(what: &'static str, path: &Path) -> impl Fn(io::Error) -> Self {
        move |source| Self::Io {
            what,
            path: path.into(),
            source,
        }
    }
}

/// Output files in memory: contents by path below the output directory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileSet {
    files: BTreeMap<PathBuf, String>,
}

/// The comparison of a file set with the files on disk, before a write.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// Files with other contents.
    pub stale: Vec<PathBuf>,
    /// Files that are not on disk.
    pub missing: Vec<PathBuf>,
    /// Generated files on disk that aren't in the set, and copies of files that are in the set at another path.
    pub orphaned: Vec<PathBuf>,
    /// Files in the generated directories without the mark of generated files, which are never changed or removed.
    pub foreign: Vec<PathBuf>,
    /// The number of files that are up to date.
    pub unchanged: usize,
}

impl Report {
    /// Whether all files are up to date, and there are no other generated files.
    #[must_use]
    pub fn is_current(&self) -> bool {
        self.stale.is_empty() && self.missing.is_empty() && self.orphaned.is_empty()
    }
}

impl FileSet {
    /// Adds a file. The path is relative to the output directory.
    ///
    /// # Errors
    ///
    /// The path leads elsewhere, or is taken.
    pub fn insert(&mut self, path: impl Into<PathBuf>, contents: impl Into<String>) -> Result<(), FilesError> {
        let path = path.into();
        if path.as_os_str().is_empty() || !path.components().all(|part| matches!(part, Component::Normal(_))) {
            return Err(FilesError::Outside(path));
        }
        if self.files.contains_key(&path) {
            return Err(FilesError::Twice(path));
        }
        self.files.insert(path, contents.into());
        Ok(())
    }

    /// Adds the files of a crate, by their paths in its folder.
    pub(crate) fn insert_crate(&mut self, folder: &str, files: BTreeMap<String, String>) -> Result<(), FilesError> {
        let mut files = files.into_iter();
        files.try_for_each(|(path, contents)| self.insert(Path::new(folder).join(path), contents))
    }

    /// The files, sorted by path.
    pub fn iter(&self) -> impl Iterator<Item = (&Path, &str)> {
        self.files
            .iter()
            .map(|(path, contents)| (path.as_path(), contents.as_str()))
    }

    /// Compares the set with the files below `root`, and writes nothing.
    ///
    /// `owned` are the prefixes of the paths that belong to the generator, such as `mcp-types-`: a file with such a
    /// prefix that isn't in the set is orphaned or foreign.
    ///
    /// # Errors
    ///
    /// A file or directory that can't be read.
    pub fn check(&self, root: &Path, owned: &[&str]) -> Result<Report, FilesError> {
        let mut report = Report::default();
        for (path, contents) in self.iter() {
            match fs::read(root.join(path)) {
                Ok(found) if found == contents.as_bytes() => report.unchanged += 1,
                Ok(_) => report.stale.push(path.into()),
                Err(error) if error.kind() == io::ErrorKind::NotFound => report.missing.push(path.into()),
                Err(error) => return Err(FilesError::io("read", &root.join(path))(error)),
            }
        }
        let mut found = BTreeSet::new();
        for prefix in owned {
            let (directory, start) = prefix.rsplit_once('/').unwrap_or(("", prefix));
            collect_files(root, Path::new(directory), start, &mut found)?;
        }
        for path in found {
            if self.files.contains_key(&path) {
            } else if is_generated(&root.join(&path))? || self.has_copy(root, &path)? {
                report.orphaned.push(path);
            } else {
                report.foreign.push(path);
            }
        }
        Ok(report)
    }

    /// Whether the set has a file of the same name and contents in another directory. Each crate contains the licences,
    /// which don't have the mark of generated files.
    fn has_copy(&self, root: &Path, path: &Path) -> Result<bool, FilesError> {
        let others = self.files.iter();
        let mut same_name = others.filter(|(other, _)| other.file_name() == path.file_name());
        let file = root.join(path);
        if file.is_symlink() || same_name.clone().next().is_none() {
            return Ok(false);
        }
        let contents = fs::read(&file).map_err(FilesError::io("read", &file))?;
        Ok(same_name.any(|(_, other)| other.as_bytes() == contents))
    }

    /// Writes the files that differ, then removes the orphaned ones and the directories they leave empty.
    ///
    /// # Errors
    ///
    /// A file or directory that can't be read, in which case nothing was written, or one that can't be written.
    pub fn write(&self, root: &Path, owned: &[&str]) -> Result<Report, FilesError> {
        let report = self.check(root, owned)?;
        for path in report.stale.iter().chain(&report.missing) {
            write_file(&root.join(path), &self.files[path])?;
        }
        for path in &report.orphaned {
            let path = root.join(path);
            fs::remove_file(&path).map_err(FilesError::io("remove", &path))?;
            remove_empty_directories(root, &path);
        }
        Ok(report)
    }

    /// Writes the files, or with `check`, only compares them.
    pub(crate) fn write_or_check(&self, root: &Path, owned: &[&str], check: bool) -> Result<Report, FilesError> {
        if check {
            self.check(root, owned)
        } else {
            self.write(root, owned)
        }
    }
}

/// Collects the files of a directory whose names start with `start`, and all files in its directories whose names do.
fn collect_files(root: &Path, directory: &Path, start: &str, found: &mut BTreeSet<PathBuf>) -> Result<(), FilesError> {
    for entry in entries(&root.join(directory))? {
        let kind = entry.file_type().map_err(FilesError::io("read", &entry.path()))?;
        let name = entry.file_name();
        // The build directory of a generated crate isn't part of the output.
        if !name.to_string_lossy().starts_with(start) || name == "target" {
            continue;
        }
        if kind.is_dir() {
            collect_files(root, &directory.join(name), "", found)?;
        } else {
            found.insert(directory.join(name));
        }
    }
    Ok(())
}

fn is_generated(path: &Path) -> Result<bool, FilesError> {
    // The generator doesn't write symbolic links.
    if path.is_symlink() {
        return Ok(false);
    }
    let mut header = Vec::new();
    let file = fs::File::open(path).map_err(FilesError::io("read", path))?;
    let read = file.take(HEADER_BYTES).read_to_end(&mut header);
    read.map_err(FilesError::io("read", path))?;
    let mut windows = header.windows(GENERATED.len());
    Ok(windows.any(|window| window == GENERATED.as_bytes()))
}

/// Removes the directories above `path`, up to `root`, as long as they are empty.
fn remove_empty_directories(root: &Path, path: &Path) {
    for directory in path.ancestors().skip(1).take_while(|directory| *directory != root) {
        // Removing a directory that isn't empty fails, as intended.
        if fs::remove_dir(directory).is_err() {
            break;
        }
    }
}

/// Writes a file, and creates its directories.
pub(crate) fn write_file(path: &Path, contents: &str) -> Result<(), FilesError> {
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory).map_err(FilesError::io("create", directory))?;
    }
    fs::write(path, contents).map_err(FilesError::io("write", path))
}

/// The files in a directory, sorted; none if there is no such directory.
pub(crate) fn files_in(directory: &Path) -> Result<Vec<PathBuf>, FilesError> {
    let paths = entries(directory)?.into_iter().map(|entry| entry.path());
    let mut files: Vec<PathBuf> = paths.filter(|path| path.is_file()).collect();
    files.sort();
    Ok(files)
}

/// The entries of a directory; none if it doesn't exist.
fn entries(directory: &Path) -> Result<Vec<fs::DirEntry>, FilesError> {
    match fs::read_dir(directory).and_then(Iterator::collect) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        entries => entries.map_err(FilesError::io("read", directory)),
    }
}

/// Moves a directory, if it exists, and then replaces YAML files. If a file can't be written, no file is replaced, and
/// the directory is moved back.
pub(crate) fn move_and_replace(from: &Path, to: &Path, files: &[(PathBuf, String)]) -> Result<(), FilesError> {
    let exists = from.exists();
    if exists {
        fs::rename(from, to).map_err(FilesError::io("move", from))?;
    }
    let replaced = replace(files);
    if exists && replaced.is_err() {
        // If this fails too, the first error is the one to report.
        let _ = fs::rename(to, from);
    }
    replaced
}

/// Replaces YAML files. All new files are complete before the first one is moved into place.
fn replace(files: &[(PathBuf, String)]) -> Result<(), FilesError> {
    let new = |path: &Path| path.with_extension("yaml.new");
    let written = files.iter().try_for_each(|(path, text)| write_file(&new(path), text));
    let mut paths = files.iter().map(|(path, _)| path);
    let replaced = written
        .and_then(|()| paths.try_for_each(|path| fs::rename(new(path), path).map_err(FilesError::io("replace", path))));
    if replaced.is_err() {
        for (path, _) in files {
            let _ = fs::remove_file(new(path));
        }
    }
    replaced
}

/// Removes a directory with its contents, if it exists.
pub(crate) fn remove_directory(path: &Path) -> Result<(), FilesError> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(FilesError::io("remove", path)(error)),
        _ => Ok(()),
    }
}
