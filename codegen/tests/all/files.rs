//! Files that are written, left unchanged, removed or kept.

use std::fs;
use std::path::{Path, PathBuf};

use mcp_codegen::files::{FileSet, FilesError};
use tempfile::TempDir;

const OWNED: &[&str] = &["crates-"];

fn set(files: &[(&str, &str)]) -> FileSet {
    let mut set = FileSet::default();
    files
        .iter()
        .for_each(|(path, contents)| set.insert(*path, *contents).unwrap());
    set
}

fn tree(files: &[(&str, &str)]) -> TempDir {
    let directory = TempDir::new().unwrap();
    for (path, contents) in files {
        let path = directory.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, contents).unwrap();
    }
    directory
}

fn paths(paths: &[&str]) -> Vec<PathBuf> {
    paths.iter().map(PathBuf::from).collect()
}

#[test]
fn a_write_leaves_the_tree_current() {
    let tree = TempDir::new().unwrap();
    let files = set(&[
        ("crates-a/src/lib.rs", "// @generated\n"),
        ("crates-a/Cargo.toml", "# @generated\n"),
    ]);
    let report = files.check(tree.path(), OWNED).unwrap();
    assert_eq!(report.missing, paths(&["crates-a/Cargo.toml", "crates-a/src/lib.rs"]));
    assert_eq!(files.write(tree.path(), OWNED).unwrap(), report);
    let report = files.check(tree.path(), OWNED).unwrap();
    assert!(report.is_current());
    assert_eq!(report.unchanged, 2);
}

#[test]
fn an_unchanged_file_is_not_touched() {
    let tree = tree(&[("crates-a/same", "@generated"), ("crates-a/other", "@generated")]);
    let same = tree.path().join("crates-a/same");
    // A read-only file can be replaced by a rename, but the new one would be writable.
    let mut permissions = fs::metadata(&same).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&same, permissions).unwrap();
    let files = set(&[("crates-a/same", "@generated"), ("crates-a/other", "@generated, new")]);
    assert_eq!(
        files.write(tree.path(), OWNED).unwrap().stale,
        paths(&["crates-a/other"])
    );
    assert!(fs::metadata(&same).unwrap().permissions().readonly());
}

#[test]
fn orphans_are_removed_with_the_directories_they_leave_empty() {
    let tree = tree(&[
        ("crates-a/kept", "@generated"),
        ("crates-a/gone", "@generated"),
        ("crates-old/src/deep/mod.rs", "// @generated"),
        ("crates-mine/notes.txt", "by hand"),
        ("crates-mine/src/lib.rs", "// @generated"),
        ("crates-a/target/debug/out.rs", "// @generated"),
        ("elsewhere/lib.rs", "// @generated"),
    ]);
    let files = set(&[("crates-a/kept", "@generated")]);
    let report = files.check(tree.path(), OWNED).unwrap();
    let orphaned = paths(&["crates-a/gone", "crates-mine/src/lib.rs", "crates-old/src/deep/mod.rs"]);
    assert_eq!(
        (&report.orphaned, &report.foreign),
        (&orphaned, &paths(&["crates-mine/notes.txt"]))
    );
    assert!(tree.path().join("crates-old").exists(), "a check removes nothing");
    files.write(tree.path(), OWNED).unwrap();
    let exists = |path: &str| tree.path().join(path).exists();
    assert!(!exists("crates-old") && !exists("crates-a/gone") && !exists("crates-mine/src"));
    assert!(exists("crates-mine/notes.txt") && exists("elsewhere/lib.rs") && exists("crates-a/target/debug/out.rs"));
}

#[test]
fn an_orphan_with_name_and_contents_of_a_current_file_is_removed_others_are_kept() {
    let tree = tree(&[
        ("crates-a/LICENSE", "free"),
        ("crates-old/Cargo.toml", "# @generated"),
        ("crates-old/LICENSE", "free"),
        ("crates-mine/LICENSE", "mine"),
        ("crates-mine/COPYING", "free"),
    ]);
    let files = set(&[("crates-a/LICENSE", "free")]);
    let report = files.write(tree.path(), OWNED).unwrap();
    assert_eq!(
        (report.orphaned, report.foreign),
        (
            paths(&["crates-old/Cargo.toml", "crates-old/LICENSE"]),
            paths(&["crates-mine/COPYING", "crates-mine/LICENSE"])
        )
    );
    assert!(!tree.path().join("crates-old").exists() && tree.path().join("crates-mine/LICENSE").exists());
}

#[cfg(unix)]
#[test]
fn a_symlink_is_neither_followed_nor_removed() {
    let outside = tree(&[("precious/lib.rs", "// @generated")]);
    let tree = tree(&[("crates-a/kept", "@generated")]);
    std::os::unix::fs::symlink(outside.path().join("precious"), tree.path().join("crates-link")).unwrap();
    let report = set(&[("crates-a/kept", "@generated")])
        .write(tree.path(), OWNED)
        .unwrap();
    assert_eq!(report.foreign, paths(&["crates-link"]));
    assert!(outside.path().join("precious/lib.rs").exists());
}

#[test]
fn a_write_that_fails_writes_nothing() {
    let tree = tree(&[
        ("crates-a/first", "@generated, old"),
        ("crates-a/second/in-the-way", "x"),
    ]);
    let files = set(&[
        ("crates-a/first", "@generated, new"),
        ("crates-a/fresh/file", "@generated"),
        ("crates-b", "@generated"),
    ]);
    let mut blocked = files.clone();
    blocked.insert("crates-a/second", "@generated").unwrap();
    assert!(matches!(blocked.write(tree.path(), OWNED), Err(FilesError::Io { .. })));
    let read = |path: &str| fs::read_to_string(tree.path().join(path));
    assert_eq!(read("crates-a/first").unwrap(), "@generated, old");
    let left: Vec<_> = fs::read_dir(tree.path().join("crates-a"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(left.len(), 2, "{left:?}");
    files.write(tree.path(), OWNED).unwrap();
    assert_eq!(read("crates-a/first").unwrap(), "@generated, new");
}

#[test]
fn a_path_is_accepted_once_and_must_be_below_the_root() {
    let mut files = set(&[("a", "")]);
    assert!(matches!(files.insert("a", "other"), Err(FilesError::Twice(_))));
    for path in ["", "../a", "/a", "a/../b"] {
        assert!(matches!(files.insert(path, ""), Err(FilesError::Outside(_))), "{path}");
    }
    assert_eq!(files.iter().collect::<Vec<_>>(), [(Path::new("a"), "")]);
}
