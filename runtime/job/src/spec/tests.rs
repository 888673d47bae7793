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
fn hosts_compare_settings_in_this_order() {
    let terms: Vec<String> =
        JobSpec::default().agreed().map(|(name, value)| format!("{name} {value}")).collect();
    assert_eq!(
        terms,
        [
            "--repeat 1",
            "--eager-limit 16384",
            "--unexpected-limit 67108864",
            "--ring 1048576",
            "--initial-burst 16",
            "--burst 256",
            "--offload off",
            "--survive false",
            "--calc spin"
        ]
    );
}

#[test]
fn the_manual_names_each_option() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/goal-run.md");
    let manual = std::fs::read_to_string(path).unwrap();
    let missing: Vec<&str> = SETTINGS
        .iter()
        .map(|row| row.option)
        .filter(|option| !manual.contains(&format!("`--{option}")))
        .collect();
    assert!(missing.is_empty(), "docs/goal-run.md does not name {missing:?}");
}
