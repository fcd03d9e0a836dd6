//! Our own picture of a revision: its types, its messages, and every Rust name.

mod assign_roles;
mod build;
mod capabilities;
mod check_facts;
mod check_messages;
mod cycles;
mod decide;
mod declares;
mod extension;
mod fields;
mod in_results;
mod lifecycle;
mod lock;
mod messages;
mod method;
pub mod modules;
pub mod names;
mod one_or_many;
mod own_messages;
mod presets;
mod results;
mod revisions;
mod roles;
mod schema;
mod shared;
mod tolerances;
mod type_ref;
mod type_schema;
mod types;

pub use self::decide::{Case, Decision};
pub use self::extension::{AddedResult, ModelledExtension};
pub use self::lifecycle::{Lifecycle, Members, OwnMessage, Presets};
pub(crate) use self::lock::names_yaml;
pub(crate) use self::messages::is_message_union;
pub use self::method::{MessageKind, Method, Need, Tolerance};
pub use self::names::Names;
pub use self::one_or_many::OneOrMany;
pub use self::results::result_variants;
pub(crate) use self::revisions::build_extensions;
pub use self::revisions::{ModelledRevision, build_models, check_shared};
pub use self::roles::{is_internal, is_of_member};
pub(crate) use self::shared::Shared;
pub use self::type_ref::TypeRef;
pub use self::type_schema::{MemberSchema, TypeSchema};
pub use self::types::{
    ConstantMember, Defect, Definition, ErrorCode, Member, Model, Struct, Type, TypeKind, Union, Variant,
};
