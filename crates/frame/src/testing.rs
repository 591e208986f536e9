//! A bench that measures nothing.

use crate::bound::{Bound, Target};
use crate::run::{Plan, Row, Run, play_all};
use crate::{Contender, Experiment, Figure, Played};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum TestExperiment {
    PairsNear,
    PairsFar,
    Burst,
}

impl Experiment for TestExperiment {
    type Load = u32;
    const ALL: &'static [Self] = &[Self::PairsNear, Self::PairsFar, Self::Burst];
    const TITLE: &'static str = "Nothing under load";
    const METHOD: Option<&'static str> = Some("benches/NOTHING.md");
    const TARGETS: &'static [Target<Self>] = &[
        Target::new(Self::PairsNear, "ours", "pairs/s", Bound::Times(1.4, "other")),
        Target::new(Self::PairsNear, "ours", "bytes/job", Bound::AtMost(90.0)),
        Target::new(Self::PairsFar, "ours", "p99", Bound::AtMostBeyond(1e6, "other")),
        Target::new(Self::PairsFar, "ours", "CPU/job", Bound::AtMostTimes(1.2, "other")),
        Target::new(Self::Burst, "ours", "jobs", Bound::AtLeast(3.0)),
    ];

    fn name(self) -> &'static str {
        match self {
            Self::PairsNear => "pairs-near",
            Self::PairsFar => "pairs-far",
            Self::Burst => "burst",
        }
    }

    fn title(self, load: &u32) -> String {
        format!("{load} jobs")
    }

    fn options_for_bounds(self, load: &u32) -> Vec<String> {
        if *load < 10 { vec!["--jobs 10".to_owned()] } else { Vec::new() }
    }
}

/// Plays nothing. The name `unplayable` stands for one that must not be played.
pub(crate) fn fake_contender(name: &'static str) -> Contender<TestExperiment> {
    let play = move |_, load: &u32| {
        assert_ne!(name, "unplayable");
        Ok(Ok(vec![Figure::count("jobs", (*load).into())]))
    };
    let fake = Contender::new(name, "plays nothing", play);
    fake.only(|it| name == "ours" || it != TestExperiment::Burst)
}

pub(crate) fn contenders() -> Vec<Contender<TestExperiment>> {
    ["ours", "other"].map(fake_contender).into()
}

pub(crate) fn plan(
    experiments: &[TestExperiment],
    load: u32,
    on_all: bool,
) -> Plan<TestExperiment> {
    let experiments = experiments.to_vec();
    Plan { contenders: contenders(), experiments, on_all, load, rounds: 3, seed: 1 }
}

/// A run with these plays of an experiment, two in each round.
pub(crate) fn run(
    experiment: TestExperiment,
    load: u32,
    plays: impl IntoIterator<Item = (&'static str, Played)>,
) -> Run<TestExperiment> {
    let mut run = play_all(&plan(&[], load, true)).unwrap();
    let plays = plays.into_iter().enumerate();
    run.rows.extend(plays.map(|(at, (contender, played))| {
        let round = at / 2 + 1;
        Row { experiment, contender, round, played }
    }));
    run
}
