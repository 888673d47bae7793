//! The layout of the maps and of the frame header: `bpf/layout.h` in Rust. The engine shares the
//! maps with the loader and the ranks.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// The value that stands for no part, no send, no receive or no action.
pub const NONE: u32 = u32::MAX;

/// A flag of an action: the place of operand A alternates with the epoch.
pub const ALTERNATES_A: u8 = 1;
/// A flag of an action: the place of operand B alternates with the epoch.
pub const ALTERNATES_B: u8 = 2;
/// A flag of an action: the place of the result C alternates with the epoch.
pub const ALTERNATES_C: u8 = 4;
/// A flag of an action: the rank's process does the operation, and gives the action back.
pub const HANDED_OVER: u8 = 8;
/// A flag of a receive that has no action. The next run but one waits for its message.
pub const RECEIVE_HELD: u16 = 1;
/// A flag of a send without bytes, which follows the end of a run.
pub const SEND_ACK: u16 = 1;
/// A flag of a peer on this host.
pub const PEER_LOCAL: u32 = 1;
/// The value of [`StatusEntry::error`] after a division by zero.
pub const ERROR_DIVISION: u32 = 1;
/// The value of [`FrameHeader::form`]: version 2 of ESP, and form 8, which means a schedule frame.
pub const FRAME_FORM: u8 = 0x28;
/// Bytes of Ethernet's header and the schedule frame's header together.
pub const FRAME_BYTES: usize = 56;
/// Bytes of a frame without payload: the least that Ethernet carries.
pub const FRAME_LENGTH: usize = 60;

/// Bytes of a tick on the private pair of interfaces. The length decides how slowly the tick
/// circles.
pub const CIRCLE_BYTES: usize = 1514;

/// The kinds of frames.
pub mod kind {
    /// A part of a message.
    pub const DATA: u8 = 1;
    /// A request for lost fragments of a message.
    pub const ASK: u8 = 2;
    /// The start of a run, which never leaves the host.
    pub const START: u8 = 3;
    /// A tick, which never leaves the host.
    pub const TICK: u8 = 4;
    /// The continuation of a run that was too long for one frame. It never leaves the host.
    pub const CONTINUE: u8 = 5;
    /// A completion event for a rank that sleeps. It never leaves the host.
    pub const DONE: u8 = 6;
    /// An action that its rank's process gives back, which never leaves the host.
    pub const RETURN: u8 = 7;
}

/// The counts of what happened to frames, in the order of the map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counter {
    /// Frames of messages that were taken.
    Data,
    /// Frames that had arrived before.
    Double,
    /// Frames of an epoch that is too far ahead.
    Early,
    /// Frames of an epoch that has ended.
    Late,
    /// Frames with a wrong tag or cookie.
    Forged,
    /// Frames that contradict the schedule.
    Malformed,
    /// Requests that were sent.
    Asked,
    /// Requests that were answered.
    Answered,
    /// Runs that were too long for one frame, and went on with another one.
    Continued,
    /// Frames to send that the kernel did not take.
    Unsent,
    /// Frames that were given up because other processors kept changing a word that they needed.
    Contended,
    /// Ticks.
    Ticked,
}

impl Counter {
    /// Every counter, in the order of the map.
    pub const ALL: [Counter; 12] = [
        Counter::Data,
        Counter::Double,
        Counter::Early,
        Counter::Late,
        Counter::Forged,
        Counter::Malformed,
        Counter::Asked,
        Counter::Answered,
        Counter::Continued,
        Counter::Unsent,
        Counter::Contended,
        Counter::Ticked,
    ];
}

/// Defines an entry of a map, and the table of its fields for the comparison with `bpf/layout.h`.
macro_rules! entry {
    ($(#[$about:meta])* $name:ident as $c:literal {
        $($(#[$doc:meta])* $field:ident: $kind:ty,)*
    }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
        #[derive(FromBytes, IntoBytes, Immutable, KnownLayout)]
        #[repr(C)]
        pub struct $name {
            $($(#[$doc])* pub $field: $kind,)*
        }

        #[cfg(test)]
        impl $name {
            /// The name in C, the size, and the name, offset and size of each field.
            pub(crate) const LAYOUT: tests::Layout = (
                $c,
                size_of::<$name>(),
                &[$((stringify!($field), std::mem::offset_of!($name, $field), size_of::<$kind>())),*],
            );
        }
    };
}

entry! {
    /// The one entry of the map of the host.
    HostEntry as "host" {
        /// The key of the job, for the tags of frames between hosts.
        key: [u64; 2],
        /// A random number that proves ticks and continuations.
        cookie: u64,
        /// A number that tells jobs on one interface apart.
        job: u32,
        /// The number of the interface.
        ifindex: u32,
        /// The number of ranks of this host; a part's number is schedule * ranks + port.
        ranks: u32,
        /// The number of parts in use.
        parts: u32,
        /// The payload of all frames of a message but the last, a multiple of 8.
        fragment: u32,
        /// The ethertype of frames.
        ethertype: u16,
        /// The Ethernet address of the interface.
        mac: [u8; 6],
        /// 0.
        zero: u32,
        /// The time of the last tick that counted, in nanoseconds of the monotonic clock.
        ticked: u64,
    }
}

entry! {
    /// One rank's part of one schedule.
    PartEntry as "part" {
        /// A random number that proves that a START comes from the rank.
        cookie: u64,
        /// The part's first entry in the map of actions.
        first_action: u32,
        /// The number of the part's actions.
        actions: u32,
        /// The part's first entry in the map of dependents that names an independent action.
        first_independent: u32,
        /// The number of the part's independent actions.
        independent: u32,
        /// The part's first entry in the map of receives.
        first_receive: u32,
        /// The number of the part's receives.
        receives: u32,
        /// The part's first entry in the map of sends.
        first_send: u32,
        /// The number of the part's sends.
        sends: u32,
        /// The number of the part's first acknowledgement: a send that follows the end of a run.
        first_ack: u32,
        /// The number of the part's acknowledgements.
        acks: u32,
        /// The number of the part's receives that the next run but one waits for.
        held_receives: u32,
        /// The distance in bytes between the two copies of buffers that alternate with the epoch.
        stride: u32,
        /// The number of the schedule.
        schedule: u16,
        /// The rank's number on its host.
        port: u16,
        /// The offset at which the part's memory begins in the map of memory.
        memory: u32,
        /// The head of the queue of ready actions, by the epoch's lowest bit.
        head: [u64; 2],
        /// The end of the queue of ready actions, by the epoch's lowest bit.
        tail: [u64; 2],
        /// The number of actions that are not complete, by the epoch's lowest bit.
        left: [u32; 2],
        /// The number of acknowledgements that have not come, by the epoch's lowest bit.
        held: [u32; 2],
        /// The last epoch that was started.
        current: u32,
        /// The last epoch that the rank has asked to start.
        wanted: u32,
        /// A count of complete messages and of other progress. Ticks compare it to find idle parts.
        arrivals: u32,
        /// The value of `arrivals` at the last tick.
        seen: u32,
        /// The number of ticks since `arrivals` changed or an epoch began.
        idle: u32,
        /// The number of the receive at which the next tick begins to request lost frames.
        next_ask: u32,
    }
}

entry! {
    /// The state of a part that its rank reads.
    StatusEntry as "status" {
        /// The last epoch that ended.
        done: u32,
        /// 0, or the code of an error. After an error no action of the part runs.
        error: u32,
        /// The number of the action with the error.
        action: u32,
        /// The number of the element with the error.
        element: u32,
        /// Not 0 if the rank wants a frame when an epoch ends or needs its process.
        waiting: u32,
        /// The last epoch whose start frame the engine has taken.
        started: u32,
        /// The time at which `done` last changed, in nanoseconds of the monotonic clock.
        ended: u64,
        /// The number of actions that were ever handed over to the rank's process.
        handed: u64,
        /// The number of actions that were ever taken back from the rank's process.
        returned: u64,
    }
}

entry! {
    /// An action: C = A op B, then a send, then the dependents.
    ActionEntry as "action" {
        /// The place of operand A in the part's memory.
        a: u32,
        /// The place of operand B.
        b: u32,
        /// The place of the result.
        c: u32,
        /// The bytes of each operand and of the result.
        bytes: u32,
        /// The action's first entry in the map of dependents.
        first_dependent: u32,
        /// The number of the action's dependents.
        dependents: u32,
        /// The number of the part's send, or [`NONE`].
        send: u32,
        /// The number of the action's dependencies, including the start of the run and arrivals of
        /// messages.
        initial: u32,
        /// The number of dependencies that are left, by the epoch's lowest bit.
        left: [u32; 2],
        /// The operation as in NISA; 0 for none.
        op: u8,
        /// The datatype as in NISA.
        datatype: u8,
        /// Flags: [`ALTERNATES_A`], [`ALTERNATES_B`], [`ALTERNATES_C`], [`HANDED_OVER`].
        flags: u8,
        /// 0.
        zero: u8,
        /// The epoch in which the action was handed over to the rank's process; 0 once it is given
        /// back.
        out: u32,
    }
}

entry! {
    /// A receive, with its landing place.
    ReceiveEntry as "receive" {
        /// By the epoch's lowest bit: the epoch in the upper half, and in the lower half a bit for
        /// each fragment that has come.
        claims: [u64; 2],
        /// The number of fragments that are not in place, by the epoch's lowest bit.
        missing: [u32; 2],
        /// The place where the message lands in the part's memory. It alternates with the epoch.
        place: u32,
        /// The bytes of the message.
        bytes: u32,
        /// The action that the message releases.
        action: u32,
        /// The rank that sends the message.
        peer: u32,
        /// The number of the send in the sender's part.
        peers_send: u32,
        /// The number of requests for lost fragments that were sent.
        asks: u32,
        /// The number of frames of the message.
        fragments: u16,
        /// Flags: 0 or [`RECEIVE_HELD`].
        flags: u16,
        /// The number of receives of the same action. A long message has several.
        portions: u32,
    }
}

entry! {
    /// A send, with the bytes that it keeps.
    SendEntry as "send" {
        /// The last epoch in which the message was sent, by the epoch's lowest bit.
        sent: [u32; 2],
        /// The place of the message's bytes, which stay until the next epoch but one. It alternates
        /// with the epoch.
        place: u32,
        /// The bytes of the message.
        bytes: u32,
        /// The rank that receives the message.
        peer: u32,
        /// The number of the receive in the receiver's part.
        peers_receive: u32,
        /// The number of the last request that was taken.
        asked: u32,
        /// The number of frames of the message.
        fragments: u16,
        /// Flags: 0 or [`SEND_ACK`].
        flags: u16,
        /// The number of requests that were answered. The other requests came before the message
        /// was sent.
        answered: u32,
        /// 0.
        zero: u32,
    }
}

entry! {
    /// A rank of the job.
    PeerEntry as "peer" {
        /// The Ethernet address of the interface of the rank's host.
        mac: [u8; 6],
        /// The rank's number on its host.
        port: u16,
        /// Flags: 0 or [`PEER_LOCAL`].
        flags: u32,
        /// 0.
        zero: u32,
    }
}

entry! {
    /// Ethernet's header and the header of a schedule frame. All numbers are in network byte order.
    FrameHeader as "frame" {
        /// The Ethernet address of the destination.
        to: [u8; 6],
        /// The Ethernet address of the source.
        from: [u8; 6],
        /// The ethertype of frames.
        ethertype: u16,
        /// The version of ESP, and the form.
        form: u8,
        /// The kind of frame.
        kind: u8,
        /// The bytes of payload.
        bytes: u16,
        /// The sender's port.
        from_port: u16,
        /// The receiver's port.
        to_port: u16,
        /// The number of the schedule.
        schedule: u16,
        /// The number of the job.
        job: u32,
        /// The epoch: the number of the run of the schedule.
        epoch: u32,
        /// The number of the receiver's receive.
        receive: u32,
        /// The number of the sender's send.
        send: u32,
        /// In a request, a bit for each missing fragment.
        mask: u32,
        /// The number of the fragment, of the request, or of the action that is given back.
        number: u32,
        /// The authentication tag of a message or a request; in other frames a cookie.
        tag: u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A structure's name in C, its size, and the name, offset and size of each field.
    pub(crate) type Layout = (&'static str, usize, &'static [(&'static str, usize, usize)]);

    /// Returns the fields of a structure in `layout.h` by C's rules of natural alignment.
    fn stated(name: &str) -> (usize, Vec<(String, usize, usize)>) {
        let header = include_str!("../bpf/layout.h");
        let start = header.find(&format!("\nstruct {name} {{\n")).expect("a structure");
        let body = header[start..].split("\n};").next().unwrap();
        let (mut fields, mut at, mut alignment) = (Vec::new(), 0_usize, 1);
        for line in body.lines().skip(2) {
            let Some((kind, names)) = line.split(';').next().unwrap().trim().split_once(' ') else {
                continue;
            };
            let bits: usize = kind.strip_prefix('u').expect("a number").parse().unwrap();
            let width = bits / 8;
            alignment = alignment.max(width);
            for field in names.split(',').map(str::trim) {
                let (field, count) = match field.split_once('[') {
                    Some((field, rest)) => (field, rest.trim_end_matches(']').parse().unwrap()),
                    None => (field, 1),
                };
                at = at.next_multiple_of(width);
                fields.push((field.to_owned(), at, width * count));
                at += width * count;
            }
        }
        (at.next_multiple_of(alignment), fields)
    }

    #[test]
    fn the_header_has_the_same_structures() {
        let layouts = [
            HostEntry::LAYOUT,
            PartEntry::LAYOUT,
            StatusEntry::LAYOUT,
            ActionEntry::LAYOUT,
            ReceiveEntry::LAYOUT,
            SendEntry::LAYOUT,
            PeerEntry::LAYOUT,
            FrameHeader::LAYOUT,
        ];
        for (name, size, fields) in layouts {
            let (stated_size, stated) = stated(name);
            let ours: Vec<_> = fields.iter().map(|&(f, at, len)| (f.to_owned(), at, len)).collect();
            assert_eq!(stated, ours, "left: layout.h, right: layout.rs");
            assert_eq!(stated_size, size, "{name}");
        }
        assert_eq!(size_of::<FrameHeader>(), FRAME_BYTES);
    }

    #[test]
    fn the_header_has_the_same_counters() {
        let header = include_str!("../bpf/layout.h");
        let list = header.split("enum counter {").nth(1).unwrap().split('}').next().unwrap();
        let names = list.lines().filter_map(|line| line.trim().strip_prefix("COUNT_"));
        let names: Vec<String> =
            names.map(|line| line.split(',').next().unwrap().to_lowercase()).collect();
        let ours = Counter::ALL.map(|counter| format!("{counter:?}").to_lowercase());
        assert_eq!(names, ours);
        assert!(Counter::ALL.iter().enumerate().all(|(at, &counter)| counter as usize == at));
    }
}
