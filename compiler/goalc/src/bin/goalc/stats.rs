//! `goalc stats`.

use clap::ValueEnum;
use goalc::driver::{self, Error, InputArguments, MachineArguments, Ranks, print};
use goalc::stats::{predict_makespan, stats, stats_of_ranks};

#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  goalc stats broadcast.goal
  goalc stats --machine L=2500,o=1500,g=1000,G=6 broadcast.goal     critical path and makespan on this machine
  goalc stats --format json trace.bin                               one object on standard output")]
pub(crate) struct Arguments {
    #[command(flatten)]
    input: InputArguments,
    #[command(flatten)]
    machine: MachineArguments,
    /// Format of the figures
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// The format of the figures.
#[derive(Debug, Clone, Copy, Default, ValueEnum)]
enum Format {
    /// For people
    #[default]
    Text,
    /// For programs
    Json,
}

impl Arguments {
    /// The format of findings.
    pub(crate) fn findings(&self) -> driver::Format {
        match self.format {
            Format::Text => driver::Format::Text,
            Format::Json => driver::Format::Json,
        }
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Error> {
    let machine = arguments.machine.machine()?;
    let mut options = driver::Options { strip: true, ..arguments.input.options() };
    options.collectives = options.collectives.or_keep();
    let mut ranks = Ranks::open(&arguments.input.inputs, &options)?;
    driver::show_stage("counting");
    let counted = if ranks.is_streamed() { stats_of_ranks(&mut ranks)? } else { None };
    let stats = match counted {
        Some(stats) => stats,
        None => {
            let program = ranks.hold("chains lead through all ranks")?;
            let mut stats = options.with_threads(|| stats(program, &machine));
            if arguments.machine.machine.is_some() {
                predict_makespan(&mut stats, program, &machine);
            }
            stats
        }
    };
    driver::note(&ranks.findings, arguments.findings());
    print(|out| match arguments.format {
        Format::Text => write!(out, "{stats}"),
        Format::Json => {
            serde_json::to_writer(&mut *out, &stats)?;
            writeln!(out)
        }
    })?;
    std::mem::forget(ranks);
    Ok(())
}
