//! Holds the workspace to ARCHITECTURE.md: which crate may depend on which, and that the files it
//! names exist.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Pages whose links are checked.
const PAGES: [&str; 4] = ["ARCHITECTURE.md", "TESTING.md", "README.md", "CONTRIBUTING.md"];
/// The crates for users. None of them depends on a crate that measures.
const PRODUCTS: [&str; 5] = ["service", "durable", "store-sqlite", "store-postgres", "store-redis"];
/// The crates of the workspace that products may depend on.
const PARTS: [&str; 4] = ["core", "hierarchical-wheel", "service", "durable"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn page(name: &str) -> String {
    std::fs::read_to_string(root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// A part of ARCHITECTURE.md, between its markers.
fn part(name: &str) -> String {
    let text = page("ARCHITECTURE.md");
    let part = text.split(&format!("BEGIN {name}")).nth(1).expect("the part begins");
    part.split(&format!("END {name}")).next().expect("the part ends").to_owned()
}

/// The layer of each crate, as the table of the page says.
fn layers() -> BTreeMap<String, usize> {
    let mut layers = BTreeMap::new();
    for row in part("layers").lines() {
        let mut cells = row.split('|').map(str::trim).skip(1);
        let Some(Ok(layer)) = cells.next().map(str::parse::<usize>) else { continue };
        for name in cells.next().expect("a cell with crates").split(", ") {
            let name = name.trim_matches('`').to_owned();
            assert!(layers.insert(name.clone(), layer).is_none(), "{name} is in two layers");
        }
    }
    layers
}

/// The output of a call of cargo.
fn cargo(line: &str) -> String {
    let mut cargo = Command::new(env!("CARGO"));
    let output = cargo.args(line.split(' ')).current_dir(root()).output().expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("names of crates are UTF-8")
}

/// The packages of the workspace, as `cargo metadata` describes them.
fn packages() -> Vec<Value> {
    let metadata = cargo("metadata --no-deps --offline --format-version 1");
    let mut metadata: Value = serde_json::from_str(&metadata).expect("cargo prints JSON");
    let Value::Array(packages) = metadata["packages"].take() else { panic!("no packages") };
    packages
}

/// The name of a crate on the page.
fn name_of(package: &Value) -> String {
    package["name"].as_str().expect("a name").replace("wheelhouse-", "")
}

/// Each crate of the workspace, and what it depends on: without what only its tests need.
fn dependencies() -> BTreeMap<String, Vec<String>> {
    let needed = |package: &Value| {
        let all = package["dependencies"].as_array().expect("an array").iter();
        all.filter(|it| it["kind"].as_str() != Some("dev")).map(name_of).collect()
    };
    packages().iter().map(|package| (name_of(package), needed(package))).collect()
}

/// The crates that are not published.
fn unpublished() -> BTreeSet<String> {
    part("unpublished").split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

#[test]
fn crates_depend_on_lower_layers_only() {
    let (layers, dependencies) = (layers(), dependencies());
    let (named, existing): (BTreeSet<_>, BTreeSet<_>) =
        (layers.keys().collect(), dependencies.keys().collect());
    assert_eq!(named, existing, "the table and the workspace name the same crates");
    for (name, needed) in &dependencies {
        for other in needed.iter().filter(|it| layers.contains_key(*it)) {
            let (upper, lower) = (layers[name], layers[other]);
            assert!(lower < upper, "{name} of layer {upper} depends on {other} of layer {lower}");
        }
    }
}

fn structures() -> Vec<String> {
    let is_structure = |(name, layer): &(String, usize)| {
        *layer == 1 && !["oracle", "workload", "machine"].contains(&name.as_str())
    };
    let all: Vec<_> = layers().into_iter().filter(is_structure).map(|(name, _)| name).collect();
    assert!(all.len() >= 11, "only these structures are in the table: {all:?}");
    all
}

#[test]
fn a_structure_depends_on_the_core_alone() {
    let dependencies = dependencies();
    for name in structures() {
        let allowed = ["core", "indexmap"];
        let other = dependencies[&name].iter().find(|it| !allowed.contains(&it.as_str()));
        assert_eq!(other, None, "{name} depends on another crate");
    }
}

#[test]
fn the_lists_of_structures_have_all_of_them() {
    for name in structures() {
        let module = format!("wheelhouse_{}", name.replace('-', "_"));
        // The script names the wheels by their ending.
        let is_wheel = name.ends_with("-wheel");
        let measured = if is_wheel { "crates/*-wheel/src\n" } else { &name }.to_owned();
        for (file, entry) in [
            ("scripts/check-runs", measured),
            ("README.md", format!("[crates/{name}](crates/{name})")),
            ("crates/wheelhouse/README.md", format!("| `{name}` |")),
            ("crates/wheelhouse/src/lib.rs", format!("pub use {module} as ")),
            ("crates/registry/src/lib.rs", format!("{module}::")),
        ] {
            assert!(page(file).contains(&entry), "{file} has no {entry}");
        }
    }
}

#[test]
fn crates_for_users_do_not_depend_on_crates_that_measure() {
    let (layers, dependencies) = (layers(), dependencies());
    for product in PRODUCTS {
        let needed = dependencies[product].iter().filter(|it| layers.contains_key(*it));
        let other = needed.clone().find(|it| !PARTS.contains(&it.as_str()));
        assert_eq!(other, None, "{product} depends on a crate that users do not need");
        assert!(needed.count() > 0, "{product} depends on something of the workspace");
    }
}

/// The crates that `cargo tree` shows beneath a crate, and how many of them are of the workspace.
fn tree(name: &str) -> (usize, usize) {
    let name = if name == "wheelhouse" { name.to_owned() } else { format!("wheelhouse-{name}") };
    // The numbers are those of one platform, whichever the test runs on.
    let platform = "--target x86_64-unknown-linux-gnu --locked";
    let text = cargo(&format!("tree --package {name} --edges normal --prefix none {platform}"));
    let names = text.lines().filter_map(|line| line.split(' ').next()).filter(|it| *it != name);
    let names: BTreeSet<&str> = names.filter(|it| !it.is_empty()).collect();
    (names.len(), names.iter().filter(|it| it.starts_with("wheelhouse")).count())
}

#[test]
fn crates_bring_as_many_others_as_the_page_says() {
    let (mut named, mut wrong) = (unpublished(), Vec::new());
    for row in part("dependencies").lines().filter(|row| row.starts_with("| `")) {
        let mut cells = row.split('|').map(str::trim).skip(1);
        let names = cells.next().expect("a cell").split(", ").map(|it| it.trim_matches('`'));
        let numbers: Vec<usize> = cells.map_while(|cell| cell.parse().ok()).collect();
        // No program depends on the tools, so the time to build them is not stated.
        let is_complete = numbers.len() == 3 || numbers.len() == 2 && row.ends_with("| – |");
        assert!(is_complete, "numbers in the row {row}");
        for name in names {
            let counted = tree(name);
            if counted != (numbers[0], numbers[1]) {
                wrong.push(format!("{name} has {counted:?}"));
            }
            assert!(named.insert(name.to_owned()), "{name} has two rows");
        }
    }
    let existing: BTreeSet<String> = packages().iter().map(name_of).collect();
    assert_eq!(named, existing, "each published crate has a row");
    assert_eq!(wrong, [""; 0], "all crates in the tree, and those of the workspace");
}

/// `cargo bench -- OPTIONS` passes the options to each library and program without `bench = false`,
/// and those know none of them.
#[test]
fn only_benches_receive_the_options_of_a_bench() {
    for package in packages() {
        let targets = package["targets"].as_array().expect("an array").iter();
        let kind = |target: &&Value| matches!(target["kind"][0].as_str(), Some("lib" | "bin"));
        let path = package["manifest_path"].as_str().expect("a path");
        let manifest = std::fs::read_to_string(path).expect("a manifest");
        let sections = manifest
            .split("\n[")
            .filter(|its| its.starts_with("lib]") || its.starts_with("[bin]]"));
        let without = sections.filter(|its| its.contains("\nbench = false")).count();
        assert!(without >= targets.filter(kind).count(), "{path}: a target lacks `bench = false`");
    }
}

/// What crates.io and docs.rs show, and what cargo needs, of each crate.
#[test]
fn published_crates_are_described() {
    let unpublished = unpublished();
    for package in packages() {
        let name = name_of(&package);
        let not_published = package["publish"].as_array().is_some_and(Vec::is_empty);
        assert_eq!(not_published, unpublished.contains(&name), "publication of {name}");
        if not_published {
            continue;
        }
        for field in ["description", "license", "readme", "documentation", "rust_version"] {
            let text = package[field].as_str().unwrap_or_default();
            assert!(!text.is_empty(), "{name} has no {field}");
        }
        // The limits of crates.io.
        for (field, longest) in [("categories", usize::MAX), ("keywords", 20)] {
            let words = package[field].as_array().expect("an array");
            let brief = words.iter().all(|it| it.as_str().is_some_and(|it| it.len() <= longest));
            assert!((1..=5).contains(&words.len()) && brief, "{field} of {name}");
        }
        let manifest = Path::new(package["manifest_path"].as_str().expect("a path"));
        features_are_documented(&name, &package, manifest.parent().expect("a folder"));
    }
}

/// A feature of the crate `wheelhouse` turns on the feature of the same name in each crate that it
/// re-exports, unless that is on by default.
#[test]
fn features_of_the_crate_wheelhouse_reach_the_other_crates() {
    let packages = packages();
    let package = |name: &str| packages.iter().find(|it| name_of(it) == name);
    let words = |list: &Value| -> BTreeSet<String> {
        let list = list.as_array().into_iter().flatten();
        list.map(|it| it.as_str().expect("a word").replace('?', "")).collect()
    };
    let own = package("wheelhouse").expect("it exists")["features"].as_object().expect("a map");
    for other in dependencies()["wheelhouse"].iter().filter_map(|it| package(it)) {
        let (name, features) = (&other["name"], other["features"].as_object().expect("a map"));
        let by_default = words(&other["features"]["default"]);
        for feature in features.keys().filter(|it| !by_default.contains(*it)) {
            let Some(enables) = own.get(feature).filter(|_| feature != "default") else { continue };
            let passed_on = format!("{}/{feature}", name.as_str().expect("a name"));
            assert!(words(enables).contains(&passed_on), "{feature} does not enable {passed_on}");
        }
    }
}

/// Each feature has a row in a table on the front page, and docs.rs shows and marks what it adds.
fn features_are_documented(name: &str, package: &Value, folder: &Path) {
    let features = package["features"].as_object().expect("a map");
    if features.is_empty() {
        return;
    }
    let read = |file: &str| std::fs::read_to_string(folder.join(file)).unwrap_or_default();
    let (readme, library) = (read("README.md"), read("src/lib.rs"));
    for feature in features.keys().filter(|it| *it != "default") {
        let row = format!("| `{feature}` |");
        assert!(readme.contains(&row) || library.contains(&row), "{name}: no row of {feature}");
    }
    if !library.is_empty() {
        let docs = &package["metadata"]["docs"]["rs"];
        assert_eq!(docs["all-features"], Value::Bool(true), "{name} on docs.rs");
        let marks = "#![cfg_attr(docsrs, feature(doc_cfg))]";
        assert!(library.contains(marks), "{name}: no marks of features");
    }
}

#[test]
fn files_that_the_pages_link_to_exist() {
    for name in PAGES {
        let text = page(name);
        let mut count = 0;
        for link in text.split("](").skip(1) {
            let link = link.split(')').next().expect("a link ends").trim_matches(['<', '>']);
            let file = link.split('#').next().expect("a path before the anchor");
            if file.is_empty() || link.contains("://") {
                continue;
            }
            count += 1;
            assert!(root().join(file).exists(), "{name} links to {file}, which does not exist");
        }
        assert!(count > 5, "{name} has only {count} links");
    }
}
