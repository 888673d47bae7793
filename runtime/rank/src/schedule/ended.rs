//! Notes the ends of a rank's instances, and counts the messages of an instance.

use super::image;
use goal_asm::Nisa;
use goal_asm::nisa::Operation;
use goal_eth::now_ns;
use goal_job::Job;
use std::sync::atomic::Ordering;

/// The result of the instances that have ended.
#[derive(Default)]
pub(super) struct Ended {
    /// The description of the first instance whose memory differed from what the program expects;
    /// `None` if there was none.
    pub(super) unexpected: Option<String>,
}

impl Ended {
    /// Notes that the instance with the number `instance`, counted from 0, has ended on `rank`. If
    /// `compares` is true, compares its memory with what the program expects.
    pub(super) fn note(
        &mut self,
        job: Job<'_>,
        rank: u32,
        instance: u64,
        memory: &[u8],
        compares: bool,
    ) {
        let Job { segment, nisa, settings } = job;
        let status = segment.status(rank);
        if compares && settings.check && self.unexpected.is_none() {
            let number = (settings.spec.repeat > 1).then_some(instance);
            self.unexpected = image::unexpected(nisa, rank, memory, number);
        }
        if let Some(end_ns) = status.instances_ns.get(instance as usize) {
            let opened_ns = segment.start_barrier().opened_ns.load(Ordering::Relaxed);
            end_ns.store(now_ns().saturating_sub(opened_ns), Ordering::Relaxed);
        }
        if instance + 1 == settings.spec.repeat {
            status.ended_ns.store(now_ns(), Ordering::Relaxed);
        }
    }
}

/// Returns the number of messages that a rank sends in an instance, and the bytes of all of them
/// together.
pub(super) fn payload(nisa: &Nisa, rank: u32) -> (u64, u64) {
    let sizes = nisa.section(rank).records().filter_map(|(_, record)| match record.operation() {
        Operation::Send { payload, .. } => Some(payload.size()),
        _ => None,
    });
    sizes.fold((0, 0), |(messages, bytes), size| (messages + 1, bytes + size))
}
