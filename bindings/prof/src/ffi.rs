#![allow(unsafe_code)] // Functions for the C sources in `shim/`, which pass pointers.
//! Implements the functions that `shim/goalprof.h` declares.
//!
//! Threat: an MPI program may call from several threads, after an error of its own, and while it
//! ends. One lock protects all calls. A fault of the recorder is reported once on standard error,
//! and never ends the program. The same holds for a panic. A process that the program forks writes
//! nothing. It takes no lock, since a thread that does not exist in it may hold the lock.
//!
//! Threat: whoever starts a program chooses its environment, which names the folder of the files. A
//! program whose file gives it rights that its starter lacks (`AT_SECURE`) is not recorded.

use crate::collective::{Collective, Elements};
use crate::memory;
use crate::output::{create, leave_to_parent, without_signals};
use crate::recorder::{Fault, Recorder, SentMessage, Status};
use crate::settings::{Settings, SettingsError};
use goal_lang::CollectiveKind;
use parking_lot::Mutex;
use std::ffi::{CStr, c_char, c_int};
use std::fmt::Display;
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

struct State {
    recorder: Recorder<Box<dyn Write + Send>>,
    is_told: bool,
}

static STATE: Mutex<Option<State>> = Mutex::new(None);
/// True in a process that the program has forked.
static IS_FORK: AtomicBool = AtomicBool::new(false);
/// The next unused number of a thread, and the numbers of threads that have ended.
static NUMBERS: Mutex<(usize, Vec<usize>)> = Mutex::new((0, Vec::new()));

/// The number of a thread. It is given back when the thread ends.
struct Number {
    number: usize,
    /// True until the recorder has seen the thread.
    is_new: std::cell::Cell<bool>,
}

impl Drop for Number {
    fn drop(&mut self) {
        if is_fork() {
            return;
        }
        let _ = catch_unwind(AssertUnwindSafe(|| {
            if let (Some(state), false) = (STATE.lock().as_mut(), self.is_new.get()) {
                state.recorder.end_thread(self.number);
            }
        }));
        NUMBERS.lock().1.push(self.number);
    }
}

thread_local! {
    static NUMBER: Number = {
        let mut numbers = NUMBERS.lock();
        let number = numbers.1.pop().unwrap_or_else(|| {
            numbers.0 += 1;
            numbers.0 - 1
        });
        Number { number, is_new: std::cell::Cell::new(true) }
    };
}

fn is_fork() -> bool {
    IS_FORK.load(Ordering::Relaxed)
}

fn now_ns() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

fn tell(rank: impl Display, what: impl Display) {
    // Standard error may be closed.
    write_error(format!("goal-prof: rank {rank}: {what}\n").as_bytes());
}

/// Writes to standard error, and ignores errors. It may be a full file, or a pipe that nobody
/// reads.
fn write_error(line: &[u8]) {
    let _ = without_signals(|| io::stderr().write_all(line));
}

/// Calls `step` with the recorder and the number of this thread. Does nothing if there is no
/// recorder, or if the thread is ending and has no number any more.
fn with(step: impl FnOnce(&mut Recorder<Box<dyn Write + Send>>, usize)) {
    // Without memory, a new thread can get no number.
    if is_fork() || memory::has_ended() {
        return;
    }
    let number = NUMBER.try_with(|number| (number.number, number.is_new.take()));
    let Ok((thread, is_new)) = number else { return };
    locked(|recorder| {
        if is_new {
            recorder.begin_thread(thread);
        }
        step(recorder, thread);
    });
}

/// Calls `step` with the recorder, and tells the user of new faults. Does nothing if there is no
/// recorder.
fn locked(step: impl FnOnce(&mut Recorder<Box<dyn Write + Send>>)) {
    if is_fork() {
        return;
    }
    let caught = catch_unwind(AssertUnwindSafe(|| {
        let mut state = STATE.lock();
        let Some(State { recorder, is_told, .. }) = state.as_mut() else { return };
        step(recorder);
        let has_ended = memory::has_ended();
        if has_ended {
            recorder.fail(Fault::Memory);
        }
        *is_told = tell_of(recorder, *is_told);
        if has_ended {
            *state = None;
        }
    }));
    if caught.is_err() {
        // After a panic the recorder may be inconsistent. Its file stays as it is, without the
        // closing brace.
        *STATE.lock() = None;
        write_error(
            b"goal-prof: this is a fault of the profiler. Recording ends; the program goes on.\n",
        );
    }
}

/// Tells the user the notes and the fault of a recorder. Returns true if its fault was told, now or
/// earlier.
fn tell_of(recorder: &mut Recorder<Box<dyn Write + Send>>, is_told: bool) -> bool {
    for note in recorder.take_notes() {
        tell(recorder.rank(), note);
    }
    let Some(fault) = recorder.fault() else { return false };
    if !is_told {
        tell(recorder.rank(), format_args!("{fault}. Recording ends; the program goes on."));
    }
    true
}

/// Returns the name of the program.
fn program() -> String {
    let path = std::env::args_os().next().unwrap_or_default();
    let name = std::path::Path::new(&path).file_name();
    name.map_or("program".to_owned(), |name| name.to_string_lossy().into_owned())
}

fn settings() -> Result<Settings, SettingsError> {
    Settings::from_variables(&program(), |name| {
        std::env::var_os(name).map(|value| value.to_string_lossy().into_owned())
    })
}

/// Returns a digest of the settings that all ranks must have in common. Returns 0 if the settings
/// are wrong, and tells the user so once.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn goalprof_digest(rank: u32) -> u64 {
    static DIGEST: OnceLock<u64> = OnceLock::new();
    *DIGEST.get_or_init(|| {
        // SAFETY: the call reads what the kernel left at the start of the process.
        if (unsafe { libc::getauxval(libc::AT_SECURE) }) != 0 {
            tell(
                rank,
                "the program's file gives it rights that its starter lacks. Nothing is recorded; the program goes on.",
            );
            return 0;
        }
        match settings() {
        Ok(settings) => settings.digest().max(1),
        Err(error) => {
            tell(rank, format_args!("{error}. Nothing is recorded; the program goes on."));
            0
        }
        }
    })
}

/// Starts the recorder. `is_multiple` is true if threads may call MPI at the same time. Returns the
/// number of words of a set of communicator numbers, which depends only on the settings. If the
/// digest is 0, creates no file and returns 0. In a session, nobody has looked at the digest
/// before.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn goalprof_begin(
    rank: u32,
    ranks: u32,
    world: u64,
    own: u64,
    is_multiple: c_int,
) -> usize {
    if goalprof_digest(rank) == 0 {
        return 0;
    }
    let Ok(mut settings) = settings() else { return 0 };
    settings.orders_threads.get_or_insert(is_multiple == 0);
    let path = settings.dir.join(format!("{}.{rank}.goal", settings.name));
    let (to, fault): (Box<dyn Write + Send>, _) = match create(&path) {
        Ok(file) => (Box::new(file), None),
        // The rank has no file, but still takes part in choosing numbers of communicators.
        Err(error) => {
            let told = format!(
                "{} can't be created: {error}; set GOALPROF_DIR to a folder that it can write to",
                path.display()
            );
            (Box::new(io::sink()), Some(Fault::Caller(told)))
        }
    };
    let mut recorder = Recorder::new(settings, rank, ranks, world, own, to);
    let words = recorder.free_ids().len();
    if let Some(fault) = fault {
        recorder.fail(fault);
    }
    memory::reserve();
    *STATE.lock() = Some(State { recorder, is_told: false });
    with(|recorder, thread| recorder.leave(thread, now_ns()));
    words
}

/// Closes the rank's block when the last use of MPI ends.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn goalprof_finish() {
    locked(|recorder| recorder.finish());
}

/// Opens another block of the rank when the program uses MPI again.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn goalprof_resume() {
    with(|recorder, thread| recorder.resume(thread, now_ns()));
}

/// Notes that this process is a fork of the program, which leaves the file to its parent.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn goalprof_forked() {
    IS_FORK.store(true, Ordering::Relaxed);
    leave_to_parent();
}

/// Ends the recording, for the reason `why`.
///
/// # Safety
/// `why` is a string.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn goalprof_fail(why: *const c_char) {
    // SAFETY: the caller says so.
    let why = unsafe { CStr::from_ptr(why) }.to_string_lossy();
    locked(|recorder| recorder.fail(Fault::Caller(why.into_owned())));
}

/// Ends the recording because the caller could not allocate memory.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn goalprof_no_memory() {
    memory::end();
    locked(|_| {});
}

/// Tells the user the sentence `what`, once.
///
/// # Safety
/// `what` is a literal.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn goalprof_note(what: *const c_char) {
    // SAFETY: the caller passes a literal.
    let what = unsafe { name_of(what) };
    locked(|recorder| recorder.note(what));
}

/// Writes a line to standard error.
///
/// # Safety
/// `line` is a string.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn goalprof_tell(line: *const c_char) {
    // SAFETY: the caller says so.
    write_error(unsafe { CStr::from_ptr(line) }.to_bytes());
}

/// Writes everything to the file, as the program ends without `MPI_Finalize`.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn goalprof_abandon() {
    if is_fork() {
        return;
    }
    // If another thread holds the lock for long, the buffered lines are lost.
    let Some(mut state) = STATE.try_lock_for(Duration::from_secs(1)) else { return };
    let Some(State { mut recorder, is_told, .. }) = state.take() else { return };
    let _ = catch_unwind(AssertUnwindSafe(|| {
        recorder.abandon("the program ended without MPI_Finalize");
        tell_of(&mut recorder, is_told);
    }));
}

/// Records that a call of MPI begins.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn goalprof_enter() {
    let now_ns = now_ns();
    with(|recorder, thread| recorder.enter(thread, now_ns));
}

/// Records that a call of MPI ends.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn goalprof_leave() {
    // The time is read last, so that the time of the recorder does not count as computation.
    with(|recorder, thread| recorder.leave(thread, now_ns()));
}

/// Handles `MPI_Pcontrol`: 0 turns the recording off, 1 turns it on, and 2 writes the buffer to the
/// file.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn goalprof_control(level: c_int) {
    with(|recorder, thread| match level {
        0 => recorder.turn(thread, false, now_ns()),
        1 => recorder.turn(thread, true, now_ns()),
        2 => recorder.flush(),
        _ => {}
    });
}

/// Copies the set of free communicator numbers to `words`. Leaves `words` unchanged if there is no
/// recorder.
///
/// # Safety
/// `words` must have room for as many words as [`goalprof_begin`] returned.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn goalprof_ids(words: *mut u64) {
    // A thread that is ending has no number, but must take part too.
    locked(|recorder| {
        let free = recorder.free_ids();
        // SAFETY: the caller gives room for this many words.
        unsafe { std::ptr::copy_nonoverlapping(free.as_ptr(), words, free.len()) };
    });
}

/// Adds a communicator.
///
/// # Safety
/// `words` must have `count` words, and `world` `size` ranks.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn goalprof_communicator(
    handle: u64,
    words: *const u64,
    count: usize,
    me: u32,
    world: *const u32,
    size: usize,
) {
    // SAFETY: the caller passes arrays of these lengths.
    let (words, world) = unsafe { (array(words, count), array(world, size)) };
    locked(|recorder| recorder.add_communicator(handle, words, me, world));
}

/// Returns the number of a communicator, or the largest number if the communicator is not recorded.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn goalprof_communicator_number(handle: u64) -> u32 {
    let mut number = u32::MAX;
    locked(|recorder| number = recorder.communicator(handle).unwrap_or(u32::MAX));
    number
}

/// Forgets a communicator that had a number.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn goalprof_communicator_free(handle: u64, number: u32) {
    locked(|recorder| recorder.remove_communicator(handle, number));
}

/// Returns an array as a slice.
///
/// # Safety
/// `count` elements lie at `from` as long as the slice is used. If `count` is 0, any pointer will
/// do.
unsafe fn array<'a, T>(from: *const T, count: usize) -> &'a [T] {
    if count == 0 || from.is_null() {
        return &[];
    }
    // SAFETY: the caller says so.
    unsafe { std::slice::from_raw_parts(from, count) }
}

/// Returns the name of a function of MPI.
///
/// # Safety
/// `name` is a string that lives as long as the program.
unsafe fn name_of(name: *const c_char) -> &'static str {
    // SAFETY: the caller passes a literal.
    unsafe { CStr::from_ptr(name) }.to_str().unwrap_or("MPI")
}

/// The description of a send, in C.
#[repr(C)]
pub(crate) struct CMessage {
    name: *const c_char,
    communicator: u64,
    bytes: u64,
    /// The destination. It is negative for `MPI_PROC_NULL`.
    to: c_int,
    tag: c_int,
    buffered: c_int,
}

impl CMessage {
    fn message(&self) -> SentMessage {
        let &Self { communicator, bytes, to, tag, buffered, .. } = self;
        let (to, tag) = (u32::try_from(to).ok(), u32::try_from(tag).unwrap_or(0));
        SentMessage { communicator, to, tag, bytes, buffered: buffered != 0 }
    }

    fn name(&self) -> &'static str {
        // SAFETY: `goalprof.h` demands a literal.
        unsafe { name_of(self.name) }
    }
}

/// The status of an operation that has ended, in C.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct CStatus {
    bytes: u64,
    /// The source. It is negative for `MPI_PROC_NULL`.
    from: c_int,
    tag: c_int,
    cancelled: c_int,
}

impl CStatus {
    fn status(self) -> Status {
        let Self { bytes, from, tag, cancelled } = self;
        let (from, tag) = (u32::try_from(from).ok(), u32::try_from(tag).unwrap_or(0));
        Status { from, tag, bytes, cancelled: cancelled != 0 }
    }
}

/// Records a send that has ended.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn goalprof_send(of: CMessage) {
    with(|recorder, thread| recorder.send(thread, of.name(), of.message()));
}

/// Records a send that has started. Returns its token; 0 if there is none.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn goalprof_isend(request: u64, of: CMessage) -> u64 {
    let mut token = 0;
    with(|recorder, thread| {
        token = recorder.start_send(thread, of.name(), request, of.message());
    });
    token
}

/// Records a persistent send.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn goalprof_send_init(request: u64, of: CMessage) {
    with(|recorder, _| recorder.init_send(of.name(), request, of.message()));
}

/// Records a receive that has ended.
///
/// # Safety
/// `name` is a literal.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn goalprof_recv(
    name: *const c_char,
    communicator: u64,
    status: CStatus,
) {
    // SAFETY: the caller passes a literal.
    let name = unsafe { name_of(name) };
    with(|recorder, thread| recorder.recv(thread, name, communicator, status.status()));
}

/// Records a receive that has started. Returns its token; 0 if there is none.
///
/// # Safety
/// `name` is a literal.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn goalprof_irecv(
    request: u64,
    name: *const c_char,
    communicator: u64,
    is_null: c_int,
) -> u64 {
    // SAFETY: the caller passes a literal.
    let name = unsafe { name_of(name) };
    let mut token = 0;
    with(|recorder, thread| {
        token = recorder.start_recv(thread, name, request, communicator, is_null != 0);
    });
    token
}

/// Records a persistent receive.
///
/// # Safety
/// `name` is a literal.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn goalprof_recv_init(
    request: u64,
    name: *const c_char,
    communicator: u64,
    is_null: c_int,
) {
    // SAFETY: the caller passes a literal.
    let name = unsafe { name_of(name) };
    with(|recorder, _| recorder.init_recv(name, request, communicator, is_null != 0));
}

/// Records a send and a receive that have ended together.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn goalprof_sendrecv(of: CMessage, status: CStatus) {
    with(|recorder, thread| {
        recorder.send_recv(thread, of.name(), of.message(), status.status());
    });
}

/// Records a send and a receive with one request that have started.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn goalprof_isendrecv(request: u64, of: CMessage, is_null: c_int) {
    with(|recorder, thread| {
        recorder.start_send_recv(thread, of.name(), request, of.message(), is_null != 0);
    });
}

/// Notes a call with a receive for which the MPI library reports no status.
///
/// # Safety
/// `name` is a literal.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn goalprof_no_status(name: *const c_char) {
    // SAFETY: the caller passes a literal.
    let name = unsafe { name_of(name) };
    with(|recorder, _| recorder.miss_status(name));
}

/// Records the start of a persistent request.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn goalprof_start(request: u64) {
    with(|recorder, thread| recorder.start(thread, request));
}

/// Looks up the tokens of requests that a call may complete, before the call.
///
/// # Safety
/// `requests` must have `count` handles, and `tokens` room for as many tokens.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn goalprof_claim(
    requests: *const u64,
    tokens: *mut u64,
    count: usize,
) {
    // SAFETY: the caller passes an array of this length.
    let requests = unsafe { array(requests, count) };
    with(|recorder, thread| {
        for (at, request) in requests.iter().enumerate() {
            // SAFETY: the caller gives room for as many tokens as requests.
            unsafe { tokens.add(at).write(recorder.claim(thread, *request)) };
        }
    });
}

/// Records the completion of a request.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn goalprof_complete(request: u64, token: u64, status: CStatus) {
    with(|recorder, thread| recorder.complete(thread, request, token, status.status()));
}

/// Records that a request is freed. Returns the token of an active receive, and 0 otherwise.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn goalprof_free(request: u64) -> u64 {
    let mut token = 0;
    with(|recorder, thread| token = recorder.free(thread, request));
    token
}

/// Records the end of a receive that was freed.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn goalprof_detached(request: u64, token: u64, status: CStatus) {
    locked(|recorder| recorder.detached(request, token, status.status()));
}

/// The description of a collective, in C.
#[repr(C)]
pub(crate) struct CCollective {
    name: *const c_char,
    communicator: u64,
    /// The index of the collective in [`CollectiveKind::ALL`].
    kind: u32,
    root: u32,
    /// The form of the blocks. 0: all equal, 1: one size for each rank, 2: only this rank's own
    /// size is known, 3: one size to each rank and one from each rank.
    shape: u32,
    commutes: u32,
    width: u64,
    /// One size for shapes 0 and 2, otherwise `ranks` sizes.
    send: *const u64,
    /// `ranks` sizes for shape 3, otherwise unused.
    recv: *const u64,
    ranks: usize,
}

impl CCollective {
    /// # Safety
    /// The arrays have the lengths that `shape` and `ranks` tell.
    unsafe fn collective(&self) -> Option<Collective> {
        let &Self { root, shape, commutes, width, send, recv, ranks, .. } = self;
        // SAFETY: the caller says so.
        let one = || unsafe { array(send, 1) }.first().copied().unwrap_or(0);
        // SAFETY: the caller says so.
        let all = |from| unsafe { array(from, ranks) }.to_vec();
        let elements = match shape {
            0 => Elements::Equal(one()),
            1 => Elements::Each(all(send)),
            2 => Elements::Own(one()),
            _ => Elements::Pairs { send: all(send), recv: all(recv) },
        };
        let kind = *CollectiveKind::ALL.get(self.kind as usize)?;
        Some(Collective { kind, root, elements, width, commutes: commutes != 0 })
    }
}

/// Records a collective. `form` is 0 if it has ended, 1 if it has started, and 2 if it is
/// persistent.
///
/// # Safety
/// The arrays of `of` have the lengths that it tells, and its name is a literal.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn goalprof_collective(
    form: c_int,
    request: u64,
    of: *const CCollective,
) {
    // SAFETY: the caller passes a valid collective.
    let (of, name, collective) = unsafe { (&*of, name_of((*of).name), (*of).collective()) };
    let (handle, Some(collective)) = (of.communicator, collective) else { return };
    with(|recorder, thread| match form {
        0 => recorder.collective(thread, handle, name, collective),
        1 => recorder.start_collective(thread, request, handle, name, collective),
        _ => recorder.init_collective(request, handle, name, collective),
    });
}
