//! Makes the map entries of a rank's part, once all its actions are known.

use super::builder::{Builder, Place};
use crate::image::PartImage;
use crate::layout::{
    ALTERNATES_A, ALTERNATES_B, ALTERNATES_C, ActionEntry, HANDED_OVER, PartEntry,
};
use crate::limits::{ACTIONS_MAX, DEPENDENTS_MAX, PART_BYTES};
use crate::reason::Reason;

impl Builder<'_> {
    pub(super) fn image(mut self) -> Result<PartImage, Reason> {
        let constants_at = self.constants_at();
        let gathered = constants_at + self.constants.len() as u64;
        let fixed = gathered + self.gathered;
        let bytes = fixed + 2 * self.alternating;
        if bytes > u64::from(PART_BYTES) {
            return Err(Reason::ManyBytes(bytes));
        }
        if self.steps.len() > ACTIONS_MAX as usize {
            return Err(Reason::ManyActions(self.steps.len() as u64));
        }
        let mut dependents: Vec<u32> = Vec::new();
        let mut actions: Vec<ActionEntry> = Vec::with_capacity(self.steps.len());
        for (number, step) in self.steps.iter().enumerate() {
            let place = |place: Place| match place {
                Place::Fixed(at) => at as u32,
                Place::Gathered(at) => (gathered + at) as u32,
                Place::Alternating(at) => (fixed + at) as u32,
            };
            let flags = [ALTERNATES_A, ALTERNATES_B, ALTERNATES_C];
            let alternating = step.places.iter().zip(flags);
            let alternating = alternating.filter(|(at, _)| matches!(at, Place::Alternating(_)));
            let own = &self.dependents[number];
            actions.push(ActionEntry {
                a: place(step.places[0]),
                b: place(step.places[1]),
                c: place(step.places[2]),
                bytes: step.bytes as u32,
                first_dependent: dependents.len() as u32,
                dependents: own.len() as u32,
                send: step.send,
                initial: self.initial[number],
                left: [self.initial[number]; 2],
                op: step.op,
                datatype: step.datatype,
                flags: alternating.map(|(_, flag)| flag).sum::<u8>()
                    | if step.handed { HANDED_OVER } else { 0 },
                ..ActionEntry::default()
            });
            dependents.extend(own);
        }
        let first_independent = dependents.len() as u32;
        dependents.extend(&self.independent);
        if dependents.len() > DEPENDENTS_MAX as usize {
            return Err(Reason::ManyDependents(dependents.len() as u64));
        }
        for receive in &mut self.receives {
            receive.place += fixed as u32;
        }
        for send in &mut self.sends {
            send.place += fixed as u32;
        }
        let part = PartEntry {
            actions: actions.len() as u32,
            first_independent,
            independent: self.independent.len() as u32,
            receives: self.receives.len() as u32,
            sends: self.sends.len() as u32,
            first_ack: self.sends.len() as u32 - self.acks,
            acks: self.acks,
            held_receives: self.held,
            stride: self.alternating as u32,
            left: [actions.len() as u32; 2],
            ..PartEntry::default()
        };
        Ok(PartImage {
            part,
            actions,
            dependents,
            receives: self.receives,
            sends: self.sends,
            constants_at: constants_at as u32,
            constants: self.constants,
            memory_bytes: self.graph.memory as u32,
            bytes: bytes as u32,
            origins: self.origins,
            calls: self.calls,
        })
    }
}
