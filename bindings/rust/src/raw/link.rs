//! Links schedules of the program: the ranks of a communicator send each other their schedules, and
//! compute the places of all messages on the boards.
//!
//! Each step has one result for all ranks. A rank that can't take part sends its reason instead of
//! its schedule, so no rank waits for it.
//!
//! Threat: ranks of the job are trusted, but their bytes may still be wrong. Schedules are verified
//! as a file from elsewhere ([`Nisa::load`]), and texts are checked as UTF-8.

use super::Schedule;
use super::instances::Memory;
use crate::boards::LINES;
use crate::communicator::Communicator;
use crate::compile::{self, NO_LIMITS};
use crate::error::{Error, ErrorCode, Result};
use crate::exchange::{TooLong, exchange_bytes};
use crate::group::Group;
use crate::linkable::{may_have_boards, signature_of};
use crate::shared::SharedGroup;
use goal_asm::Nisa;
use goal_engine::linked::{Link, Unlinkable};
use goal_job::Mode;
use goal_job::limits::{LINKED_ACTIONS_MAX, LINKED_BYTES_MAX};
use goal_shm::directory::SETS;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// `Ok` if a schedule is linked, and the reason if the engine runs it.
pub type Linking = std::result::Result<(), Box<str>>;

/// The statement of a rank about its schedule.
enum Statement {
    /// The schedule can't be linked, for this reason.
    Refused(String),
    /// The schedule is linked, and its link has this identity.
    Linked(u64),
    /// The schedule lies in this file. Rank 0 numbers the linked schedules.
    Schedule { number: u64, file: Nisa },
}

/// Links the schedules that the ranks of `communicator` have compiled or loaded for it. All of them
/// call this, in the same order as its collectives, and it returns when all have called it.
/// `schedule` is the error of a rank without a schedule. All ranks get the same [`Linking`]. `call`
/// names the caller's function in reports about a rank that waits for ever.
///
/// Later starts run without the engine. All ranks start the linked schedules and the collectives of
/// a communicator in the same order.
///
/// # Errors
/// The error of `schedule`; it runs, is one of another communicator, or is linked already with
/// other schedules. The other ranks get the text as the reason. Or the job can't go on.
pub fn link(
    schedule: Result<&Schedule>,
    communicator: &Communicator,
    call: &str,
) -> Result<Linking> {
    let shared = Group::current()?.shared();
    let schedule = schedule.and_then(|schedule| schedule.of(communicator));
    let set = match set_of(communicator, shared)? {
        Ok(set) => set,
        Err(why) => return schedule.map(|_| Err(why)),
    };
    let own = schedule.and_then(|schedule| Ok((schedule, schedule.offer()?)));
    let ranks = communicator.all_in_group();
    let tell = |statement: &[u8]| {
        let all = exchange_bytes(communicator, statement, LINKED_BYTES_MAX, call)?;
        Ok::<_, Error>(all.map_err(|TooLong { rank, bytes }| {
            format!(
                "rank {rank}: its schedule has {bytes} bytes, and all ranks may have {LINKED_BYTES_MAX}"
            )
        }))
    };
    let told = match &own {
        Ok((_, statement)) => tell(statement)?,
        Err(error) => tell(&refused(&error.to_string()))?,
    };
    let decided = told.map_err(Into::into).and_then(|all| decide(&all, &ranks));
    // This rank gets its own error, which is the reason for all others.
    let (schedule, _) = own?;
    let (link, number) = match decided {
        Ok(Some(decided)) => decided,
        Ok(None) => return Ok(Ok(())),
        Err(why) if schedule.bound.linked.get().is_some() => {
            let text = format!("the schedule is linked already, and stays so: {why}");
            return Err(Error::new(ErrorCode::Argument, text));
        }
        Err(why) => return Ok(Err(why)),
    };
    let signature = signature_of(number as u16);
    let identity = identity_of(number);
    let linked = schedule
        .linked_form(&link, (signature, identity), set)
        .map_err(|Unlinkable| "its messages are not those that it has told".to_owned());
    // The thread of a rank runs schedules between two calls, but not linked ones.
    let linked = linked.and_then(|linked| match linked.0.relay() {
        Some(relay) if shared.attached.progress() == Mode::Thread => {
            Err(format!("{relay}, and --progress thread lets such schedules go on between calls"))
        }
        _ => Ok(linked),
    });
    let statement = match &linked {
        Ok(_) => is_linked(identity),
        Err(why) => refused(why),
    };
    if let Err(why) = tell(&statement)?.map_err(Into::into).and_then(|all| decide(&all, &ranks)) {
        return Ok(Err(why));
    }
    if let Ok(linked) = linked {
        shared.with(|core| {
            // If another thread has started the schedule meanwhile, the engine ends that run.
            core.recent.clear();
            let left = schedule.bound.instances.take(core);
            core.adopt(left.into_iter());
            schedule.set_linked(linked);
            Ok(())
        })?;
    }
    Ok(Ok(()))
}

/// Returns the communicator's set of boards, or the reason why its schedules can't be linked. All
/// ranks decide alike.
fn set_of(
    communicator: &Communicator,
    shared: &'static SharedGroup,
) -> Result<std::result::Result<u8, Box<str>>> {
    if let Some(why) = shared.attached.why_unlinked() {
        return Ok(Err(format!("the job links nothing: {why}").into()));
    }
    shared.with(|core| {
        if !core.links_on(communicator) {
            return Ok(Err("a rank was lost since its communicator was made".into()));
        }
        if let Err(why) = may_have_boards(&communicator.all_in_group()) {
            return Ok(Err(why.into()));
        }
        let set = core.set_of(communicator);
        let others = SETS - 1;
        Ok(set.ok_or_else(|| {
            format!("no boards were left for its communicator: {others} others have them at a time")
                .into()
        }))
    })
}

impl Schedule {
    /// Returns the schedule.
    ///
    /// # Errors
    /// It is one of another communicator.
    fn of(&self, communicator: &Communicator) -> Result<&Self> {
        if self.bound.communicator.is_same(communicator) {
            return Ok(self);
        }
        Err(Error::new(ErrorCode::Argument, "the schedule is one of another communicator"))
    }

    /// Returns the bytes of this rank's statement about the schedule.
    ///
    /// # Errors
    /// The schedule runs.
    fn offer(&self) -> Result<Vec<u8>> {
        let bound = &self.bound;
        if let Some((.., identity)) = bound.linked.get() {
            return Ok(is_linked(*identity));
        }
        if !self.release()? {
            let text = "the schedule runs: wait for it first (GOAL_Wait)";
            return Err(Error::new(ErrorCode::Busy, text));
        }
        if matches!(bound.memory, Memory::Own) {
            return Ok(refused("it works on memory of its own (a memory of NULL in GOAL_Load)"));
        }
        if bound.code.actions() > LINKED_ACTIONS_MAX {
            let actions = bound.code.actions();
            return Ok(refused(&format!(
                "it has {actions} actions, more than {LINKED_ACTIONS_MAX}"
            )));
        }
        // Relaxed: only the number matters.
        static LINKS: AtomicU64 = AtomicU64::new(0);
        let number = LINKS.fetch_add(1, Ordering::Relaxed);
        let mut bytes = vec![SCHEDULE];
        bytes.extend(number.to_le_bytes());
        compile::write_alone(bound.code.nisa(), bound.code.rank(), &mut bytes)?;
        Ok(bytes)
    }
}

/// The first byte of each kind of statement.
const REFUSED: u8 = 0;
const LINKED: u8 = 1;
const SCHEDULE: u8 = 2;

/// Returns the bytes of [`Statement::Refused`].
fn refused(why: &str) -> Vec<u8> {
    std::iter::once(REFUSED).chain(why.bytes()).collect()
}

/// Returns the bytes of [`Statement::Linked`].
fn is_linked(identity: u64) -> Vec<u8> {
    std::iter::once(LINKED).chain(identity.to_le_bytes()).collect()
}

/// Returns the identity of the link with this number. Links of collectives have the signature as
/// identity, which is lower.
fn identity_of(number: u64) -> u64 {
    number | 1 << 63
}

impl Statement {
    /// Returns the statement of the rank of the job `rank`.
    fn from_bytes(bytes: &[u8], rank: u32) -> Self {
        let number = |bytes: &[u8; 8]| u64::from_le_bytes(*bytes);
        let kind_and_rest = bytes.split_first().map(|(kind, rest)| (*kind, rest));
        match kind_and_rest.map(|(kind, rest)| (kind, rest, rest.split_first_chunk())) {
            Some((REFUSED, text, _)) => Self::Refused(String::from_utf8_lossy(text).into_owned()),
            Some((LINKED, _, Some((identity, [])))) => Self::Linked(number(identity)),
            Some((SCHEDULE, _, Some((own, file)))) => {
                match Nisa::load(Arc::new(file.to_vec()), &NO_LIMITS) {
                    Ok(file)
                        if rank < file.num_ranks()
                            && file.num_actions(file.section_id(rank)) <= LINKED_ACTIONS_MAX =>
                    {
                        Self::Schedule { number: number(own), file }
                    }
                    _ => Self::Refused("its schedule is broken".into()),
                }
            }
            _ => Self::Refused("its words are unknown".into()),
        }
    }
}

/// Returns the link of the schedules of all ranks, and the number of the linked schedule. Returns
/// `None` if all are linked already, and with each other. `ranks` has the ranks of the communicator
/// in the job.
///
/// # Errors
/// The reason of a rank, which names it.
fn decide(all: &[Vec<u8>], ranks: &[u32]) -> std::result::Result<Option<(Link, u64)>, Box<str>> {
    let refuse = |rank, why: &str| Err(format!("rank {rank}: {why}").into());
    let (mut files, mut first, mut identities) = (Vec::new(), 0, Vec::new());
    for (rank, (bytes, &in_job)) in (0u32..).zip(all.iter().zip(ranks)) {
        match Statement::from_bytes(bytes, in_job) {
            Statement::Refused(why) => return refuse(rank, &why),
            Statement::Linked(identity) => identities.push((rank, identity)),
            Statement::Schedule { number, file } => {
                first = if rank == 0 { number } else { first };
                files.push((file, in_job));
            }
        }
    }
    let are_equal = identities.windows(2).all(|pair| pair[0].1 == pair[1].1);
    match identities.first() {
        Some(_) if files.is_empty() && are_equal => return Ok(None),
        Some(&(rank, _)) => return refuse(rank, "its schedule is linked with other schedules"),
        None => {}
    }
    let sections: Vec<_> = files.iter().map(|(file, rank)| file.section(*rank)).collect();
    match Link::new(&sections, ranks, &LINES) {
        Ok(link) => Ok(Some((link, first))),
        Err(refusal) => refuse(refusal.rank, &refusal.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use goal_asm::nisa::reseal;
    use goal_smith::Shape;

    /// Signatures are short, and those of two links may be equal.
    #[test]
    fn schedules_of_different_links_are_not_linked_with_each_other() {
        let linked = |numbers: [u64; 2]| {
            let all = numbers.map(|number| is_linked(identity_of(number)));
            matches!(decide(&all, &[0, 1]), Ok(None))
        };
        assert!(linked([1, 1]) && linked([2049, 2049]));
        assert_eq!(signature_of(1), signature_of(2049));
        assert!(!linked([1, 2049]));
        let of_collective = [is_linked(0x1001), is_linked(identity_of(0x1001))];
        assert!(decide(&of_collective, &[0, 1]).is_err());
    }

    /// Other ranks refuse broken bytes, or read them as another schedule.
    #[test]
    fn bytes_of_a_broken_rank_do_no_harm() {
        let shape = Shape { ranks: (2, 2), ..Shape::linked(5) };
        let program = goal_smith::on_buffers(&goal_smith::program(5, &shape));
        let file = compile::nisa_of(program).expect("a valid program").bytes().to_vec();
        let statement = |file: &[u8]| [&[SCHEDULE, 1, 0, 0, 0, 0, 0, 0, 0], file].concat();
        assert!(matches!(
            Statement::from_bytes(&statement(&file), 1),
            Statement::Schedule { number: 1, .. }
        ));
        for at in 0..file.len() {
            for bit in [0, 7] {
                let mut broken = file.clone();
                broken[at] ^= 1 << bit;
                let _ = decide(&[statement(&broken), statement(&file)], &[0, 1]);
                reseal(&mut broken);
                let _ = decide(&[statement(&file), statement(&broken)], &[0, 1]);
            }
            let _ = decide(&[statement(&file[..at]), statement(&file)], &[0, 1]);
        }
        for unknown in [&[][..], &[LINKED], &[REFUSED, 0xff], &[9, 1, 2]] {
            assert!(matches!(Statement::from_bytes(unknown, 0), Statement::Refused(_)));
        }
    }
}
