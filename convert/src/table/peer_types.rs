//! The table of the types with which peers describe themselves.

/// Implements [`PeerTypes`](crate::PeerTypes) for an enum of revisions. A row names the module of a revision's types, its
/// lifecycle and its errors.
///
/// The hub comes first. The values of the other revisions are converted by the chain of conversions.
/// A row of a revision that needs a cargo feature has that attribute.
#[macro_export]
macro_rules! peer_types {
    (
        $type:ident: $hub:ident = $hub_module:ident;
        modules { $($(#[$cfg:meta])? $variant:ident = $module:ident;)* }
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

            $crate::peer_types! { @ $hub, $hub_module, ClientCapabilities, read_client_capabilities, client_capabilities, [$($(#[$cfg])? $variant $module)*] }
            $crate::peer_types! { @ $hub, $hub_module, ServerCapabilities, read_server_capabilities, server_capabilities, [$($(#[$cfg])? $variant $module)*] }
            $crate::peer_types! { @ $hub, $hub_module, Implementation, read_implementation, implementation, [$($(#[$cfg])? $variant $module)*] }
        }
    };
    (@ $hub:ident, $hub_module:ident, $name:ident, $read:ident, $write:ident, [$($(#[$cfg:meta])? $variant:ident $module:ident)*]) => {
        fn $read(
            self,
            json: &$crate::mcp_wire::OpenJson,
        ) -> Result<$crate::FromResult<$hub_module::$name>, $crate::FromPeer> {
            match self {
                Self::$hub => $crate::peers::read_same_value(json),
                $($(#[$cfg])? Self::$variant => $crate::peers::read_value::<$module::$name, _, Self>(json),)*
            }
        }

        fn $write(self, value: $hub_module::$name) -> $crate::Encoded {
            match self {
                Self::$hub => $crate::peers::encode_same_result(&value),
                $($(#[$cfg])? Self::$variant => {
                    let conversion = $crate::Conversion::<Self>::new($crate::Policy::Conform);
                    $crate::peers::encode_result::<$module::$name, _, _>(value, conversion)
                })*
            }
        }
    };
}
