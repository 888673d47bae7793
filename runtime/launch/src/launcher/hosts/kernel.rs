//! Lets all hosts agree whether their kernels run the job's schedules. Loads the engine into this
//! host's kernel.
//!
//! Threat: anyone who sends frames to the interface could send forged ones to the engine. The
//! engine compares their tags, whose key follows from the job's key and the number of the run.
//!
//! Threat: a launcher is killed, and its engine stays in the kernel. So only hooks of TCX are used,
//! whose links end with their descriptors. Filters at the hooks of older kernels would stay, and
//! the launcher has given up the right to detach them.

use super::error::HostsError;
use super::post::random;
use super::session::{LOOK, Session};
use super::waiting;
use crate::hosts::{LauncherMessage, LinkEvent};
use crate::launcher::error::LaunchError;
use crate::launcher::options::Options;
use crate::launcher::rank_set::Place;
use crate::launcher::run::open_files;
use goal_engine::Calc;
use goal_esp::wire::ETHERTYPE_ESP;
use goal_job::host::Host;
use goal_job::limits::{check_open_files, free_memory, named};
use goal_job::offload::{InKernel, Offload, RemoteEndpoint, shortened};
use goal_job::remote_sockets::RemoteSockets;
use goal_kernel::limits::{HEADER, PARTS_MAX, fragment_of};
use goal_kernel::{
    Abilities, Hook, Installation, Job, Kernel, LoadError, Lost, Member, Peer, Plan, Room, Share,
    Ticker, in_words,
};
use std::collections::BTreeMap;
use std::time::Duration;

/// The time between two ticks, at which the engine looks for lost frames.
const TICK: Duration = Duration::from_millis(1);

/// What this host's ranks have in the kernel, ascending by rank.
enum Places {
    /// The parts of the schedule, which the launcher has loaded.
    Members(Vec<(u32, Member)>),
    /// The shares of the kernel's maps in which the ranks of a program install their own schedules.
    Shares(Vec<(u32, Share)>),
}

/// The engine in this host's kernel, with the parts of this host's ranks or room for them. Dropping
/// this removes the engine. Its maps are freed when the ranks have ended too.
pub(super) struct Engine {
    pub(super) in_kernel: InKernel,
    places: Places,
    _ticker: Ticker,
    kernel: Kernel,
    /// The host of each rank of the job.
    hosts: Vec<Host>,
    /// The name of the interface.
    interface: String,
}

impl Engine {
    /// Returns true if the engine has room for schedules of programs. Their ranks also have remote
    /// sockets.
    pub(super) fn is_of_programs(&self) -> bool {
        matches!(self.places, Places::Shares(_))
    }

    /// Returns the remote endpoints of this host's ranks, ascending by rank. `sockets` are the
    /// remote sockets of ranks of programs; it is empty otherwise.
    ///
    /// # Errors
    /// The system's error.
    pub(super) fn endpoints(
        &self,
        sockets: Vec<RemoteSockets>,
    ) -> Result<Vec<RemoteEndpoint>, LaunchError> {
        match &self.places {
            Places::Members(members) => {
                let endpoint =
                    |(_, member): &_| Ok(RemoteEndpoint::Kernel(self.kernel.rank(member)?));
                members.iter().map(endpoint).collect()
            }
            Places::Shares(shares) => {
                let endpoint = |(remote_sockets, (_, share)): (_, &_)| {
                    Ok(RemoteEndpoint::Both(remote_sockets, self.kernel.tables(share)?))
                };
                sockets.into_iter().zip(shares).map(endpoint).collect()
            }
        }
    }

    /// Calls `run`. Meanwhile a thread checks whether the messages of this host's ranks arrive.
    pub(super) fn watched<T>(&self, place: &Place<'_>, run: impl FnOnce() -> T) -> T {
        let Ok(look) = self.kernel.look() else { return run() };
        let describe = |lost: Lost| {
            // The number of a part, modulo the number of ranks here, is the index of its rank in
            // `place.here`.
            let rank = *place.here.get(lost.part as usize % place.here.len())?;
            let Lost { receiver, bytes, .. } = lost;
            // A rank of a program can write any number of a receiver into its map.
            let named =
                |rank: u32| Some(format!("rank {rank} on host {}", self.hosts.get(rank as usize)?));
            let frame = HEADER + bytes.min(self.in_kernel.fragment);
            let interface = &self.interface;
            let text = format!(
                "{}: frames of a message do not reach {}, whose kernel asks for them again and again: does the network between still carry frames of {frame} bytes, as when the job started? (ip link set {interface} mtu N on all hosts) Or another program at an interface takes them (bpftool net lists these)",
                named(rank)?,
                named(receiver)?,
            );
            Some((rank, text))
        };
        waiting::watched(place.segment, &look, describe, run)
    }

    /// Writes into the failure records of this host's ranks what they wait for. The report on a job
    /// that did not end shows this. The ranks have ended. Ranks of programs write it themselves.
    pub(super) fn note_waiting(&self, place: &Place<'_>) {
        if let (Places::Members(members), Ok(look)) = (&self.places, self.kernel.look()) {
            let plan = Plan::with(place.nisa, self.in_kernel.fragment, abilities(place.options));
            plan.iter().for_each(|plan| waiting::note(place, &look, plan, members));
        }
    }
}

/// Returns what the processes of a job's ranks can do.
fn abilities(options: &Options) -> Abilities {
    Abilities { calc: options.spec.calc != Calc::Skip, ..Abilities::default() }
}

impl Session<'_> {
    /// Loads the engine with the parts of this host's ranks. Returns it if all hosts have the
    /// schedule in their kernels. Returns `None` if the processes run the schedule. Unless the user
    /// chose [`Offload::Off`], tells the user why.
    ///
    /// # Errors
    /// [`LaunchError`], also if the kernel must run the schedule and can't.
    pub(super) fn offload(&mut self, run: u64) -> Result<Option<Engine>, LaunchError> {
        let wanted = self.options.spec.offload;
        if wanted == Offload::Off {
            return Ok(None);
        }
        let Some(interface) = &self.interface else {
            // No host is asked, because all hosts of a job meet over the same kind of network.
            let why = "the hosts of this job are connected by TCP, and kernels run schedules over Ethernet (--interface)".to_owned();
            if wanted == Offload::Kernel {
                return Err(LaunchError::Offload(why));
            }
            (self.options.tell)(&format!("processes run the schedule: {why}"));
            self.not_in_kernel = Some(why);
            return Ok(None);
        };
        let own = u32::try_from(interface.mtu).unwrap_or(u32::MAX);
        let of_mtu = |message| match message {
            LauncherMessage::Mtu(mtu) => Some(mtu),
            _ => None,
        };
        let least = |answers: &BTreeMap<Host, u32>| *answers.values().min().expect("its own");
        let mtu = self.consult(own, LauncherMessage::Mtu, of_mtu, least)?;
        // All hosts come to the same result of `plan`. Only errors of `load` are this host's own.
        let loaded = self.plan(mtu).and_then(|(fragment, plan)| {
            let loaded = self.load(run, fragment, plan);
            loaded.map_err(|why| format!("host {}: {why}", self.me))
        });
        let (engine, why) = match loaded {
            Ok(engine) => (Some(engine), None),
            Err(why) if wanted == Offload::Kernel => return Err(LaunchError::Offload(why)),
            Err(why) => (None, Some(why)),
        };
        let of_why = |message| match message {
            LauncherMessage::Offload(why) => Some(why),
            _ => None,
        };
        let first =
            |answers: &BTreeMap<Host, Option<String>>| answers.values().find_map(Option::clone);
        match self.consult(why, LauncherMessage::Offload, of_why, first)? {
            None => Ok(engine),
            Some(why) => {
                let what = if self.options.ranks.are_programs() {
                    "all schedules"
                } else {
                    "the schedule"
                };
                (self.options.tell)(&format!("processes run {what}: {why}"));
                self.not_in_kernel = Some(why);
                Ok(None)
            }
        }
    }

    /// Sends the leader the answer `own` of this host, and returns the leader's decision. The
    /// leader waits for the answers of all hosts, calls `decide`, and sends them its decision.
    fn consult<T: Clone>(
        &mut self,
        own: T,
        pack: fn(T) -> LauncherMessage,
        unpack: impl Fn(LauncherMessage) -> Option<T>,
        decide: impl Fn(&BTreeMap<Host, T>) -> T,
    ) -> Result<T, LaunchError> {
        let (me, leader) = (self.me, self.leader());
        let awaited = match me == leader {
            true => self.all(),
            false => {
                self.post.send(leader, pack(own.clone()));
                [me, leader].into()
            }
        };
        let mut answers = BTreeMap::from([(me, own)]);
        while answers.len() < awaited.len() {
            self.check(|session| {
                let silent = awaited.iter().filter(|host| !answers.contains_key(host));
                let silent: Vec<String> = silent.map(|&host| session.named(host)).collect();
                format!("{} did not say if the kernel takes the schedule", silent.join(", "))
            })?;
            match self.event(LOOK) {
                Some(LinkEvent::Message(host, LauncherMessage::Refused(why), _))
                    if me == leader =>
                {
                    let host = format!("host {host}");
                    return Err(HostsError::Refused { host, why }.into());
                }
                Some(LinkEvent::Message(_, LauncherMessage::Refused(why), _)) => {
                    return Err(HostsError::Ended(why).into());
                }
                Some(LinkEvent::Message(host, message, _)) => {
                    if let Some(answer) = unpack(message) {
                        answers.insert(host, answer);
                    }
                }
                Some(event) => self.check_event(event)?,
                None => {}
            }
        }
        if me != leader {
            return Ok(answers.remove(&leader).expect("it has answered"));
        }
        let decided = decide(&answers);
        for host in awaited.into_iter().filter(|&host| host != me) {
            self.post.send(host, pack(decided.clone()));
        }
        Ok(decided)
    }

    /// Returns the reason why the kernel does not take the engine. Shows the verifier's log if the
    /// job does not start without the kernel.
    fn describe(&self, error: &LoadError) -> String {
        let text = shortened(&error.to_string());
        if let Some(cause) = error.system()
            && matches!(cause.raw_os_error(), Some(libc::EMFILE | libc::ENFILE))
        {
            return text.replace(&cause.to_string(), &named(cause));
        }
        if let Some(log) = error.verifier_log()
            && self.options.spec.offload == Offload::Kernel
        {
            (self.options.tell)(&format!("the verifier's log:\n{log}"));
        }
        format!("{text} (goal-run info says what is missing)")
    }

    /// Returns the most bytes of payload in a frame, and the translated schedule. The schedule is
    /// `None` for programs.
    ///
    /// # Errors
    /// The reason why no kernel takes the schedule.
    fn plan(&self, mtu: u32) -> Result<(u32, Option<Plan>), String> {
        if self.options.window.is_some() {
            return Err("it takes whole schedules, and this one is run through a window".to_owned());
        }
        let fragment = fragment_of(mtu)
            .ok_or_else(|| format!("frames of {mtu} bytes leave no room for a message"))?;
        let plan = match self.options.ranks.are_programs() {
            // The ranks of a program install schedules of their own later.
            true => None,
            false => Some(Plan::with(self.nisa, fragment, abilities(self.options))),
        };
        Ok((fragment, plan.transpose().map_err(|refusals| in_words(&refusals))?))
    }

    /// Loads the engine with the parts of this host's ranks.
    ///
    /// # Errors
    /// The reason why the engine can't be loaded.
    fn load(&self, run: u64, fragment: u32, plan: Option<Plan>) -> Result<Engine, String> {
        if self.options.traces {
            return Err("its actions leave no trace, and one is to be written".to_owned());
        }
        let (number, key) = self.hosts.key.kernel(run);
        let secrets: [u8; 16] = random().map_err(|error| error.to_string())?;
        let mut ports: BTreeMap<Host, u16> = BTreeMap::new();
        let peers = self.locations().iter().map(|location| {
            let next = ports.entry(location.host).or_default();
            let port = *next;
            *next += 1;
            Peer { mac: location.host.mac().0, port }
        });
        let (Some(interface), Some(ethernet)) = (&self.interface, self.hosts.ethernet()) else {
            return Err("the hosts are connected by TCP".to_owned());
        };
        let job = Job {
            number,
            key,
            secrets: [0, 8]
                .map(|at| u64::from_ne_bytes(secrets[at..at + 8].try_into().expect("eight bytes"))),
            ethertype: ETHERTYPE_ESP,
            ifindex: interface.index,
            mac: self.me.mac().0,
            peers: peers.collect(),
        };
        let system = |error: std::io::Error| error.to_string();
        let mut installation = Installation::new(job).map_err(|error| error.to_string())?;
        let places = match plan {
            Some(plan) => {
                let all: Vec<u32> = (0..plan.ranks()).collect();
                let added = installation.add(&plan, &all).map_err(|error| error.to_string())?;
                Places::Members(ascending(added))
            }
            None => {
                let here = self.mine.len() as u32;
                let room = Room::of(here).ok_or_else(|| {
                    format!("there are {here} ranks on this host; the most is {PARTS_MAX}")
                })?;
                let shares = installation.reserve(room, fragment);
                Places::Shares(ascending(shares.map_err(|error| error.to_string())?))
            }
        };
        fits(installation.kernel_bytes(), free_memory())?;
        let here = self.mine.len() as u64;
        let files = open_files(here, Some(ethernet.driver), &self.options.ranks, true);
        check_open_files(here, files).map_err(|error| error.to_string())?;
        let kernel = Kernel::load(&interface.name, &installation, Some(Hook::Tcx))
            .map_err(|error| self.describe(&error))?;
        let ticker = Ticker::start(&kernel, &installation, TICK).map_err(system)?;
        let in_kernel = match &places {
            Places::Members(members) => InKernel::new(fragment, members),
            Places::Shares(shares) => InKernel::from_programs(fragment, shares),
        };
        let hosts = self.locations().iter().map(|location| location.host).collect();
        let interface = interface.name.clone();
        Ok(Engine { in_kernel, places, _ticker: ticker, kernel, hosts, interface })
    }
}

/// # Errors
/// The maps need more than the `free` bytes of memory. The kernel would refuse them or end
/// processes.
fn fits(needed: u64, free: Option<u64>) -> Result<(), String> {
    match free {
        Some(free) if needed > free => Err(format!(
            "the engine needs {} MiB of the kernel's memory, and {} MiB are free",
            needed.div_ceil(1 << 20),
            free >> 20
        )),
        _ => Ok(()),
    }
}

/// Sorts a list by rank. Lists of drivers and processes have the same order.
fn ascending<T>(mut ranks: Vec<(u32, T)>) -> Vec<(u32, T)> {
    ranks.sort_by_key(|&(rank, _)| rank);
    ranks
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn maps_must_fit_the_free_memory() {
        assert_eq!(fits(5 << 20, Some(5 << 20)), Ok(()));
        assert_eq!(fits(1 << 40, None), Ok(()));
        let why = fits((5 << 20) + 1, Some(5 << 20)).unwrap_err();
        assert_eq!(why, "the engine needs 6 MiB of the kernel's memory, and 5 MiB are free");
    }
}
