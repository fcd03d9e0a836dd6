//! The table of the types with which peers describe themselves.

/// Implements [`PeerTypes`](crate::PeerTypes) for an enum of revisions. The table names the module of the hub's types, and has the
/// lifecycle and the errors of each revision.
///
/// A row of a revision that needs a cargo feature has that attribute.
#[macro_export]
macro_rules! peer_types {
    (
        $type:ident: $hub_module:ident;
        lifecycle { $($(#[$named_cfg:meta])? $named:ident { $($name:ident: $value:expr),* $(,)? })* }
        errors { $($(#[$failing_cfg:meta])? $failing:ident => $errors:expr;)* }
    ) => {
        impl $crate::PeerTypes for $type {
            type ClientCapabilities = $hub_module::ClientCapabilities;
            type ServerCapabilities = $hub_module::ServerCapabilities;
            type Implementation = $hub_module::Implementation;

            fn lifecycle(self) -> &'static $crate::Lifecycle {
                match self {
                    $($(#[$named_cfg])? Self::$named => const { &$crate::Lifecycle { $($name: $value,)* ..$crate::Lifecycle::NONE } },)*
                }
            }

            fn known_errors(self) -> &'static [$crate::KnownError] {
                match self {
                    $($(#[$failing_cfg])? Self::$failing => const { &$errors },)*
                    #[allow(unreachable_patterns, reason = "every revision may have errors")]
                    _ => &[],
                }
            }

            $crate::peer_types! { @ $hub_module, ClientCapabilities, read_client_capabilities, client_capabilities }
            $crate::peer_types! { @ $hub_module, ServerCapabilities, read_server_capabilities, server_capabilities }
            $crate::peer_types! { @ $hub_module, Implementation, read_implementation, implementation }
        }
    };
    (@ $hub_module:ident, $name:ident, $read:ident, $write:ident) => {
        fn $read(
            self,
            json: &$crate::mcp_wire::OpenJson,
        ) -> Result<$crate::FromResult<$hub_module::$name>, $crate::FromPeer> {
            $crate::peers::read_value(self, stringify!($name), json)
        }

        fn $write(self, value: $hub_module::$name) -> $crate::Encoded {
            $crate::peers::encode_value(self, stringify!($name), &value)
        }
    };
}
