//! Records the compiler and the profile of this build, so that results can state them.

use std::env;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let rustc = env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let version = Command::new(rustc).arg("--version").output().ok();
    let version = version.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    println!(
        "cargo::rustc-env=WHEELHOUSE_RUSTC={}",
        version.unwrap_or_else(|| "unknown".to_owned())
    );

    let get = |name: &str| env::var(name).unwrap_or_default();
    let flags = get("CARGO_ENCODED_RUSTFLAGS").replace('\u{1f}', " ");
    let profile =
        format!("{}, opt-level {}, {} {}", get("PROFILE"), get("OPT_LEVEL"), get("TARGET"), flags);
    println!("cargo::rustc-env=WHEELHOUSE_PROFILE={}", profile.trim());
}
