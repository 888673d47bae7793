//! Functions of [`Member`] for a library that keeps the member behind a lock of the library.
#![allow(unsafe_code)] // binds memory that the caller answers for

use super::error::{Interrupted, StartError};
use super::member::Member;
use super::start::change;
use super::watched::Watched;
use crate::transport::RankTransport;
use goal_engine::memory::Region;
use goal_engine::{Engine, Handle, within};
use goal_job::Mode;
use goal_kernel::CompletionEvents;
use std::sync::Arc;

impl Member<'static> {
    /// Changes the mode of progress to `caller` or `thread`. Mode `node` can't be entered or left,
    /// because it needs memory that only a launcher sets up.
    ///
    /// # Errors
    /// [`StartError`]; the mode stays as it was.
    pub fn set_progress(&mut self, mode: Mode) -> Result<(), StartError> {
        self.reclaim();
        change(self.job, self.rank, &mut self.engines, mode)
    }
}

impl<'a> Member<'a> {
    /// Stops all progress of the rank's schedules until the next call that makes progress. When
    /// this returns, the rank's thread does not use the memory of instances.
    pub fn halt(&mut self) {
        self.reclaim();
        // This waits until a poll of the thread has ended.
        self.with(|_| ());
    }

    /// Sets the function that the thread of mode `thread` calls after a poll that did something. If
    /// the thread has a function already, the new one is ignored. In other modes this has no
    /// effect.
    pub fn call_on_progress(&self, f: impl Fn() + Send + Sync + 'static) {
        if let Some(thread) = self.engines.thread() {
            thread.call_on_progress(Arc::new(f));
        }
    }

    /// Lets completion events of the rank's runs in the kernel end its sleeps, in a job on several
    /// hosts. In mode `thread` a completion event counts as progress of the thread until it is
    /// settled.
    ///
    /// # Errors
    /// [`Interrupted`].
    pub fn follow(&mut self, events: &Arc<CompletionEvents>) -> Result<(), Interrupted> {
        let follow = |engine: &mut Engine<'a, RankTransport<'a>>| {
            engine.transport().follow(Arc::clone(events));
        };
        self.with(follow).ok_or_else(|| self.gone())
    }

    /// Adds words that the rank waits for when it rests in a call. If one of them comes, a rest
    /// ends as if a message had come.
    pub fn watch(&mut self, watched: impl IntoIterator<Item = Watched<'a>>) {
        self.watched.extend(watched);
    }

    /// Makes the rank wait for no words.
    pub fn unwatch(&mut self) {
        self.watched.clear();
    }

    /// Sets the words for which the thread of mode `thread` waits between the calls of the program.
    /// The function of [`Member::call_on_progress`] is called after each of them, once. In other
    /// modes, and after a change of the mode, the thread waits for none.
    pub fn watch_by_thread(&mut self, watched: Vec<Watched<'a>>) {
        if let Some(thread) = self.engines.thread() {
            thread.watch(watched);
        }
    }

    /// Sets whether waits of this member must not sleep. They then yield the processor.
    pub fn stay_awake(&mut self, is_awake: bool) {
        self.pause.is_awake = is_awake;
    }

    /// Notes that what the rank waited for has come without a step. Its next wait is a new one.
    pub fn note_arrival(&mut self) {
        self.pause.reset();
    }

    /// Returns true if the last steps did nothing, for about a microsecond.
    pub fn has_waited(&self) -> bool {
        self.pause.has_waited()
    }

    /// Makes progress as long as `goes_on` returns true, and sleeps if there is nothing to do.
    /// Calls `goes_on` after each step, and `before_rest` before the rank sleeps or looks for
    /// messages without a step. A wakeup of the rank's mailbox ends a sleep.
    ///
    /// # Errors
    /// [`Interrupted`], or the error of `goes_on`.
    pub fn wait_while(
        &mut self,
        mut goes_on: impl FnMut(&mut Self) -> Result<bool, Interrupted>,
        mut before_rest: impl FnMut(&mut Self),
    ) -> Result<(), Interrupted> {
        self.reclaim();
        let state = &self.job.segment.status(self.rank).process_state;
        state.set_answers(true);
        let waited = within(|| {
            loop {
                let progress = self.step()?;
                if !goes_on(self)? {
                    return self.release();
                }
                if !progress.worked {
                    before_rest(self);
                    self.rest(progress.waiting)?;
                }
            }
        });
        state.set_answers(false);
        waited?
    }

    /// Binds the buffers of an ended instance to other memory, which its next
    /// [start](Member::start_again) uses.
    ///
    /// # Errors
    /// [`Interrupted`]; nothing was bound.
    ///
    /// # Panics
    /// As [`Engine::bind`](goal_engine::Engine::bind).
    ///
    /// # Safety
    /// The conditions of [`Engine::bind`](goal_engine::Engine::bind) hold.
    pub unsafe fn bind(
        &mut self,
        handle: &Handle,
        bind: impl FnOnce(&mut Vec<Region>),
    ) -> Result<(), Interrupted> {
        // SAFETY: as the caller says.
        self.with(|engine| unsafe { engine.bind(handle, bind) }).ok_or_else(|| self.gone())
    }
}
