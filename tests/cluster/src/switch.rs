//! Runs a switch as a program. It is the network of `goal-esp`'s simulation, but in real time and
//! between real interfaces.

use crate::namespace::Namespace;
use crate::wiring::{Wiring, port_name};
use crate::{Faults, sys};
use goal_esp::sim::{Links, Network, Random};
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::net::{RecvFlags, SendFlags, recv, send};
use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Instant;

/// Wires without delay, and queues long enough to lose no frames.
const LINKS: Links = Links { byte_ps: 0, latency_ns: 0, queue_frames_max: 1 << 16 };
/// The most frames that are taken from a host before the next host has its turn.
const FRAMES_MAX: usize = 64;

/// Requests of other threads to the forwarding thread.
#[derive(Default)]
struct Orders {
    faults: Option<Faults>,
    ends: bool,
}

/// The handle of the thread that forwards frames. Dropping it ends the thread.
pub(crate) struct Forwarder {
    orders: Arc<Mutex<Orders>>,
    bell: Arc<OwnedFd>,
    thread: Option<JoinHandle<()>>,
}

impl Forwarder {
    /// Starts the thread, which forwards frames between the ports in a namespace.
    pub(crate) fn start(
        switch: &Namespace,
        wiring: &Wiring,
        faults: Faults,
        seed: u64,
    ) -> io::Result<Self> {
        let open = || (0..wiring.hosts).map(|host| sys::open(&port_name(host))).collect();
        let sockets: io::Result<Vec<OwnedFd>> = switch.call(open)?;
        let ports = Ports {
            sockets: sockets?,
            network: Network::new(wiring.hosts, LINKS, faults, Random::new(seed)),
            start: Instant::now(),
            frame: vec![0; wiring.mtu + 64],
        };
        let bell = Arc::new(eventfd(0, EventfdFlags::CLOEXEC)?);
        let orders = Arc::<Mutex<Orders>>::default();
        let (its_bell, its_orders) = (Arc::clone(&bell), Arc::clone(&orders));
        let thread = std::thread::spawn(move || ports.forward(&its_bell, &its_orders));
        Ok(Self { orders, bell, thread: Some(thread) })
    }

    pub(crate) fn set_faults(&self, faults: Faults) {
        self.order(|orders| orders.faults = Some(faults));
    }

    fn order(&self, order: impl FnOnce(&mut Orders)) {
        order(&mut self.orders.lock().expect("no holder of the lock panics"));
        rustix::io::write(&*self.bell, &1_u64.to_ne_bytes()).expect("a counter takes one more");
    }
}

impl Drop for Forwarder {
    fn drop(&mut self) {
        self.order(|orders| orders.ends = true);
        if let Some(thread) = self.thread.take() {
            // The message of a panic was printed already.
            let _ = thread.join();
        }
    }
}

struct Ports {
    /// The sockets of the ports, by the numbers of hosts.
    sockets: Vec<OwnedFd>,
    network: Network,
    start: Instant,
    frame: Vec<u8>,
}

impl Ports {
    fn forward(mut self, bell: &OwnedFd, orders: &Mutex<Orders>) {
        loop {
            if self.wait(bell) {
                let mut orders = orders.lock().expect("no holder of the lock panics");
                if orders.ends {
                    return;
                }
                if let Some(faults) = orders.faults.take() {
                    self.network.set_faults(faults);
                }
            }
            for host in 0..self.sockets.len() {
                self.take_frames(host);
            }
            self.deliver();
        }
    }

    fn now_ns(&self) -> u64 {
        self.start.elapsed().as_nanos() as u64
    }

    /// Sleeps until a frame arrives, a step of the network is due, or another thread has a request.
    /// Returns true if there is a request.
    fn wait(&self, bell: &OwnedFd) -> bool {
        let mut fds = vec![PollFd::new(bell, PollFlags::IN)];
        fds.extend(self.sockets.iter().map(|socket| PollFd::new(socket, PollFlags::IN)));
        let limit = self.network.next_ns().map(|next_ns| {
            let left_ns = next_ns.saturating_sub(self.now_ns());
            Timespec {
                tv_sec: (left_ns / 1_000_000_000) as i64,
                tv_nsec: (left_ns % 1_000_000_000) as i64,
            }
        });
        let has_order = poll(&mut fds, limit.as_ref()).is_ok() && !fds[0].revents().is_empty();
        if has_order {
            let mut count = [0; 8];
            rustix::io::read(bell, &mut count).expect("it rang");
        }
        has_order
    }

    /// Takes up to [`FRAMES_MAX`] frames from a host into the network.
    fn take_frames(&mut self, host: usize) {
        for _ in 0..FRAMES_MAX {
            // An error means that no frame has arrived, or that the port is down.
            let Ok((len, _)) = recv(&self.sockets[host], &mut *self.frame, RecvFlags::empty())
            else {
                return;
            };
            let now_ns = self.now_ns();
            self.network.send(now_ns, host, &self.frame[..len]);
        }
    }

    /// Does the steps of the network that are due, and sends the frames that come out to their
    /// hosts.
    fn deliver(&mut self) {
        let now_ns = self.now_ns();
        while self.network.next_ns().is_some_and(|next_ns| next_ns <= now_ns) {
            if let Some((host, frame)) = self.network.advance() {
                // The frame is lost if its host has no room or is down.
                let _ = send(&self.sockets[host], &frame, SendFlags::empty());
            }
        }
    }
}
