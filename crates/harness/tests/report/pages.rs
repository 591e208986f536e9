use std::fs;
use std::path::{Path, PathBuf};

use wheelhouse_harness::model::{ExternalStructure, Run};
use wheelhouse_harness::{report, store};

use crate::browser::{self, Screen};
use crate::{scratch, synthetic};

fn page(name: &str, run: &Run) -> (String, String) {
    let dir = scratch(name);
    let page = report::write(run, None, &dir).unwrap();
    assert_eq!(page, dir.join("report.html"));
    (fs::read_to_string(page).unwrap(), fs::read_to_string(dir.join("report.md")).unwrap())
}

#[test]
fn a_report_is_a_page_a_markdown_file_and_pictures() {
    let dir = scratch("report");
    let run = synthetic::run();
    store::save(&dir, &run).unwrap();
    report::write(&run, None, &dir).unwrap();
    report::write(&run, None, &dir).unwrap();
    let markdown = fs::read_to_string(dir.join("report.md")).unwrap();
    let links: Vec<&str> =
        markdown.split("](<").skip(1).map(|rest| rest.split(">)").next().unwrap()).collect();
    assert_eq!(links.len(), 21);
    for link in links {
        assert!(dir.join(link).is_file(), "{link} is linked but missing");
    }
    assert!(store::load(&dir).is_ok(), "the run is untouched");
}

#[test]
fn the_page_is_a_single_file() {
    let (html, _) = page("alone", &synthetic::run());
    assert!(html.starts_with("<!DOCTYPE html>") && html.ends_with("</html>"));
    for fetched in ["<link", "<img", "src=", "href=", "url(", "@import", "fetch("] {
        assert!(!html.contains(fetched), "{fetched}");
    }
    assert_eq!(html.matches("<svg").count(), 21);
    assert!(html.contains("prefers-color-scheme: dark"));
}

#[test]
fn the_page_fits_a_phone_even_with_a_long_commit() {
    let mut run = synthetic::run();
    run.provenance.commit = "02ff5b6a9d0c".repeat(4);
    let (html, _) = page("phone", &run);
    let script = "for (const it of document.querySelectorAll('details')) it.open = true;
        const { scrollWidth, clientWidth } = document.documentElement;
        say(scrollWidth - clientWidth);";
    let screen = Screen { width: 360, is_dark: false };
    let Some(lines) = browser::reported_lines("phone", &html, screen, script) else { return };
    assert_eq!(lines, ["0"]);
}

#[test]
fn the_answer_comes_first_and_doubts_and_provenance_are_included() {
    let (html, markdown) = page("order", &synthetic::run());
    for text in [html, markdown] {
        let at = |part: &str| text.find(part).unwrap_or_else(|| panic!("{part} is missing"));
        let order = [
            "The answer of this run",
            "At a glance: n = 1,000,000",
            "Time per operation",
            "Latency of single operations",
            "Memory",
            "how far to trust it",
        ];
        assert!(order.map(at).is_sorted());
        for part in [
            "rustc 1.95.0",
            "02ff5b6a9d0c",
            "wheelhouse bench --seed 1",
            "27.0 ns",
            "xeon-2c",
            "hold model of discrete-event",
        ] {
            at(part);
        }
    }
}

#[test]
fn texts_of_the_run_are_escaped() {
    let mut run = synthetic::run();
    run.provenance.cpu = "<script>alert(1)</script> | & \"".to_owned();
    run.failures[0].message = "<img src=x onerror=alert(1)>".to_owned();
    for row in run.throughput.iter_mut().filter(|r| r.backend == "skip-list") {
        row.backend = "</td><b>".to_owned();
        row.workload = "a</title>b".to_owned();
    }
    let (html, markdown) = page("escape", &run);
    for text in [&html, &markdown] {
        for raw in ["<script>alert", "<img", "</td><b>", "a</title>"] {
            assert!(!text.contains(raw), "{raw}");
        }
    }
    assert!(html.contains("&lt;script&gt;alert(1)"));
    assert!(markdown.contains("&lt;script&gt;alert(1)&lt;/script&gt; \\| &amp;"));
}

#[test]
fn the_page_of_an_empty_run_states_the_reason() {
    let mut run = synthetic::empty();
    (run.interrupted, run.provenance.dirty) = (true, true);
    let (html, markdown) = page("empty", &run);
    for text in [html, markdown] {
        for part in ["Nothing was measured", "was interrupted", "uncommitted changes"] {
            assert!(text.contains(part), "{part}");
        }
        assert!(!text.contains("Time per operation"));
    }
}

#[test]
fn impossible_figures_do_not_prevent_a_report() {
    let mut run = synthetic::run();
    run.throughput[0].ns_per_op = vec![f64::NAN, f64::INFINITY, 1e300];
    run.throughput[1].ns_per_op.clear();
    run.throughput[2].ns_per_op = vec![1e-300];
    run.throughput[3].n = 0;
    run.latency[0].curve = vec![(f64::NAN, 5), (-3.0, 1), (250.0, u64::MAX)];
    run.memory[0].peak = f64::INFINITY;
    run.provenance.started = "é".to_owned();
    run.provenance.commit = String::new();
    run.provenance.clock_overhead_ns = f64::NAN;
    let (html, _) = page("odd", &run);
    assert!(!html.contains("NaN"));
}

/// A page, and the folder of a run that belongs to it.
fn page_with_markers(name: &str, section: &str) -> (PathBuf, PathBuf) {
    let root = scratch(name);
    let dir = root.join("results").join("a run");
    fs::create_dir_all(&dir).unwrap();
    let page = root.join("README.md");
    let marked = format!("<!-- BEGIN {section}: generated by y -->\n<!-- END {section} -->\n");
    fs::write(&page, marked).unwrap();
    (page, dir)
}

#[test]
fn the_readme_section_has_table_picture_machine_and_commit() {
    let (readme, dir) = page_with_markers("readme", "reference");
    let run = synthetic::run();
    assert!(!report::splice_into(&run, &dir, &readme, true).unwrap());
    assert!(!report::splice_into(&run, &dir, &readme, false).unwrap());
    assert!(report::splice_into(&run, &dir, &readme, true).unwrap());
    let text = fs::read_to_string(&readme).unwrap();
    for part in [
        "hierarchical-wheel | **",
        "](<results/a run/plots/time-steady.svg>)",
        "Example(R) CPU",
        "commit 02ff5b6a",
        "(<results/a run/report.md>)",
    ] {
        assert!(text.contains(part), "{part} is missing in {text}");
    }
    let elsewhere = readme.with_file_name("docs");
    fs::create_dir_all(&elsewhere).unwrap();
    let page = elsewhere.join("page.md");
    fs::copy(&readme, &page).unwrap();
    report::splice_into(&run, &dir, &page, false).unwrap();
    let text = fs::read_to_string(page).unwrap();
    assert!(text.contains("](<../results/a run/plots/time-steady.svg>)"), "{text}");
}

#[test]
fn the_peers_section_has_the_table_and_the_reasons_for_empty_cells() {
    let (page, dir) = page_with_markers("external", "peers");
    let mut run = synthetic::run();
    let (name, version) = ("floor".to_owned(), "floor 1.2.3".to_owned());
    let cannot = vec!["it has no wings".to_owned()];
    run.external.push(ExternalStructure { name, version, cannot });
    assert!(!report::splice_into(&run, &dir, &page, false).unwrap());
    let text = fs::read_to_string(&page).unwrap();
    let reason = "floor: it has no wings";
    for part in ["hierarchical-wheel | **", "floor 1.2.3", reason, "(<results/a run/report.md>)"] {
        assert!(text.contains(part), "{part} is missing in {text}");
    }
    assert!(!text.contains(".svg"), "the picture belongs to the reference run");
    let sizes = text.matches("**At a glance: n = ").count();
    assert!(sizes > 1, "{text}");
    // A note that all tables share is printed once, below all of them.
    assert_eq!(text.matches(reason).count(), 1, "{text}");
    assert!(text.find(reason) > text.find("**Notes on all tables**"), "{text}");
    assert_eq!(text.matches("Spread (").count(), sizes, "{text}");
}

/// The page of the claims is at most ten screens tall before details are opened.
#[test]
fn the_page_of_the_claims_is_short() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../results/claims");
    let folder = folder.canonicalize().unwrap();
    let html = fs::read_to_string(folder.join("index.html")).unwrap();
    // The page links to its style and its plots.
    let base = format!("<head><base href=\"file://{}/\">", folder.display());
    let html = html.replacen("<head>", &base, 1);
    for width in [1280, 390] {
        let script = "say(document.documentElement.scrollHeight); say(innerHeight);";
        let screen = Screen { width, is_dark: false };
        let name = format!("claims-{width}");
        let Some(lines) = browser::reported_lines(&name, &html, screen, script) else { return };
        let pixels: Vec<u32> = lines.iter().map(|line| line.parse().unwrap()).collect();
        println!("{width} pixels wide: {} tall, a screen has {}", pixels[0], pixels[1]);
        assert!(pixels[0] <= 10 * pixels[1], "{width} pixels wide: {pixels:?}");
    }
}
