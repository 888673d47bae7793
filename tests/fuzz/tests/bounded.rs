//! Runs the harnesses over the corpus, and those of text and frames over mutations of it and over
//! random words, a bounded number of times. The bounded runs of binary formats are in
//! `goal-asm/tests`.

use proptest::prelude::*;
use std::path::Path;

/// Returns every file of a target's corpus; for text, the examples too. A file that once broke a
/// reader belongs there.
fn corpus(target: &str) -> Vec<Vec<u8>> {
    let home = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = vec![home.join("corpus").join(target)];
    if target == "text" {
        folders.push(home.join("../../examples"));
    }
    let files = |folder| std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<_> = folders.iter().flat_map(files).collect();
    paths.retain(|path| path.is_file());
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).unwrap()).collect()
}

/// One change to some bytes.
#[derive(Debug, Clone)]
enum Mutation {
    Set(usize, u8),
    Word(usize, u32),
    Insert(usize, u8),
    Remove(usize, usize),
    Repeat(usize, usize),
    Truncate(usize),
}

fn mutations() -> impl Strategy<Value = Vec<Mutation>> {
    let word =
        prop_oneof![Just(0), Just(1), Just(u32::MAX), Just(0x8000_0000), 0u32..64, any::<u32>()];
    let one = prop_oneof![
        4 => (any::<usize>(), any::<u8>()).prop_map(|(at, byte)| Mutation::Set(at, byte)),
        4 => (any::<usize>(), word).prop_map(|(at, word)| Mutation::Word(at, word)),
        1 => (any::<usize>(), any::<u8>()).prop_map(|(at, byte)| Mutation::Insert(at, byte)),
        1 => (any::<usize>(), 1usize..64).prop_map(|(at, len)| Mutation::Remove(at, len)),
        1 => (any::<usize>(), 1usize..64).prop_map(|(at, len)| Mutation::Repeat(at, len)),
        1 => any::<usize>().prop_map(Mutation::Truncate),
    ];
    prop::collection::vec(one, 1..6)
}

fn mutated(mut bytes: Vec<u8>, mutations: &[Mutation]) -> Vec<u8> {
    for mutation in mutations {
        if bytes.is_empty() {
            break;
        }
        let len = bytes.len();
        match *mutation {
            Mutation::Set(at, byte) => bytes[at % len] = byte,
            Mutation::Word(at, word) => {
                let at = (at % len) & !3;
                for (byte, new) in bytes[at..].iter_mut().zip(word.to_le_bytes()) {
                    *byte = new;
                }
            }
            Mutation::Insert(at, byte) => bytes.insert(at % len, byte),
            Mutation::Remove(at, count) => drop(bytes.drain(at % len..(at % len + count).min(len))),
            Mutation::Repeat(at, count) => {
                let range = at % len..(at % len + count).min(len);
                bytes.extend_from_within(range);
            }
            Mutation::Truncate(at) => bytes.truncate(at % len),
        }
    }
    bytes
}

#[test]
fn the_corpus_itself() {
    let accepted = |target: &str, accept: fn(&[u8]) -> bool| {
        let files = corpus(target);
        assert!(
            files.iter().filter(|bytes| accept(bytes)).count() > 0,
            "no file of {target} is accepted"
        );
    };
    accepted("text", goal_fuzz::text);
    accepted("nisa", goal_fuzz::nisa);
    accepted("loggopsim", goal_fuzz::loggopsim);
    accepted("machine", goal_fuzz::machine);
    accepted("trace", goal_fuzz::trace);
    let all_accepted = |target: &str, accept: fn(&[u8]) -> bool| {
        accepted(target, accept);
        let refused = corpus(target).into_iter().find(|bytes| !accept(bytes));
        assert_eq!(refused, None, "a file of {target} is not accepted");
    };
    all_accepted("frame", goal_fuzz::frame);
    all_accepted("chunk", goal_fuzz::chunk);
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: goal_filetest::seeds(4_000) as u32,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn mutated_text(which in any::<prop::sample::Index>(), changes in mutations()) {
        let changed = mutated(which.get(&corpus("text")).clone(), &changes);
        goal_fuzz::text(&changed);
    }

    #[test]
    fn mutated_frames(which in any::<prop::sample::Index>(), changes in mutations()) {
        goal_fuzz::frame(&mutated(which.get(&corpus("frame")).clone(), &changes));
        goal_fuzz::chunk(&mutated(which.get(&corpus("chunk")).clone(), &changes));
    }

    #[test]
    fn mutated_machines(which in any::<prop::sample::Index>(), changes in mutations()) {
        goal_fuzz::machine(&mutated(which.get(&corpus("machine")).clone(), &changes));
    }

    #[test]
    fn mutated_traces(which in any::<prop::sample::Index>(), changes in mutations()) {
        goal_fuzz::trace(&mutated(which.get(&corpus("trace")).clone(), &changes));
    }

    #[test]
    fn random_machines(parts in prop::collection::vec(prop::sample::select(PARTS), 0..24)) {
        goal_fuzz::machine(parts.concat().as_bytes());
    }

    #[test]
    fn random_bytes(bytes in prop::collection::vec(any::<u8>(), 0..512)) {
        goal_fuzz::text(&bytes);
    }

    #[test]
    fn random_words(words in prop::collection::vec(prop::sample::select(WORDS), 0..64)) {
        goal_fuzz::text(words.join(" ").as_bytes());
    }
}

/// Pieces of descriptions of machines.
const PARTS: &[&str] = &[
    "L=",
    "o=",
    "g=",
    "G=",
    "O=",
    "S=",
    "0",
    "1",
    "2.5",
    "65535",
    "1e9",
    "1e-9",
    "-1",
    "nan",
    "inf",
    "99999999999999999999",
    ",",
    ",",
    ",",
    " ",
    "\n",
    "# ",
    "\u{1b}",
    "ä",
];

/// Pieces of the language, so that random sequences get past the lexer.
const WORDS: &[&str] = &[
    "rank",
    "num_ranks",
    "{",
    "}",
    "#0",
    "#1",
    "*",
    ",",
    ";",
    ":",
    "0",
    "1",
    "2",
    "8",
    "255",
    "4294967295",
    "-1",
    "8b",
    "18446744073709551615",
    "send",
    "recv",
    "exec",
    "calc",
    "nop",
    "to",
    "from",
    "with",
    "requ",
    "->",
    "requires",
    "irequires",
    "tag",
    "cpu",
    "nic",
    "any",
    "user",
    "sumInt32",
    "copyUInt8",
    "bandFloat32",
    "maxFloat8",
    "wtime",
    "scratch",
    "init",
    "expect",
    "=",
    "Int32",
    "Float64",
    "1.5e3",
    "nan",
    "[",
    "]",
    "@",
    "@0,4",
    "0,4",
    "4,4",
    "a:",
    "a",
    "b:",
    "b",
    "l1:",
    "l1",
    "\n",
    "// c\n",
    "/* c */",
    "# c\n",
    "/*",
    "\u{fe0f}",
];
