//! Defines the runs of the safe interface. A run is a future, and holds its buffers until it has
//! ended.

use super::memories::{Memories, release};
use crate::error::Result;
use crate::group::Group;
use crate::raw::{self, Ticket};
use crate::slots::{Sleeper, wake};
use goal_job::Mode;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// A run of a schedule. As a [`Future`] it is ready when the run has ended. In [`Mode::Caller`]
/// schedules make progress only in calls. So a poll of the future makes progress, and then wakes
/// its task at once.
///
/// If this value is dropped before the run has ended, the run goes on, and holds its buffers until
/// its end.
#[must_use = "a run that nobody waits for makes progress only in other calls"]
#[derive(Debug)]
pub struct Run {
    ticket: Ticket,
    /// The memory that the run uses; `None` once the run has ended.
    memories: Option<Arc<Memories>>,
    /// The task that is woken when the run has ended.
    sleeper: Option<Arc<Sleeper>>,
}

impl Run {
    pub(super) fn new(ticket: Ticket, memories: Arc<Memories>) -> Self {
        Self { ticket, memories: Some(memories), sleeper: None }
    }

    /// Returns true if the run has ended. Makes a bounded amount of progress in either case.
    ///
    /// # Errors
    /// The run can't go on.
    pub fn test(&mut self) -> Result<bool> {
        let has_ended = raw::test(self.ticket)?;
        if has_ended {
            self.end();
        }
        Ok(has_ended)
    }

    /// Waits until the run has ended.
    ///
    /// # Errors
    /// The job can't go on.
    pub fn wait(mut self) -> Result<()> {
        raw::wait(self.ticket, "Run::wait")?;
        self.end();
        Ok(())
    }

    fn end(&mut self) {
        if let Some(memories) = self.memories.take() {
            release(&memories);
        }
    }
}

impl Future for Run {
    type Output = Result<()>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        match self.test() {
            Ok(true) => return Poll::Ready(Ok(())),
            Err(error) => return Poll::Ready(Err(error)),
            Ok(false) => {}
        }
        // In mode `thread` the rank's thread wakes the task. In other modes the task makes progress
        // by polls.
        let is_known = self.sleeper.is_some();
        let sleeper = Arc::clone(self.sleeper.get_or_insert_default());
        // The old waker is dropped without the lock, because its drop is code of the program.
        let last = sleeper.lock().replace(context.waker().clone());
        drop(last);
        if !is_known && let Err(error) = raw::wake_when_ended(self.ticket, Arc::clone(&sleeper)) {
            return Poll::Ready(Err(error));
        }
        if !matches!(Group::current().map(Group::progress), Ok(Mode::Thread)) {
            wake(&sleeper);
        }
        Poll::Pending
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        if let Some(memories) = self.memories.take() {
            // If the job can't go on, peers may still use the memory, so it is never freed.
            let kept = Arc::clone(&memories);
            let end = move |has_ended| {
                if has_ended {
                    release(&memories);
                } else {
                    std::mem::forget(memories);
                }
            };
            if raw::when_ended(self.ticket, Box::new(end)).is_err() {
                std::mem::forget(kept);
            }
        }
    }
}
