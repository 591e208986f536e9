//! The example of S2: sessions that end, and one that is refreshed.

use crate::count::AnyTimer;
use crate::experiment::Experiment;
use crate::experiments::models::checks::Checks;
use crate::experiments::models::structures::each;
use crate::{Evidence, Scale};
use wheelhouse_core::{Tick, Timer};

pub(super) const E8: Experiment = Experiment {
    name: "example-e8",
    about: "every structure: a session of 3 s, and one of 4 s that is refreshed to 5 s after 2 s, looked at when the article does",
    run: sessions,
};

/// Which looks find the session, and when it ends. `refresh` is (when, for how long).
type Session = (Vec<bool>, Vec<Tick>);

fn session(
    timer: &mut AnyTimer,
    lives: Tick,
    looks: &[Tick],
    refresh: Option<(Tick, Tick)>,
) -> Session {
    let id = timer.insert(lives, 0);
    let (mut found, mut ended) = (Vec::new(), Vec::new());
    for second in 1..=10 {
        ended.extend(timer.fired(second).iter().map(|_| second));
        if let Some((_, longer)) = refresh.filter(|(at, _)| *at == second) {
            timer.reschedule(id, second + longer);
        }
        if looks.contains(&second) {
            found.push(ended.is_empty());
        }
    }
    (found, ended)
}

fn sessions(_: &Scale) -> Evidence {
    let mut checks = Checks::new("Sessions");
    let short = each(1, |timer| session(timer, 3, &[2, 4, 6], None));
    checks.everywhere(
        "3 s: present at 2, 4, 6 s, and ends at",
        (vec![true, false, false], vec![3]),
        &short,
    );
    let refreshed = each(1, |timer| session(timer, 4, &[1, 2, 3, 4, 5], Some((2, 5))));
    checks.everywhere(
        "4 s, 5 s from 2 s on: present at 1 to 5 s, and ends at",
        (vec![true; 5], vec![7]),
        &refreshed,
    );
    let end = |sessions: &[(&str, Session)]| {
        sessions.first().and_then(|(_, (_, ended))| ended.first().copied()).unwrap_or(0)
    };
    checks.evidence(
        "E8",
        format!("removed at {} s, and the refreshed one at {} s", end(&short), end(&refreshed)),
    )
}
