//! The table of revisions.

/// Declares the type of the revisions of a protocol, which implements [`ProtocolRevision`](crate::ProtocolRevision),
/// `Display`, `FromStr` and the traits of `serde`, and has a constant for each revision.
///
/// A row has the position, the constant, the name, the text of the revision's table, and its schema. A row of a
/// revision that needs a cargo feature has that attribute.
#[macro_export]
macro_rules! revisions {
    (
        $type:ident: latest $latest:ident, hub $hub:ident
        $($(#[$cfg:meta])? $index:literal $constant:ident = $name:literal: $table:expr, $schema:expr;)+
    ) => {
        /// A revision of the protocol. Revisions are ordered as in the protocol, not by name.
        ///
        /// There is a constant for each revision that is compiled. [`load`](Self::load) adds revisions while the
        /// program runs.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $type(u16);

        #[allow(non_upper_case_globals, reason = "a revision may have any name")]
        impl $type {
            $(
                #[doc = concat!("Revision ", $name, ".")]
                $(#[$cfg])?
                pub const $constant: Self = Self($index);
            )+

            /// Every revision that is compiled, the earliest first.
            pub const ALL: [Self; [$($(#[$cfg])? $name),+].len()] = [$($(#[$cfg])? Self::$constant),+];
            /// The latest revision that is compiled without the feature for drafts.
            pub const LATEST: Self = Self::$latest;
            /// The revision that handlers are written against.
            pub const HUB: Self = Self::$hub;

            /// Returns every revision, compiled or loaded at run time, the earliest first.
            pub fn all() -> impl DoubleEndedIterator<Item = Self> + ExactSizeIterator + Clone {
                <Self as $crate::ProtocolRevision>::revisions()
            }

            /// Adds a revision after the others, until the program ends. `table` is the text of the table that
            /// `mcp-codegen` makes from a directory of schemas, and `schema` the text of the schema.
            ///
            /// Tables are trusted. Load only those that you have generated.
            ///
            /// # Errors
            /// When there is a revision with this name, or a text can't be read.
            pub fn load(name: &str, table: &str, schema: &str) -> Result<Self, $crate::LoadError> {
                let protocol = <Self as $crate::ProtocolRevision>::protocol();
                protocol.load(name, table, schema).map($crate::ProtocolRevision::at)
            }

            /// Returns the text of the revision's table.
            #[must_use]
            pub fn table(self) -> &'static str {
                $crate::ProtocolRevision::table_text(self)
            }

            /// Returns the name of the revision in the protocol.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                $crate::ProtocolRevision::name(self)
            }

            /// Returns the revision's methods.
            #[must_use]
            pub fn methods(self) -> &'static [$crate::mcp_wire::Method] {
                $crate::ProtocolRevision::declared_methods(self)
            }

            /// Returns the method of the revision with this name.
            #[must_use]
            pub fn method(self, name: &str) -> Option<&'static $crate::mcp_wire::Method> {
                self.methods().iter().find(|method| method.name == name)
            }

            /// Returns the name in this revision of a method of another one. A method that this revision lacks keeps
            /// its name.
            #[must_use]
            pub fn name_of_method(self, of: Self, name: &str) -> &str {
                $crate::ProtocolRevision::name_of_method(self, of, name)
            }

            /// Returns the revision's schema.
            #[must_use]
            pub fn schema(self) -> &'static $crate::mcp_wire::Schema {
                $crate::ProtocolRevision::declared_schema(self)
            }

            /// Returns the properties of the revision.
            #[must_use]
            pub fn facts(self) -> &'static $crate::Facts {
                $crate::ProtocolRevision::known_facts(self)
            }

            /// Returns the capabilities that requests of a method need in addition to the capability of the method. A
            /// receiver without the capability refuses the parameters.
            #[must_use]
            pub fn needs(self, method: &str) -> &'static [$crate::Need] {
                $crate::ProtocolRevision::declared_needs(self, method)
            }

            /// Returns the mistakes in results of a method that lenient peers tolerate.
            #[must_use]
            pub fn tolerances(self, method: &str) -> &'static [$crate::Tolerance] {
                $crate::ProtocolRevision::declared_tolerances(self, method)
            }

            /// Returns a sentence about the deprecation of a method: since when, and what to use instead. `None` if the
            /// revision doesn't deprecate the method.
            #[must_use]
            pub fn deprecation(self, method: &str) -> Option<&'static str> {
                $crate::ProtocolRevision::declared_deprecation(self, method)
            }

            /// Validates the JSON of a request or notification by the official schema of this revision as corrected by
            /// the overlay.
            ///
            /// A message that is neither, and a method that the revision doesn't declare, are accepted.
            ///
            /// # Errors
            /// The message is invalid, isn't JSON, or has a duplicate member.
            pub fn validate_call(self, json: &[u8]) -> Result<(), $crate::mcp_wire::Invalid> {
                $crate::validate_call(self, json)
            }

            /// Returns the names of the definitions of this revision's schema, in alphabetical order.
            pub fn definition_names(self) -> impl Iterator<Item = &'static str> {
                $crate::definition_names(self)
            }

            /// Validates JSON by a definition of this revision's schema. `None` if there is no such definition.
            #[must_use]
            pub fn validate_definition(
                self,
                name: &str,
                json: &str,
            ) -> Option<Result<(), $crate::mcp_wire::Invalid>> {
                $crate::validate_definition(self, name, json)
            }

            /// Validates the JSON of a result of a method, by the type that its tag or members determine. If they
            /// determine none, the error has the violations of the type that fits best.
            ///
            /// # Errors
            /// The result is invalid.
            pub fn validate_result(
                self,
                method: &str,
                result: &$crate::mcp_wire::RawJson,
            ) -> Result<(), $crate::mcp_wire::Invalid> {
                $crate::validate_result(self, method, result)
            }

            /// Returns the JSON pointers of the definitions of a method's result: only the one that the result's tag or
            /// members determine, or if they determine none, all of the method.
            #[must_use]
            pub fn result_definitions(
                self,
                method: &str,
                result: &$crate::mcp_wire::RawJson,
            ) -> &'static [&'static str] {
                $crate::result_definitions(self, method, result)
            }
        }

        impl $crate::ProtocolRevision for $type {
            const HUB: Self = Self::HUB;

            fn protocol() -> &'static $crate::Protocol {
                static SOURCES: &[$crate::TableSource] = &[$(
                    $(#[$cfg])?
                    $crate::TableSource { index: $index, revision: $name, table: $table, schema: $schema },
                )+];
                static PROTOCOL: $crate::Protocol = $crate::Protocol::new(SOURCES);
                &PROTOCOL
            }

            fn index(self) -> usize {
                self.0.into()
            }

            fn at(index: usize) -> Self {
                Self(u16::try_from(index).unwrap_or(u16::MAX))
            }
        }

        impl ::std::fmt::Debug for $type {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl ::std::fmt::Display for $type {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl ::std::str::FromStr for $type {
            type Err = $crate::UnknownRevision;

            fn from_str(name: &str) -> Result<Self, $crate::UnknownRevision> {
                $crate::ProtocolRevision::by_name(name).ok_or_else(|| $crate::UnknownRevision::new::<Self>(name))
            }
        }

        impl $crate::mcp_wire::serde::Serialize for $type {
            fn serialize<S: $crate::mcp_wire::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> $crate::mcp_wire::serde::Deserialize<'de> for $type {
            fn deserialize<D: $crate::mcp_wire::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let name = <::std::borrow::Cow<'de, str> as $crate::mcp_wire::serde::Deserialize>::deserialize(deserializer)?;
                name.parse().map_err($crate::mcp_wire::serde::de::Error::custom)
            }
        }
    };
}
