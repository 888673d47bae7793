//! `goalc draw`.

use clap::ValueEnum;
use goal_draw::{
    Diagram, Options as Drawing, RankSet, Recorder, Scene, Style, Subject, by_steps, by_trace, png,
    svg, text,
};
use goal_loggops::Workload;
use goal_loggops::machine::{Machine, Parameter};
use goal_loggops::model::{ModelError, simulate_with};
use goal_loggops::path::critical_path;
use goalc::driver::{
    self, Error, Input, InputArguments, Loaded, MachineArguments, Options, Output, Target,
};
use std::ffi::OsStr;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

/// The width of a picture in characters that goes to no terminal.
const WIDTH: usize = 100;

#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  goalc draw broadcast.goal                              in characters
  goalc draw broadcast.goal -o broadcast.svg             as a picture of steps
  goalc draw broadcast.goal --by sim -o broadcast.png    over the time of a simulation
  goal-run broadcast.goal --trace run.json && goalc draw --by trace run.json -o run.svg
  goalc draw large.goal --ranks 0-7,63 -o part.svg")]
pub(crate) struct Arguments {
    #[command(flatten)]
    input: InputArguments,
    /// File for the picture: OUT.svg or OUT.png [default: characters on standard output]
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// The axis
    #[arg(long, value_enum, default_value_t)]
    by: By,
    #[command(flatten)]
    machine: MachineArguments,
    /// Draw these ranks only, as 0-7,12
    #[arg(long, value_name = "LIST")]
    ranks: Option<RankSet>,
    /// The look of a picture
    #[arg(long, value_enum, default_value_t)]
    style: Look,
    /// Draw the dependencies, too
    #[arg(long)]
    dependencies: bool,
    /// Do not mark the longest chain
    #[arg(long)]
    no_critical_path: bool,
}

/// The axis of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum By {
    /// Steps of the longest chain of actions
    #[default]
    Steps,
    /// Time of a simulation on a LogGOPS machine, as goal-sim's
    Sim,
    /// Time of a run: IN is a trace that goal-run wrote
    Trace,
}

/// The look of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum Look {
    /// For print
    Paper,
    /// For screens and slides
    #[default]
    Screen,
    /// For dark pages
    Dark,
}

/// The form of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Text,
    Svg,
    Png,
}

impl Arguments {
    fn form(&self) -> Result<Form, Error> {
        let Some(output) = &self.output else { return Ok(Form::Text) };
        let ending = output.extension().map(OsStr::to_ascii_lowercase);
        match ending.as_deref().and_then(OsStr::to_str) {
            Some("svg") => Ok(Form::Svg),
            Some("png") => Ok(Form::Png),
            Some("txt") => Ok(Form::Text),
            _ if output == Path::new("-") => Ok(Form::Svg),
            _ => Err(Error::Usage(format!(
                "{}: the name of the picture must end in .svg, .png or .txt",
                output.display()
            ))),
        }
    }

    fn drawing(&self) -> Drawing {
        Drawing {
            ranks: self.ranks.clone(),
            dependencies: self.dependencies,
            critical_path: !self.no_critical_path,
            ..Drawing::default()
        }
    }

    /// Returns the name of the first input, without its folder.
    fn name(&self) -> String {
        let path = &self.input.inputs[0];
        match path.file_name() {
            Some(_) if path == Path::new("-") => "standard input".to_owned(),
            Some(name) => name.to_string_lossy().into_owned(),
            None => path.display().to_string(),
        }
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Error> {
    let form = arguments.form()?;
    if arguments.machine.machine.is_some() && arguments.by != By::Sim {
        return Err(Error::Usage("--machine belongs to --by sim".to_owned()));
    }
    let options = arguments.input.options();
    let diagram = match arguments.by {
        By::Trace => trace(arguments, &options),
        By::Steps | By::Sim => program(arguments, &options),
    }?;
    if form == Form::Text && arguments.output.is_none() {
        return driver::print(|out| out.write_all(text(&diagram, width()).as_bytes()));
    }
    let style = match arguments.style {
        Look::Paper => Style::Paper,
        Look::Screen => Style::Screen,
        Look::Dark => Style::Dark,
    };
    driver::show_stage("drawing");
    let bytes = match form {
        Form::Text => text(&diagram, WIDTH).into_bytes(),
        Form::Svg => svg(&Scene::new(&diagram), style).into_bytes(),
        Form::Png => png(&Scene::new(&diagram), style).map_err(usage)?,
    };
    let output = arguments.output.as_deref().unwrap_or(Path::new("-"));
    let target = Target::new(output).apart_from(arguments.input.files())?;
    let mut out = Output::create(&target, form == Form::Png)?;
    out.write_all(&bytes).map_err(|error| Error::io(out.name(), error))?;
    out.finish()
}

fn usage(error: impl ToString) -> Error {
    Error::Usage(error.to_string())
}

/// Returns the width of the terminal of standard output.
fn width() -> usize {
    let stdout = std::io::stdout();
    if !stdout.is_terminal() {
        return WIDTH;
    }
    rustix::termios::tcgetwinsize(&stdout)
        .ok()
        .map(|size| usize::from(size.ws_col))
        .filter(|&columns| columns > 0)
        .unwrap_or(WIDTH)
}

/// Draws the trace of a run.
fn trace(arguments: &Arguments, options: &Options) -> Result<Diagram, Error> {
    let [path] = &arguments.input.inputs[..] else {
        return Err(Error::Usage("--by trace draws one trace".to_owned()));
    };
    let input = Input::open(path, options)?;
    by_trace(&arguments.name(), &input.bytes, &arguments.drawing())
        .map_err(|error| Error::Usage(format!("{}: {error}", input.name)))
}

/// Draws a program.
fn program(arguments: &Arguments, options: &Options) -> Result<Diagram, Error> {
    let mut loaded = driver::load_program(&arguments.input.inputs, options)?;
    let is_checked = driver::check_for_picture(&mut loaded, options);
    let name = arguments.name();
    let Loaded { program, findings, .. } = &loaded;
    let subject = Subject { name: &name, program, sources: Some(&findings.sources) };
    let drawing = arguments.drawing();
    let mut diagram = match arguments.by {
        By::Sim => simulation(arguments, &subject, &drawing)?.with_findings(&findings.report),
        _ => by_steps(&subject, &findings.report, &drawing).map_err(usage)?,
    };
    if !is_checked {
        diagram.notes.push("The program is too large to be checked for a picture.".to_owned());
    }
    Ok(diagram)
}

/// Simulates a program, and draws what happens.
fn simulation(
    arguments: &Arguments,
    subject: &Subject<'_>,
    drawing: &Drawing,
) -> Result<Diagram, Error> {
    driver::show_stage("simulating");
    let machine = match arguments.machine.machine {
        Some(_) => arguments.machine.machine()?.exact(),
        None => Machine::default(),
    };
    let workload = Workload::new(subject.program, |_, _| 0).map_err(usage)?;
    let recorder = Recorder::new(subject.name, &workload, Some(*subject), drawing);
    let mut recorder = recorder.map_err(usage)?;
    let (finish, left) = match simulate_with(&workload, &machine, &(), &mut recorder) {
        Ok(times) => (times.finish_ps.into_iter().max().unwrap_or(0), 0),
        Err(ModelError::Stuck { left, unreceived }) => (0, left.max(unreceived)),
        Err(error) => return Err(usage(error)),
    };
    let path = match left == 0 && drawing.critical_path {
        true => critical_path(&workload, &machine).ok().map(|(_, path)| path),
        false => None,
    };
    let parameter = |parameter: Parameter| {
        let value = parameter.value(&machine) as f64 / 10_f64.powi(parameter.digits() as i32);
        format!("{} {value} {}", parameter.name(), parameter.unit())
    };
    let parameters: Vec<String> = Parameter::ALL.into_iter().map(parameter).collect();
    Ok(recorder.finish(&parameters.join(", "), finish, path.as_ref(), left))
}
