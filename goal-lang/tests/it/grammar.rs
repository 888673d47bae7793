//! The committed parser is the one that lalrpop makes of the grammar.

use std::path::Path;
use std::{env, fs};

#[test]
fn the_parser_is_made_of_the_grammar() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../grammar");
    let made = tempfile::tempdir().expect("a folder");
    let mut generator = lalrpop::Configuration::new();
    generator.set_in_dir(&folder).set_out_dir(made.path()).log_quiet();
    generator.process().expect("the grammar is LR(1) without conflicts");
    let made = fs::read(made.path().join("goal.rs")).expect("the generator writes it");
    let committed = folder.join("goal.rs");
    if env::var_os("GOAL_BLESS").is_some() {
        fs::write(&committed, &made).expect("the parser can be written");
    }
    let is_current = fs::read(&committed).is_ok_and(|committed| committed == made);
    assert!(
        is_current,
        "GOAL_BLESS=1 cargo test -p goal-lang --test it grammar writes grammar/goal.rs"
    );
}
