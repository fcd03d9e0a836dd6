//! Resources that the function of a template lists.

use std::sync::{Arc, Mutex};

use mcp_runtime::router::{ListEntry, resource, resource_template};
use mcp_runtime::{Args, CallServer, ErrorObject, Router, State, hub};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{client_of, next, refused};

/// The titles of the notes, which the tests change.
#[derive(Clone, Default)]
struct Notes(Arc<Mutex<Vec<&'static str>>>);

#[derive(Deserialize, JsonSchema)]
struct Title {
    title: String,
}

fn list(State(notes): State<Notes>) -> Result<Vec<hub::Resource>, ErrorObject> {
    let titles = notes.0.lock().unwrap();
    if titles.is_empty() {
        return Err(ErrorObject::new(-32050, "no notes"));
    }
    let resource = |title: &&str| hub::Resource::new(*title, format!("notes://{title}"));
    Ok(titles.iter().map(resource).collect())
}

/// A router that lists notes, two on a page.
fn router(notes: &Notes) -> Router {
    let template = hub::ResourceTemplate::new("Notes", "notes://{title}");
    let template = resource_template(template, |Args(Title { title }): Args<Title>| format!("About {title}"));
    Router::new("notes", "1.0")
        .page_size(2)
        .with_state(notes.clone())
        .with(template.unwrap().list(list))
}

/// The URIs on each page.
async fn pages(router: &Router) -> Result<Vec<Vec<String>>, mcp_runtime::CallError> {
    let (client, _heard) = client_of(router).await;
    let mut pages = Vec::new();
    let mut params = hub::PaginatedRequestParams::default();
    loop {
        let page = client.peer().list_resources(params.clone()).await?;
        pages.push(page.resources.into_iter().map(|resource| resource.uri).collect());
        match page.next_cursor {
            Some(cursor) => params.cursor = Some(cursor),
            None => return Ok(pages),
        }
    }
}

#[tokio::test]
async fn resources_that_a_template_lists_are_paged_with_the_others() {
    let notes = Notes::default();
    *notes.0.lock().unwrap() = vec!["d", "b", "c"];
    let listed = router(&notes)
        .with(resource(hub::Resource::new("A", "notes://a"), || "A"))
        .with(resource(hub::Resource::new("Own", "notes://c"), || "C"));
    let expected = [vec!["notes://a", "notes://b"], vec!["notes://c", "notes://d"]];
    assert_eq!(pages(&listed).await.unwrap(), expected);

    let (client, mut heard) = client_of(&listed).await;
    let resources = client.list_resources().await.unwrap();
    assert_eq!(
        resources[2].name, "Own",
        "the resource with its own route takes precedence"
    );
    let read = client.read_resource("notes://d").await.unwrap();
    assert_eq!(json!(read.contents), json!([{"uri": "notes://d", "text": "About d"}]));

    notes.0.lock().unwrap().push("e");
    listed.resources_changed();
    assert_eq!(next(&mut heard).await, "resources");
    assert_eq!(client.list_resources().await.unwrap().len(), 5);
}

#[tokio::test]
async fn listed_resources_that_do_not_match_the_template_or_are_hidden_are_left_out() {
    let notes = Notes::default();
    *notes.0.lock().unwrap() = vec!["b", "a/b", "hidden"];
    let listed = router(&notes).filter(|listed, _| match listed {
        ListEntry::Resource(resource) => resource.name != "hidden",
        _ => true,
    });
    assert_eq!(pages(&listed).await.unwrap(), [["notes://b"]]);
    let hidden = router(&notes).filter(|listed, _| !matches!(listed, ListEntry::ResourceTemplate(_)));
    assert_eq!(pages(&hidden).await.unwrap(), [[""; 0]]);
    // A router that merges this one lists the same resources.
    let outer = Router::new("outer", "1.0").merge(&listed);
    assert_eq!(pages(&outer).await.unwrap(), [["notes://b"]]);
}

#[tokio::test]
async fn an_error_of_a_list_function_is_the_error_response() {
    let error = refused(pages(&router(&Notes::default())).await);
    assert_eq!((error.code, error.message.as_str()), (-32050, "no notes"));
}

#[test]
fn a_list_function_that_takes_arguments_or_a_missing_state_is_refused() {
    let template = || {
        let template = hub::ResourceTemplate::new("Notes", "notes://{title}");
        resource_template(template, || "").unwrap()
    };
    let none = |Args(_): Args<Title>| Vec::<hub::Resource>::new();
    let refusal = |route| Router::new("notes", "1.0").insert(route).unwrap_err().to_string();
    let reason = refusal(template().list(none));
    assert!(
        reason.starts_with("the list of resources `notes://{title}` takes `Args`"),
        "{reason}"
    );
    let reason = refusal(template().list(list));
    assert!(reason.contains("takes `State<all::router::lists::Notes>`"), "{reason}");
}
