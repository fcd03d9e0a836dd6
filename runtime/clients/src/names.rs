//! The names of tools and prompts of several servers, and the URIs of their resources.

use std::borrow::Cow;

/// The naming of the tools and prompts of several servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Naming {
    /// Prefixed with the name of their server: `git_log` is `log` of the server `git`.
    #[default]
    Prefixed,
    /// As their servers name them. If two servers use the same name, that of the first server is visible.
    Flat,
}

/// The error for names of servers that don't distinguish their tools.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NameError {
    /// An empty name.
    #[error("a server has an empty name")]
    Empty,
    /// A name that two servers have, once characters that tool names can't contain are replaced.
    #[error("two servers are named `{0}`: give one of them another name")]
    Taken(String),
    /// A name that begins with the prefix of another name.
    #[error(
        "`{longer}_…` may be a tool of the server `{longer}` and one of `{shorter}`: give one of them another name"
    )]
    Ambiguous {
        /// The longer name, which begins with the other one.
        longer: String,
        /// The shorter name.
        shorter: String,
    },
}

/// The names of several servers, and of their tools, prompts and resources.
#[derive(Debug, Clone)]
pub struct Names {
    prefixes: Vec<String>,
    naming: Naming,
    prefixes_uris: bool,
}

impl Names {
    /// Creates an empty set of names.
    #[must_use]
    pub fn none() -> Self {
        Self {
            prefixes: Vec::new(),
            naming: Naming::Prefixed,
            prefixes_uris: false,
        }
    }

    /// Creates the names of servers. In prefixes, characters that tool names can't contain become `-`.
    ///
    /// # Errors
    /// When names are empty or equal, or when prefixed names would be ambiguous.
    pub fn new<'n>(servers: impl IntoIterator<Item = &'n str>, naming: Naming) -> Result<Self, NameError> {
        let mut prefixes: Vec<String> = Vec::new();
        for name in servers {
            let prefix: String = name.chars().map(allowed).collect();
            if prefix.is_empty() {
                return Err(NameError::Empty);
            }
            for known in &prefixes {
                if *known == prefix {
                    return Err(NameError::Taken(prefix));
                }
                let is_within = |longer: &str, shorter: &str| {
                    longer.strip_prefix(shorter).is_some_and(|rest| rest.starts_with('_'))
                };
                let (longer, shorter) = match prefix.len() > known.len() {
                    true => (&prefix, known),
                    false => (known, &prefix),
                };
                if naming == Naming::Prefixed && is_within(longer, shorter) {
                    let (longer, shorter) = (longer.clone(), shorter.clone());
                    return Err(NameError::Ambiguous { longer, shorter });
                }
            }
            prefixes.push(prefix);
        }
        Ok(Self {
            prefixes,
            naming,
            prefixes_uris: false,
        })
    }

    /// Puts the name of the server into the URI of each resource, not only into URIs that several servers have.
    #[must_use]
    pub fn with_prefixed_uris(mut self, is_so: bool) -> Self {
        self.prefixes_uris = is_so;
        self
    }

    /// Returns the outer name, unique among all servers, of an item that its server names `name`.
    #[must_use]
    pub fn outer<'n>(&self, server: usize, name: &'n str) -> Cow<'n, str> {
        match (self.naming, self.prefixes.get(server)) {
            (Naming::Prefixed, Some(prefix)) => Cow::Owned(format!("{prefix}_{name}")),
            _ => Cow::Borrowed(name),
        }
    }

    /// Returns the server that a prefixed name identifies, and its own name for the item; `None` if it identifies no
    /// server.
    #[must_use]
    pub fn inner<'n>(&self, name: &'n str) -> Option<(usize, &'n str)> {
        if self.naming == Naming::Flat {
            return None;
        }
        let mut servers = self.prefixes.iter().enumerate();
        servers.find_map(|(server, prefix)| Some((server, name.strip_prefix(prefix)?.strip_prefix('_')?)))
    }

    /// Returns the possible outer URIs of a resource or template that its server has as `uri`, the preferred one first:
    /// `uri` itself unless all URIs are prefixed, and the prefixed form, `notes://git/today` for `notes://today` of the
    /// server `git`. A URI without a scheme has no prefixed form.
    #[must_use]
    pub fn outer_uris(&self, server: usize, uri: &str) -> Vec<String> {
        let prefixed = self.prefixes.get(server).zip(split_scheme(uri));
        let prefixed = prefixed.map(|(prefix, (scheme, rest))| format!("{scheme}{prefix}/{rest}"));
        match prefixed {
            Some(prefixed) if self.prefixes_uris => vec![prefixed],
            prefixed => std::iter::once(uri.to_owned()).chain(prefixed).collect(),
        }
    }

    /// Returns the server that a prefixed URI identifies, and its own URI; `None` if it identifies no server.
    #[must_use]
    pub fn inner_uri(&self, uri: &str) -> Option<(usize, String)> {
        let (scheme, rest) = split_scheme(uri)?;
        let (prefix, rest) = rest.split_once('/')?;
        let server = self.prefixes.iter().position(|known| known == prefix)?;
        Some((server, format!("{scheme}{rest}")))
    }

    /// Returns the naming of tools and prompts.
    #[must_use]
    pub fn naming(&self) -> Naming {
        self.naming
    }

    /// Whether the URI of each resource has the name of its server.
    #[must_use]
    pub fn prefixes_uris(&self) -> bool {
        self.prefixes_uris
    }
}

/// Splits a URI into its scheme, with the `//` of an authority, and the rest.
fn split_scheme(uri: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = uri.split_once(':')?;
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    let authority = if rest.starts_with("//") { 2 } else { 0 };
    is_scheme.then(|| uri.split_at(scheme.len() + 1 + authority))
}

/// Returns a character if every client accepts it in names, otherwise `-`.
fn allowed(character: char) -> char {
    match character.is_ascii_alphanumeric() || matches!(character, '_' | '-' | '.') {
        true => character,
        false => '-',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefixed_name_identifies_its_server() {
        let names = Names::new(["git", "my notes"], Naming::Prefixed).unwrap();
        assert_eq!(names.outer(1, "add_all"), "my-notes_add_all");
        assert_eq!(names.inner("my-notes_add_all"), Some((1, "add_all")));
        assert_eq!(names.inner("git_log"), Some((0, "log")));
        assert_eq!(names.inner("gitlog"), None);
        assert_eq!(names.inner("log"), None);
    }

    #[test]
    fn flat_names_are_those_of_the_servers() {
        let names = Names::new(["git", "git_hub"], Naming::Flat).unwrap();
        assert_eq!(names.outer(0, "log"), "log");
        assert_eq!(names.inner("git_log"), None);
    }

    #[test]
    fn a_prefixed_uri_converts_back_to_the_servers_own_uri() {
        let names = Names::new(["git", "my notes"], Naming::Flat).unwrap();
        for (uri, prefixed) in [
            ("notes://today", "notes://my-notes/today"),
            ("notes://{day}/{+path}", "notes://my-notes/{day}/{+path}"),
            ("file:///etc/hosts", "file://my-notes//etc/hosts"),
            ("urn:isbn:1", "urn:my-notes/isbn:1"),
            ("x-y.z+1://", "x-y.z+1://my-notes/"),
        ] {
            assert_eq!(names.outer_uris(1, uri), [uri, prefixed]);
            assert_eq!(names.inner_uri(prefixed), Some((1, uri.to_owned())));
            let all = names.clone().with_prefixed_uris(true);
            assert_eq!(all.outer_uris(1, uri), [prefixed]);
        }
        for uri in ["", "today", "{scheme}://today", "1st://today", "://today"] {
            assert_eq!(names.outer_uris(1, uri), [uri]);
            assert_eq!(names.inner_uri(uri), None);
        }
        assert_eq!(names.inner_uri("notes://other/today"), None);
        assert_eq!(names.inner_uri("notes://git"), None);
    }

    #[test]
    fn empty_equal_and_ambiguous_server_names_are_refused() {
        let refused = |servers: &[&str]| Names::new(servers.iter().copied(), Naming::Prefixed).unwrap_err();
        assert_eq!(refused(&["a", ""]), NameError::Empty);
        assert_eq!(refused(&["a b", "a-b"]), NameError::Taken("a-b".to_owned()));
        for servers in [["git_hub", "git"], ["git", "git_hub"]] {
            let expected =
                "`git_hub_…` may be a tool of the server `git_hub` and one of `git`: give one of them another name";
            assert_eq!(refused(&servers).to_string(), expected);
        }
    }
}
