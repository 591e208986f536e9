//! The criterion benches: one operation at a time on n live timers.

use crate::options::Options;
use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion};
use std::cell::OnceCell;
use std::time::Duration;
use wheelhouse_benches::Population;
use wheelhouse_core::backend::Backend;
use wheelhouse_harness::model::FLOOR;
use wheelhouse_oracle::OracleDefinition;
use wheelhouse_registry::Visitor;

/// A few operations in a sample are enough at ten samples: the spread is the machine's, not the sample's.
fn criterion(options: &Options) -> Criterion {
    let (warm_up, measurement) = if options.quick { (50, 150) } else { (150, 450) };
    Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(warm_up))
        .measurement_time(Duration::from_millis(measurement))
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
        if self.n > B::INFO.most {
            return;
        }
        // Made when the first bench asks for it: a filter may leave none.
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

/// Runs the benches at a size that fits the caches and at one that does not.
pub(crate) fn run(options: &Options) {
    let sizes: &[u32] = match (options.test, options.quick) {
        (true, _) => &[100],
        (_, true) => &[1_000, 100_000],
        _ => &[1_000, 1_000_000],
    };
    let mut benches = Benches { criterion: criterion(options), n: 0 };
    for &n in sizes {
        benches.n = n;
        wheelhouse_registry::visit(&mut benches);
    }
    benches.criterion.final_summary();
}

/// The names of operations and backends, of which those of the benches are made.
pub(crate) fn names() -> Vec<&'static str> {
    let operations = operations::<OracleDefinition>().map(|(name, _)| name);
    let backends = wheelhouse_registry::all();
    operations.into_iter().chain(backends.iter().map(|info| info.name)).chain([FLOOR]).collect()
}

/// Whether a filter has to do with any of them: it is part of one, or one is part of it. (To criterion it is a regular expression.)
pub(crate) fn is_known(filter: &str) -> bool {
    names().iter().any(|name| name.contains(filter) || filter.contains(name))
}
