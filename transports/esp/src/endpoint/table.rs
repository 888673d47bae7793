//! The table of an endpoint's connections: by id, by peer, by deadline, and by what they have to
//! send.

use super::connection::Connection;
use super::{ConnectionId, Endpoint};
use crate::auth::Address;

impl Endpoint {
    pub(super) fn of(&self, id: ConnectionId) -> Option<&Connection> {
        self.connections.get(id.index as usize)?.as_ref().filter(|connection| connection.id == id)
    }

    pub(super) fn of_mut(&mut self, id: ConnectionId) -> Option<&mut Connection> {
        self.connections
            .get_mut(id.index as usize)?
            .as_mut()
            .filter(|connection| connection.id == id)
    }

    /// Returns the index of the connection with a peer; creates the connection if there is none.
    pub(super) fn index_of(&mut self, now_ns: u64, peer: Address) -> Option<u32> {
        if let Some(&index) = self.by_peer.get(&peer) {
            return Some(index);
        }
        if self.by_peer.len() >= self.shared.config.peers_max {
            return None;
        }
        let index = self.free.pop().unwrap_or_else(|| {
            self.connections.push(None);
            self.generations.push(0);
            self.connections.len() as u32 - 1
        });
        let id = ConnectionId { index, generation: self.generations[index as usize] };
        self.connections[index as usize] =
            Some(Connection::new(now_ns, id, peer, &mut self.shared));
        self.by_peer.insert(peer, index);
        Some(index)
    }

    /// Reports the events that follow from a change of a connection, and removes the connection if
    /// it is over. [`Endpoint::transmit`] registers its deadline later, when there is no more frame
    /// to send.
    pub(super) fn update(&mut self, now_ns: u64, index: u32) {
        let connection = self.connections[index as usize].as_mut().expect("it is there");
        if !connection.update(now_ns, &mut self.shared) {
            self.remove(index);
            return;
        }
        let controls = connection.is_in_control();
        if controls != connection.is_counted {
            connection.is_counted = controls;
            self.controlling = if controls { self.controlling + 1 } else { self.controlling - 1 };
        }
        self.mark_touched(index);
    }

    /// Notes that a connection may have a frame to send or an earlier deadline.
    #[inline]
    pub(super) fn mark_touched(&mut self, index: u32) {
        let connection = self.connections[index as usize].as_mut().expect("it is there");
        if !std::mem::replace(&mut connection.is_touched, true) {
            self.touched.push_back(index);
        }
    }

    /// Registers the deadline of a connection. An earlier one stays registered, because an early
    /// call of [`Endpoint::handle_timeout`] does no harm.
    pub(super) fn register_deadline(&mut self, now_ns: u64, index: u32) {
        let connection = self.connections[index as usize].as_mut().expect("it is there");
        connection.is_touched = false;
        connection.set_clock(now_ns, &self.shared.config.timing, self.shared.lag.ns());
        let deadline_ns = connection.deadline_ns(&self.shared);
        if connection.registered_ns.is_none_or(|registered_ns| deadline_ns < registered_ns) {
            if let Some(registered_ns) = connection.registered_ns.replace(deadline_ns) {
                self.deadlines.remove(&(registered_ns, index));
            }
            self.deadlines.insert((deadline_ns, index));
        }
    }

    fn remove(&mut self, index: u32) {
        let connection = self.connections[index as usize].take().expect("it is there");
        self.by_peer.remove(&connection.peer);
        if let Some(registered_ns) = connection.registered_ns {
            self.deadlines.remove(&(registered_ns, index));
        }
        self.controlling -= u32::from(connection.is_counted);
        self.generations[index as usize] = connection.id.generation.wrapping_add(1);
        self.free.push(index);
    }
}
