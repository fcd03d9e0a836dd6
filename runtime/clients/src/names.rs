//! The names of tools and prompts of several servers, and the URIs of their resources.

use std::borrow::Cow;

/// How the tools and prompts of several servers are named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Naming {
    /// With the name of their server before them: `git_log` is `log` of the server `git`.
    #[default]
    Prefixed,
    /// As their servers name them. Of two with the same name, the one of the first server is seen.
    Flat,
}

/// The error for names of servers that don't tell their tools apart.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NameError {
    /// A name that is empty.
    #[error("a server has an empty name")]
    Empty,
    /// A name that two servers have, as far as names of tools can have its characters.
    #[error("two servers are named `{0}`: give one of them another name")]
    Taken(String),
    /// A name that begins with the prefix of another one.
    #[error(
        "`{longer}_…` may be a tool of the server `{longer}` and one of `{shorter}`: give one of them another name"
    )]
    Ambiguous {
        /// The name of which it is the beginning.
        longer: String,
        /// The other name.
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
    /// The names of no servers.
    #[must_use]
    pub fn none() -> Self {
        Self {
            prefixes: Vec::new(),
            naming: Naming::Prefixed,
            prefixes_uris: false,
        }
    }

    /// The names of servers. Characters that names of tools can't have become `-` in the prefix.
    ///
    /// # Errors
    /// When names are empty or equal, or when prefixed names would have two readings.
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

    /// Puts the name of the server into the URI of each resource, and not only where servers have the same.
    #[must_use]
    pub fn with_prefixed_uris(mut self, is_so: bool) -> Self {
        self.prefixes_uris = is_so;
        self
    }

    /// The name under which others know what a server names `name`.
    #[must_use]
    pub fn outer<'n>(&self, server: usize, name: &'n str) -> Cow<'n, str> {
        match (self.naming, self.prefixes.get(server)) {
            (Naming::Prefixed, Some(prefix)) => Cow::Owned(format!("{prefix}_{name}")),
            _ => Cow::Borrowed(name),
        }
    }

    /// The server that a prefixed name says, and its own name for it; `None` if it says none.
    #[must_use]
    pub fn inner<'n>(&self, name: &'n str) -> Option<(usize, &'n str)> {
        if self.naming == Naming::Flat {
            return None;
        }
        let mut servers = self.prefixes.iter().enumerate();
        servers.find_map(|(server, prefix)| Some((server, name.strip_prefix(prefix)?.strip_prefix('_')?)))
    }

    /// The URIs under which others may know what a server has under `uri`, which may be a template, the best first: `uri` itself unless
    /// all are prefixed, and `notes://git/today` for `notes://today` of the server `git`. Without a scheme there is no such form.
    #[must_use]
    pub fn outer_uris(&self, server: usize, uri: &str) -> Vec<String> {
        let prefixed = self.prefixes.get(server).zip(split_scheme(uri));
        let prefixed = prefixed.map(|(prefix, (scheme, rest))| format!("{scheme}{prefix}/{rest}"));
        match prefixed {
            Some(prefixed) if self.prefixes_uris => vec![prefixed],
            prefixed => std::iter::once(uri.to_owned()).chain(prefixed).collect(),
        }
    }

    /// The server that a prefixed URI says, and its own URI; `None` if it says none.
    #[must_use]
    pub fn inner_uri(&self, uri: &str) -> Option<(usize, String)> {
        let (scheme, rest) = split_scheme(uri)?;
        let (prefix, rest) = rest.split_once('/')?;
        let server = self.prefixes.iter().position(|known| known == prefix)?;
        Some((server, format!("{scheme}{rest}")))
    }

    /// How they are named.
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

/// The scheme of a URI with the `//` of an authority, and what follows.
fn split_scheme(uri: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = uri.split_once(':')?;
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    let authority = if rest.starts_with("//") { 2 } else { 0 };
    is_scheme.then(|| uri.split_at(scheme.len() + 1 + authority))
}

/// A character of the names that every client accepts, or `-`.
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
    fn a_prefixed_name_says_its_server() {
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
    fn a_uri_has_a_form_with_its_server_from_which_it_comes_back() {
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
    fn names_with_two_readings_are_refused() {
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
