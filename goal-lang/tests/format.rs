//! The formatter on random programs and on every example: it changes neither the program nor, a
//! second time, the text.

use std::path::Path;
use std::sync::Arc;

use goal_lang::{FormatOptions, ParseOptions, Program, SourceMap, Style, fmt, parse, print};
use goal_smith::Shape;

const STYLES: [Option<Style>; 3] = [None, Some(Style::Paper2009), Some(Style::Schedgen)];

fn program(text: &[u8]) -> Program {
    let mut sources = SourceMap::default();
    sources.add("text", Arc::new(text.to_vec()));
    let parsed = parse(&sources, &ParseOptions::default());
    parsed
        .program
        .unwrap_or_else(|| panic!("{:#?}\n{}", parsed.report, String::from_utf8_lossy(text)))
}

fn same(a: &Program, b: &Program) -> bool {
    a.ranks == b.ranks
        && a.images == b.images
        && a.bodies.len() == b.bodies.len()
        && a.bodies
            .iter()
            .zip(&b.bodies)
            .all(|(a, b)| a.same_graph(b) && a.debug.labels == b.debug.labels)
}

/// Formats in every style, and what came out in every style again.
fn check(text: &[u8]) {
    let before = program(text);
    let show = |text: &[u8]| String::from_utf8_lossy(text).into_owned();
    for style in STYLES {
        let once = fmt(text, FormatOptions { style }).expect("the text parses");
        assert!(
            same(&before, &program(&once)),
            "{style:?}\n{}\nbecame\n{}",
            show(text),
            show(&once)
        );
        for comment in ["/*c*/", "#c\n", "//\n"] {
            // The form that LogGOPSim's parser knows.
            let known = |text: &str| match style {
                Some(Style::Schedgen) => text.replace("#c\n", "//c\n").replace("#\n", "//\n"),
                _ => text.to_owned(),
            };
            assert_eq!(
                show(&once).matches(&known(comment)).count(),
                known(&show(text)).matches(&known(comment)).count(),
                "{comment}"
            );
        }
        for again in STYLES {
            let twice = fmt(&once, FormatOptions { style: again }).expect("the text parses");
            if again == style || again.is_none() {
                assert_eq!(show(&once), show(&twice), "{style:?}, then {again:?}");
            }
            assert!(same(&before, &program(&twice)));
        }
    }
}

#[test]
fn examples() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    let mut count = 0;
    for entry in folder.read_dir().expect("the examples") {
        let path = entry.expect("an example").path();
        if path.extension().is_some_and(|extension| extension == "goal") {
            let text = std::fs::read(&path).expect("a readable file");
            check(&text);
            let formatted = fmt(&text, FormatOptions::default()).expect("the text parses");
            assert!(formatted == text, "{}: run goalc fmt", path.display());
            count += 1;
        }
    }
    assert!(count > 0);
}

#[test]
fn the_readme_shows_an_example() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let read = |name: &str| std::fs::read_to_string(root.join(name)).expect("a readable file");
    let example = read("examples/hello.goal");
    assert!(
        read("README.md").contains(&format!("```\n{example}```")),
        "README.md shows examples/hello.goal"
    );
}

#[test]
fn random_programs_with_odd_space() {
    for seed in 0..goal_filetest::seeds(200) {
        let mut text = Vec::new();
        let style = if seed % 2 == 0 { Style::Paper2009 } else { Style::Schedgen };
        print(&goal_smith::program(seed, &Shape::default()), style, &mut text).expect("memory");
        check(&text);
        check(&scatter(&text, seed));
    }
}

/// The text with other space, comments among it, between its tokens.
fn scatter(text: &[u8], seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    };
    let mut out = Vec::new();
    for &byte in text {
        match byte {
            b'\n' => out.extend_from_slice(
                [
                    &b"\n"[..],
                    b"\n\n\n",
                    b" ",
                    b" #c\n",
                    b"\n/*c*/\n",
                    b" ;\n",
                    b"/*c*/;\n;",
                    b"\r\n",
                ][next(8) as usize],
            ),
            b' ' => out.extend_from_slice(
                [&b" "[..], b" ", b" ", b"\n", b"/*c*/", b" //\n", b"#c\n\n", b"\t "]
                    [next(8) as usize],
            ),
            b',' if next(8) == 0 => out.extend_from_slice(b" /*c*/, "),
            byte => out.push(byte),
        }
    }
    out
}
