//! The servers of tools, prompts and resources, according to the latest lists. An item has an outer name, which is
//! unique among all servers, and the name that its server uses.

use std::collections::{HashMap, HashSet};

use mcp_runtime_util::Mutex;

use super::names::{Names, Naming};

/// A kind of item that servers list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Tool,
    Prompt,
    Resource,
    Template,
}

/// The maximum number of remembered resources that no server lists.
const FOUND: usize = 1024;

/// The servers of all items. They are kept until the next list. Resources that were found without a list are kept up to
/// a limit.
#[derive(Default)]
pub struct Listed {
    lists: [Mutex<List>; 4],
    /// The servers of resources that no server lists, by their URIs.
    found: Mutex<HashMap<String, Owned>>,
}

/// The merged list of all servers.
#[derive(Default)]
struct List {
    is_known: bool,
    /// The items by their outer names.
    owners: HashMap<String, Owned>,
    /// The items that are hidden because all their names are taken, which is logged once.
    hidden: HashSet<Owned>,
}

/// The number of a server, and its own name for an item.
pub type Owned = (usize, String);

impl Kind {
    pub fn is_uri(self) -> bool {
        matches!(self, Self::Resource | Self::Template)
    }

    /// Returns the possible outer names of an item, the preferred one first.
    fn names(self, names: &Names, server: usize, own: &str) -> Vec<String> {
        match self.is_uri() {
            true => names.outer_uris(server, own),
            false => vec![names.outer(server, own).into_owned()],
        }
    }
}

impl Listed {
    /// Merges the lists of the servers, in their order, and gives the items their outer names. An item whose names are
    /// all taken is hidden, and so is one that its server lists twice. A server without a list keeps the names that it
    /// had.
    pub fn merge<T>(
        &self,
        names: &Names,
        kind: Kind,
        lists: Vec<Option<Vec<T>>>,
        name: impl Fn(&mut T) -> &mut String,
    ) -> Vec<T> {
        let (mut merged, mut items) = (List::default(), Vec::new());
        merged.is_known = true;
        let mut list = self.list(kind).lock();
        for (server, listed) in lists.into_iter().enumerate() {
            let Some(listed) = listed else {
                for (_, own) in list.owners.values().filter(|(owner, _)| *owner == server) {
                    merged.add(kind.names(names, server, own), (server, own.clone()));
                }
                continue;
            };
            for mut item in listed {
                let owned = (server, std::mem::take(name(&mut item)));
                match merged.add(kind.names(names, server, &owned.1), owned.clone()) {
                    Some(outer) => {
                        *name(&mut item) = outer;
                        items.push(item);
                    }
                    None => {
                        if !list.hidden.contains(&owned) {
                            tracing::warn!(
                                server,
                                ?kind,
                                name = owned.1,
                                "it is hidden: an earlier server has it too, or its server lists it twice"
                            );
                        }
                        merged.hidden.insert(owned);
                    }
                }
            }
        }
        *list = merged;
        items
    }

    /// Returns the server of an item by its outer name, and the server's own name for it.
    pub fn owner(&self, names: &Names, kind: Kind, name: &str) -> Option<Owned> {
        if kind.is_uri() {
            let prefixed = names.prefixes_uris().then(|| names.inner_uri(name)).flatten();
            if prefixed.is_some() {
                return prefixed;
            }
        } else if names.naming() == Naming::Prefixed {
            let (server, own) = names.inner(name)?;
            return Some((server, own.to_owned()));
        }
        let listed = self.list(kind).lock().owners.get(name).cloned();
        listed.or_else(|| match kind {
            Kind::Resource => self.found.lock().get(name).cloned(),
            _ => None,
        })
    }

    /// Remembers the server of a resource that no server lists.
    pub fn find(&self, uri: &str, owned: Owned) {
        let mut found = self.found.lock();
        if found.len() >= FOUND && !found.contains_key(uri) {
            // They are found again when they are needed.
            found.clear();
        }
        found.insert(uri.to_owned(), owned);
    }

    /// Whether the resources and the resource templates have been listed.
    pub fn has_resources(&self) -> bool {
        [Kind::Resource, Kind::Template]
            .into_iter()
            .all(|kind| self.list(kind).lock().is_known)
    }

    /// Replaces a URI in a server's result by its outer URI.
    pub fn rename(&self, names: &Names, server: usize, uri: &mut String) {
        let mut outer = names.outer_uris(server, uri);
        // If a template of the server was renamed, the URIs that it expands to are renamed too.
        if self.list(Kind::Template).lock().has_renamed(server) {
            outer.reverse();
        }
        let owned = (server, uri.clone());
        let owner = |outer: &String| self.owner(names, Kind::Resource, outer);
        if let Some(known) = outer.iter().find(|outer| owner(outer).as_ref() == Some(&owned)) {
            uri.clone_from(known);
        } else if let Some(free) = outer.into_iter().find(|outer| owner(outer).is_none()) {
            self.find(&free, owned);
            *uri = free;
        }
    }

    fn list(&self, kind: Kind) -> &Mutex<List> {
        let [tools, prompts, resources, templates] = &self.lists;
        match kind {
            Kind::Tool => tools,
            Kind::Prompt => prompts,
            Kind::Resource => resources,
            Kind::Template => templates,
        }
    }
}

impl List {
    /// Adds an item under the first of these names that isn't taken, unless it is added already.
    fn add(&mut self, names: Vec<String>, owned: Owned) -> Option<String> {
        let taken = |name: &String| self.owners.get(name);
        if names.iter().any(|name| taken(name) == Some(&owned)) {
            return None;
        }
        let name = names.into_iter().find(|name| taken(name).is_none())?;
        self.owners.insert(name.clone(), owned);
        Some(name)
    }

    /// Whether an item of a server has an outer name that differs from its own.
    fn has_renamed(&self, server: usize) -> bool {
        let renamed = |(name, owned): (&String, &Owned)| owned.0 == server && owned.1 != *name;
        self.owners.iter().any(renamed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Names {
        Names::new(["a", "b"], Naming::Flat).expect("the names are distinguishable")
    }

    fn merge(listed: &Listed, kind: Kind, lists: [Option<&[&str]>; 2]) -> Vec<String> {
        let lists = lists.map(|list| list.map(|list| list.iter().map(|&name| name.to_owned()).collect()));
        listed.merge(&names(), kind, lists.into(), |name| name)
    }

    #[test]
    fn a_duplicate_name_belongs_to_the_first_server_and_a_duplicate_uri_is_prefixed() {
        let listed = Listed::default();
        assert_eq!(
            merge(&listed, Kind::Tool, [Some(&["x"]), Some(&["x", "y"])]),
            ["x", "y"]
        );
        let uris = merge(
            &listed,
            Kind::Resource,
            [Some(&["n:x", "n:b/y"]), Some(&["n:x", "n:y", "x"])],
        );
        assert_eq!(uris, ["n:x", "n:b/y", "n:b/x", "n:y", "x"]);
        // Both forms are taken, or the URI has only one form.
        let uris = merge(
            &listed,
            Kind::Resource,
            [Some(&["n:x", "n:b/x", "x"]), Some(&["n:x", "x"])],
        );
        assert_eq!(uris, ["n:x", "n:b/x", "x"]);
    }

    #[test]
    fn an_item_that_a_server_lists_twice_is_merged_once() {
        for kind in [Kind::Tool, Kind::Resource] {
            let merged = merge(
                &Listed::default(),
                kind,
                [Some(&["n:x", "n:x"]), Some(&["n:y", "n:x", "n:x"])],
            );
            let expected: &[&str] = if kind.is_uri() {
                &["n:x", "n:y", "n:b/x"]
            } else {
                &["n:x", "n:y"]
            };
            assert_eq!(merged, expected);
        }
    }

    #[test]
    fn names_are_kept_while_a_server_is_away_and_until_the_next_list() {
        let listed = Listed::default();
        let owner = |uri: &str| listed.owner(&names(), Kind::Resource, uri);
        merge(&listed, Kind::Resource, [Some(&["n:x"]), Some(&["n:x"])]);
        assert_eq!(merge(&listed, Kind::Resource, [None, Some(&["n:x"])]), ["n:b/x"]);
        assert_eq!(owner("n:x"), Some((0, "n:x".to_owned())));
        assert_eq!(owner("n:b/x"), Some((1, "n:x".to_owned())));
        assert_eq!(merge(&listed, Kind::Resource, [Some(&[]), Some(&["n:x"])]), ["n:x"]);
        assert_eq!(owner("n:x"), Some((1, "n:x".to_owned())));
        assert_eq!(owner("n:b/x"), None);
    }

    #[test]
    fn resources_found_without_a_list_are_bounded() {
        let listed = Listed::default();
        for number in 0..=FOUND {
            let uri = format!("n:{number}");
            listed.find(&uri, (1, uri.clone()));
            assert_eq!(listed.owner(&names(), Kind::Resource, &uri), Some((1, uri)));
        }
        assert!(listed.found.lock().len() <= FOUND);
    }

    #[test]
    fn links_in_results_get_the_outer_uris_of_their_resources() {
        let listed = Listed::default();
        let renamed = |server: usize, uri: &str| {
            let mut uri = uri.to_owned();
            listed.rename(&names(), server, &mut uri);
            uri
        };
        merge(&listed, Kind::Resource, [Some(&["n:x"]), Some(&["n:x"])]);
        assert_eq!([renamed(0, "n:x"), renamed(1, "n:x")], ["n:x", "n:b/x"]);
        // No server lists it: it belongs to the server that links to it.
        assert_eq!([renamed(1, "n:y"), renamed(0, "n:y")], ["n:y", "n:a/y"]);
        assert_eq!(
            listed.owner(&names(), Kind::Resource, "n:a/y"),
            Some((0, "n:y".to_owned()))
        );
        // It can match the template that both servers have.
        merge(&listed, Kind::Template, [Some(&["n:{z}"]), Some(&["n:{z}"])]);
        assert_eq!([renamed(1, "n:1"), renamed(0, "n:1")], ["n:b/1", "n:1"]);
    }
}
