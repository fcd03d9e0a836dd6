//! Items for the other crates of the runtime. They can change in any release: programs shouldn't use them.
//!
//! A [`Relay`] gives the bridge the messages of a session as they are on the wire.

pub use crate::canonical::canonical;
pub use crate::change::changes_in;
pub use crate::client::Reusable;
pub use crate::era::with_era;
pub use crate::error::{internal_error, invalid_params};
pub use crate::expiring_map::ExpiringMap;
pub use crate::message::{params_of, to_json, to_value};
pub use crate::options::{MAX_BATCH, log_losses};
pub use crate::page::{first_page, page, page_range};
pub use crate::rounds::{RoundState, retry_input};
pub use crate::session::{
    ClientInfo, DynConnector, DynTransport, Extending, ExtensionEvents, Handling, Layer, Negotiated, OrderedQueue,
    RawAnswer, RawMessage, Relay, ReservedTicket, Server, ServerInfo, SessionState, Shared, Subscriptions, Ticket,
    connect_by_handshake, connect_with, is_accepted, log_level, missing_capability, not_a_message, object,
    read_tolerantly, set_member, start_server, tolerated, with_extra,
};
