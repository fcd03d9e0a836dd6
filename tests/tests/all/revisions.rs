//! Short names of the revisions.

use mcp_adapters::Revision;

pub(crate) const V2024_11_05: Revision = Revision::V2024_11_05;
pub(crate) const V2025_03_26: Revision = Revision::V2025_03_26;
pub(crate) const V2025_06_18: Revision = Revision::V2025_06_18;
pub(crate) const V2025_11_25: Revision = Revision::V2025_11_25;
pub(crate) const V2026_07_28: Revision = Revision::V2026_07_28;
