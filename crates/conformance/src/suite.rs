//! The list of checks, as tests and as values, and their time limit.

use std::any::Any;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;
use wheelhouse_core::backend::Backend;

/// The time limit of a check. The slowest check takes seconds, or perhaps a minute in a debug build
/// under load.
pub const TIME_LIMIT: Duration = Duration::from_secs(600);

/// A check for one backend.
#[derive(Clone, Copy, Debug)]
pub struct Check {
    /// The name of the check's function, and of the test. It begins with the number of the promise
    /// that it checks, as in `contract_06_..`, unless it checks all of them.
    pub name: &'static str,
    /// The function. It panics if the backend fails.
    pub check: fn(),
}

impl Check {
    /// Runs the check.
    ///
    /// # Panics
    ///
    /// If the backend fails, or if the check has not ended after [`TIME_LIMIT`].
    pub fn run(&self) {
        self.run_within(TIME_LIMIT).unwrap_or_else(|what| panic!("{what}"));
    }

    /// Runs the check and returns the failure as an error.
    ///
    /// # Errors
    ///
    /// The message of the failure. A check that has not ended after `limit` has failed. Its thread
    /// cannot be stopped and continues until the program ends.
    pub fn run_within(&self, limit: Duration) -> Result<(), String> {
        let (done, wait) = channel();
        let Self { name, check } = *self;
        let run = move || {
            check();
            // If the limit has passed, the receiver is gone.
            let _ = done.send(());
        };
        let thread = thread::Builder::new().name(name.to_owned()).spawn(run);
        let thread = thread.expect("a thread can be started");
        if let Err(RecvTimeoutError::Timeout) = wait.recv_timeout(limit) {
            return Err(format!(
                "{name} has not ended after {limit:?}: does the structure iterate over ticks \
                 (contract 10)?"
            ));
        }
        thread.join().map_err(|payload| message(payload.as_ref()).to_owned())
    }
}

pub(crate) fn message(payload: &(dyn Any + Send)) -> &str {
    payload
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| payload.downcast_ref::<&str>().copied())
        .unwrap_or("a panic without a message")
}

/// Defines a `#[test]` for each check of a backend, exact or late by design: a type that implements
/// [`Backend`](wheelhouse_core::backend::Backend). Call it at most once per module.
///
/// ```
/// # mod tests {
/// wheelhouse_conformance::suite!(wheelhouse_conformance::OracleDefinition);
/// # }
/// ```
#[macro_export]
macro_rules! suite {
    ($backend:ty) => {
        $crate::__each_check!(__as_tests, $backend);
    };
}

/// All checks for a backend, in the order of the contract.
pub fn checks<B: Backend>() -> Vec<Check> {
    crate::__each_check!(__as_values, B)
}

/// Passes the list of all checks to a macro. A check is a public function of this crate that is
/// generic over a backend. Without the feature `memory`, contract 8 is not in the list.
#[cfg(feature = "memory")]
#[doc(hidden)]
#[macro_export]
macro_rules! __each_check {
    ($then:ident, $backend:ty) => {
        $crate::__all_checks! { $then, $backend, contract_08_memory_follows_the_live_timers, }
    };
}

#[cfg(not(feature = "memory"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __each_check {
    ($then:ident, $backend:ty) => {
        $crate::__all_checks! { $then, $backend, }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __all_checks {
    ($then:ident, $backend:ty, $($memory:ident,)?) => {
        $crate::$then! { $backend,
            contract_01_exactly_once,
            contract_02_never_early_never_late,
            contract_03_order_by_deadline_then_insertion,
            contract_03_postponed_timers_fire_on_time,
            contract_04_overdue_is_due_at_once,
            contract_05_stale_handles_are_harmless,
            contract_06_time_does_not_run_back,
            contract_07_wakeup_never_after_a_deadline,
            $($memory,)?
            contract_09_a_panic_loses_nothing_else,
            contract_10_the_whole_range_of_u64,
            contract_11_bounded_work,
            property_any_sequence,
            property_many_ties,
            property_end_of_time,
            differential_long_run,
            golden_examples,
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __as_tests {
    ($backend:ty, $($name:ident,)*) => {
        $(
            #[test]
            fn $name() {
                $crate::Check { name: stringify!($name), check: $crate::$name::<$backend> }.run();
            }
        )*
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __as_values {
    ($backend:ty, $($name:ident,)*) => {
        vec![$($crate::Check { name: stringify!($name), check: $crate::$name::<$backend> }),*]
    };
}
