//! The cost model compared with LogGOPSim, on programs in which the two order equal events alike.
//! Each file of `tests/cost/` names a machine and the time at which each rank ends on it in
//! LogGOPSim.

use goal_lang::{ParseOptions, SourceMap};
use goal_opt::Machine;
use goal_opt::cost::predict;
use std::path::Path;
use std::sync::Arc;

#[test]
fn ranks_end_when_loggopsim_says() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cost");
    let mut tried = 0;
    let mut wrong = String::new();
    for entry in std::fs::read_dir(&folder).expect("the folder is there") {
        let path = entry.expect("an entry").path();
        let text = std::fs::read_to_string(&path).expect("a text");
        let header = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix("# ")?.strip_prefix(name));
            line.unwrap_or_else(|| panic!("{} has no line `# {name}`", path.display())).trim()
        };
        let machine = Machine::parse(header("machine:")).expect("a machine");
        let expected: Vec<f64> =
            header("finish_ns:").split(' ').map(|ns| ns.parse().expect("a number")).collect();
        let mut sources = SourceMap::default();
        sources.add(path.display().to_string(), Arc::new(text.clone().into_bytes()));
        let program =
            goal_lang::parse(&sources, &ParseOptions::default()).program.expect("a program");
        let found = predict(&program, &machine).expect("it ends").finish_ns;
        if found != expected {
            wrong += &format!("{}:\n    {found:?}\nfor {expected:?}\n", path.display());
        }
        tried += 1;
    }
    assert!(wrong.is_empty() && tried > 0, "{tried} files tried, these differ:\n{wrong}");
}
/// All ranks send to one, whose processor takes one message after the other. A simulation that
/// looked at all waiting messages for each of them would take hours.
#[test]
fn many_messages_wait_for_one_processor() {
    let ranks = 200_000;
    let mut text = format!("num_ranks {ranks} rank 0 {{\n");
    (1..ranks).for_each(|rank| text += &format!("recv 1b from {rank}\n"));
    text += "}\n";
    (1..ranks).for_each(|rank| text += &format!("rank {rank} {{ send 1b to 0 }}\n"));
    let mut sources = SourceMap::default();
    sources.add("gather.goal", Arc::new(text.into_bytes()));
    let program = goal_lang::parse(&sources, &ParseOptions::default()).program.expect("a program");
    let machine = Machine::parse("L=10,o=5,g=0,G=0,O=0,S=1").expect("a machine");
    let finish_ns = predict(&program, &machine).expect("it ends").finish_ns;
    assert_eq!(finish_ns[0], 15.0 + 5.0 * f64::from(ranks - 1));
    assert!(finish_ns[1..].iter().all(|&ns| ns == 5.0));
}
