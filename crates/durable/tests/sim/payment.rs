//! Handlers of a user: with and without the faults that users make.

use crate::SECOND;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use wheelhouse_durable::sim::{Failure, Sim, World};
use wheelhouse_durable::{Durable, DurableRun, Handlers, Next, Timers};

fn payments(bank: &World, with_key: bool) -> Handlers {
    let bank = bank.clone();
    Handlers::new().on_bytes("charge/1", move |run: &DurableRun<'_>, order| {
        let order = str::from_utf8(order)?;
        match with_key {
            true => drop(bank.effect_with_key("charge", order, run.idempotency_key())),
            false => bank.effect("charge", order),
        }
        Ok(Next::Done)
    })
}

fn async_payments(bank: &World, with_key: bool) -> Handlers {
    let bank = bank.clone();
    Handlers::new().on_async_bytes("charge/1", move |run: DurableRun<'static>, order| {
        let bank = bank.clone();
        async move {
            let order = String::from_utf8(order)?;
            bank.sleep(SECOND).await;
            match with_key {
                true => drop(bank.effect_with_key("charge", order, run.idempotency_key())),
                false => bank.effect("charge", order),
            }
            bank.sleep(SECOND).await;
            Ok(Next::Done)
        }
    })
}

fn three_orders(world: &World, timers: &Timers) {
    for order in ["17", "18", "19"] {
        timers.after(10 * SECOND).key(order).schedule_bytes("charge/1", order).unwrap();
        world.pass(SECOND);
    }
}

fn charging(handlers: fn(&World, bool) -> Handlers, with_key: bool) -> Sim {
    Sim::new(move |world| Durable::builder(handlers(world, with_key))).client(three_orders)
}

/// The failure of a simulation that must fail.
fn failure(sim: &Sim, seeds: u64) -> Failure {
    let failure = sim.run(0..seeds);
    *failure.map(|passed| panic!("nothing is found: {passed:?}")).unwrap_err()
}

#[test]
fn a_handler_with_an_idempotency_key_passes() {
    for handlers in [payments, async_payments] {
        let passed = charging(handlers, true).run(0..300).unwrap();
        assert_eq!(passed.seeds, 300);
        assert!(passed.runs > 900 && passed.faults > 300, "each job runs: {passed:?}");
    }
}

#[test]
fn a_handler_without_one_fails() {
    for handlers in [payments, async_payments] {
        let failure = failure(&charging(handlers, false), 10);
        assert_eq!(failure.faults.len(), 1, "{failure}");
        assert!(failure.broken.contains("'charge' of '1"), "the effect: {failure}");
        assert!(failure.broken.contains("attempt 1, without an idempotency key"), "{failure}");
        let fault = &failure.faults[0];
        assert!(fault.contains("is killed for 1.0s after the effect 'charge'"), "{failure}");
        assert!(failure.log.iter().any(|line| line.contains(fault)), "{failure}");
    }
}

/// Many faults strike, and only the needed ones are shown.
#[test]
fn faults_that_are_not_needed_are_left_out() {
    let sim = charging(payments, false);
    let failures = (0..80).filter_map(|seed| sim.run([seed]).err());
    let failures: Vec<_> = failures.filter(|failure| failure.faults_before > 4).collect();
    assert!(failures.len() > 2);
    for failure in failures {
        assert_eq!(failure.faults.len(), 1, "{failure}");
    }
}

/// A key must not differ from attempt to attempt.
#[test]
fn a_key_of_the_attempt_is_found() {
    let program = |world: &World| {
        let bank = world.clone();
        Durable::builder(Handlers::new().on_bytes("charge/1", move |run, order| {
            bank.effect_with_key("charge", str::from_utf8(order)?, run.attempt());
            Ok(Next::Done)
        }))
    };
    let failure = failure(&Sim::new(program).client(three_orders), 50);
    assert!(failure.broken.contains("attempt 2, with the key 2"), "{failure}");
}

/// Two programs read a balance and write it: one write is lost if a lease was.
#[test]
fn a_check_of_the_user_sees_a_lost_update() {
    let sim = |expected: fn(u32) -> bool| {
        let balance = Arc::<AtomicU32>::default();
        let (its, start, end) = (Arc::clone(&balance), Arc::clone(&balance), balance);
        Sim::new(move |world| {
            let (world, balance) = (world.clone(), Arc::clone(&its));
            Durable::builder(Handlers::new().on_bytes("charge/1", move |_, _| {
                let before = balance.load(Ordering::Relaxed);
                world.point("between");
                balance.store(before + 1, Ordering::Relaxed);
                Ok(Next::Done)
            }))
        })
        .client(move |world, timers| {
            start.store(0, Ordering::Relaxed);
            three_orders(world, timers);
        })
        .check(move |_| match end.load(Ordering::Relaxed) {
            balance if expected(balance) => Ok(()),
            balance => Err(format!("the balance is {balance}")),
        })
    };
    sim(|balance| balance > 0).run(0..50).unwrap();
    let failure = failure(&sim(|balance| balance == 3), 50);
    assert!(failure.broken.contains("the balance is"), "{failure}");
}

#[test]
fn a_seed_is_replayed_bit_for_bit() {
    for handlers in [payments, async_payments] {
        let sim = charging(handlers, false);
        let failure = failure(&sim, 10);
        let (one, other) = (sim.replay(failure.seed), sim.replay(failure.seed));
        assert_eq!(one, other);
        assert_eq!(one.hash, failure.hash);
        assert!(one.log.len() > 20 && one.broken.is_some(), "{one:?}");
        assert_ne!(one.hash, sim.replay(failure.seed + 1).hash);
        // In another thread, whose thread-local values differ.
        let seed = failure.seed;
        let thread = std::thread::spawn(move || charging(handlers, false).replay(seed));
        assert_eq!(thread.join().unwrap(), one);
    }
}

/// A handler that depends on more than the seed is found out, not blamed on the seed.
#[test]
fn a_handler_that_is_not_deterministic_is_told() {
    let calls = Arc::<AtomicU32>::default();
    let sim = Sim::new(move |world| {
        let (bank, calls) = (world.clone(), Arc::clone(&calls));
        Durable::builder(Handlers::new().on_bytes("charge/1", move |_, order| {
            let call = calls.fetch_add(1, Ordering::Relaxed);
            bank.effect(&format!("call {call}"), "x");
            bank.effect("charge", str::from_utf8(order)?);
            Ok(Next::Done)
        }))
    });
    let sim = sim.client(three_orders);
    let told = catch_unwind(AssertUnwindSafe(|| sim.run(0..20))).unwrap_err();
    let told = told.downcast_ref::<String>().unwrap();
    assert!(told.contains("was not simulated twice in the same way"), "{told}");
}

#[test]
fn a_handler_that_kills_its_program_ends_as_a_dead_letter() {
    let sim = Sim::new(|world| {
        let world = world.clone();
        let handlers = Handlers::new().on_bytes("charge/1", move |_, order| match order {
            b"18" => world.kill(),
            _ => Ok(Next::Done),
        });
        Durable::builder(handlers)
    });
    let dead = |world: &World, timers: &Timers| {
        three_orders(world, timers);
        world.pass(4 * 3_600 * SECOND);
        let dead = timers.dead(None, 9).unwrap();
        assert_eq!(dead.len(), 1, "{dead:?}");
        assert_eq!((dead[0].job.key.as_bytes(), dead[0].job.attempt), (&b"18"[..], 20));
    };
    sim.client(dead).run(0..20).unwrap();
}

/// Each kind of fault strikes in some of the seeds.
#[test]
fn all_faults_strike() {
    let sim = charging(payments, true);
    let log: Vec<_> = (0..300).flat_map(|seed| sim.replay(seed).log).collect();
    for fault in [
        "is killed",
        "has stopped",
        "stalls",
        "is suspended",
        "a handler of program",
        "the store fails program",
        "loses the store's answer",
        "cannot reach the store",
        "set ahead",
        "set back",
    ] {
        let count = log.iter().filter(|line| line.contains(fault)).count();
        assert!(count > 4, "{fault}: {count}");
    }
}

/// Programs that were killed at any point are dropped with all of their jobs.
#[test]
fn simulations_leave_nothing_behind() {
    let marker = Arc::new(());
    let its = Arc::clone(&marker);
    let sim = Sim::new(move |world| {
        let (bank, its) = (world.clone(), Arc::clone(&its));
        let handlers = async_payments(world, true).on_bytes("mark/1", move |run, _| {
            let _its = Arc::clone(&its);
            bank.point("marked");
            run.timers().after(SECOND).schedule_bytes("none/1", "")?;
            Ok(Next::Done)
        });
        Durable::builder(handlers.on_bytes("none/1", |_, _| Ok(Next::Done)))
    });
    let sim = sim.client(|world, timers| {
        three_orders(world, timers);
        timers.after(8 * SECOND).schedule_bytes("mark/1", "").unwrap();
    });
    let passed = sim.run(0..100).unwrap();
    assert!(passed.faults > 50, "{passed:?}");
    drop(sim);
    assert_eq!(Arc::strong_count(&marker), 1);
}
