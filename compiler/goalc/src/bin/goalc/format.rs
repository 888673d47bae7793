//! `goalc fmt`.

use crate::style::Spelling;
use goal_lang::{FormatOptions, SourceMap, fmt};
use goalc::driver::{
    Error, Findings, Form, Format, Input, Options, Output, Status, Target, is_stream, name_flags,
    name_foreign, print, report,
};
use std::io::Write;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  goalc fmt broadcast.goal
  goalc fmt --check *.goal                   exit status 1 where a file would change
  goalc fmt --style 2009 - < trace.goal      print a Schedgen text in the paper's spelling")]
pub(crate) struct Arguments {
    /// Texts, each formatted in its place; - is standard input. If an input can't be replaced, as
    /// standard input or a pipe, the result goes to standard output
    #[arg(value_name = "IN", required = true)]
    inputs: Vec<PathBuf>,
    /// Change nothing: name the files that would change and exit with status 1
    #[arg(long)]
    check: bool,
    /// The spelling to convert to [default: every statement stays in its own]
    #[arg(long, value_enum, value_name = "STYLE")]
    style: Option<Spelling>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Status, Error> {
    let mut status = Status::Success;
    for path in &arguments.inputs {
        match one(path, arguments) {
            Ok(true) if arguments.check => {
                print(|out| writeln!(out, "{}", path.display()))?;
                status = status.max(Status::Input);
            }
            Ok(_) => {}
            // Continues with the other files.
            Err(Error::Input(findings)) => {
                report(&findings, Format::Text)?;
                status = status.max(Status::Input);
            }
            Err(error) => return Err(error),
        }
    }
    Ok(status)
}

/// Formats one text. Returns true if that changed it.
fn one(path: &Path, arguments: &Arguments) -> Result<bool, Error> {
    let is_stream = is_stream(path);
    let input = Input::open(path, &Options::default())?;
    if input.form != Form::Text || (input.packed && !is_stream) {
        let what = if input.packed {
            "is packed: unpack it first"
        } else {
            "is no text: goalc dis prints it as such"
        };
        return Err(Error::Usage(format!("{} {what}", input.name)));
    }
    let options = FormatOptions { style: arguments.style.map(Spelling::style) };
    let formatted = match fmt(&input.bytes, options) {
        Ok(formatted) => formatted,
        Err(mut report) => {
            name_flags(&mut report);
            let mut sources = SourceMap::default();
            sources.add(input.name, input.bytes);
            let mut findings = Findings { report, sources };
            name_foreign(&mut findings, &Options::default());
            return Err(findings.into());
        }
    };
    let changed = formatted != input.bytes[..];
    if !arguments.check && (changed || is_stream) {
        let mut out = Output::create(&Target::in_place(path), false)?;
        out.write_all(&formatted).map_err(|error| Error::io(out.name(), error))?;
        out.finish()?;
    }
    Ok(changed)
}
