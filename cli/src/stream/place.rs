//! Positions in the input.

use serde::Serialize;

/// A position in the input. Lines and columns count from 1, columns in characters, and bytes from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Place {
    pub line: u64,
    pub column: u64,
    pub byte: u64,
}

impl Place {
    pub const START: Self = Self {
        line: 1,
        column: 1,
        byte: 0,
    };

    /// Moves past a byte.
    pub fn advance(&mut self, byte: u8) {
        self.byte += 1;
        if byte == b'\n' {
            self.line += 1;
            self.column = 1;
        } else if !is_continuation(byte) {
            self.column += 1;
        }
    }
}

/// Whether a byte of UTF-8 is not the first of its character.
fn is_continuation(byte: u8) -> bool {
    byte & 0b1100_0000 == 0b1000_0000
}
