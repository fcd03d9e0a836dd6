//! A server that does the minimum, as a reference for `calls`: it finds the id of each request, and returns the request
//! as the result. Over stdio it uses only read and write, over HTTP hyper with the settings of `mcp_runtime`.

use std::convert::Infallible;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::time::Duration;

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::net::TcpListener;

/// The number of bytes per read.
const CHUNK: usize = 64 * 1024;

#[derive(Deserialize)]
struct Message {
    id: Option<u64>,
}

fn main() -> io::Result<()> {
    match std::env::args().nth(1).as_deref() {
        Some("http") => over_http(),
        _ => over_streams(),
    }
}

#[tokio::main]
async fn over_http() -> io::Result<()> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    println!("http://{}/mcp", listener.local_addr()?);
    std::thread::spawn(|| {
        let _ = io::stdin().lock().read_to_end(&mut Vec::new());
        std::process::exit(0);
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(Duration::from_secs(30))
        .max_buf_size(64 << 10);
    loop {
        let (socket, _) = listener.accept().await?;
        socket.set_nodelay(true)?;
        let serving = http.serve_connection(TokioIo::new(socket), service_fn(answer));
        tokio::spawn(async move {
            // An error is expected when a client closes its connection.
            let _ = serving.await;
        });
    }
}

/// Answers a POST request as `over_streams` answers a line.
async fn answer(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let body = request
        .into_body()
        .collect()
        .await
        .map(http_body_util::Collected::to_bytes);
    let json = body.unwrap_or_default();
    let mut answer = Vec::with_capacity(json.len() + 64);
    if let Ok(raw) = serde_json::from_slice::<&RawValue>(&json)
        && let Ok(Message { id: Some(id) }) = serde_json::from_str(raw.get())
    {
        let _ = write!(answer, r#"{{"jsonrpc":"2.0","id":{id},"result":{raw}}}"#);
    }
    let mut response = Response::new(Full::from(answer));
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(response)
}

fn over_streams() -> io::Result<()> {
    // Bypasses the buffers of the standard streams: requests from one read are answered with one write.
    let mut input = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let mut output = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    let (mut chunk, mut rest, mut answers) = (vec![0; CHUNK], Vec::new(), Vec::new());
    loop {
        let read = input.read(&mut chunk)?;
        if read == 0 {
            return Ok(());
        }
        rest.extend_from_slice(chunk.get(..read).unwrap_or_default());
        let mut done = 0;
        for line in rest.split_inclusive(|byte| *byte == b'\n') {
            let Some(line) = line.strip_suffix(b"\n") else { break };
            done += line.len() + 1;
            if let Message { id: Some(id) } = serde_json::from_slice(line)? {
                write!(answers, r#"{{"jsonrpc":"2.0","id":{id},"result":"#)?;
                answers.extend_from_slice(line);
                answers.extend_from_slice(b"}\n");
            }
        }
        rest.drain(..done);
        output.write_all(&answers)?;
        answers.clear();
    }
}
