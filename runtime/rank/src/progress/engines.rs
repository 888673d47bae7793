//! Holds a rank's engine in each mode of progress.

use super::node::NodeProgress;
use super::threaded::Threaded;
use crate::transport::RankTransport;
use goal_engine::{Engine, Failure};

/// A rank's engine, and the threads or processes that share it. The mode of progress decides which
/// these are.
pub(super) enum Engines<'a> {
    /// The engine of mode `caller`: only the rank uses it.
    Own(Box<Engine<'a, RankTransport<'a>>>),
    /// The engine of mode `thread`: the rank shares it with a thread.
    Thread(Threaded<'a>),
    /// The engine of mode `node`: the rank shares it with the other ranks of its host.
    Node(Box<NodeProgress<'a>>),
    /// No engine: the thread gave up before the mode was changed.
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

    /// Keeps the rank's thread or other ranks from acting for the rank.
    #[inline]
    pub(super) fn reclaim(&mut self) {
        match self {
            Engines::Own(_) | Engines::Lost => {}
            Engines::Thread(shared) => shared.reclaim(),
            Engines::Node(node) => node.reclaim(),
        }
    }

    /// Lets the rank's thread or other ranks act for the rank, which computes from now on. In mode
    /// `caller`, sends the written messages, since a peer may wait for one. Returns `None` if the
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
