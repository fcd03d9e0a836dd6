//! Programs that end with the test.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::{Child, Command};
use tokio::time::{Instant, sleep, timeout};

use crate::instances::server::STORE;
use crate::processes;

pub const PATIENCE: Duration = Duration::from_secs(60);

/// A free local port.
async fn free_port() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
    listener.local_addr().expect("it is bound")
}

async fn until_it_listens(address: SocketAddr) {
    let started = Instant::now();
    // While nobody listens, a connection can get the same port at both ends, and connects to itself.
    let is_other = |stream: &TcpStream| stream.local_addr().is_ok_and(|own| own != address);
    while !TcpStream::connect(address).await.as_ref().is_ok_and(is_other) {
        assert!(started.elapsed() < PATIENCE, "nobody listens at {address}");
        sleep(Duration::from_millis(20)).await;
    }
}

/// The test's own Redis server, which writes nothing to disk.
pub struct Redis {
    address: SocketAddr,
    child: Child,
}

impl Redis {
    pub async fn start() -> Self {
        // Another program can take the port before Redis does.
        for _ in 0..10 {
            if let Some(redis) = Self::start_at(free_port().await).await {
                return redis;
            }
        }
        panic!("redis-server doesn't run")
    }

    /// Starts a server; `None` if it ends at once, because the port is taken.
    async fn start_at(address: SocketAddr) -> Option<Self> {
        let mut command = Command::new("redis-server");
        command.args(["--bind", "127.0.0.1", "--port", &address.port().to_string()]);
        command.args(["--save", "", "--appendonly", "no"]);
        command.stdout(Stdio::null()).kill_on_drop(true);
        let mut child = command.spawn().expect("redis-server is installed");
        let started = Instant::now();
        while !is_redis(address).await {
            if child.try_wait().expect("its state is known").is_some() {
                return None;
            }
            assert!(started.elapsed() < PATIENCE, "Redis doesn't answer at {address}");
            sleep(Duration::from_millis(20)).await;
        }
        Some(Self { address, child })
    }

    pub fn url(&self) -> String {
        format!("redis://{}/", self.address)
    }

    /// Kills the server, and starts it again empty after a pause.
    pub async fn kill_and_restart(&mut self, pause: Duration) {
        self.child.kill().await.expect("it can be killed");
        sleep(pause).await;
        *self = Self::start_at(self.address).await.expect("the port is still free");
    }

    /// Sends the signal of this name: `-STOP` pauses the server, `-CONT` continues it.
    pub async fn signal(&self, name: &str) {
        signal(&self.child, name).await;
    }
}

/// Whether a Redis server answers.
async fn is_redis(address: SocketAddr) -> bool {
    let ping = async {
        let mut stream = TcpStream::connect(address).await?;
        stream.write_all(b"PING\r\n").await?;
        let mut answer = [0; 5];
        stream.read_exact(&mut answer).await?;
        std::io::Result::Ok(answer)
    };
    let answer = timeout(Duration::from_secs(1), ping).await;
    answer.is_ok_and(|answer| answer.is_ok_and(|answer| answer == *b"+PONG"))
}

async fn signal(child: &Child, name: &str) {
    let id = child.id().expect("it runs").to_string();
    let mut kill = Command::new("kill");
    let done = kill.args([name, &id]).status().await;
    assert!(done.expect("kill is installed").success());
}

/// An instance of the server, in its own process.
pub struct Instance {
    pub address: SocketAddr,
    child: Child,
}

impl Instance {
    pub async fn start(redis: &Redis) -> Self {
        Self::start_with(redis, &[]).await
    }

    /// Starts an instance with these variables in its environment.
    pub async fn start_with(redis: &Redis, variables: &[(&str, &str)]) -> Self {
        let url = redis.url();
        let variables: Vec<_> = variables.iter().copied().chain([(STORE, url.as_ref())]).collect();
        let (child, address) = processes::start("instances::server::a_process_that_serves", &variables).await;
        Self { address, child }
    }

    /// Kills the instance with SIGKILL.
    pub async fn kill(&mut self) {
        self.child.kill().await.expect("it can be killed");
    }
}

/// A store, and two instances that share it.
pub async fn two_instances() -> (Redis, Instance, Instance) {
    let redis = Redis::start().await;
    let (first, second) = tokio::join!(Instance::start(&redis), Instance::start(&redis));
    (redis, first, second)
}

/// A load balancer that gives each request to the next instance, regardless of the client.
pub struct Balancer {
    pub address: SocketAddr,
    _child: Child,
    _directory: TempDir,
}

impl Balancer {
    pub async fn start(instances: [&Instance; 2]) -> Self {
        let address = free_port().await;
        let directory = tempfile::tempdir().expect("there is room");
        let path: PathBuf = directory.path().join("haproxy.cfg");
        let servers = instances.map(|instance| instance.address);
        let config = format!(
            "defaults\n  mode http\n  retries 3\n  option redispatch 1\n  timeout connect 2s\n  timeout client 60s\n  \
             timeout server 60s\nlisten mcp\n  bind {address}\n  balance roundrobin\n  server first {} check inter 100ms\n  \
             server second {} check inter 100ms\n",
            servers[0], servers[1]
        );
        std::fs::write(&path, config).expect("it can be written");
        let mut command = Command::new("haproxy");
        command.arg("-db").arg("-q").arg("-f").arg(&path).kill_on_drop(true);
        let child = command.spawn().expect("haproxy is installed");
        until_it_listens(address).await;
        Self {
            address,
            _child: child,
            _directory: directory,
        }
    }
}
