//! The weather server directly on hyper, on a local port that it prints. It accepts HTTP/1.1 and stops when its
//! standard input ends.
//!
//! A public server also needs a timeout for writing and a limit on connections, which `serve` has.

use std::io::Read;

use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use mcp_runtime::Router;
use mcp_runtime::transport::http::server::{ClientAddress, HttpServer};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tower_service::Service;

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let shutdown = CancellationToken::new();
    let weather = Router::new("weather", "1.0").tool("weather", "Get the current weather", || "sunny");
    let server = HttpServer::new(weather).shutdown(shutdown.clone());
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}/mcp", listener.local_addr()?);
    let stop = shutdown.clone();
    std::thread::spawn(move || {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        stop.cancel();
    });
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let (socket, address) = accepted?;
                tokio::spawn(serve(socket, ClientAddress(address), server.clone()));
            }
            () = shutdown.cancelled() => return Ok(()),
        }
    }
}

async fn serve(socket: TcpStream, address: ClientAddress, server: HttpServer) {
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(address);
        server.clone().call(request)
    });
    // Sends each part of a response without waiting for the TCP acknowledgement of the previous one.
    let _ = socket.set_nodelay(true);
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new());
    if let Err(error) = http.serve_connection(TokioIo::new(socket), service).await {
        eprintln!("a connection failed: {error}");
    }
}
