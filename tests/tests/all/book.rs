//! The READMEs and the book: their links are valid, and their code is compiled.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use mcp_tests::workspace;

/// Returns the paths of all documentation pages, relative to the root of the repository.
fn documents() -> Vec<PathBuf> {
    let mut documents = Vec::new();
    for folder in [
        "",
        "docs",
        "docs/changes",
        "docs/guide",
        "docs/reference",
        "docs/reference/extensions",
        "bench",
        "bench/load",
        "interop",
        "runtime",
        "schema",
    ] {
        for file in fs::read_dir(workspace(folder)).expect("the folder is there") {
            let name = PathBuf::from(file.expect("the folder can be read").file_name());
            if name.extension().is_some_and(|extension| extension == "md") {
                documents.push(Path::new(folder).join(name));
            }
        }
    }
    documents
}

fn read(path: &Path) -> String {
    fs::read_to_string(workspace(".").join(path)).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns a text without its code blocks, in which brackets aren't links.
fn without_code(text: &str) -> String {
    let mut is_code = false;
    let prose = text.lines().filter(|line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    });
    prose.collect::<Vec<_>>().join("\n")
}

/// Returns the URL fragments of the headings, as GitHub and mdBook derive them.
fn anchors(text: &str) -> BTreeSet<String> {
    let prose = without_code(text);
    let headings = prose.lines().filter(|line| line.starts_with('#'));
    let anchors = headings.map(|heading| {
        let heading = heading.trim_start_matches('#').trim();
        let kept = heading.chars().filter(|c| c.is_alphanumeric() || "_- ".contains(*c));
        kept.flat_map(char::to_lowercase)
            .map(|c| if c == ' ' { '-' } else { c })
            .collect()
    });
    anchors.collect()
}

#[test]
fn every_link_leads_to_an_existing_file_and_heading() {
    let mut followed = 0;
    for document in documents() {
        let text = read(&document);
        for link in without_code(&text).split("](").skip(1) {
            let link = link.split([')', ' ']).next().unwrap_or_default();
            if link.contains("://") {
                continue;
            }
            let (file, fragment) = link.split_once('#').unwrap_or((link, ""));
            let target = match file {
                "" => document.clone(),
                file => document.parent().unwrap_or(Path::new("")).join(file),
            };
            let place = format!("{}: {link}", document.display());
            assert!(workspace(".").join(&target).exists(), "{place}");
            assert!(
                fragment.is_empty() || anchors(&read(&target)).contains(fragment),
                "{place}"
            );
            // The published site has only the files in `docs`.
            let is_inside = || {
                fs::canonicalize(workspace(".").join(&target))
                    .is_ok_and(|path| fs::canonicalize(workspace("docs")).is_ok_and(|docs| path.starts_with(docs)))
            };
            assert!(
                !document.starts_with("docs") || is_inside(),
                "{place} leads out of the book"
            );
            followed += 1;
        }
    }
    assert!(followed > 1000, "{followed} links");
}

#[test]
fn the_summary_has_every_page_of_the_book() {
    let summary = read(Path::new("docs/SUMMARY.md"));
    for document in documents() {
        let Ok(page) = document.strip_prefix("docs") else {
            continue;
        };
        let is_listed = summary.contains(&format!("]({})", page.display()));
        assert!(is_listed || page == Path::new("SUMMARY.md"), "{}", page.display());
    }
}

#[test]
fn every_page_with_rust_code_is_compiled() {
    let compiled = read(Path::new("tests/src/book.rs"));
    for document in documents() {
        let has_rust = read(&document).contains("```rust");
        if document.starts_with("docs") && has_rust {
            let path = format!("\"../../{}\"", document.display());
            assert!(compiled.contains(&path), "tests/src/book.rs lacks {path}");
        }
    }
}

#[test]
fn the_code_in_the_guide_from_rmcp_is_an_excerpt_of_the_compared_programs() {
    let guide = read(Path::new("docs/guide/from-rmcp.md"));
    let mut blocks = 0;
    for (before, block) in guide
        .split("```rust,ignore\n")
        .collect::<Vec<_>>()
        .windows(2)
        .map(|pair| (pair[0], pair[1]))
    {
        let file = before
            .trim_end()
            .strip_suffix("`:")
            .and_then(|text| text.rsplit('`').next())
            .unwrap();
        let program = read(Path::new(file));
        let code = block.split("```").next().unwrap_or_default();
        for paragraph in code.split("\n\n") {
            assert!(program.contains(paragraph.trim_end()), "{file} lacks:\n{paragraph}");
        }
        blocks += 1;
    }
    assert!(blocks >= 10, "{blocks}");
}

#[test]
fn the_first_examples_in_the_documentation_equal_the_runnable_examples() {
    for (example, documents) in [
        (
            "weather",
            ["README.md", "runtime/README.md", "docs/guide/getting-started.md"].as_slice(),
        ),
        ("weather_client", &["README.md", "docs/guide/getting-started.md"]),
    ] {
        let example = read(&Path::new("runtime/examples").join(example).with_extension("rs"));
        let code = example
            .split_once("\n\n")
            .expect("the crate's documentation is first")
            .1;
        assert!(example.lines().count() < 30);
        for document in documents {
            let shows_it = read(Path::new(document)).contains(&format!("```rust,no_run\n{code}```\n"));
            assert!(shows_it, "{document} shows another example");
        }
    }
}

#[test]
fn the_readme_is_short() {
    let readme = read(Path::new("README.md"));
    // Tables don't count, because they grow with their contents.
    let prose = readme.lines().filter(|line| !line.starts_with('|'));
    let words: usize = prose.map(|line| line.split_whitespace().count()).sum();
    assert!(words <= 540, "{words} words");
}
