use wheelhouse_claims::{Scale, front};
fn main() {
    let start = std::time::Instant::now();
    let quick = std::env::args().any(|a| a == "--quick");
    let scale = if quick { Scale::REDUCED } else { Scale::WHOLE };
    let f = front::Front::count(&front::CONTESTANTS, &scale, |c| {
        eprintln!("{} {:?}", c.name, start.elapsed())
    });
    let f = if quick { f } else { f.time(|c| eprintln!("{} {:?}", c.name, start.elapsed())) };
    eprintln!("{:?}", start.elapsed());
    println!("{}", front::narrow(&f).terminal());
    println!("{}", front::brief(&f).terminal());
    println!("{}", front::answer(&f).join("\n"));
    std::fs::write("/tmp/wt/front.svg", front::figure(&f).unwrap().svg).unwrap();
    for r in &f.rows {
        for c in &r.cells {
            println!(
                "{} {} {:?}",
                r.contestant.name,
                c.operation.name(),
                c.curve.points().iter().map(|p| (p.1 * 100.).round() / 100.).collect::<Vec<_>>()
            );
        }
    }
}
