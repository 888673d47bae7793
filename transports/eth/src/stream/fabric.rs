//! The interface to ranks: progress, sleep and losses.

use super::{EspTransport, LostPeer};
use crate::{AnyDriver, Driver};
use goal_esp::endpoint::Loss;
use goal_fabric::{Exchanged, Fabric};
use std::os::fd::BorrowedFd;

/// The pause in nanoseconds before unsent frames are offered to the interface again. The interface
/// does not tell when it has room.
const LEFT_OVER_PAUSE_NS: u64 = 200_000;

impl Fabric for EspTransport<AnyDriver> {
    fn send_written(&mut self) {
        self.send_written();
    }

    fn progress(&mut self) -> bool {
        self.exchange_frames()
    }

    fn has_work(&self) -> bool {
        self.has_work()
    }

    fn has_unsent(&self) -> bool {
        self.driver.has_unsent()
    }

    fn is_receiving(&self) -> bool {
        self.is_receiving()
    }

    fn wake_ns(&self) -> Option<u64> {
        let pause_ns = self.has_unsent().then(|| (self.clock)() + LEFT_OVER_PAUSE_NS);
        pause_ns.into_iter().chain(self.wake_ns()).min()
    }

    fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        self.driver.sockets()
    }

    fn exchanged(&self) -> Exchanged {
        self.exchanged
    }

    fn lost(&self) -> Option<(u32, String)> {
        let (rank, cause) = self.lost()?;
        let fault = self.fault().map_or(String::new(), |fault| format!(" ({fault})"));
        let from = self.driver.mac();
        let way = match cause {
            LostPeer::Connection(Loss::TooLong(_)) => {
                format!(
                    " from host {from} (ip link set NAME mtu N on all hosts, or more on the switch)"
                )
            }
            _ => String::new(),
        };
        Some((rank, format!("{cause}{way}{fault}")))
    }
}
