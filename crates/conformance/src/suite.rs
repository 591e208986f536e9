//! The list of checks, as tests and as values.

use crate::Check;
use wheelhouse_core::backend::Backend;

/// Defines a `#[test]` for each check of a backend: a type that implements
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

/// Defines a `#[test]` for each check of a backend that is late by design: its
/// [`Precision`](wheelhouse_core::backend::Precision) is `Late`. Call it at most once per module.
///
/// ```
/// # mod tests {
/// # mod wheelhouse_linux_wheel { pub use wheelhouse_conformance::OracleDefinition as Definition; }
/// wheelhouse_conformance::approximate_suite!(wheelhouse_linux_wheel::Definition);
/// # }
/// ```
#[macro_export]
macro_rules! approximate_suite {
    ($backend:ty) => {
        $crate::__each_approximate_check!(__as_tests, $backend);
    };
}

/// All checks for a structure that is late by design, in the order of the contract.
pub fn approximate_checks<B: Backend>() -> Vec<Check> {
    crate::__each_approximate_check!(__as_values, B)
}

/// All checks for a backend, in the order of the contract.
pub fn checks<B: Backend>() -> Vec<Check> {
    crate::__each_check!(__as_values, B)
}

/// Passes the list of all checks to a macro. A check is the number of a promise and the name of a
/// public function of this crate that is generic over a backend.
#[doc(hidden)]
#[macro_export]
macro_rules! __each_check {
    ($then:ident, $backend:ty) => {
        $crate::__with_memory! { $then, $backend,
            Some(1) contract_01_exactly_once,
            Some(2) contract_02_never_early_never_late,
            Some(3) contract_03_order_by_deadline_then_insertion,
            Some(3) contract_03_postponed_timers_fire_on_time,
            Some(4) contract_04_overdue_is_due_at_once,
            Some(5) contract_05_stale_handles_are_harmless,
            Some(6) contract_06_time_does_not_run_back,
            Some(7) contract_07_wakeup_never_after_a_deadline,
            Some(9) contract_09_a_panic_loses_nothing_else,
            Some(10) contract_10_the_whole_range_of_u64,
            Some(11) contract_11_bounded_work,
            None property_any_sequence,
            None property_many_ties,
            None property_end_of_time,
            None differential_long_run,
            None golden_e01_five_seconds_from_pointer_three,
            None golden_e02_delays_beyond_one_turn,
            None golden_e03_four_timers_in_one_slot,
            None golden_e04_deadlines_past_the_range_of_the_wheel,
            None golden_e05_daily_and_weekly,
            None golden_e06_three_timers_at_nine_oclock,
            None golden_e07_two_timers_in_a_month,
            None golden_e08_sessions_that_are_refreshed,
            None golden_e09_demoted_to_the_lower_wheel,
            None golden_e10_fifty_ticks_on_eight_slots,
            None golden_e11_five_hundred_seconds,
            None golden_e12_one_call_per_level,
            None golden_e13_fractions_of_a_tick_are_not_early,
            None golden_e14_varghese_and_lauck,
        }
    };
}

/// The list of checks for structures that are late by design. The promises of the checks
/// `contract_..` hold for them unchanged.
#[doc(hidden)]
#[macro_export]
macro_rules! __each_approximate_check {
    ($then:ident, $backend:ty) => {
        $crate::__with_memory! { $then, $backend,
            Some(1) contract_01_exactly_once,
            Some(2) approximate_02_never_early_late_within_the_bound,
            Some(3) approximate_03_order_of_what_comes_at_one_tick,
            Some(4) approximate_04_overdue_is_due_at_once,
            Some(5) contract_05_stale_handles_are_harmless,
            Some(6) contract_06_time_does_not_run_back,
            Some(7) approximate_07_wakeup_never_after_a_bound,
            Some(9) approximate_09_a_panic_loses_nothing_else,
            Some(10) approximate_10_the_whole_range_of_u64,
            Some(11) contract_11_bounded_work,
            None approximate_long_run,
        }
    };
}

/// Adds the check that needs the feature `memory`. This is a separate macro because a `cfg` in the
/// expansion would test the features of the calling crate.
#[cfg(feature = "memory")]
#[doc(hidden)]
#[macro_export]
macro_rules! __with_memory {
    ($then:ident, $backend:ty, $($list:tt)*) => {
        $crate::$then! { $backend, $($list)* Some(8) contract_08_memory_follows_the_live_timers, }
    };
}

#[cfg(not(feature = "memory"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __with_memory {
    ($then:ident, $backend:ty, $($list:tt)*) => { $crate::$then! { $backend, $($list)* } };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __as_tests {
    ($backend:ty, $($kind:ident $(($number:literal))? $name:ident,)*) => {
        $(
            #[test]
            fn $name() {
                $crate::Check {
                    name: stringify!($name),
                    contract: $kind$(($number))?,
                    check: $crate::$name::<$backend>,
                }
                .run();
            }
        )*
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __as_values {
    ($backend:ty, $($kind:ident $(($number:literal))? $name:ident,)*) => {
        vec![$($crate::Check {
            name: stringify!($name),
            contract: $kind$(($number))?,
            check: $crate::$name::<$backend>,
        }),*]
    };
}
