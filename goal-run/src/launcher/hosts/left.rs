//! What ranks left, on its way to the leader.
#![allow(unsafe_code)] // writes to the areas of ranks of other hosts

use super::{LaunchError, Place, Session};
use crate::hosts::{Area, Message};
use goal_shm::Segment;
use rustix::fs::{SeekFrom, seek};
use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::atomic::Ordering;

/// What of each rank is told beside its status and its failure.
pub(super) struct Areas {
    pub(super) memory: bool,
    pub(super) matches: bool,
    pub(super) instance: bool,
    pub(super) trace: bool,
}

impl Areas {
    pub(super) fn list(&self) -> Vec<Area> {
        let all = [
            (Area::Status, true),
            (Area::Failure, true),
            (Area::Memory, self.memory),
            (Area::Matches, self.matches),
            (Area::Instance, self.instance),
            (Area::Trace, self.trace),
        ];
        all.into_iter().filter(|(_, is_told)| *is_told).map(|(area, _)| area).collect()
    }
}

/// Where it lies.
fn place_of(segment: &Segment, rank: u32, area: Area) -> Range<usize> {
    match area {
        Area::Status => segment.status_and_counts(rank),
        Area::Failure => segment.failure_record(rank),
        Area::Memory => segment.rank(rank).memory.clone(),
        Area::Matches => segment.rank(rank).matches.clone(),
        Area::Instance => segment.rank(rank).instance.clone(),
        Area::Trace => segment.rank(rank).trace.clone(),
    }
}

/// Tells the leader what the ranks of this host left, unless it hears meanwhile that nobody waits
/// for that. The ranks have ended. Where the job is not complete, that may be because the network
/// loses long frames, so short ones are sent.
pub(super) fn tell(
    session: &mut Session<'_>,
    place: &Place<'_>,
    areas: &[Area],
    is_complete: bool,
) -> Result<(), LaunchError> {
    let segment = place.segment;
    // Not through the mapping, which would give pages to memory that nobody has touched.
    let file = File::from(segment.fd().try_clone_to_owned()?);
    let leader = session.leader();
    for &rank in place.here {
        for &area in areas {
            let range = place_of(segment, rank, area);
            let mut next = range.start;
            while let Some(at) = touched(&file, next).filter(|&at| at < range.end) {
                if session.is_over() {
                    return Ok(());
                }
                let mut bytes = vec![0; Message::BYTES_MAX.min(range.end - at)];
                next = at + bytes.len();
                file.read_exact_at(&mut bytes, at as u64)?;
                // What the leader has is zeros.
                if bytes.iter().any(|&byte| byte != 0) {
                    let offset = (at - range.start) as u64;
                    session.post.send_with(
                        leader,
                        Message::Left { rank, area, offset },
                        bytes,
                        is_complete,
                    );
                }
            }
        }
    }
    let opened_ns = segment.gate().opened_ns.load(Ordering::SeqCst);
    session.post.send(leader, Message::Told { opened_ns });
    Ok(())
}

/// The first byte from `at` on in memory that somebody has touched.
fn touched(file: &File, at: usize) -> Option<usize> {
    seek(file, SeekFrom::Data(at as u64)).ok().map(|at| at as usize)
}

/// Puts a part of what a rank left where the rank would have. False if it does not fit.
pub(super) fn keep(segment: &Segment, rank: u32, area: Area, offset: u64, bytes: &[u8]) -> bool {
    let range = place_of(segment, rank, area);
    let fits = usize::try_from(offset)
        .is_ok_and(|offset| offset.checked_add(bytes.len()).is_some_and(|end| end <= range.len()));
    if fits {
        // SAFETY: the rank runs on another host, so nobody uses its areas here. This thread reads
        // them after it has got everything.
        unsafe { segment.write(range.start + offset as usize, bytes) };
    }
    fits
}
