//! `cargo bench --bench durable`: durable timers on their stores, beside the store in memory and
//! beside what the same databases do bare.
//!
//! Each has n jobs pending. In interleaved rounds, jobs are scheduled, refreshed, cancelled and run
//! through `Durable`, as a program does: by one producer that waits for each, by 64 of which each
//! waits for its own, and by one that does not wait. Then the store as such is given batches, and
//! is opened anew. Every answer is checked, and the number of jobs at the end of each round.
//!
//! The floor is what a program would write that knows in advance what is asked of it: no answers,
//! no leases, no attempts, no kinds, one table or one sorted set. It does not compete.

mod contender;
mod desk;
mod floor;
mod play;
mod subject;
mod targets;

use anyhow::{Context, Result};
use clap::Parser;
use contender::{Contender, contenders};
use play::{COLUMNS, Figures, Play};
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use wheelhouse_machine::provenance::{self, Provenance};
use wheelhouse_present::console::{end, print, say};
use wheelhouse_present::document::{Block, Document};
use wheelhouse_present::files::{self, create_at, write_whole};
use wheelhouse_present::stats::median;
use wheelhouse_present::table::{Cell, Column, Format, Table};
use wheelhouse_present::{markdown, units};

/// Durable timers on their stores, beside the store in memory and bare databases.
#[derive(Debug, Parser)]
#[command(
    bin_name = "cargo bench --bench durable --",
    after_help = concat!(
        "Examples:\n",
        "  cargo bench --bench durable -- --store sqlite,bare-sqlite --jobs 1000000"
    )
)]
struct Bench {
    /// Jobs that are pending meanwhile.
    #[arg(long, default_value_t = 10_000)]
    jobs: u64,
    /// Only these, by name: memory, sqlite, bare-sqlite, redis, bare-redis, postgres.
    #[arg(long, value_delimiter = ',')]
    store: Vec<String>,
    /// Seconds for each figure of a round.
    #[arg(long, default_value_t = 0.3)]
    seconds: f64,
    /// Rounds; figures are medians.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Changes in a batch.
    #[arg(long, default_value_t = 512)]
    batch: usize,
    /// `appendfsync` of the Redis: everysec, always or no.
    #[arg(long, default_value = "everysec")]
    appendfsync: String,
    /// In which form the table is printed.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// A new folder for the report, and for the figures as JSON.
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Play everything once and very short, to see that it works.
    #[arg(long)]
    test: bool,
    /// What cargo bench says.
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> ExitCode {
    end(Bench::parse().run())
}

impl Bench {
    fn run(mut self) -> Result<ExitCode> {
        // Without cargo bench's `--bench`, this is `cargo test --benches`.
        if self.test || !self.bench {
            (self.jobs, self.seconds, self.rounds, self.batch) = (200, 0.01, 1, 16);
        }
        let here = files::where_cargo_was_called();
        let out = self.out.as_ref().map(|out| create_at(&here.join(out))).transpose()?;
        let all = contenders(&self.store, &self.appendfsync)?;
        let provenance = provenance::gather(0);
        let play = Play { jobs: self.jobs, seconds: self.seconds, batch: self.batch };
        for contender in &all {
            say(format!("{}: loading {} jobs", contender.name, units::count(self.jobs)));
            contender.load(&play)?;
        }
        let mut rounds: Vec<Vec<Figures>> = all.iter().map(|_| Vec::new()).collect();
        for round in 1..=self.rounds {
            for (contender, figures) in all.iter().zip(&mut rounds) {
                say(format!("round {round} of {}: {}", self.rounds, contender.name));
                figures.push(contender.play(&play)?);
            }
        }
        let medians: Vec<Figures> = rounds.iter().map(|its| medians(its)).collect();
        let table = self.table(&all, &medians);
        let asked = targets::table(|row, column| {
            let at = all.iter().position(|contender| contender.name == row)?;
            Some(medians[at][column])
        });
        print(table.render(self.format)?)?;
        if self.format == Format::Table && self.bench && !self.test {
            print(asked.terminal())?;
        }
        if let Some(out) = out {
            self.write(&out, &provenance, &table, asked)?;
        }
        Ok(ExitCode::SUCCESS)
    }

    fn table(&self, all: &[Contender], medians: &[Figures]) -> Table {
        let heads = COLUMNS.into_iter().map(Column::right);
        let columns = std::iter::once(Column::left("store")).chain(heads).collect();
        let title = format!("Operations a second with {} jobs pending", units::count(self.jobs));
        let mut table = Table::new(title, columns);
        for (contender, figures) in all.iter().zip(medians) {
            let mut row = vec![Cell::text(contender.name)];
            for (name, value) in COLUMNS.into_iter().zip(*figures) {
                row.push(if name.ends_with("ms") {
                    Cell::figure(value, format!("{value:.2}"))
                } else {
                    Cell::figure(value, units::count(value.round() as u64))
                });
            }
            table.rows.push(row);
        }
        table.notes = vec![
            format!("Medians of {} rounds of {} s each.", self.rounds, self.seconds),
            format!(
                "one: a producer that waits for each; 64: as many, each waits for its own, and p99 \
                 of that; flow: one that does not wait. fire, run, ack: from the start of a \
                 program until all that is due has run. batch: the store as such, {} at a time; \
                 fire there is claimed and acknowledged. open: the store, and what is due.",
                self.batch
            ),
            format!("Redis: appendfsync {}.", self.appendfsync),
            peak_memory(),
        ];
        table
    }

    fn write(&self, out: &Path, from: &Provenance, table: &Table, asked: Table) -> Result<()> {
        let rows = json!({
            "provenance": serde_json::to_value(from).context("where the figures come from")?,
            "jobs": self.jobs,
            "rounds": self.rounds,
            "seconds": self.seconds,
            "batch": self.batch,
            "rows": table.json(),
        });
        let rows = serde_json::to_string_pretty(&rows).context("the figures as JSON")? + "\n";
        write_whole(&out.join("rows.json"), rows.as_bytes())?;
        let page = markdown::render(&Document {
            title: "Durable timers on their stores".to_owned(),
            subtitle: format!("{}, `{}`", provenance::line(from), from.command),
            blocks: vec![Block::Table(table.clone()), Block::Table(asked)],
        });
        write_whole(&out.join("report.md"), page.as_bytes())
    }
}

/// Of all rounds.
fn medians(rounds: &[Figures]) -> Figures {
    std::array::from_fn(|column| {
        let values: Vec<f64> = rounds.iter().map(|figures| figures[column]).collect();
        median(&values).unwrap_or(f64::NAN)
    })
}

/// What this process has held at most, of all rows together.
fn peak_memory() -> String {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    provenance::kilobytes(&status, "VmHWM").map_or_else(String::new, |peak| {
        format!("This process, which has all rows but the servers, took {}.", units::bytes(peak))
    })
}
