//! Sends the memory that ranks left to the leader. `unsafe`: the areas of ranks of other hosts are
//! written.
#![allow(unsafe_code)]

use super::session::Session;
use crate::hosts::{Area, LauncherMessage};
use crate::launcher::error::LaunchError;
use crate::launcher::rank_set::Place;
use goal_shm::Segment;
use rustix::fs::{SeekFrom, seek};
use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::atomic::Ordering;

/// The areas that are sent for each rank, besides its status and its failure record.
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

/// Returns the range of an area in the segment.
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

/// Sends the leader the areas of this host's ranks, which have ended. Stops early if the session is
/// over. Fills long frames only if the job is complete. Otherwise the reason may be that the
/// network drops long frames, so the messages use short ones.
pub(super) fn tell(
    session: &mut Session<'_>,
    place: &Place<'_>,
    areas: &[Area],
    is_complete: bool,
) -> Result<(), LaunchError> {
    let segment = place.segment;
    // Reads the segment's file, because reading untouched memory of the mapping would allocate
    // pages.
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
                let mut bytes = vec![0; LauncherMessage::BYTES_MAX.min(range.end - at)];
                next = at + bytes.len();
                file.read_exact_at(&mut bytes, at as u64)?;
                // Parts of zeros are not sent, because the leader's areas are zero at first.
                if bytes.iter().any(|&byte| byte != 0) {
                    let offset = (at - range.start) as u64;
                    session.post.send_with(
                        leader,
                        LauncherMessage::Left { rank, area, offset },
                        bytes,
                        is_complete,
                    );
                }
            }
        }
    }
    let opened_ns = segment.start_barrier().opened_ns.load(Ordering::SeqCst);
    session.post.send(leader, LauncherMessage::Told { opened_ns });
    Ok(())
}

/// Returns the first offset from `at` on that is in an allocated page of the file.
fn touched(file: &File, at: usize) -> Option<usize> {
    seek(file, SeekFrom::Data(at as u64)).ok().map(|at| at as usize)
}

/// Copies a part of another host's area of `rank` to its place in this segment. Returns false, and
/// writes nothing, if it does not fit there.
pub(super) fn keep(segment: &Segment, rank: u32, area: Area, offset: u64, bytes: &[u8]) -> bool {
    let range = place_of(segment, rank, area);
    let fits = usize::try_from(offset)
        .is_ok_and(|offset| offset.checked_add(bytes.len()).is_some_and(|end| end <= range.len()));
    if fits {
        // SAFETY: the rank runs on another host, so its areas are not used here. This thread reads
        // them after it has got everything.
        unsafe { segment.write(range.start + offset as usize, bytes) };
    }
    fits
}
