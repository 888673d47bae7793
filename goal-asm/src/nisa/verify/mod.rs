//! The verifier of a section. The engine relies on the verified graph and does not check it again.
//!
//! One pass over the records checks each record by itself. The pass also keeps a balance for every
//! word of the section. The balance is the number of dependencies that end in the word, minus the
//! number of sources that the action there declares. If all balances are 0 at the end, every offset
//! is that of an action and every number of sources is right. The passes leave all dependencies
//! pointing forward, which rules out cycles. If one points backwards, a second pass releases
//! actions as the engine would.

mod explain;
mod parameters;
#[cfg(test)]
mod tests;

use super::bytes::u32_at;
use super::error::VerifyError;
use super::instruction::Type;
use super::section::Section;
use goal_lang::diag::Code;

type Result<T> = std::result::Result<T, VerifyError>;

/// The bounds on what a section refers to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds<'a> {
    /// Major version of the format.
    pub(super) version: u16,
    pub(super) ranks: u32,
    pub(super) memory: u64,
    pub(super) scratch: u64,
    /// The lengths of the buffers, 8 bytes each; empty if memory is one region.
    pub(super) buffers: &'a [u8],
    pub(super) actions: u32,
}

/// Verifies one section that begins at byte `base` of the file. `balance` is working memory and is
/// all zero before and after the call.
pub(super) fn verify_section(
    bytes: &[u8],
    base: u64,
    bounds: Bounds<'_>,
    balance: &mut Vec<u16>,
) -> Result<()> {
    if balance.len() < bytes.len() / 4 {
        balance.resize(bytes.len() / 4, 0);
    }
    let mut verifier = Verifier { bytes, base, bounds, balance };
    let walked = verifier.walk();
    let checked = walked.and_then(|walk| verifier.check_graph(walk));
    if checked.is_err() {
        balance.fill(0);
    }
    checked
}

pub(super) struct Verifier<'a> {
    bytes: &'a [u8],
    base: u64,
    bounds: Bounds<'a>,
    balance: &'a mut [u16],
}

/// The parts of an action's record.
pub(super) struct Parts<'a> {
    pub(super) sources: u16,
    pub(super) dependents: List<'a>,
    pub(super) start_dependents: List<'a>,
    /// The offset behind the action.
    pub(super) end: usize,
}

/// A list of dependents.
#[derive(Clone, Copy)]
pub(super) struct List<'a> {
    /// The offset of its first entry.
    pub(super) at: usize,
    pub(super) entries: &'a [u8],
}

/// The counts of the pass over the records.
#[derive(Default)]
struct Walk {
    actions: u64,
    sources: u64,
    edges: u64,
    backward: bool,
}

impl<'a> Verifier<'a> {
    /// Returns a verifier of single actions. `bytes` begin at byte `base` of the file.
    pub(super) fn from_actions(bytes: &'a [u8], base: u64, bounds: Bounds<'a>) -> Self {
        Self { bytes, base, bounds, balance: &mut [] }
    }

    /// Checks the action at offset `at` without its relations to other actions. Returns its parts.
    #[inline]
    pub(super) fn parts(&self, at: usize) -> Result<Parts<'a>> {
        let head = self.word(at)?;
        let kind = Type((head >> 16) as u16);
        let after = self.operation(at, kind)?;
        let (dependents, mut end) = self.list(after)?;
        let list_at = end;
        let mut start_dependents: &[u8] = &[];
        if kind.has_start_list() {
            (start_dependents, end) = self.list(list_at)?;
            if start_dependents.is_empty() {
                return Err(self.action(
                    list_at,
                    "the list of start dependents is empty, and should be absent",
                ));
            }
        }
        Ok(Parts {
            sources: head as u16,
            dependents: List { at: after + 4, entries: dependents },
            start_dependents: List { at: list_at + 4, entries: start_dependents },
            end,
        })
    }

    fn walk(&mut self) -> Result<Walk> {
        let mut walk = Walk::default();
        let (mut independent, first) = self.list(0)?;
        let mut at = first;
        while at < self.bytes.len() {
            let Parts { sources, dependents, start_dependents, end } = self.parts(at)?;
            if sources == 0 {
                let listed = independent.split_first_chunk::<4>();
                match listed {
                    Some((offset, rest)) if u32::from_le_bytes(*offset) as usize == at => independent = rest,
                    _ => return Err(self.graph(
                        at,
                        "an action without sources is not in its place in the list of independent actions",
                    )),
                }
            }
            self.dependents(at, dependents, &mut walk)?;
            self.dependents(at, start_dependents, &mut walk)?;
            self.balance[at / 4] = self.balance[at / 4].wrapping_sub(sources);
            walk.sources += u64::from(sources);
            walk.actions += 1;
            at = end;
        }
        if !independent.is_empty() {
            return Err(self.graph(
                first - independent.len(),
                "this independent action has sources, or is none",
            ));
        }
        if walk.actions != u64::from(self.bounds.actions) {
            let declared = self.bounds.actions;
            return Err(self.graph(
                0,
                format!("the section has {} actions, and the table says {declared}", walk.actions),
            ));
        }
        Ok(walk)
    }

    /// Checks a list of dependents of the action at `at`. Adds one to the balance of each action
    /// that the list names.
    #[inline]
    fn dependents(&mut self, at: usize, list: List<'_>, walk: &mut Walk) -> Result<()> {
        let mut before = 0;
        for (i, offset) in list.entries.chunks_exact(4).enumerate() {
            let target = u32_at(offset, 0);
            if target <= before || !target.is_multiple_of(4) || target as usize >= self.bytes.len()
            {
                let what = if target <= before {
                    "is not above the one before it"
                } else {
                    "is not one of an action"
                };
                return Err(self.graph(list.at + 4 * i, format!("the offset {target:#x} {what}")));
            }
            before = target;
            walk.backward |= target as usize <= at;
            let balance = &mut self.balance[target as usize / 4];
            *balance = balance.wrapping_add(1);
        }
        walk.edges += list.entries.len() as u64 / 4;
        Ok(())
    }

    /// Checks the balances and, if a dependency points backwards, looks for a cycle.
    ///
    /// Balances are kept modulo 2^16. If all are 0, the number of dependencies that end in each
    /// action equals its sources modulo 2^16. So that number is at least the number of sources. As
    /// the sums over all actions are equal too, it can't be larger, and no balance has wrapped
    /// around.
    fn check_graph(&mut self, walk: Walk) -> Result<()> {
        let words = self.bytes.len() / 4;
        if walk.edges != walk.sources || self.balance[..words].iter().any(|&balance| balance != 0) {
            self.balance[..words].fill(0);
            return Err(self.explain_counts());
        }
        if walk.backward { self.check_acyclic(walk.actions) } else { Ok(()) }
    }

    fn check_acyclic(&mut self, actions: u64) -> Result<()> {
        let section = Section::new(self.bytes);
        for (at, record) in section.records() {
            self.balance[at as usize / 4] = record.sources;
        }
        let mut ready: Vec<u32> = section.independent().iter().collect();
        let mut done = 0;
        while let Some(at) = ready.pop() {
            done += 1;
            let record = section.record(at);
            for target in record.dependents.iter().chain(record.start_dependents.iter()) {
                let waiting = &mut self.balance[target as usize / 4];
                *waiting -= 1;
                if *waiting == 0 {
                    ready.push(target);
                }
            }
        }
        if done == actions { Ok(()) } else { Err(self.explain_cycle()) }
    }

    /// Returns the offsets of the list at `at`, and the offset behind the list.
    #[inline]
    fn list(&self, at: usize) -> Result<(&'a [u8], usize)> {
        let count = self.word(at)?;
        let end = at as u64 + 4 + 4 * u64::from(count);
        if end > self.bytes.len() as u64 {
            return Err(
                self.action(at, format!("a list of {count} offsets ends outside the section"))
            );
        }
        Ok((&self.bytes[at + 4..end as usize], end as usize))
    }

    #[inline]
    fn word(&self, at: usize) -> Result<u32> {
        match self.bytes.get(at..at + 4) {
            Some(word) => Ok(u32_at(word, 0)),
            None => Err(self.action(self.bytes.len(), "the section ends inside an action")),
        }
    }

    #[cold]
    fn action(&self, at: usize, message: impl Into<String>) -> VerifyError {
        VerifyError::new(Code::NisaAction, self.base + at as u64, message)
    }

    #[cold]
    pub(super) fn graph(&self, at: usize, message: impl Into<String>) -> VerifyError {
        VerifyError::new(Code::NisaGraph, self.base + at as u64, message)
    }
}
