//! Links schedules of the program: the ranks of a communicator tell each other the messages of
//! their schedules, and compute the places of these messages on the boards.
//!
//! Each step has one result for all ranks. A rank that can't take part sends its reason instead of
//! its messages, so no rank waits for it.
//!
//! Threat: ranks of the job are trusted, but their words may still be wrong. They are checked as
//! [`Messages`] and as UTF-8.

use super::Schedule;
use super::instances::Memory;
use crate::boards::LINES;
use crate::communicator::Communicator;
use crate::error::{Error, ErrorCode, Result};
use crate::exchange::exchange;
use crate::group::Group;
use crate::linkable::{may_have_boards, signature_of};
use crate::shared::SharedGroup;
use goal_engine::linked::{Link, Messages, Unlinkable};
use goal_job::Mode;
use std::sync::atomic::{AtomicU16, Ordering};

/// `Ok` if a schedule is linked, and the reason if the engine runs it.
pub type Linking = std::result::Result<(), Box<str>>;

/// The number of words that a rank sends: two of its own, and its messages or a text.
const WORDS: usize = 2 + Messages::WORDS_MAX;
/// The most bytes of a text.
const TEXT_MAX: usize = 8 * Messages::WORDS_MAX;

/// The statement of a rank about its schedule.
enum Statement {
    /// The schedule can't be linked, for this reason.
    Refused(String),
    /// The schedule is linked, and has this signature.
    Linked(u16),
    /// The schedule has these messages. Rank 0 numbers the linked schedules.
    Messages { number: u16, messages: Messages },
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
    let words = match &own {
        Ok((_, word)) => word.to_words(),
        Err(error) => Statement::Refused(error.to_string()).to_words(),
    };
    let decided = decide(&exchange(communicator, &words, call)?);
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
    let signature = signature_of(number);
    let linked = schedule
        .linked_form(&link, signature, set)
        .map_err(|Unlinkable| "its messages are not those that it has told".to_owned());
    // The thread of a rank runs schedules between two calls, but not linked ones.
    let linked = linked.and_then(|linked| match linked.0.relay() {
        Some(relay) if shared.attached.progress() == Mode::Thread => Err(format!(
            "{relay}, waits for a receive, and --progress thread lets such schedules go on between calls"
        )),
        _ => Ok(linked),
    });
    let statement = match &linked {
        Ok(_) => Statement::Linked(signature),
        Err(why) => Statement::Refused(why.clone()),
    };
    if let Err(why) = decide(&exchange(communicator, &statement.to_words(), call)?) {
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
    if !shared.attached.links_programs() {
        return Ok(
            Err("the job links nothing: it has several hosts, a trace or --no-links".into()),
        );
    }
    shared.with(|core| {
        if !core.links_on(communicator) {
            return Ok(Err("a rank was lost since its communicator was made".into()));
        }
        let may_have = may_have_boards(&communicator.all_in_group());
        let set = if may_have { core.set_of(communicator) } else { None };
        Ok(set.ok_or_else(|| "its communicator has no boards (goal_schedule(3))".into()))
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

    /// Returns the statement of this rank about the schedule.
    ///
    /// # Errors
    /// The schedule runs.
    fn offer(&self) -> Result<Statement> {
        let bound = &self.bound;
        if let Some((linked, _)) = bound.linked.get() {
            return Ok(Statement::Linked(linked.signature()));
        }
        if !self.release()? {
            let text = "the schedule runs: wait for it first (GOAL_Wait)";
            return Err(Error::new(ErrorCode::Busy, text));
        }
        if matches!(bound.memory, Memory::Own) {
            return Ok(Statement::Refused("it works on memory of its own".into()));
        }
        let (ranks, me) = (bound.communicator.all_in_group(), bound.communicator.rank());
        Ok(match Messages::of(bound.code.section(), &ranks, me, &LINES) {
            Ok(messages) => {
                // Relaxed: only the number matters.
                static LINKS: AtomicU16 = AtomicU16::new(0);
                Statement::Messages { number: LINKS.fetch_add(1, Ordering::Relaxed), messages }
            }
            Err(refusal) => Statement::Refused(refusal.to_string()),
        })
    }
}

impl Statement {
    fn to_words(&self) -> [u64; WORDS] {
        let (kind, value, rest) = match self {
            Statement::Refused(text) => {
                let bytes = &text.as_bytes()[..text.len().min(TEXT_MAX)];
                let words = bytes.chunks(8).map(|chunk| {
                    let mut word = [0; 8];
                    word[..chunk.len()].copy_from_slice(chunk);
                    u64::from_le_bytes(word)
                });
                (0, bytes.len() as u64, words.collect())
            }
            Statement::Linked(signature) => (1, u64::from(*signature), Vec::new()),
            Statement::Messages { number, messages } => {
                (2, u64::from(*number), messages.to_words())
            }
        };
        let mut words = [0; WORDS];
        words[..2].copy_from_slice(&[kind, value]);
        words[2..2 + rest.len()].copy_from_slice(&rest);
        words
    }

    fn from_words(words: &[u64]) -> Self {
        let unknown = || Statement::Refused("its words are unknown".into());
        match *words {
            [0, len, ref rest @ ..] => {
                let bytes: Vec<u8> = rest.iter().flat_map(|word| word.to_le_bytes()).collect();
                let bytes = bytes.get(..len as usize).unwrap_or_default();
                Statement::Refused(String::from_utf8_lossy(bytes).into_owned())
            }
            [1, signature, ..] => Statement::Linked(signature as u16),
            [2, number, ref rest @ ..] => {
                Messages::from_words(rest).map_or_else(unknown, |messages| Statement::Messages {
                    number: number as u16,
                    messages,
                })
            }
            _ => unknown(),
        }
    }
}

/// Returns the link of the schedules of all ranks, and the number of the linked schedule. Returns
/// `None` if all are linked already, and with each other.
///
/// # Errors
/// The reason of a rank, which names it.
fn decide(all: &[u64]) -> std::result::Result<Option<(Link, u16)>, Box<str>> {
    let refuse = |rank, why: &str| Err(format!("rank {rank}: {why}").into());
    let (mut all_messages, mut first, mut signatures) = (Vec::new(), 0, Vec::new());
    for (rank, words) in (0u32..).zip(all.chunks_exact(WORDS)) {
        match Statement::from_words(words) {
            Statement::Refused(why) => return refuse(rank, &why),
            Statement::Linked(signature) => signatures.push((rank, signature)),
            Statement::Messages { number, messages } => {
                first = if rank == 0 { number } else { first };
                all_messages.push(messages);
            }
        }
    }
    let are_equal = signatures.windows(2).all(|pair| pair[0].1 == pair[1].1);
    match signatures.first() {
        Some(_) if all_messages.is_empty() && are_equal => return Ok(None),
        Some(&(rank, _)) => return refuse(rank, "its schedule is linked with other schedules"),
        None => {}
    }
    match Link::from_messages(&all_messages, &LINES) {
        Ok(link) => Ok(Some((link, first))),
        Err(refusal) => refuse(refusal.rank, &refusal.to_string()),
    }
}
