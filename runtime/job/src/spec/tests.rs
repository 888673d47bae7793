//! Tests of the rows.

use super::*;

fn row(option: &str) -> &'static Setting {
    SETTINGS.iter().find(|row| row.option == option).unwrap()
}

#[test]
fn each_row_reads_what_it_writes() {
    for row in SETTINGS {
        let default = JobSpec::default();
        let mut spec = default.clone();
        let text = (row.text)(&default);
        if !text.is_empty() {
            (row.set)(&mut spec, &text).unwrap();
        }
        assert_eq!(spec, default, "{}", row.option);
        let json = serde_json::to_string(&spec).unwrap();
        assert_eq!(serde_json::from_str::<JobSpec>(&json).unwrap(), spec);
    }
    for (option, text, written) in [
        ("survive", "true", "true"),
        ("calc", "skip", "skip"),
        ("calc", "0.50", "0.5"),
        ("bind", "0,2,3", "0,2-3"),
        ("stuck", "end,0.25", "end,0.25"),
        ("stuck", "end", "end,10"),
        ("timeout", "1.5", "1.5"),
        ("ring", "64K", "65536"),
        ("burst", "8", "8"),
        ("wait", "block", "block"),
    ] {
        let mut spec = JobSpec::default();
        (row(option).set)(&mut spec, text).unwrap();
        assert_eq!((row(option).text)(&spec), written);
    }
}

#[test]
fn wrong_values_are_refused_with_a_way_out() {
    for (option, text, why) in [
        ("repeat", "0", "0 is not in 1..=4294967295"),
        ("repeat", "-1", "invalid digit found in string"),
        ("trace-max", "0", "0 is not in 1..18446744073709551615"),
        ("max-started", "-1", "-1 is not in 0..=4294967295"),
        ("burst", "1", "1 is not in 2..=256"),
        ("ring", "x", "give a number, with or without K, M, G or T behind it"),
        ("max-segment", "99999999999T", "more than 2^64 bytes"),
        ("timeout", "x", "give a number of seconds"),
        ("calc", "-1", "give spin, skip or a factor of at least 0"),
        ("calc", "inf", "give spin, skip or a factor of at least 0"),
    ] {
        let mut spec = JobSpec::default();
        assert_eq!((row(option).set)(&mut spec, text), Err(why.to_owned()), "{option} {text}");
        assert_eq!(spec, JobSpec::default());
    }
}

#[test]
fn hosts_compare_settings_in_the_order_of_the_rows() {
    let spec = JobSpec { repeat: 3, ring_bytes: 64, ..JobSpec::default() };
    let terms: Vec<(String, String)> = spec.agreed().collect();
    let place = |option: &str, value: &str| {
        terms.iter().position(|term| *term == (option.to_owned(), value.to_owned()))
    };
    assert!(place("--repeat", "3").unwrap() < place("--ring", "64").unwrap(), "{terms:?}");
    assert!(!terms.iter().any(|(option, _)| option == "--wait"), "hosts may wait differently");
}

/// Returns a number of bytes in the largest unit that divides it.
fn in_units(bytes: &str) -> String {
    let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
    let fits = |bytes: u64| units.into_iter().find(|(bits, _)| bytes.trailing_zeros() >= *bits);
    match bytes.parse().ok().filter(|&bytes| bytes > 0).and_then(|all| Some((all, fits(all)?))) {
        Some((all, (bits, unit))) => format!("{} {unit}", all >> bits),
        None => bytes.to_owned(),
    }
}

/// Returns the row of a setting in the table of the manual.
fn line(row: &Setting) -> String {
    let names: Vec<_> = (row.names)().into_iter().map(|(name, _)| name).collect();
    let value = if names.is_empty() { row.value_name.to_owned() } else { names.join("|") };
    let option = format!("--{} {value}", row.option).trim_end().replace('|', "\\|");
    let default = (row.text)(&JobSpec::default());
    let default = match (row.value_name, &*default) {
        ("", _) => String::new(),
        (_, "") => "none".to_owned(),
        ("BYTES", bytes) => in_units(bytes),
        (_, text) => format!("`{text}`"),
    };
    let is_of_tables = row.default_note.is_some_and(|note| note.contains("GOAL_TABLE"));
    let conditions = [
        (row.agreed, "equal on all hosts"),
        (row.is_of_schedules, "schedules only"),
        (row.is_of_programs, "programs only"),
        (row.is_of_ethernet, "Ethernet only"),
        (is_of_tables, "a table of decisions may have another default"),
    ];
    let conditions = conditions.into_iter().filter(|(holds, _)| *holds).map(|(_, text)| text);
    let conditions = conditions.collect::<Vec<_>>().join("; ");
    format!("| `{option}` | {default} | {} | {conditions} |\n", row.help)
}

#[test]
fn the_manual_has_the_table_of_settings() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/goal-run.md");
    let manual = std::fs::read_to_string(path).unwrap();
    let begin = "<!-- made by GOAL_BLESS=1 cargo test -p goal-job --lib settings -->\n\n";
    let end = "\n<!-- end -->";
    let (before, rest) = manual.split_once(begin).expect("the manual marks the table");
    let (_, after) = rest.split_once(end).expect("the manual marks its end");
    let head = "| option | default | meaning | condition |\n|---|---|---|---|\n".to_owned();
    let table = SETTINGS.iter().fold(head, |table, row| table + &line(row));
    let wanted = format!("{before}{begin}{table}{end}{after}");
    if std::env::var_os("GOAL_BLESS").is_some() {
        std::fs::write(path, &wanted).unwrap();
    }
    assert!(manual == wanted, "GOAL_BLESS=1 cargo test -p goal-job --lib settings writes {path}");
}
