//! The server in third-party HTTP frameworks, in a separate workspace.

use std::path::Path;
use std::process::Command;

#[test]
#[ignore = "compiles the frameworks"]
fn the_server_runs_in_actix_web_and_aws_lambda() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let tested = Command::new(cargo)
        .args(["test", "--quiet"])
        .current_dir(here.join("frameworks"))
        .env("CARGO_TARGET_DIR", here.join("../target/frameworks"))
        .env("RUSTFLAGS", "-D warnings")
        .status();
    assert!(tested.unwrap().success());
}
