//! `goalc build`.

use clap::{ArgAction, ValueEnum};
use goal_lang::{Program, Style, print};
use goal_opt::{Pass, Timings};
use goalc::driver::{
    self, CheckArguments, Emit, Error, Format, InputArguments, Options, Output, PassArguments,
    Target,
};
use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
#[command(
    mut_arg("inputs", |inputs| inputs.required(false).required_unless_present("file")),
    after_long_help = "\
Examples:
  goalc build broadcast.goal
  goalc build -i broadcast.goal -o broadcast.bin
  goalc build - -O0 --strip -o - < broadcast.goal | goalc stats -
  goalc build broadcast.nisa --emit schedgen"
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    input: InputArguments,
    /// The input, as LogGOPSim's txt2bin takes it
    #[arg(short = 'i', long = "input", value_name = "IN", conflicts_with = "inputs")]
    file: Option<PathBuf>,
    /// File for the result; - is standard output [default: IN with the extension .nisa or .bin, and
    /// standard output for text]
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    #[command(flatten)]
    passes: PassArguments,
    #[command(flatten)]
    checks: CheckArguments,
    /// Print the program as text on standard error after this pass, or after all
    #[arg(long, value_name = "PASS|all")]
    print_after: Vec<String>,
    /// Print the time that each pass took on standard error
    #[arg(long)]
    time_passes: bool,
    /// Leave out names and lines
    #[arg(long)]
    strip: bool,
    /// Form of the result [default: by the extension of OUT: loggopsim for .bin, schedgen for .goal
    /// and .txt, dot for .dot, json for .json; else nisa]
    #[arg(long, value_enum, value_name = "FORM")]
    emit: Option<Form>,
    /// Print each stage of the work on standard error as it begins
    #[arg(short, long)]
    progress: bool,
    /// Leave out the checks of the whole program, the verification of passes and the search for
    /// suspicious statements
    #[arg(long = "no-check", action = ArgAction::SetFalse)]
    check: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Form {
    /// The schedule that ranks execute
    Nisa,
    /// Text in the spelling of the 2009 paper
    Goal,
    /// Text in Schedgen's spelling
    Schedgen,
    /// A graph for the first of the ranks that do the same, in graphviz's language
    Dot,
    /// One JSON object
    Json,
    /// LogGOPSim's binary form
    Loggopsim,
}

impl Form {
    /// Returns the form that the name of a result stands for.
    fn of(output: &Path) -> Self {
        match output.extension().and_then(OsStr::to_str) {
            Some("bin") => Form::Loggopsim,
            Some("goal" | "txt") => Form::Schedgen,
            Some("dot") => Form::Dot,
            Some("json") => Form::Json,
            _ => Form::Nisa,
        }
    }

    fn emit(self) -> Emit {
        match self {
            Form::Nisa => Emit::Nisa,
            Form::Goal => Emit::Text(Style::Paper2009),
            Form::Schedgen => Emit::Text(Style::Schedgen),
            Form::Dot => Emit::Dot,
            Form::Json => Emit::Json,
            Form::Loggopsim => Emit::Loggopsim,
        }
    }

    /// Returns the extension of the file that is written by default; `None` for forms that go to
    /// standard output.
    fn extension(self) -> Option<&'static str> {
        match self {
            Form::Nisa => Some("nisa"),
            Form::Loggopsim => Some("bin"),
            Form::Goal | Form::Schedgen | Form::Dot | Form::Json => None,
        }
    }
}

impl Arguments {
    fn inputs(&self) -> &[PathBuf] {
        self.file.as_ref().map_or(&self.input.inputs, std::slice::from_ref)
    }

    fn form(&self) -> Form {
        let of_output = || self.output.as_deref().map_or(Form::Nisa, Form::of);
        self.emit.unwrap_or_else(of_output)
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Error> {
    let emit = arguments.form().emit();
    let mut options = Options {
        pipeline: arguments.passes.pipeline(emit, arguments.checks.eager_limit)?,
        check: arguments.check,
        // LogGOPSim's form has no names, and the order of dependencies belongs to it.
        strip: arguments.strip && emit != Emit::Loggopsim,
        ..arguments.checks.apply(arguments.input.options())
    };
    if arguments.progress {
        options.on_stage = |stage| driver::print_line(&format!("goalc: {stage}"));
    }
    let running = || options.pipeline.passes.iter().map(|invocation| invocation.pass.name);
    for name in &arguments.print_after {
        if name != "all" && running().all(|pass| pass != name) {
            let running = running().collect::<Vec<_>>().join(", ");
            let others = if running.is_empty() {
                "no pass runs: ask for some with -O1, -O2 or --passes".to_owned()
            } else {
                format!("no such pass runs: it can be all or one of {running}")
            };
            return Err(Error::Usage(format!("--print-after {name}: {others}")));
        }
    }
    let target = target(arguments)?;
    let mut loaded = driver::load_program(arguments.inputs(), &options.with_places())?;
    if emit != Emit::Loggopsim {
        loaded.binary = None;
    }
    if options.check {
        driver::check(&mut loaded, &options)?;
    }
    let mut printed = Ok(());
    let timings = driver::optimize(&mut loaded, &options, |pass, program| {
        if printed.is_ok()
            && arguments.print_after.iter().any(|name| name == "all" || name == pass.name)
        {
            printed = print_after(pass, program);
        }
    })?;
    printed.map_err(|error| Error::io("<stderr>", error))?;
    let mut out = Output::create(&target, emit.is_binary())?;
    driver::emit(&mut loaded, emit, &options, &mut out)?;
    out.finish()?;
    driver::report(&loaded.findings, Format::Text)?;
    if arguments.time_passes {
        tell_times(&timings).map_err(|error| Error::io("<stderr>", error))?;
    }
    // The process ends soon: freeing a large program's memory piece by piece would only take time.
    std::mem::forget(loaded);
    Ok(())
}

fn print_after(pass: &Pass, program: &Program) -> io::Result<()> {
    let mut err = io::BufWriter::new(io::stderr().lock());
    writeln!(err, "# after {}", pass.name)?;
    print(program, Style::Paper2009, &mut err)?;
    err.flush()
}

fn tell_times(timings: &Timings) -> io::Result<()> {
    let mut err = io::stderr().lock();
    let milliseconds = |time: std::time::Duration| time.as_secs_f64() * 1e3;
    for (name, time) in &timings.steps {
        writeln!(err, "{:>12.3} ms  {name}", milliseconds(*time))?;
    }
    writeln!(err, "{:>12.3} ms  all", milliseconds(timings.steps.iter().map(|step| step.1).sum()))
}

fn target(arguments: &Arguments) -> Result<Target, Error> {
    let input = arguments.inputs()[0].as_path();
    let target = match (&arguments.output, arguments.form().extension()) {
        (Some(output), _) => Target::new(output),
        (None, None) => Target::Stdout,
        (None, Some(_)) if driver::is_stream(input) => Target::Stdout,
        (None, Some(extension)) => {
            // x.goal.gz becomes x.nisa.
            let is_packed = |extension: &OsStr| extension == "gz" || extension == "zst";
            let unpacked = if input.extension().is_some_and(is_packed) {
                input.with_extension("")
            } else {
                input.to_owned()
            };
            Target::File(unpacked.with_extension(extension))
        }
    };
    let read = InputArguments { inputs: arguments.inputs().to_vec(), ..arguments.input.clone() };
    target.apart_from(read.files())?.apart_from(&arguments.passes.machine.machine)
}
