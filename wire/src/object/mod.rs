//! Objects, member by member.

mod constant;
mod json;
mod name;
mod read;
mod write;

pub use constant::Constant;
pub use json::encode_object;
pub use name::Name;
pub use read::{Field, Member};
pub use write::{MemberWriter, Object, ObjectWriter, serialize_object};
