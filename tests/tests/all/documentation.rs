//! Every public item of a released revision is documented in our own words.

use std::path::Path;

use mcp_codegen::load::{Manifest, families};
use mcp_codegen::{GenerateOptions, generate};
use mcp_tests::workspace;

#[test]
fn every_item_of_a_released_revision_has_an_entry_in_docs_yaml() {
    let families = families(&workspace("schema"));
    assert!(families.len() > 1, "the registry is another family");
    families.iter().for_each(|schema| assert_documented(schema));
}

fn assert_documented(schema: &Path) {
    let generated = generate(&GenerateOptions {
        out: workspace("generated"),
        crates: "../..".to_owned(),
        check: true,
        schema: schema.to_owned(),
    })
    .unwrap();
    let manifest = Manifest::load(schema).unwrap();
    let documented = manifest.revisions.len() + manifest.extensions.len();
    assert_eq!(generated.undocumented.len(), documented);
    let revisions = manifest.revisions.iter().map(|entry| (entry.revision.as_str(), entry));
    let extensions = manifest.extensions.values();
    let extensions = extensions.map(|extension| (extension.id.as_str(), &extension.schema));
    for (name, _) in revisions.chain(extensions).filter(|(_, entry)| entry.released) {
        let missing = &generated.undocumented[name];
        assert!(missing.is_empty(), "{name}: {missing:#?}");
    }
    let files = &generated.files;
    assert!(files.is_current(), "run `cargo xtask generate`: {files:#?}");
}
