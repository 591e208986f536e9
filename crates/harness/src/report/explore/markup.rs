//! The interactive part of the page as HTML: what is visible without script, and the data for it.

use maud::{Markup, PreEscaped, html};
use serde_json::json;
use wheelhouse_present::units;

use super::{Explorer, Figures, RankedStructure};
use crate::report::picks;

const STYLES: [&str; 2] = [include_str!("uplot/uPlot.min.css"), include_str!("explore.css")];
const SCRIPT: &str = include_str!("explore.js");

/// The plot library. Copies of it must contain its licence.
const LIBRARY: [&str; 4] =
    ["/*\n", include_str!("uplot/LICENSE"), "\n*/\n", include_str!("uplot/uPlot.iife.min.js")];

/// How many lines are coloured.
const COLOURED: usize = 5;

/// Name and CSS classes of each column.
const COLUMNS: [(&str, &str); 5] = [
    ("structure", "left"),
    ("a call", "right call"),
    ("tail", "right tail"),
    ("bytes", "right bytes"),
    ("×best", "right ratio"),
];

/// The whole part, next to another run if there is one. Its scripts load nothing else.
pub fn render(it: &Explorer, other: Option<&Explorer>) -> Markup {
    html! {
        section #explore {
            @for style in STYLES { style { (PreEscaped(style)) } }
            h2 { "Which structure, at your number of timers?" }
            p.warning role="alert" hidden {}
            (controls(it, other))
            p.verdict role="status" { (first_verdict(it)) }
            div.pair {
                (ranking(it, other))
                figure hidden {
                    figcaption {
                        "Log scales. Lines end at the last measured size. Click to choose a number "
                        "of timers."
                        @if let Some(other) = other { " Dashed: " (other.name) "." }
                    }
                }
            }
            ul.notes { @for note in notes(it) { li { (note) } } }
            script type="application/json" { (PreEscaped(data(it, other))) }
            script { (PreEscaped(LIBRARY.concat())) }
            script { (PreEscaped(SCRIPT)) }
        }
    }
}

/// The recommended structure, shown until the sliders move.
fn first_verdict(it: &Explorer) -> String {
    let (size, mix) = it.start;
    let recommended = it.takes[mix][size].as_deref().unwrap_or("the cheapest call first:");
    let (n, mix) = (units::count(it.sizes[size]), &it.mixes[mix]);
    format!("{n} timers, expiries {} ({}): {recommended}", percent(mix.fires), mix.name)
}

/// The controls, hidden until the script shows them.
fn controls(it: &Explorer, other: Option<&Explorer>) -> Markup {
    let sizes: Vec<u64> =
        it.sizes.iter().chain(other.iter().flat_map(|it| &it.sizes)).copied().collect();
    let log = |n: u64| (n as f64).log10();
    let [low, high] = [sizes.iter().min(), sizes.iter().max()].map(|n| log(*n.unwrap_or(&1)));
    let start = log(it.sizes[it.start.0]);
    // The slider shows the square root of the share: most programs are at the low end.
    let root = |at: usize| (it.mixes[at].fires.unwrap_or(0.0).sqrt() * 1000.0).round();
    html! {
        form.controls hidden {
            label for="n" { "timers: " output name="count" {} }
            input #n type="range" name="n" min=(low) max=(high) step="any" value=(start)
                list="sizes" disabled[low == high];
            datalist #sizes { @for n in sizes { option value=(log(n)) {} } }
            label for="fires" {
                "expiries among stops, moves and expiries: " output name="share" {}
            }
            input #fires type="range" name="fires" min=(root(0)) max=(root(it.mixes.len() - 1))
                step="1" value=(root(it.start.1)) list="mixes" disabled[it.mixes.len() == 1];
            datalist #mixes { @for at in 0..it.mixes.len() { option value=(root(at)) {} } }
            label for="metric" { "ranked by:" }
            select #metric name="metric" {
                option value="call" { "time of a call" }
                option value="tail" { "tail of single calls" }
                option value="bytes" { "bytes per timer" }
            }
        }
    }
}

/// The structures, the cheapest first. Structures without a figure come last, then those that only
/// the other run has.
fn ranking(it: &Explorer, other: Option<&Explorer>) -> Markup {
    let cost = |of: &&RankedStructure| it.at_start(&of.call).unwrap_or(f64::INFINITY);
    let mut ranked: Vec<&RankedStructure> = it.structures.iter().collect();
    ranked.sort_by(|a, b| cost(a).total_cmp(&cost(b)));
    let others = other.iter().flat_map(|it| &it.structures);
    ranked.extend(others.filter(|of| it.find(&of.name).is_none()));
    html! {
        div.table {
            table data-metric="call" {
                thead { tr {
                    @for (name, class) in COLUMNS { th scope="col" class=(class) { (name) } }
                    @if let Some(other) = other { th.right.other scope="col" { (other.name) } }
                } }
                tbody { @for of in ranked { (row(it, other, of)) } }
            }
        }
    }
}

fn row(it: &Explorer, other: Option<&Explorer>, of: &RankedStructure) -> Markup {
    let own = it.find(&of.name);
    let at =
        |figures: fn(&RankedStructure) -> &Figures| own.and_then(|own| it.at_start(figures(own)));
    let best = it.structures.iter().filter_map(|of| it.at_start(&of.call)).min_by(f64::total_cmp);
    let call = at(|it| &it.call);
    let show = |figure: Option<f64>, unit: fn(f64) -> String| figure.map_or("-".to_owned(), unit);
    let is_wrong = call.is_none() && own.is_some_and(|own| own.wrong);
    let colours = format!("--light:{};--dark:{}", of.style.light, of.style.dark);
    let call_of_other = other.map(|other| show(other.call_at_start_of(it, &of.name), units::time));
    html! {
        tr data-name=(of.name) style=(colours) {
            td.left { label { input type="checkbox" checked hidden; (of.name) } }
            td.right.call { @if is_wrong { "WRONG" } @else { (show(call, units::time)) } }
            td.right.tail { (show(at(|it| &it.tail), units::time)) }
            td.right.bytes { (show(at(|it| &it.bytes), units::number)) }
            td.right.ratio {
                @if let Some((ns, best)) = call.zip(best) { (format!("×{:.2}", ns / best)) }
            }
            @if let Some(call) = call_of_other { td.right.other { (call) } }
        }
    }
}

fn percent(share: Option<f64>) -> String {
    let share = share.unwrap_or(0.0);
    let digits = usize::from(share < 0.0995);
    format!("{:.digits$} %", 100.0 * share)
}

fn notes(it: &Explorer) -> Vec<String> {
    let mixes: Vec<String> =
        it.mixes.iter().map(|mix| format!("{} ({})", mix.name, percent(mix.fires))).collect();
    let sizes: Vec<String> = it.sizes.iter().map(|n| units::short_count(*n)).collect();
    vec![
        "A call is a start, stop, move or expiry; lower is better. Structures within ×1.2 of the \
         best are marked. At measured points, ratios within each round decide which structure to \
         use."
            .to_owned(),
        "Expiries are given as a share of calls, not of timers: a timer that is moved ten times \
         and then fires has 9 % expiries."
            .to_owned(),
        format!(
            "Measured with {} timers, and with these shares of expiries: {}. The sliders end \
             there; the option --n measures other numbers of timers. Figures in between are \
             interpolated: sizes on logarithmic scales, shares on a linear one. Mixes also differ \
             in how many timers are moved and how far ahead deadlines are, so a figure between \
             two mixes is an estimate.",
            sizes.join(", "),
            mixes.join(", ")
        ),
        "Tail: the time that one call in ten thousand exceeded (one in a thousand, if there are \
         few calls), for the slowest kind of call (start, stop, tick), at the nearest measured \
         point. Moves are not timed one by one. Bytes: per timer, after churn."
            .to_owned(),
    ]
}

/// The measured points and the constants of the script as JSON. Escaping `<` keeps the data from
/// ending the element around it.
fn data(it: &Explorer, other: Option<&Explorer>) -> String {
    let runs: Vec<&Explorer> = [it].into_iter().chain(other).collect();
    let data = json!({ "runs": runs, "TIE": picks::TIE, "COLOURED": COLOURED });
    data.to_string().replace('<', "\\u003c")
}
