//! The part of the page that ranks the structures at the reader's own number of timers, played with
//! in a browser without a screen.

use std::fs;
use std::io::Write as _;
use std::process::Command;

use wheelhouse_harness::model::{Census, Run};
use wheelhouse_harness::report;
use wheelhouse_harness::report::explore::{self, Explorer};
use wheelhouse_harness::report::picks::picks;

use crate::{scratch, synthetic};

/// Two that change places between a thousand timers and a million, one that was not measured with
/// so many, and one that always is slow; in a mix of which a hundredth fires, and where all do.
fn crossing() -> Run {
    let mut run = synthetic::empty();
    let sizes = [1_000, 1_000_000];
    for n in sizes {
        run.census.push(Census {
            workload: "keepalive".to_owned(),
            n,
            starts: n / 100,
            moves: 99 * n / 100,
            fires: n / 100,
            ..Census::default()
        });
    }
    let names = ["flat", "steep", "short", "slow"];
    let costs = [[40.0, 40.0], [10.0, 90.0], [20.0, 0.0], [100.0, 400.0]];
    for (name, costs) in names.into_iter().zip(costs) {
        for (n, cost) in sizes.into_iter().zip(costs).filter(|(_, cost)| *cost > 0.0) {
            for (workload, measure, factor) in [
                ("keepalive", "mix", 1.0),
                ("uniform", "insert-warm", 2.0),
                ("uniform", "fire-ticks", 4.0),
            ] {
                let row = synthetic::throughput(name, workload, n, measure, cost * factor, 1);
                run.throughput.push(row);
            }
            let tail = if name == "flat" { 50_000.0 } else { 1_000.0 };
            run.latency.push(synthetic::latency(name, "keepalive", n, "tick", tail));
            run.memory.push(synthetic::memory(name, n, cost));
        }
    }
    run
}

#[test]
fn it_holds_what_was_measured_and_the_shares_that_fire() {
    let explorer = Explorer::new(&crossing()).unwrap();
    assert_eq!(explorer.sizes, [1_000, 1_000_000]);
    let mixes: Vec<(&str, f64)> =
        explorer.mixes.iter().map(|mix| (mix.name.as_str(), mix.fires)).collect();
    assert_eq!(mixes, [("keepalive", 0.01), ("all fire", 1.0)]);
    let steep = &explorer.structures[1];
    // Of a thousand operations of the mix, 1,010 calls; a start and an expiry are a mean.
    let close = |a: Option<f64>, b: f64| assert!((a.unwrap() / b - 1.0).abs() < 0.1, "{a:?} {b}");
    close(steep.ns[0][1], 90.0 / 1.01);
    close(steep.ns[1][0], 30.0);
    assert_eq!(explorer.structures[2].ns[0][1], None);
    assert_eq!(Explorer::new(&synthetic::empty()), None);
}

#[test]
fn a_mix_whose_calls_nobody_counted_at_a_size_has_no_cost_there() {
    let mut run = crossing();
    run.census.retain(|census| census.n == 1_000);
    let explorer = Explorer::new(&run).unwrap();
    assert!(explorer.structures[0].ns[0][0].is_some());
    assert_eq!(explorer.structures[0].ns[0][1], None);
}

#[test]
fn a_wrong_answer_is_called_one() {
    let mut run = crossing();
    run.failures.push(wheelhouse_harness::model::Failure {
        backend: "steep".to_owned(),
        workload: "keepalive".to_owned(),
        n: 1_000_000,
        message: "another order".to_owned(),
    });
    let explorer = Explorer::new(&run).unwrap();
    let wrong: Vec<bool> = explorer.structures.iter().map(|it| it.wrong).collect();
    assert_eq!(wrong, [false, true, false, false]);
    let page = explore::render(&explorer).into_string();
    assert!(page.contains("</i>steep</td><td class=\"right\">WRONG</td>"), "{page}");
}

#[test]
fn one_number_of_timers_makes_a_table_and_no_lines() {
    let mut run = crossing();
    run.throughput.retain(|row| row.n == 1_000);
    let page = explore::render(&Explorer::new(&run).unwrap()).into_string();
    assert!(page.contains("<tbody>") && !page.contains("<svg"));
}

#[test]
fn without_script_it_is_a_table_and_a_figure() {
    let page = page("static", "");
    let html = fs::read_to_string(page).unwrap();
    let part = &html[html.find("id=\"explore\"").unwrap()..html.find("</section>").unwrap()];
    let order = ["flat", "steep", "slow", "short"];
    let places = order.map(|name| part.find(&format!("</i>{name}</td>")).unwrap());
    assert!(places.is_sorted(), "{order:?} at {places:?}");
    assert!(part.contains("<form class=\"sliders\" hidden>"));
    assert_eq!(part.matches("<polyline").count(), 4);
    let script = part.split("<script>").nth(1).unwrap();
    assert!(script.lines().count() < 200, "plain and short");
}

/// The page of that run, with a script of the test at its end.
fn page(name: &str, script: &str) -> std::path::PathBuf {
    let dir = scratch(&format!("explore-{name}"));
    let page = report::write(&crossing(), &dir).unwrap();
    let html = fs::read_to_string(&page).unwrap();
    fs::write(&page, html.replace("</html>", &format!("<script>{script}</script></html>")))
        .unwrap();
    page
}

/// What the script of a test says, which knows `set(name, value)`, `shown()` (the names in the
/// order of the rows), `text(selector)` and `say(anything)`. `None` where there is no Chromium.
fn played(name: &str, script: &str) -> Option<String> {
    let Some(browser) = chromium() else {
        // Past what the test runner keeps to itself.
        let remark = "skipped: no Chromium to open the page in (apt-get install chromium)\n";
        std::io::stderr().write_all(remark.as_bytes()).unwrap();
        return None;
    };
    let page = page(name, &format!("{HELPERS}{script}"));
    let profile = page.with_file_name("profile");
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-quic"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .args(["--virtual-time-budget=5000", "--dump-dom"])
        .arg(format!("file://{}", page.display()))
        .output()
        .unwrap();
    let html = String::from_utf8_lossy(&output.stdout);
    let said = html.split("<pre id=\"said\">").nth(1).and_then(|rest| rest.split("</pre>").next());
    Some(said.unwrap_or_else(|| panic!("the page said nothing: {html}")).trim().to_owned())
}

const HELPERS: &str = r##"
    const part = document.getElementById("explore"), form = part.querySelector("form");
    const said = document.body.appendChild(document.createElement("pre"));
    said.id = "said";
    const say = (it) => { said.textContent += it + "\n"; };
    addEventListener("error", (event) => say("error: " + event.message));
    const text = (what) => part.querySelector(what).textContent;
    const set = (name, value) => {
        const input = name === "filter" ? part.querySelector(".filter") : form.elements[name];
        input.value = value;
        input.dispatchEvent(new Event("input", { bubbles: true }));
    };
    const rows = () => [...part.querySelectorAll("tbody tr")].filter((row) => !row.hidden);
    const shown = () => rows().map((row) => row.children[0].textContent).join(" ");
"##;

fn chromium() -> Option<&'static str> {
    let runs = |name: &&str| {
        Command::new(name).arg("--version").output().is_ok_and(|it| it.status.success())
    };
    ["chromium", "chromium-browser", "google-chrome"].into_iter().find(runs)
}

#[test]
fn the_sliders_rank_the_structures_anew() {
    let script = "set('n', 3); say(shown()); set('n', 6); say(shown());
        say(part.querySelectorAll('tr.off').length); say(text('tr.off td:nth-child(2)'));
        set('n', 4.5); say(text('[name=count]')); say(text('tbody tr td:nth-child(2)'));
        say(text('.verdict')); set('fires', 1000); say(text('[name=share]'));";
    let Some(said) = played("sliders", script) else { return };
    let said: Vec<&str> = said.lines().collect();
    assert_eq!(said[0], "steep short flat slow");
    assert_eq!(said[1], "flat steep slow short", "who was not measured there is the last");
    assert_eq!(said[2..4], ["1", "to 1,000"]);
    assert_eq!(said[4], "32,000");
    // Halfway between 10 and 90 on logarithmic scales, over 1.01 calls an operation; samples vary.
    let between: f64 = said[5].trim_end_matches(" ns").parse().unwrap();
    assert!((between - 29.7).abs() < 3.0, "{between}");
    let expected =
        "32,000 timers, 1.0 % (keepalive) fire: not measured; by the points next to it, steep";
    assert!(said[6].starts_with(expected), "{}", said[6]);
    assert_eq!(said[7], "100 % (all fire)");
}

#[test]
fn where_it_was_measured_the_page_says_what_the_terminal_says() {
    let script = "set('n', 6); say(text('.verdict')); set('fires', 1000); say(text('.verdict'));";
    let Some(said) = played("taken", script) else { return };
    let said: Vec<&str> = said.lines().collect();
    let all: Vec<_> = picks(&crossing());
    let fire = all.iter().find(|pick| pick.what.starts_with("all fire")).unwrap();
    assert_eq!(said[1], format!("1,000,000 timers, 100 % (all fire) fire: {}", fire.taken()));
    assert!(said[0].starts_with("1,000,000 timers, 1.0 % (keepalive) fire: take flat ("));
}

#[test]
fn the_table_can_be_sorted_and_filtered() {
    let script = "set('n', 3); const heads = part.querySelectorAll('th button');
        heads[0].click(); say(shown()); heads[0].click(); say(shown());
        say(part.querySelector('th').getAttribute('aria-sort'));
        heads[4].click(); say(shown()); set('filter', 'S'); say(shown());";
    let Some(said) = played("table", script) else { return };
    let wanted = [
        "flat short slow steep",
        "steep slow short flat",
        "descending",
        "steep short flat slow",
        "steep short slow",
    ];
    assert_eq!(said.lines().collect::<Vec<_>>(), wanted);
}

#[test]
fn a_line_ends_where_measuring_ended() {
    let script = "for (const name of ['short', 'steep']) {
            const line = [...part.querySelectorAll('polyline')]
                .find((line) => line.textContent === name);
            say(new Set(line.getAttribute('points').split(' ')).size);
        }";
    let Some(said) = played("lines", script) else { return };
    assert_eq!(said, "1\n2");
}
