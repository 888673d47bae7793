//! Tests schedules that run through a window of their section (paper III.D, Theorems 3 and 4).

use crate::common::{TRANSPORTS, run_file, run_text};
use goal_asm::nisa::StreamLimits;
use goal_asm::nisa::limits::{TABLE_ENTRIES_MAX, WINDOW_ACTION_BYTES_MAX};
use goal_asm::{EncodeOptions, Nisa, encode};
use goal_engine::Calc;
use goal_filetest::patience;
use goal_interp::{Eager, Options as Interpreter};
use goal_job::{JobSpec, Window};
use goal_lang::Program;
use goal_lang::limits::Limits;
use goal_launch::{End, Options, Outcome, Ranks, run};
use goal_opt::{Machine, WindowError, topological, window};
use goal_smith::{Shape, program};
use std::fmt::Write;
use std::sync::Arc;

fn run_in_window(
    program: &Program,
    size: u32,
    eager_limit: u64,
    ranks: Ranks,
    repeat: u64,
) -> Outcome {
    let mut bytes = Vec::new();
    encode(program, &EncodeOptions::default(), None, &mut bytes).unwrap();
    let nisa = Nisa::load(Arc::new(bytes), &Limits::default()).unwrap();
    let limits =
        StreamLimits { table_entries: TABLE_ENTRIES_MAX, action_bytes: WINDOW_ACTION_BYTES_MAX };
    let window = Window::over(&nisa, &Limits::default(), size, limits).unwrap();
    let nisa = Arc::clone(window.nisa());
    let options = Options {
        spec: JobSpec {
            eager_limit,
            calc: Calc::Skip,
            repeat,
            timeout: Some(patience(60)),
            ..JobSpec::default()
        },
        ranks,
        window: Some(window),
        ..Options::default()
    };
    run(&nisa, &options).unwrap()
}

/// Runs a program and compares memory and counts with the interpreter's.
fn check(seed: u64, program: &Program, size: u32, ranks: Ranks) -> u64 {
    let repeat = 1 + seed % 2;
    let outcome = run_in_window(program, size, [0, 40, 16 << 10][seed as usize % 3], ranks, repeat);
    assert_eq!(outcome.end, End::Complete, "seed {seed}");
    let options = Interpreter { eager: Eager::None, ..Interpreter::default() };
    let wanted = goal_interp::run(program, &options).unwrap();
    assert_eq!(outcome.counts.messages, repeat * wanted.messages, "seed {seed}");
    assert_eq!(outcome.counts.verified_bytes, repeat * wanted.verified_bytes, "seed {seed}");
    assert_eq!(outcome.counts.unreceived, repeat * wanted.unreceived, "seed {seed}");
    let memory: Vec<Vec<u8>> = (0..program.num_ranks()).map(|rank| outcome.memory(rank)).collect();
    assert_eq!(wanted.first_difference(&memory), None, "seed {seed}: (rank, address) differs");
    outcome.counts.table_max.unwrap()
}

fn in_windows(seed: u64, size: u32) -> Option<Program> {
    let mut program = program(seed, &Shape { wtime: false, ..Shape::varied(seed) });
    match window(&mut program, size) {
        Ok(_) => Some(program),
        Err(WindowError::TooSmall { .. }) => None,
        Err(error) => panic!("seed {seed}: {error}"),
    }
}

#[test]
fn windows_of_the_compiler_run_in_a_window_of_their_size() {
    let mut done = 0;
    for seed in 0..goal_filetest::seeds(200) {
        let size = [2, 3, 8, 20][seed as usize % 4];
        let Some(program) = in_windows(seed, size) else { continue };
        done += 1;
        // A dummy lies between two windows, and both may reach into the one of the executor.
        let table_max = check(seed, &program, size + 1, Ranks::Threads);
        assert!(table_max <= u64::from(size) + 1, "seed {seed}: {table_max} entries");
    }
    assert!(done > 150, "{done} programs");
}

#[test]
fn processes_read_the_file_themselves() {
    for seed in 0..goal_filetest::seeds(8) {
        let Some(program) = in_windows(seed, 8) else { continue };
        check(seed, &program, 9, Ranks::Processes { executable: crate::common::GOAL_RUN.into() });
    }
}

#[test]
fn any_schedule_in_order_runs_in_a_window_that_is_large_enough() {
    for seed in 0..goal_filetest::seeds(100) {
        let mut program = program(seed, &Shape { wtime: false, ..Shape::varied(seed) });
        topological(&mut program, &Machine::default());
        check(seed, &program, 10_000, Ranks::Threads);
    }
}

/// The graph of the proof of Theorem 3 needs a table of half its actions; here without the
/// dependencies that others imply.
#[test]
fn the_adverse_graph_fills_the_table() {
    let mut text = String::from("num_ranks 1\nrank 0 {\n");
    for i in 1..=1000 {
        let _ = writeln!(text, "a{i}: calc 0");
    }
    for i in 1..500 {
        let _ = writeln!(text, "a{} requires a{i}", i + 1);
    }
    for i in 1..=500 {
        let _ = writeln!(text, "a{} requires a{i}", i + 500);
    }
    text.push('}');
    for transport in TRANSPORTS {
        let arguments = ["--window", "2", "--transport", transport, "--format", "json"];
        let ended = run_text(&text, &arguments);
        ended.assert_status(0);
        let most = ended.json()["table_max"].as_u64().unwrap();
        assert!((498..=500).contains(&most), "{most} entries");
        let ended = run_text(&text, &[&arguments[..], &["--max-table", "400"]].concat());
        ended.assert_status(1);
        ended.assert_says(&["to 400 later ones", "the limit of the table"]);
    }
}

#[test]
fn a_file_whose_dependencies_point_backwards_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("backwards.nisa");
    let mut program = goal_lang::ProgramBuilder::default();
    let mut body = goal_lang::BodyBuilder::default();
    let (first, second) =
        (body.action(goal_lang::Action::Nop), body.action(goal_lang::Action::Nop));
    body.requires(first, second);
    program.rank_with(body.finish());
    let mut bytes = Vec::new();
    encode(&program.finish(), &EncodeOptions::default(), None, &mut bytes).unwrap();
    std::fs::write(&path, &bytes).unwrap();
    run_file(&path, &[]).assert_status(0);
    let ended = run_file(&path, &["--window", "4"]);
    ended.assert_status(1);
    ended.assert_says(&["rank 0", "the pass topological", "without a window"]);

    *bytes.last_mut().unwrap() ^= 1;
    std::fs::write(&path, &bytes).unwrap();
    let ended = run_file(&path, &["--window", "4"]);
    ended.assert_status(1);
    ended.assert_says(&["checksum"]);
}
