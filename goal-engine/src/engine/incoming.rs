//! Messages on their way in: matching, and what is kept of messages without a receive.

use super::channel::{Channels, Posted};
use super::code::Code;
use super::communicator::{Communicator, Target};
use super::ids::{ActionRef, ChannelId, InstanceKey, MessageKey};
use super::instance::{Instance, Matched};
use super::requests::Requests;
use super::schedule::Schedule;
use crate::heap::{Block, Fifo, Heap, Pool, Table, flat};
use crate::matching::Matching;
use crate::transport::{Header, Kind};
use goal_lang::limits::KEPT_OVERHEAD;

/// A message that is not delivered yet.
#[derive(Debug, Default)]
pub(super) struct Incoming {
    /// Its envelope.
    pub(super) header: Header,
    /// Bytes that have arrived.
    pub(super) arrived: u64,
    pub(super) place: Place,
    /// The sender was asked for the bytes.
    pub(super) is_cleared: bool,
    /// The next one that waits for the same.
    pub(super) next: MessageKey,
}

/// Where the bytes of a message are or go.
#[derive(Debug, Default)]
pub(super) enum Place {
    /// With the sender, who waits for a receive.
    #[default]
    Sender,
    /// Here, as there is no receive yet.
    Kept(Block<u8>),
    /// Into the buffer of a receive.
    Receive(ActionRef),
    /// Nowhere: the instance is over.
    Dropped,
}

/// The instance that the last message was for, or that was started last: most often the next
/// message is for it too.
#[derive(Debug, Clone, Copy)]
struct Recent {
    communicator: u32,
    number: u32,
    /// [`InstanceKey::NONE`] for none.
    key: InstanceKey,
}

impl Default for Recent {
    fn default() -> Self {
        Self { communicator: 0, number: 0, key: InstanceKey::NONE }
    }
}

/// All that came in and is not done with.
#[derive(Debug, Default)]
pub(super) struct Arrivals {
    recent: Recent,
    /// Messages to be read from the memory of their senders.
    pub(super) direct: Fifo<MessageKey>,
    pub(super) messages: Pool<Incoming>,
    posted: Pool<Posted>,
    /// Receives that no message has met, and how many these were at most.
    pub(super) receives: u32,
    receives_max: u32,
    matching: Matching<ActionRef, MessageKey>,
    communicators: Table<u32, Communicator>,
    /// The message whose parts come next from a source: it lacks bytes, so it is there until the
    /// last of them has come.
    pub(super) long: Table<u32, MessageKey>,
    /// Those that wait with their senders, by source, where they are bounded.
    pub(super) requests: Table<u32, Requests>,
    /// Bytes kept of messages that did not wait with their senders, with an overhead for each.
    kept: u64,
}

flat!(struct Incoming { header, arrived, place, is_cleared, next });
flat!(
    enum Place {
        Sender,
        Kept(part),
        Receive(part),
        Dropped,
    }
);
flat!(struct Recent { communicator, number, key });
flat!(struct Arrivals { recent, direct, messages, posted, receives, receives_max, matching, communicators, long, requests, kept });

impl Arrivals {
    /// The number of an instance that starts now, which gets the messages that came early.
    #[inline]
    pub(super) fn open(
        &mut self,
        heap: &Heap,
        communicator: u32,
        key: InstanceKey,
        code: &Code,
        instance: &mut Instance,
    ) {
        let of = self.communicators.entry(heap, communicator);
        let number = of.open(heap, key);
        (instance.communicator, instance.number) = (communicator, number);
        if let Matched::Space(space) = &mut instance.matched {
            *space = self.matching.add_space(heap);
            self.matching.open_space(
                heap,
                *space,
                code.whole().is_none_or(Schedule::has_wildcards),
            );
        }
        self.recent = Recent { communicator, number, key };
        if !of.early.is_empty() {
            self.file_early(heap, code, instance);
        }
    }

    /// Lets messages that came before their instance was started wait for its receives.
    fn file_early(&mut self, heap: &Heap, code: &Code, instance: &mut Instance) {
        let of = self.communicators.entry(heap, instance.communicator);
        let Some(mut early) = of.early.remove(heap, instance.number) else { return };
        while let Some(message) = early.pop(heap, &self.messages) {
            self.file(heap, code, instance, message);
        }
    }

    /// Forgets an instance. Tells how many messages for it were left.
    #[inline]
    pub(super) fn close(&mut self, heap: &Heap, instance: &mut Instance) -> u64 {
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

    /// Drops the messages of an instance that is over. Tells how many there were.
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
        for &message in &left {
            let header = self.messages.get(heap, message).header;
            self.release(heap, &header);
            let incoming = self.messages.get_mut(heap, message);
            let place = std::mem::replace(&mut incoming.place, Place::Dropped);
            let is_underway =
                matches!(place, Place::Kept(_)) && incoming.arrived < incoming.header.size;
            if let Place::Kept(mut bytes) = place {
                bytes.release(heap);
            }
            if !is_underway {
                self.messages.remove(heap, message);
            }
        }
        left.len() as u64
    }

    /// The instance that a message belongs to.
    #[inline]
    pub(super) fn target(&mut self, heap: &Heap, header: &Header) -> Target {
        match self.recent(header) {
            Some(key) => Target::Running(key),
            None => self.other_target(heap, header),
        }
    }

    /// The key of the instance that a message belongs to, if it is the last one that was started.
    #[inline(always)]
    pub(super) fn recent(&self, header: &Header) -> Option<InstanceKey> {
        let Recent { communicator, number, key } = self.recent;
        (number == header.instance
            && communicator == header.communicator
            && key != InstanceKey::NONE)
            .then_some(key)
    }

    #[inline(never)]
    fn other_target(&mut self, heap: &Heap, header: &Header) -> Target {
        self.communicators.entry(heap, header.communicator).target(heap, header.instance)
    }

    /// The message that the next part from a source belongs to.
    pub(super) fn next_part(&mut self, heap: &Heap, source: u32) -> Option<MessageKey> {
        let key = *self.long.get(heap, source)?;
        let message = self.messages.find(heap, key)?;
        (message.header.source == source && message.arrived < message.header.size).then_some(key)
    }

    /// Takes the receive that a message fits.
    #[inline(always)]
    pub(super) fn take_posted(
        &mut self,
        heap: &Heap,
        (key, instance, code): (InstanceKey, &mut Instance, &Code),
        header: &Header,
    ) -> Option<ActionRef> {
        match &mut instance.matched {
            Matched::Channels(channels) => {
                let channel = code.whole()?.channel(header.source, header.tag)?;
                let action = channels.take_posted(heap, channel, &mut self.posted)?;
                Some(ActionRef { instance: key, action })
            }
            Matched::Space(space) => {
                self.matching.take_posted(heap, *space, header.source, header.tag)
            }
        }
    }

    /// Posts a receive. The message that it takes, if one waits.
    #[inline]
    pub(super) fn post(
        &mut self,
        heap: &Heap,
        (receive, instance, code): (ActionRef, &mut Instance, &Code),
        from: u32,
        tag: u32,
    ) -> Option<MessageKey> {
        match &mut instance.matched {
            Matched::Channels(channels) => {
                let channel = code.whole().and_then(|schedule| schedule.channel(from, tag));
                let channel = channel.expect("a receive has its channel");
                channels.post(heap, channel, receive.action, &mut self.posted, &self.messages)
            }
            Matched::Space(space) => self.matching.post(heap, *space, from, tag, receive),
        }
    }

    /// Posts a receive of a short schedule to its channel. The message that it takes, if one waits.
    #[inline(always)]
    pub(super) fn post_step(
        &mut self,
        heap: &Heap,
        channels: &mut Channels,
        channel: ChannelId,
        action: u32,
    ) -> Option<MessageKey> {
        let message = channels.post(heap, channel, action, &mut self.posted, &self.messages);
        if message.is_none() {
            self.count_posted();
        }
        message
    }

    /// Lets a message that is kept wait for a receive of its instance.
    fn file(&mut self, heap: &Heap, code: &Code, instance: &mut Instance, message: MessageKey) {
        let Header { source, tag, .. } = self.messages.get(heap, message).header;
        match &mut instance.matched {
            Matched::Channels(channels) => {
                let channel = code.whole().and_then(|schedule| schedule.channel(source, tag));
                channels.keep(heap, channel, &mut self.messages, message);
            }
            Matched::Space(space) => self.matching.keep(heap, *space, source, tag, message),
        }
    }

    /// Keeps a message that no receive fits, of an instance that runs or, without one, has not
    /// started.
    pub(super) fn keep(
        &mut self,
        heap: &Heap,
        running: Option<(&mut Instance, &Code)>,
        header: &Header,
        (place, arrived): (Place, u64),
    ) -> MessageKey {
        self.kept += counted(header);
        let message = MessageKey(self.messages.insert(
            heap,
            Incoming { header: *header, arrived, place, is_cleared: false, next: MessageKey::NONE },
        ));
        match running {
            Some((instance, code)) => self.file(heap, code, instance, message),
            None => {
                let communicator = self.communicators.entry(heap, header.communicator);
                communicator.early.entry(heap, header.instance).push(
                    heap,
                    &mut self.messages,
                    message,
                );
            }
        }
        message
    }

    /// A kept message waits no longer.
    pub(super) fn release(&mut self, heap: &Heap, header: &Header) {
        self.kept -= counted(header);
        if header.kind() == Kind::Rts
            && let Some(requests) = self.requests.get_mut(heap, header.source)
        {
            // Those that came before there was a bound are not counted.
            requests.waiting = requests.waiting.saturating_sub(1);
        }
    }

    /// A receive was posted and waits.
    #[inline]
    pub(super) fn count_posted(&mut self) {
        self.receives += 1;
        self.receives_max = self.receives_max.max(self.receives);
    }

    /// Most receives at a time that no message had met.
    pub(super) fn receives_max(&self) -> u64 {
        self.receives_max.into()
    }

    /// Bytes kept now.
    #[inline]
    pub(super) fn kept(&self) -> u64 {
        self.kept
    }
}

/// What a message of `size` bytes counts that is kept.
#[inline]
pub fn kept_bytes(size: u64) -> u64 {
    size.saturating_add(KEPT_OVERHEAD)
}

/// What a message counts: nothing where its payload stays with its sender.
fn counted(header: &Header) -> u64 {
    match header.kind() {
        Kind::Rts => 0,
        _ => kept_bytes(header.size),
    }
}
