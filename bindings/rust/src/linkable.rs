//! Decides which collectives are linked. The decision follows from what all ranks know alike.

use goal_collectives::Algorithm;
use goal_lang::{CollectiveKind, Datatype, Function, Op};
use goal_shm::BOARD_RANKS;

/// The most ranks of a communicator whose collectives are linked. Each rank looks at the cells of
/// all others, so more ranks would gain nothing.
pub(crate) const RANKS_MAX: usize = 16;

/// A call of a collective, as far as it decides about a link. All ranks have equal values: MPI
/// demands equal arguments, and the rest follows from the communicator and from the job.
pub(crate) struct Call<'c> {
    pub(crate) kind: CollectiveKind,
    pub(crate) count: u64,
    pub(crate) datatype: Datatype,
    pub(crate) function: Function,
    pub(crate) root: u32,
    /// True if all blocks are equal.
    pub(crate) has_equal_blocks: bool,
    pub(crate) algorithm: &'c Algorithm,
    /// The ranks of the communicator, with their numbers in the job.
    pub(crate) ranks: &'c [u32],
    /// True if the job links collectives.
    pub(crate) is_allowed: bool,
}

impl Call<'_> {
    /// Returns true if the collective is linked, once its communicator has boards and its schedule
    /// fits them. All ranks decide alike.
    pub(crate) fn is_linkable(&self) -> bool {
        let is_function_known = match self.function {
            Function::Predefined(op, _) => op != Op::Div,
            Function::User(_) => false,
        };
        self.is_allowed
            && self.algorithm.has_one_round
            && is_function_known
            && self.has_equal_blocks
            && !self.kind.has_neighbors()
            && may_have_boards(self.ranks).is_ok()
    }

    /// Returns the signature of the collective, which lies in the cell of each of its messages. Two
    /// ranks that call different collectives find different signatures. The highest bits have the
    /// kind. The lowest bit is set. Arguments without a meaning for the kind do not count.
    pub(crate) fn signature(&self) -> u16 {
        let function = match self.function {
            Function::Predefined(op, datatype) if self.kind.combines() => {
                (op as u64) << 8 | datatype as u64
            }
            _ => 0,
        };
        let root = if self.kind.has_root() { self.root } else { 0 };
        let [count, datatype] = match self.kind {
            CollectiveKind::Barrier => [0, 0],
            _ => [self.count, self.datatype as u64],
        };
        let name = self.algorithm.name.bytes().map(u64::from);
        let parts = [count, datatype, function, root.into()].into_iter().chain(name);
        let mixed = parts.fold(0u64, |mixed, part| {
            (mixed ^ part).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23)
        });
        (self.kind as u16) << 12 | (mixed >> 52) as u16 | 1
    }
}

/// Checks that a communicator of these ranks of the job may get boards.
///
/// # Errors
/// The reason why it gets none.
pub(crate) fn may_have_boards(ranks: &[u32]) -> Result<(), String> {
    let why = match (ranks.len(), ranks.iter().find(|&&rank| rank >= BOARD_RANKS)) {
        (1, _) => "has 1 rank".to_owned(),
        (2..=RANKS_MAX, None) => return Ok(()),
        (2..=RANKS_MAX, Some(rank)) => format!("has rank {rank} of the job"),
        (ranks, _) => format!("has {ranks} ranks"),
    };
    Err(format!(
        "its communicator {why}, and must have 2 to {RANKS_MAX} of the first {BOARD_RANKS} ranks of the job"
    ))
}

/// The kind of the signatures of the program's own schedules. No collective has this number.
const OF_PROGRAM: u16 = 0xf;

/// Returns the signature of the program's linked schedule with this number.
pub(crate) fn signature_of(number: u16) -> u16 {
    OF_PROGRAM << 12 | number << 1 & 0xfff | 1
}

/// Returns the collective of a signature.
pub(crate) fn kind_of(signature: u16) -> Option<CollectiveKind> {
    CollectiveKind::ALL.into_iter().find(|&kind| kind as u16 == signature >> 12)
}

#[cfg(test)]
mod tests {
    use super::*;
    use goal_collectives::algorithm;

    fn call() -> Call<'static> {
        Call {
            kind: CollectiveKind::Allreduce,
            count: 3,
            datatype: Datatype::Int32,
            function: Function::Predefined(Op::Sum, Datatype::Int32),
            root: 0,
            has_equal_blocks: true,
            algorithm: algorithm(CollectiveKind::Allreduce, "flat").expect("there is one"),
            ranks: &[3, BOARD_RANKS - 1],
            is_allowed: true,
        }
    }

    #[test]
    fn what_is_equal_on_all_ranks_decides() {
        assert!(call().is_linkable());
        let ranks: Vec<u32> = (0..=RANKS_MAX as u32).collect();
        assert!(Call { ranks: &ranks[1..], ..call() }.is_linkable());
        let ring = algorithm(CollectiveKind::Allreduce, "ring").expect("there is one");
        let in_engine = [
            Call { algorithm: ring, ..call() },
            Call { function: Function::User(1), ..call() },
            Call { has_equal_blocks: false, ..call() },
            Call { kind: CollectiveKind::NeighborAllgather, ..call() },
            Call { ranks: &[0], ..call() },
            Call { ranks: &ranks, ..call() },
            Call { ranks: &[0, BOARD_RANKS], ..call() },
            Call { is_allowed: false, ..call() },
        ];
        assert!(in_engine.iter().all(|call| !call.is_linkable()));
    }

    #[test]
    fn schedules_have_signatures_of_no_collective() {
        assert_eq!(signature_of(0), 0xf001);
        assert_ne!(signature_of(5), signature_of(6));
        assert!((0..5000).all(|number| kind_of(signature_of(number)).is_none()));
    }

    #[test]
    fn different_calls_have_different_signatures() {
        let signature = call().signature();
        assert_eq!(kind_of(signature), Some(CollectiveKind::Allreduce));
        let others = [
            Call { kind: CollectiveKind::Bcast, ..call() },
            Call { count: 4, ..call() },
            Call { datatype: Datatype::Int64, ..call() },
            Call { function: Function::Predefined(Op::Max, Datatype::Int32), ..call() },
        ];
        assert!(others.iter().all(|call| call.signature() != signature));
        assert_ne!(signature, 0);
        let bcast = |root| Call { kind: CollectiveKind::Bcast, root, ..call() }.signature();
        assert_ne!(bcast(0), bcast(1));
        let [linear, direct] = ["linear", "direct"].map(|name| {
            let algorithm = algorithm(CollectiveKind::Bcast, name).expect("there is one");
            Call { kind: CollectiveKind::Bcast, algorithm, ..call() }.signature()
        });
        assert_ne!(linear, direct);
    }

    #[test]
    fn arguments_without_a_meaning_do_not_count() {
        assert_eq!(Call { root: 1, ..call() }.signature(), call().signature());
        let barrier = |count, datatype| {
            Call { kind: CollectiveKind::Barrier, count, datatype, ..call() }.signature()
        };
        assert_eq!(barrier(0, Datatype::Int32), barrier(7, Datatype::Float64));
    }
}
