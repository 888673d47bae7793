//! The reports on broken programs, as people and as programs see them: a snapshot for each file in
//! `diagnostics/`.

use std::path::Path;
use std::sync::Arc;

use goal_lang::diag::{render, render_json};
use goal_lang::{ParseOptions, SourceMap, parse};

#[test]
fn reports() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/diagnostics");
    let mut count = 0;
    for entry in folder.read_dir().expect("the folder of broken programs") {
        let path = entry.expect("a file").path();
        if path.extension().is_none_or(|extension| extension != "goal") {
            continue;
        }
        let name = path.file_stem().and_then(|name| name.to_str()).expect("a plain name");
        let mut sources = SourceMap::default();
        sources
            .add(format!("{name}.goal"), Arc::new(std::fs::read(&path).expect("a readable file")));
        let report = parse(&sources, &ParseOptions::default()).report;
        let mut out = Vec::new();
        render(&report, &sources, false, &mut out).expect("memory");
        let shown = report.diagnostics.len().min(3);
        let mut json = Vec::new();
        render_json(&report, &sources, &mut json).expect("memory");
        for line in json.split_inclusive(|&byte| byte == b'\n').take(shown) {
            out.extend_from_slice(line);
        }
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_path("../diagnostics");
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings.bind(|| insta::assert_snapshot!(name, String::from_utf8_lossy(&out)));
        count += 1;
    }
    assert!(count > 0);
}
