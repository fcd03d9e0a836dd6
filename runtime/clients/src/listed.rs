//! Which server has what, as its latest lists say.

use std::collections::{HashMap, HashSet};

use mcp_runtime_util::Mutex;

use super::names::{Names, Naming};

/// What servers list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Tool,
    Prompt,
    Resource,
    Template,
}

/// How many resources that no server lists are remembered.
const FOUND: usize = 1024;

/// Which server has what. It lasts until the next list, but for what was found without one, which is bounded.
#[derive(Default)]
pub struct Listed {
    lists: [Mutex<List>; 4],
    /// The servers of resources that none lists, by their URIs.
    found: Mutex<HashMap<String, Owned>>,
}

/// A list of all servers.
#[derive(Default)]
struct List {
    is_known: bool,
    /// By the names that others know.
    owners: HashMap<String, Owned>,
    /// What has no name of its own, which is logged once.
    hidden: HashSet<Owned>,
}

/// A server, and its own name for what it has.
pub type Owned = (usize, String);

impl Kind {
    fn is_uri(self) -> bool {
        matches!(self, Self::Resource | Self::Template)
    }

    /// The names that others may know something by, the best first.
    fn names(self, names: &Names, server: usize, own: &str) -> Vec<String> {
        match self.is_uri() {
            true => names.outer_uris(server, own),
            false => vec![names.outer(server, own).into_owned()],
        }
    }
}

impl Listed {
    /// Merges the lists of the servers, in their order, and gives the items the names by which others know them. One that has none
    /// left is hidden. A server without a list keeps the names that it had.
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
                                "an earlier server has it too: it is hidden"
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

    /// The server of what others know by a name, and its own name for it.
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

    /// Remembers the server of a resource that none lists.
    pub fn find(&self, uri: &str, owned: Owned) {
        let mut found = self.found.lock();
        if found.len() >= FOUND && !found.contains_key(uri) {
            // They are found again.
            found.clear();
        }
        found.insert(uri.to_owned(), owned);
    }

    /// Whether there has been a list of resources, and one of their templates.
    pub fn has_resources(&self) -> bool {
        [Kind::Resource, Kind::Template]
            .into_iter()
            .all(|kind| self.list(kind).lock().is_known)
    }

    /// Gives a URI in a result of a server the form by which others know it.
    pub fn rename(&self, names: &Names, server: usize, uri: &mut String) {
        let mut outer = names.outer_uris(server, uri);
        // What a template of the server expands to has its form.
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
    /// Gives something the first of these names that nothing else has.
    fn add(&mut self, names: Vec<String>, owned: Owned) -> Option<String> {
        let is_free = |name: &String| self.owners.get(name).is_none_or(|owner| *owner == owned);
        let name = names.into_iter().find(is_free)?;
        self.owners.insert(name.clone(), owned);
        Some(name)
    }

    /// Whether something of a server has another name than there.
    fn has_renamed(&self, server: usize) -> bool {
        let renamed = |(name, owned): (&String, &Owned)| owned.0 == server && owned.1 != *name;
        self.owners.iter().any(renamed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Names {
        Names::new(["a", "b"], Naming::Flat).expect("they are told apart")
    }

    fn merge(listed: &Listed, kind: Kind, lists: [Option<&[&str]>; 2]) -> Vec<String> {
        let lists = lists.map(|list| list.map(|list| list.iter().map(|&name| name.to_owned()).collect()));
        listed.merge(&names(), kind, lists.into(), |name| name)
    }

    #[test]
    fn what_two_servers_have_is_the_first_ones_and_uris_are_told_apart() {
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
        // Both forms are taken, or there is only one.
        let uris = merge(
            &listed,
            Kind::Resource,
            [Some(&["n:x", "n:b/x", "x"]), Some(&["n:x", "x"])],
        );
        assert_eq!(uris, ["n:x", "n:b/x", "x"]);
    }

    #[test]
    fn names_last_while_a_server_is_away_and_until_the_next_list() {
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
    fn what_is_found_without_a_list_is_bounded() {
        let listed = Listed::default();
        for number in 0..=FOUND {
            let uri = format!("n:{number}");
            listed.find(&uri, (1, uri.clone()));
            assert_eq!(listed.owner(&names(), Kind::Resource, &uri), Some((1, uri)));
        }
        assert!(listed.found.lock().len() <= FOUND);
    }

    #[test]
    fn links_have_the_form_by_which_others_know_them() {
        let listed = Listed::default();
        let renamed = |server: usize, uri: &str| {
            let mut uri = uri.to_owned();
            listed.rename(&names(), server, &mut uri);
            uri
        };
        merge(&listed, Kind::Resource, [Some(&["n:x"]), Some(&["n:x"])]);
        assert_eq!([renamed(0, "n:x"), renamed(1, "n:x")], ["n:x", "n:b/x"]);
        // Nobody lists it: it is of the server that links to it.
        assert_eq!([renamed(1, "n:y"), renamed(0, "n:y")], ["n:y", "n:a/y"]);
        assert_eq!(
            listed.owner(&names(), Kind::Resource, "n:a/y"),
            Some((0, "n:y".to_owned()))
        );
        // It may be of the template that both have.
        merge(&listed, Kind::Template, [Some(&["n:{z}"]), Some(&["n:{z}"])]);
        assert_eq!([renamed(1, "n:1"), renamed(0, "n:1")], ["n:b/1", "n:1"]);
    }
}
