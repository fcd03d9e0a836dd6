//! The entries of a router's lists.

use mcp_adapters::hub;

/// An entry of a list, for which a filter decides whether a client sees it; see
/// [`Router::filter`](super::Router::filter).
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum ListEntry<'a> {
    /// A tool.
    Tool(&'a hub::Tool),
    /// A resource.
    Resource(&'a hub::Resource),
    /// A resource template.
    ResourceTemplate(&'a hub::ResourceTemplate),
    /// A prompt.
    Prompt(&'a hub::Prompt),
}

impl ListEntry<'_> {
    /// Runs a function with this entry as it is without a prefix of its name.
    pub(super) fn without_prefix<T>(&self, prefix: &str, run: impl FnOnce(&ListEntry<'_>) -> T) -> T {
        match *self {
            Self::Tool(tool) => run(&ListEntry::Tool(&stripped(tool, prefix))),
            Self::Prompt(prompt) => run(&ListEntry::Prompt(&stripped(prompt, prefix))),
            Self::Resource(_) | Self::ResourceTemplate(_) => run(self),
        }
    }
}

fn stripped<T: Entry>(entry: &T, prefix: &str) -> T {
    let mut entry = entry.clone();
    if let Some(name) = entry.name_mut()
        && let Some(rest) = name.strip_prefix(prefix)
    {
        *name = rest.to_owned();
    }
    entry
}

/// An entry of a list.
pub(super) trait Entry: Clone + Send + Sync + 'static {
    /// The name or URI.
    fn key(&self) -> &str;

    /// The name, if nesting adds a prefix to it; URIs get none.
    fn name_mut(&mut self) -> Option<&mut String> {
        None
    }

    fn listed(&self) -> ListEntry<'_>;
}

/// The impls for the entries of the hub's lists: the member that is the key of each, and `name_mut` if the key is a
/// name.
macro_rules! entries {
    ($($entry:ident: $key:ident $(, $name_mut:ident)?;)*) => {$(
        impl Entry for hub::$entry {
            fn key(&self) -> &str {
                &self.$key
            }

            $(fn $name_mut(&mut self) -> Option<&mut String> {
                Some(&mut self.$key)
            })?

            fn listed(&self) -> ListEntry<'_> {
                ListEntry::$entry(self)
            }
        }
    )*

    impl<'a> ListEntry<'a> {
        /// The name or URI.
        pub(super) fn key(self) -> &'a str {
            match self {
                $(Self::$entry(entry) => &entry.$key,)*
            }
        }
    }
    };
}

entries! {
    Tool: name, name_mut;
    Prompt: name, name_mut;
    Resource: uri;
    ResourceTemplate: uri_template;
}
