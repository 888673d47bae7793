//! The libraries that programs in C use: MPI libraries on this machine, and this project's own.
//! Each compiles the programs, and runs them with the flags that it needs for the same placement.

mod family;
pub(crate) mod goal;
mod setting;
mod source;

pub(crate) use source::{
    COLLECTIVES, COSTS, IDLE, INSTRUCTIONS, OPERATIONS, OVERLAP, PINGPONG, ROUNDS, Source,
    build_machine,
};

pub(crate) use family::Over;

use crate::job::{crowded, processors};
use family::Family;
use setting::Setting;
use source::compile;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// An installed MPI library.
#[derive(Debug, Clone)]
pub(crate) struct Library {
    /// The name in tables and raw data.
    pub(crate) name: String,
    family: Family,
    /// The folder that has `bin/mpicc`; `None` for what is on the path.
    prefix: Option<PathBuf>,
    version: String,
    setting: Setting,
}

impl Library {
    /// Returns the library on the path. If the path has none, prints a message and returns `None`.
    ///
    /// # Errors
    /// The library is not known.
    pub(crate) fn on_path() -> io::Result<Option<Self>> {
        match version(None) {
            Ok(text) => Self::recognised(None, None, &text).map(Some),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                eprintln!(
                    "no mpirun: MPI is left out; install it with `apt install openmpi-bin libopenmpi-dev`"
                );
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    fn at(name: Option<&str>, prefix: &Path) -> io::Result<Self> {
        let text = version(Some(prefix)).map_err(|error| {
            io::Error::new(error.kind(), format!("no MPI in {}: {error}", prefix.display()))
        })?;
        Self::recognised(name, Some(prefix), &text)
    }

    fn recognised(name: Option<&str>, prefix: Option<&Path>, text: &str) -> io::Result<Self> {
        let place = prefix.map_or("on the path".to_owned(), |prefix| prefix.display().to_string());
        let unknown =
            || io::Error::other(format!("not a known MPI library ({place}): {}", text.trim()));
        let family = Family::from_version(text).ok_or_else(unknown)?;
        let name = name.unwrap_or(family.default_name()).to_owned();
        if name.contains([',', '"', ':']) || name.starts_with(goal::LIBGOAL) {
            let text = format!(
                "`{name}`: a name has no `,`, `:` and `\"`, and does not begin with {}",
                goal::LIBGOAL
            );
            return Err(io::Error::other(text));
        }
        let (version, setting) = (family::version(text), Setting::default());
        Ok(Self { name, family, prefix: prefix.map(Path::to_owned), version, setting })
    }

    /// Returns the library with other settings, in which it may be faster.
    fn tuned(&self) -> Vec<Self> {
        let tuned = |(name, words): (&str, String)| Self {
            name: format!("{} {name}", self.name),
            setting: Setting::from_words(&format!("{} {words}", self.setting)),
            ..self.clone()
        };
        self.family.tuned(|component| self.has(component)).into_iter().map(tuned).collect()
    }

    /// Returns true if Open MPI has this component.
    fn has(&self, component: &str) -> bool {
        let output = command(self.prefix.as_deref(), "ompi_info").arg("--parsable").output();
        let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
        text.is_ok_and(|text| text.contains(&format!("mca:{component}:")))
    }

    /// Compiles a program into `folder`.
    ///
    /// # Errors
    /// The compiler fails; it has printed the reason.
    pub(crate) fn build(&self, source: &Source, folder: &Path) -> io::Result<Peer> {
        let name: String = self.name.chars().filter(|c| c.is_ascii_alphanumeric()).collect();
        let compiler = command(self.prefix.as_deref(), "mpicc");
        Ok(Peer {
            library: self.clone(),
            program: compile(compiler, source, &source::MPI, folder, &name, &source.mpi_flags())?,
        })
    }

    /// Returns the version and the settings in a line.
    pub(crate) fn note(&self) -> String {
        let Self { name, version, setting, .. } = self;
        let (variables, flags) = self.family.transport(Over::SharedMemory);
        let arguments = flags.into_iter().chain(setting.arguments.clone()).collect();
        let variables = variables.into_iter().map(|(name, value)| (name.to_owned(), value));
        let variables = variables.chain(setting.variables.clone()).collect();
        format!("{name}: version {version}, {}", Setting { variables, arguments })
    }

    /// Returns the command that starts ranks.
    pub(crate) fn mpirun(&self) -> PathBuf {
        self.prefix.as_ref().map_or("mpirun".into(), |prefix| prefix.join("bin/mpirun"))
    }

    /// Returns the folder of the library's own files, unless it is the one on the path.
    pub(crate) fn libraries(&self) -> Option<PathBuf> {
        self.prefix.as_ref().map(|prefix| prefix.join("lib"))
    }

    /// Returns true if the flags for ranks on several hosts are known.
    pub(crate) fn is_between_hosts(&self) -> bool {
        self.family == Family::OpenMpi4
    }

    /// Returns true if ranks that wait give their processor away where they have to share it.
    pub(crate) fn can_run(&self, ranks: u32) -> bool {
        !crowded(ranks) || self.family != Family::Mpich
    }
}

/// The libraries that a benchmark measures beside schedules.
#[derive(Debug, clap::Args)]
pub(crate) struct Libraries {
    /// An MPI library: the folder that has bin/mpicc, and a name for the tables; may be repeated.
    /// Words behind the folder are variables, as I_MPI_FABRICS=shm, and arguments of mpirun.
    /// Empty: none [default: the one on the path]
    #[arg(long, value_name = "NAME=PREFIX")]
    mpi: Vec<String>,
    /// Measure each MPI library with settings that make collectives faster, too
    #[arg(long)]
    tuned: bool,
}

impl Libraries {
    /// Compiles a program into `folder` for each requested library. Without a request, it takes the
    /// library on the path, if any. An empty request stands for no library.
    ///
    /// # Errors
    /// A library is not there or not known, or its compiler fails.
    pub(crate) fn build(&self, source: &Source, folder: &Path) -> io::Result<Vec<Peer>> {
        let mut peers = Vec::new();
        for library in self.asked()? {
            let peer = library.build(source, folder)?;
            let tuned = self.with_tuned(library).into_iter();
            peers.extend(tuned.map(|library| Peer { library, ..peer.clone() }));
        }
        Ok(peers)
    }

    /// Returns the libraries, each with its settings behind it.
    ///
    /// # Errors
    /// A library is not there or not known.
    pub(crate) fn all(&self) -> io::Result<Vec<Library>> {
        Ok(self.asked()?.into_iter().flat_map(|library| self.with_tuned(library)).collect())
    }

    fn with_tuned(&self, library: Library) -> Vec<Library> {
        let tuned = if self.tuned { library.tuned() } else { Vec::new() };
        std::iter::once(library).chain(tuned).collect()
    }

    fn asked(&self) -> io::Result<Vec<Library>> {
        if self.mpi.is_empty() {
            return Ok(Library::on_path()?.into_iter().collect());
        }
        let requests = self.mpi.iter().filter(|request| !request.is_empty());
        let library = |request: &String| {
            // A path without a name may have variables behind it.
            let named = request.split_once('=').filter(|_| !request.starts_with(['/', '.']));
            let (name, place) = named.map_or((None, &request[..]), |(name, of)| (Some(name), of));
            let (prefix, words) = place.split_once(' ').unwrap_or((place, ""));
            let library = Library::at(name, Path::new(prefix))?;
            Ok(Library { setting: Setting::from_words(words), ..library })
        };
        requests.map(library).collect()
    }
}

/// A program that is compiled for a library.
#[derive(Debug, Clone)]
pub(crate) struct Peer {
    pub(crate) library: Library,
    pub(crate) program: PathBuf,
}

impl Peer {
    /// Compiles a program for the library on the path. Returns `None`, after a message, if there is
    /// none.
    ///
    /// # Errors
    /// The compiler fails; it has printed the reason.
    pub(crate) fn on_path(source: &Source, folder: &Path) -> io::Result<Option<Self>> {
        let Some(library) = Library::on_path()? else { return Ok(None) };
        library.build(source, folder).map(Some)
    }

    /// Runs the program on `ranks` ranks over shared memory, placed as goal-run does by default.
    /// Each rank is bound to a processor of its own, or free if the processors are too few. Returns
    /// the lines that it prints.
    ///
    /// # Errors
    /// It fails; the error has what it printed.
    pub(crate) fn run(&self, ranks: u32, arguments: &[String]) -> io::Result<Vec<String>> {
        lines_of(&self.library.name, &self.output(ranks, arguments)?)
    }

    /// Runs the program as [`run`](Self::run) does. Returns all that it printed, also if it failed.
    ///
    /// # Errors
    /// The system's.
    pub(crate) fn output(&self, ranks: u32, arguments: &[String]) -> io::Result<Output> {
        let processors = if crowded(ranks) { None } else { Some(processors(ranks)?) };
        self.output_on(Over::SharedMemory, processors.as_deref(), ranks, arguments)
    }

    /// Runs the program over shared memory or over TCP, with each rank bound to its processor in
    /// the list. If processors occur repeatedly, the program must bind its ranks itself: not every
    /// launcher can.
    ///
    /// # Errors
    /// It fails; the error has what it printed.
    pub(crate) fn run_bound(
        &self,
        over: Over,
        processors: &[u32],
        arguments: &[String],
    ) -> io::Result<Vec<String>> {
        let ranks = processors.len() as u32;
        lines_of(&self.library.name, &self.output_on(over, Some(processors), ranks, arguments)?)
    }

    fn output_on(
        &self,
        over: Over,
        processors: Option<&[u32]>,
        ranks: u32,
        arguments: &[String],
    ) -> io::Result<Output> {
        let Library { family, prefix, setting, .. } = &self.library;
        let (variables, flags) = family.placement(over, processors, crowded(ranks));
        let mut command = limited(prefix.as_deref(), "mpirun");
        command.envs(variables).args(flags);
        let setting_variables = setting.variables.iter().map(|(name, value)| (name, value));
        command.envs(setting_variables).args(&setting.arguments);
        command.args(["-n", &ranks.to_string()]).arg(&self.program).args(arguments);
        command.stdin(Stdio::null()).output()
    }
}

/// Returns a command of the library behind a prefix, or of the one on the path.
fn command(prefix: Option<&Path>, name: &str) -> Command {
    let Some(prefix) = prefix else { return Command::new(name) };
    let bin = prefix.join("bin");
    let mut path = OsString::from(&bin);
    if let Some(rest) = std::env::var_os("PATH") {
        path.push(":");
        path.push(rest);
    }
    let mut command = Command::new(bin.join(name));
    // Intel's scripts find their own commands and headers only by these.
    command.env("PATH", path).env("I_MPI_ROOT", prefix);
    command
}

/// The seconds after which a program that has not ended is ended.
pub(crate) const SECONDS_MAX: &str = "300";

/// Returns a command of the library as [`command`] does. The command is ended if it takes too long.
fn limited(prefix: Option<&Path>, name: &str) -> Command {
    let own = command(prefix, name);
    let mut command = Command::new("timeout");
    command.args(["--kill-after=10", SECONDS_MAX]).arg(own.get_program());
    command.envs(own.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command
}

fn version(prefix: Option<&Path>) -> io::Result<String> {
    let output = command(prefix, "mpirun").arg("--version").stdin(Stdio::null()).output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() { Ok(text) } else { Err(io::Error::other(text)) }
}

/// Returns the lines that a program printed.
///
/// # Errors
/// It failed; the error has what it printed.
pub(crate) fn lines_of(name: &str, output: &Output) -> io::Result<Vec<String>> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if !output.status.success() {
        let said = text(&output.stderr) + &text(&output.stdout);
        return Err(io::Error::other(format!("{name}: {}", said.trim())));
    }
    Ok(text(&output.stdout).lines().map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::{IDLE, Libraries};
    use std::path::Path;

    #[test]
    fn an_empty_request_asks_for_none() {
        let build = |request: &str| {
            Libraries { mpi: vec![request.to_owned()], tuned: false }.build(&IDLE, Path::new(""))
        };
        assert!(build("").expect("nothing to find").is_empty());
        let error = build("A=/nowhere").expect_err("no such folder");
        assert!(error.to_string().starts_with("no MPI in /nowhere: "), "{error}");
    }
}
