//! The front of the report: the sweep, its table, its figure, and the section of the README.

use std::sync::LazyLock;
use wheelhouse_claims::fault::{Fault, FaultKind};
use wheelhouse_claims::front::{self, CONTESTANTS, Contestant, Front, FrontRow, Operation};
use wheelhouse_claims::growth::Growth;
use wheelhouse_claims::{Outcome, Scale, Setup, judge, report, select};

/// Two wheels, a heap, and a map that visits all timers, on the reduced range.
static FRONT: LazyLock<Front> = LazyLock::new(|| {
    let is_asked = |it: &Contestant| {
        ["list-wheel", "wheel with rounds", "binary-heap", "hash-map"].contains(&it.name)
    };
    let asked: Vec<_> = CONTESTANTS.into_iter().filter(is_asked).collect();
    Front::count(&asked, &Setup::new(&Scale::REDUCED), |_| ())
});

fn counted(structure: &str, operation: Operation) -> (Growth, Option<Outcome>) {
    let cell = FRONT.cell(structure, operation).expect("it was asked for");
    (cell.shape.class, cell.outcome())
}

#[test]
fn a_wheel_inserts_in_constant_steps_and_a_heap_does_not_if_each_is_the_earliest() {
    use Operation::{Fire, InsertEarliest, InsertRandom};
    let holds = Some(Outcome::Confirmed);
    let (constant, logarithmic) = ((Growth::Constant, holds), (Growth::Logarithmic, holds));
    assert_eq!([InsertRandom, InsertEarliest].map(|it| counted("list-wheel", it)), [constant; 2]);
    assert_eq!([InsertEarliest, Fire].map(|it| counted("binary-heap", it)), [logarithmic; 2]);
    // O is "at most": a constant cost holds for O(log n).
    assert_eq!(counted("binary-heap", InsertRandom).1, holds);
    assert_eq!(counted("hash-map", Fire), (Growth::Linear, holds));
    // The articles' wheel decrements rounds: a tick visits its share of all timers.
    let tick = ("wheel with rounds", Operation::EmptyTick);
    assert_eq!(counted(tick.0, tick.1), (Growth::Linear, holds));
    assert_eq!(counted(tick.0, Operation::Cancel).1, holds);
}

#[test]
fn the_table_has_its_fields_and_fits_a_terminal() {
    let narrow = front::narrow(&FRONT).terminal();
    assert!(narrow.lines().all(|line| line.chars().count() <= 100), "{narrow}");
    assert!(narrow.contains("S3 S4 O(1)") && narrow.contains("V&L O(1)"), "{narrow}");
    let rows = front::grid(&FRONT).json();
    let insert = &rows[2]["insert,-earliest-first"];
    assert_eq!(
        (&insert["counted"], &insert["claimed"][0]["by"]),
        (&"logarithmic".into(), &"S3 S4".into())
    );
    assert!(
        insert["per-doubling"]["mean"].as_f64().is_some_and(|slope| (1.5..2.5).contains(&slope)),
        "{insert}"
    );
}

#[test]
fn the_figure_has_four_panels_with_a_line_for_each_structure() {
    let svg = front::figure(&FRONT).expect("something was counted").svg;
    for name in ["insert, random", "insert, earliest first", "cancel", "fire"] {
        assert!(svg.contains(&format!(">{name}</text>")), "{name}");
    }
    assert!(["list-wheel", "binary-heap", "hash-map"].iter().all(|name| svg.contains(name)));
}

#[test]
fn the_section_of_the_readme_is_short() -> anyhow::Result<()> {
    let judgement = judge(select(&["B1".to_owned()])?, &Setup::new(&Scale::REDUCED), |_| ())?;
    let section = report::summary(&judgement, &FRONT);
    // Two lines more at most, for other structures, and one with a link in the README.
    assert!(section.lines().count() <= 8, "{section}");
    let answer = "in a heap?** In a wheel the claims hold. In a heap the claims hold; 'insert, \
                  random' and 'cancel' even take a constant number of steps.";
    assert!(section.contains(answer), "{section}");
    assert!(section.contains("| list-wheel | 5.00 constant ✓ |"), "{section}");
    assert!(!section.contains("hash-map"), "{section}");
    Ok(())
}

/// The machine may become slower during a command, so each round times each structure.
#[test]
fn times_are_taken_in_interleaved_rounds() {
    let names = ["wheel with rounds", "sorted-slice"];
    let rows = names.map(|name| {
        let contestant = *CONTESTANTS.iter().find(|it| it.name == name).expect("it is there");
        FrontRow { contestant, cells: Vec::new() }
    });
    let mut order = Vec::new();
    Front { rows: rows.into() }.time(|it| order.push(it.name));
    assert_eq!(order, names.repeat(3));
}

/// A tree is used under the name of the wheel, or there is only one seed.
#[test]
fn another_structure_instead_of_the_wheel_or_too_few_seeds_change_the_answer() {
    let kind = FaultKind::Replaced("red-black-tree");
    let faults = vec![Fault { name: "list-wheel", kind }];
    let wheel: Vec<_> = CONTESTANTS.into_iter().filter(|it| it.name == "list-wheel").collect();
    for (setup, expected) in [
        (Setup { faults, ..Setup::new(&Scale::REDUCED) }, "In a wheel the claims do not hold"),
        (Setup::new(&Scale::REDUCED.seeded([1])), "In a wheel the claims are undecided. In a heap"),
    ] {
        let answer = front::answer(&Front::count(&wheel, &setup, |_| ()));
        assert!(answer.starts_with(expected), "{answer}");
    }
}
