//! Executes fallback operations: actions that the kernel leaves to the process of a rank.
//!
//! Threat: processes of ranks on this host can write to the ring that names these actions, and to
//! the part's memory. These processes trust each other, as they share memory anyway. A number that
//! names no action of the part is dropped. No operand lies outside of the part's memory.

mod calcs;

use calcs::Calcs;
use goal_asm::Nisa;
use goal_asm::nisa::Operation;
use goal_engine::{Cause, combine};
use goal_eth::now_ns;
use goal_kernel::{Call, Operands, PartImage, Rank, RunError};
use goal_lang::{Datatype, Op};
use std::collections::HashMap;
use std::io;
use std::ops::Range;
use std::time::Duration;

/// A function that calls a registered function of the program. Its arguments are the function's
/// number and both operands.
pub type CallFunction<'a> = &'a mut dyn FnMut(u32, &mut [u8], &mut [u8]) -> Result<(), Cause>;

/// A rank's part of a schedule in the kernel, and the actions that its process does.
#[derive(Debug)]
pub struct FallbackOps {
    image: PartImage,
    /// The work of each action of the part; `None` for local operations on operands.
    works: Vec<Option<Work>>,
    calls: HashMap<u32, Call>,
    /// The factor that scales the duration of `calc` actions.
    calc: f64,
    calcs: Calcs,
    /// An action that is done but was not given back to the kernel's engine yet.
    done: Option<u32>,
}

/// The work of a fallback operation that is not a local operation on operands.
#[derive(Debug, Clone, Copy)]
enum Work {
    /// A `calc` action: it takes `nanos` nanoseconds on processor `cpu`.
    Calc { nanos: u64, cpu: u16 },
    /// Stores the time in the action's buffer, in seconds.
    Time,
    /// Calls a registered function of the program.
    Call,
}

/// The reason why [`FallbackOps::serve`] stopped early.
#[derive(Debug)]
pub enum Fault {
    /// The action with this number in the part failed.
    Failed(u32, Cause),
    /// The system refused to give an action back to the kernel. The next call of
    /// [`FallbackOps::serve`] tries again.
    NotTaken(io::Error),
}

impl Fault {
    /// Returns the fault of a run that the kernel's engine has ended with `error`.
    pub fn from_run(error: RunError) -> Self {
        let RunError::Division { action, element } = error;
        Self::Failed(action, Cause::DivisionByZero { element: element.into() })
    }
}

impl FallbackOps {
    /// Returns the fallback operations of the part of `rank`, in the schedule `nisa`. `calc` scales
    /// the duration of `calc` actions.
    pub fn new(image: PartImage, nisa: &Nisa, rank: u32, calc: f64) -> Self {
        let records = nisa.section(rank).records();
        let of_section: Vec<Option<Work>> = records
            .map(|(_, record)| match record.operation() {
                Operation::Calc { nanos } => {
                    Some(Work::Calc { nanos, cpu: record.placement().cpu })
                }
                Operation::Wtime { .. } => Some(Work::Time),
                Operation::User { .. } => Some(Work::Call),
                _ => None,
            })
            .collect();
        let works = image.origins.iter();
        let works = works.map(|&origin| of_section.get(origin as usize).copied().flatten());
        let calls = image.calls.iter().map(|call| (call.action, call.clone()));
        Self {
            works: works.collect(),
            calls: calls.collect(),
            image,
            calc,
            calcs: Calcs::default(),
            done: None,
        }
    }

    /// Returns the rank's part of the schedule.
    pub fn image(&self) -> &PartImage {
        &self.image
    }

    /// Executes the actions that the kernel has left to this process. Gives back these actions and
    /// the `calc` actions that have ended. Returns true if there was something to do.
    ///
    /// # Errors
    /// [`Fault`].
    pub fn serve(&mut self, kernel: &mut Rank, call: CallFunction<'_>) -> Result<bool, Fault> {
        let mut has_served = self.done.is_some();
        self.give_back(kernel)?;
        while let Some(action) = kernel.take_handed() {
            has_served = true;
            let Some(operands) = self.image.operands(action, kernel.epoch()) else { continue };
            match self.works[action as usize] {
                Some(Work::Calc { nanos, cpu }) => {
                    self.calcs.start(action, (nanos as f64 * self.calc) as u64, cpu, now_ns());
                    continue;
                }
                Some(Work::Time) => {
                    let time = now_ns() as f64 / 1e9;
                    kernel.write_part(operands.places[2], &time.to_le_bytes());
                }
                Some(Work::Call) => {
                    if let Some(work) = self.calls.get(&action) {
                        make(kernel, work, call).map_err(|cause| Fault::Failed(action, cause))?;
                    }
                }
                None => operate(kernel, &operands)
                    .map_err(|element| Fault::Failed(action, Cause::DivisionByZero { element }))?,
            }
            self.done = Some(action);
            self.give_back(kernel)?;
        }
        while let Some(action) = self.calcs.due(now_ns()) {
            has_served = true;
            self.done = Some(action);
            self.give_back(kernel)?;
        }
        Ok(has_served)
    }

    /// Returns the time until the next `calc` action ends; `None` if none is under way.
    pub fn left(&self) -> Option<Duration> {
        self.calcs.left(now_ns())
    }

    /// Gives the action in `done` back to the kernel's engine, if there is one.
    fn give_back(&mut self, kernel: &mut Rank) -> Result<(), Fault> {
        let Some(action) = self.done else { return Ok(()) };
        if let Err(error) = kernel.give_back(action) {
            // The engine takes nothing back once another action has failed.
            return Err(match kernel.test() {
                Err(failed) => Fault::from_run(failed),
                Ok(_) => Fault::NotTaken(error),
            });
        }
        self.done = None;
        Ok(())
    }
}

/// Executes a local operation on the part's memory.
///
/// # Errors
/// The index of the first element that is divided by zero.
fn operate(kernel: &mut Rank, operands: &Operands) -> Result<(), u64> {
    let Operands { op, datatype, places, bytes } = *operands;
    let op = Op::ALL.iter().copied().find(|known| *known as u8 == op);
    let datatype = Datatype::ALL.iter().copied().find(|known| *known as u8 == datatype);
    let (Some(op), Some(datatype)) = (op, datatype) else { return Ok(()) };
    let [mut a, mut b] = [vec![0; bytes], vec![0; bytes]];
    kernel.read_part(places[0], &mut a);
    kernel.read_part(places[1], &mut b);
    combine(op, datatype, &a, &mut b)?;
    kernel.write_part(places[2], &b);
    Ok(())
}

/// Calls a function of the program on copies of its operands, and stores their new contents.
fn make(kernel: &mut Rank, work: &Call, call: CallFunction<'_>) -> Result<(), Cause> {
    let read = |pieces: &Vec<Range<usize>>| {
        let mut bytes = vec![0; pieces.iter().map(Range::len).sum()];
        let mut rest = &mut bytes[..];
        for piece in pieces {
            let (here, behind) = rest.split_at_mut(piece.len());
            kernel.read_part(piece.start, here);
            rest = behind;
        }
        bytes
    };
    let [mut a, mut b] = [&work.operands[0], &work.operands[1]].map(read);
    call(work.function, &mut a, &mut b)?;
    for (pieces, bytes) in work.operands.iter().zip([a, b]) {
        let mut rest = &bytes[..];
        for piece in pieces {
            let (here, behind) = rest.split_at(piece.len());
            kernel.write_part(piece.start, here);
            rest = behind;
        }
    }
    Ok(())
}
