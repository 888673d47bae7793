//! Opens connections: attempts, handshakes, and their timers.
//!
//! Two ranks may connect with each other at the same time. The connection that the lower rank began
//! is kept. The lower rank declines the connection of the higher rank. The higher rank gives up its
//! own attempt when the lower rank's connection is complete, and tries again otherwise.

use super::{Asked, FIRST, LISTENER, Owner, TcpFabric};
use crate::handshake::Ends;
use crate::info;
use crate::limits::{
    CALLERS_MAX, CLOSED_MAX, HANDSHAKE_NS, OPEN_NS, PAUSE_NS, RETRY_NS, WELCOME_NS,
};
use crate::pending::{HandshakeState, PendingConnection, PendingError};
use rustix::io::Errno;
use std::os::fd::AsFd;

impl TcpFabric {
    /// Begins to connect with `rank`, unless this is under way or the rank is unreachable. After
    /// the loss of any rank no connection is begun, because a new connection with the lost rank
    /// would lack messages.
    pub(super) fn ask(&mut self, rank: u32) {
        if self.lost.is_some() || self.asked.contains_key(&rank) || self.is_unreachable(rank) {
            return;
        }
        let now_ns = (self.clock)();
        let failure = String::new();
        let asked = Asked { token: None, since_ns: now_ns, next_ns: 0, closed: 0, failure };
        self.asked.insert(rank, asked);
        self.attempt(rank, now_ns);
    }

    fn is_unreachable(&self, rank: u32) -> bool {
        self.unreachable.contains_key(&rank)
    }

    fn attempt(&mut self, rank: u32, now_ns: u64) {
        // The rank may take its own connection for open already, and would decline this one.
        let is_greeted = self.owners.iter().any(|(_, owner)| {
            matches!(owner, Owner::PendingConnection(caller) if caller.greeted_by() == Some(rank))
        });
        if is_greeted && let Some(asked) = self.asked.get_mut(&rank) {
            asked.next_ns = now_ns + RETRY_NS;
            return;
        }
        let ends = Ends { from: self.own, to: rank };
        let address = self.addresses[rank as usize];
        let begun = PendingConnection::connect(address, ends, &self.conditions, now_ns);
        match begun.and_then(|caller| self.add(caller)) {
            Ok(token) => {
                if let Some(asked) = self.asked.get_mut(&rank) {
                    asked.token = Some(token);
                }
            }
            Err(failed) => self.fail(rank, failed, now_ns),
        }
    }

    /// Adds a pending connection, and returns its token.
    ///
    /// # Errors
    /// The system can't watch one more socket.
    fn add(&mut self, caller: PendingConnection) -> Result<usize, PendingError> {
        let token = FIRST + self.owners.vacant_key();
        self.poller.add(caller.as_fd(), token, caller.connects())?;
        self.callers += usize::from(caller.is_accepted());
        self.owners.insert(Owner::PendingConnection(Box::new(caller)));
        Ok(token)
    }

    /// Notes that an attempt to connect with `rank` failed. Further attempts follow until the rank
    /// counts as unreachable.
    fn fail(&mut self, rank: u32, failed: PendingError, now_ns: u64) {
        let (address, silence_ns) = (self.addresses[rank as usize], self.silence_ns());
        let Some(asked) = self.asked.get_mut(&rank) else { return };
        asked.token = None;
        asked.failure = format!("no connection with {address}: {failed}");
        asked.next_ns = now_ns + RETRY_NS;
        if now_ns >= asked.since_ns + silence_ns {
            let why = std::mem::take(&mut asked.failure);
            self.asked.remove(&rank);
            self.unreachable.insert(rank, why);
        }
    }

    /// Accepts connections. If there are too many pending connections, the oldest one without the
    /// key is closed.
    fn accept(&mut self, now_ns: u64) {
        // Further connections are accepted with the next poll.
        for _ in 0..CALLERS_MAX {
            match PendingConnection::accept(&self.listener, &self.conditions, now_ns) {
                Ok(Some(caller)) => {
                    self.make_room();
                    if let Ok(token) = self.add(caller) {
                        // The hello has often arrived already.
                        self.shake(token, now_ns);
                    }
                }
                Ok(None) => break,
                // The connection waits, and the listener would be ready all the time.
                Err(_) => {
                    let _ = self.poller.mute(self.listener.as_fd(), LISTENER);
                    self.accept_ns = Some(now_ns + PAUSE_NS);
                    return;
                }
            }
        }
        if self.accept_ns.take().is_some() {
            let _ = self.poller.set(self.listener.as_fd(), LISTENER, false);
        }
    }

    /// Returns the accepted connections that have not proved the key, with their tokens. Most of
    /// the time there are none. Then this does not look at all connections, which would cost more
    /// the more there are.
    pub(crate) fn callers(&self) -> impl Iterator<Item = (usize, &PendingConnection)> {
        let owners = (self.callers > 0).then(|| self.owners.iter()).into_iter().flatten();
        owners.filter_map(|(index, owner)| match owner {
            Owner::PendingConnection(caller) if caller.is_accepted() => {
                Some((FIRST + index, &**caller))
            }
            _ => None,
        })
    }

    /// Makes room for one more accepted connection: drops the oldest one that has not shown the
    /// key, if there are too many of these. A rank that has sent a hello with the key may take its
    /// connection for open already. If the connection were dropped, that rank would report a loss.
    /// At most one such connection per rank is honest. If there are [`CALLERS_MAX`] more than
    /// ranks, the oldest is dropped. A connection that has only knocked goes first.
    fn make_room(&mut self) {
        if self.callers < CALLERS_MAX {
            return;
        }
        let oldest = |most: usize, is_one: fn(&PendingConnection) -> bool| {
            let these = self.callers().filter(|(_, one)| is_one(one));
            let these: Vec<_> = these.map(|(token, one)| (one.since_ns(), token)).collect();
            these.iter().min().copied().filter(|_| these.len() >= most)
        };
        let known_max = self.connections.len() + CALLERS_MAX;
        let dropped = oldest(CALLERS_MAX, |one| !one.has_shown_key())
            .or_else(|| oldest(known_max, |one| one.has_shown_key() && !one.is_greeted()))
            .or_else(|| oldest(known_max, PendingConnection::is_greeted));
        if let Some((_, token)) = dropped {
            self.drop_pending(token);
        }
    }

    /// Returns the time at which an accepted connection must have proved the key. A connection
    /// whose peer has sent a hello with the key has more time, because that rank may compute before
    /// it reads the answer.
    fn deadline_ns(caller: &PendingConnection) -> u64 {
        caller.since_ns() + if caller.is_greeted() { WELCOME_NS } else { HANDSHAKE_NS }
    }

    /// Drops a pending connection, unless its handshake is complete.
    fn drop_pending(&mut self, token: usize) {
        let index = token - FIRST;
        if matches!(self.owners.get(index), Some(Owner::PendingConnection(_)))
            && let Owner::PendingConnection(caller) = self.owners.remove(index)
        {
            self.callers -= usize::from(caller.is_accepted());
        }
    }

    /// Continues the handshake of a pending connection as far as possible.
    fn shake(&mut self, token: usize, now_ns: u64) {
        loop {
            let Some(Owner::PendingConnection(caller)) = self.owners.get_mut(token - FIRST) else {
                return;
            };
            let connects = caller.connects();
            match caller.go_on(&self.key) {
                Ok(HandshakeState::GoesOn) => {
                    if connects != caller.connects() {
                        let _ = self.poller.set(caller.as_fd(), token, false);
                    }
                    return;
                }
                Ok(HandshakeState::Greeted(ends)) => {
                    if !self.is_welcome(ends) {
                        return self.drop_pending(token);
                    }
                    let Some(Owner::PendingConnection(caller)) = self.owners.get_mut(token - FIRST)
                    else {
                        return;
                    };
                    if caller.welcome(&self.key).is_err() {
                        return self.drop_pending(token);
                    }
                }
                Ok(HandshakeState::Done(ends)) => {
                    let is_accepted = caller.is_accepted();
                    let rank = if is_accepted { ends.from } else { ends.to };
                    self.callers -= usize::from(is_accepted);
                    if self.connections[rank as usize].is_some() {
                        self.owners.remove(token - FIRST);
                        return;
                    }
                    if is_accepted && let Some(asked) = self.asked.remove(&rank) {
                        asked.token.into_iter().for_each(|token| self.drop_pending(token));
                    }
                    return self.connect_open(rank, token);
                }
                Err(failed) => {
                    let wanted = caller.wanted();
                    let was_open = !connects && caller.since_ns() + OPEN_NS <= now_ns;
                    self.drop_pending(token);
                    if let Some(rank) = wanted {
                        if was_open
                            && !failed.is_silence()
                            && let Some(asked) = self.asked.get_mut(&rank)
                            && asked.closed < CLOSED_MAX
                        {
                            asked.closed += 1;
                            asked.since_ns = now_ns;
                        }
                        self.fail(rank, failed, now_ns);
                    }
                    return;
                }
            }
        }
    }

    /// Returns true if the rank that sent a hello with the key may connect.
    fn is_welcome(&self, Ends { from, to }: Ends) -> bool {
        let is_other = from != self.own && (from as usize) < self.connections.len();
        let is_first = |asked: &Asked| asked.token.is_some() && self.own < from;
        to == self.own
            && is_other
            && self.lost.is_none()
            && self.connections[from as usize].is_none()
            && !self.asked.get(&from).is_some_and(is_first)
    }

    /// Asks the kernel which sockets are ready. Accepts connections, continues handshakes, and
    /// sends bytes that wait. Notes the connections that can be read.
    pub(super) fn look(&mut self) {
        self.reads = 0;
        let mut events = [None; crate::limits::EVENTS_MAX];
        let mut count = 0;
        self.poller.poll(|ready| {
            events[count] = Some(ready);
            count += 1;
        });
        let mut now_ns = None;
        for ready in events.into_iter().take(count).flatten() {
            let owner = ready.token.checked_sub(FIRST).map(|index| self.owners.get(index));
            match owner {
                None => {
                    debug_assert_eq!(ready.token, LISTENER);
                    let now_ns = *now_ns.get_or_insert_with(|| (self.clock)());
                    self.accept(now_ns);
                }
                Some(Some(&Owner::Rank(rank))) => {
                    if ready.is_writable {
                        self.flush(rank);
                    }
                    if ready.is_readable {
                        self.note_ready(rank);
                    }
                }
                Some(Some(Owner::PendingConnection(_))) => {
                    let now_ns = *now_ns.get_or_insert_with(|| (self.clock)());
                    self.shake(ready.token, now_ns);
                }
                // An earlier event of this round closed the connection.
                Some(None) => {}
            }
        }
    }

    /// Returns the time of the next timer in nanoseconds; `None` if no timer runs.
    pub(super) fn timer_ns(&self) -> Option<u64> {
        let asked = self.asked.values().map(|asked| match asked.token {
            Some(token) => self.attempt_ends_ns(token),
            None => asked.next_ns,
        });
        let callers = self.callers().map(|(_, caller)| Self::deadline_ns(caller));
        asked.chain(callers).chain(self.look_ns()).chain(self.accept_ns).min()
    }

    /// Returns the time at which an attempt to connect is given up. The system connects within a
    /// short time, but a rank may answer late.
    fn attempt_ends_ns(&self, token: usize) -> u64 {
        match self.owners.get(token - FIRST) {
            Some(Owner::PendingConnection(caller)) if caller.connects() => {
                caller.since_ns() + self.silence_ns()
            }
            Some(Owner::PendingConnection(caller)) => caller.since_ns() + WELCOME_NS,
            _ => 0,
        }
    }

    /// Handles the timers that are due.
    pub(super) fn tend(&mut self) {
        let look_ns = self.look_ns();
        let (accept_ns, are_none) = (self.accept_ns, self.asked.is_empty() && self.callers == 0);
        if are_none && look_ns.is_none() && accept_ns.is_none() {
            return;
        }
        let now_ns = (self.clock)();
        if accept_ns.is_some_and(|accept_ns| accept_ns <= now_ns) {
            self.accept(now_ns);
        }
        if look_ns.is_some_and(|look_ns| look_ns <= now_ns) {
            self.look_for_silence(now_ns);
        }
        let silent = self.callers().filter(|(_, one)| Self::deadline_ns(one) <= now_ns);
        for token in silent.map(|(token, _)| token).collect::<Vec<_>>() {
            // This rank may have been busy, and the answer may be there.
            self.shake(token, now_ns);
            if let Some(Owner::PendingConnection(caller)) = self.owners.get(token - FIRST)
                && Self::deadline_ns(caller) <= now_ns
            {
                self.drop_pending(token);
            }
        }
        let due: Vec<(u32, Option<usize>)> = (self.asked.iter())
            .filter(|(_, asked)| match asked.token {
                Some(token) => self.attempt_ends_ns(token) <= now_ns,
                None => asked.next_ns <= now_ns,
            })
            .map(|(&rank, asked)| (rank, asked.token))
            .collect();
        for (rank, token) in due {
            match token {
                None => self.attempt(rank, now_ns),
                Some(token) => {
                    // This rank may have had no processor, and the answer may be there.
                    let is_open = |one: &PendingConnection| {
                        !one.connects() || info::read(one.as_fd()).is_some_and(|info| info.is_open)
                    };
                    if let Some(Owner::PendingConnection(one)) = self.owners.get(token - FIRST)
                        && is_open(one)
                    {
                        self.shake(token, now_ns);
                    }
                    let is_tried = |asked: &Asked| asked.token == Some(token);
                    if !self.asked.get(&rank).is_some_and(is_tried)
                        || self.attempt_ends_ns(token) > now_ns
                    {
                        continue;
                    }
                    let failed = match self.owners.get(token - FIRST) {
                        Some(Owner::PendingConnection(one)) if one.connects() => {
                            Errno::TIMEDOUT.into()
                        }
                        _ => PendingError::Unanswered,
                    };
                    self.drop_pending(token);
                    self.fail(rank, failed, now_ns);
                }
            }
        }
    }
}
