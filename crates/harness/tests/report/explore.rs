//! The interactive part of the page, which ranks structures at the reader's number of timers. A
//! headless browser plays with it.

use std::fs;

use wheelhouse_frame::report::digest;
use wheelhouse_harness::model::{Census, Failure, Run};
use wheelhouse_harness::report;
use wheelhouse_harness::report::explore::{self, Explorer};
use wheelhouse_harness::report::picks::picks;

use crate::browser::{self, Screen};
use crate::{scratch, synthetic};

/// Two structures whose ranks swap between a thousand timers and a million, one that was not
/// measured with a million, and one that is always slow. Each plays a mix in which 1 % of the
/// timers fire, and a workload in which all fire.
fn run_with_crossing_costs() -> Run {
    let mut run = synthetic::empty();
    let sizes = [1_000, 1_000_000];
    for n in sizes {
        let (workload, fires, moves) = ("keepalive".to_owned(), n / 100, 99 * n / 100);
        run.census.push(Census { workload, n, starts: fires, moves, fires, ..Census::default() });
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
                let row = synthetic::throughput(name, workload, n, measure, cost * factor);
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
fn the_explorer_has_the_measured_points_and_the_shares_that_fire() {
    let mut run = run_with_crossing_costs();
    let explorer = Explorer::new(&run).unwrap();
    assert_eq!(explorer.sizes, [1_000, 1_000_000]);
    let mixes: Vec<_> = explorer.mixes.iter().map(|mix| (mix.name.as_str(), mix.fires)).collect();
    assert_eq!(mixes, [("keepalive", Some(0.01)), ("all fire", Some(1.0))]);
    let steep = &explorer.structures[1];
    // A thousand operations of the mix are 1,010 calls. In `uniform`, a call is the mean of a start
    // and an expiry.
    let close = |a: Option<f64>, b: f64| assert!((a.unwrap() / b - 1.0).abs() < 0.1, "{a:?} {b}");
    close(steep.call[0][1], 90.0 / 1.01);
    close(steep.call[1][0], 30.0);
    assert_eq!(explorer.structures[2].call[0][1], None);
    run.census.retain(|census| census.n == 1_000);
    let flat = &Explorer::new(&run).unwrap().structures[0];
    assert!(flat.call[0][0].is_some());
    assert_eq!(flat.call[0][1], None, "a mix without a census at a size has no cost there");
    assert_eq!(Explorer::new(&synthetic::empty()), None);
}

#[test]
fn a_mix_of_the_user_replaces_a_workload_of_the_same_share() {
    let mut run = run_with_crossing_costs();
    let workload = "mix:fire:10".to_owned();
    let row = synthetic::throughput("flat", &workload, 1_000, "mix", 40.0);
    run.throughput.push(row);
    run.census.push(Census { workload, n: 1_000, fires: 1_000, ..Census::default() });
    let explorer = Explorer::new(&run).unwrap();
    let mixes: Vec<_> = explorer.mixes.iter().map(|mix| mix.name.as_str()).collect();
    assert_eq!((mixes.as_slice(), explorer.start), (&["keepalive", "your mix"][..], (1, 1)));
}

#[test]
fn a_wrong_answer_is_shown_as_wrong() {
    let mut run = run_with_crossing_costs();
    run.failures.push(Failure {
        backend: "steep".to_owned(),
        workload: "keepalive".to_owned(),
        n: 1_000_000,
        message: "another order".to_owned(),
    });
    let explorer = Explorer::new(&run).unwrap();
    let wrong: Vec<bool> = explorer.structures.iter().map(|it| it.wrong).collect();
    assert_eq!(wrong, [false, true, false, false]);
    let page = explore::render(&explorer, None).into_string();
    assert!(page.contains("steep</label></td><td class=\"right call\">WRONG</td>"));
}

#[test]
fn a_run_of_one_size_has_a_table_but_no_plot() {
    let mut run = run_with_crossing_costs();
    run.throughput.retain(|row| row.n == 1_000);
    let page = page("one", &run, None);
    let script = "say(shown()); say(part.querySelector('figure').offsetHeight);";
    let Some(lines) = run_script("one", &page, Screen::DESKTOP, script) else { return };
    assert_eq!(lines, ["steep short flat slow", "0"]);
}

#[test]
fn the_number_of_timers_is_whole() {
    let mut run = run_with_crossing_costs();
    run.throughput.iter_mut().for_each(|row| row.n /= 1_000);
    run.census.iter_mut().for_each(|row| row.n /= 1_000);
    let page = page("few", &run, None);
    let script = "set('n', 0.5); say(text('[name=count]'));";
    let Some(lines) = run_script("few", &page, Screen::DESKTOP, script) else { return };
    assert_eq!(lines, ["3"]);
}

#[test]
fn the_plot_library_has_the_documented_checksums() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/report/explore/uplot");
    let named = fs::read_to_string(format!("{folder}/README.md")).unwrap();
    for file in ["uPlot.iife.min.js", "uPlot.min.css", "LICENSE"] {
        let sum = digest(fs::read(format!("{folder}/{file}")).unwrap());
        assert!(named.contains(&format!("| {file} | {sum} |")), "{file}: {sum}");
    }
    let page =
        explore::render(&Explorer::new(&run_with_crossing_costs()).unwrap(), None).into_string();
    assert!(page.contains("Copyright (c) 2022 Leon Sorokin"), "a copy contains the licence");
}

/// The same run on another machine, with ten times the timers: everything takes twice as long.
fn other() -> Run {
    let mut run = run_with_crossing_costs();
    run.provenance.host = "other".to_owned();
    run.throughput.iter_mut().for_each(|row| {
        row.n *= 10;
        row.ns_per_op.iter_mut().for_each(|ns| *ns *= 2.0);
    });
    run.census.iter_mut().for_each(|row| row.n *= 10);
    run.throughput.retain(|row| row.backend != "slow");
    run
}

fn page(name: &str, run: &Run, other: Option<&Run>) -> String {
    let page = report::write(run, other, &scratch(&format!("explore-{name}")));
    fs::read_to_string(page.unwrap()).unwrap()
}

/// The lines that the script of a test reports. The script can use `set(name, value)`, `shown()`
/// (the names in row order), `text(selector)` and `say(anything)`.
fn run_script(name: &str, html: &str, screen: Screen, script: &str) -> Option<Vec<String>> {
    browser::reported_lines(&format!("explore-{name}"), html, screen, &format!("{HELPERS}{script}"))
}

const HELPERS: &str = r##"
    const part = document.getElementById("explore"), form = part.querySelector("form");
    const text = (what) => part.querySelector(what).textContent;
    const set = (name, value) => {
        form.elements[name].value = value;
        form.elements[name].dispatchEvent(new Event("input", { bubbles: true }));
    };
    const rows = () => [...part.querySelectorAll("tbody tr")];
    const shown = () => rows().map((row) => row.dataset.name).join(" ");
    const row = (name) => part.querySelector(`[data-name=${name}]`);
    const overflow = () => {
        const { scrollWidth, clientWidth } = document.documentElement;
        return scrollWidth - clientWidth;
    };
"##;

#[test]
fn the_sliders_rank_the_structures_again() {
    let script = "set('n', 3); say(shown()); set('n', 6); say(shown());
        say(part.querySelectorAll('tr.off').length); say(text('tr.off .call'));
        set('n', 4.5); say(text('[name=count]')); say(text('tbody .call'));
        say(text('.verdict')); set('fires', 1000); say(text('[name=share]'));
        set('n', 6); say(text('.verdict'));
        set('fires', 100); say(text('.verdict')); set('metric', 'tail'); say(shown());
        set('metric', 'bytes'); say(shown());";
    let html = page("sliders", &run_with_crossing_costs(), None);
    let Some(lines) = run_script("sliders", &html, Screen::DESKTOP, script) else { return };
    assert_eq!(lines[0], "steep short flat slow");
    assert_eq!(lines[1], "flat steep slow short", "a structure without a figure is last");
    assert_eq!(lines[2..4], ["1", "to 1,000"]);
    assert_eq!(lines[4], "32,000");
    // Halfway between 10 and 90 on logarithmic scales, with 1.01 calls per operation. Samples vary.
    let between: f64 = lines[5].trim_end_matches(" ns").parse().unwrap();
    assert!((between - 29.7).abs() < 3.0, "{between}");
    let expected =
        "32,000 timers, expiries 1.0 % (keepalive): not measured here; interpolated, steep is the";
    assert!(lines[6].starts_with(expected), "{}", lines[6]);
    assert_eq!(lines[7], "100 % (all fire)");
    // At measured points, the page agrees with the terminal.
    let all = picks(&run_with_crossing_costs());
    let fire = all.iter().find(|pick| pick.what.starts_with("all fire")).unwrap();
    assert_eq!(
        lines[8],
        format!("1,000,000 timers, expiries 100 % (all fire): {}", fire.sentence())
    );
    assert!(lines[9].starts_with("1,000,000 timers, expiries 1.0 % (keepalive): use flat ("));
    assert_eq!(lines[10], "steep slow flat short", "flat has the longest tail");
    assert_eq!(lines[11], "flat steep slow short");
}

#[test]
fn verdict_and_missing_figures_are_about_the_metric_that_ranks() {
    let mut run = run_with_crossing_costs();
    run.latency.retain(|row| row.backend != "slow");
    let script = "set('n', 6); set('fires', 100); set('metric', 'tail'); say(text('.verdict'));
        say(row('slow').querySelector('.tail').textContent);
        say(row('short').querySelector('.tail').textContent);
        set('metric', 'bytes'); say(text('.verdict')); set('n', 4.5); say(text('.verdict'));
        set('metric', 'tail'); say(text('.verdict'));";
    let Some(lines) = run_script("metric", &page("metric", &run, None), Screen::DESKTOP, script)
    else {
        return;
    };
    let of = |n, what| format!("{n} timers, expiries 1.0 % (keepalive): {what}");
    assert_eq!(lines[0], of("1,000,000", "steep has the shortest tail (2.00 µs)."));
    assert_eq!(lines[1..3], ["not measured", "to 1,000"]);
    assert_eq!(lines[3], of("1,000,000", "flat takes the fewest bytes (52.8)."));
    let between = "not measured here; interpolated, flat takes the fewest bytes (54.4).";
    assert_eq!(lines[4], of("32,000", between));
    let nearest = "not measured here; at the nearest measured point, steep has the shortest tail";
    assert!(lines[5].starts_with(&of("32,000", nearest)), "{}", lines[5]);
}

#[test]
fn a_share_is_called_one_of_calls_and_not_of_timers() {
    let explorer = Explorer::new(&run_with_crossing_costs()).unwrap();
    let page = explore::render(&explorer, None).into_string();
    for part in ["expiries among stops, moves and expiries: ", "share of calls, not of timers"] {
        assert!(page.contains(part), "{part} is missing");
    }
    assert!(!page.contains("of them fire") && !page.contains(") fire: "));
}

#[test]
fn the_address_stores_the_choice_and_unknown_parts_are_reported() {
    let script = "const go = async (hash) => {
            location.hash = hash;
            await new Promise((done) => addEventListener('hashchange', done, { once: true }));
        };
        const state = () => [form.count.value, form.share.value, form.metric.value, checked()];
        const checked = () => rows().filter((row) => row.querySelector(':checked')).length;
        set('n', 3); set('fires', 1000); set('metric', 'bytes');
        row('slow').querySelector('input').click();
        say(location.hash); const before = state().join(); say(before);
        const hash = location.hash;
        await go('#'); say(state().join());
        await go(hash); say(state().join() === before);
        await go('#n=30000&mix=0.3'); say(state().join());
        say(part.querySelector('.warning').hidden);
        await go('#n=9&mix=foo&metric=bar&show=flat&show=baz'); say(text('.warning'));";
    let html = page("address", &run_with_crossing_costs(), None);
    let Some(lines) = run_script("address", &html, Screen::DESKTOP, script) else { return };
    let hash = "#n=1000&mix=all+fire&metric=bytes&show=steep&show=short&show=flat";
    assert_eq!(lines[0].split('&').count(), hash.split('&').count());
    assert!(hash.split('&').all(|pair| lines[0].contains(pair)), "{}", lines[0]);
    assert_eq!(lines[1], "1,000,100 % (all fire),bytes,3");
    assert_eq!(lines[2], "1,000,000,1.0 % (keepalive),call,4", "no choice: the default");
    assert_eq!(lines[3], "true");
    assert_eq!(lines[4..6], ["30,000,30 %,call,4", "true"]);
    assert!(lines[6].contains("n=9, mix=foo, metric=bar, show=baz, which is not"), "{}", lines[6]);
}

#[test]
fn another_run_is_shown_next_to_the_first_even_beyond_its_sizes() {
    let script = "set('n', 6); say(text('th.other')); say(row('slow').lastChild.textContent);
        say(row('flat').lastChild.textContent);
        set('n', 7); say(text('[name=count]')); say(row('flat').lastChild.textContent);
        say(text('td.call'));";
    let html = page("beside", &run_with_crossing_costs(), Some(&other()));
    let Some(lines) = run_script("beside", &html, Screen::DESKTOP, script) else { return };
    assert_eq!(lines[0..2], ["other 2026-11-21 02ff5b6a", "-"]);
    let ratio: f64 = lines[2].split('×').nth(1).unwrap().parse().unwrap();
    assert!((ratio - 2.0).abs() < 0.2, "{}", lines[2]);
    assert_eq!(lines[3], "10,000,000");
    assert!(lines[4].ends_with("&nbsp;ns"), "the other run has ten million: {}", lines[4]);
    assert_eq!(lines[5], "to 1,000,000");
}

#[test]
fn two_runs_without_a_mix_are_an_error() {
    let dir = scratch("explore-nothing");
    let error = report::write(&run_with_crossing_costs(), Some(&synthetic::empty()), &dir);
    let error = error.unwrap_err();
    assert!(error.to_string().contains("no workload with a known share"), "{error}");
}

#[test]
fn the_plot_shows_the_selected_structures_and_a_tooltip() {
    let script = "const over = part.querySelector('.u-over'), box = over.getBoundingClientRect();
        const move = (type, x) => over.dispatchEvent(new MouseEvent(type,
            { bubbles: true, clientX: x + Math.round(box.left), clientY: 9 + Math.round(box.top) }
        ));
        move('mouseenter', 0); move('mousemove', 30);
        await new Promise((done) => setTimeout(done, 100));
        say(text('.tip').replaceAll('\\n', '; '));
        for (const type of ['mousedown', 'mouseup', 'click']) move(type, 30);
        say(text('[name=count]'));
        // The pixels with a colour: those of lines.
        const ink = () => {
            const drawn = part.querySelector('canvas'), { width, height } = drawn;
            const copy = new OffscreenCanvas(width, height)
                .getContext('2d', { willReadFrequently: true });
            copy.drawImage(drawn, 0, 0);
            const { data } = copy.getImageData(0, 0, width, height);
            return data.filter((red, i) => i % 4 === 0 && data[i + 3] > 0
                && Math.abs(red - data[i + 2]) > 40).length;
        };
        const all = ink();
        for (const name of ['flat', 'steep', 'slow']) row(name).querySelector('input').click();
        await new Promise((done) => setTimeout(done, 100));
        say(ink() < all); say(ink() > 0);";
    let html = page("plot", &run_with_crossing_costs(), None);
    let Some(lines) = run_script("plot", &html, Screen::DESKTOP, script) else { return };
    let places = ["1,000 timers", "steep", "short", "flat"].map(|part| lines[0].find(part));
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{}", lines[0]);
    assert_eq!(lines[1..], ["1,000", "true", "true"]);
}

#[test]
fn the_page_fits_three_screen_sizes_in_light_and_dark() {
    let script = "say([innerWidth, matchMedia('(prefers-color-scheme: dark)').matches, overflow(),
            part.querySelector('canvas').clientWidth > 250].join());
        set('metric', 'tail'); say(overflow());
        const { scrollWidth, clientWidth } = part.querySelector('.table');
        say(scrollWidth - clientWidth);";
    let html = page("screens", &run_with_crossing_costs(), Some(&other()));
    for (width, is_dark) in
        [360, 768, 1280].into_iter().flat_map(|width| [(width, false), (width, true)])
    {
        let name = format!("screens-{width}-{is_dark}");
        let Some(lines) = run_script(&name, &html, Screen { width, is_dark }, script) else {
            return;
        };
        assert_eq!(lines[0], format!("{width},{is_dark},0,true"));
        assert_eq!(lines[1..], ["0", "0"], "neither the page nor the table scrolls sideways");
    }
}

#[test]
fn without_script_the_page_shows_a_table() {
    let html = page("static", &run_with_crossing_costs(), Some(&other()));
    // A browser without script runs none of these.
    let mut parts = html.split("<script");
    let mut bare = parts.next().unwrap().to_owned();
    bare.extend(parts.map(|part| part.split_once("</script>").unwrap().1));
    let script = "say(shown()); say(row('flat').innerText.trim().split(/\\s+/).join(' '));
        say(rows().every((row) => row.offsetHeight > 10));
        say([form, part.querySelector('figure'), part.querySelector('td input')]
            .every((it) => it.offsetHeight === 0)); say(overflow());";
    for width in [360, 1280] {
        let screen = Screen { width, is_dark: false };
        let Some(lines) = run_script(&format!("static-{width}"), &bare, screen, script) else {
            return;
        };
        assert_eq!(lines[0], "flat steep slow short");
        assert!(lines[1].starts_with("flat ") && lines[1].contains("×1.00"), "{}", lines[1]);
        assert_eq!(lines[2..], ["true", "true", "0"]);
    }
}
