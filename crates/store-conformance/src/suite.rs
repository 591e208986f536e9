//! The list of checks.

use crate::Bed;

/// Passes the names of all checks to a macro of this crate, after other arguments.
#[doc(hidden)]
#[macro_export]
macro_rules! for_each_check {
    ([$($then:tt)*] $($before:tt)*) => {
        $($then)*! { $($before)*;
            a_job_comes_back_as_it_was_put,
            dates_and_delays_name_times,
            a_large_claim_is_bounded_in_bytes,
            a_claim_takes_the_first_of_all_kinds,
            a_claim_begins_first_attempts_without_a_policy,
            kinds_are_listed_with_their_first,
            the_answer_to_a_claim_says_when_to_ask,
            an_earlier_job_wakes,
            a_run_begins_after_the_clock_steps_back,
            each_change_in_each_state,
            dead_letters_are_kept_in_order,
            scans_go_by_pages,
            what_was_committed_is_there_after_a_restart,
            large_batches_and_payloads,
            connections_do_not_claim_the_same,
            random_changes,
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! each_check_as_test {
    ($bed:expr; $($check:ident,)*) => {
        $(
            #[test]
            fn $check() {
                match $bed() {
                    Some(mut bed) => $crate::$check(&mut bed),
                    None => eprintln!("SKIPPED: {}, no store to test", stringify!($check)),
                }
            }
        )*
    };
}

macro_rules! each_check_as_entry {
    ($_:expr; $($name:ident,)*) => {
        vec![$((stringify!($name), $name as Check)),*]
    };
}

/// A check. It panics with the expected and the observed behavior.
pub type Check = fn(&mut Bed);

/// All checks with their names, for a program that chooses checks at run time.
pub fn checks() -> Vec<(&'static str, Check)> {
    use crate::checks::*;
    use crate::random_changes;
    for_each_check!([each_check_as_entry]())
}
