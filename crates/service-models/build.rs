//! Sets the flag with which the service uses the primitives of loom.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-cfg=wheelhouse_loom");
    // The features of the service. All are off here.
    println!("cargo::rustc-check-cfg=cfg(feature, values(\"cron\", \"tracing\"))");
}
