//! A bench that measures nothing.

use crate::bound::{Bound, Target};
use crate::{Contender, Experiment, Figure, Played};
use anyhow::Result;
use std::time::Duration;

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

    fn expected(self, _: &u32) -> Duration {
        Duration::from_secs(1)
    }

    fn options_for_bounds(self, load: &u32) -> Vec<String> {
        if *load < 10 { vec!["--jobs 10".to_owned()] } else { Vec::new() }
    }
}

pub(crate) struct FakeContender(pub(crate) &'static str);

impl Contender<TestExperiment> for FakeContender {
    fn name(&self) -> &'static str {
        self.0
    }

    fn about(&self) -> &'static str {
        "plays nothing"
    }

    fn plays(&self) -> &'static [TestExperiment] {
        if self.0 == "ours" {
            TestExperiment::ALL
        } else {
            &[TestExperiment::PairsNear, TestExperiment::PairsFar]
        }
    }

    fn play(&self, _: TestExperiment, load: &u32) -> Result<Played> {
        Ok(Ok(vec![Figure::count("jobs", (*load).into())]))
    }
}

pub(crate) fn contenders() -> Vec<Box<dyn Contender<TestExperiment>>> {
    vec![Box::new(FakeContender("ours")), Box::new(FakeContender("other"))]
}
