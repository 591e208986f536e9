//! The contract on a recorded backend: the recorder changes no answer.

use std::io::{Empty, empty};
use wheelhouse_conformance::suite;
use wheelhouse_core::backend::{Backend, Info};
use wheelhouse_core::meter::Meter;
use wheelhouse_hierarchical_wheel::{ListWheel, list::Definition};
use wheelhouse_record::Recorder;

/// The list wheel, recorded.
struct Recorded;

impl Backend for Recorded {
    const INFO: Info = Definition::INFO;

    type Timer<T, M: Meter> = Recorder<ListWheel<T, M>, Empty>;

    fn build<T, M: Meter + Default>() -> Self::Timer<T, M> {
        let output = empty(); // takes everything and keeps nothing
        let recorder = Recorder::builder().limit(u64::MAX).write_to(output, Definition::build());
        recorder.expect("it can be written")
    }

    fn meter<T, M: Meter>(timer: &Self::Timer<T, M>) -> Option<&M> {
        Definition::meter(timer.timer())
    }
}

suite!(Recorded);
