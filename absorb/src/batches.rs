//! Runs many seeds in separate processes, because the engine never frees the tables of a revision while its process
//! runs.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs::File;
use std::io::{self, BufRead, BufReader, IsTerminal, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use mcp_absorb::{MadeUp, Outcome, Report, Schemas};

use crate::args::Range;

/// The number of seeds that a process runs.
const SEEDS: u64 = 100;

/// Any error.
pub type Failure = Box<dyn Error + Send + Sync>;

/// Runs seeds in this process.
pub fn run_here(schemas: &Path, range: Range) -> Result<(), Failure> {
    let (schemas, mut out) = (Schemas::new(schemas)?, io::stdout().lock());
    for seed in range.seeds() {
        let made_up = MadeUp::of_seed(&schemas, seed);
        let outcome = made_up.trial(&schemas, "made-up")?.run(&schemas)?;
        serde_json::to_writer(&mut out, &(seed, made_up, outcome))?;
        writeln!(out)?;
    }
    Ok(())
}

/// Runs seeds in several processes at once. Those that the file already contains are skipped, and the others are
/// appended to it.
pub fn run(range: Range, jobs: usize, file: Option<&Path>) -> Result<Report, Failure> {
    let tried = Mutex::new(match file {
        Some(file) => Tried::load(range, file)?,
        None => Tried::default(),
    });
    let next = AtomicU64::new(range.from);
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..jobs).map(|_| scope.spawn(|| work(range, &next, &tried))).collect();
        workers.into_iter().try_for_each(|worker| match worker.join() {
            Ok(done) => done,
            Err(_) => Err("a thread panicked".into()),
        })
    })?;
    let mut report = Report::default();
    for (seed, (made_up, outcome)) in tried.into_inner()?.seeds {
        report.add(seed, made_up, outcome);
    }
    Ok(report)
}

/// The outcomes of the seeds, and the file that keeps them: the lines that the processes print.
#[derive(Default)]
struct Tried {
    seeds: BTreeMap<u64, (MadeUp, Outcome)>,
    file: Option<File>,
}

impl Tried {
    fn load(range: Range, path: &Path) -> Result<Self, Failure> {
        let failed = |error: io::Error| format!("{}: {error}", path.display());
        let file = File::options().create(true).read(true).append(true).open(path);
        let file = file.map_err(failed)?;
        let mut seeds = BTreeMap::new();
        for (index, line) in BufReader::new(&file).lines().enumerate() {
            let (seed, made_up, outcome): (u64, _, _) = serde_json::from_str(&line.map_err(failed)?)
                .map_err(|error| format!("{}:{}: {error}; remove this line", path.display(), index + 1))?;
            if range.seeds().contains(&seed) {
                seeds.insert(seed, (made_up, outcome));
            }
        }
        Ok(Self {
            seeds,
            file: Some(file),
        })
    }

    fn add(&mut self, line: &str) -> Result<(), Failure> {
        let (seed, made_up, outcome) = serde_json::from_str(line)?;
        self.seeds.insert(seed, (made_up, outcome));
        if let Some(file) = &mut self.file {
            file.write_all(format!("{line}\n").as_bytes())?;
        }
        Ok(())
    }
}

fn work(range: Range, next: &AtomicU64, tried: &Mutex<Tried>) -> Result<(), Failure> {
    let tried = || tried.lock().map_err(|_| "a thread panicked");
    loop {
        let from = next.fetch_add(SEEDS, Ordering::Relaxed);
        if from >= range.to {
            return Ok(());
        }
        let to = range.to.min(from + SEEDS);
        // A process runs its seeds in order, so the missing ones are at the end.
        let Some(from) = (from..to).find(|seed| !tried().is_ok_and(|tried| tried.seeds.contains_key(seed))) else {
            continue;
        };
        let mut child = Command::new(std::env::current_exe()?)
            .arg(format!("--batch={from}..{to}"))
            .stdout(Stdio::piped())
            .spawn()?;
        let lines = child.stdout.take().map(BufReader::new);
        for line in lines.into_iter().flat_map(BufRead::lines) {
            let mut tried = tried()?;
            tried.add(&line?)?;
            if io::stderr().is_terminal() {
                eprint!("\r{} of {} seeds", tried.seeds.len(), range.to - range.from);
            }
        }
        if !child.wait()?.success() {
            return Err(format!("seeds {from}..{to} weren't all tested").into());
        }
    }
}
