//! The part of the page in HTML: what stands there without script, and the data for the script.

use maud::{Markup, PreEscaped, html};
use wheelhouse_present::plot::axis::Axis;
use wheelhouse_present::units;

use super::{Explorer, Structure};

const STYLE: &str = include_str!("explore.css");
const SCRIPT: &str = include_str!("explore.js");

/// The figure: its size, and where the plot begins and ends.
const SIZE: (f64, f64) = (620.0, 400.0);
const PLOT: [f64; 4] = [64.0, 12.0, 608.0, 356.0];

/// As many lines are coloured.
const COLOURED: usize = 5;

/// The whole part. The script in it needs nothing from elsewhere.
pub fn render(it: &Explorer) -> Markup {
    let (size, mix) = it.start;
    html! {
        section #explore {
            style { (PreEscaped(STYLE)) }
            h2 { "Which one, at your number of timers?" }
            (sliders(it))
            p.verdict role="status" {
                "At " (units::count(it.sizes[size])) " timers of which " (percent(it.mixes[mix].fires))
                " fire (" (it.mixes[mix].name) "), the cheapest call first:"
            }
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
            input type="range" name="n" aria-label="number of timers" min=(low) max=(high) step="0.01"
                value=(start) list="sizes" disabled[low == high];
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
    let (size, mix) = it.start;
    let cost = |structure: &Structure| structure.ns[mix][size];
    let order = order(it);
    let best = order.first().and_then(|at| cost(&it.structures[*at]));
    let time = |ns: Option<f64>| ns.map_or_else(|| "-".to_owned(), units::time);
    html! {
        div.table {
            input.filter type="search" placeholder="filter by name" aria-label="filter by name" hidden;
            table {
                thead { tr {
                    @for (name, side) in COLUMNS { th scope="col" class=(side) { (name) } }
                } }
                tbody {
                    @for (rank, at) in order.iter().enumerate() {
                        @let structure = &it.structures[*at];
                        @let top = rank < COLOURED && cost(structure).is_some();
                        tr data-at=(at) class=[top.then_some("top")] data-again[repeats(it, *at)] style=(colours(structure)) {
                            td.left { i {} (structure.name) }
                            td.right { (time(cost(structure))) }
                            td.right {
                                @if let Some((ns, best)) = cost(structure).zip(best) { (format!("×{:.2}", ns / best)) }
                            }
                            td.right { (time(structure.tail[mix][size])) }
                            td.right { (structure.bytes[size].map_or_else(|| "-".to_owned(), units::number)) }
                        }
                    }
                }
            }
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
    let x = Axis::sizes("timers", &it.sizes);
    let y = Axis::time("a call", all());
    let Some((x, y)) = x.zip(y) else { return html! {} };
    let [left, top, right, bottom] = PLOT;
    let across = |at: f64| left + at * (right - left);
    let up = |at: f64| bottom - at * (bottom - top);
    let order = order(it);
    html! {
        figure {
            svg viewBox=(format!("0 0 {} {}", SIZE.0, SIZE.1)) role="img" aria-label="time of a call against the number of timers" {
                @for tick in &y.ticks {
                    path.grid d=(format!("M{left} {0:.1}H{right}", up(tick.at))) {}
                    text.end x=(left - 6.0) y=(format!("{:.1}", up(tick.at) + 4.0)) { (tick.label) }
                }
                @for tick in &x.ticks {
                    path.grid d=(format!("M{0:.1} {top}V{bottom}", across(tick.at))) {}
                    text.middle x=(format!("{:.1}", across(tick.at))) y=(bottom + 18.0) { (tick.label) }
                }
                text.middle x=((left + right) / 2.0) y=(SIZE.1 - 4.0) { "timers" }
                path.here d="" {}
                // The coloured ones last, on top of the others.
                @for (rank, at) in order.iter().enumerate().rev() {
                    @let structure = &it.structures[*at];
                    @let coloured = rank < COLOURED;
                    polyline data-at=(at) class=[coloured.then_some("top")] style=(colours(structure))
                        stroke-dasharray=[repeats(it, *at).then_some("7 4")]
                        points=(points(it, structure, |n| across(x.place(n).unwrap_or(0.0)), |ns| up(y.place(ns).unwrap_or(0.0)))) {
                        title { (structure.name) }
                    }
                }
                (scale(it, all(), |n| x.place(n).map(across), |ns| y.place(ns).map(up)))
            }
            figcaption { "Time of a call, log scales; lines end where measuring ended." }
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

/// The line of a structure at the mix that the page begins with.
fn points(
    it: &Explorer,
    structure: &Structure,
    across: impl Fn(f64) -> f64,
    up: impl Fn(f64) -> f64,
) -> String {
    let measured = it.sizes.iter().zip(&structure.ns[it.start.1]);
    let point = |(n, ns): (&u64, &Option<f64>)| Some((across(*n as f64), up((*ns)?)));
    let points: Vec<String> =
        measured.filter_map(point).map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    points.join(" ")
}

/// Whether a structure before it has its colour: then its line is broken.
fn repeats(it: &Explorer, at: usize) -> bool {
    it.structures[..at].iter().any(|other| other.style.light == it.structures[at].style.light)
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
        "A call is a start, stop, move or expiry; lower is better. Within ×1.1 of the best is a tie."
            .to_owned(),
        format!(
            "Measured at {} timers, and with {} that fire. What is between is interpolated: the sizes on \
             logarithmic scales, the mixes on a linear one.",
            sizes.join(", "),
            mixes.join(", ")
        ),
        "Tail: one call in ten thousand took longer, where it was longest, at the measured points around. \
         Bytes: per timer, after churn."
            .to_owned(),
    ]
}

/// The points as JSON, which must not end the element it stands in.
fn data(it: &Explorer) -> String {
    // Strings, numbers and lists always can be written.
    serde_json::to_string(it).unwrap_or_default().replace('<', "\\u003c")
}
