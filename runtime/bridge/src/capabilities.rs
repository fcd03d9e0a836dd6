//! Capabilities that the server's revision implies and the client's revision declares.

use mcp_adapters::Revision;
use serde_json::Value;

/// Adds the capabilities that the server's revision implies and the client's revision requires to be declared, such as
/// `completions`. `capabilities` is in the form of the revision `form`: the client's, or the hub.
pub fn add_implied(capabilities: &mut Value, form: Revision, server: Revision, client: Revision) {
    let requests = client.methods().iter().filter(|method| method.direction.from_client());
    for method in requests {
        let offered = server.method(server.name_of_method(client, method.name));
        let is_implied = offered.is_some_and(|offered| offered.capability.is_none());
        let capability = method.capability.filter(|_| is_implied);
        let in_form = || form.method(form.name_of_method(client, method.name))?.capability;
        if let Some(path) = capability.map(|own| in_form().unwrap_or(own)) {
            add(capabilities, path);
        }
    }
}

/// Adds an empty object at a path, unless the path already has a value.
fn add(capabilities: &mut Value, path: &str) {
    let mut at = capabilities;
    for member in path.split('.') {
        let Value::Object(members) = at else { return };
        at = members
            .entry(member)
            .or_insert_with(|| Value::Object(serde_json::Map::new()));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn capabilities_implied_by_the_servers_revision_are_declared_to_the_client() {
        let added = |server: Revision, client: Revision| {
            let mut capabilities = json!({"tools": {"listChanged": true}});
            add_implied(&mut capabilities, Revision::HUB, server, client);
            capabilities
        };
        let (first, hub) = (Revision::ALL[0], Revision::HUB);
        assert_eq!(
            added(first, hub),
            json!({"tools": {"listChanged": true}, "completions": {}})
        );
        assert_eq!(added(first, first), json!({"tools": {"listChanged": true}}));
        assert_eq!(added(hub, first), json!({"tools": {"listChanged": true}}));
        let mut odd = json!({"completions": null, "tools": 5});
        add_implied(&mut odd, hub, first, hub);
        assert_eq!(odd, json!({"completions": null, "tools": 5}));
    }
}
