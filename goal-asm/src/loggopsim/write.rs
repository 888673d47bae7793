//! Writes a program as a LogGOPSim binary.

use super::{ENTRY_SIZE, HEADER_SIZE, MAGIC, ORIGIN, node};
use goal_lang::{Action, ActionId, Body, Placement, Program};
use rustc_hash::FxHashSet;
use std::io::{self, Write};

/// The reason why a program can't be written as a LogGOPSim binary.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// A rank has more dependencies than the 32-bit indices into its appendix can count.
    #[error("rank {rank} has more dependencies than LogGOPSim's 32-bit indices hold")]
    TooManyDependencies {
        /// The rank with too many dependencies.
        rank: u32,
    },
    /// A cpu does not fit the 8 bits that LogGOPSim has for it.
    #[error("rank {rank} names cpu {cpu}, and LogGOPSim's binary form has 8 bits for a cpu")]
    HighCpu {
        /// The first rank with such a cpu.
        rank: u32,
        /// The action that names it.
        action: ActionId,
        /// The cpu.
        cpu: u16,
    },
    /// The file could not be written.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// The parts of a program that LogGOPSim's format has no place for, counted over the ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Loss {
    /// Sends and receives whose addresses are dropped.
    pub buffers: u64,
    /// Local operations that become `calc 0`.
    pub operations: u64,
    /// Messages that lose their operation. The messages themselves stay.
    pub reductions: u64,
    /// Ranks whose init and expect data are dropped.
    pub images: u64,
}

impl Loss {
    /// Returns true if the format has a place for all of the program.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// Returns a sentence that lists what is lost, for a warning.
    pub fn message(&self) -> String {
        let count = |count: u64, one: &str, more: &str| {
            (count > 0).then(|| format!("{count} {}", if count == 1 { one } else { more }))
        };
        let parts = [
            count(self.buffers, "buffer address", "buffer addresses"),
            count(
                self.operations,
                "local operation (written as `calc 0`)",
                "local operations (written as `calc 0`)",
            ),
            count(
                self.reductions,
                "operation of a message (the message stays)",
                "operations of messages (the messages stay)",
            ),
            count(self.images, "rank's init and expect data", "ranks' init and expect data"),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        format!("LogGOPSim has no place for {}", parts.join(", "))
    }
}

/// Counts the parts of `program` that [`write()`] leaves out.
pub fn losses(program: &Program) -> Loss {
    let of_body = |body: &Body| {
        let mut loss = Loss::default();
        for action in &body.actions {
            match *action {
                Action::Send { payload, .. } | Action::Recv { payload, .. } => {
                    loss.buffers += u64::from(body.payload_operand(payload).is_some());
                    loss.reductions += u64::from(body.reduction(action).is_some());
                }
                Action::Calc { .. } | Action::Marker { .. } => {}
                _ => loss.operations += 1,
            }
        }
        loss
    };
    let by_body: Vec<Loss> = program.bodies.iter().map(of_body).collect();
    let mut sum = Loss::default();
    for entry in &program.ranks {
        let body = by_body[entry.body.index()];
        sum.buffers += body.buffers;
        sum.operations += body.operations;
        sum.reductions += body.reductions;
        sum.images +=
            u64::from(entry.image.is_some_and(|image| !program.images[image.index()].is_empty()));
    }
    sum
}

/// Returns true if [`write()`] turns `program` into exactly `bytes`.
pub fn is_written_as(program: &Program, bytes: &[u8]) -> bool {
    let mut rest = Rest(bytes);
    write(program, &mut rest).is_ok() && rest.0.is_empty()
}

/// A writer that accepts only the bytes it holds, in order. Any other byte is an error.
struct Rest<'a>(&'a [u8]);

impl Write for Rest<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.strip_prefix(bytes).ok_or(io::ErrorKind::InvalidData)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns true if the ranks of two programs have the same graphs in the same stated order, and the
/// same image numbers. Then both programs become the same file.
pub fn are_same(left: &Program, right: &Program) -> bool {
    let mut seen = FxHashSet::default();
    left.ranks.len() == right.ranks.len()
        && left.ranks.iter().zip(&right.ranks).all(|(a, b)| {
            let (left, right) = (&left.bodies[a.body.index()], &right.bodies[b.body.index()]);
            a.image == b.image
                && (!seen.insert((a.body, b.body))
                    || left.same_graph(right) && left.debug.order == right.debug.order)
        })
}

/// Writes `program` for LogGOPSim: one node for each action, in the body's order. [`losses`] counts
/// the parts that are left out. Dependents and roots are written in their stated order and as often
/// as they were stated, because LogGOPSim releases them in that order.
///
/// # Errors
/// Returns an error if a rank has 2^32 dependencies or more, if a cpu is above 255, or if `out`
/// fails.
pub fn write(program: &Program, out: &mut dyn Write) -> Result<(), WriteError> {
    let mut max = Placement::default();
    for action in program.bodies.iter().flat_map(|body| &body.actions) {
        max = max_of(max, action.placement());
    }
    if max.cpu > u16::from(u8::MAX) {
        (0..program.num_ranks()).try_for_each(|rank| check_cpus(program.body_of(rank), rank))?;
    }
    let lengths: Vec<u64> = program.bodies.iter().map(body_length).collect();
    let mut out = io::BufWriter::with_capacity(256 << 10, out);
    write_outline(&mut out, max, program.ranks.iter().map(|entry| lengths[entry.body.index()]))?;
    for (rank, entry) in program.ranks.iter().enumerate() {
        write_body(&program.bodies[entry.body.index()], rank as u32, &mut out)?;
    }
    out.flush()?;
    Ok(())
}

/// Writes what precedes ranks of these lengths.
pub(super) fn write_outline(
    out: &mut impl Write,
    placement_max: Placement,
    lengths: impl ExactSizeIterator<Item = u64>,
) -> io::Result<()> {
    out.write_all(&MAGIC.to_le_bytes())?;
    out.write_all(&(lengths.len() as u32).to_le_bytes())?;
    // Higher cpus were refused with their ranks.
    out.write_all(&[placement_max.cpu as u8, placement_max.nic])?;
    let mut start = (HEADER_SIZE - ORIGIN + ENTRY_SIZE * lengths.len()) as u64;
    for length in lengths {
        out.write_all(&start.to_le_bytes())?;
        start += length;
        out.write_all(&start.to_le_bytes())?;
    }
    Ok(())
}

/// Refuses a rank with a cpu above 255.
fn check_cpus(body: &Body, rank: u32) -> Result<(), WriteError> {
    let cpu = |id| body.action(id).placement().cpu;
    match body.ids().find(|&id| cpu(id) > u16::from(u8::MAX)) {
        Some(action) => Err(WriteError::HighCpu { rank, action, cpu: cpu(action) }),
        None => Ok(()),
    }
}

pub(super) fn body_length(body: &Body) -> u64 {
    let roots = body.indegrees().iter().filter(|&&indegree| indegree == 0).count();
    let words = 2 + roots + body.stated_requires().len() + body.stated_irequires().len();
    4 * words as u64 + (node::LENGTH * body.len()) as u64
}

/// Returns the number of dependencies that each action waits for. A dependency counts as often as
/// it was stated.
fn stated_indegrees(body: &Body) -> Vec<u32> {
    let mut indegrees = body.indegrees();
    let Some(order) = &body.debug.order else { return indegrees };
    for (stated, csr) in [(&order.requires, &body.requires), (&order.irequires, &body.irequires)] {
        for (prerequisite, row) in stated.iter() {
            row.iter().for_each(|waiter| indegrees[waiter.index()] += 1);
            csr.row(prerequisite).iter().for_each(|waiter| indegrees[waiter.index()] -= 1);
        }
    }
    indegrees
}

/// Writes a rank.
pub(super) fn write_body(body: &Body, rank: u32, out: &mut impl Write) -> Result<(), WriteError> {
    check_cpus(body, rank)?;
    let (requires, irequires) = (body.stated_requires(), body.stated_irequires());
    if u32::try_from(requires.len() + irequires.len()).is_err() {
        return Err(WriteError::TooManyDependencies { rank });
    }
    let indegrees = stated_indegrees(body);
    let roots = || body.ids().filter(|id| indegrees[id.index()] == 0);
    out.write_all(&(body.len() as u32).to_le_bytes())?;
    out.write_all(&(roots().count() as u32).to_le_bytes())?;
    let stated: &[ActionId] = body.debug.order.as_ref().map_or(&[], |order| &order.roots);
    let ascending = roots().filter(|_| stated.is_empty());
    for root in stated.iter().copied().chain(ascending) {
        out.write_all(&root.0.to_le_bytes())?;
    }
    let mut appendix = 0;
    for id in body.ids() {
        let mut record = record(body, id, indegrees[id.index()]);
        for (count, first, row) in [
            (node::DEPENDENTS, node::FIRST_DEPENDENT, requires.row(id)),
            (node::START_DEPENDENTS, node::FIRST_START_DEPENDENT, irequires.row(id)),
        ] {
            record[count].copy_from_slice(&(row.len() as u32).to_le_bytes());
            record[first].copy_from_slice(&u32::to_le_bytes(appendix));
            appendix += row.len() as u32;
        }
        out.write_all(&record)?;
    }
    for id in body.ids() {
        for waiter in requires.row(id).iter().chain(irequires.row(id)) {
            out.write_all(&waiter.0.to_le_bytes())?;
        }
    }
    Ok(())
}

/// Returns the record of an action, without its dependents.
fn record(body: &Body, id: ActionId, dependencies: u32) -> [u8; node::LENGTH] {
    let action = body.action(id);
    let (kind, peer, size, tag) = match *action {
        Action::Send { payload, to, tag, .. } => (node::SEND, to, body.payload_size(payload), tag),
        Action::Recv { payload, from, tag, .. } => {
            (node::RECV, from, body.payload_size(payload), tag)
        }
        Action::Calc { nanos, .. } => (node::CALC, 0, nanos, 0),
        Action::Marker { to, tag, .. } => (node::SEND, to, 0, tag),
        _ => (node::CALC, 0, 0, 0),
    };
    let placement = action.placement();
    let mut record = [0; node::LENGTH];
    record[node::DEPENDENCIES].copy_from_slice(&dependencies.to_le_bytes());
    record[node::TYPE] = kind;
    record[node::PEER].copy_from_slice(&peer.to_le_bytes());
    record[node::BYTES].copy_from_slice(&size.to_le_bytes());
    record[node::TAG].copy_from_slice(&tag.to_le_bytes());
    // `write_body` has refused higher ones.
    record[node::CPU] = placement.cpu as u8;
    record[node::NIC] = placement.nic;
    record
}

/// Returns the higher cpu and the higher nic of two placements.
pub(super) fn max_of(a: Placement, b: Placement) -> Placement {
    Placement { cpu: a.cpu.max(b.cpu), nic: a.nic.max(b.nic) }
}
