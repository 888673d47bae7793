//! Timelines as pictures: the adapter of `goal-draw` to files of a simulation.

use super::{Record, Sink};
use crate::Arguments;
use crate::parameters::Shown;
use crate::source::Subject;
use goal_draw::{DrawError, Options, Recorder, Scene, Style, png, svg};
use goal_loggops::model::{Job, Observer};
use goal_loggops::path::Path as CriticalPath;
use goalc::driver::Error;
use std::path::Path;

/// The form of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bitmap {
    Svg,
    Png,
}

/// Draws a picture at the end of a simulation.
pub(super) struct Picture<'a> {
    sink: Sink,
    recorder: Recorder<'a>,
    form: Bitmap,
    machine: String,
}

impl<'a> Picture<'a> {
    /// Begins a picture.
    ///
    /// # Errors
    /// There is no such rank.
    pub(super) fn new(
        arguments: &Arguments,
        parameters: &Shown,
        subject: &'a Subject,
        sink: Sink,
        form: Bitmap,
    ) -> Result<Self, Error> {
        let drawn = subject.loaded().map(|loaded| goal_draw::Subject {
            name: "",
            program: &loaded.program,
            sources: Some(&loaded.findings.sources),
        });
        let name = name_of(&arguments.input.inputs[0]);
        let recorder = Recorder::new(&name, &subject.workload, drawn, &Options::default());
        let recorder = recorder.map_err(wrong)?;
        Ok(Self { sink, recorder, form, machine: parameters.summary() })
    }
}

impl Observer for Picture<'_> {
    fn start(&mut self, job: Job) {
        self.recorder.start(job);
    }

    fn receive(&mut self, receive: u32, send: u32, posted: u64, taken: u64, end: u64) {
        self.recorder.receive(receive, send, posted, taken, end);
    }

    fn end(&mut self, rank: u32, action: u32, time: u64) {
        self.recorder.end(rank, action, time);
    }
}

impl Record for Picture<'_> {
    fn finish(mut self: Box<Self>, finish: u64, path: Option<&CriticalPath>) -> Result<(), Error> {
        let scene = Scene::new(&self.recorder.finish(&self.machine, finish, path, 0));
        match self.form {
            Bitmap::Svg => self.sink.write(svg(&scene, Style::Screen).as_bytes()),
            Bitmap::Png => self.sink.write(&png(&scene, Style::Screen).map_err(wrong)?),
        }
        self.sink.finish()
    }
}

fn wrong(error: DrawError) -> Error {
    Error::Usage(error.to_string())
}

/// Returns the name of an input's file, without its folder.
fn name_of(path: &Path) -> String {
    match path.file_name() {
        Some(_) if path == Path::new("-") => "standard input".to_owned(),
        Some(name) => name.to_string_lossy().into_owned(),
        None => path.display().to_string(),
    }
}
