//! Many seeds, in processes of their own: the engine keeps the tables of each revision as long as its process runs.

use std::error::Error;
use std::io::{BufRead, BufReader, IsTerminal, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use mcp_absorb::{MadeUp, Outcome, Report};

use crate::args::Range;

/// How many seeds a process tries.
const SEEDS: u64 = 100;

/// Any error.
pub type Failure = Box<dyn Error + Send + Sync>;

/// Tries seeds in this process.
pub fn run_here(schemas: &Path, range: Range) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    for seed in range.seeds() {
        let made_up = MadeUp::of_seed(schemas, seed)?;
        let outcome = made_up.trial(schemas, "made-up")?.run(schemas)?;
        serde_json::to_writer(&mut out, &(seed, made_up, outcome))?;
        writeln!(out)?;
    }
    Ok(())
}

/// Tries seeds in several processes at once.
pub fn run(range: Range, jobs: usize) -> Result<Report, Failure> {
    let (next, tried) = (AtomicU64::new(range.from), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..jobs).map(|_| scope.spawn(|| work(range, &next, &tried))).collect();
        workers.into_iter().try_for_each(|worker| match worker.join() {
            Ok(done) => done,
            Err(_) => Err("a thread panicked".into()),
        })
    })?;
    let mut tried: Vec<(u64, MadeUp, Outcome)> = tried.into_inner()?;
    tried.sort_by_key(|(seed, ..)| *seed);
    let mut report = Report::default();
    for (seed, made_up, outcome) in tried {
        report.add(seed, made_up, outcome);
    }
    Ok(report)
}

fn work(range: Range, next: &AtomicU64, tried: &Mutex<Vec<(u64, MadeUp, Outcome)>>) -> Result<(), Failure> {
    loop {
        let from = next.fetch_add(SEEDS, Ordering::Relaxed);
        if from >= range.to {
            return Ok(());
        }
        let to = range.to.min(from + SEEDS);
        let mut child = Command::new(std::env::current_exe()?)
            .arg(format!("--batch={from}..{to}"))
            .stdout(Stdio::piped())
            .spawn()?;
        for line in child
            .stdout
            .take()
            .map(BufReader::new)
            .into_iter()
            .flat_map(BufRead::lines)
        {
            let row = serde_json::from_str(&line?)?;
            let mut tried = tried.lock().map_err(|_| "a thread panicked")?;
            tried.push(row);
            if std::io::stderr().is_terminal() {
                eprint!("\r{} of {} seeds", tried.len(), range.to - range.from);
            }
        }
        if !child.wait()?.success() {
            return Err(format!("seeds {from}..{to} weren't tried to the end").into());
        }
    }
}
