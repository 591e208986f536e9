//! The list of checks.

use crate::Bed;

/// Passes the names of all checks to a macro of this crate, after other arguments.
#[doc(hidden)]
#[macro_export]
macro_rules! for_each_check {
    ([$($then:tt)*] $($before:tt)*) => {
        $($then)*! { $($before)*;
            a_job_comes_back_as_it_was_put,
            nothing_is_handed_out_before_its_time,
            dates_and_delays_name_times,
            a_key_has_one_job,
            a_replaced_job_is_gone,
            generations_never_repeat,
            order_is_that_of_time_then_of_commit,
            a_claim_is_bounded_by_max,
            a_claim_is_bounded_in_bytes,
            a_large_claim_is_bounded_in_bytes,
            a_claim_is_bounded_by_kinds,
            kinds_are_listed_with_their_first,
            the_answer_to_a_claim_says_when_to_ask,
            an_earlier_job_wakes,
            a_lease_hides_and_comes_back,
            a_late_ack_counts_until_the_next_claim,
            a_leased_job_can_be_cancelled,
            a_leased_job_can_be_moved_and_replaced,
            an_attempt_counts_when_it_begins,
            a_run_begins_by_its_token,
            a_run_begins_after_the_clock_steps_back,
            a_lost_lease_is_reported,
            a_leased_job_may_end_before_it_begins,
            an_ack_ends_the_job_once,
            an_ack_may_name_the_next_occurrence,
            a_retry_waits,
            a_release_takes_the_attempt_back,
            an_extension_moves_the_end_of_the_lease,
            cancel_has_three_answers,
            a_run_that_is_cancelled_may_end,
            a_run_that_is_cancelled_is_not_repeated,
            a_new_generation_waits_for_the_old,
            a_new_generation_outlives_a_lost_lease,
            a_replaced_run_does_not_harm_its_successor,
            a_move_changes_the_time,
            a_move_reaches_the_waiting_generation,
            dead_letters_are_kept_and_revived,
            scans_go_by_pages,
            a_batch_is_carried_out_in_order,
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
pub type Check = fn(&mut dyn Bed);

/// All checks with their names, for a program that chooses checks at run time.
pub fn checks() -> Vec<(&'static str, Check)> {
    use crate::checks::*;
    use crate::random_changes;
    for_each_check!([each_check_as_entry]())
}
