//! The tests that the migration page names exist, and what it says of orderly ends is so.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use wheelhouse_service::{Service, Status, Stop};

#[test]
fn each_test_that_the_page_names_exists() {
    let root = env!("CARGO_MANIFEST_DIR");
    let page = fs::read_to_string(format!("{root}/MIGRATION.md")).unwrap();
    let named: Vec<_> =
        page.split('`').filter(|text| text.starts_with("tests/")).filter(|text| text.contains("::")).collect();
    assert!(named.len() >= 20, "{named:?}");
    for test in named {
        let (file, name) = test.split_once("::").unwrap();
        let source = fs::read_to_string(format!("{root}/{file}")).unwrap();
        assert!(source.contains(&format!("fn {name}()")), "{test}");
    }
}

/// The `StopGracefull` of alex023/clock: each job that waits is run once, also those that would have many runs.
#[test]
fn each_job_that_waits_can_be_run_once_at_the_end() {
    let service = Service::start().unwrap();
    let timers = service.handle();
    let runs = Arc::new(AtomicU64::new(0));
    let count = || {
        let runs = Arc::clone(&runs);
        move || {
            runs.fetch_add(1, Ordering::Relaxed);
        }
    };
    let hour = Duration::from_secs(3600);
    let (once, often, endless) = (count(), count(), count());
    let jobs = [
        timers.after(hour).run(move |_| once()).unwrap(),
        timers.every(hour).times(5).run(move |_| often()).unwrap(),
        timers.every(hour).run(move |_| endless()).unwrap(),
    ];
    for job in service.stop(Stop::Wait).jobs {
        job.run();
    }
    assert_eq!(runs.load(Ordering::Relaxed), 3);
    assert!(jobs.iter().all(|job| job.status() == Status::Stopped));
}

/// The `shutdown()` of `ScheduledThreadPoolExecutor`: what is pending still runs, what is periodic does not.
#[test]
fn who_wants_to_wait_for_what_is_pending_can_do_so() {
    let service = Service::start().unwrap();
    let timers = service.handle();
    let periodic = timers.every(Duration::from_secs(3600)).run(|_| {}).unwrap();
    let once = timers.after(Duration::from_millis(20)).run(|_| {}).unwrap();
    drop(periodic.cancel().unwrap());
    while !timers.is_empty() {
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(service.stop(Stop::Wait).jobs.is_empty());
    assert_eq!((once.status(), periodic.status()), (Status::Finished, Status::Cancelled));
}
