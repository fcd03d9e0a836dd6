//! Other processes of this test program, each of which runs a test that serves.

use std::io::Write;
use std::net::SocketAddr;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::time::timeout;

/// The environment variable that is set for a process that serves.
const SERVES: &str = "MCP_TEST_SERVES";

/// Whether this process was started to serve.
pub fn is_one() -> bool {
    std::env::var_os(SERVES).is_some()
}

/// Prints the address at which this process serves, and makes it end with the test that has started it.
pub fn announce(address: SocketAddr) {
    let mut out = std::io::stdout();
    writeln!(out, "\nserves at {address}")
        .and_then(|()| out.flush())
        .expect("it can be written");
    std::thread::spawn(|| {
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        std::process::exit(0);
    });
}

/// Starts a process with the test of this name and these variables in its environment.
pub async fn start(test: &str, variables: &[(&str, &str)]) -> (Child, SocketAddr) {
    let mut command = Command::new(std::env::current_exe().expect("this is a program"));
    command.args(["--exact", test, "--nocapture"]).env(SERVES, "1");
    command.envs(variables.iter().copied());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn().expect("it starts");
    let mut lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
    let address = async {
        while let Ok(Some(line)) = lines.next_line().await {
            if let Some(address) = line.strip_prefix("serves at ") {
                return address.parse().expect("an address");
            }
        }
        panic!("the process has no address");
    };
    let address = timeout(Duration::from_secs(60), address).await.expect("it serves");
    (child, address)
}
