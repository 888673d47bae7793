//! Holds a rank's engine in each mode of progress, with the threads or processes that share it.

use super::node::NodeProgress;
use super::threaded::Threaded;
use crate::transport::RankTransport;
use goal_engine::{Engine, Failure};

/// A rank's engine, with the threads or processes that share it.
pub(super) enum Engines<'a> {
    /// Used by the rank alone.
    Own(Box<Engine<'a, RankTransport<'a>>>),
    /// Shared with a thread of the rank.
    Thread(Threaded<'a>),
    /// Shared with the other ranks of the host.
    Node(Box<NodeProgress<'a>>),
    /// Lost, because the thread gave up before the mode was changed.
    Lost,
}

impl<'a> Engines<'a> {
    /// Calls `f` with the engine. Returns `None`, without a call, if the job ended while another
    /// process used the engine, or if the thread of the rank has panicked.
    #[inline(always)]
    pub(super) fn with<R>(
        &mut self,
        f: impl FnOnce(&mut Engine<'a, RankTransport<'a>>) -> R,
    ) -> Option<R> {
        match self {
            Engines::Own(engine) => Some(f(engine)),
            Engines::Thread(shared) => Some(f(&mut *shared.engine()?)),
            Engines::Node(node) => node.with(f),
            Engines::Lost => None,
        }
    }

    /// Returns the thread of the rank, if it has one.
    pub(super) fn thread(&self) -> Option<&Threaded<'a>> {
        match self {
            Engines::Thread(shared) => Some(shared),
            Engines::Own(_) | Engines::Node(_) | Engines::Lost => None,
        }
    }

    /// Takes the rank back from the thread or the ranks that act for it.
    #[inline]
    pub(super) fn reclaim(&mut self) {
        match self {
            Engines::Own(_) | Engines::Lost => {}
            Engines::Thread(shared) => shared.reclaim(),
            Engines::Node(node) => node.reclaim(),
        }
    }

    /// Lets the thread or other ranks act for the rank, which computes from now on. If there is
    /// neither, sends the written messages, since a peer may wait for one. Returns `None` if the
    /// thread gave up.
    ///
    /// # Errors
    /// The failure of an action.
    #[inline]
    pub(super) fn release(&mut self) -> Option<Result<(), Failure>> {
        match self {
            Engines::Own(engine) => {
                engine.transport().send_written();
                Some(Ok(()))
            }
            Engines::Lost => Some(Ok(())),
            Engines::Thread(shared) => shared.release(),
            Engines::Node(node) => {
                node.release();
                Some(Ok(()))
            }
        }
    }
}
