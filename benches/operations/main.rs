//! `cargo bench --bench operations`: single operations on n live timers, measured by criterion,
//! with its filters, baselines and statistics.
//!
//! Each bench is called `OPERATION/STRUCTURE/N`, as in `insert/list-wheel/1000`. The arguments are
//! criterion's: `-- insert`, `-- --save-baseline before`, `-- --baseline before`.

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion};
use std::cell::OnceCell;
use std::time::Duration;
use wheelhouse_benches::Population;
use wheelhouse_core::backend::Backend;
use wheelhouse_present::console::say;
use wheelhouse_registry::Visitor;

/// Ten short samples are enough: the spread comes from the machine, not from the length of a
/// sample.
fn criterion() -> Criterion {
    Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(150))
        .measurement_time(Duration::from_millis(450))
        .configure_from_args()
}

/// An operation of a population, by name.
type Operation<B> = (&'static str, fn(&mut Population<B>, u64) -> Duration);

fn operations<B: Backend>() -> [Operation<B>; 6] {
    [
        ("insert", Population::insert),
        ("cancel", Population::cancel),
        ("reschedule", Population::reschedule),
        ("fire", Population::fire),
        ("tick", Population::tick),
        ("hold", Population::hold),
    ]
}

struct Benches {
    criterion: Criterion,
    n: u32,
}

impl Visitor for Benches {
    fn visit<B: Backend + 'static>(&mut self) {
        if self.n > B::INFO.max_timers {
            return;
        }
        // Created by the first bench that runs, since a filter may select none.
        let mut population = OnceCell::new();
        for (name, operation) in operations::<B>() {
            let mut group: BenchmarkGroup<'_, WallTime> = self.criterion.benchmark_group(name);
            group.bench_function(BenchmarkId::new(B::INFO.name, self.n), |bencher| {
                population.get_or_init(|| Population::<B>::new(self.n));
                bencher.iter_custom(|iterations| {
                    population
                        .get_mut()
                        .map_or(Duration::ZERO, |population| operation(population, iterations))
                });
            });
            group.finish();
        }
    }
}

/// A size that fits the caches and one that does not.
const SIZES: [u32; 2] = [1_000, 1_000_000];

fn main() {
    end_where_criterion_cannot_print();
    // As in criterion: without `--bench`, which cargo bench passes, this is a test, which runs each
    // bench once.
    let is_test =
        std::env::args().any(|it| it == "--test") || !std::env::args().any(|it| it == "--bench");
    let sizes = if is_test { [100].as_slice() } else { &SIZES };
    let mut benches = Benches { criterion: criterion(), n: 0 };
    for &n in sizes {
        benches.n = n;
        wheelhouse_registry::visit(&mut benches);
    }
    benches.criterion.final_summary();
}

/// criterion prints with `println!`, which panics if standard output cannot be written, and panics
/// again during unwinding. So the program exits at the first panic: with an error, or with success
/// if the reader of a pipe has stopped.
fn end_where_criterion_cannot_print() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let message = panic.payload().downcast_ref::<String>().map_or("", String::as_str);
        match message.strip_prefix("failed printing to stdout: ") {
            None => usual(panic),
            Some(reason) if reason.starts_with("Broken pipe") => std::process::exit(0),
            Some(reason) => {
                say(format_args!("error: cannot write to standard output: {reason}"));
                std::process::exit(1);
            }
        }
    }));
}
