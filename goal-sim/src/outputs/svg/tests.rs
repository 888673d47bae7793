//! Pictures of simulations, read back.

use super::super::tests::{program, run, run_in};
use super::super::tracks::{Part, Track};
use super::bins::BINS;
use super::frame::Frame;
use super::summary::Summary;
use super::{JOBS_MAX, ROWS_MAX, Title, Work};
use goal_lang::Labels;
use goalc::driver::{self, Emit, Options, Output, Target};
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// Most bytes of a picture.
const BYTES_MAX: usize = 1 << 20;

/// Returns the texts of a picture that is well-formed and not too large, and the number of its
/// rectangles.
fn read(folder: &Path) -> (Vec<String>, usize) {
    let svg = fs::read_to_string(folder.join("x.svg")).unwrap();
    assert!(svg.len() < BYTES_MAX, "{} bytes", svg.len());
    let document = roxmltree::Document::parse(&svg).unwrap();
    let named = |name: &'static str| {
        document
            .descendants()
            .filter(move |node| node.has_tag_name(("http://www.w3.org/2000/svg", name)))
    };
    let texts = named("text").chain(named("title")).filter_map(|node| node.text());
    (texts.map(str::to_owned).collect(), named("rect").count())
}

fn has(texts: &[String], part: &str) -> bool {
    texts.iter().any(|text| text.contains(part))
}

/// Returns a program of a ring with these labels.
fn ring(ranks: usize, rounds: usize, label: impl Fn(usize) -> String) -> String {
    let mut text = format!("num_ranks {ranks}\n");
    for rank in 0..ranks {
        let (next, before) = ((rank + 1) % ranks, (rank + ranks - 1) % ranks);
        let _ = writeln!(text, "rank {rank} {{");
        for round in 0..rounds {
            let label = label(round);
            let _ = writeln!(text, "{label}: send 8b to {next} tag {round}");
            let _ = writeln!(text, "r{round}: recv 8b from {before} tag {round}");
        }
        let _ = writeln!(text, "}}");
    }
    text
}

#[test]
fn small_programs_show_each_job_and_message() {
    let mut random = fastrand::Rng::with_seed(3);
    for _ in 0..20 {
        let folder = run(&program(&mut random, 20), &["-o", "100"]);
        let (texts, _) = read(folder.path());
        let sent = texts.iter().filter(|text| text.contains(": send ")).count();
        let received = texts.iter().filter(|text| text.contains(": recv ")).count();
        assert_eq!((sent, received), (20, 20));
        let svg = fs::read_to_string(folder.path().join("x.svg")).unwrap();
        let lines =
            svg.lines().filter(|line| line.starts_with("<path d=\"M") && line.contains('L'));
        assert_eq!(lines.count(), 20, "messages");
    }
}

#[test]
fn large_programs_are_summed_up() {
    let folder = run(&ring(500, 40, |round| format!("s{round}")), &[]);
    let (texts, rectangles) = read(folder.path());
    assert!(has(&texts, "Messages are not drawn") && has(&texts, "ranks 0-15"), "{texts:?}");
    assert!(has(&texts, "ranks 496-499"), "the last row has fewer ranks");
    assert!(rectangles <= ROWS_MAX + 10);
}

#[test]
fn many_jobs_of_few_ranks_are_summed_up() {
    let folder = run(&ring(2, JOBS_MAX, |round| format!("s{round}")), &[]);
    let (texts, _) = read(folder.path());
    assert!(has(&texts, "Messages are not drawn") && has(&texts, "rank 1"), "{texts:?}");
}

#[test]
fn programs_without_time_have_pictures() {
    let cases = ["rank 0 { }", "rank 0 { calc 0 }", "rank 0 { nop }"];
    for text in cases {
        read(run(text, &["-o", "0", "-g", "0", "-L", "0"]).path());
    }
}

#[test]
fn the_largest_detail_is_bounded() {
    // The most jobs that are drawn one by one, with the longest names.
    let rounds = JOBS_MAX / ROWS_MAX / 2;
    let folder = tempfile::tempdir().unwrap();
    let text = ring(ROWS_MAX, rounds, |round| format!("s{round}"));
    run_in(folder.path(), &nisa(&text, &"&".repeat(1000)), &["-o", "123.456"]);
    let (texts, rectangles) = read(folder.path());
    assert!(rectangles > ROWS_MAX * rounds * 2 && !has(&texts, "not drawn"));
}

#[test]
fn the_largest_sum_is_bounded() {
    let processor = |rank| Track { rank, part: Part::Processor, number: 0 };
    let tracks: Vec<Track> = (0..100 * ROWS_MAX as u32).map(processor).collect();
    let mut summary = Summary::new(tracks.len(), &tracks);
    // Each bin has shares of its own.
    let mut random = fastrand::Rng::with_seed(5);
    for at in 0..BINS as u64 * ROWS_MAX as u64 {
        let (row, start) = ((at % ROWS_MAX as u64) as usize, at / ROWS_MAX as u64 * 1000);
        for work in Work::ALL {
            summary.add(row, work, start, start + random.u64(1..1000));
        }
    }
    let title = Title { name: "x".into(), ranks: tracks.len(), machine: String::new() };
    let end = BINS as u64 * 1000;
    let mut frame = Frame::new(&title, end, end);
    summary.draw(&mut frame);
    let svg = frame.finish();
    assert!(svg.len() > BYTES_MAX / 8 && svg.len() < BYTES_MAX, "{} bytes", svg.len());
}

/// Writes a text as a NISA file in which each label is `label`. A text can't have such labels.
fn nisa(text: &str, label: &str) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("x.goal"), text).unwrap();
    let options = Options::default();
    let mut loaded = driver::load_program(&[at("x.goal")], &options).unwrap();
    for body in &mut loaded.program.bodies {
        body.debug.labels = Labels::default();
        (0..body.len()).for_each(|_| body.debug.labels.push(label));
    }
    let mut out = Output::create(&Target::File(at("x.nisa")), true).unwrap();
    driver::emit(&mut loaded, Emit::Nisa, &options, &mut out).unwrap();
    out.finish().unwrap();
    fs::read(at("x.nisa")).unwrap()
}

#[test]
fn labels_can_not_leave_their_place() {
    let label = "</title>&<b>\u{1}\"]}\n,\\\u{fffe}";
    let folder = tempfile::tempdir().unwrap();
    run_in(folder.path(), &nisa("rank 0 { a: calc 5000000 }", label), &[]);
    let (texts, _) = read(folder.path());
    assert!(has(&texts, "</title>&<b>\u{fffd}\"]}\u{fffd},\\\u{fffd}"), "{texts:?}");
    let trace = fs::read(folder.path().join("x.json")).unwrap();
    let trace: serde_json::Value = serde_json::from_slice(&trace).unwrap();
    assert!(trace["traceEvents"].as_array().unwrap().iter().any(|event| event["name"] == label));
}
