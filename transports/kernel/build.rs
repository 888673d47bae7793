//! Builds the engine's object from its sources if the feature `kernel-build` asks for it. Otherwise
//! the committed object is used, and nothing is needed.

use std::path::PathBuf;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=bpf");
    println!("cargo::rerun-if-env-changed=CLANG");
    println!("cargo::rerun-if-env-changed=OBJCOPY");
    if std::env::var_os("CARGO_FEATURE_KERNEL_BUILD").is_none() {
        return;
    }
    let out = std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR");
    let object = PathBuf::from(out).join("engine.o");
    let way_out = "it needs sh, clang 14 or later (CLANG) and llvm-objcopy (OBJCOPY); without the \
                   feature kernel-build the committed object is used";
    match Command::new("sh").arg("bpf/build.sh").arg(&object).status() {
        Ok(status) if status.success() => {}
        Ok(status) => panic!("bpf/build.sh failed ({status}): {way_out}"),
        Err(error) => panic!("bpf/build.sh cannot be run ({error}): {way_out}"),
    }
}
