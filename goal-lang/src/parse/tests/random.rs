use proptest::prelude::*;

use super::*;

const WORDS: &[&str] = &[
    "send",
    "recv",
    "calc",
    "exec",
    "user",
    "requ",
    "requires",
    "irequires",
    "to",
    "from",
    "with",
    "tag",
    "cpu",
    "nic",
    "any",
    "init",
    "expect",
    "scratch",
    "rank",
    "num_ranks",
    "nop",
    "a",
    "b",
    "l1",
    "l2",
    ":",
    ";",
    ",",
    "{",
    "}",
    "[",
    "]",
    "@",
    "=",
    "*",
    "->",
    "-",
    "+",
    "^",
    "rank+1",
    "rank-1",
    "rank^1",
    "-1",
    "#",
    "#1",
    "//",
    "/*",
    "*/",
    "0",
    "1",
    "8",
    "8b",
    "300",
    "99999999999999999999",
    "0x1f",
    "1.5",
    "1e400",
    "nan",
    "-inf",
    "Int32",
    "Float16",
    "sumInt32",
    "copyFloat64",
    "wtime",
    "\n",
    "\r\n",
    "\u{e9}",
];

proptest! {
    #[test]
    fn any_bytes_are_read(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        check(&bytes);
    }

    #[test]
    fn any_words_are_read(words in proptest::collection::vec(proptest::sample::select(WORDS), 0..60)) {
        check(words.join(" ").as_bytes());
    }
}

/// Statements that are plain, and almost so.
fn statement() -> impl Strategy<Value = String> {
    let word = |words: &'static [&'static str]| proptest::sample::select(words);
    let label = || {
        word(&[
            "l1", "l2", "l3", "b", "tag", "send", "rank", "requires", "_x", "l\u{e9}", "1a", "l1",
            "l2",
        ])
    };
    let space = || word(&[" ", " ", " ", " ", "", "\t ", "\n", " # c\n", "/**/"]);
    let number = || {
        word(&["0", "1", "8", "7", "300", "0x1", "999999999", "9999999999", "99999999999999999999"])
    };
    let unit = || word(&["b", "b", "b", " b", "", ",8"]);
    let keyword = word(&["send", "recv", "calc", "nop"]);
    let attribute = (space(), word(&["tag", "cpu", "nic", "tag", "to", "b"]), space(), number())
        .prop_map(|(a, b, c, d)| [a, b, c, d].concat());
    let peer = (space(), word(&["to", "from", "to", "from", "tag"]), space(), number())
        .prop_map(|(a, b, c, d)| [a, b, c, d].concat());
    let head = proptest::option::of((label(), word(&[":", ": ", ":\t", " : ", " "])))
        .prop_map(|head| head.map_or(String::new(), |(a, b)| [a, b].concat()));
    let attributes = proptest::collection::vec(attribute, 0..3).prop_map(|list| list.concat());
    let operation = (
        head,
        keyword,
        space(),
        number(),
        unit(),
        proptest::option::weighted(0.8, peer),
        attributes,
    )
        .prop_map(|(a, b, c, d, e, f, g)| {
            [a.as_str(), b, c, d, e, &f.unwrap_or_default(), &g].concat()
        });
    let kind = word(&["requires", "irequires", "requires", "->"]);
    let dependency = (label(), space(), kind, space(), label())
        .prop_map(|(a, b, c, d, e)| [a, b, c, d, e].concat());
    let other = word(&["}", "rank 1 {", "requ l1 -> l2", "nop", "tag 3", "}}", "num_ranks 2"]);
    let end = word(&["\n", "\n", "\n", ";", " ", "\r\n", "", " \n\n", "# c\n"]);
    let plain = word(&[
        "l1: send 8b to 1 tag 7",
        "recv 8b from 1",
        "x: calc 5 cpu 1",
        "l1 requires l2",
        "tagged irequires l1",
        "b: calc 1",
        "send: calc 1",
        "nop: calc 1",
    ]);
    let statement = prop_oneof![
        8 => plain.prop_map(str::to_owned),
        4 => operation,
        2 => dependency,
        1 => other.prop_map(str::to_owned),
    ];
    (statement, end).prop_map(|(a, b)| a + b)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(goal_filetest::seeds(2000) as u32))]
    #[test]
    fn whole_statements_are_their_words(statements in proptest::collection::vec(statement(), 0..20)) {
        let text = format!("rank 0 {{\n{}}}", statements.concat());
        for text in [text.as_str(), &statements.concat()] {
            let read = |lexer| {
                let all = (0, text.len());
                let (chunk, report) =
                    chunk::parse_chunk(text.as_bytes(), all, lexer, 0, &ParseOptions::default());
                let places = |found: &crate::diag::Diagnostic| {
                    (found.code, found.labels.iter().map(|label| label.span).collect::<Vec<_>>())
                };
                // The parts that are read around an error may be more or fewer.
                let chunk = (report.errors == 0).then(|| format!("{chunk:?}"));
                (chunk, report.errors, report.diagnostics.iter().map(places).collect::<Vec<_>>())
            };
            check(text.as_bytes());
            let lexer = || crate::lexer::Lexer::new(text.as_bytes(), 0, text.len());
            prop_assert_eq!(read(lexer()), read(lexer().whole_statements()), "{}", text);
        }
    }
}

fn check(bytes: &[u8]) {
    let mut sources = SourceMap::default();
    sources.add("random", Arc::new(bytes.to_vec()));
    let parsed = parse(&sources, &ParseOptions::default());
    assert_eq!(parsed.program.is_none(), parsed.report.errors > 0);
    if let Ok(one) = parse_symmetric(&sources, &ParseOptions::default()) {
        let all = parsed.program.as_ref().expect("it has no errors");
        assert!(one.body.same_graph(all.body_of(0)));
    }
    let mut out = Vec::new();
    crate::diag::render(&parsed.report, &sources, false, &mut out).expect("memory");
    crate::diag::render_json(&parsed.report, &sources, &mut out).expect("memory");
    for style in [None, Some(Style::Paper2009), Some(Style::Schedgen)] {
        let Ok(once) = fmt(bytes, FormatOptions { style }) else {
            assert!(parsed.program.is_none());
            continue;
        };
        assert_eq!(fmt(&once, FormatOptions { style }).as_ref(), Ok(&once), "formatted again");
        let Some(program) = &parsed.program else { continue };
        let again =
            parse_with(&[&once], &ParseOptions::default()).program.expect("the same program");
        assert_eq!((&program.ranks, &program.images), (&again.ranks, &again.images));
        assert!(program.bodies.iter().zip(&again.bodies).all(|(a, b)| a.same_graph(b)));
    }
}
