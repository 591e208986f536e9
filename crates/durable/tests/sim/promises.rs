//! Our own timers keep their promises under all faults.

use crate::SECOND;
use std::time::Duration;
use wheelhouse_durable::sim::{Sim, World};
use wheelhouse_durable::store::When;
use wheelhouse_durable::{
    Backoff, Builder, Durable, DurableRun, Failure, Handlers, Late, Missed, Next, Stop,
};

type Code = fn(&World, &DurableRun<'_>, &[u8]) -> Result<Next, Failure>;

const CLOSURES: [(&str, Code); 9] = [
    ("work/1", |world, run, _| {
        world.effect_with_key("work", run.idempotency_key(), run.idempotency_key());
        Ok(Next::Done)
    }),
    ("fails/1", |_, run, _| if run.attempt() < 3 { Err("twice".into()) } else { Ok(Next::Done) }),
    ("panics/1", |_, run, _| if run.attempt() == 1 { panic!("once") } else { Ok(Next::Done) }),
    ("stops/1", |_, _, _| Err(Stop::new("no such order").into())),
    ("never/1", |_, _, _| Err("never".into())),
    ("kills/1", |world, _, _| world.kill()),
    ("long/1", |world, _, payload| {
        world.pass(SECOND * u32::from(payload.len() as u8));
        Ok(Next::Done)
    }),
    ("chain/1", |_, run, _| {
        let next = run.timers().after(3 * SECOND).key(format!("{}-next", run.key()));
        match next.schedule_bytes("work/1", "") {
            Ok(_) | Err(wheelhouse_durable::Error::Duplicate(_)) => Ok(Next::Done),
            Err(error) => Err(error.into()),
        }
    }),
    ("again/1", |_, run, _| match run.occurrence() {
        0..4 => Ok(Next::After(20 * SECOND)),
        _ => Ok(Next::Done),
    }),
];

/// The first handlers of [`CLOSURES`].
fn closures(world: &World, count: usize) -> Handlers {
    CLOSURES[..count].iter().fold(Handlers::new(), |handlers, (kind, code)| {
        let world = world.clone();
        handlers.on_bytes(*kind, move |run, payload| code(&world, run, payload))
    })
}

fn builder(world: &World) -> Builder {
    let sleeper = world.clone();
    let handlers = closures(world, CLOSURES.len());
    let handlers = handlers.on_async_bytes("sleeps/1", move |run: DurableRun<'static>, _| {
        let world = sleeper.clone();
        async move {
            world.sleep(5 * SECOND).await;
            let key = format!("{}-next", run.key());
            run.timers().after(SECOND).replacing(key).submit_bytes("work/1", "").await?;
            world.sleep(5 * SECOND).await;
            Ok(Next::Done)
        }
    });
    Durable::builder(handlers)
        .workers(2)
        .backoff(Backoff::new(SECOND).cap(60 * SECOND).jitter(0.5).attempts(4))
        .visibility_timeout(20 * SECOND)
}

/// Each kind of handler, with cancels, moves and replacements.
fn everything() -> Sim {
    Sim::new(builder).client(|world, timers| {
        let kinds = [
            "work/1", "fails/1", "panics/1", "stops/1", "never/1", "kills/1", "chain/1", "again/1",
            "sleeps/1",
        ];
        let mut commits = Vec::new();
        for (n, kind) in (0..).zip(kinds) {
            let plan = timers.after(SECOND * n).key(kind);
            commits.push(plan.submit_bytes(kind, "x"));
        }
        for n in 0..20 {
            let plan = timers.after(SECOND * (n % 7)).key(format!("work-{n}"));
            commits.push(plan.submit_bytes("work/1", "x"));
        }
        for n in 0..8 {
            let plan = timers.after(SECOND * n).key(format!("chain-{n}"));
            commits.push(plan.submit_bytes("chain/1", "x"));
        }
        for n in [1, 7, 45] {
            let plan = timers.after(SECOND).key(format!("long-{n}"));
            commits.push(plan.submit_bytes("long/1", vec![0; n]));
        }
        for commit in commits {
            commit.wait().unwrap();
        }
        let until = timers.now().unwrap().saturating_add(600 * SECOND);
        let minutely = timers.every(60 * SECOND).unwrap().expires(until);
        minutely.keeping("minutely").schedule_bytes("work/1", "").unwrap();
        for n in 0..20_u64 {
            world.pass(Duration::from_millis(n * 131));
            let key = format!("work-{}", (n * 7) % 20);
            match n % 4 {
                0 => drop(timers.cancel(&key).unwrap()),
                1 => timers
                    .after(SECOND)
                    .replacing(&key)
                    .schedule_bytes("work/1", "")
                    .map(drop)
                    .unwrap(),
                2 => drop(timers.submit_move(&key, When::After(SECOND)).wait()),
                _ => drop(timers.find(&key).unwrap()),
            }
        }
        timers.cancel("kills/1").unwrap();
    })
}

/// Pauses, dead letters, limits, changed schedules, and an older program.
fn operations() -> Sim {
    let program = |world: &World| {
        builder(world).limit(8 * SECOND).slow_after(2 * SECOND).most_dead_letters(1)
    };
    let older = |world: &World| {
        let builder = Durable::builder(closures(world, 1));
        builder.visibility_timeout(5 * SECOND).catch_up_rate(3)
    };
    Sim::new(program).program(older).client(|world, timers| {
        for n in 0..8_u32 {
            let plan = timers.after(SECOND * n).key(format!("long-{n}"));
            plan.schedule_bytes("long/1", vec![0; 4 * n as usize]).unwrap();
            let plan = timers.after(SECOND * n).key(format!("sleeps-{n}")).limit(SECOND * n * 2);
            plan.schedule_bytes("sleeps/1", "").unwrap();
            let plan = timers.after(SECOND * n).key(format!("late-{n}")).max_attempts(2);
            let late = if n % 2 == 0 { Late::Skip(SECOND) } else { Late::Within(SECOND) };
            plan.late(late).schedule_bytes("fails/1", "").unwrap();
        }
        for n in 1..6_u32 {
            let every = timers.every(SECOND * 5 * n).unwrap().missed(Missed::Burst);
            every.updating("burst").schedule_bytes("work/1", "").unwrap();
            timers.pause("work/1").unwrap();
            world.pass(SECOND * 7);
            timers.resume("work/1").unwrap();
            timers.after(SECOND).replacing("stops").schedule_bytes("stops/1", "").unwrap();
            world.pass(SECOND * 6);
            for dead in timers.dead(None, 100).unwrap() {
                match n % 2 {
                    0 => drop(timers.revive(&dead, SECOND)),
                    _ => drop(timers.forget(&dead).unwrap()),
                }
            }
        }
        timers.cancel("burst").unwrap();
    })
}

#[test]
fn every_promise_is_kept() {
    for (sim, seeds) in [(everything(), 60), (operations(), 30)] {
        let passed = sim.run(0..seeds).unwrap();
        assert!(passed.runs > 20 * seeds && passed.faults > seeds, "{passed:?}");
    }
}

#[test]
#[ignore = "8,000 seeds take a minute in a release build: run it by hand"]
fn every_promise_is_kept_in_thousands_of_seeds() {
    for sim in [everything(), operations()] {
        eprintln!("{:?}", sim.run(1_000..5_000).unwrap());
    }
}
