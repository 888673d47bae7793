//! The engine, compiled for this processor, and the maps of a host as arrays.
#![allow(unsafe_code)] // the engine is C

use goal_kernel::layout::{
    ActionEntry, Counter, HostEntry, PartEntry, PeerEntry, ReceiveEntry, SendEntry, StatusEntry,
};
use goal_kernel::limits::{FRAGMENT_BYTES_MAX, SLACK_BYTES};
use goal_kernel::{Installation, Member};
use std::ffi::{CString, c_void};
use std::hint::spin_loop;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use zerocopy::IntoBytes;

/// A frame that a host sends: its bytes, and true if it goes to the host itself.
pub type Sent = (Vec<u8>, bool);

#[repr(C)]
struct Native {
    host: *mut HostEntry,
    parts: *mut PartEntry,
    status: *mut StatusEntry,
    actions: *mut ActionEntry,
    dependents: *mut u64,
    receives: *mut ReceiveEntry,
    sends: *mut SendEntry,
    peers: *mut PeerEntry,
    ready: *mut u64,
    handed: *mut u64,
    memory: *mut u8,
    bounce: *mut u8,
    counters: *mut u64,
    hash_key: *const u64,
    entries: [u32; 8],
    now: u64,
    emit: extern "C" fn(*mut Vec<Sent>, *const u8, u32, u32),
    context: *mut Vec<Sent>,
}

#[repr(C)]
struct NativeFrame {
    native: *mut Native,
    bytes: *mut u8,
    length: u32,
    shown: *const u8,
}

type Hook = unsafe extern "C" fn(*mut NativeFrame) -> i32;

/// The engine's function for frames.
#[derive(Clone, Copy)]
pub struct Engine(Hook);

impl Engine {
    /// Compiles the engine and loads it. Prints a line and returns `None` if there is no compiler.
    pub fn or_skip(test: &str) -> Option<Self> {
        let source = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("bpf/engine.c");
        // Tests run at the same time.
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let (process, number) = (std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let library = std::env::temp_dir().join(format!("goal-engine-{process}-{number}.so"));
        let compiled = Command::new("cc")
            .args(["-std=gnu11", "-O2", "-Wall", "-Werror", "-fPIC", "-shared", "-o"])
            .args([&library, &source])
            .output();
        let output = match compiled {
            Ok(output) => output,
            Err(error) => {
                goal_filetest::skipped(&format!("{test}: no compiler `cc`: {error}"));
                return None;
            }
        };
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let path = CString::new(library.to_str().unwrap()).unwrap();
        // SAFETY: the path ends with 0; the library is the engine's and stays loaded.
        let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        let _ = std::fs::remove_file(&library);
        assert!(!handle.is_null(), "the engine cannot be loaded");
        // SAFETY: the handle is open, and the name ends with 0.
        let symbol = unsafe { libc::dlsym(handle, c"goal_engine".as_ptr()) };
        assert!(!symbol.is_null(), "the engine lacks its function");
        // SAFETY: the engine's function has this type.
        Some(Self(unsafe { std::mem::transmute::<*mut c_void, Hook>(symbol) }))
    }
}

/// A host: its maps and the frames that it has sent.
pub struct Host {
    engine: Engine,
    pub entry: HostEntry,
    pub parts: Vec<PartEntry>,
    pub status: Vec<StatusEntry>,
    actions: Vec<ActionEntry>,
    dependents: Vec<u64>,
    receives: Vec<ReceiveEntry>,
    sends: Vec<SendEntry>,
    peers: Vec<PeerEntry>,
    ready: Vec<u64>,
    pub handed: Vec<u64>,
    memory: Vec<u8>,
    bounce: Vec<u8>,
    counters: Vec<u64>,
    hash_key: Vec<u64>,
    sent: Vec<Sent>,
    /// Nanoseconds of the clock.
    now: u64,
}

extern "C" fn emit(sent: *mut Vec<Sent>, bytes: *const u8, length: u32, is_local: u32) {
    // SAFETY: the engine hands back the pointer of `Host::call`, and a frame that it holds.
    let (sent, bytes) = unsafe { (&mut *sent, std::slice::from_raw_parts(bytes, length as usize)) };
    sent.push((bytes.to_vec(), is_local != 0));
}

impl Host {
    pub fn new(engine: Engine, installation: &Installation) -> Self {
        let image = installation.image();
        let parts = image.parts.len();
        Self {
            engine,
            entry: image.host,
            status: vec![StatusEntry::default(); parts],
            ready: vec![0; 2 * image.actions.len()],
            handed: vec![0; image.actions.len()],
            memory: {
                let mut memory = vec![0; (image.memory_bytes + SLACK_BYTES) as usize];
                for (at, constants) in &image.constants {
                    let start = *at as usize;
                    memory[start..start + constants.len()].copy_from_slice(constants);
                }
                memory
            },
            parts: image.parts,
            actions: image.actions,
            dependents: image.dependents,
            receives: image.receives,
            sends: image.sends,
            peers: image.peers,
            bounce: vec![0; FRAGMENT_BYTES_MAX as usize + 64],
            hash_key: image.hash_key,
            counters: vec![0; Counter::ALL.len()],
            sent: Vec::new(),
            now: 0,
        }
    }

    pub fn memory(&mut self, member: &Member) -> &mut [u8] {
        let start = member.memory_at as usize;
        &mut self.memory[start..start + member.memory_bytes as usize]
    }

    /// The memory of all parts.
    pub fn all_memory(&mut self) -> &mut [u8] {
        &mut self.memory
    }

    /// All maps that the engine changes, but for counters.
    pub fn everything(&self) -> Vec<u8> {
        let maps = [
            self.parts.as_bytes(),
            self.status.as_bytes(),
            self.actions.as_bytes(),
            self.receives.as_bytes(),
            self.sends.as_bytes(),
            self.ready.as_bytes(),
            self.handed.as_bytes(),
            &self.memory,
        ];
        maps.concat()
    }

    pub fn counter(&self, counter: Counter) -> u64 {
        self.counters[counter as usize]
    }

    /// Handles a frame that arrives. Returns the verdict and what the host sends.
    pub fn ingress(&mut self, frame: &[u8]) -> (i32, Vec<Sent>) {
        self.call(frame, None)
    }

    /// Handles a frame whose header is another one when it is read for the first time.
    pub fn ingress_changing(&mut self, first: &[u8; 56], frame: &[u8]) -> (i32, Vec<Sent>) {
        self.call(frame, Some(first))
    }

    /// Handles a frame that a process of the host sends.
    pub fn egress(&mut self, frame: &[u8]) -> (i32, Vec<Sent>) {
        self.call(frame, None)
    }

    /// Handles a tick, a millisecond after the last one, and returns what the host sends. Another
    /// tick at the same time has no effect.
    pub fn tick(&mut self, tick: &[u8]) -> Vec<Sent> {
        self.now += 1_000_000;
        let (_, sent) = self.egress(tick);
        let (_, again) = self.egress(tick);
        assert!(again.is_empty(), "of two ticks at a time, both count");
        sent
    }

    fn call(&mut self, frame: &[u8], shown: Option<&[u8; 56]>) -> (i32, Vec<Sent>) {
        let engine = self.engine;
        let mut native = self.native();
        let verdict = handle(engine, &mut native, frame, shown);
        (verdict, std::mem::take(&mut self.sent))
    }

    /// Handles two frames at a time, each on a processor of its own, pair after pair; `check` looks
    /// at the host's states after each. What is sent is dropped.
    pub fn race(
        &mut self,
        pairs: &[(Vec<u8>, Vec<u8>)],
        mut check: impl FnMut(usize, &[StatusEntry]),
    ) {
        let (engine, status, parts) = (self.engine, self.status.as_ptr(), self.status.len());
        let (mut bounce, mut dropped) = (self.bounce.clone(), [Vec::new(), Vec::new()]);
        let [first_sent, second_sent] = &mut dropped;
        let mut first = Native { context: first_sent, ..self.native() };
        let second = Native { context: second_sent, bounce: bounce.as_mut_ptr(), ..self.native() };
        let mut second = Lent(second);
        let [begun, ended] = [AtomicUsize::new(0), AtomicUsize::new(0)];
        // A pause of any length, so that the two meet everywhere.
        let pause = |number: usize, bound: usize| {
            (0..number.wrapping_mul(0x9e37_79b1) >> 7 & (bound - 1)).for_each(|_| spin_loop());
        };
        let wait = |word: &AtomicUsize, number: usize| {
            while word.load(Ordering::Acquire) < number {
                std::thread::yield_now();
            }
        };
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let second = &mut second;
                for (number, (_, frame)) in pairs.iter().enumerate() {
                    wait(&begun, number + 1);
                    pause(number, 32);
                    handle(engine, &mut second.0, frame, None);
                    ended.store(number + 1, Ordering::Release);
                }
            });
            // If the check fails, the other thread must not wait for ever.
            let _ended = Ended(&begun);
            for (number, (frame, _)) in pairs.iter().enumerate() {
                begun.store(number + 1, Ordering::Release);
                pause(number + 17, 64);
                handle(engine, &mut first, frame, None);
                wait(&ended, number + 1);
                // SAFETY: the states live as long as `self`, and no engine runs now.
                check(number, unsafe { std::slice::from_raw_parts(status, parts) });
            }
        });
    }

    fn native(&mut self) -> Native {
        let counts = [
            self.parts.len(),
            self.actions.len(),
            self.dependents.len(),
            self.receives.len(),
            self.sends.len(),
            self.peers.len(),
            self.memory.len() - SLACK_BYTES as usize,
            0,
        ];
        Native {
            host: &mut self.entry,
            parts: self.parts.as_mut_ptr(),
            status: self.status.as_mut_ptr(),
            actions: self.actions.as_mut_ptr(),
            dependents: self.dependents.as_mut_ptr(),
            receives: self.receives.as_mut_ptr(),
            sends: self.sends.as_mut_ptr(),
            peers: self.peers.as_mut_ptr(),
            ready: self.ready.as_mut_ptr(),
            handed: self.handed.as_mut_ptr(),
            memory: self.memory.as_mut_ptr(),
            bounce: self.bounce.as_mut_ptr(),
            counters: self.counters.as_mut_ptr(),
            hash_key: self.hash_key.as_ptr(),
            entries: counts.map(|count| count as u32),
            now: self.now,
            emit,
            context: &mut self.sent,
        }
    }
}

/// Lets a thread that waits for this number go on, when it is dropped.
struct Ended<'a>(&'a AtomicUsize);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.0.store(usize::MAX, Ordering::Release);
    }
}

/// The maps for another thread.
struct Lent(Native);

// SAFETY: the engine's words are changed by atomic instructions where processors share them.
unsafe impl Send for Lent {}

fn handle(engine: Engine, native: &mut Native, frame: &[u8], shown: Option<&[u8; 56]>) -> i32 {
    let mut bytes = frame.to_vec();
    bytes.resize(frame.len().max(56 + FRAGMENT_BYTES_MAX as usize + 8), 0);
    let mut frame = NativeFrame {
        native,
        bytes: bytes.as_mut_ptr(),
        length: frame.len() as u32,
        shown: shown.map_or(std::ptr::null(), |header| header.as_ptr()),
    };
    // SAFETY: all arrays have the lengths that `Host::native` states and outlive the call, and the
    // frame has room for the longest one. Only other calls of the engine use them meanwhile.
    unsafe { engine.0(&mut frame) }
}
