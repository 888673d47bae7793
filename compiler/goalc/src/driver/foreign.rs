//! Recognises inputs that are something else than GOAL, and says what to do with them.
//!
//! An input may be any file that its user names, or that somebody sent. So its form is recognised
//! from its first bytes, and only after the grammar has refused it: a program is never taken for
//! something else. The name of a file decides only between forms of text.

use super::{Findings, Options, traces};
use goal_lang::diag::{Code, Diagnostic, Report};
use goal_lang::{Source, Span};
use std::path::Path;

/// Bytes at the start of an input by which its form is recognised.
const BYTES_MAX: usize = 4096;

/// Looks at the texts that the grammar refuses. If some of them are something else than GOAL,
/// replaces all findings by one for each of these texts.
pub fn name_foreign(findings: &mut Findings, options: &Options) {
    let report = &findings.report;
    let syntax = report.diagnostics.iter().filter(|found| found.code == Code::Syntax);
    let places: Vec<Span> = syntax.filter_map(|found| Some(found.labels.first()?.span)).collect();
    let foreign = findings.sources.sources().iter().filter_map(|source| {
        let range = source.base..=source.base + source.bytes.len() as u64;
        let places: Vec<Span> =
            places.iter().filter(|place| range.contains(&place.start)).copied().collect();
        if places.is_empty() {
            return None;
        }
        traces::second_loggopsim(source, &places).or_else(|| {
            let message = format!("{} is {}", source.name, recognised(source, options.ranks)?);
            Some(Diagnostic::new(Code::ForeignFormat, message))
        })
    });
    let foreign: Vec<Diagnostic> = foreign.collect();
    if !foreign.is_empty() {
        findings.report = Report::default();
        foreign.into_iter().for_each(|found| findings.report.push(found));
    }
}

/// Returns a text that says what an input is and what to do with it. Returns `None` if the input
/// may be meant as GOAL.
fn recognised(source: &Source, ranks: Option<u32>) -> Option<String> {
    let bytes = &source.bytes[..source.bytes.len().min(BYTES_MAX)];
    // Commands need a file. Standard input has none.
    let file = if source.name == "<stdin>" { "FILE" } else { source.name.as_str() };
    let wide = encoding(bytes).map(|(name, encoding)| {
        format!(
            "{name} text, and GOAL is UTF-8: convert it, `iconv -f {encoding} -t UTF-8 {file} > NEW.goal`"
        )
    });
    let ranks = ranks.map_or("N".to_owned(), |ranks| ranks.to_string());
    let trace =
        || traces::recognised(bytes).filter(|_| !begins_as_goal(&String::from_utf8_lossy(bytes)));
    wide.or_else(trace).or_else(|| binary(bytes, file, &ranks)).or_else(|| {
        let text = String::from_utf8_lossy(bytes);
        let is_goal = begins_as_goal(&text);
        (!is_goal).then(|| other_text(&text, Path::new(file), &ranks)).flatten().or_else(|| {
            let has_word = text.split(is_no_letter).any(is_keyword);
            let is_no_goal = !has_word && text.lines().count() >= LINES_MIN;
            is_no_goal.then(|| {
                "no GOAL, as no word of the language is in its first lines: a program is `num_ranks N` and blocks `rank R { ... }` (docs/language.md)".to_owned()
            })
        })
    })
}

/// The fewest lines of a text that is refused as another language, because it has no word of GOAL.
/// In a shorter text all words may be misspelt.
const LINES_MIN: usize = 4;

/// Returns the encoding of a text of units of 16 or 32 bits, and the encoding's name for iconv.
/// Returns `None` for other texts.
fn encoding(bytes: &[u8]) -> Option<(&'static str, &'static str)> {
    const MARKS: [(&[u8], &str, &str); 4] = [
        (b"\xff\xfe\0\0", "UTF-32 (little-endian)", "UTF-32"),
        (b"\0\0\xfe\xff", "UTF-32 (big-endian)", "UTF-32"),
        (b"\xff\xfe", "UTF-16 (little-endian)", "UTF-16"),
        (b"\xfe\xff", "UTF-16 (big-endian)", "UTF-16"),
    ];
    let marked = MARKS.iter().find(|(mark, ..)| bytes.starts_with(mark));
    if let Some(&(_, name, encoding)) = marked {
        return Some((name, encoding));
    }
    // Most letters of a program are ASCII, so their other bytes are zeros.
    let shares = |unit: usize, place: usize| {
        let units = bytes.chunks_exact(unit);
        let all = units.len();
        let ascii = units.filter(|unit| {
            let is_letter = unit[place].is_ascii_graphic() || unit[place].is_ascii_whitespace();
            is_letter && unit.iter().enumerate().all(|(at, &byte)| at == place || byte == 0)
        });
        all > 1 && ascii.count() * 4 > all * 3
    };
    match () {
        () if shares(4, 0) => Some(("UTF-32 (little-endian)", "UTF-32LE")),
        () if shares(4, 3) => Some(("UTF-32 (big-endian)", "UTF-32BE")),
        () if shares(2, 0) => Some(("UTF-16 (little-endian)", "UTF-16LE")),
        () if shares(2, 1) => Some(("UTF-16 (big-endian)", "UTF-16BE")),
        () => None,
    }
}

/// The advice on a binary file.
#[derive(Clone, Copy)]
enum Way {
    /// Start the file as ranks.
    Run,
    /// Unpack the file by a command that writes to standard output.
    Unpack(&'static str),
    /// Take the program out of the file.
    Extract(&'static str),
    /// Give another file. Nothing else helps.
    Other,
}

/// For each binary form the offset and the value of the bytes that identify it, its name, and the
/// advice.
const BINARIES: [(usize, &[u8], &str, Way); 36] = [
    (0, b"\x7fELF", "machine code (ELF)", Way::Run),
    (0, b"\xcf\xfa\xed\xfe", "a program of macOS (Mach-O)", Way::Other),
    (0, b"\xce\xfa\xed\xfe", "a program of macOS (Mach-O)", Way::Other),
    (0, b"\xca\xfe\xba\xbe", "a program of macOS or Java", Way::Other),
    (0, b"MZ\x90\0", "a program of Windows", Way::Other),
    (0, b"\0asm", "a WebAssembly module", Way::Other),
    (0, b"BC\xc0\xde", "LLVM bitcode", Way::Other),
    (0, b"!<arch>\n", "a library or package (ar)", Way::Other),
    (0, b"\x89PNG\r\n\x1a\n", "a picture (PNG)", Way::Other),
    (0, b"\xff\xd8\xff", "a picture (JPEG)", Way::Other),
    (0, b"GIF8", "a picture (GIF)", Way::Other),
    (0, b"II*\0", "a picture (TIFF)", Way::Other),
    (0, b"MM\0*", "a picture (TIFF)", Way::Other),
    (0, b"RIFF", "a picture, sound or film (RIFF)", Way::Other),
    (0, b"%PDF-", "a document (PDF)", Way::Other),
    (0, b"%!PS", "a document (PostScript)", Way::Other),
    (0, b"\xd0\xcf\x11\xe0", "a document of an office program", Way::Other),
    (0, b"PK\x03\x04", "a zip archive", Way::Extract("unzip")),
    (0, b"7z\xbc\xaf\x27\x1c", "a 7z archive", Way::Extract("7z x")),
    (0, b"Rar!\x1a\x07", "a RAR archive", Way::Extract("unrar x")),
    (257, b"ustar", "a tar archive", Way::Extract("tar -xf")),
    (0, b"\xfd7zXZ\0", "packed with xz", Way::Unpack("xz -dc")),
    (0, b"BZh", "packed with bzip2", Way::Unpack("bzip2 -dc")),
    (0, b"\x04\x22\x4d\x18", "packed with lz4", Way::Unpack("lz4 -dc")),
    (0, b"\x1f\x9d", "packed with compress", Way::Unpack("gzip -dc")),
    (0, b"LZIP", "packed with lzip", Way::Unpack("lzip -dc")),
    (0, b"\x89HDF\r\n", "data (HDF5)", Way::Other),
    (0, b"CDF\x01", "data (NetCDF)", Way::Other),
    (0, b"CDF\x02", "data (NetCDF)", Way::Other),
    (0, b"\x93NUMPY", "an array of numpy", Way::Other),
    (0, b"\x80\x04\x95", "data of Python (pickle)", Way::Other),
    (0, b"\xd4\xc3\xb2\xa1", "a capture of frames (pcap)", Way::Other),
    (0, b"\xa1\xb2\xc3\xd4", "a capture of frames (pcap)", Way::Other),
    (0, b"\x0a\x0d\x0d\x0a", "a capture of frames (pcapng)", Way::Other),
    (0, b"OggS", "sound or film (Ogg)", Way::Other),
    (
        0,
        b"\0\0\0\0\0\0\x10\x7f",
        "a LogGOPSim binary of a machine with the other byte order",
        Way::Other,
    ),
];

/// Recognises binary forms, and bytes that are no text.
fn binary(bytes: &[u8], file: &str, ranks: &str) -> Option<String> {
    let known = BINARIES
        .iter()
        .find(|(at, magic, ..)| bytes.get(*at..).is_some_and(|bytes| bytes.starts_with(magic)));
    if let Some((_, _, name, way)) = known {
        let way = match way {
            Way::Run => {
                let here = if file.contains('/') { "" } else { "./" };
                format!("if it is a program, `goal-run -n {ranks} {here}{file}` starts it as ranks")
            }
            Way::Unpack(command) => format!("unpack it, `{command} {file} > NEW.goal`"),
            Way::Extract(command) => {
                format!("take the program out of it, `{command} {file}`, and give that")
            }
            Way::Other => GIVE.to_owned(),
        };
        return Some(format!("{name}, not GOAL: {way}"));
    }
    let text = String::from_utf8_lossy(bytes);
    let control = |byte: &&u8| byte.is_ascii_control() && !byte.is_ascii_whitespace();
    // A program with a few damaged bytes is reported by its places.
    let is_binary = bytes.iter().filter(control).count() * 12 > bytes.len();
    let is_binary = is_binary && !begins_as_goal(&text);
    is_binary.then(|| format!("binary data of an unknown form, not GOAL: {GIVE}"))
}

/// The way out where a file can't be used.
const GIVE: &str = "give a GOAL text, a NISA file or a LogGOPSim binary";

fn is_no_letter(c: char) -> bool {
    !c.is_ascii_alphanumeric() && c != '_'
}

/// Returns true for a word that begins or joins statements.
fn is_keyword(word: &str) -> bool {
    const WORDS: [&str; 12] = [
        "num_ranks",
        "rank",
        "send",
        "recv",
        "calc",
        "exec",
        "nop",
        "requ",
        "requires",
        "init",
        "expect",
        "scratch",
    ];
    WORDS.contains(&word)
}

/// Returns true if a text begins as a program does: with a word of the language, or with a label
/// and such a word, behind comments.
fn begins_as_goal(text: &str) -> bool {
    let mut rest = text.trim_start_matches('\u{feff}');
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == ';');
        let line = |rest: &str| rest.find('\n').unwrap_or(rest.len());
        let skipped = match rest {
            _ if rest.starts_with('#') || rest.starts_with("//") => line(rest),
            _ if rest.starts_with("/*") => match rest[2..].find("*/") {
                Some(end) => end + 4,
                None => return false,
            },
            _ => break,
        };
        rest = &rest[skipped..];
    }
    let word = |rest: &str| rest.find(is_no_letter).unwrap_or(rest.len());
    let (first, behind) = rest.split_at(word(rest));
    let behind = behind.trim_start();
    let labelled = behind.strip_prefix(':').map(str::trim_start);
    match labelled {
        Some(operation) => is_keyword(&operation[..word(operation)]),
        None => is_keyword(first) || matches!(&behind[..word(behind)], "requires" | "irequires"),
    }
}

/// Interpreters of scripts, by the extensions of their files.
const SCRIPTS: [(&str, &str, &str); 10] = [
    ("py", "Python", "python3"),
    ("sh", "shell", "sh"),
    ("bash", "shell", "bash"),
    ("jl", "Julia", "julia"),
    ("pl", "Perl", "perl"),
    ("rb", "Ruby", "ruby"),
    ("lua", "Lua", "lua"),
    ("r", "R", "Rscript"),
    ("js", "JavaScript", "node"),
    ("tcl", "Tcl", "tclsh"),
];

/// Languages that are compiled, by the extensions of their files.
const SOURCES: [(&str, &[&str]); 6] = [
    ("C", &["c", "h"]),
    ("C++", &["cc", "cpp", "cxx", "c++", "hpp", "hh", "hxx", "cu"]),
    ("Fortran", &["f", "for", "f77", "f90", "f95", "f03", "f08"]),
    ("Rust", &["rs"]),
    ("Go", &["go"]),
    ("Java", &["java"]),
];

/// Other forms of text, by the extensions of their files.
const TEXTS: [(&str, &[&str]); 10] = [
    ("JSON", &["json", "jsonl", "sarif"]),
    ("XML", &["xml", "svg"]),
    ("HTML", &["html", "htm"]),
    ("YAML", &["yaml", "yml"]),
    ("TOML", &["toml"]),
    ("a table of values (CSV)", &["csv", "tsv"]),
    ("Markdown", &["md"]),
    ("LaTeX", &["tex"]),
    ("a graph in graphviz's language", &["dot", "gv"]),
    ("a patch", &["diff", "patch"]),
];

fn extension(path: &Path) -> String {
    let extension = path.extension().unwrap_or_default().to_string_lossy();
    extension.to_ascii_lowercase()
}

/// Returns true if a file is a script by its name, so that words behind it are its arguments.
pub fn is_script(path: &Path) -> bool {
    let extension = extension(path);
    SCRIPTS.iter().any(|(known, ..)| *known == extension)
}

/// Recognises texts in other languages.
fn other_text(text: &str, file: &Path, ranks: &str) -> Option<String> {
    let name = file.display();
    let script = |language: &str, interpreter: &str| {
        format!(
            "a {language} script, not GOAL: `goal-run -n {ranks} {interpreter} {name}` starts it as ranks"
        )
    };
    let source = |language: &str| {
        format!(
            "{language} source, not GOAL: compile it, and `goal-run -n {ranks} ./PROGRAM` starts it as ranks"
        )
    };
    let other = |form: &str| format!("{form}, not GOAL: {GIVE}");
    if let Some(line) = text.strip_prefix("#!")
        && let Some(program) = line.lines().next()
        && let Some(interpreter) = interpreter(program).filter(|name| !is_own(name))
    {
        let known = SCRIPTS.iter().find(|(_, _, known)| interpreter.starts_with(known));
        return Some(script(known.map_or(interpreter, |known| known.1), interpreter));
    }
    let extension = extension(file);
    if let Some((_, language, interpreter)) = SCRIPTS.iter().find(|(known, ..)| *known == extension)
    {
        return Some(script(language, interpreter));
    }
    let has = |known: &&[&str]| known.iter().any(|known| *known == extension);
    if let Some((language, _)) = SOURCES.iter().find(|(_, known)| has(known)) {
        return Some(source(language));
    }
    if let Some((form, _)) = TEXTS.iter().find(|(_, known)| has(known)) {
        return Some(other(form));
    }
    let trimmed = text.trim_start_matches('\u{feff}').trim_start();
    let lines = || trimmed.lines().map(str::trim_end);
    let is_python = |line: &str| {
        let is_name =
            |name: &str| name.chars().next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
        line.strip_prefix("import ").is_some_and(|rest| is_name(rest) && !rest.ends_with(';'))
            || line.starts_with("from ") && line.contains(" import ")
            || (line.starts_with("def ") || line.starts_with("class ")) && line.ends_with(':')
            || line.starts_with("if __name__")
    };
    let begins = |starts: &[&str]| starts.iter().any(|start| trimmed.starts_with(start));
    match () {
        () if lines().any(is_python) => Some(script("Python", "python3")),
        () if lines().any(|line| line.starts_with("#include")) => Some(source("C or C++")),
        () if lines().any(|line| line.starts_with("fn main(")) => Some(source("Rust")),
        () if lines().any(|line| {
            let line = line.trim().to_ascii_lowercase();
            line == "implicit none"
                || line.starts_with("use mpi")
                || line.starts_with("end program")
        }) =>
        {
            Some(source("Fortran"))
        }
        () if begins(&["<!DOCTYPE html", "<html", "<!doctype html", "<HTML"]) => {
            Some(other("HTML"))
        }
        () if begins(&["<"]) => Some(other("XML")),
        () if begins(&["{", "["]) => Some(other("JSON")),
        () if begins(&["digraph", "graph ", "strict "]) => {
            Some(other("a graph in graphviz's language"))
        }
        () if begins(&["diff --git", "--- "]) => Some(other("a patch")),
        () if begins(&["---\n", "%YAML"]) => Some(other("YAML")),
        () if begins(&["\\documentclass", "\\begin"]) => Some(other("LaTeX")),
        () if begins(&["-----BEGIN "]) => Some(other("a key or certificate (PEM)")),
        () => None,
    }
}

/// The most bytes of a script's first line, as the system reads it.
pub const FIRST_LINE_MAX: usize = 256;

/// Returns true if a file with this start is a text of GOAL that names `goal-run` or `goalc` in its
/// first line, as in `#!/usr/bin/env goal-run`.
pub fn is_goal_script(start: &[u8]) -> bool {
    let line = start.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let line = str::from_utf8(line).ok().and_then(|line| line.strip_prefix("#!"));
    line.and_then(interpreter).is_some_and(is_own)
}

/// Returns true for the name of a binary of this project.
fn is_own(program: &str) -> bool {
    ["goal-run", "goalc"].contains(&program)
}

/// Returns the name of the interpreter in the first line of a script.
fn interpreter(line: &str) -> Option<&str> {
    let mut words = line.split_ascii_whitespace();
    let path = words.next().filter(|path| path.starts_with('/'))?;
    let program = match path.rsplit('/').next()? {
        "env" => words.find(|word| !word.starts_with('-'))?,
        program => program,
    };
    (!program.is_empty()).then_some(program)
}
