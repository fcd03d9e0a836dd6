//! The turns of a measured client: what `clients` asks for on its standard input, and how it answers.

use std::fmt::{self, Display};
use std::io::Write;
use std::str::FromStr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use tokio::task::JoinSet;

/// A turn of a client: the calls that it makes, and for how long.
#[derive(Debug, Clone, Copy)]
pub struct Turn {
    /// The length.
    pub length: Duration,
    /// The number of calls in flight.
    pub window: usize,
    /// The size of the text that the tool returns.
    pub bytes: usize,
}

impl Display for Turn {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {} {}", self.length.as_millis(), self.window, self.bytes)
    }
}

impl FromStr for Turn {
    type Err = anyhow::Error;

    fn from_str(line: &str) -> Result<Self> {
        let mut numbers = line.split(' ').map(str::parse);
        let mut next = || numbers.next().context("expected three numbers");
        Ok(Self {
            length: Duration::from_millis(next()??),
            window: usize::try_from(next()??)?,
            bytes: usize::try_from(next()??)?,
        })
    }
}

impl Turn {
    /// Takes the turns on standard input, a line each, and prints the number of calls of each. `take` gets the number of
    /// calls in flight, the text, and the end of the turn.
    ///
    /// # Errors
    /// If a line isn't a turn, or its calls fail.
    pub async fn take_all<F: AsyncFnMut(usize, String, Instant) -> Result<u64>>(mut take: F) -> Result<()> {
        // This may block, since nothing else runs between turns.
        for line in std::io::stdin().lines() {
            let turn: Self = line?.parse()?;
            let end = Instant::now() + turn.length;
            let calls = take(turn.window, "x".repeat(turn.bytes), end).await?;
            println!("{calls}");
            std::io::stdout().flush()?;
        }
        Ok(())
    }

    /// Takes the turns with a task for each call in flight, which repeats `call`.
    ///
    /// # Errors
    /// Those of [`Self::take_all`].
    pub async fn take_all_by_tasks<C, F>(call: C) -> Result<()>
    where
        C: Fn(Arc<str>) -> F + Clone + Send + 'static,
        F: Future<Output = Result<()>> + Send,
    {
        Self::take_all(async |window, text, end| {
            let text: Arc<str> = text.into();
            let mut callers = JoinSet::new();
            for _ in 0..window {
                let (call, text) = (call.clone(), Arc::clone(&text));
                callers.spawn(async move {
                    let mut calls = 0;
                    while Instant::now() < end {
                        call(Arc::clone(&text)).await?;
                        calls += 1;
                    }
                    anyhow::Ok(calls)
                });
            }
            callers.join_all().await.into_iter().sum()
        })
        .await
    }
}
