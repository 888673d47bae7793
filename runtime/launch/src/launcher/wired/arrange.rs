//! Lets the processes of a job agree which of them leads each node, and where the leaders meet.

use super::addresses;
use crate::hosts::{Key, RankList, ranges};
use crate::join::{LaunchAddress, LaunchSocket};
use crate::launcher::hosts::{Hosts, Meeting, Rendezvous};
use crate::launcher::options::Ranks;
use goal_job::binding::Bind;
use goal_job::bootstrap::VERSION;
use goal_tcp::Listener;
use rustix::rand::{GetRandomFlags, getrandom};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

/// The environment variable with the name of a process's node. Processes with different names do
/// not share memory. Containers on one machine may need this, if they can't share memory.
const NODE: &str = "GOAL_NODE";

/// Sends this rank's blob to all ranks, and returns the blobs of all ranks in their order. All
/// ranks must call it.
///
/// # Errors
/// The reason why blobs can't be exchanged.
pub type Exchange<'e> = dyn FnMut(&[u8]) -> Result<Vec<Vec<u8>>, String> + 'e;

/// A text with the settings that must be equal on all ranks. An error is the reason why this rank
/// can't take part in the job.
pub type Common = Result<String, String>;

/// What a process sends in an exchange: its text, or its failure. A process that has failed must
/// send too, as the others wait for it.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Told<T> {
    Failed { failed: String },
    Is(T),
}

/// What a process tells of itself in the first exchange.
#[derive(Serialize, Deserialize)]
struct About {
    version: String,
    node: String,
    /// The processors that the process may use.
    processors: Vec<u32>,
    /// The key of the job. Only rank 0 sends it.
    key: Option<String>,
    /// The name of the fabric that the process brings. `None` if it brings none.
    #[serde(default)]
    fabric: Option<String>,
    /// The settings that must be equal on all ranks.
    #[serde(default)]
    common: String,
}

/// What the leader of a node sends in the second exchange.
#[derive(Serialize, Deserialize)]
struct Leads {
    address: LaunchAddress,
    /// The addresses at which the leaders meet. Only rank 0 sends them.
    at: Option<String>,
}

/// The place of this process in a job whose processes another launcher has started.
pub struct Wired {
    pub(super) rank: u32,
    pub(super) address: LaunchAddress,
    lead: Option<Lead>,
}

/// What only the leader of a node has.
pub struct Lead {
    launch_socket: Arc<LaunchSocket>,
    /// The settings for a job on several nodes. `None` if there is one node.
    hosts: Option<Hosts>,
    bind: Bind,
}

impl Wired {
    /// Agrees with the other processes of the job on the leaders of nodes. All of them must call
    /// it.
    ///
    /// # Errors
    /// The exchange failed, a process can't take part, or the processes do not fit together. They
    /// must agree in version, fabric and settings.
    pub fn arrange(rank: u32, size: u32, exchange: &mut Exchange<'_>) -> io::Result<Self> {
        Self::agree(rank, size, exchange, None, Ok(String::new()))
    }

    /// Agrees with the other processes like [`Wired::arrange`]. Each process brings a fabric of
    /// this name, which carries messages between nodes: see
    /// [`joined_rank_over`](super::joined_rank_over).
    ///
    /// # Errors
    /// Those of [`Wired::arrange`]. Also if a process brings another fabric or none.
    pub fn arrange_over(
        rank: u32,
        size: u32,
        exchange: &mut Exchange<'_>,
        fabric: &str,
    ) -> io::Result<Self> {
        Self::agree(rank, size, exchange, Some(fabric.to_owned()), Ok(String::new()))
    }

    /// Agrees with the other processes of the job. If a process fails in a step of its own, all of
    /// them return an error. So the process still takes part in the exchange in which the others
    /// learn of the failure.
    pub(super) fn agree(
        rank: u32,
        size: u32,
        exchange: &mut Exchange<'_>,
        fabric: Option<String>,
        common: Common,
    ) -> io::Result<Self> {
        let about = common.map_err(io::Error::other).and_then(|common| {
            Ok(About {
                version: VERSION.to_owned(),
                node: node()?,
                processors: goal_job::binding::cores().unwrap_or_default(),
                key: (rank == 0).then(key).transpose()?,
                fabric,
                common,
            })
        });
        let all: Vec<About> = told(rank, size, exchange, about)?;
        if let Some((other, about)) = (0..).zip(&all).find(|(_, about)| about.version != VERSION) {
            return Err(io::Error::other(format!(
                "rank {other} has version {} of the library, and rank {rank} version {VERSION}: install the same everywhere",
                about.version
            )));
        }
        let fabric = &all[rank as usize].fabric;
        if let Some((other, about)) = (0..).zip(&all).find(|(_, about)| about.fabric != *fabric) {
            let named = |fabric: &Option<String>| {
                fabric.as_ref().map_or("none".to_owned(), |name| format!("`{name}`"))
            };
            return Err(io::Error::other(format!(
                "rank {other} brings the fabric {}, and rank {rank} {}: all processes must bring the same",
                named(&about.fabric),
                named(fabric)
            )));
        }
        let common = &all[rank as usize].common;
        if let Some((other, about)) = (0..).zip(&all).find(|(_, about)| about.common != *common) {
            return Err(io::Error::other(format!(
                "rank {other} has {}, and rank {rank} {common}: all ranks must have the same",
                about.common
            )));
        }
        let fabric = fabric.clone();
        let key = all[0].key.as_deref().and_then(|text| Key::parse(text).ok());
        let key = key.ok_or_else(|| io::Error::other("rank 0 has told no key"))?;
        // The nodes are numbered in the order of their lowest ranks.
        let mut leaders: Vec<u32> = Vec::new();
        for (rank, about) in (0..).zip(&all) {
            let is_known = |&leader: &u32| all[leader as usize].node == about.node;
            if !leaders.iter().any(is_known) {
                leaders.push(rank);
            }
        }
        let mine = &all[rank as usize].node;
        let number = leaders.iter().position(|&leader| all[leader as usize].node == *mine);
        let number = number.expect("each node has a leader");
        let here: Vec<u32> = (0..)
            .zip(&all)
            .filter(|(_, about)| about.node == *mine)
            .map(|(rank, _)| rank)
            .collect();
        let open = || -> io::Result<_> {
            let launch_socket = Arc::new(LaunchSocket::open()?);
            let listener = (leaders.len() > 1 && rank == 0).then(listen).transpose()?;
            let at = listener.as_ref().map(|listener| addresses::places(listener.port()));
            Ok((launch_socket, listener, at.transpose()?))
        };
        let opened = (leaders[number] == rank).then(open).transpose();
        let leads = opened.as_ref().map(|opened| {
            opened.as_ref().map(|(launch_socket, _, at)| Leads {
                address: launch_socket.address().clone(),
                at: at.clone(),
            })
        });
        let leads = leads.map_err(|error| io::Error::other(error.to_string()));
        let of_node = |&rank: &u32| all[rank as usize].processors.as_slice();
        let bind = bind_of(&here.iter().map(of_node).collect::<Vec<_>>());
        let all: Vec<Option<Leads>> = told(rank, size, exchange, leads)?;
        let told = |rank: u32| {
            let silent =
                || io::Error::other(format!("rank {rank} leads its node and told nothing"));
            all[rank as usize].as_ref().ok_or_else(silent)
        };
        let address = told(leaders[number])?.address.clone();
        let lead = match opened? {
            None => None,
            Some((launch_socket, listener, _)) => {
                let hosts = match &told(0)?.at {
                    Some(at) => {
                        let list = RankList::parse(&ranges(&here)).map_err(io::Error::other)?;
                        let meeting = Meeting::Tcp(Rendezvous {
                            here: Some(list),
                            listener: listener.map(Arc::new),
                            ..Rendezvous::new(number as u32, leaders.len() as u32, at.clone())
                        });
                        Some(Hosts { fabric, ..Hosts::new(meeting, key) })
                    }
                    None => None,
                };
                Some(Lead { launch_socket, hosts, bind })
            }
        };
        Ok(Self { rank, address, lead })
    }

    /// Returns the rank of this process.
    pub fn rank(&self) -> u32 {
        self.rank
    }

    /// Returns what only the leader of a node has. Returns `None` in all other processes, and in
    /// later calls.
    pub fn lead(&mut self) -> Option<Lead> {
        self.lead.take()
    }
}

impl Lead {
    /// Returns the settings for a job on several nodes. Returns `None` if there is one node.
    pub fn hosts(&self) -> Option<&Hosts> {
        self.hosts.as_ref()
    }

    /// Returns how the ranks of this node are bound to processors, unless the user says it.
    pub fn bind(&self) -> &Bind {
        &self.bind
    }

    /// Returns the ranks of this node, for the options of the job.
    pub fn ranks(&self, are_programs: bool) -> Ranks {
        Ranks::JoinedRank { launch_socket: Arc::clone(&self.launch_socket), are_programs }
    }
}

/// Exchanges the values `own` of all processes, and returns them in the order of ranks. Fails if
/// one of them is an error.
fn told<T: Serialize + for<'d> Deserialize<'d>>(
    rank: u32,
    size: u32,
    exchange: &mut Exchange<'_>,
    own: io::Result<T>,
) -> io::Result<Vec<T>> {
    let own = own.map_or_else(|error| Told::Failed { failed: error.to_string() }, Told::Is);
    let text = serde_json::to_vec(&own).expect("numbers and texts");
    let all = exchange(&text).map_err(io::Error::other)?;
    if all.len() != size as usize {
        let why = format!("rank {rank} heard {} of {size} ranks", all.len());
        return Err(io::Error::other(why));
    }
    let read = |(other, text): (u32, &Vec<u8>)| {
        let told = serde_json::from_slice(text).map_err(|error| {
            io::Error::other(format!(
                "rank {other} runs another program: its text is none ({error})"
            ))
        });
        match told? {
            Told::Is(told) => Ok(told),
            Told::Failed { failed } => Err(io::Error::other(format!("rank {other}: {failed}"))),
        }
    };
    (0..).zip(&all).map(read).collect()
}

/// Returns a text that differs from node to node. Processes with an equal text can join each
/// other's launchers, know each other by the same process IDs and can share memory.
fn node() -> io::Result<String> {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id")?;
    // The names of launch sockets are local to a network namespace.
    let network = std::fs::read_link("/proc/self/ns/net")?;
    let processes = std::fs::read_link("/proc/self/ns/pid")?;
    let name = std::env::var(NODE).unwrap_or_default();
    Ok(format!("{} {} {} {name}", boot.trim(), network.display(), processes.display()))
}

fn key() -> io::Result<String> {
    let mut bytes = [0; 32];
    // One call returns this few bytes in full.
    getrandom(&mut bytes, GetRandomFlags::empty())?;
    Ok(Key::new(bytes).to_text())
}

/// Returns a listener for the other leaders, at all addresses of this host and any free port.
fn listen() -> io::Result<Listener> {
    let any = [IpAddr::from(Ipv6Addr::UNSPECIFIED), IpAddr::from(Ipv4Addr::UNSPECIFIED)];
    let [first, second] = any.map(|address| Listener::bind(address, 0..=0));
    first.or(second).map_err(io::Error::other)
}

/// Returns how the ranks of a node are bound. `processors` has a list for each rank. If another
/// launcher has bound the ranks, they stay as they are.
fn bind_of(processors: &[&[u32]]) -> Bind {
    let union: BTreeSet<u32> = processors.iter().copied().flatten().copied().collect();
    let are_free = processors.iter().all(|own| own.len() == union.len());
    match are_free {
        true => Bind::Core,
        false => Bind::Bound { processors: union.len() as u32 },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rank of a process, if it leads its node, and the number of its launcher among all.
    type Arranged = (u32, bool, Option<(u32, u32)>);

    /// Arranges a job of processes on these nodes, each in a thread.
    fn arranged(nodes: &[&str]) -> Vec<Arranged> {
        use std::sync::{Barrier, Mutex};
        let size = nodes.len() as u32;
        let (board, barrier) =
            (Mutex::new(vec![Vec::new(); nodes.len()]), Barrier::new(nodes.len()));
        std::thread::scope(|scope| {
            let start = |(rank, node): (u32, &&str)| {
                let (board, barrier, node) = (&board, &barrier, node.to_string());
                scope.spawn(move || {
                    let mut exchange = |own: &[u8]| {
                        // The changed text says that the process is on that node.
                        let own = String::from_utf8(own.to_vec()).unwrap();
                        let own = own.replace("\"node\":\"", &format!("\"node\":\"{node}"));
                        board.lock().unwrap()[rank as usize] = own.into_bytes();
                        barrier.wait();
                        let all = board.lock().unwrap().clone();
                        barrier.wait();
                        Ok(all)
                    };
                    let mut wired = Wired::arrange(rank, size, &mut exchange).unwrap();
                    let lead = wired.lead();
                    let meeting = lead.as_ref().and_then(Lead::hosts).map(|hosts| {
                        let Meeting::Tcp(rendezvous) = &hosts.meeting else { panic!("not TCP") };
                        (rendezvous.number, rendezvous.size)
                    });
                    (wired.rank(), lead.is_some(), meeting)
                })
            };
            let threads: Vec<_> = (0..).zip(nodes).map(start).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        })
    }

    #[test]
    fn the_lowest_rank_of_each_node_leads() {
        assert_eq!(arranged(&["a", "a"]), [(0, true, None), (1, false, None)]);
        let all = arranged(&["b", "a", "b", "c", "a"]);
        let leads = all.iter().map(|&(_, leads, _)| leads);
        assert!(leads.eq([true, true, false, true, false]));
        let meetings: Vec<_> = all.iter().filter_map(|&(.., meeting)| meeting).collect();
        assert_eq!(meetings, [(0, 3), (1, 3), (2, 3)]);
    }

    #[test]
    fn processes_that_do_not_fit_are_told() {
        let arrange = |answer: &[&str]| {
            let answer: Vec<Vec<u8>> = answer.iter().map(|text| text.as_bytes().to_vec()).collect();
            let mut exchange = |_: &[u8]| Ok(answer.clone());
            Wired::arrange(0, 2, &mut exchange).map(|_| ()).unwrap_err().to_string()
        };
        let own =
            format!("{{\"version\":\"{VERSION}\",\"node\":\"\",\"processors\":[],\"key\":null}}");
        assert!(arrange(&[&own]).contains("heard 1 of 2 ranks"));
        assert!(arrange(&[&own, "no"]).contains("rank 1 runs another program"));
        assert!(arrange(&[&own, &own.replace(VERSION, "0.0.0")]).contains("version 0.0.0"));
        assert!(arrange(&[&own, &own]).contains("no key"));
        let brings = own.replace("\"key\":null", "\"key\":null,\"fabric\":\"optical\"");
        let why = arrange(&[&own, &brings]);
        assert!(why.contains("rank 1 brings the fabric `optical`, and rank 0 none"), "{why}");
        let sets = own.replace("\"key\":null", "\"key\":null,\"common\":\"table 5\"");
        let why = arrange(&[&own, &sets]);
        assert!(why.starts_with("rank 1 has table 5, and rank 0 "), "{why}");
        let why = arrange(&[&own, "{\"failed\":\"no descriptors are left\"}"]);
        assert_eq!(why, "rank 1: no descriptors are left");
        let mut broken = |_: &[u8]| Err("it is gone".to_owned());
        assert!(Wired::arrange(0, 2, &mut broken).is_err());
    }

    #[test]
    fn a_process_that_fails_takes_part_in_the_exchange() {
        let mut exchanges = 0;
        let mut exchange = |own: &[u8]| {
            exchanges += 1;
            Ok(vec![own.to_vec(), own.to_vec()])
        };
        let common = Err("the table is none".to_owned());
        let arranged = Wired::agree(1, 2, &mut exchange, None, common);
        assert_eq!(arranged.map(|_| ()).unwrap_err().to_string(), "rank 0: the table is none");
        assert_eq!(exchanges, 1);
    }

    #[test]
    fn ranks_that_are_bound_stay_so() {
        assert_eq!(bind_of(&[&[0, 1], &[0, 1]]), Bind::Core);
        assert_eq!(bind_of(&[&[0], &[1]]), Bind::Bound { processors: 2 });
        assert_eq!(bind_of(&[&[0], &[0]]), Bind::Core);
    }
}
