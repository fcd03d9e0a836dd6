//! The table of revisions.

/// Implements [`ProtocolRevision`](crate::ProtocolRevision), `Display`, `FromStr`, the traits of `serde`, and functions with the
/// properties of each revision for an enum of revisions.
///
/// A row of `revisions` has the variant, the name, the text of the revision's table, its schema, and the [`Facts`](crate::Facts) that
/// differ from [`Facts::NONE`](crate::Facts::NONE). A row of `needs` and `tolerances` has the variant, the methods, and their
/// [`Need`](crate::Need)s or [`Tolerance`](crate::Tolerance)s. A row of `errors` has two neighbouring variants and the
/// [`ErrorRule`](crate::ErrorRule)s between them. A row of a revision that needs a cargo feature has that attribute.
#[macro_export]
macro_rules! revisions {
    (
        $type:ident: latest $latest:ident, hub $hub:ident
        revisions { $($(#[$cfg:meta])? $variant:ident = $name:literal: $table:expr, $schema:expr, { $($fact:ident: $value:expr),* $(,)? };)+ }
        needs { $($(#[$needy_cfg:meta])? $needy:ident $needy_methods:pat => $needs:expr;)* }
        tolerances { $($(#[$tolerant_cfg:meta])? $tolerant:ident $tolerant_methods:pat => $tolerances:expr;)* }
        errors { $($(#[$error_cfg:meta])? $error_from:ident $error_to:ident => $error_rules:expr;)* }
    ) => {
        impl $type {
            /// Every revision, the earliest first.
            pub const ALL: [Self; [$($(#[$cfg])? $name),+].len()] = [$($(#[$cfg])? Self::$variant),+];
            /// The latest revision.
            pub const LATEST: Self = Self::$latest;
            /// The revision that handlers are written against.
            pub const HUB: Self = Self::$hub;

            /// The name of the revision in the protocol.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $($(#[$cfg])? Self::$variant => $name,)+
                }
            }

            /// The revision's methods.
            #[must_use]
            pub fn methods(self) -> &'static [$crate::mcp_wire::Method] {
                $crate::ProtocolRevision::declared_methods(self)
            }

            /// The method of the revision with this name.
            #[must_use]
            pub fn method(self, name: &str) -> Option<&'static $crate::mcp_wire::Method> {
                self.methods().iter().find(|method| method.name == name)
            }

            /// The name in this revision of a method of another one. A method that this revision lacks keeps its name.
            #[must_use]
            pub fn name_of_method(self, of: Self, name: &str) -> &str {
                $crate::ProtocolRevision::name_of_method(self, of, name)
            }

            /// The revision's schema.
            #[must_use]
            pub const fn schema(self) -> &'static $crate::mcp_wire::Schema {
                match self {
                    $($(#[$cfg])? Self::$variant => $schema,)+
                }
            }

            /// The properties of the revision.
            #[must_use]
            pub const fn facts(self) -> $crate::Facts {
                match self {
                    $($(#[$cfg])? Self::$variant => $crate::Facts { $($fact: $value,)* ..$crate::Facts::NONE },)+
                }
            }

            /// The capabilities that requests of a method need in addition to the capability of the method. A receiver without
            /// the capability refuses the parameters.
            #[must_use]
            pub fn needs(self, method: &str) -> &'static [$crate::Need] {
                match (self, method) {
                    $($(#[$needy_cfg])? (Self::$needy, $needy_methods) => const { &$needs },)*
                    _ => &[],
                }
            }

            /// The mistakes in results of a method that lenient peers tolerate.
            #[must_use]
            pub fn tolerances(self, method: &str) -> &'static [$crate::Tolerance] {
                match (self, method) {
                    $($(#[$tolerant_cfg])? (Self::$tolerant, $tolerant_methods) => const { &$tolerances },)*
                    _ => &[],
                }
            }

            /// Validates the JSON of a request or notification by the official schema of this revision as corrected by the
            /// overlay.
            ///
            /// A message that is neither, and a method that the revision doesn't declare, are accepted.
            ///
            /// # Errors
            /// The message is invalid, isn't JSON, or has a duplicate member.
            pub fn validate_call(self, json: &[u8]) -> Result<(), $crate::mcp_wire::Invalid> {
                $crate::validate_call(self, json)
            }

            /// Validates the JSON of a result of a method. If the method has several results, the error has the violations
            /// of the one that fits best.
            ///
            /// # Errors
            /// The result is invalid.
            pub fn validate_result(
                self,
                method: &str,
                result: &$crate::mcp_wire::OpenJson,
            ) -> Result<(), $crate::mcp_wire::Invalid> {
                $crate::validate_result(self, method, result)
            }
        }

        impl $crate::ProtocolRevision for $type {
            const REVISIONS: &'static [Self] = &Self::ALL;
            const HUB: Self = Self::HUB;

            fn protocol() -> &'static $crate::Protocol {
                static SOURCES: &[$crate::TableSource] = &[$(
                    $(#[$cfg])?
                    $crate::TableSource { revision: $name, table: $table, schema: $schema },
                )+];
                static PROTOCOL: $crate::Protocol = $crate::Protocol::new(SOURCES);
                &PROTOCOL
            }

            fn name(self) -> &'static str {
                self.as_str()
            }

            fn declared_schema(self) -> &'static $crate::mcp_wire::Schema {
                self.schema()
            }

            fn known_facts(self) -> $crate::Facts {
                self.facts()
            }

            fn error_rules(self, neighbour: Self) -> &'static [$crate::ErrorRule] {
                match (self, neighbour) {
                    $($(#[$error_cfg])? (Self::$error_from, Self::$error_to) => const { &$error_rules },)*
                    _ => &[],
                }
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
