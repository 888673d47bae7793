//! Benchmarks of MPI that others wrote, unmodified: each natively and with `libgoal-mpi.so`
//! preloaded, in turn.

mod output;
mod report;

use crate::library::{Libraries, Library, Peer};
use clap::Args as ClapArgs;
use output::{Figures, figures, share_of_schedules};
use std::fmt::Write as _;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

/// `preload`'s arguments.
#[derive(ClapArgs)]
pub(crate) struct Args {
    #[command(flatten)]
    libraries: Libraries,
    /// The libgoal-mpi.so of the MPI library
    #[arg(long, value_name = "FILE")]
    preload: PathBuf,
    /// The folder c/mpi/collective of OSU's micro-benchmarks, compiled for the MPI library
    #[arg(long, value_name = "FOLDER", required_unless_present = "imb")]
    osu: Option<PathBuf>,
    /// Intel's IMB-MPI1, if it runs with the MPI library
    #[arg(long, value_name = "FILE", conflicts_with = "osu")]
    imb: Option<PathBuf>,
    /// Benchmarks, as OSU's programs are called behind osu_
    #[arg(long, value_delimiter = ',', default_values = ["barrier", "bcast", "reduce", "allreduce", "gather", "allgather", "alltoall"])]
    benchmark: Vec<String>,
    /// Numbers of ranks
    #[arg(long, value_delimiter = ',', default_values_t = [2])]
    ranks: Vec<u32>,
    /// The least and the largest size in bytes: powers of two
    #[arg(long, value_name = "LEAST:LARGEST", value_parser = sizes, default_value = "8:1024")]
    size: [u64; 2],
    /// Timed iterations of each size
    #[arg(long, default_value_t = 50_000)]
    iterations: u32,
    /// Type of the numbers that OSU's benchmarks add, as OSU's option -T has it
    #[arg(long = "type", value_name = "TYPE", default_value = "mpi_float")]
    datatype: String,
    /// Let OSU's benchmarks write and check the buffers in each iteration
    #[arg(long, conflicts_with = "imb")]
    checked: bool,
    /// GOALMPI_RANGES for the preloaded library
    #[arg(long, default_value = "all=on")]
    ranges: String,
    /// Counted jobs
    #[arg(long, default_value_t = 11, value_parser = clap::value_parser!(u32).range(1..))]
    jobs: u32,
    /// Write every job's figures there, as lines of benchmark, ranks, bytes, contestant, job, and
    /// microseconds: the mean, least and most of the ranks
    #[arg(long)]
    csv: Option<PathBuf>,
}

fn sizes(text: &str) -> Result<[u64; 2], String> {
    let size = |text: &str| text.parse().ok().filter(|size: &u64| size.is_power_of_two());
    let sizes = text.split_once(':').and_then(|(from, to)| Some([size(from)?, size(to)?]));
    sizes.filter(|[from, to]| from <= to).ok_or_else(|| "give powers of two, as 8:1024".to_owned())
}

/// The figures of a contestant in one job.
struct Sample {
    benchmark: String,
    ranks: u32,
    bytes: u64,
    contestant: String,
    figures: Figures,
}

/// The name of the contestant that is preloaded.
const PRELOADED: &str = "libgoal-mpi.so";

pub(crate) fn run(args: &Args) -> io::Result<()> {
    let libraries = args.libraries.all()?;
    let Some(installed) = libraries.first() else {
        return Err(io::Error::other("there is no MPI library to measure"));
    };
    let preload = args.preload.canonicalize().map_err(|error| {
        io::Error::new(error.kind(), format!("{}: {error}", args.preload.display()))
    })?;
    let mut csv = String::from("benchmark,ranks,bytes,contestant,job,mean_us,least_us,most_us\n");
    let (mut samples, mut shares) = (Vec::new(), Vec::new());
    for &ranks in &args.ranks {
        for benchmark in &args.benchmark {
            if io::stderr().is_terminal() {
                eprintln!("{benchmark}, {ranks} ranks");
            }
            let command = command(args, benchmark, ranks)?;
            // The first job brings files into the page cache.
            for job in 0..=args.jobs {
                let mut of_job = Vec::new();
                for library in libraries.iter().filter(|of| of.can_run(ranks)) {
                    of_job.push((library.name.clone(), once(library, ranks, &[], &command)?.0));
                }
                let variables = [
                    format!("LD_PRELOAD={}", preload.display()),
                    format!("GOALMPI_RANGES={}", args.ranges),
                    "GOALMPI_REPORT=1".to_owned(),
                ];
                let (figures, told) = once(installed, ranks, &variables, &command)?;
                of_job.push((PRELOADED.to_owned(), figures));
                if job == 0 {
                    shares.push((benchmark.clone(), ranks, share_of_schedules(&told, benchmark)));
                    continue;
                }
                for (contestant, sizes) in of_job {
                    for (bytes, figures) in sizes {
                        let [mean, least, most] = figures;
                        let _ = writeln!(
                            csv,
                            "{benchmark},{ranks},{bytes},{contestant},{job},{mean},{least},{most}"
                        );
                        let (benchmark, contestant) = (benchmark.clone(), contestant.clone());
                        samples.push(Sample { benchmark, ranks, bytes, contestant, figures });
                    }
                }
            }
        }
    }
    report::print(&samples, &shares);
    libraries.iter().for_each(|library| say!("{}", library.note()));
    say!("{PRELOADED}: with {} as installed, GOALMPI_RANGES={}", installed.name, args.ranges);
    match &args.csv {
        Some(path) => std::fs::write(path, csv),
        None => Ok(()),
    }
}

/// Returns the program and the arguments of a benchmark.
fn command(args: &Args, benchmark: &str, ranks: u32) -> io::Result<Vec<String>> {
    let [least, largest] = args.size;
    let is_barrier = benchmark.contains("barrier");
    let mut command = Vec::new();
    let mut add = |text: &str| command.extend(text.split(' ').map(str::to_owned));
    match (&args.osu, &args.imb) {
        (Some(folder), _) => {
            add(&osu(folder, benchmark)?.display().to_string());
            add(&format!("-x {} -i {} -f", args.iterations / 25 + 1, args.iterations));
            if !is_barrier {
                add(&format!("-m {least}:{largest}"));
            }
            if args.checked && !is_barrier {
                add("-c");
            }
            if benchmark.contains("reduce") {
                add(&format!("-T {}", args.datatype));
            }
        }
        (None, program) => {
            add(&program.as_ref().map_or(String::new(), |program| program.display().to_string()));
            add(&format!("{benchmark} -npmin {ranks} -iter_policy off -iter {}", args.iterations));
            // Its option for powers of two adds a size of 0.
            let sizes = (least.ilog2()..=largest.ilog2()).map(|power| (1u64 << power).to_string());
            add(&format!("-msgsize {}", sizes.collect::<Vec<_>>().join(",")));
        }
    }
    Ok(command)
}

/// Returns the program of a benchmark among OSU's.
fn osu(folder: &Path, benchmark: &str) -> io::Result<PathBuf> {
    let of = |kind| folder.join(kind).join(format!("osu_{benchmark}"));
    let mut programs = ["blocking", "non_blocking", "persistent"].map(of).into_iter();
    programs.find(|path| path.is_file()).ok_or_else(|| {
        let text = format!(
            "no osu_{benchmark} in blocking, non_blocking or persistent of {}",
            folder.display()
        );
        io::Error::new(io::ErrorKind::NotFound, text)
    })
}

/// Runs a job. Returns the figures of each size, and what the job said on standard error.
fn once(
    library: &Library,
    ranks: u32,
    variables: &[String],
    command: &[String],
) -> io::Result<(Vec<(u64, Figures)>, String)> {
    let peer = Peer { library: library.clone(), program: "env".into() };
    // A program that was not compiled here does not know where its library is.
    let folder = library.libraries().map(|of| format!("LD_LIBRARY_PATH={}", of.display()));
    let variables = [folder.as_slice(), variables, command].concat();
    let output = peer.output(ranks, &variables)?;
    let [text, told] = [&output.stdout, &output.stderr].map(|of| String::from_utf8_lossy(of));
    let figures = figures(&text);
    if !output.status.success() || figures.is_empty() || text.contains("Fail") {
        let text = format!("{}: {}: {told}{text}", library.name, command.join(" "));
        return Err(io::Error::other(text));
    }
    Ok((figures, told.into_owned()))
}
