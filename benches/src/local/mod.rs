//! Local operations as schedules, beside a plain loop over the same buffers, as the thesis measures
//! them (6.4). The loop is compiled twice: as this program is, and for this processor.

mod plain;
#[cfg(test)]
mod tests;

use crate::engine::{Prepared, time};
use crate::measure::median;
use crate::table;
use clap::Args as ClapArgs;
use goal_engine::InstructionSet;
use goal_lang::{Action, ActionId, BodyBuilder, Datatype, Op, Space};
use std::fmt::Write as _;
use std::hint::black_box;
use std::io;
use std::path::PathBuf;

/// The measured operations: each one on each of the types that it is defined on, and a copy once.
const FUNCTIONS: [(Op, Datatype); 15] = [
    (Op::Copy, Datatype::Int32),
    (Op::Sum, Datatype::Int32),
    (Op::Sum, Datatype::Int64),
    (Op::Sum, Datatype::Float32),
    (Op::Sum, Datatype::Float64),
    (Op::Prod, Datatype::Int32),
    (Op::Prod, Datatype::Int64),
    (Op::Prod, Datatype::Float32),
    (Op::Prod, Datatype::Float64),
    (Op::Max, Datatype::Int32),
    (Op::Max, Datatype::Int64),
    (Op::Max, Datatype::Float32),
    (Op::Max, Datatype::Float64),
    (Op::Band, Datatype::Int32),
    (Op::Band, Datatype::Int64),
];

/// Actions of the schedule that is a chain.
const LINKS: u32 = 16;

/// `local`'s arguments.
#[derive(ClapArgs)]
pub(crate) struct Args {
    /// Local operations [default: all]
    #[arg(long, value_parser = function)]
    function: Vec<(Op, Datatype)>,
    /// Bytes of each operand, a multiple of 8
    #[arg(long, default_values_t = [8, 64, 512, 4 << 10, 64 << 10, 1 << 20, 4 << 20], value_parser = size)]
    size: Vec<u64>,
    /// Counted runs
    #[arg(long, default_value_t = 7)]
    runs: usize,
    /// Instruction set of the schedules: baseline, avx2 or avx512 [default: the fastest one]
    #[arg(long, value_name = "SET", value_parser = instruction_set)]
    instructions: Option<InstructionSet>,
    /// Write every sample there, as lines of function, bytes, contestant, run and nanoseconds
    #[arg(long)]
    csv: Option<PathBuf>,
}

fn size(text: &str) -> Result<u64, String> {
    let size = text.parse().ok().filter(|&size: &u64| size > 0 && size.is_multiple_of(8));
    size.ok_or_else(|| "give a multiple of 8".to_owned())
}

fn function(text: &str) -> Result<(Op, Datatype), String> {
    let known = || format!("one of {}", FUNCTIONS.map(name).join(", "));
    FUNCTIONS.into_iter().find(|&function| name(function) == text).ok_or_else(known)
}

fn instruction_set(text: &str) -> Result<InstructionSet, String> {
    let set = InstructionSet::ALL.into_iter().find(|set| set.to_string() == text);
    let set = set.ok_or("one of baseline, avx2, avx512")?;
    if set.is_available() { Ok(set) } else { Err("this processor doesn't have it".to_owned()) }
}

/// Returns the name of an operation in text, as in `exec sumInt32`.
fn name((op, datatype): (Op, Datatype)) -> String {
    format!("{}{}", op.name(), datatype.name())
}

/// The contestants' names in the raw data.
const CONTESTANTS: [&str; 4] = ["loop", "native", "schedule", "chain"];

pub(crate) fn run(args: &Args) -> io::Result<()> {
    if let Some(set) = args.instructions {
        set.select();
    }
    let mut csv = String::from("function,bytes,contestant,run,nanoseconds\n");
    let mut rows = Vec::new();
    let functions = if args.function.is_empty() { &FUNCTIONS } else { args.function.as_slice() };
    for &function in functions {
        for &bytes in &args.size {
            let mut case = Case::new(function, bytes)?;
            case.check()?;
            let mut samples = [const { Vec::new() }; 4];
            for run in 0..=args.runs {
                let times = case.times();
                for ((samples, ns), contestant) in samples.iter_mut().zip(times).zip(CONTESTANTS) {
                    if run > 0 {
                        let _ =
                            writeln!(csv, "{},{bytes},{contestant},{run},{ns:.1}", name(function));
                        samples.push(ns);
                    }
                }
            }
            let [plain, native, one, chain] = samples.map(median);
            let ratio = |value: f64| format!("{:.2}", value / native);
            let mut row = vec![name(function), bytes.to_string()];
            row.extend([format!("{plain:.1}"), format!("{native:.1}")]);
            row.extend([format!("{one:.1}"), ratio(one), format!("{chain:.1}"), ratio(chain)]);
            rows.push(row);
        }
    }
    say!("nanoseconds, median of {} runs, instruction set {}", args.runs, InstructionSet::in_use());
    let header = [
        "function",
        "bytes",
        "plain loop",
        "native loop",
        "schedule of one",
        "of native",
        "action of a chain",
        "of native",
    ];
    table::print(&header, &rows);
    match &args.csv {
        Some(path) => std::fs::write(path, csv),
        None => Ok(()),
    }
}

/// One operation on operands of one size.
struct Case {
    function: (Op, Datatype),
    bytes: u64,
    one: Prepared,
    chain: Prepared,
}

impl Case {
    fn new(function: (Op, Datatype), bytes: u64) -> io::Result<Self> {
        let prepared = |actions| {
            let (op, datatype) = function;
            let exec = Action::Exec {
                op,
                datatype,
                spaces: [Space::Memory; 3],
                has_c: false,
                a: 0,
                b: second(bytes),
                c: 0,
                size: bytes,
            };
            let mut builder = BodyBuilder::default();
            for link in 0..actions {
                let id = builder.action(exec);
                if link > 0 {
                    builder.requires(id, ActionId::new(link - 1));
                }
            }
            Prepared::new(builder.finish())
        };
        Ok(Self { function, bytes, one: prepared(1)?, chain: prepared(LINKS as usize)? })
    }

    /// Compares the results of both schedules and of the native loop with the result of the loop.
    fn check(&mut self) -> io::Result<()> {
        let (function, bytes) = (self.function, self.bytes);
        for (prepared, times) in [(&mut self.one, 1), (&mut self.chain, LINKS)] {
            fill(function, bytes, prepared, true);
            prepared.run_again(1);
            let found = operands(bytes, prepared).1.to_vec();
            fill(function, bytes, prepared, true);
            let (a, b) = operands(bytes, prepared);
            (0..times).for_each(|_| plain::apply(function, a, b));
            let of_loop = b.to_vec();
            fill(function, bytes, prepared, true);
            let (a, b) = operands(bytes, prepared);
            (0..times).for_each(|_| plain::apply_native(function, a, b));
            if of_loop != found || *b != *found {
                let message = format!("{} of {bytes} bytes: another result", name(function));
                return Err(io::Error::other(message));
            }
        }
        Ok(())
    }

    /// Returns the nanoseconds of one operation by each contestant, in the order of their names.
    /// All elements are ones, whose products and maxima are ones too, so that no value is slower
    /// than another.
    fn times(&mut self) -> [f64; 4] {
        let (function, bytes) = (self.function, self.bytes);
        let repeats = (8_000_000 / (bytes + 200)).clamp(16, 40_000) as u32;
        fill(function, bytes, &mut self.one, false);
        fill(function, bytes, &mut self.chain, false);
        let (a, b) = operands(bytes, &mut self.one);
        let plain =
            time(|| (0..repeats).for_each(|_| plain::apply(function, black_box(a), black_box(b))));
        let native = time(|| {
            (0..repeats).for_each(|_| plain::apply_native(function, black_box(a), black_box(b)));
        });
        let chains = repeats / LINKS;
        [
            plain / f64::from(repeats),
            native / f64::from(repeats),
            self.one.run_again(repeats) / f64::from(repeats),
            self.chain.run_again(chains) / f64::from(chains * LINKS),
        ]
    }
}

/// Returns the operands of a schedule.
fn operands(bytes: u64, of: &mut Prepared) -> (&[u8], &mut [u8]) {
    let (a, b) = of.memory().split_at_mut(second(bytes) as usize);
    (&a[..bytes as usize], &mut b[..bytes as usize])
}

/// Stores ones into both operands, or numbers from 1 on.
fn fill((_, datatype): (Op, Datatype), bytes: u64, of: &mut Prepared, counting: bool) {
    let value = |index: usize| if counting { index % 100 + 1 } else { 1 };
    let (a, b) = of.memory().split_at_mut(second(bytes) as usize);
    plain::store(datatype, &mut a[..bytes as usize], value);
    plain::store(datatype, &mut b[..bytes as usize], |i| value(i + 3));
}

/// Returns the address of the second operand, at the next cache line after the first.
fn second(bytes: u64) -> u64 {
    bytes.next_multiple_of(64)
}
