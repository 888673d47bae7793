//! The command line of `goalc gen`.

use super::super::collective::{BlockArguments, Operation, datatype, kind, operation};
use super::super::style::Spelling;
use goal_lang::{CollectiveKind, Datatype};
use std::path::PathBuf;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The collective
    #[arg(required_unless_present = "list", value_name = "COLLECTIVE", value_parser = kind())]
    pub(super) collective: Option<CollectiveKind>,
    /// The algorithm: one that --list names, or auto
    #[arg(long, value_name = "NAME", default_value = "auto")]
    pub(super) algorithm: String,
    /// Table by which auto decides, a JSON file [default: thresholds of publications]
    #[arg(long, value_name = "FILE")]
    pub(super) table: Option<PathBuf>,
    /// Number of ranks
    #[arg(
        short = 'n',
        long,
        required_unless_present = "list",
        value_name = "P",
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    pub(super) ranks: Option<u32>,
    /// Elements of a block
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with = "counts")]
    pub(super) count: u64,
    #[command(flatten)]
    pub(super) blocks: BlockArguments,
    /// Type of the elements [default: Int32 where inputs are combined, else UInt8]
    #[arg(long = "type", value_name = "TYPE", value_parser = datatype())]
    pub(super) datatype: Option<Datatype>,
    /// Operation that combines inputs: a predefined one, or user:N, which need not commute
    /// [default: sum]
    #[arg(long, value_name = "OP", value_parser = operation)]
    pub(super) op: Option<Operation>,
    /// The root [default: 0]
    #[arg(long, value_name = "RANK")]
    pub(super) root: Option<u32>,
    /// Address of every rank's input [default: in place, where the output will be]
    #[arg(long = "in", value_name = "ADDR")]
    pub(super) input: Option<u64>,
    /// Address of every rank's output [default: 0]
    #[arg(long = "out", value_name = "ADDR")]
    pub(super) output: Option<u64>,
    /// Bytes of a segment, for algorithms that have segments
    #[arg(long, value_name = "BYTES")]
    pub(super) segment: Option<u64>,
    /// Children of a node, or messages of a round, for algorithms of a degree [default: 2]
    #[arg(long, value_name = "K")]
    pub(super) degree: Option<u32>,
    /// The node of each rank, any number for each node, for algorithms of two levels [default: one
    /// node]
    #[arg(long, value_name = "N,N,..", value_delimiter = ',', conflicts_with = "per_node")]
    pub(super) nodes: Option<Vec<u32>>,
    /// Ranks of a node, if consecutive ranks share it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) per_node: Option<u32>,
    /// Algorithm within nodes, for algorithms of two levels
    #[arg(long, value_name = "NAME")]
    pub(super) inner: Option<String>,
    /// Algorithm among the leaders of nodes, for algorithms of two levels
    #[arg(long, value_name = "NAME")]
    pub(super) outer: Option<String>,
    /// Result: a schedule if its name ends in .nisa, LogGOPSim's binary form if in .bin, else text;
    /// - or nothing is standard output
    #[arg(short, value_name = "OUT")]
    pub(super) o: Option<PathBuf>,
    /// Spelling of a text
    #[arg(long, value_enum, default_value_t, value_name = "STYLE")]
    pub(super) style: Spelling,
    /// Write one block for all ranks, with relative peers, for algorithms whose ranks differ in
    /// their peers only
    #[arg(long)]
    pub(super) relative: bool,
    /// List the algorithms, of a collective or of all
    #[arg(long, conflicts_with_all = [
        "algorithm", "table", "ranks", "count", "counts", "displacements", "datatype", "op", "root",
        "input", "output", "edges", "segment", "degree", "nodes", "per_node", "inner", "outer", "o", "style",
        "relative",
    ])]
    pub(super) list: bool,
    /// Form of the list
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT", requires = "list")]
    pub(super) format: Form,
}

/// The forms of the list.
#[derive(Clone, Copy, Default, clap::ValueEnum)]
pub(super) enum Form {
    /// A line an algorithm
    #[default]
    Text,
    /// A JSON object an algorithm, each on a line
    Json,
}
