//! Sends and answers echoes of EDP, which measure the round-trip time of a frame.

use goal_esp::auth::{Address, JobKey};
use goal_esp::datagram::{Datagrams, FRAME_LEN_MAX};
use goal_esp::wire::{Frame, Mac, Message};
use goal_eth::{Driver, LostInterface, QueueFull, now_ns};
use goal_job::Wait;
use std::time::Duration;

/// The time for which an adaptive wait polls before it sleeps, in nanoseconds.
const SPIN_NS: u64 = 50_000;
/// The most frames that are received at a time.
const FRAMES_MAX: usize = 64;
/// The length of an echo's headers.
const HEADERS_LEN: usize = Frame::<&[u8]>::HEADER_LEN + 16;

/// Waits until a frame arrives or the time is `until_ns`.
fn wait(driver: &mut impl Driver, wait: Wait, until_ns: u64) -> Result<(), LostInterface> {
    let start_ns = now_ns();
    let spin_until_ns = match wait {
        Wait::Spin => until_ns,
        Wait::Adaptive => until_ns.min(start_ns + SPIN_NS),
        Wait::Block => start_ns,
    };
    while !driver.has_frame() {
        let now_ns = now_ns();
        if now_ns >= until_ns {
            return Ok(());
        }
        if now_ns >= spin_until_ns {
            return driver.wait(Some(Duration::from_nanos(until_ns - now_ns)));
        }
        std::hint::spin_loop();
    }
    Ok(())
}

/// Returns the encoder of echoes. They are not authenticated, so the key does not matter.
fn datagrams(driver: &impl Driver, port: u16) -> Datagrams {
    Datagrams::new(Address { mac: driver.mac(), port }, &JobKey::new(&[0; 32]))
}

/// The side that sends echoes and waits for replies.
pub struct Asker<D> {
    driver: D,
    datagrams: Datagrams,
    wait: Wait,
    number: u32,
}

impl<D: Driver> Asker<D> {
    /// Returns an asker. `port` is the driver's port.
    pub fn new(driver: D, port: u16, wait: Wait) -> Self {
        let datagrams = datagrams(&driver, port);
        Self { driver, datagrams, wait, number: 0 }
    }

    /// Returns the most bytes of an echo's payload.
    pub fn payload_max(&self) -> usize {
        Frame::<&[u8]>::HEADER_LEN + self.driver.mtu() - HEADERS_LEN
    }

    /// Sends `payload` to a port of the interface `to`, or to all of its ports if `port` is 0.
    /// Waits at most `limit` for a reply with the same bytes. Returns the round-trip time in
    /// nanoseconds, or `None` if no reply came.
    ///
    /// # Errors
    /// [`LostInterface`].
    pub fn ask(
        &mut self,
        to: Mac,
        port: u16,
        payload: &[u8],
        limit: Duration,
    ) -> Result<Option<u64>, LostInterface> {
        let Self { driver, datagrams, .. } = self;
        self.number = self.number.wrapping_add(1);
        let start_ns = now_ns();
        let until_ns = start_ns.saturating_add(limit.as_nanos() as u64);
        let write = |out: &mut [u8]| {
            Some(datagrams.write(to, port, self.number, Message::Echo(payload), out))
        };
        if driver.send(write) == Err(QueueFull) {
            return Ok(None);
        }
        loop {
            driver.flush()?;
            wait(driver, self.wait, until_ns)?;
            let mut has_come = false;
            driver.receive(FRAMES_MAX, |frame| {
                let Some((from, datagram)) = datagrams.read(frame) else { return };
                let repr = datagram.repr();
                has_come |= from == to
                    && repr.number == self.number
                    && repr.message == Message::EchoReply(payload);
            });
            let end_ns = now_ns();
            if has_come {
                return Ok(Some(end_ns - start_ns));
            }
            if end_ns >= until_ns {
                return Ok(None);
            }
        }
    }
}

/// The side that replies to echoes.
pub struct Answerer<D> {
    driver: D,
    datagrams: Datagrams,
    wait: Wait,
    /// A copy of the frame that is being answered.
    question: Box<[u8]>,
    answered: u64,
}

impl<D: Driver> Answerer<D> {
    /// Returns an answerer. `port` is the driver's port.
    pub fn new(driver: D, port: u16, wait: Wait) -> Self {
        let datagrams = datagrams(&driver, port);
        Self { driver, datagrams, wait, question: vec![0; FRAME_LEN_MAX].into(), answered: 0 }
    }

    /// Returns the number of answered echoes.
    pub fn answered(&self) -> u64 {
        self.answered
    }

    /// Waits for a frame, at most `limit`, and answers it if it is an echo.
    ///
    /// # Errors
    /// [`LostInterface`].
    pub fn answer(&mut self, limit: Duration) -> Result<(), LostInterface> {
        let Self { driver, datagrams, .. } = self;
        wait(driver, self.wait, now_ns().saturating_add(limit.as_nanos() as u64))?;
        let mut len = 0;
        let copy = |frame: &[u8]| {
            len = frame.len().min(self.question.len());
            self.question[..len].copy_from_slice(&frame[..len]);
        };
        if driver.receive(1, copy) == 0 {
            return driver.flush();
        }
        if let Some((from, datagram)) = datagrams.read(&self.question[..len]) {
            // If the driver has no room, the answer is dropped, as any frame may be.
            let answer = driver.send(|out| datagrams.answer_echo(from, &datagram.repr(), out));
            self.answered += u64::from(answer == Ok(true));
        }
        driver.flush()
    }
}
