//! The interface between a rank and a transport to ranks on other hosts.

use goal_engine::transport::Transport;
use std::os::fd::BorrowedFd;

/// The number of messages and grants of room that a rank has exchanged with ranks on other hosts.
///
/// A job is stuck if no rank can go on by itself, and nothing is under way: the sums of `sent` and
/// `taken` over all ranks are equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Exchanged {
    /// Messages and grants that were sent.
    pub sent: u64,
    /// Messages and grants that arrived and were taken.
    pub taken: u64,
}

/// One rank's end of a transport to ranks on other hosts.
///
/// Its messages are those of [`Transport`]. It implements the forms for trait objects. An engine
/// whose peers are all on other hosts may use it by itself. A rank that sends to itself, or to
/// ranks of its host, needs another transport beside it.
///
/// A fabric can also make progress without an engine, while its rank computes or sleeps. No method
/// waits. In a job of `goal-run`, [`Transport::short_max`] is at least 64. If a rank has several
/// fabrics, [`Transport::announce_room`] tells each its part of the room.
pub trait Fabric: Transport + Send {
    /// Sends the messages that were written since the last poll. Without this they wait for the
    /// next one, which may be long after: a rank that computes does not poll.
    fn send_written(&mut self);

    /// Exchanges bytes with other hosts and handles timers, without delivering messages. Returns
    /// true if the rank may be able to go on. It may if a message can be taken, a connection was
    /// opened, a refused message has room now, or bytes that were held back have left. It also
    /// returns true if a rank was lost.
    fn progress(&mut self) -> bool;

    /// Returns true if there is work now: something has arrived, or a timer is due.
    fn has_work(&self) -> bool;

    /// Returns true if there is work now, and asks the system for it if that is needed, as
    /// [`Fabric::has_work`] need not. A rank that never sleeps waits with this.
    fn has_arrived(&self) -> bool {
        self.has_work()
    }

    /// Returns the ranks for which bytes of accepted messages wait in this process because the
    /// network had no room for them. A run that sends to such a rank does not count as ended: a
    /// caller that computes would keep the bytes back. When they have left, [`Fabric::progress`]
    /// returns true. A fabric whose peers need calls of this process after that too, for
    /// acknowledgements or requests, returns none: they wait until the next call.
    fn kept_back(&self) -> Vec<u32> {
        Vec::new()
    }

    /// Returns true if something waits to be sent that the network had no room for, and no
    /// descriptor tells when it has.
    fn has_unsent(&self) -> bool {
        false
    }

    /// Returns true while a peer sends a long message: further parts follow soon.
    fn is_receiving(&self) -> bool {
        false
    }

    /// Returns the time, in nanoseconds of the monotonic clock, at which there is work even if
    /// nothing arrives.
    fn wake_ns(&self) -> Option<u64>;

    /// Returns the descriptors that become readable when there is work. They stay the same, and all
    /// fabrics of a rank have at most six. A fabric with many sockets should return one epoll
    /// instance.
    fn descriptors(&self) -> Vec<BorrowedFd<'_>>;

    /// Returns the number of messages that were exchanged.
    fn exchanged(&self) -> Exchanged;

    /// Describes the first loss of a rank, if one was lost: its number, and the reason.
    fn lost(&self) -> Option<(u32, String)>;

    /// Returns the reason if no connection with a rank can be made, and no message was exchanged
    /// with it. Another fabric may carry its messages then.
    fn unreachable(&self, rank: u32) -> Option<String> {
        let _ = rank;
        None
    }
}
