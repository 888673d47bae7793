//! Lets the ranks of a communicator agree if and how the kernels of their hosts run a schedule.
//!
//! All ranks must run a schedule in the same way and under the same number. So each rank sends its
//! proposal to all others, by an allgather between the processes. All ranks decide from the same
//! proposals, so they come to the same decision.

use goal_kernel::Room;
use goal_kernel::limits::PROGRAM_SCHEDULES_MAX;

/// The number of words of a [`Proposal`].
pub(crate) const WORDS: usize = 9;

/// The reason why a rank refuses that the kernels run a schedule, whatever the other ranks propose.
/// The words of a proposal contain it as a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// Another thread of the process is preparing a schedule.
    Busy,
    /// The blocks of the collective differ in size or place.
    Lists,
    /// The collective is a neighbourhood collective.
    Neighbors,
}

impl Refusal {
    const ALL: [Self; 3] = [Self::Busy, Self::Lists, Self::Neighbors];

    /// Returns the reason as a text for the user.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Refusal::Busy => "another thread of its process prepares a schedule at the same time",
            Refusal::Lists => "no rank knows all blocks of a collective with lists of blocks",
            Refusal::Neighbors => "no rank knows all edges of a collective of neighbours",
        }
    }
}

/// A freed schedule in the kernel that can be used again: its number, and the epoch of its last
/// run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Freed {
    pub(crate) number: u32,
    pub(crate) epoch: u32,
}

/// The proposal of a rank for a schedule that is offered to the kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Proposal {
    /// A hash of the schedule and the communicator's ranks, which must be the same on all ranks.
    pub(crate) fingerprint: u64,
    pub(crate) refusal: Option<Refusal>,
    /// True if the rank's input lies where its output will be.
    pub(crate) in_place: bool,
    /// The numbers that are free on this rank. Bit `n` is set if no schedule of the rank has the
    /// number `n`.
    pub(crate) free: u32,
    pub(crate) freed: Option<Freed>,
    /// The room that is left for schedules in the kernel.
    pub(crate) left: Room,
}

impl Proposal {
    pub(crate) fn to_words(self) -> [u64; WORDS] {
        let refusal = self.refusal.map_or(0, |refusal| 1 + refusal as u64);
        let of_freed = |Freed { number, epoch }| u64::from(epoch) << 32 | u64::from(number + 1);
        let Room { actions, dependents, receives, sends, bytes, .. } = self.left;
        let [actions, dependents, receives, sends, bytes] =
            [actions, dependents, receives, sends, bytes].map(u64::from);
        [
            self.fingerprint,
            refusal << 1 | u64::from(self.in_place),
            self.free.into(),
            self.freed.map_or(0, of_freed),
            actions,
            dependents,
            receives,
            sends,
            bytes,
        ]
    }

    /// Returns the proposal from its words. The words come from ranks of the job, which are
    /// trusted.
    pub(crate) fn from_words(words: &[u64]) -> Self {
        let low = |at: usize| words[at] as u32;
        let freed = low(3).checked_sub(1);
        let freed = freed.map(|number| Freed { number, epoch: (words[3] >> 32) as u32 });
        let refusal = (words[1] >> 1).checked_sub(1);
        Self {
            fingerprint: words[0],
            refusal: refusal.and_then(|at| Refusal::ALL.get(at as usize).copied()),
            in_place: words[1] & 1 > 0,
            free: low(2),
            freed,
            left: Room {
                schedules: low(2).count_ones(),
                actions: low(4),
                dependents: low(5),
                receives: low(6),
                sends: low(7),
                bytes: low(8),
            },
        }
    }
}

/// The place in the kernel that all ranks use for a schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SchedulePlace {
    /// The place of the schedule with this number, which all ranks have prepared before and freed.
    Again(u32),
    /// A new place, under this number. The number is free on all ranks.
    New(u32),
}

/// Returns the place of a schedule in the kernel, from the proposals of all ranks. The result is
/// the same on all ranks.
///
/// # Errors
/// The reason why processes, and not the kernels, run the schedule.
pub(crate) fn place(
    own: &Proposal,
    all: &[Proposal],
) -> std::result::Result<SchedulePlace, String> {
    let ranks = || all.iter().enumerate();
    if let Some((rank, _)) = ranks().find(|(_, other)| other.fingerprint != own.fingerprint) {
        return Err(format!(
            "rank {rank} has prepared another schedule at this place; all ranks must prepare the same ones in the same order"
        ));
    }
    let refusal = |(rank, other): (usize, &Proposal)| Some((rank, other.refusal?));
    if let Some((rank, refusal)) = ranks().find_map(refusal) {
        return Err(format!("rank {rank}: {}", refusal.text()));
    }
    if let Some(freed) = own.freed
        && all.iter().all(|other| other.freed == Some(freed))
    {
        return Ok(SchedulePlace::Again(freed.number));
    }
    let free = all.iter().fold(u32::MAX, |free, other| free & other.free);
    match free {
        0 => Err(format!(
            "the kernel has room for {PROGRAM_SCHEDULES_MAX} schedules of a program (freed ones count unless they are prepared again), and a rank has used them all"
        )),
        free => Ok(SchedulePlace::New(free.trailing_zeros())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proposal() -> Proposal {
        let left =
            Room { schedules: 2, actions: 1, dependents: 2, receives: 3, sends: 4, bytes: 5 };
        let (refusal, freed) = (None, None);
        Proposal { fingerprint: 7, refusal, in_place: false, free: 0b110, freed, left }
    }

    #[test]
    fn proposals_survive_as_words() {
        let freed = Some(Freed { number: 0, epoch: u32::MAX });
        for refusal in Refusal::ALL.map(Some).into_iter().chain([None]) {
            let own = Proposal { refusal, in_place: true, freed, ..proposal() };
            assert_eq!(Proposal::from_words(&own.to_words()), own);
        }
        assert_eq!(Proposal::from_words(&proposal().to_words()), proposal());
    }

    #[test]
    fn all_take_a_number_that_is_free_on_all() {
        let (own, other) = (proposal(), Proposal { free: 0b100, ..proposal() });
        assert_eq!(place(&own, &[own, other]), Ok(SchedulePlace::New(2)));
        assert_eq!(place(&other, &[own, other]), Ok(SchedulePlace::New(2)));
        let none = Proposal { free: 0b001, ..proposal() };
        assert!(place(&own, &[own, none]).unwrap_err().contains("a rank has used them all"));
    }

    #[test]
    fn a_freed_schedule_is_taken_again_if_all_have_freed_it_after_the_same_run() {
        let freed = |epoch| Proposal { freed: Some(Freed { number: 0, epoch }), ..proposal() };
        assert_eq!(place(&freed(3), &[freed(3), freed(3)]), Ok(SchedulePlace::Again(0)));
        for other in [freed(2), proposal()] {
            assert_eq!(place(&freed(3), &[freed(3), other]), Ok(SchedulePlace::New(1)));
            assert_eq!(place(&other, &[freed(3), other]), Ok(SchedulePlace::New(1)));
        }
    }

    #[test]
    fn one_rank_refuses_for_all() {
        let (own, other) = (proposal(), Proposal { refusal: Some(Refusal::Busy), ..proposal() });
        let all = [own, other];
        assert!(all.iter().all(|one| place(one, &all).unwrap_err().starts_with("rank 1: ")));
        let other = Proposal { fingerprint: 8, ..proposal() };
        assert!(place(&own, &[own, other]).unwrap_err().starts_with("rank 1 has prepared another"));
    }
}
