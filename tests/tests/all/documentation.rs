//! Every public item of a released revision is documented in our own words.

use mcp_codegen::load::Manifest;
use mcp_codegen::{GenerateOptions, generate};
use mcp_tests::workspace;

#[test]
fn every_item_of_a_released_revision_has_an_entry_in_docs_yaml() {
    let schema = workspace("schema");
    let generated = generate(&GenerateOptions {
        out: workspace("generated"),
        crates: "../..".to_owned(),
        check: true,
        schema: schema.clone(),
    })
    .unwrap();
    let manifest = Manifest::load(&schema).unwrap();
    assert_eq!(generated.undocumented.len(), manifest.revisions.len());
    for entry in manifest.revisions.iter().filter(|entry| entry.released) {
        let missing = &generated.undocumented[entry.revision.as_str()];
        assert!(missing.is_empty(), "{}: {missing:#?}", entry.revision);
    }
    let files = &generated.files;
    assert!(files.is_current(), "run `cargo xtask generate`: {files:#?}");
}
