//! Passes trace events to an engine's recorder, if it has one.

use super::code::Code;
use super::ids::{ActionRef, Rank};
use super::{Core, Engine};
use crate::trace::{Event, Kind, Point, Recorder};
use crate::transport::Header;
use goal_asm::nisa::{self, Operation};

impl<T> Engine<'_, T> {
    /// Records events from now on. The starts of instances that are already running are not
    /// recorded.
    pub fn record(&mut self, recorder: impl Recorder + 'static) {
        self.core.recorder = Some(Box::new(recorder));
    }
}

impl Core {
    /// Records that an instance was started or finished.
    #[inline]
    pub(super) fn note_instance(&mut self, point: Point, instance: u32) {
        if let Some(recorder) = &mut self.recorder {
            recorder.record(&Event::new(point, instance));
        }
    }

    /// Records the start of an action. The caller must call it before the action has any effect.
    #[inline(always)]
    pub(super) fn note_start(&mut self, codes: &[Code], at: ActionRef, record: &nisa::Record<'_>) {
        if self.recorder.is_some() {
            self.record_start(codes, at, &record.operation());
        }
    }

    /// Records the end of an action. The caller must call it before the dependents are released.
    #[inline(always)]
    pub(super) fn note_end(&mut self, action: ActionRef) {
        if self.recorder.is_some() {
            self.record_at(Point::Ended, action, |event| event);
        }
    }

    /// Records that a message has matched its receive.
    #[inline(always)]
    pub(super) fn note_match(&mut self, receive: ActionRef, header: &Header) {
        if self.recorder.is_some() {
            let (bytes, peer, detail) = (header.size, header.source, header.sequence);
            self.record_at(Point::Matched, receive, |event| Event { bytes, peer, detail, ..event });
        }
    }

    #[cold]
    fn record_start(&mut self, codes: &[Code], at: ActionRef, operation: &Operation<'_>) {
        let heap = &self.heap();
        let instance = self.held.instances.get(heap, at.instance);
        let code = &codes[instance.code as usize];
        let (peer, tag, detail, bytes) = match *operation {
            Operation::Send { peer, tag, payload, .. } => {
                let sequence = match code
                    .whole()
                    .and_then(|schedule| schedule.routes().destination(Rank(peer)))
                {
                    Some(destination) => instance.sequences.values(heap)[destination.index()],
                    None => instance.sequences_by_rank.get(heap, Rank(peer)).copied().unwrap_or(0),
                };
                (peer, tag, sequence, payload.size())
            }
            Operation::Recv { peer, tag, payload, .. } => (peer, tag, 0, payload.size()),
            _ => (0, 0, 0, 0),
        };
        let number = match code {
            Code::Window(window) => window.number(&self.homes[at.instance.index()], at.action),
            Code::Whole(_) | Code::Ended => None,
        };
        let kind = Kind::from_operation(operation);
        self.record_at(Point::Started, at, |event| Event { kind, bytes, peer, detail, ..event });
        if let Some(number) = number {
            let detail = number as u32;
            self.record_at(Point::Numbered, at, |event| Event { peer: tag, detail, ..event });
        }
    }

    #[cold]
    fn record_at(&mut self, point: Point, at: ActionRef, with: impl FnOnce(Event) -> Event) {
        let instance = self.held.instances.get(&self.held.heap, at.instance).number;
        if let Some(recorder) = &mut self.recorder {
            recorder.record(&with(Event { action: at.action.0, ..Event::new(point, instance) }));
        }
    }
}
