//! The READMEs show code that runs.

use mcp_tests::workspace;

fn read(path: &str) -> String {
    std::fs::read_to_string(workspace(path)).expect("the file is there")
}

#[test]
fn the_first_example_is_the_example_that_runs() {
    let example = read("runtime/examples/weather.rs");
    let code = example
        .split_once("\n\n")
        .expect("the crate's documentation is first")
        .1;
    let shown = format!("```rust,no_run\n{code}```\n");
    for readme in ["README.md", "runtime/README.md"] {
        assert!(
            read(readme).contains(&shown),
            "{readme} shows another example than runtime/examples/weather.rs"
        );
    }
    assert!(example.lines().count() < 30);
}
