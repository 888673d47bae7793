//! Runs `tshark` with the dissector, and without the user's settings and plugins.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The values of each field of a frame, in order. Numbers are decimal, bytes hexadecimal; a field
/// without a value counts as 1.
pub(crate) type Row = BTreeMap<String, Vec<String>>;

/// A `tshark` that has read the dissector.
pub(crate) struct Tshark {
    /// All fields and expert items of the dissector.
    pub(crate) fields: Vec<String>,
}

impl Tshark {
    /// Finds `tshark`. If there is none, it prints a line that says so and returns `None`.
    pub(crate) fn find() -> Option<Self> {
        if Command::new("tshark").arg("--version").output().is_err() {
            goal_filetest::skipped("there is no tshark to try the dissector with");
            return None;
        }
        let output = run(&["-G", "fields"]);
        let text = String::from_utf8_lossy(&output.stdout);
        let fields = text
            .lines()
            .filter(|line| line.starts_with("F\t"))
            .filter_map(|line| line.split('\t').nth(2));
        let is_ours = |field: &&str| {
            ["goal.", "goal_edp.", "goal_esp."].iter().any(|name| field.starts_with(name))
        };
        let fields: Vec<_> = fields.filter(is_ours).map(String::from).collect();
        assert!(
            !fields.is_empty(),
            "the dissector was not read: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        Some(Self { fields })
    }

    /// Returns the fields of each frame of a capture. Fails if the dissector does.
    pub(crate) fn rows(&self, capture: &[u8], name: &str, options: &[&str]) -> Vec<Row> {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.pcap"));
        std::fs::write(&path, capture).expect("the capture is written");
        let path = path.to_str().expect("a path in UTF-8");
        let faults = ["_ws.lua.error", "_ws.malformed.expert", "_ws.malformed.dissector_bug"];
        let fields: Vec<&str> = self.fields.iter().map(String::as_str).chain(faults).collect();
        let mut arguments =
            vec!["-n", "-r", path, "-T", "fields", "-E", "occurrence=a", "-E", "aggregator=;"];
        arguments.extend(options);
        arguments.extend(fields.iter().flat_map(|field| ["-e", field]));
        let output = run(&arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && !errors.contains("Lua"), "{options:?}: {errors}");
        let rows: Vec<Row> = String::from_utf8_lossy(&output.stdout)
            .lines()
            .map(|line| row(line, &fields))
            .collect();
        for (index, row) in rows.iter().enumerate() {
            let fault = faults.iter().find(|fault| row.contains_key(**fault));
            assert_eq!(fault, None, "the dissector fails on frame {} of {path}", index + 1);
        }
        rows
    }
}

fn row(line: &str, fields: &[&str]) -> Row {
    let values = line.split('\t');
    assert_eq!(values.clone().count(), fields.len(), "{line}");
    let some = fields.iter().zip(values).filter(|(_, values)| !values.is_empty());
    some.map(|(field, values)| (field.to_string(), values.split(';').map(plain).collect()))
        .collect()
}

/// A value in the form that does not depend on `tshark`'s version.
fn plain(value: &str) -> String {
    match (value, value.strip_prefix("0x")) {
        (_, Some(digits)) => {
            u64::from_str_radix(digits, 16).expect("a hexadecimal number").to_string()
        }
        ("True", _) => "1".into(),
        ("False", _) => "0".into(),
        _ => value.into(),
    }
}

fn run(arguments: &[&str]) -> Output {
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tools/wireshark/goal.lua");
    let home = env!("CARGO_TARGET_TMPDIR");
    let mut command = Command::new("tshark");
    command.args(arguments).arg("-X").arg(format!("lua_script:{}", script.display()));
    // Without the profile and the plugins of the user, which may have the dissector too.
    command.env("HOME", home).env("XDG_CONFIG_HOME", home).env("WIRESHARK_CONFIG_DIR", home);
    command.output().expect("tshark runs")
}
