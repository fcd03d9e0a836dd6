//! Resources.

use mcp_runtime::hub::{BlobResourceContents, Resource, ResourceTemplate};
use mcp_runtime::router::{CompletionRequest, resource, resource_template};
use mcp_runtime::{Args, Router};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::content::PIXEL;

pub fn add_to(router: Router) -> Router {
    let text = Resource::new("Static text", "test://static-text")
        .with_description("A text that stays the same")
        .with_mime_type("text/plain");
    let binary = Resource::new("Static binary", "test://static-binary")
        .with_description("A picture that stays the same")
        .with_mime_type("image/png");
    let watched = Resource::new("Watched resource", "test://watched-resource")
        .with_description("A text that test_touch_resource changes")
        .with_mime_type("text/plain");
    let template = ResourceTemplate::new("Template", "test://template/{id}/data")
        .with_description("Data for an id")
        .with_mime_type("application/json");
    let template = resource_template(template, data).expect("the template is one");
    router
        .with(resource(text, || "This is the content of the static text resource."))
        .with(resource(binary, || {
            vec![BlobResourceContents::new(PIXEL, "test://static-binary").with_mime_type("image/png")]
        }))
        .with(resource(watched, || "This is the content of the watched resource."))
        .with(template.complete("id", ids))
}

#[derive(Deserialize, JsonSchema)]
struct Data {
    id: String,
}

fn data(Args(Data { id }): Args<Data>) -> String {
    json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")}).to_string()
}

fn ids(typed: CompletionRequest) -> Vec<String> {
    let ids = (1..=150).map(|id| id.to_string());
    ids.filter(|id| id.starts_with(&typed.value)).collect()
}
