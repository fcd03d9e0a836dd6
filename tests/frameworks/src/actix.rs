//! A server in an actix-web app. actix-web has its own types for requests and responses.

use actix_web::body::SizedStream;
use actix_web::http::StatusCode;
use actix_web::web::{self, Bytes, Data, PayloadConfig, ServiceConfig};
use actix_web::{Error, HttpRequest, HttpResponse, error::ErrorBadRequest};
use http_body::Body as _;
use http_body_util::{BodyDataStream, Full};
use mcp_runtime::transport::http::server::{Body, ClientAddress, HttpServer};
use tower_service::Service as _;

/// The largest request body that actix-web collects, in bytes: the same as the server's limit.
const MAX_BODY: usize = 4 << 20;

/// Returns a configuration function that makes the server the default service of an app.
pub fn routes(server: HttpServer) -> impl FnOnce(&mut ServiceConfig) {
    move |config| {
        let payload = PayloadConfig::new(MAX_BODY);
        config.app_data(Data::new(server)).app_data(payload);
        config.default_service(web::to(respond));
    }
}

async fn respond(server: Data<HttpServer>, request: HttpRequest, body: Bytes) -> Result<HttpResponse, Error> {
    let mut converted = http::Request::builder()
        .method(request.method().as_str())
        .uri(request.uri().to_string());
    for (name, value) in request.headers() {
        converted = converted.header(name.as_str(), value.as_bytes());
    }
    if let Some(address) = request.peer_addr() {
        converted = converted.extension(ClientAddress(address));
    }
    let converted = converted.body(Full::new(body)).map_err(ErrorBadRequest)?;
    let Ok(response) = server.as_ref().clone().call(converted).await;
    Ok(convert(response))
}

fn convert(response: http::Response<Body>) -> HttpResponse {
    let (parts, body) = response.into_parts();
    let status = StatusCode::from_u16(parts.status.as_u16()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut converted = HttpResponse::build(status);
    for (name, value) in &parts.headers {
        converted.append_header((name.as_str(), value.as_bytes()));
    }
    match body.size_hint().exact() {
        Some(length) => converted.body(SizedStream::new(length, BodyDataStream::new(body))),
        // A stream of events.
        None => converted.streaming(BodyDataStream::new(body)),
    }
}
