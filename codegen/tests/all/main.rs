//! The tests of the generator, in one test binary: separate binaries would each link it again.

mod adapters;
mod diff;
mod docs;
mod extensions;
mod families;
mod files;
mod golden;
mod ingest;
mod jsonld;
mod load;
mod lock;
mod messages;
mod overlay;
mod reference;
mod release;
mod revisions;
mod runner;
mod shared;
mod structures;
mod typify;
