//! The interface between a rank and a transport to ranks on other hosts.

use goal_engine::transport::Transport;
use std::os::fd::BorrowedFd;

/// The numbers of messages and grants of room that a rank has exchanged with ranks on other hosts.
///
/// A job is stuck if no rank can go on by itself and nothing is under way. Nothing is under way if
/// the sums of `sent` and of `taken` over all ranks are equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Exchanged {
    /// The number of messages and grants that this rank sent.
    pub sent: u64,
    /// The number of messages and grants that arrived at this rank and were taken.
    pub taken: u64,
}

/// One rank's end of a transport to ranks on other hosts.
///
/// A fabric implements the methods of [`Transport`] for trait objects. An engine whose peers are
/// all on other hosts may use a fabric alone. A rank that sends to itself, or to ranks of its host,
/// needs another transport beside the fabric.
///
/// A fabric can also make progress without an engine, while its rank computes or sleeps. No method
/// blocks. In a job of `goal-run`, [`Transport::short_max`] is at least 64 bytes. If a rank has
/// several fabrics, [`Transport::announce_room`] tells each fabric its part of the room.
pub trait Fabric: Transport + Send {
    /// Sends the messages that were written since the last poll. Without this call the messages
    /// wait for the next poll. That may take long, because a rank that computes does not poll.
    fn send_written(&mut self);

    /// Exchanges bytes with other hosts and handles timers, without delivering messages. Returns
    /// true if the rank may be able to go on, or if a peer was lost. The rank may go on if a
    /// message can be taken or a connection was opened. It may also go on if a refused message has
    /// room now, or bytes that were held back have left.
    fn progress(&mut self) -> bool;

    /// Returns true if there is work now: something has arrived, or a timer is due.
    fn has_work(&self) -> bool;

    /// Returns true if there is work now. Unlike [`Fabric::has_work`], this method may ask the
    /// system with a call. A rank that waits without sleeping calls it.
    fn has_arrived(&self) -> bool {
        self.has_work()
    }

    /// Returns the ranks for which bytes of accepted messages wait in this process because the
    /// network had no room for them. A run that sends to such a rank does not count as ended: if
    /// its caller computed, the bytes would not leave. When the bytes have left,
    /// [`Fabric::progress`] returns true. In some fabrics, peers need calls of this process even
    /// after that, for acknowledgements or requests. Such a fabric returns an empty list, and the
    /// bytes wait until the next call.
    fn kept_back(&self) -> Vec<u32> {
        Vec::new()
    }

    /// Returns true if bytes wait for room on the network, and no descriptor tells when there is
    /// room.
    fn has_unsent(&self) -> bool {
        false
    }

    /// Returns true while a peer sends a long message: further parts follow soon.
    fn is_receiving(&self) -> bool {
        false
    }

    /// Returns the time, in nanoseconds of the monotonic clock, at which there is work even if
    /// nothing arrives. Returns `None` if there is no such time.
    fn wake_ns(&self) -> Option<u64>;

    /// Returns the descriptors that become readable when there is work. They never change. All
    /// fabrics of a rank together have at most six descriptors. A fabric with many sockets should
    /// return one epoll instance.
    fn descriptors(&self) -> Vec<BorrowedFd<'_>>;

    /// Returns the numbers of messages and grants that this rank has sent and taken.
    fn exchanged(&self) -> Exchanged;

    /// Returns the first rank that was lost, and the reason. Returns `None` if no rank was lost.
    fn lost(&self) -> Option<(u32, String)>;

    /// Returns the reason if no connection with `rank` can be made and no message was exchanged
    /// with this rank. Another fabric may then carry the messages of `rank`. Returns `None`
    /// otherwise.
    fn unreachable(&self, rank: u32) -> Option<String> {
        let _ = rank;
        None
    }
}
