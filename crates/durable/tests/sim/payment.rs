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

/// Many faults may strike, and only the needed one is shown.
#[test]
fn a_handler_without_one_fails() {
    for handlers in [payments, async_payments] {
        let sim = charging(handlers, false);
        let failures: Vec<_> = (0..40).filter_map(|seed| sim.run([seed]).err()).collect();
        assert!(failures.iter().any(|failure| failure.faults_before > 4));
        for failure in failures {
            assert_eq!(failure.faults.len(), 1, "{failure}");
            assert!(failure.broken.contains("'charge' of '1"), "the effect: {failure}");
            assert!(failure.broken.contains("attempt 1, without an idempotency key"), "{failure}");
            let fault = &failure.faults[0];
            assert!(fault.contains("is killed for 1.0s after the effect 'charge'"), "{failure}");
            assert!(failure.log.iter().any(|line| line.contains(fault)), "{failure}");
        }
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

/// Also in another thread, whose thread-local values differ.
#[test]
fn a_seed_is_simulated_bit_for_bit() {
    for handlers in [payments, async_payments] {
        let one = failure(&charging(handlers, false), 10);
        assert!(one.log.len() > 20, "{one}");
        let thread = std::thread::spawn(move || failure(&charging(handlers, false), 10));
        assert_eq!(thread.join().unwrap(), one);
        let other = charging(handlers, false).run(one.seed + 1..100).unwrap_err();
        assert_ne!(other.hash, one.hash);
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
