//! The table of revisions.

/// Implements what an enum of revisions needs: [`ProtocolRevision`](crate::ProtocolRevision), functions that say what is
/// known of each revision, `Display`, `FromStr` and `serde`'s traits.
///
/// A row has the variant, the name, the module of the revision's types, and the [`Facts`](crate::Facts) that aren't as in
/// [`Facts::NONE`](crate::Facts::NONE). Where requests need capabilities for what they say, and where departures are
/// tolerated, a row names the variant, the methods, and what there is for each of them. Where codes of errors change between
/// neighbours, a row names both variants and the rules. A row of a revision that needs a cargo feature has that attribute.
#[macro_export]
macro_rules! revisions {
    (
        $type:ident: latest $latest:ident, hub $hub:ident
        revisions { $($(#[$cfg:meta])? $variant:ident = $name:literal: $module:ident { $($fact:ident: $value:expr),* $(,)? };)+ }
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

            /// The revision as peers name it.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $($(#[$cfg])? Self::$variant => $name,)+
                }
            }

            /// The revision's methods.
            #[must_use]
            pub const fn methods(self) -> &'static [$crate::mcp_wire::Method] {
                match self {
                    $($(#[$cfg])? Self::$variant => $module::METHODS,)+
                }
            }

            /// The revision's own method of this name.
            #[must_use]
            pub fn method(self, name: &str) -> Option<&'static $crate::mcp_wire::Method> {
                self.methods().iter().find(|method| method.name == name)
            }

            /// The revision's schema.
            #[must_use]
            pub const fn schema(self) -> &'static $crate::mcp_wire::Schema {
                match self {
                    $($(#[$cfg])? Self::$variant => &$module::SCHEMA,)+
                }
            }

            /// The definitions of the revision's schema, by name.
            #[cfg(feature = "definitions")]
            #[must_use]
            pub const fn definitions(self) -> &'static [$crate::mcp_wire::Definition] {
                match self {
                    $($(#[$cfg])? Self::$variant => $module::definitions::DEFINITIONS,)+
                }
            }

            /// What is true of the revision as a whole.
            #[must_use]
            pub const fn facts(self) -> $crate::Facts {
                match self {
                    $($(#[$cfg])? Self::$variant => $crate::Facts { $($fact: $value,)* ..$crate::Facts::NONE },)+
                }
            }

            /// What requests of a method need beyond the capability that the method itself needs. A receiver that doesn't
            /// offer it refuses the parameters.
            #[must_use]
            pub fn needs(self, method: &str) -> &'static [$crate::Need] {
                match (self, method) {
                    $($(#[$needy_cfg])? (Self::$needy, $needy_methods) => const { &$needs },)*
                    _ => &[],
                }
            }

            /// What is tolerated in results of a method. Whoever reads strictly refuses them.
            #[must_use]
            pub fn tolerances(self, method: &str) -> &'static [$crate::Tolerance] {
                match (self, method) {
                    $($(#[$tolerant_cfg])? (Self::$tolerant, $tolerant_methods) => const { &$tolerances },)*
                    _ => &[],
                }
            }

            /// Validates a request or notification, as it came, by the official schema of this revision as corrected by the
            /// overlay.
            ///
            /// What can't be validated passes: a JSON value that isn't a call, and methods that the revision doesn't declare.
            ///
            /// # Errors
            /// When it departs from the schema, isn't JSON, or has a member twice.
            pub fn validate_call(self, json: &[u8]) -> Result<(), $crate::mcp_wire::Invalid> {
                $crate::validate_call(self, json)
            }

            /// Validates a result of a method, as it came, in the same way. Where there are several forms, what is reported
            /// is what speaks against the one that comes closest.
            ///
            /// # Errors
            /// When it departs from the schema.
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

            fn name(self) -> &'static str {
                self.as_str()
            }

            fn declared_methods(self) -> &'static [$crate::mcp_wire::Method] {
                self.methods()
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
