//! The interface between a rank and a transport to ranks on other hosts.

use goal_engine::memory::copy;
use goal_engine::transport::{Full, Header, Sink};
use std::ops::ControlFlow;
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
/// The messages are those of [`Transport`](goal_engine::transport::Transport), and the methods that
/// both have mean the same. A fabric can also make progress without an engine, while its rank
/// computes or sleeps. No method waits.
pub trait Fabric: Send {
    /// The most bytes of payload in one message to any rank, without any setup; at least 8, and at
    /// least 64 in a job of `goal-run`.
    fn short_max(&self) -> usize;

    /// The most bytes of payload in one message to rank `to`.
    fn payload_max(&mut self, to: u32) -> usize;

    /// The most bytes of the next part of a longer message to rank `to`.
    fn part_max(&mut self, to: u32) -> usize {
        self.payload_max(to)
    }

    /// The most bytes of such a part if its payload lies in one piece, for
    /// [`Fabric::try_send_zcopy`]; at least [`Fabric::part_max`].
    fn zcopy_max(&mut self, to: u32) -> usize {
        self.part_max(to)
    }

    /// Sends `header` and [`Header::payload_len`] bytes of payload to rank `to`. Calls `fill` at
    /// most once, with the place for the payload.
    ///
    /// # Errors
    /// [`Full`] if there is no room. The call then has no effect, and `fill` is not called.
    fn try_send(
        &mut self,
        to: u32,
        header: &Header,
        fill: &mut dyn FnMut(&mut [u8]),
    ) -> Result<(), Full>;

    /// Sends a message as [`Fabric::try_send`] does, whose payload lies in one piece. The payload
    /// may change as soon as the call has returned.
    ///
    /// # Errors
    /// As [`Fabric::try_send`].
    fn try_send_zcopy(&mut self, to: u32, header: &Header, payload: &[u8]) -> Result<(), Full> {
        self.try_send(to, header, &mut |out| copy(out, payload))
    }

    /// Passes at most `messages_max` messages that have arrived to `sink`, in order for each
    /// sender, as [`Transport::poll`](goal_engine::transport::Transport::poll) does. Returns their
    /// number.
    fn poll(
        &mut self,
        messages_max: usize,
        sink: &mut dyn FnMut(&Header, &[u8]) -> ControlFlow<()>,
    ) -> usize;

    /// Does what [`Fabric::poll`] does. A fabric may receive the payload of a part where it
    /// belongs, as [`Transport::poll_into`](goal_engine::transport::Transport::poll_into) says.
    fn poll_into(&mut self, messages_max: usize, sink: &mut dyn Sink) -> usize {
        self.poll(messages_max, &mut |header, payload| sink.take(header, payload))
    }

    /// Announces that this rank has room for `bytes` bytes of messages without a receive. If a rank
    /// has several fabrics, each is told its part of the room.
    fn announce_room(&mut self, bytes: u64, most: u64);

    /// The bytes of messages without a receive that may be sent to rank `to` now.
    fn room(&self, to: u32) -> u64;

    /// The largest message to rank `to` that is sent before its receive is posted although it is
    /// longer than the eager limit.
    fn pushed_max(&self, to: u32) -> u64 {
        let _ = to;
        0
    }

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
