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

/// Programs with a blank between every two tokens. Together they have every production of the
/// grammar.
const SPACED: [&str; 6] = [
    "num_ranks 2 rank #0 , #1 { a : send 8 b to 0 ; requ b -> a ; ; b : recv 0x8 b from any tag any ; }",
    "num_ranks 2 rank 0 , 1 { a : send 8 b to 0 tag 1 b : recv 8 b from -1 tag -1 cpu 0 nic 1 b requires a } rank 1 { } ;",
    "num_ranks 1 rank * { scratch 8 exec sumInt32 with 0 , 8 , 8 , 8 , @ 0 , 8 x : exec user 5 with 0 , 4 [ 4 , 4 8 , 4 ] y : exec wtime with 16 , 8 y irequires x }",
    "init 0 = Int32 1 -2 0xff expect 4 = Float32 1.5 nan s : send 0 , 8 to 0 with sumInt32 8 , 8 tag 2 recv 0 , 8 from 0 with sumInt32 nop calc 10",
    "calc 10 b requires tag ; tag : calc 1 requ cpu -> b cpu : nop b : nop requires : nop ; requires requires b requ any -> irequires any : nop irequires : calc 0x1f",
    "rank 0 { send 8 b to 0 } rank 1 { }",
];

/// Comments of every form, each with a text that occurs nowhere else.
const COMMENTS: [&str; 8] = [
    "/*c0*/",
    " /*c1*/ ",
    "\n\n/*c2\n }*/\n",
    "/*/c3*/",
    "#c4 {\n",
    "#5c\n",
    " //c6\r\n",
    "\n//c7 b:\n\n",
];

/// The text of tokens with comments before some of them. `None` for no comments, and blanks where
/// two tokens would become one without.
fn spaced(tokens: &[&str], gap: &str, comments: &[(usize, &str)]) -> String {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let mut text = String::new();
    for (at, token) in tokens.iter().chain(&[""]).enumerate() {
        let here: Vec<&str> = comments
            .iter()
            .filter(|(place, _)| *place == at)
            .map(|(_, comment)| *comment)
            .collect();
        if here.is_empty() && text.bytes().last().is_some_and(is_word) {
            text +=
                if token.bytes().next().is_some_and(is_word) && gap.is_empty() { " " } else { gap };
        }
        here.into_iter().for_each(|comment| text += comment);
        text += token;
    }
    text
}

/// Formats a text in every style, and what came out once more. Returns false if the text is not in
/// the language.
fn check_comments(text: &str, before: &Program, comments: &[(usize, &str)]) -> bool {
    for style in STYLES {
        let Ok(once) = fmt(text.as_bytes(), FormatOptions { style }) else { return false };
        let show = String::from_utf8_lossy(&once);
        assert!(same(before, &program(&once)), "{style:?}\n{text}\nbecame\n{show}");
        for (_, comment) in comments {
            let words = comment.trim().trim_start_matches(['#', '/']).replace('\r', "");
            assert_eq!(show.matches(&words).count(), 1, "{style:?}\n{text}\nbecame\n{show}");
        }
        let twice = fmt(&once, FormatOptions { style }).expect("the text parses");
        let twice = String::from_utf8_lossy(&twice);
        assert_eq!(show, twice, "{style:?}\n{text}");
    }
    true
}

#[test]
fn comments_between_all_tokens() {
    let (mut tried, mut refused) = (0, 0);
    for spaces in SPACED {
        let tokens: Vec<&str> = spaces.split(' ').collect();
        let before = program(spaces.as_bytes());
        let mut check = |comments: &[(usize, &str)]| {
            for gap in [" ", ""] {
                tried += 1;
                let text = spaced(&tokens, gap, comments);
                refused += usize::from(!check_comments(&text, &before, comments));
            }
        };
        for place in 0..=tokens.len() {
            COMMENTS.iter().for_each(|comment| check(&[(place, comment)]));
        }
        // Two comments at every two places, of forms that vary from pair to pair.
        let pairs = (0..=tokens.len()).flat_map(|a| (a..=tokens.len()).map(move |b| (a, b)));
        // A quarter of them by default, as all take some seconds.
        let some =
            pairs.enumerate().filter(|(number, _)| (*number as u64) % 4 < goal_filetest::seeds(1));
        for (number, (a, b)) in some {
            let first = number % COMMENTS.len();
            let second =
                (first + 1 + number / COMMENTS.len() % (COMMENTS.len() - 1)) % COMMENTS.len();
            check(&[(a, COMMENTS[first]), (b, COMMENTS[second])]);
        }
    }
    // `#5` in a list of ranks is a rank.
    assert!(refused > 0 && refused < tried / 20, "{refused} of {tried} refused");
}

#[test]
fn comments_around_a_fault() {
    for spaces in SPACED {
        let tokens: Vec<&str> = spaces.split(' ').collect();
        for left_out in 0..tokens.len() {
            let rest: Vec<&str> = tokens
                .iter()
                .enumerate()
                .filter(|(at, _)| *at != left_out)
                .map(|(_, token)| *token)
                .collect();
            for comment in COMMENTS {
                for place in left_out.saturating_sub(1)..=(left_out + 1).min(rest.len()) {
                    let text = spaced(&rest, " ", &[(place, comment)]);
                    for style in STYLES {
                        // Some texts are still in the language.
                        if let Ok(once) = fmt(text.as_bytes(), FormatOptions { style }) {
                            let twice = fmt(&once, FormatOptions { style });
                            assert_eq!(twice.expect("the text parses"), once, "{style:?}\n{text}");
                        }
                    }
                    let mut sources = SourceMap::default();
                    sources.add("text", Arc::new(text.into_bytes()));
                    parse(&sources, &ParseOptions::default());
                }
            }
        }
    }
}
