//! The examples of the documentation: the reference's and those of the pages of findings.
//!
//! A block marked `goal` is a program without findings; `goal,error=KIND` and `goal,warning=KIND`
//! have exactly those of that kind. The examples of whole-program findings go through the checks.
//! Collective statements find their groups in a block marked `groups` of the page.
//! `GOAL_BLESS=1` writes the reports into the pages of findings.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use goal_check::{Collective, Options};
use goal_lang::diag::{Code, Report, render};
use goal_lang::{
    CollectiveKind, Datatype, Function, Groups, Op, ParseOptions, SourceMap, instances, parse,
};

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

/// A fenced block: what it is marked with, its text, and where that lies in the page.
struct Block<'a> {
    mark: &'a str,
    text: &'a str,
    start: usize,
}

fn blocks(page: &str) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    let mut at = 0;
    while let Some(fence) = page[at..].find("```") {
        let mark_start = at + fence + 3;
        let start = mark_start + page[mark_start..].find('\n').expect("a line's end") + 1;
        let end = start + page[start..].find("```").expect("the end of a block");
        blocks.push(Block { mark: page[mark_start..start].trim(), text: &page[start..end], start });
        at = end + 3;
    }
    blocks
}

/// The way in which examples are read.
#[derive(Default)]
struct Reading {
    /// The whole-program checks, for examples that go through them.
    checks: Option<Options>,
    /// The list of groups; `None` to refuse collective statements.
    groups: Option<String>,
}

/// Returns the list of groups of a page.
fn groups(blocks: &[Block<'_>]) -> String {
    blocks.iter().find(|block| block.mark == "groups").map_or("", |block| block.text).to_owned()
}

/// Returns the findings about a text.
fn findings(text: &str, reading: &Reading) -> (SourceMap, Report) {
    let mut sources = SourceMap::default();
    sources.add("example.goal", Arc::new(text.as_bytes().to_vec()));
    let collectives = reading.groups.is_some();
    let parsed = parse(&sources, &ParseOptions { collectives, ..ParseOptions::default() });
    let mut report = parsed.report;
    if let Some((program, groups)) = parsed.program.as_ref().zip(reading.groups.as_ref()) {
        let base = sources.add("example.groups", Arc::new(groups.as_bytes().to_vec()));
        let groups = Groups::parse(groups.as_bytes(), base).expect("a list of groups");
        instances(program, &sources, Some(&groups), &mut report);
    }
    goalc::driver::name_flags(&mut report);
    if let Some((program, options)) = parsed.program.zip(reading.checks.as_ref()) {
        report.append(goal_check::check(&program, Some(&sources), options));
    }
    (sources, report)
}

/// The checks that the examples of a code go through.
fn checks(code: Code) -> Option<Options> {
    let bcast = Collective {
        kind: CollectiveKind::Bcast,
        root: 0,
        function: Function::Predefined(Op::Sum, Datatype::UInt8),
        datatype: Datatype::UInt8,
        count: Some(8),
        blocks: goal_check::Blocks::Equal,
        neighbors: None,
        input: None,
        output: 0,
    };
    let collective = (code == Code::Postcondition).then_some(bcast);
    (code as u16 >= 300).then(|| Options {
        collective,
        names: goalc::driver::FLAGS,
        ..Options::default()
    })
}

fn rendered(sources: &SourceMap, report: &Report) -> String {
    let mut out = Vec::new();
    render(report, sources, false, &mut out).expect("memory");
    String::from_utf8(out).expect("UTF-8")
}

#[track_caller]
fn check(block: &Block<'_>, kind: Option<&str>, reading: &Reading) {
    let (sources, report) = findings(block.text, reading);
    let kinds: BTreeSet<&str> = report.diagnostics.iter().map(|found| found.code.kind()).collect();
    let shown = rendered(&sources, &report);
    assert_eq!(kinds, kind.into_iter().collect(), "\n{}\n{shown}", block.text);
}

#[test]
fn reference() {
    let page = std::fs::read_to_string(docs().join("language.md")).expect("the reference");
    let mut count = 0;
    let reading = Reading { groups: Some(groups(&blocks(&page))), ..Reading::default() };
    for block in blocks(&page).iter().filter(|block| block.mark.starts_with("goal")) {
        let kind = block.mark.strip_prefix("goal").and_then(|mark| {
            let (severity, kind) = mark.strip_prefix(',')?.split_once('=')?;
            let code = Code::ALL.iter().find(|code| code.kind() == kind).expect("a known kind");
            assert_eq!(code.severity().name(), severity, "{kind}");
            Some(kind)
        });
        check(block, kind, &reading);
        count += 1;
    }
    assert!(count > 20, "only {count} examples were found");
}

#[test]
fn pages_of_findings() {
    let bless = std::env::var_os("GOAL_BLESS").is_some();
    for code in Code::ALL {
        let path = docs().join("errors").join(format!("{}.md", code.kind()));
        let page = std::fs::read_to_string(&path).expect("a page for each finding");
        assert!(page.starts_with(&format!("# {code} {}\n", code.kind())), "{}", path.display());
        assert!(page.contains("\n## The way out\n"), "{}", path.display());
        let blocks = blocks(&page);
        let of = |mark: &str| blocks.iter().find(|block| block.mark == mark);
        let number = *code as u16;
        let Some(wrong) = of("goal") else {
            assert!(number >= 100, "{}: an example", path.display());
            continue;
        };
        let groups = (*code != Code::UnexpandedCollective).then(|| groups(&blocks));
        let reading = Reading { checks: checks(*code), groups };
        let right = of("goal,ok").expect("a corrected example");
        check(wrong, Some(code.kind()), &reading);
        check(right, None, &reading);
        let (sources, report) = findings(wrong.text, &reading);
        for found in &report.diagnostics {
            let is_whole = !found.labels.is_empty() && found.note.is_some() && found.help.is_some();
            assert!(is_whole, "a report has a place, a note and a help: {found:?}");
        }
        let (shown, wanted) = (of("text").expect("the report"), rendered(&sources, &report));
        if shown.text != wanted {
            assert!(
                bless,
                "{}: `GOAL_BLESS=1 cargo test -p goalc --test it documentation` writes\n{wanted}",
                path.display()
            );
            let mut page = page.clone();
            page.replace_range(shown.start..shown.start + shown.text.len(), &wanted);
            std::fs::write(&path, page).expect("a writable page");
        }
    }
}
