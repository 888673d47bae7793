//! Generates the parser from the grammar.

use std::path::PathBuf;

fn main() {
    let grammar = PathBuf::from("../grammar");
    println!("cargo::rerun-if-changed=../grammar/goal.lalrpop");
    let out = std::env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    lalrpop::Configuration::new()
        .set_in_dir(grammar)
        .set_out_dir(out)
        .process()
        .expect("the grammar is LR(1) without conflicts");
}
