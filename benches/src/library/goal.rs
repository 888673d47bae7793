//! Programs of the C library of this project, which goal-run starts.

use super::setting::Setting;
use super::source::{self, Source, compile};
use crate::job::list;
use goal_job::Named;
use goal_job::{Mode, Wait};
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The name in tables and raw data.
pub(crate) const LIBGOAL: &str = "libgoal";

/// The file that Cargo builds, and the names by which programs find it.
const BUILT: &str = "libgoal_c.so";
const LINKS: [&str; 2] = ["libgoal.so", concat!("libgoal.so.", env!("CARGO_PKG_VERSION_MAJOR"))];

/// The contestants of this project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Ours {
    /// Schedules that the benchmark hands to the engine
    Schedule,
    /// A program in C that calls libgoal
    Libgoal,
}

impl Ours {
    pub(crate) const ALL: [Ours; 2] = [Ours::Schedule, Ours::Libgoal];
}

/// A program that is compiled for the C library.
#[derive(Debug, Clone)]
pub(crate) struct Program {
    goal_run: PathBuf,
    path: PathBuf,
    table: Option<PathBuf>,
    /// The name among the variants of the library, which is empty for the library as it is.
    pub(crate) variant: String,
    setting: Setting,
}

/// The table of algorithms that programs of the C library use.
#[derive(Debug, clap::Args)]
pub(crate) struct Table {
    /// The table of `goal-run tune` by which programs of libgoal choose algorithms [default: the
    /// library's own]
    #[arg(long, value_name = "FILE")]
    table: Option<PathBuf>,
}

impl Table {
    /// Compiles a program into `folder`. Returns `None`, after a message, if there is no compiler
    /// or if this program lies alone.
    ///
    /// # Errors
    /// There is no table, or the compiler fails; it has printed the reason.
    pub(crate) fn build(&self, source: &Source, folder: &Path) -> io::Result<Option<Program>> {
        // Ranks have another folder on no host, but an error names the file as it was given.
        let absolute = |path: &PathBuf| {
            path.canonicalize().map_err(|error| {
                io::Error::new(error.kind(), format!("{}: {error}", path.display()))
            })
        };
        let table = self.table.as_ref().map(absolute).transpose()?;
        let (Some(goal_run), Some(library)) = (beside("goal-run")?, beside(BUILT)?) else {
            eprintln!(
                "no {BUILT} or no goal-run beside this program: {LIBGOAL} is left out; build them with `cargo build --release --workspace`"
            );
            return Ok(None);
        };
        let own = folder.join(source::GOAL.folder);
        std::fs::create_dir_all(&own)?;
        for link in LINKS.map(|name| own.join(name)) {
            if !link.exists() {
                symlink(&library, link)?;
            }
        }
        let flags = ["-L".to_owned(), own.display().to_string(), "-lgoal".to_owned()];
        let flags = [&flags[..], &[format!("-Wl,-rpath,{}", own.display())]].concat();
        let compiler = Command::new("cc");
        match compile(compiler, source, &source::GOAL, folder, LIBGOAL, &flags) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                eprintln!("no cc: {LIBGOAL} is left out");
                Ok(None)
            }
            result => result.map(|path| {
                let (variant, setting) = Default::default();
                Some(Program { goal_run, path, table, variant, setting })
            }),
        }
    }
}

/// Returns the path of a file of this workspace that was built together with this program: beside
/// it, or among the parts of tests, where `cargo test` puts it. The later one of both is the one of
/// the present sources.
fn beside(name: &str) -> io::Result<Option<PathBuf>> {
    let own = std::env::current_exe()?;
    let paths = [name.into(), Path::new("deps").join(name)];
    let files = paths.map(|path| own.with_file_name(path)).into_iter();
    let built = |path: &PathBuf| path.metadata().and_then(|file| file.modified()).ok();
    Ok(files.filter(|path| path.is_file()).max_by_key(built))
}

impl Program {
    /// Returns the program with the variables and arguments of goal-run of a request NAME=WORDS.
    ///
    /// # Errors
    /// It has no name.
    pub(crate) fn variant(&self, request: &str) -> io::Result<Self> {
        let named = request.split_once('=').filter(|(name, _)| {
            !name.is_empty() && name.trim() == *name && !name.contains([',', '"', ':'])
        });
        let (name, words) = named.ok_or_else(|| {
            let text = format!("`{request}`: give NAME=WORDS; a name has no `,`, `:` and `\"`");
            io::Error::other(text)
        })?;
        let setting = Setting::from_words(words);
        Ok(Self { variant: name.to_owned(), setting, ..self.clone() })
    }

    /// Returns the settings in a line.
    pub(crate) fn note(&self) -> String {
        let Self { variant, setting, .. } = self;
        format!("{LIBGOAL} {variant}: {setting}")
    }

    /// Adds what starts the program in this mode of progress to a command of goal-run: options
    /// between, the program and its arguments.
    pub(crate) fn start(
        &self,
        command: &mut Command,
        progress: Mode,
        options: &[String],
        arguments: &[String],
    ) {
        if let Some(table) = &self.table {
            command.env("GOAL_TABLE", table);
        }
        command.args(["--timeout", super::SECONDS_MAX, "--progress", progress.name()]);
        let variables = self.setting.variables.iter().map(|(name, value)| (name, value));
        command.envs(variables).args(&self.setting.arguments);
        command.args(options).arg("--").arg(&self.path);
        command.args(arguments).stdin(Stdio::null());
    }

    /// Runs the program on `ranks` ranks of this host. Each is bound to its processor in the list,
    /// or free. Returns the lines that it prints.
    ///
    /// # Errors
    /// It fails; the error has what it printed.
    pub(crate) fn run(
        &self,
        ranks: u32,
        processors: Option<&[u32]>,
        progress: Mode,
        arguments: &[String],
    ) -> io::Result<Vec<String>> {
        let mut command = Command::new(&self.goal_run);
        let bound = processors.map_or("none".to_owned(), list);
        let options = ["-n".to_owned(), ranks.to_string(), "--bind".to_owned(), bound];
        self.start(&mut command, progress, &options, arguments);
        super::lines_of(LIBGOAL, &command.output()?)
    }

    /// Runs the program over TCP on this machine, with a launcher for each rank, as on hosts of
    /// their own. Each rank is bound to its processor in the list. Returns the lines that it
    /// prints.
    ///
    /// # Errors
    /// It fails; the error has what it printed.
    pub(crate) fn run_over_tcp(
        &self,
        processors: &[u32],
        progress: Mode,
        wait: Wait,
        key: &Path,
        arguments: &[String],
    ) -> io::Result<Vec<String>> {
        // The system gives a port that nobody has. Launcher 0 takes it at once.
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
        let ranks = processors.len().to_string();
        let launcher = |(rank, processor): (usize, &u32)| {
            let mut command = Command::new(&self.goal_run);
            command.args(["-n", &ranks, "--rank", &rank.to_string(), "--size", &ranks]);
            command.args(["--rendezvous", &format!("127.0.0.1:{port}"), "--key"]).arg(key);
            let options = ["--bind", &processor.to_string(), "--wait", wait.name()];
            self.start(&mut command, progress, &options.map(str::to_owned), arguments);
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()
        };
        let launchers =
            processors.iter().enumerate().map(launcher).collect::<io::Result<Vec<_>>>()?;
        let ended = launchers.into_iter().map(Child::wait_with_output);
        let outputs = ended.collect::<io::Result<Vec<_>>>()?;
        let lines = outputs.iter().map(|output| super::lines_of(LIBGOAL, output));
        // Rank 0 prints for all.
        Ok(lines.collect::<io::Result<Vec<_>>>()?.concat())
    }
}
