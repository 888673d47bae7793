//! The settings that the environment may have.

use crate::Settings;
use goal_lang::CollectiveKind;

fn read(variables: &[(&str, &str)]) -> Result<Settings, String> {
    Settings::from_variables("dir/program", |name| {
        let found = variables.iter().find(|(variable, _)| *variable == name);
        found.map(|(_, value)| (*value).to_owned())
    })
    .map_err(|error| error.to_string())
}

#[test]
fn variables_are_read_and_empty_ones_ignored() {
    let settings = read(&[
        ("GOALPROF_DIR", "out"),
        ("GOALPROF_CALC_SCALE", "0.5"),
        ("GOALPROF_CALC_MIN", ""),
        ("GOALPROF_REDUCE_SCATTER", "ring"),
        ("GOALPROF_RECORD", "0"),
        ("GOALPROF_THREADS", "ordered"),
    ])
    .expect("they are right");
    let expected = Settings {
        dir: "out".into(),
        calc_scale: 0.5,
        algorithms: vec![(CollectiveKind::ReduceScatter, "ring")],
        records: false,
        orders_threads: Some(true),
        ..Settings::new("dir_program")
    };
    assert_eq!(settings, expected);
}

#[test]
fn wrong_values_name_the_variable_and_the_right_ones() {
    for (variable, value, word) in [
        ("GOALPROF_NAME", "../up", "without `/`"),
        ("GOALPROF_CALC_SCALE", "-1", "from 0"),
        ("GOALPROF_CALC_SCALE", "NaN", "from 0"),
        ("GOALPROF_CALC_MIN", "1.5", "whole"),
        ("GOALPROF_TAG_BITS", "31", "12 to 28"),
        ("GOALPROF_RECORD", "yes", "0 or 1"),
        ("GOALPROF_THREADS", "no", "independent"),
        ("GOALPROF_ALLREDUCE", "rig", "rabenseifner"),
        ("GOALPROF_TABLE", "/nowhere/table", "No such file"),
        ("GOALPROF_TABLE", "/dev/zero", "more than 1048576 bytes"),
    ] {
        let told = read(&[(variable, value)]).expect_err(variable);
        assert!(told.starts_with(&format!("{variable}={value}")), "{told}");
        assert!(told.contains(word), "{told}");
    }
}

#[test]
fn the_digest_covers_what_all_ranks_must_have_in_common() {
    let digest = |variables: &[(&str, &str)]| read(variables).expect("right").digest();
    assert_eq!(digest(&[]), digest(&[("GOALPROF_DIR", "elsewhere")]));
    assert_ne!(digest(&[]), digest(&[("GOALPROF_TAG_BITS", "21")]));
    assert_ne!(digest(&[]), digest(&[("GOALPROF_BCAST", "chain")]));
}
