//! Writes what happens in a simulation while it runs: timelines, and the messages that met.
//!
//! A label may be any text, since a NISA file may come from anywhere. So each form escapes labels,
//! and `goal-draw` cuts them. A file appears only when it is complete.

mod chrome;
mod decimal;
mod matches;
mod names;
mod picture;
mod progress;
#[cfg(test)]
mod tests;

use crate::markers::Reached;
use crate::parameters::{Parsed, Shown};
use crate::source::Subject;
use crate::{Arguments, Model};
use chrome::Chrome;
use goal_loggops::Workload;
use goal_loggops::model::{Job, Observer};
use goal_loggops::path::Path as CriticalPath;
use goal_loggops::peers;
use goalc::driver::{Error, Output, Target, are_one_file};
use matches::Matches;
pub(crate) use names::Names;
use picture::{Bitmap, Picture};
pub(crate) use progress::Progress;
use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Files about a simulation.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Files")]
pub(crate) struct OutputArguments {
    /// Write what processors do over time: x.json for Perfetto, x.svg or x.png is a picture; may
    /// stand several times
    #[arg(long, value_name = "FILE")]
    timeline: Vec<PathBuf>,
    /// Write the messages and their receives as CSV; - is standard output, in place of the times
    #[arg(long, value_name = "FILE")]
    matches: Option<PathBuf>,
}

impl OutputArguments {
    /// Returns true if the times of the ranks would be among the lines of a file.
    pub(crate) fn replace_times(&self) -> bool {
        self.matches.as_ref().is_some_and(|path| Target::new(path) == Target::Stdout)
    }

    /// Returns true if there is a file.
    pub(crate) fn is_given(&self) -> bool {
        !self.timeline.is_empty() || self.matches.is_some()
    }

    /// Refuses all files, as `command` simulates more than once.
    ///
    /// # Errors
    /// There is a file.
    pub(crate) fn refuse(&self, command: &str) -> Result<(), Error> {
        if !self.is_given() {
            return Ok(());
        }
        Err(Error::Usage(format!(
            "--timeline and --matches show one simulation, and {command} makes several"
        )))
    }

    /// Refuses files that can't be written.
    ///
    /// # Errors
    /// A file has an unknown form or stands twice, or the model does not tell what happens.
    pub(crate) fn check(&self, model: Model) -> Result<(), Error> {
        let files: Vec<&PathBuf> = self.timeline.iter().chain(&self.matches).collect();
        if !files.is_empty() && model != Model::Goal {
            let name = model.program();
            return Err(Error::Usage(format!(
                "--timeline and --matches need the model `goal`: that of {name} gives only times"
            )));
        }
        for (at, file) in files.iter().enumerate() {
            if files[..at].iter().any(|other| are_one_file(other, file)) {
                return Err(Error::Usage(format!(
                    "{}: two results need two files",
                    file.display()
                )));
            }
        }
        self.timeline.iter().try_for_each(|path| Form::of(path).map(drop))
    }
}

/// The form of a timeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Json,
    Picture(Bitmap),
}

impl Form {
    fn of(path: &Path) -> Result<Self, Error> {
        match path.extension().and_then(OsStr::to_str) {
            Some("json") => Ok(Form::Json),
            Some("svg") => Ok(Form::Picture(Bitmap::Svg)),
            Some("png") => Ok(Form::Picture(Bitmap::Png)),
            _ => Err(Error::Usage(format!(
                "--timeline {}: the name of the file must end in .json, .svg or .png",
                path.display()
            ))),
        }
    }
}

/// Observers that write, one that shows the progress, and the markers.
pub(crate) struct Outputs<'a> {
    files: Vec<Box<dyn Record + 'a>>,
    progress: Option<Progress>,
    workload: &'a Workload,
    /// The markers that were reached. `None` in a program without markers.
    markers: Option<Vec<Reached>>,
    /// The actions that have ended.
    ended: u64,
}

/// An observer with a file. It sees the ends of markers only.
trait Record: Observer {
    /// Completes the file of a simulation that has ended at a time in picoseconds. It gets the
    /// critical path if that is known.
    fn finish(self: Box<Self>, finish: u64, path: Option<&CriticalPath>) -> Result<(), Error>;
}

impl<'a> Outputs<'a> {
    /// Begins the files.
    ///
    /// # Errors
    /// A file can't be written, or it is an input.
    pub(crate) fn create(
        arguments: &'a Arguments,
        parameters: &Parsed,
        subject: &'a Subject,
    ) -> Result<Self, Error> {
        let shown = Shown::from(&parameters.machine);
        let create = |path: &Path| {
            let target = Target::new(path)
                .apart_from(arguments.input.files())?
                .apart_from(arguments.noise.trace())?
                .apart_from(arguments.parameters.machine_file())?;
            Output::create(&target, false).map(Sink::new)
        };
        let mut files: Vec<Box<dyn Record + 'a>> = Vec::new();
        for path in &arguments.outputs.timeline {
            let sink = create(path)?;
            files.push(match Form::of(path)? {
                Form::Json => Box::new(Chrome::new(&shown, subject, sink)),
                Form::Picture(form) => {
                    Box::new(Picture::new(arguments, &shown, subject, sink, form)?)
                }
            });
        }
        if let Some(path) = &arguments.outputs.matches {
            files.push(Box::new(Matches::new(subject, create(path)?)));
        }
        let workload = &subject.workload;
        let markers = (workload.num_markers() > 0).then(Vec::new);
        Ok(Self { files, progress: Progress::new(workload), workload, markers, ended: 0 })
    }

    /// Returns true if all ranks have to be simulated: for files or for markers.
    pub(crate) fn needs_all_ranks(&self) -> bool {
        !self.files.is_empty() || self.markers.is_some()
    }

    /// Takes the markers that were reached. Returns `None` of a program without markers.
    pub(crate) fn take_markers(&mut self) -> Option<Vec<Reached>> {
        self.markers.take()
    }

    /// Completes the files of a simulation with these ends of ranks, in picoseconds.
    ///
    /// # Errors
    /// The first error of a file.
    pub(crate) fn finish(
        self,
        finish_ps: &[u128],
        path: Option<&CriticalPath>,
    ) -> Result<(), Error> {
        let finish = finish_ps.iter().copied().max().unwrap_or_default();
        let finish = u64::try_from(finish).unwrap_or(u64::MAX);
        self.files.into_iter().map(|file| file.finish(finish, path)).fold(Ok(()), Result::and)
    }
}

impl Observer for Outputs<'_> {
    fn start(&mut self, job: Job) {
        self.files.iter_mut().for_each(|file| file.start(job));
    }

    fn receive(&mut self, receive: u32, send: u32, posted: u64, taken: u64, end: u64) {
        self.files.iter_mut().for_each(|file| file.receive(receive, send, posted, taken, end));
    }

    fn end(&mut self, rank: u32, action: u32, time: u64) {
        self.ended += 1;
        if let Some(progress) = &self.progress {
            progress.show(self.ended);
        }
        if let Some(markers) = &mut self.markers
            && self.workload.record(action).is_marker()
        {
            markers.push(Reached { rank, action, time_ps: time });
            self.files.iter_mut().for_each(|file| file.end(rank, action, time));
        }
    }
}

impl peers::Observer for Outputs<'_> {
    fn calc(&mut self, action: u32, start: u64) {
        if let Some(markers) = &mut self.markers
            && self.workload.record(action).is_marker()
        {
            let (rank, time_ps) = (self.workload.rank_of(action), start.saturating_mul(1000));
            markers.push(Reached { rank, action, time_ps });
        }
    }
}

/// A file that keeps its first error until its end, because observers can't fail.
struct Sink {
    output: Output,
    error: Option<io::Error>,
}

impl Sink {
    fn new(output: Output) -> Self {
        Self { output, error: None }
    }

    /// Writes bytes, unless an earlier write has failed.
    fn write(&mut self, bytes: &[u8]) {
        if self.error.is_none() {
            self.error = self.output.write_all(bytes).err();
        }
    }

    fn finish(self) -> Result<(), Error> {
        match self.error {
            Some(error) => Err(Error::io(self.output.name(), error)),
            None => self.output.finish(),
        }
    }
}
