//! Writes the frames of a connection, and notes which round trips their answers will measure.

use super::connection::{Connection, Shared};
use super::frames::{self, Envelope};
use super::seals::Seals;
use super::suspect::Suspect;
use crate::machine::{Body, Segment};
use crate::wire::{Frame, Parameters};

impl Connection {
    /// Writes the next frame to `out` and returns its length in bytes. Returns `None` if no frame
    /// is due. See [`frames::write`].
    pub(super) fn transmit(
        &mut self,
        now_ns: u64,
        out: &mut [u8],
        seals: Option<&mut Seals>,
        shared: &mut Shared,
    ) -> Option<usize> {
        let config = &shared.config;
        let envelope = Envelope {
            own: config.address,
            peer: self.peer,
            ethertype: config.ethertype,
            parameters: Parameters {
                payload_max: config.payload_max,
                authenticates_data: config.authenticates_data,
            },
            window: config.rules.initial(),
            tags_all: self.tags_all(config),
        };
        let next = self.slot.machine().map(|machine| machine.sender().next());
        let first = self.slot.machine().map(|machine| machine.sender().unacknowledged());
        let segment = self.slot.poll()?;
        let mut number = 0;
        let mut repeated = None;
        let len = match &segment {
            Segment::Syn { .. } => {
                (self.asked_ns, self.questions) = (now_ns, self.questions.saturating_add(1));
                frames::write(out, &envelope, segment, &shared.handshake, &mut number, None)
            }
            Segment::SynAck { identity, to } => {
                let ends = [(config.address, identity.nonce), (self.peer, *to)];
                let key = config.job_key.connection(ends);
                frames::write(out, &envelope, segment, &key, &mut number, None)
            }
            Segment::HandshakeAck { .. } | Segment::Packet { .. } => {
                if let Segment::Packet { body, .. } = &segment {
                    // An acknowledgement from now on may answer this frame.
                    match body {
                        Body::Data { seq, .. } if Some(*seq) == next => {
                            self.timed = self.timed.or(Some((*seq, now_ns)));
                            self.probed_ns = None;
                        }
                        Body::Data { seq, .. } => {
                            (self.timed, self.probed_ns) = (None, None);
                            shared.stats.sent_again += 1;
                            repeated = Some(*seq).filter(|seq| Some(*seq) == first);
                        }
                        Body::Request { ranges, .. } => {
                            self.probed_ns = ranges.is_empty().then_some(now_ns)
                        }
                        _ => {}
                    }
                }
                let proof = self.proof.as_mut().expect("there is a connection");
                frames::write(out, &envelope, segment, &proof.key, &mut proof.sent, seals)
            }
        };
        shared.stats.sent += 1;
        if let Some(seq) = repeated
            && Suspect::note_repeat(
                &mut self.suspect,
                seq,
                len - Frame::<&[u8]>::HEADER_LEN,
                now_ns,
            )
            && let Some(machine) = self.slot.machine_mut()
        {
            machine.probe();
        }
        Some(len)
    }
}
