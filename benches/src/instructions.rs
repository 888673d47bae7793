//! Counts the instructions of calls of libgoal and of MPI libraries: those that a rank executes if
//! all messages are there when it looks for them.

use crate::job::{Page, crowded, list, processors};
use crate::library::goal::{self, LIBGOAL, Table};
use crate::library::{self, Libraries, Over, Peer};
use crate::mpi::{Operation, WAYS};
use crate::table;
use clap::Args as ClapArgs;
use goal_job::Mode;
use goal_run::named;
use std::io;
use std::path::PathBuf;

/// `instructions`' arguments.
#[derive(ClapArgs)]
pub(crate) struct Args {
    #[command(flatten)]
    libraries: Libraries,
    /// Operations: a ping-pong, a barrier and collectives
    #[arg(long, value_enum, value_delimiter = ',',
        default_values_t = [Operation::Barrier, Operation::Bcast, Operation::Allreduce])]
    operation: Vec<Operation>,
    /// Number of ranks, each with a processor of its own
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..))]
    ranks: u32,
    /// Bytes that each rank gives, to each other rank in an alltoall
    #[arg(long, value_delimiter = ',', default_values_t = [8])]
    size: Vec<u64>,
    /// Count libgoal with these variables and arguments of goal-run, too, under this name; may be
    /// repeated
    #[arg(long, value_name = "NAME=WORDS")]
    variant: Vec<String>,
    #[command(flatten)]
    table: Table,
    /// Mode in which libgoal makes progress
    #[arg(long, value_parser = named::<Mode>(), default_value = "caller")]
    progress: Mode,
    /// Calls that are counted on each rank
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=1000))]
    calls: u32,
    /// Write the counts there, as lines of ranks, operation, bytes, contestant, way, rank and
    /// counts
    #[arg(long)]
    csv: Option<PathBuf>,
}

/// The instructions that are counted, as the program prints them.
const COUNTS: [&str; 4] = ["instructions", "locked", "fences", "system calls"];

enum Contestant<'a> {
    Peer(&'a Peer),
    Ours(&'a goal::Program),
}

/// The counts of a call on one rank.
struct Row {
    rank: u32,
    bytes: u64,
    way: String,
    counts: [u64; COUNTS.len()],
}

pub(crate) fn run(args: &Args) -> io::Result<()> {
    if crowded(args.ranks) {
        return Err(io::Error::other("each rank needs a processor of its own"));
    }
    let folder = tempfile::tempdir()?;
    let peers = args.libraries.build(&library::INSTRUCTIONS, folder.path())?;
    let mut ours = Vec::from_iter(args.table.build(&library::INSTRUCTIONS, folder.path())?);
    if let Some(plain) = ours.first().cloned() {
        let variants = args.variant.iter().map(|request| plain.variant(request));
        ours.extend(variants.collect::<io::Result<Vec<_>>>()?);
    }
    let of_peers = peers.iter().map(Contestant::Peer);
    let contestants: Vec<_> = of_peers.chain(ours.iter().map(Contestant::Ours)).collect();
    let (mut cells, mut csv) = (Vec::new(), header() + "\n");
    for &operation in args.operation.iter().filter(|of| is_counted(**of, args.ranks)) {
        for contestant in &contestants {
            let (name, lines) = lines(args, operation, contestant)?;
            let rows = lines.iter().map(|line| parsed(line)).collect::<io::Result<Vec<_>>>()?;
            let of = [args.ranks.to_string(), operation.name().to_owned(), name];
            for row in &rows {
                csv += &(row_cells(&of, row, &row.rank.to_string()).join(",") + "\n");
            }
            cells.extend(merged(&rows).into_iter().map(|(row, ranks)| row_cells(&of, row, ranks)));
        }
    }
    say!("Median of {} calls on each rank, whose messages are there when it looks.", args.calls);
    let header = header();
    table::print(&header.split(',').collect::<Vec<_>>(), &cells);
    peers.iter().for_each(|peer| say!("{}", peer.library.note()));
    ours.iter().skip(1).for_each(|program| say!("{}", program.note()));
    args.csv.as_ref().map_or(Ok(()), |path| std::fs::write(path, csv))
}

fn header() -> String {
    format!("ranks,operation,bytes,of,way,rank,{}", COUNTS.join(","))
}

fn row_cells([number, operation, name]: &[String; 3], row: &Row, rank: &str) -> Vec<String> {
    let of = [number.clone(), operation.clone(), row.bytes.to_string(), name.clone()];
    let counts = row.counts.iter().map(u64::to_string);
    of.into_iter().chain([row.way.clone(), rank.to_owned()]).chain(counts).collect()
}

/// Returns the rows with the ranks that they are for. Where all ranks are alike, that is one row.
fn merged(rows: &[Row]) -> Vec<(&Row, &'static str)> {
    let of_first = |first| {
        let alike = rows.iter().filter(move |of: &&Row| is_same_call(of, first));
        let other = alike.clone().find(|of| of.rank == 1);
        let is_one = alike.clone().all(|of| of.counts == first.counts);
        let others = other.filter(|_| !is_one).map(|other| (other, "others"));
        std::iter::once((first, if is_one { "all" } else { "0" })).chain(others)
    };
    rows.iter().filter(|row| row.rank == 0).flat_map(of_first).collect()
}

fn is_same_call(row: &Row, other: &Row) -> bool {
    row.bytes == other.bytes && row.way == other.way
}

/// Returns true if the operation is a single call that starts once all operands are there.
fn is_counted(operation: Operation, ranks: u32) -> bool {
    operation.is_in_library() && !operation.is_mix() && operation.allows(ranks)
}

/// Returns the contestant's name, and the lines that its ranks print, in the order of ranks.
fn lines(
    args: &Args,
    operation: Operation,
    contestant: &Contestant<'_>,
) -> io::Result<(String, Vec<String>)> {
    let (page, processors) = (Page::new()?, processors(args.ranks)?);
    let sizes = if operation == Operation::Barrier { &[0][..] } else { &args.size };
    let sizes = sizes.iter().filter(|bytes| operation.fits(**bytes, 4)).map(u64::to_string);
    let fixed = [
        operation.peer_name().to_owned(),
        page.path().display().to_string(),
        list(&processors),
        WAYS.join(","),
        args.calls.to_string(),
    ];
    let arguments: Vec<String> = fixed.into_iter().chain(sizes).collect();
    let (name, mut lines) = match contestant {
        Contestant::Peer(peer) => {
            let lines = peer.run_bound(Over::SharedMemory, &processors, &arguments)?;
            (peer.library.name.clone(), lines)
        }
        Contestant::Ours(program) => {
            let lines = program.run(args.ranks, Some(&processors), args.progress, &arguments)?;
            (format!("{LIBGOAL} {}", program.variant).trim_end().to_owned(), lines)
        }
    };
    lines.sort_by_key(|line| line.split(' ').next().and_then(|rank| rank.parse::<u32>().ok()));
    Ok((name, lines))
}

fn parsed(line: &str) -> io::Result<Row> {
    let parse = || {
        let words: Vec<&str> = line.split(' ').collect();
        let [rank, bytes, way, ref counts @ ..] = words[..] else { return None };
        let counts = counts.iter().map(|count| count.parse().ok()).collect::<Option<Vec<_>>>()?;
        let (rank, bytes) = (rank.parse().ok()?, bytes.parse().ok()?);
        Some(Row { rank, bytes, way: way.to_owned(), counts: counts.try_into().ok()? })
    };
    parse().ok_or_else(|| io::Error::other(format!("a rank says `{line}`")))
}

#[cfg(test)]
mod tests {
    use super::{merged, parsed};

    #[test]
    fn ranks_that_are_alike_share_a_row() {
        let lines = [
            "0 8 blocking 90 1 0 0",
            "0 8 persistent 70 0 0 0",
            "1 8 blocking 80 1 0 0",
            "1 8 persistent 70 0 0 0",
        ];
        let rows: Vec<_> = lines.iter().map(|line| parsed(line).expect("a row")).collect();
        let ranks = merged(&rows).into_iter().map(|(row, ranks)| (&*row.way, ranks));
        let ranks: Vec<_> = ranks.collect();
        let wanted = [("blocking", "0"), ("blocking", "others"), ("persistent", "all")];
        assert_eq!(ranks, wanted);
        assert!(parsed("0 8 blocking 90 1").is_err() && parsed("can't be watched").is_err());
    }
}
