//! Size of the NISA beside LogGOPSim's binary form of the same schedule.

use crate::measure::sibling;
use crate::table;
use clap::Args as ClapArgs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// `size`'s arguments.
#[derive(ClapArgs)]
pub(crate) struct Args {
    /// Text files or folders of them
    #[arg(required = true)]
    inputs: Vec<PathBuf>,
}

pub(crate) fn run(args: &Args) -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let mut rows = Vec::new();
    let (mut larger, mut files) = (0, 0);
    for input in
        args.inputs.iter().map(|input| expand(input)).collect::<io::Result<Vec<_>>>()?.concat()
    {
        let built = |options: &[&str]| -> io::Result<u64> {
            let output = folder.path().join("out");
            let status = Command::new(sibling("goalc")?)
                .arg("build")
                .args(options)
                .arg("-o")
                .arg(&output)
                .arg(&input)
                .status()?;
            if !status.success() {
                return Err(io::Error::other(format!("goalc could not build {}", input.display())));
            }
            Ok(std::fs::metadata(output)?.len())
        };
        let peer = built(&["-O0", "--emit", "loggopsim"])?;
        let stripped = built(&["--strip"])?;
        let full = built(&[])?;
        files += 1;
        larger += usize::from(stripped >= peer);
        rows.push(vec![
            input.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            peer.to_string(),
            stripped.to_string(),
            format!("{:.2}", stripped as f64 / peer as f64),
            full.to_string(),
            format!("{:.2}", full as f64 / peer as f64),
        ]);
    }
    table::print(
        &["input", "LogGOPSim", "NISA --strip", "ratio", "NISA with names", "ratio"],
        &rows,
    );
    say!("{files} files, {larger} where the stripped NISA is not smaller");
    Ok(())
}

fn expand(input: &Path) -> io::Result<Vec<PathBuf>> {
    if !input.is_dir() {
        return Ok(vec![input.to_path_buf()]);
    }
    let is_text = |path: &PathBuf| {
        let name = path.to_string_lossy();
        name.ends_with(".goal") || name.ends_with(".goal.gz")
    };
    let mut found: Vec<PathBuf> =
        std::fs::read_dir(input)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    found.retain(is_text);
    found.sort();
    Ok(found)
}
