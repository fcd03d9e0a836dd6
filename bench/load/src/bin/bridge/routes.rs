//! Latency and CPU time of calls, with the bridge or another gateway between client and server, and without.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use mcp_load::{Cell, Gateway, Http, Lines, Program, Usage, Writer, call, initialize, initialized, median};
use reqwest::Client;
use tokio::process::{Child, ChildStdin};

use crate::{Args, REVISION};

const DIRECT: &str = "no gateway";
const OURS: &str = "mcp-rev bridge";
/// The number of calls in flight in cases with several.
const WINDOW: usize = 16;

/// A client, its server and a gateway if there is one, and the measurements of its calls.
struct Route {
    row: &'static str,
    column: String,
    window: usize,
    session: Session,
    /// The process whose CPU time is measured.
    process: Child,
    /// A server and its standard input: the server ends when they are dropped.
    _behind: Behind,
    latencies: Vec<Duration>,
    cpu: Duration,
}

type Behind = (Option<Child>, Option<ChildStdin>);

enum Session {
    Lines(Writer, Lines),
    Http(Http),
}

/// Measures all routes in turns.
pub async fn measure(args: &Args) -> Result<Vec<Cell>> {
    let mut routes = routes(args).await?;
    for turn in 0..=args.turns {
        for route in &mut routes {
            let before = Usage::of(&route.process)?.cpu;
            let end = Instant::now() + Duration::from_secs_f64(args.seconds);
            let latencies = route.session.turn(route.window, end).await;
            let latencies = latencies.with_context(|| format!("{}, {}", route.row, route.column))?;
            // The first turn is a warm-up.
            if turn > 0 {
                route.cpu += Usage::of(&route.process)?.cpu.saturating_sub(before);
                route.latencies.extend(latencies);
            }
        }
    }
    let mut cells = Vec::new();
    for route in &routes {
        cells.push(Cell::new(
            "latency, median, ms",
            &route.name(),
            &route.column,
            route.median(),
        ));
    }
    for route in routes.iter().filter(|route| route.column == OURS && route.window == 1) {
        let direct = routes
            .iter()
            .find(|other| other.row == route.row && other.column == DIRECT);
        let added = route.median() - direct.context("nothing to compare with")?.median();
        cells.push(Cell::new(
            "latency that the bridge adds, median, ms",
            &route.name(),
            OURS,
            added,
        ));
    }
    for route in routes.iter().filter(|route| route.column != DIRECT) {
        let cpu = route.cpu.as_secs_f64() * 1e6 / route.latencies.len() as f64;
        cells.push(Cell::new("CPU time a call, µs", &route.name(), &route.column, cpu));
    }
    Ok(cells)
}

/// Starts all routes. The processes of a route run until it is dropped.
async fn routes(args: &Args) -> Result<Vec<Route>> {
    let server = args.server.display().to_string();
    let program: Program = format!("server={server}").parse().map_err(anyhow::Error::msg)?;
    let mut routes = Vec::new();

    let row = "HTTP → stdio";
    let (child, writer, lines) = program.lines("stdio")?;
    let session = Session::over_lines(writer, lines).await?;
    routes.push(Route::new((row, DIRECT), 1, session, child, (None, None)));
    let mut gateways = vec![(OURS, args.bridge_to_lines())];
    for (name, command) in &args.gateways {
        let word = |word: &str| match word {
            "{server}" => format!("{server} stdio"),
            "{program}" => server.clone(),
            word => word.to_owned(),
        };
        gateways.push((name, command.split(' ').map(word).collect()));
    }
    for window in [1, WINDOW] {
        for (name, command) in &gateways {
            let gateway = Gateway::start(command).await?;
            let session = Session::over_http(gateway.url).await;
            let session = session.with_context(|| (*name).to_owned())?;
            routes.push(Route::new((row, name), window, session, gateway.child, (None, None)));
        }
    }

    for row in ["stdio → HTTP", "HTTP → HTTP"] {
        let (behind, input, url) = program.http("http").await?;
        let session = Session::over_http(url).await?;
        routes.push(Route::new((row, DIRECT), 1, session, behind, (None, Some(input))));
        let (behind, input, url) = program.http("http").await?;
        let (process, session) = if row == "HTTP → HTTP" {
            let gateway = Gateway::start(&args.bridge_to_http(&url)).await?;
            (gateway.child, Session::over_http(gateway.url).await?)
        } else {
            let bridge = format!("bridge={} bridge --to", args.bridge.display());
            let bridge: Program = bridge.parse().map_err(anyhow::Error::msg)?;
            let (process, writer, lines) = bridge.lines(&url)?;
            (process, Session::over_lines(writer, lines).await?)
        };
        routes.push(Route::new(
            (row, OURS),
            1,
            session,
            process,
            (Some(behind), Some(input)),
        ));
    }
    Ok(routes)
}

impl Route {
    fn new(
        (row, column): (&'static str, &str),
        window: usize,
        session: Session,
        process: Child,
        behind: Behind,
    ) -> Self {
        Self {
            row,
            column: column.to_owned(),
            window,
            session,
            process,
            _behind: behind,
            latencies: Vec::new(),
            cpu: Duration::ZERO,
        }
    }

    fn name(&self) -> String {
        format!("{}, {} in flight", self.row, self.window)
    }

    /// Returns the median of the latencies, in milliseconds.
    fn median(&self) -> f64 {
        median(&self.latencies)
    }
}

impl Session {
    async fn over_lines(mut writer: Writer, mut lines: Lines) -> Result<Self> {
        writer.line(&initialize(REVISION)).await?;
        lines.answer(0, Duration::from_secs(30)).await?;
        writer.line(&initialized()).await?;
        Ok(Self::Lines(writer, lines))
    }

    async fn over_http(url: String) -> Result<Self> {
        Ok(Self::Http(Http::begin(Client::new(), url, REVISION).await?))
    }

    /// Calls until the end of a turn, and returns the latency of each call. Only over HTTP, several calls can be in
    /// flight.
    async fn turn(&mut self, window: usize, end: Instant) -> Result<Vec<Duration>> {
        let text = "x".repeat(100);
        let mut latencies = Vec::new();
        match self {
            Self::Lines(writer, lines) => {
                for id in 1.. {
                    let begun = Instant::now();
                    if begun >= end {
                        break;
                    }
                    writer.line(&call(id, "echo", &text)).await?;
                    let answer = lines.next().await?.context("the server has ended")?;
                    latencies.push(begun.elapsed());
                    check(&answer, &text)?;
                }
            }
            Self::Http(http) => {
                let request = {
                    let text = text.clone();
                    move |id| call(id, "echo", &text)
                };
                latencies = http
                    .repeat(window as u64, end, request, move |answer| check(answer, &text))
                    .await?;
            }
        }
        Ok(latencies)
    }
}

/// Checks that the response to a call has its text.
pub fn check(answer: &str, text: &str) -> Result<()> {
    let is_echo = answer.contains(text) && !answer.contains("\"error\"");
    ensure!(is_echo, "not an echo: {}", answer.chars().take(300).collect::<String>());
    Ok(())
}
