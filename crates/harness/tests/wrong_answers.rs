//! A backend that answers wrongly gets a failure instead of figures. Other backends are unaffected.

use std::time::Duration;
use wheelhouse_core::backend::{Backend, Info};
use wheelhouse_core::meter::Meter;
use wheelhouse_core::{Expired, Tick, Timer, TimerId};
use wheelhouse_harness::bench::{self, Settings};
use wheelhouse_harness::contender::{self, contender};
use wheelhouse_harness::source::StreamSource;
use wheelhouse_harness::{store, verify};
use wheelhouse_machine::interrupt;

/// The oracle, except that a rescheduled timer stays where it is.
struct Forgetful;

struct Faulty<T, M>(wheelhouse_oracle::Oracle<T>, std::marker::PhantomData<M>);

impl Backend for Forgetful {
    const INFO: Info = Info {
        name: "forgetful",
        structure: "an ordered map that does not reschedule",
        ..wheelhouse_oracle::OracleDefinition::INFO
    };

    type Timer<T, M: Meter> = Faulty<T, M>;

    fn build<T, M: Meter + Default>() -> Faulty<T, M> {
        Faulty(wheelhouse_oracle::Oracle::new(), std::marker::PhantomData)
    }

    fn meter<T, M: Meter>(_: &Faulty<T, M>) -> Option<&M> {
        None
    }
}

impl<T, M> Timer<T> for Faulty<T, M> {
    fn now(&self) -> Tick {
        self.0.now()
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn insert(&mut self, deadline: Tick, value: T) -> TimerId {
        self.0.insert(deadline, value)
    }

    fn cancel(&mut self, id: TimerId) -> Option<T> {
        self.0.cancel(id)
    }

    fn reschedule(&mut self, id: TimerId, _: Tick) -> bool {
        self.0.deadline(id).is_some()
    }

    fn deadline(&self, id: TimerId) -> Option<Tick> {
        self.0.deadline(id)
    }

    fn next_wakeup(&self) -> Option<Tick> {
        self.0.next_wakeup()
    }

    fn pop_expired(&mut self, now: Tick) -> Option<Expired<T>> {
        self.0.pop_expired(now)
    }

    fn advance(&mut self, now: Tick, on_expiry: impl FnMut(Expired<T>)) -> usize {
        self.0.advance(now, on_expiry)
    }
}

fn settings() -> Settings {
    let mut contenders = contender::select(&["binary-heap".to_owned()]).unwrap();
    contenders.push(contender::<Forgetful>());
    Settings {
        sizes: vec![200],
        contenders,
        sources: vec![StreamSource::find("uniform").unwrap()],
        seed: 1,
        seeds: 1,
        time: Duration::ZERO,
        limit: None,
        details: true,
    }
}

#[test]
fn wrong_answers_are_named_and_not_timed() {
    let settings = settings();
    let verified = verify::verify(&settings.sources, &settings.contenders, 200, 1).unwrap();
    assert_eq!(verified.failures.len(), 1);
    assert_eq!(verified.failures[0].backend, "forgetful");
    assert!(verified.failures[0].message.contains("fire-jump"), "{}", verified.failures[0].message);

    let dir = std::env::temp_dir().join(format!("wheelhouse-wrong-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let (run, _) = bench::run(&settings, &dir).unwrap();
    assert_eq!(run.failures, verified.failures);
    assert!(
        run.throughput.iter().all(|row| row.backend == "binary-heap" && row.ns_per_op.len() >= 3)
    );
    assert_eq!(run.throughput.len(), 6);

    // Ctrl-C before the first measurement: the file is complete and marked as interrupted, without
    // partial rows.
    interrupt::request_for_test(true);
    let (run, _) = bench::run(&settings, &dir).unwrap();
    interrupt::request_for_test(false);
    assert!(run.interrupted && run.throughput.is_empty());
    assert!(store::load(&dir).unwrap().interrupted);
    std::fs::remove_dir_all(&dir).unwrap();
    assert!(wheelhouse_registry::all().iter().all(|info| info.name != "forgetful"));
}
