//! Prints how often each library allocates. It is a separate program, because counting costs time.

use std::alloc::System;

use mcp_bench_cases::{Failure, programs};
use mcp_bench_rust_mcp_schema::rows;
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

#[global_allocator]
static COUNTED: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

fn main() -> Result<(), Failure> {
    programs::allocations(&rows(), COUNTED)
}
