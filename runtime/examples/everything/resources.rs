//! Resources.

use mcp_runtime::Router;
use mcp_runtime::hub::{BlobResourceContents, Resource, ResourceTemplate};
use mcp_runtime::router::{Call, CompletionRequest, Variables, resource, resource_template};
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
    router
        .with(resource(text, |_| async {
            Ok("This is the content of the static text resource.")
        }))
        .with(resource(binary, |_| async {
            let picture = BlobResourceContents::new(PIXEL, "test://static-binary").with_mime_type("image/png");
            Ok(vec![picture.into()])
        }))
        .with(resource(watched, |_| async {
            Ok("This is the content of the watched resource.")
        }))
        .with(
            resource_template(template, |_, variables: Variables, _: Call| async move {
                let id = &variables["id"];
                Ok(json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")}).to_string())
            })
            .expect("the template is one")
            .complete("id", |typed: CompletionRequest, _| async move {
                let ids = (1..=150).map(|id| id.to_string());
                ids.filter(|id| id.starts_with(&typed.value)).collect()
            }),
        )
}
