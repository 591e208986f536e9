//! With the feature `tracing`: what goes wrong is emitted as a warning that names the job.
#![cfg(feature = "tracing")]

mod common;

use common::{Log, Rig, ms};
use std::fmt;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

/// Writes down the fields of warnings.
struct Warnings(Log<String>);

impl Subscriber for Warnings {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() == Level::WARN
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        event.record(&mut Fields(&self.0));
    }
}

struct Fields<'a>(&'a Log<String>);

impl Visit for Fields<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.push(format!("{field}: {value:?}"));
    }
}

#[test]
fn a_panic_is_a_warning_that_names_the_job() {
    let log = Log::default();
    let mut rig = Rig::new();
    rig.timers.after(ms(1)).named("report").run(|_| panic!("no paper")).unwrap();
    tracing::subscriber::with_default(Warnings(log.clone()), || rig.play(10));
    let mut fields = log.take();
    fields.sort();
    assert_eq!(fields, ["job: job 'report'", "message: job 'report' panicked: no paper"]);
}
