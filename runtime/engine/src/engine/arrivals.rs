//! Handles incoming messages: matches them with receives, and keeps unexpected ones until their
//! receive is posted.

use super::channel::{Channels, Posted};
use super::code::Code;
use super::communicator::{Communicator, Target};
use super::ids::{Action, ActionRef, ChannelId, InstanceKey, MessageKey, Rank};
use super::incoming::{Incoming, PayloadPlace};
use super::instance::{Instance, Matched};
use super::requests::Requests;
use crate::heap::{Heap, Pool, Queue, Table, flat};
use crate::matching::Matching;
use crate::transport::{Header, Kind};
use goal_lang::limits::KEPT_OVERHEAD;

/// The instance that was started last. Most often the next message is for it.
#[derive(Debug, Clone, Copy)]
struct Recent {
    communicator: u64,
    number: u32,
    /// The key of the instance; [`InstanceKey::NONE`] if there is no such instance.
    key: InstanceKey,
}

impl Default for Recent {
    fn default() -> Self {
        Self { communicator: 0, number: 0, key: InstanceKey::NONE }
    }
}

/// All incoming messages that are not delivered, and all posted receives.
#[derive(Debug, Default)]
pub(super) struct Arrivals {
    recent: Recent,
    /// Messages whose receive is posted and whose payload is with their sender.
    pub(super) direct: Queue<MessageKey>,
    pub(super) messages: Pool<Incoming>,
    posted: Pool<Posted>,
    /// The number of posted receives that no message has matched, and its maximum.
    pub(super) receives: u32,
    receives_max: u32,
    matching: Matching<ActionRef, MessageKey>,
    communicators: Table<u64, Communicator>,
    /// By source, the message whose parts come next. It is incomplete, so it stays in `messages`
    /// until the last part has arrived.
    pub(super) long: Table<Rank, MessageKey>,
    /// Requests that wait for a receive, by source, if their number is bounded.
    pub(super) requests: Table<Rank, Requests>,
    /// Bytes of messages that are kept here, with an overhead for each message.
    kept: u64,
}

flat!(struct Recent { communicator, number, key });
flat!(struct Arrivals { recent, direct, messages, posted, receives, receives_max, matching, communicators, long, requests, kept });

impl Arrivals {
    /// Opens an instance that starts: gives it its number, and queues the messages that arrived
    /// early for it.
    #[inline]
    pub(super) fn open(
        &mut self,
        heap: &Heap,
        communicator: u64,
        key: InstanceKey,
        code: &Code,
        instance: &mut Instance,
    ) {
        let of = self.communicators.entry(heap, communicator);
        let number = of.open(heap, key);
        (instance.communicator, instance.number) = (communicator, number);
        instance.is_open = true;
        if let Matched::Space(space) = &mut instance.matched {
            *space = self.matching.add_space(heap);
            self.matching.open_space(
                heap,
                *space,
                code.whole().is_none_or(|schedule| schedule.routes().has_wildcards()),
            );
        }
        self.recent = Recent { communicator, number, key };
        if !of.early.is_empty() {
            self.queue_early(heap, code, instance);
        }
    }

    /// Gives an ended instance the number of its next run. This is possible only if it is the only
    /// instance of its communicator and has no matching space. No message may wait for it or for a
    /// later instance. Otherwise returns false, with no effect.
    #[inline]
    pub(super) fn advance(
        &mut self,
        heap: &Heap,
        key: InstanceKey,
        instance: &mut Instance,
    ) -> bool {
        let Instance { communicator, number, .. } = *instance;
        let of = self.communicators.entry(heap, communicator);
        let is_plain = matches!(&instance.matched, Matched::Channels(of) if of.is_empty());
        if !(is_plain && instance.is_open && of.early.is_empty() && of.advance(number)) {
            return false;
        }
        instance.number = number.wrapping_add(1);
        self.recent = Recent { communicator, number: instance.number, key };
        true
    }

    /// Removes the ended instances of a communicator, from its first instance up to the first one
    /// that has not ended. So the list of instances does not grow by ended ones that are not
    /// started again. Returns how many of their messages were not received.
    #[inline]
    pub(super) fn close_ended(
        &mut self,
        heap: &Heap,
        instances: &mut Pool<Instance>,
        communicator: u64,
    ) -> u64 {
        let mut left = 0;
        while let Some(first) = self.communicators.entry(heap, communicator).first(heap) {
            let instance = instances.get_mut(heap, first);
            if !instance.actions.is_finished() {
                break;
            }
            left += self.close(heap, instance);
        }
        left
    }

    /// Queues the messages that arrived before their instance was started.
    fn queue_early(&mut self, heap: &Heap, code: &Code, instance: &mut Instance) {
        let of = self.communicators.entry(heap, instance.communicator);
        let Some(mut early) = of.early.remove(heap, instance.number) else { return };
        while let Some(message) = early.pop(heap, &self.messages) {
            self.queue_kept(heap, code, instance, message);
        }
    }

    /// Removes an instance from its communicator, unless it was removed before. Returns how many of
    /// its messages were not received.
    #[inline]
    pub(super) fn close(&mut self, heap: &Heap, instance: &mut Instance) -> u64 {
        if !std::mem::take(&mut instance.is_open) {
            return 0;
        }
        self.communicators.entry(heap, instance.communicator).close(heap, instance.number);
        if self.recent.number == instance.number
            && self.recent.communicator == instance.communicator
        {
            self.recent = Recent::default();
        }
        if matches!(&instance.matched, Matched::Channels(channels) if channels.is_empty()) {
            return 0;
        }
        self.drop_left(heap, instance)
    }

    /// Drops the messages that a finished instance has not received. Returns the number of these
    /// messages.
    #[cold]
    fn drop_left(&mut self, heap: &Heap, instance: &mut Instance) -> u64 {
        let mut left: Vec<MessageKey> = Vec::new();
        match &mut instance.matched {
            Matched::Channels(channels) => {
                channels.drain(heap, &self.messages, |message| left.push(message))
            }
            Matched::Space(space) => {
                self.matching.remove_space(heap, *space, |message| left.push(message))
            }
        }
        self.drop_all(heap, &left);
        left.len() as u64
    }

    /// Drops messages that are in no queue any more.
    fn drop_all(&mut self, heap: &Heap, left: &[MessageKey]) {
        for &message in left {
            let header = self.messages.get(heap, message).header;
            self.release(heap, &header);
            let incoming = self.messages.get_mut(heap, message);
            let place = std::mem::replace(&mut incoming.place, PayloadPlace::Dropped);
            let is_underway =
                matches!(place, PayloadPlace::Kept(_)) && incoming.arrived < incoming.header.size;
            if let PayloadPlace::Kept(mut bytes) = place {
                bytes.release(heap);
            }
            if !is_underway {
                self.messages.remove(heap, message);
            }
        }
    }

    /// Forgets a communicator in which nothing is started any more, and drops the messages that
    /// have arrived for later instances. Returns the number of these messages. Returns `None`, with
    /// no effect, if the communicator still has an instance.
    pub(super) fn forget(&mut self, heap: &Heap, communicator: u64) -> Option<u64> {
        let Some(of) = self.communicators.get_mut(heap, communicator) else { return Some(0) };
        if !of.is_idle() {
            return None;
        }
        let mut of = self.communicators.remove(heap, communicator)?;
        let mut left = Vec::new();
        while let Some((_, mut chain)) = of.early.pop(heap) {
            while let Some(message) = chain.pop(heap, &self.messages) {
                left.push(message);
            }
        }
        of.release(heap);
        self.drop_all(heap, &left);
        Some(left.len() as u64)
    }

    /// Returns the instance that a message belongs to.
    #[inline]
    pub(super) fn target(&mut self, heap: &Heap, header: &Header) -> Target {
        match self.recent(header) {
            Some(key) => Target::Running(key),
            None => self.other_target(heap, header),
        }
    }

    /// Returns the key of the instance that was started last, if the message belongs to it.
    #[inline(always)]
    pub(super) fn recent(&self, header: &Header) -> Option<InstanceKey> {
        let Recent { communicator, number, key } = self.recent;
        (number == header.instance
            && communicator == header.communicator()
            && key != InstanceKey::NONE)
            .then_some(key)
    }

    #[inline(never)]
    fn other_target(&mut self, heap: &Heap, header: &Header) -> Target {
        // A communicator that a malicious rank has made up must leave no entry in the table.
        match self.communicators.get(heap, header.communicator()) {
            Some(known) => known.target(heap, header.instance),
            None => Communicator::default().target(heap, header.instance),
        }
    }

    /// Returns the message that the next part from a source belongs to.
    pub(super) fn next_part(&mut self, heap: &Heap, source: Rank) -> Option<MessageKey> {
        let key = *self.long.get(heap, source)?;
        let message = self.messages.find(heap, key)?;
        (message.header.sender() == source && message.arrived < message.header.size).then_some(key)
    }

    /// Removes and returns the posted receive that matches a message. Returns `None` if none
    /// matches.
    #[inline(always)]
    pub(super) fn take_posted(
        &mut self,
        heap: &Heap,
        key: InstanceKey,
        instance: &mut Instance,
        code: &Code,
        header: &Header,
    ) -> Option<ActionRef> {
        match &mut instance.matched {
            Matched::Channels(channels) => {
                let channel = code.whole()?.routes().channel(header.source, header.tag)?;
                let action = channels.take_posted(heap, channel, &mut self.posted)?;
                Some(ActionRef { instance: key, action })
            }
            Matched::Space(space) => {
                self.matching.take_posted(heap, *space, header.source, header.tag)
            }
        }
    }

    /// Posts a receive. Returns the message that it takes, if one waits.
    #[inline]
    pub(super) fn post(
        &mut self,
        heap: &Heap,
        receive: ActionRef,
        instance: &mut Instance,
        code: &Code,
        from: u32,
        tag: u32,
    ) -> Option<MessageKey> {
        match &mut instance.matched {
            Matched::Channels(channels) => {
                let channel =
                    code.whole().and_then(|schedule| schedule.routes().channel(from, tag));
                let channel = channel.expect("a receive has its channel");
                channels.post(heap, channel, receive.action, &mut self.posted, &self.messages)
            }
            Matched::Space(space) => self.matching.post(heap, *space, from, tag, receive),
        }
    }

    /// Posts a receive of a decoded schedule to its channel. Returns the message that it takes, if
    /// one waits.
    #[inline(always)]
    pub(super) fn post_step(
        &mut self,
        heap: &Heap,
        channels: &mut Channels,
        channel: ChannelId,
        action: Action,
    ) -> Option<MessageKey> {
        let message = channels.post(heap, channel, action, &mut self.posted, &self.messages);
        if message.is_none() {
            self.count_posted();
        }
        message
    }

    /// Queues a kept message until its instance posts a receive for it.
    fn queue_kept(
        &mut self,
        heap: &Heap,
        code: &Code,
        instance: &mut Instance,
        message: MessageKey,
    ) {
        let Header { source, tag, .. } = self.messages.get(heap, message).header;
        match &mut instance.matched {
            Matched::Channels(channels) => {
                let channel =
                    code.whole().and_then(|schedule| schedule.routes().channel(source, tag));
                channels.keep(heap, channel, &mut self.messages, message);
            }
            Matched::Space(space) => self.matching.keep(heap, *space, source, tag, message),
        }
    }

    /// Keeps a message that no posted receive matches. `running` is the message's instance, or
    /// `None` if the instance has not started.
    pub(super) fn keep(
        &mut self,
        heap: &Heap,
        running: Option<(&mut Instance, &Code)>,
        header: &Header,
        place: PayloadPlace,
        arrived: u64,
    ) -> MessageKey {
        self.kept += counted(header);
        let message = MessageKey(self.messages.insert(
            heap,
            Incoming {
                header: *header,
                arrived,
                place,
                next: MessageKey::NONE,
                ..Incoming::default()
            },
        ));
        match running {
            Some((instance, code)) => self.queue_kept(heap, code, instance, message),
            None => {
                let communicator = self.communicators.entry(heap, header.communicator());
                communicator.early.entry(heap, header.instance).push(
                    heap,
                    &mut self.messages,
                    message,
                );
            }
        }
        message
    }

    /// Stops counting a kept message.
    pub(super) fn release(&mut self, heap: &Heap, header: &Header) {
        self.kept -= counted(header);
        if header.kind() == Kind::Rts
            && let Some(requests) = self.requests.get_mut(heap, header.sender())
        {
            // Requests that arrived before the bound was set were not counted.
            requests.waiting = requests.waiting.saturating_sub(1);
        }
    }

    /// Counts a posted receive that waits for its message.
    #[inline]
    pub(super) fn count_posted(&mut self) {
        self.receives += 1;
        self.receives_max = self.receives_max.max(self.receives);
    }

    /// Returns the most posted receives at a time that no message had matched.
    pub(super) fn receives_max(&self) -> u64 {
        self.receives_max.into()
    }

    /// Returns the bytes of the messages that are kept now, with the overhead of each message.
    #[inline]
    pub(super) fn kept(&self) -> u64 {
        self.kept
    }
}

/// Returns the bytes that a kept message of `size` bytes counts: its size and an overhead.
#[inline]
pub fn kept_bytes(size: u64) -> u64 {
    size.saturating_add(KEPT_OVERHEAD)
}

/// Returns the bytes that a message counts while it is kept: 0 if its payload stays with its
/// sender.
fn counted(header: &Header) -> u64 {
    match header.kind() {
        Kind::Rts => 0,
        _ => kept_bytes(header.size),
    }
}
