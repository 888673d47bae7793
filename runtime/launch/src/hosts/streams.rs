//! Opens streams to other launchers on the Ethernet, and carries messages over them.

use super::message::{Decoder, LauncherMessage, LinkEvent};
use goal_esp::auth::Address;
use goal_esp::endpoint::{ConnectionId, Endpoint, Event as StreamEvent, Loss};
use goal_esp::limits::PAYLOAD_MIN;
use goal_esp::wire::Mac;
use std::collections::{BTreeMap, VecDeque};

/// The number of bytes waiting on a stream from which on [`Streams::has_room`] is false.
const WAITING_MAX: usize = 1 << 20;

/// The stream to another launcher.
struct Stream {
    id: ConnectionId,
    /// The packets to send. The flag is true for the last packet of a message.
    waiting: VecDeque<(Vec<u8>, bool)>,
    waiting_bytes: usize,
    decoder: Decoder,
    is_readable: bool,
    /// True once the other launcher has sent its last message.
    has_finished: bool,
}

impl Stream {
    fn new(id: ConnectionId) -> Self {
        Self {
            id,
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            decoder: Decoder::default(),
            is_readable: false,
            has_finished: false,
        }
    }
}

/// The streams to all other launchers.
pub(super) struct Streams {
    /// The port of ESP at which all launchers are reached.
    port: u16,
    endpoint: Endpoint,
    by_host: BTreeMap<Mac, Stream>,
    by_id: BTreeMap<ConnectionId, Mac>,
    events: VecDeque<LinkEvent>,
}

impl Streams {
    pub(super) fn new(port: u16, endpoint: Endpoint) -> Self {
        let (by_host, by_id) = (BTreeMap::new(), BTreeMap::new());
        Self { port, endpoint, by_host, by_id, events: VecDeque::new() }
    }

    /// Opens a stream to the launcher of `host`. The event [`LinkEvent::Connected`] or
    /// [`LinkEvent::Lost`] follows.
    pub(super) fn connect(&mut self, now_ns: u64, host: Mac) {
        if let Some(id) = self.endpoint.connect(now_ns, Address { mac: host, port: self.port }) {
            self.by_id.insert(id, host);
        }
    }

    /// See [`Link::send`](super::Link::send).
    pub(super) fn send(&mut self, host: Mac, message: &LauncherMessage, bytes: &[u8], fills: bool) {
        let Some(stream) = self.by_host.get_mut(&host) else { return };
        let all = message.encode(bytes);
        let longest = self.endpoint.payload_max(stream.id).max(1);
        let payload_max = if fills { longest } else { longest.min(PAYLOAD_MIN) };
        let packets = all.chunks(payload_max).map(|packet| (packet.to_vec(), false));
        stream.waiting.extend(packets);
        stream.waiting_bytes += all.len();
        if let Some((_, is_end)) = stream.waiting.back_mut() {
            *is_end = true;
        }
        self.flush();
    }

    /// Returns true if few bytes wait to be sent, so that the caller may send more.
    pub(super) fn has_room(&self) -> bool {
        self.by_host.values().all(|stream| stream.waiting_bytes < WAITING_MAX)
    }

    /// Closes the streams whose packets the endpoint has all taken. Other streams stay open until a
    /// later call.
    pub(super) fn close(&mut self, now_ns: u64) {
        self.flush();
        for stream in self.by_host.values() {
            if stream.waiting.is_empty() {
                self.endpoint.close(now_ns, stream.id);
            }
        }
    }

    /// Returns true if no stream is left. After [`Streams::close`] this means that all messages
    /// have arrived, in both directions.
    pub(super) fn is_closed(&self) -> bool {
        self.by_host.is_empty()
    }

    /// Returns true if all other launchers have sent their last messages.
    pub(super) fn have_all_finished(&self) -> bool {
        self.by_host.values().all(|stream| stream.has_finished)
    }

    /// Handles a received frame.
    pub(super) fn handle_frame(&mut self, now_ns: u64, frame: &[u8]) {
        self.endpoint.handle_frame(now_ns, frame);
        self.look(now_ns);
    }

    /// Handles all timers that are due.
    pub(super) fn handle_timeout(&mut self, now_ns: u64) {
        self.endpoint.handle_timeout(now_ns);
        self.look(now_ns);
    }

    /// Returns the time at which [`Streams::handle_timeout`] must be called.
    pub(super) fn poll_timeout(&self) -> Option<u64> {
        self.endpoint.poll_timeout()
    }

    /// Writes the next frame to `out` and returns its length. Returns `None` if there is no frame
    /// to send.
    pub(super) fn poll_transmit(&mut self, now_ns: u64, out: &mut [u8]) -> Option<usize> {
        self.endpoint.poll_transmit(now_ns, out)
    }

    /// Returns the next event. Only this function reads streams, so a slow caller slows down
    /// senders.
    pub(super) fn poll_event(&mut self, now_ns: u64) -> Option<LinkEvent> {
        if let Some(event) = self.events.pop_front() {
            return Some(event);
        }
        let readable = self.by_host.iter().filter(|(_, stream)| stream.is_readable);
        let hosts: Vec<Mac> = readable.map(|(&host, _)| host).collect();
        hosts.into_iter().find_map(|host| self.read(now_ns, host))
    }

    fn look(&mut self, now_ns: u64) {
        while let Some(event) = self.endpoint.poll_event() {
            match event {
                StreamEvent::Connected { id, peer } => {
                    if peer.port != self.port {
                        self.endpoint.reset(now_ns, id);
                        continue;
                    }
                    self.by_id.insert(id, peer.mac);
                    self.by_host.insert(peer.mac, Stream::new(id));
                    self.events.push_back(LinkEvent::Connected(peer.mac.into()));
                }
                StreamEvent::Readable(id) => {
                    if let Some(stream) =
                        self.by_id.get(&id).and_then(|host| self.by_host.get_mut(host))
                    {
                        stream.is_readable = true;
                    }
                }
                StreamEvent::Finished(id) => {
                    // Events of messages that can still be read come before
                    // [`LinkEvent::Finished`].
                    let Some(&host) = self.by_id.get(&id) else { continue };
                    while let Some(event) = self.read(now_ns, host) {
                        self.events.push_back(event);
                    }
                    self.events.push_back(LinkEvent::Finished(host.into()));
                    if let Some(stream) = self.by_host.get_mut(&host) {
                        stream.has_finished = true;
                    }
                }
                StreamEvent::Closed(id) => {
                    if let Some(host) = self.by_id.remove(&id) {
                        self.by_host.remove(&host);
                    }
                }
                StreamEvent::Lost { id, cause } => {
                    if let Some(host) = self.by_id.remove(&id) {
                        self.by_host.remove(&host);
                        self.events.push_back(LinkEvent::Lost(host.into(), self.describe(cause)));
                    }
                }
                StreamEvent::Writable(_) => {}
            }
        }
        self.flush();
    }

    fn describe(&self, cause: Loss) -> String {
        match cause {
            Loss::Dead => {
                let dead_ns = self.endpoint.config().timing.dead_ns;
                format!("not heard of for {} s", dead_ns as f64 / 1e9)
            }
            _ => cause.to_string(),
        }
    }

    /// Passes waiting packets to the endpoint, as far as it has room.
    fn flush(&mut self) {
        for stream in self.by_host.values_mut() {
            while let Some((packet, is_end)) = stream.waiting.pop_front() {
                let len = packet.len();
                if let Err(full) = self.endpoint.push(stream.id, packet, is_end) {
                    stream.waiting.push_front((full.0, is_end));
                    break;
                }
                stream.waiting_bytes -= len;
            }
        }
    }

    /// Reads the next message of the launcher of `host`.
    fn read(&mut self, now_ns: u64, host: Mac) -> Option<LinkEvent> {
        let stream = self.by_host.get_mut(&host)?;
        loop {
            match stream.decoder.next_message() {
                Ok(Some((message, bytes))) => {
                    return Some(LinkEvent::Message(host.into(), message, bytes));
                }
                Err(broken) => {
                    self.endpoint.reset(now_ns, stream.id);
                    self.by_id.remove(&stream.id);
                    self.by_host.remove(&host);
                    return Some(LinkEvent::Lost(host.into(), broken.to_string()));
                }
                Ok(None) => match self.endpoint.read(now_ns, stream.id) {
                    Some(packet) => stream.decoder.push(&packet),
                    None => {
                        stream.is_readable = false;
                        return None;
                    }
                },
            }
        }
    }
}
