//! Sets the flag with which the service uses the primitives of loom.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-cfg=wheelhouse_loom");
}
