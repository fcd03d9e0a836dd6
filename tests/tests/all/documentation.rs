//! The generated code is up to date with the schemas.

use mcp_codegen::load::families;
use mcp_codegen::{GenerateOptions, generate};
use mcp_tests::workspace;

#[test]
fn the_generated_crates_are_up_to_date() {
    let families = families(&workspace("schema"));
    assert!(families.len() > 1, "the registry is a separate family");
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
