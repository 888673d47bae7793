//! The frames that processes of a host send to their own kernel: starts of runs, returns of
//! actions, and ticks. They never leave the host. A cookie proves where they come from.

use crate::job::Job;
use crate::layout::{FRAME_FORM, FRAME_LENGTH, FrameHeader, kind};
use std::mem::offset_of;
use zerocopy::{FromBytes, IntoBytes};

/// Bytes of a frame from a process to its own kernel.
pub(crate) const BYTES: usize = FRAME_LENGTH;

pub(crate) struct Start<'a> {
    pub schedule: u16,
    pub port: u16,
    pub cookie: u64,
    pub job: &'a Job,
}

fn header(job: &Job, kind: u8, cookie: u64) -> FrameHeader {
    FrameHeader {
        to: job.mac,
        from: job.mac,
        ethertype: job.ethertype.to_be(),
        form: FRAME_FORM,
        kind,
        job: job.number.to_be(),
        tag: cookie,
        ..FrameHeader::default()
    }
}

fn framed(header: &FrameHeader) -> [u8; BYTES] {
    let mut frame = [0; BYTES];
    frame[..size_of::<FrameHeader>()].copy_from_slice(header.as_bytes());
    frame
}

/// Returns the frame that starts a run, without its epoch: [`with_epoch`] adds it.
pub(crate) fn start(start: &Start<'_>) -> [u8; BYTES] {
    let header = FrameHeader {
        to_port: start.port.to_be(),
        schedule: start.schedule.to_be(),
        ..header(start.job, kind::START, start.cookie)
    };
    framed(&header)
}

/// Returns the start frame `frame` with an epoch.
pub(crate) fn with_epoch(frame: [u8; BYTES], epoch: u32) -> [u8; BYTES] {
    let (mut header, _) = FrameHeader::read_from_prefix(&frame).expect("the frame is longer");
    header.epoch = epoch.to_be();
    framed(&header)
}

/// Returns the frame by which a process gives an action back. `start` is a start frame of the same
/// part.
pub(crate) fn returned(start: [u8; BYTES], epoch: u32, action: u32) -> [u8; BYTES] {
    let (mut header, _) = FrameHeader::read_from_prefix(&start).expect("the frame is longer");
    header.kind = kind::RETURN;
    header.epoch = epoch.to_be();
    header.number = action.to_be();
    framed(&header)
}

/// Returns the frame of a tick.
pub(crate) fn tick(job: &Job) -> [u8; BYTES] {
    framed(&header(job, kind::TICK, job.secrets[0]))
}

/// Returns the start frame of a part, without its epoch. `frame` is a start frame of another part
/// of the same rank.
pub(crate) fn start_of(frame: [u8; BYTES], schedule: u16, cookie: u64) -> [u8; BYTES] {
    let (mut header, _) = FrameHeader::read_from_prefix(&frame).expect("the frame is longer");
    header.schedule = schedule.to_be();
    header.tag = cookie;
    framed(&header)
}

/// Returns a classic BPF program that accepts the completion events of a rank: of its part of one
/// schedule, or of all its parts.
pub(crate) fn done_filter(schedule: Option<u16>, port: u16, job: u32) -> Vec<libc::sock_filter> {
    let half = (libc::BPF_LD | libc::BPF_H | libc::BPF_ABS) as u16;
    let word = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
    let equal = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
    let answer = (libc::BPF_RET | libc::BPF_K) as u16;
    let tests = [
        (half, offset_of!(FrameHeader, form), u32::from(FRAME_FORM) << 8 | u32::from(kind::DONE)),
        (half, offset_of!(FrameHeader, to_port), port.into()),
        (word, offset_of!(FrameHeader, job), job),
    ];
    let of_schedule =
        schedule.map(|schedule| (half, offset_of!(FrameHeader, schedule), schedule.into()));
    let tests: Vec<(u16, usize, u32)> = tests.into_iter().chain(of_schedule).collect();
    let last = tests.len() - 1;
    let mut program = Vec::new();
    for (number, (load, at, value)) in tests.into_iter().enumerate() {
        // If the values differ, the program jumps to the refusal at its end.
        let refusal = 2 * (last - number) as u8 + 1;
        program.push(libc::sock_filter { code: load, jt: 0, jf: 0, k: at as u32 });
        program.push(libc::sock_filter { code: equal, jt: 0, jf: refusal, k: value });
    }
    program.push(libc::sock_filter { code: answer, jt: 0, jf: 0, k: FRAME_LENGTH as u32 });
    program.push(libc::sock_filter { code: answer, jt: 0, jf: 0, k: 0 });
    program
}
