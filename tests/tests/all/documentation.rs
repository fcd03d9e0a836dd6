//! What is generated is that of the schemas.

use mcp_codegen::load::families;
use mcp_codegen::{GenerateOptions, generate};
use mcp_tests::workspace;

#[test]
fn the_generated_crates_are_current() {
    let families = families(&workspace("schema"));
    assert!(families.len() > 1, "the registry is another family");
    for schema in families {
        let options = GenerateOptions {
            out: workspace("generated"),
            crates: "../..".to_owned(),
            check: true,
            schema,
        };
        let files = generate(&options).unwrap().files;
        assert!(files.is_current(), "run `cargo xtask generate`: {files:#?}");
    }
}
