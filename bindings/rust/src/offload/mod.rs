//! Offers schedules to the kernels of the job's hosts, and keeps the parts of this rank that a
//! kernel runs.
//!
//! A schedule is offered to the kernels when it is prepared. The ranks of its communicator exchange
//! proposals ([`Offload::begin`]). Then they translate the whole schedule, and install their parts
//! under one number ([`Offload::decide`]). If one rank can't do so, the processes of all ranks run
//! the schedule. Each rank generates and translates the graphs of all ranks. So time and memory are
//! proportional to the number of ranks.
//!
//! The number of a schedule stays used until the job ends, because peers may request messages of a
//! freed schedule again. There is one exception: all ranks have freed a schedule, and all prepare
//! it again. It then gets its old number, and its runs continue the old count of epochs.

mod agree;
mod part;

use crate::communicator::Communicator;
use crate::error::Result;
use agree::{Freed, SchedulePlace, place};
use goal_asm::Nisa;
use goal_kernel::limits::PROGRAM_RANKS_MAX;
use goal_kernel::{Abilities, CompletionEvents, Plan, Tables, in_words};
use goal_rank::fallback::FallbackOps;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

pub(crate) use agree::{Proposal, Refusal, WORDS};
pub(crate) use part::{Backing, KernelPart, Segment};

/// The reason why processes run a schedule if the job does not offer schedules to the kernels.
pub(crate) const NOT_ASKED: &str =
    "the kernels of the job's hosts run no schedules (goal-run --offload)";
/// The reason why processes run a schedule that comes from a graph of this rank.
pub(crate) const OF_GRAPH: &str =
    "it comes from this rank's graph alone, and the kernel must know those of all ranks";
/// The reason why processes run a collective that was only compiled and not prepared, such as one
/// that a call keeps in the cache.
pub(crate) const KEPT: &str = "it was not prepared (GOAL_Allreduce_init and the like)";
/// The reason why the process runs a schedule of a communicator with one rank.
const ONE_RANK: &str = "its communicator has one rank, and nothing to wait for";

/// The way in which a schedule runs: as a part in the kernel, or by processes for the reason that
/// the error states.
pub(crate) type Way = std::result::Result<Arc<KernelPart>, Box<str>>;

/// The schedules of this rank that the kernel runs.
pub(crate) struct Offload {
    inner: Mutex<Inner>,
    pub(crate) events: Arc<CompletionEvents>,
    fragment: u32,
    /// The factor that scales the duration of `calc` actions; `None` if they take no time.
    calc: Option<f64>,
    /// True while a thread offers a schedule.
    is_busy: AtomicBool,
}

struct Inner {
    tables: Tables,
    installed: Vec<Installed>,
}

/// A part that was installed in the kernel. It is in use if there are other references to `part`.
struct Installed {
    number: u32,
    fingerprint: u64,
    communicator: u64,
    in_place: bool,
    function: Option<u32>,
    part: Arc<KernelPart>,
}

/// A schedule that is offered to the kernels.
pub(crate) struct Offer<'a> {
    /// Bytes that identify the schedule. They must be the same on all ranks.
    pub(crate) identity: &'a [u8],
    /// The reason for which this rank refuses at once; `None` if there is none.
    pub(crate) refusal: Option<Refusal>,
    /// True if this rank's input lies where its output will be. For a schedule from a file: true if
    /// it works on memory of its own.
    pub(crate) in_place: bool,
    /// The number under which this rank has registered the program's function, if the schedule
    /// calls one.
    pub(crate) function: Option<u32>,
    /// Returns the schedules of all ranks of the communicator. The argument has an entry for each
    /// rank: true if the rank works in place.
    pub(crate) nisa: &'a dyn Fn(&[bool]) -> Result<Arc<Nisa>>,
}

/// Clears, when dropped, the mark that a thread is offering a schedule.
pub(crate) struct Busy<'a>(&'a AtomicBool);

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

impl Offload {
    pub(crate) fn new(tables: Tables, calc: Option<f64>) -> Self {
        let (events, fragment) = (Arc::clone(tables.events()), tables.share().fragment());
        let inner = Mutex::new(Inner { tables, installed: Vec::new() });
        Self { inner, events, fragment, calc, is_busy: AtomicBool::new(false) }
    }

    /// Begins to offer a schedule. Returns this rank's proposal. Also returns a mark that keeps
    /// other threads from an offer, or `None` if another thread has set it.
    ///
    /// # Errors
    /// The reason why processes run all schedules of this communicator. In this case no rank makes
    /// a proposal.
    pub(crate) fn begin(
        &self,
        communicator: &Communicator,
        offer: &Offer<'_>,
    ) -> std::result::Result<(Proposal, Option<Busy<'_>>), Box<str>> {
        let size = communicator.size();
        if size == 1 {
            return Err(ONE_RANK.into());
        }
        if size > PROGRAM_RANKS_MAX {
            let text = format!(
                "its communicator has {size} ranks; the most for the kernel is {PROGRAM_RANKS_MAX}"
            );
            return Err(text.into());
        }
        let was_busy = self.is_busy.swap(true, Ordering::Acquire);
        // If another thread has set the mark, no `Busy` is created here: its drop would clear the
        // other thread's mark.
        let busy = (!was_busy).then(|| Busy(&self.is_busy));
        let refusal = if was_busy { Some(Refusal::Busy) } else { offer.refusal };
        Ok((self.propose(communicator, offer, refusal), busy))
    }

    /// Decides from the proposals of all ranks if the kernels run the schedule. All ranks come to
    /// the same decision: all get a part, or none does.
    pub(crate) fn decide(
        &self,
        communicator: &Communicator,
        offer: &Offer<'_>,
        own: &Proposal,
        all: &[Proposal],
    ) -> Way {
        let part = place(own, all).and_then(|place| match place {
            SchedulePlace::Again(number) => Ok(self.again(number)),
            SchedulePlace::New(number) => self.install(communicator, offer, (own, all), number),
        });
        part.map_err(String::into_boxed_str)
    }

    fn propose(
        &self,
        communicator: &Communicator,
        offer: &Offer<'_>,
        refusal: Option<Refusal>,
    ) -> Proposal {
        let inner = self.inner.lock();
        let members = members(communicator);
        let words = members.iter().flat_map(|rank| rank.to_le_bytes());
        let fingerprint = hash(words.chain(offer.identity.iter().copied()));
        let freed = inner.installed.iter().find(|one| {
            one.fingerprint == fingerprint
                && one.communicator == communicator.id()
                && one.in_place == offer.in_place
                && one.function == offer.function
                && Arc::strong_count(&one.part) == 1
        });
        Proposal {
            fingerprint,
            refusal,
            in_place: offer.in_place,
            free: inner.tables.free_numbers(),
            freed: freed.map(|one| Freed { number: one.number, epoch: one.part.epoch() }),
            left: inner.tables.left(),
        }
    }

    /// Returns this rank's part of the freed schedule with this number.
    fn again(&self, number: u32) -> Arc<KernelPart> {
        let inner = self.inner.lock();
        let mut installed = inner.installed.iter();
        let found = installed.find(|one| one.number == number).expect("this rank has proposed it");
        Arc::clone(&found.part)
    }

    /// Translates the schedule, and installs this rank's part in the kernel.
    fn install(
        &self,
        communicator: &Communicator,
        offer: &Offer<'_>,
        (own, all): (&Proposal, &[Proposal]),
        number: u32,
    ) -> std::result::Result<Arc<KernelPart>, String> {
        let in_place: Vec<bool> = all.iter().map(|one| one.in_place).collect();
        let nisa = (offer.nisa)(&in_place).map_err(|error| error.to_string())?;
        let abilities = Abilities { calc: self.calc.is_some(), functions: true };
        let plan = Plan::with(&nisa, self.fragment, abilities);
        let plan = plan.map_err(|refusals| in_words(&refusals))?;
        // All ranks translate all parts, so they agree if there is room for all.
        let mut part = None;
        for (rank, proposal) in (0..).zip(all) {
            let image = plan.part(rank);
            proposal.left.without(Tables::taken(&image)).map_err(|what| {
                format!("rank {rank}: there is no room in the kernel for so many {what}")
            })?;
            if rank == communicator.rank() {
                part = Some(image);
            }
        }
        let part = part.expect("this rank is one of them");
        let mut inner = self.inner.lock();
        let Inner { tables, installed } = &mut *inner;
        let kernel = tables.install(&part, &members(communicator), number);
        // The other ranks install their parts, so this rank can't fall back to processes.
        let kernel = kernel.unwrap_or_else(|error| panic!("memory of the kernel: {error}"));
        let rank = communicator.rank();
        let places: Vec<u32> = nisa.section(rank).records().map(|(offset, _)| offset).collect();
        let place =
            |&action: &u32| (action, places.get(action as usize).copied().unwrap_or_default());
        let origins = part.origins.iter().map(place).collect();
        let (touched, events) = (plan.touched(rank), Arc::clone(&self.events));
        let calc = self.calc.unwrap_or_default();
        let handed = (part.handed() > 0).then(|| FallbackOps::new(part, &nisa, rank, calc));
        let part = KernelPart::new(communicator.id(), origins, touched, (kernel, handed), events);
        let part = Arc::new(part);
        installed.push(Installed {
            number,
            fingerprint: own.fingerprint,
            communicator: communicator.id(),
            in_place: own.in_place,
            function: offer.function,
            part: Arc::clone(&part),
        });
        Ok(part)
    }
}

/// Returns the group's rank for each rank of a communicator, in order.
fn members(communicator: &Communicator) -> Vec<u32> {
    let in_group = |rank| communicator.in_group(rank).expect("a rank of it");
    (0..communicator.size()).map(in_group).collect()
}

/// Returns a hash of `bytes` (FNV-1a). It is the same on every machine.
fn hash(bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    })
}
