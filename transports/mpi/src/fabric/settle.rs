//! The end of a fabric: every packet that was sent is received, so that MPI can be finalized.

use super::MpiFabric;
use crate::error::MpiError;
use crate::limits::SETTLE_NS;
use crate::transfer::Totals;

impl MpiFabric {
    /// Waits until this rank has received all packets that others sent it, and they have received
    /// its own. Returns false if a rank or MPI has failed, or if [`SETTLE_NS`] have passed because
    /// a rank has ended early.
    ///
    /// # Errors
    /// [`MpiError`].
    fn settle(&mut self) -> Result<bool, MpiError> {
        let since_ns = (self.clock)();
        let is_late = |fabric: &Self| (fabric.clock)() >= since_ns + SETTLE_NS;
        while !self.written.is_empty() {
            self.flush_written();
            self.discard();
            if self.lost.is_some() || is_late(self) {
                return Ok(false);
            }
        }
        let mut totals = Totals::tell(&self.comm, self.packets_sent.clone())?;
        let mut sent = None;
        loop {
            self.discard();
            if sent.is_none() {
                sent = totals.test()?;
            }
            for peer in self.peers.iter_mut().flatten() {
                peer.reap(&mut self.spare)?;
            }
            let is_sent = self.peers.iter().flatten().all(|peer| peer.under_way.is_empty());
            if is_sent && sent.as_ref().is_some_and(|sent| *sent == self.packets_taken) {
                break;
            }
            if self.lost.is_some() || is_late(self) {
                return Ok(false);
            }
            std::thread::yield_now();
        }
        // The receives of this fabric must be gone before a rank sends to the next one.
        self.receives.clear();
        let mut all = Totals::tell(&self.comm, vec![0; self.packets_sent.len()])?;
        while all.test()?.is_none() {
            if is_late(self) {
                return Ok(false);
            }
            std::thread::yield_now();
        }
        Ok(true)
    }

    /// Receives packets without reading them: the job is over.
    fn discard(&mut self) {
        while let Some(reading) = self.reading.take() {
            self.post(reading.buffer);
        }
        while self.arrive() {
            let reading = self.reading.take().expect("a packet has arrived");
            self.post(reading.buffer);
        }
    }
}

impl Drop for MpiFabric {
    fn drop(&mut self) {
        let is_settled = self.lost.is_none() && matches!(self.settle(), Ok(true));
        // The receives that are left are cancelled as they are dropped, in bounded time.
        self.comm.end_fabric(is_settled);
    }
}
