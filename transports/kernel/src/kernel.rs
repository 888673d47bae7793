//! Loads the engine into the kernel and attaches it to an interface, with a job's maps.
//!
//! The object is the project's own and part of the library. The process that loads it needs
//! CAP_BPF, CAP_PERFMON and CAP_NET_ADMIN; ranks need no capability. Without CAP_PERFMON the
//! verifier guards against speculation, and refuses additions to pointers that several branches
//! lead to. Programs, maps and links of TCX live as long as a descriptor of them. So nothing is
//! left however the process ends.

use crate::error::LoadError;
use crate::install::{Installation, MapImage, Member};
use crate::layout::{Counter, PeerEntry};
use crate::limits::{SLACK_BYTES, page};
use crate::look::Look;
use crate::rank::Descriptors;
use crate::room::Share;
use crate::sys::{Mapping, packet_socket};
use crate::tables::TableDescriptors;
use aya::maps::{Map, MapData};
use aya::programs::links::LinkOrder;
use aya::programs::tc::{NlOptions, SchedClassifierLink, TcAttachOptions, qdisc_add_clsact};
use aya::programs::{SchedClassifier, TcAttachType, TestRun, TestRunOptions};
use aya::{Ebpf, EbpfLoader, VerifierLogLevel};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use zerocopy::{Immutable, IntoBytes};

/// The engine, compiled by clang from `bpf/engine.c`.
#[cfg(not(feature = "kernel-build"))]
static OBJECT: &[u8] = aya::include_bytes_aligned!("../bpf/engine.o");
#[cfg(feature = "kernel-build")]
static OBJECT: &[u8] = aya::include_bytes_aligned!(concat!(env!("OUT_DIR"), "/engine.o"));

/// The hooks that programs are attached to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hook {
    /// TCX, since Linux 6.6. Its links vanish with the process.
    Tcx,
    /// The classifier hooks of the queueing discipline clsact. The process must detach them.
    Clsact,
}

/// The engine at an interface. When this is dropped, it is detached.
pub struct Kernel {
    /// The loaded programs and maps. They are locked, because [`Ticker`](crate::Ticker) attaches
    /// programs to more interfaces.
    ebpf: Mutex<Ebpf>,
    hook: Hook,
    image: MapImage,
    counters: Mapping,
    ifindex: u32,
}

impl Kernel {
    /// Loads the engine, fills its maps, and attaches it to an interface of the calling thread's
    /// network namespace. The engine is attached at `hook`, or at the best hook that the kernel
    /// has.
    ///
    /// At TCX nothing is left of the engine when the process ends, however it ends. A filter at
    /// clsact is removed when this is dropped; it stays if the process is killed.
    ///
    /// # Errors
    /// [`LoadError`]: it names what is missing, or has the verifier's log.
    pub fn load(
        interface: &str,
        installation: &Installation,
        hook: Option<Hook>,
    ) -> Result<Self, LoadError> {
        let image = installation.image();
        if is_realtime() {
            return Err(io::Error::new(io::ErrorKind::Unsupported, ON_REALTIME).into());
        }
        let mut ebpf = loaded(&image)?;
        fill(&ebpf, &image)?;
        let hook = attach(&mut ebpf, interface, hook)?;
        let counters = Mapping::new(map(&ebpf, "goal_counters")?, 0, page())?;
        let ifindex = image.host.ifindex;
        Ok(Self { ebpf: Mutex::new(ebpf), hook, image, counters, ifindex })
    }

    /// Returns the hooks that the engine is attached to.
    pub fn hook(&self) -> Hook {
        self.hook
    }

    /// Returns the descriptors for the process of a rank: the maps of memory and state, and a
    /// socket for starts and for the completion events that wake it. The process needs no rights to
    /// use them.
    ///
    /// # Errors
    /// The system has no descriptors left, or the caller lacks CAP_NET_RAW.
    pub fn rank(&self, member: &Member) -> io::Result<Descriptors> {
        let ebpf = self.ebpf();
        let clone = |name| -> io::Result<OwnedFd> {
            map(&ebpf, name).map_err(io::Error::other)?.try_clone_to_owned()
        };
        let filter = member.filter(self.image.host.job);
        Ok(Descriptors {
            memory: clone("goal_memory")?,
            status: clone("goal_status")?,
            handed: clone("goal_handed")?,
            socket: packet_socket(self.ifindex, self.image.host.ethertype, Some(&filter))?,
        })
    }

    /// Returns the descriptors for the process of a program's rank, which it may use without any
    /// rights. These are the maps that it installs its schedules in, and a socket for starts and
    /// completion events. The maps with the job's key and the peers' addresses are not among them.
    ///
    /// # Errors
    /// The errors of [`rank`](Self::rank).
    pub fn tables(&self, share: &Share) -> io::Result<TableDescriptors> {
        let ebpf = self.ebpf();
        let clone = |name| -> io::Result<OwnedFd> {
            map(&ebpf, name).map_err(io::Error::other)?.try_clone_to_owned()
        };
        let filter = share.filter(self.image.host.job);
        Ok(TableDescriptors {
            parts: clone("goal_parts")?,
            status: clone("goal_status")?,
            actions: clone("goal_actions")?,
            dependents: clone("goal_dependents")?,
            receives: clone("goal_receives")?,
            sends: clone("goal_sends")?,
            memory: clone("goal_memory")?,
            handed: clone("goal_handed")?,
            socket: packet_socket(self.ifindex, self.image.host.ethertype, Some(&filter))?,
        })
    }

    fn ebpf(&self) -> MutexGuard<'_, Ebpf> {
        self.ebpf.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Attaches a program of the object to another interface of the thread's network namespace, at
    /// TCX. It is detached when the link is dropped.
    pub(crate) fn attach_other(
        &self,
        program: &str,
        interface: &str,
        hook: TcAttachType,
    ) -> io::Result<SchedClassifierLink> {
        let mut ebpf = self.ebpf();
        let program = classifier(&mut ebpf, program).map_err(io::Error::other)?;
        let options = TcAttachOptions::TcxOrder(LinkOrder::default());
        let attached = program.attach_with_options(interface, hook, options);
        attached.and_then(|link| program.take_link(link)).map_err(io::Error::other)
    }

    /// Returns a view of the state of all parts.
    ///
    /// # Errors
    /// The system has no descriptors or no memory left.
    pub fn look(&self) -> io::Result<Look> {
        let ebpf = self.ebpf();
        let map = |name| map(&ebpf, name).map_err(io::Error::other);
        let maps = [map("goal_parts")?, map("goal_status")?, map("goal_actions")?];
        let [parts, status, actions] = maps;
        let MapImage { parts: some, actions: of_actions, receives, sends, .. } = &self.image;
        let counts = [some.len(), of_actions.len(), receives.len(), sends.len()];
        let (receives, sends) = (map("goal_receives")?, map("goal_sends")?);
        let maps = [parts, status, actions, receives, sends];
        Look::new(maps, counts.map(|count| count as u32))
    }

    /// Returns a further mapping of the engine's counters.
    pub(crate) fn counters(&self) -> io::Result<Mapping> {
        let ebpf = self.ebpf();
        Mapping::new(map(&ebpf, "goal_counters").map_err(io::Error::other)?, 0, page())
    }

    /// Opens a socket for ticks.
    pub(crate) fn tick_socket(&self) -> io::Result<OwnedFd> {
        packet_socket(self.ifindex, self.image.host.ethertype, None)
    }

    /// Lets the engine handle a frame `times` times, as if it had arrived. Returns the mean time.
    /// This is for benchmarks and tests. The frame must be one that the engine refuses.
    ///
    /// # Errors
    /// The caller lacks CAP_BPF, or the frame does not fit a page.
    pub fn trial(&self, frame: &[u8], times: u32) -> Result<Duration, LoadError> {
        let options =
            TestRunOptions { data_in: Some(frame), repeat: times, ..TestRunOptions::default() };
        Ok(engine(&mut self.ebpf())?.test_run(options)?.duration)
    }

    /// Returns the value of a counter of frames.
    pub fn counter(&self, counter: Counter) -> u64 {
        let mut bytes = [0; 8];
        self.counters.read(8 * counter as usize, &mut bytes);
        u64::from_ne_bytes(bytes)
    }
}

/// Loads the programs, with maps of the image's lengths.
pub(crate) fn loaded(image: &MapImage) -> Result<Ebpf, LoadError> {
    // A log takes the verifier a second. So the engine is loaded without a log first, and again
    // with one if the verifier refuses it.
    match loaded_with(image, VerifierLogLevel::DISABLE) {
        Err(error) if error.is_verifier() => {
            loaded_with(image, VerifierLogLevel::DEBUG | VerifierLogLevel::STATS)
        }
        other => other,
    }
}

fn loaded_with(image: &MapImage, log: VerifierLogLevel) -> Result<Ebpf, LoadError> {
    let count = |entries: usize| entries.max(1) as u32;
    let mut loader = EbpfLoader::new();
    loader
        .verifier_log_level(log)
        .map_max_entries("goal_parts", count(image.parts.len()))
        .map_max_entries("goal_status", count(image.parts.len()))
        .map_max_entries("goal_actions", count(image.actions.len()))
        .map_max_entries("goal_ready", count(2 * image.actions.len()))
        .map_max_entries("goal_handed", count(image.actions.len()))
        .map_max_entries("goal_dependents", count(image.dependents.len()))
        .map_max_entries("goal_receives", count(image.receives.len()))
        .map_max_entries("goal_sends", count(image.sends.len()))
        .map_max_entries("goal_peers", count(image.peers.len()));
    // The map of memory has one value, of any length. The engine compares the place of each access
    // with this bound.
    let last = u64::from(image.memory_bytes);
    loader.override_global("goal_last_place", &last, true);
    let mut ebpf = loader.load(&object(image.memory_bytes + SLACK_BYTES))?;
    for name in [ENGINE, "goal_mirror"] {
        classifier(&mut ebpf, name)?.load()?;
    }
    Ok(ebpf)
}

/// The number in the object that stands for the bytes of a value of the map of memory, as in
/// `bpf/platform_bpf.h`.
const MEMORY_PLACEHOLDER: u32 = 0x0010_1357;

/// Returns the object with a map of memory of the given length: aya sets only numbers of entries.
fn object(memory_bytes: u32) -> Vec<u8> {
    let mut object = OBJECT.to_vec();
    let at = placeholders().next().expect("the object has the number, as a test shows");
    object[at..at + 4].copy_from_slice(&memory_bytes.to_le_bytes());
    object
}

fn placeholders() -> impl Iterator<Item = usize> {
    let wanted = MEMORY_PLACEHOLDER.to_le_bytes();
    OBJECT.windows(4).enumerate().filter(move |(_, bytes)| *bytes == wanted).map(|(at, _)| at)
}

const ENGINE: &str = "goal_engine";

/// The reason why the engine does not run on a kernel with PREEMPT_RT: its copy of a frame lies in
/// a buffer of the processor.
pub(crate) const ON_REALTIME: &str =
    "with CONFIG_PREEMPT_RT, programs at an interface interrupt each other";

/// Returns true if this kernel was built with PREEMPT_RT.
pub(crate) fn is_realtime() -> bool {
    std::fs::read("/sys/kernel/realtime").is_ok_and(|text| text.trim_ascii() == b"1")
}

fn engine(ebpf: &mut Ebpf) -> Result<&mut SchedClassifier, LoadError> {
    classifier(ebpf, ENGINE)
}

fn classifier<'a>(ebpf: &'a mut Ebpf, name: &str) -> Result<&'a mut SchedClassifier, LoadError> {
    let program = ebpf.program_mut(name).expect("the object has the program");
    Ok(program.try_into()?)
}

fn map<'a>(ebpf: &'a Ebpf, name: &str) -> Result<BorrowedFd<'a>, LoadError> {
    let data: &MapData = match ebpf.map(name) {
        Some(Map::Array(data)) => data,
        _ => unreachable!("the object has an array {name}"),
    };
    Ok(data.fd().as_fd())
}

/// Writes the entries of the maps.
fn fill(ebpf: &Ebpf, image: &MapImage) -> Result<(), LoadError> {
    write(ebpf, "goal_host", std::slice::from_ref(&image.host))?;
    write(ebpf, "goal_hash_key", &image.hash_key)?;
    write(ebpf, "goal_parts", &image.parts)?;
    write(ebpf, "goal_actions", &image.actions)?;
    write(ebpf, "goal_dependents", &image.dependents)?;
    write(ebpf, "goal_receives", &image.receives)?;
    write(ebpf, "goal_sends", &image.sends)?;
    write::<PeerEntry>(ebpf, "goal_peers", &image.peers)?;
    if image.memory_bytes > 0 {
        let length = image.memory_bytes as usize;
        let mut memory = Mapping::new(map(ebpf, "goal_memory")?, 0, length)?;
        for (at, constants) in &image.constants {
            memory.write(*at as usize, constants);
        }
    }
    Ok(())
}

fn write<T: IntoBytes + Immutable>(
    ebpf: &Ebpf,
    name: &str,
    entries: &[T],
) -> Result<(), LoadError> {
    const { assert!(size_of::<T>().is_multiple_of(8), "entries of arrays are whole words") };
    let bytes = entries.as_bytes();
    if !bytes.is_empty() {
        let length = bytes.len().next_multiple_of(page());
        Mapping::new(map(ebpf, name)?, 0, length)?.write(0, bytes);
    }
    Ok(())
}

/// Attaches the program to both hooks: egress first, so that no message arrives before starts are
/// possible.
fn attach(ebpf: &mut Ebpf, interface: &str, hook: Option<Hook>) -> Result<Hook, LoadError> {
    let mut all = |options: fn() -> TcAttachOptions| -> Result<(), LoadError> {
        for hook in [TcAttachType::Egress, TcAttachType::Ingress] {
            engine(ebpf)?.attach_with_options(interface, hook, options())?;
        }
        Ok(())
    };
    if hook != Some(Hook::Clsact) {
        let attached = all(|| TcAttachOptions::TcxOrder(LinkOrder::default()));
        if attached.is_ok() || hook == Some(Hook::Tcx) {
            return attached.map(|()| Hook::Tcx);
        }
    }
    // The queueing discipline may exist already.
    let _ = qdisc_add_clsact(interface);
    all(|| TcAttachOptions::Netlink(NlOptions::default()))?;
    Ok(Hook::Clsact)
}

#[cfg(test)]
mod tests {
    use super::*;
    use goal_filetest::skipped;

    /// The verifier refuses a program of a million steps.
    const STEPS_MAX: u32 = 250_000;

    #[test]
    fn the_object_has_one_place_for_the_length_of_memory() {
        assert_eq!(placeholders().count(), 1);
    }

    #[test]
    fn the_verifier_takes_few_steps() {
        let mut ebpf = match loaded(&Installation::smallest().image()) {
            Ok(ebpf) => ebpf,
            Err(error) if error.is_permission() => return skipped(&error.to_string()),
            Err(error) => panic!("{error}"),
        };
        let info = engine(&mut ebpf).unwrap().info().unwrap();
        let Some(steps) = info.verified_instruction_count() else {
            return skipped("the kernel tells no number");
        };
        println!("{steps} steps of the verifier");
        assert!(steps <= STEPS_MAX, "{steps}");
    }
}
