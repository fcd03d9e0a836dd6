//! The types by which peers describe themselves.

/// Implements [`PeerTypes`](crate::PeerTypes) for a type of revisions, with the types of the hub's module.
#[macro_export]
macro_rules! peer_types {
    ($type:ident: $hub_module:ident) => {
        impl $crate::PeerTypes for $type {
            type ClientCapabilities = $hub_module::ClientCapabilities;
            type ServerCapabilities = $hub_module::ServerCapabilities;
            type Implementation = $hub_module::Implementation;

            $crate::peer_types! { @ $hub_module, ClientCapabilities, read_client_capabilities, client_capabilities }
            $crate::peer_types! { @ $hub_module, ServerCapabilities, read_server_capabilities, server_capabilities }
            $crate::peer_types! { @ $hub_module, Implementation, read_implementation, implementation }
        }
    };
    (@ $hub_module:ident, $name:ident, $read:ident, $write:ident) => {
        fn $read(
            self,
            json: &$crate::mcp_wire::RawJson,
        ) -> Result<$crate::FromResult<$hub_module::$name>, $crate::FromPeer> {
            $crate::peers::read_value(self, json)
        }

        fn $write(self, value: $hub_module::$name) -> $crate::Encoded {
            $crate::peers::encode_value(self, &value)
        }
    };
}
