//! The errors of documents without usable definitions.

/// The reason why no instances can be made from a document.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The document has neither `definitions` nor `$defs`.
    #[error("the document has neither `definitions` nor `$defs` with an entry; there is nothing to make instances of")]
    Empty,
    /// Two definitions have the same name, which would be ambiguous.
    #[error("`{name}` is defined both at {first} and at {second}; rename one of them")]
    Ambiguous {
        /// The name they share.
        name: String,
        /// The pointer of the one found first.
        first: String,
        /// The pointer of the other.
        second: String,
    },
    /// A `$ref` isn't of the form `#` or `#/…`, or its target doesn't exist.
    #[error("`$ref`: \"{reference}\" does not point into the document; bundle the document first")]
    Reference {
        /// The reference as written.
        reference: String,
    },
    /// The validator refuses the schema.
    #[error("the validator refuses {pointer}: {reason}")]
    Schema {
        /// The pointer of the refused schema.
        pointer: String,
        /// The validator's message.
        reason: String,
    },
}
