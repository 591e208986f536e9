//! The part of the page in HTML: what stands there without script, and the data for the script.

use maud::{Markup, PreEscaped, html};
use serde_json::json;
use wheelhouse_present::plot::axis::Axis;
use wheelhouse_present::units;

use super::{Explorer, Structure};
use crate::report::picks;

const STYLE: &str = include_str!("explore.css");
const SCRIPT: &str = include_str!("explore.js");

/// The figure: its size, and where the plot begins and ends.
const SIZE: (f64, f64) = (620.0, 400.0);
const PLOT: [f64; 4] = [64.0, 12.0, 608.0, 356.0];

/// As many lines are coloured.
const COLOURED: usize = 5;

/// The whole part. The script in it needs nothing from elsewhere.
pub fn render(it: &Explorer) -> Markup {
    html! {
        section #explore {
            style { (PreEscaped(STYLE)) }
            h2 { "Which one, at your number of timers?" }
            (sliders(it))
            p.verdict role="status" { (start(it)) }
            div.pair {
                (ranking(it))
                (figure(it))
            }
            ul.notes { @for note in notes(it) { li { (note) } } }
            script type="application/json" { (PreEscaped(data(it))) }
            script { (PreEscaped(SCRIPT)) }
        }
    }
}

/// Whom to take, until the sliders move.
fn start(it: &Explorer) -> String {
    let (size, mix) = it.start;
    let take = it.takes[mix][size].as_deref().unwrap_or("the cheapest call first:");
    let (n, mix) = (units::count(it.sizes[size]), &it.mixes[mix]);
    format!("{n} timers, {} ({}) fire: {take}", percent(mix.fires), mix.name)
}

/// Hidden until the script shows them.
fn sliders(it: &Explorer) -> Markup {
    let ends = |values: &[u64]| [values[0], values[values.len() - 1]].map(|n| (n as f64).log10());
    let [low, high] = ends(&it.sizes);
    let start = (it.sizes[it.start.0] as f64).log10();
    // The share by its root: most programs are at the low end.
    let root = |at: usize| (it.mixes[at].fires.sqrt() * 1000.0).round();
    html! {
        form.sliders hidden {
            label { "timers: " output name="count" {} }
            input type="range" name="n" aria-label="number of timers"
                min=(low) max=(high) step="any" value=(start) list="sizes" disabled[low == high];
            datalist id="sizes" { @for n in &it.sizes { option value=((*n as f64).log10()) {} } }
            label { "of them fire: " output name="share" {} }
            input type="range" name="fires" aria-label="share of timers that fire" min=(root(0))
                max=(root(it.mixes.len() - 1)) step="1" value=(root(it.start.1)) list="mixes"
                disabled[it.mixes.len() == 1];
            datalist id="mixes" { @for at in 0..it.mixes.len() { option value=(root(at)) {} } }
        }
    }
}

/// The structures, the cheapest first; those without a figure last.
fn ranking(it: &Explorer) -> Markup {
    html! {
        div.table {
            input.filter type="search" aria-label="filter by name" placeholder="filter by name"
                hidden;
            table {
                thead { tr {
                    @for (name, side) in COLUMNS { th scope="col" class=(side) { (name) } }
                } }
                tbody {
                    @for (rank, at) in order(it).into_iter().enumerate() { (row(it, rank, at)) }
                }
            }
        }
    }
}

fn row(it: &Explorer, rank: usize, at: usize) -> Markup {
    let (size, mix) = it.start;
    let structure = &it.structures[at];
    let cost = structure.ns[mix][size];
    let best = it.structures.iter().filter_map(|it| it.ns[mix][size]).min_by(f64::total_cmp);
    let missing = || "-".to_owned();
    let time = |ns: Option<f64>| ns.map_or_else(missing, units::time);
    let ratio = cost.zip(best).map(|(ns, best)| format!("×{:.2}", ns / best));
    let cells = [
        if structure.wrong && cost.is_none() { "WRONG".to_owned() } else { time(cost) },
        ratio.unwrap_or_default(),
        time(structure.tail[mix][size]),
        structure.bytes[size].map_or_else(missing, units::number),
    ];
    let is_top = rank < COLOURED && cost.is_some();
    let again = repeats(it, at) > 0;
    html! {
        tr data-at=(at) class=[is_top.then_some("top")] data-again[again]
            style=(colours(structure)) {
            td.left { i {} (structure.name) }
            @for cell in cells { td.right { (cell) } }
        }
    }
}

const COLUMNS: [(&str, &str); 5] = [
    ("structure", "left"),
    ("a call", "right"),
    ("×best", "right"),
    ("tail", "right"),
    ("bytes", "right"),
];

/// Places of the structures, the cheapest at the start first.
fn order(it: &Explorer) -> Vec<usize> {
    let cost = |at: &usize| it.structures[*at].ns[it.start.1][it.start.0].unwrap_or(f64::INFINITY);
    let mut order: Vec<usize> = (0..it.structures.len()).collect();
    order.sort_by(|a, b| cost(a).total_cmp(&cost(b)));
    order
}

/// A line for each structure at the mix that the page begins with, each to where measuring ended.
fn figure(it: &Explorer) -> Markup {
    let all = || it.structures.iter().flat_map(|s| s.ns.iter().flatten().flatten().copied());
    let axes = Axis::sizes("timers", &it.sizes).zip(Axis::time("a call", all()));
    // One number of timers makes no line.
    let Some((x, y)) = axes.filter(|_| it.sizes.len() > 1) else { return html! {} };
    let [left, top, right, bottom] = PLOT;
    let across = |at: f64| left + at * (right - left);
    let up = |at: f64| bottom - at * (bottom - top);
    let place = |n: f64, ns: f64| Some((across(x.place(n)?), up(y.place(ns)?)));
    let label = "time of a call against the number of timers";
    html! {
        figure {
            svg viewBox=(format!("0 0 {} {}", SIZE.0, SIZE.1)) role="img" aria-label=(label) {
                @for (tick, y) in y.ticks.iter().map(|tick| (tick, up(tick.at))) {
                    path.grid d=(format!("M{left} {y:.1}H{right}")) {}
                    text.end x=(left - 6.0) y=(format!("{:.1}", y + 4.0)) { (tick.label) }
                }
                @for tick in &x.ticks {
                    @let x = format!("{:.1}", across(tick.at));
                    path.grid d=(format!("M{x} {top}V{bottom}")) {}
                    text.middle x=(x) y=(bottom + 18.0) { (tick.label) }
                }
                text.middle x=((left + right) / 2.0) y=(SIZE.1 - 4.0) { "timers" }
                path.here d=(format!("M0 {top}V{bottom}")) {}
                // The coloured ones last, on top of the others.
                @for (rank, at) in order(it).into_iter().enumerate().rev() {
                    (line(it, rank, at, place))
                }
                (scale(it, all(), |n| x.place(n).map(across), |ns| y.place(ns).map(up)))
            }
            figcaption { "Time of a call, log scales; lines end where measuring ended." }
        }
    }
}

/// The line of a structure at the mix that the page begins with.
fn line(
    it: &Explorer,
    rank: usize,
    at: usize,
    place: impl Fn(f64, f64) -> Option<(f64, f64)>,
) -> Markup {
    let structure = &it.structures[at];
    let measured = it.sizes.iter().zip(&structure.ns[it.start.1]);
    let points = measured.filter_map(|(n, ns)| place(*n as f64, (*ns)?));
    let mut points: Vec<String> = points.map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    if let [only] = points.as_slice() {
        points.push(only.clone()); // one point twice is a dot
    }
    let class = (rank < COLOURED).then_some("top");
    let dashes = ["7 4", "2 3"].get(repeats(it, at).wrapping_sub(1));
    html! {
        polyline data-at=(at) class=[class] style=(colours(structure)) stroke-dasharray=[dashes]
            points=(points.join(" ")) {
            title { (structure.name) }
        }
    }
}

/// Two values of each axis and their places, from which the script finds all others.
fn scale(
    it: &Explorer,
    values: impl Iterator<Item = f64> + Clone,
    across: impl Fn(f64) -> Option<f64>,
    up: impl Fn(f64) -> Option<f64>,
) -> Markup {
    let low = values.clone().filter(|ns| *ns > 0.0).fold(f64::INFINITY, f64::min);
    let high = values.fold(0.0, f64::max);
    let pair = |value: f64, place: Option<f64>| format!("{value} {}", place.unwrap_or(0.0));
    let sizes = [it.sizes[0], it.sizes[it.sizes.len() - 1]].map(|n| n as f64);
    let x = sizes.map(|n| pair(n, across(n))).join(" ");
    let y = [low, high].map(|ns| pair(ns, up(ns))).join(" ");
    html! { g.scale data-x=(x) data-y=(y) {} }
}

/// How many before it have its colour: with each the line is broken otherwise.
fn repeats(it: &Explorer, at: usize) -> usize {
    let style = it.structures[at].style;
    it.structures[..at].iter().filter(|other| other.style.light == style.light).count()
}

/// Both colours, of which the style sheet takes one.
fn colours(structure: &Structure) -> String {
    format!("--light:{};--dark:{}", structure.style.light, structure.style.dark)
}

fn percent(share: f64) -> String {
    let digits = usize::from(share < 0.0995);
    format!("{:.digits$} %", 100.0 * share)
}

fn notes(it: &Explorer) -> Vec<String> {
    let mixes: Vec<String> =
        it.mixes.iter().map(|mix| format!("{} ({})", mix.name, percent(mix.fires))).collect();
    let sizes: Vec<String> = it.sizes.iter().map(|n| units::short_count(*n)).collect();
    vec![
        "A call is a start, stop, move or expiry; lower is better. Marked are those within ×1.1 of \
         the best. Whom to take is decided where it was measured, by ratios within each round."
            .to_owned(),
        format!(
            "Measured at {} timers, and with {} that fire. What is between is interpolated: the \
             sizes on logarithmic scales, the mixes on a linear one. The mixes also differ in how \
             many are moved and how far ahead the deadlines are: between two is an estimate.",
            sizes.join(", "),
            mixes.join(", ")
        ),
        "Tail: of the kind of call (start, stop, tick) where it is longest, what one in ten \
         thousand exceeded (of few calls, one in a thousand), at the nearest measured point. Moves \
         are not timed one by one. Bytes: per timer, after churn."
            .to_owned(),
    ]
}

/// The points as JSON, with what the script ranks by, which must not end the element around it.
fn data(it: &Explorer) -> String {
    let data = json!({
        "points": it, "TIE": picks::TIE, "COLOURED": COLOURED,
    });
    data.to_string().replace('<', "\\u003c")
}
