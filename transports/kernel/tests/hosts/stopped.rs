//! All processes of a job are stopped after their start, while every frame is lost. Then the
//! network gets better, and the collective ends without them.

use crate::allreduce;
use crate::bench::{Bench, Place, limit, outcome};
use aya::maps::{Array, Map, MapData};
use goal_cluster::{Cluster, Faults, Host, Switch, Wiring};
use goal_filetest::until;
use goal_kernel::Ticks;
use goal_kernel::layout::{Counter, StatusEntry};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::mem::offset_of;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const PLACES: &str = "GOAL_KERNEL_PLACES";
const TICKS: &str = "GOAL_KERNEL_TICKS";

/// Starts this test program again as the processes of a job: `test` of it, which other runs skip.
pub fn job(test: &str, hosts: &[Host], ticks: Ticks) -> Child {
    let mut places = String::new();
    for host in hosts {
        let mac = host.mac().0.map(|byte| format!("{byte:02x}")).concat();
        let _ = writeln!(places, "{mac} {}", host.namespace().display());
    }
    hosts[0]
        .command(std::env::current_exe().unwrap().to_str().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(PLACES, places)
        .env(TICKS, if ticks == Ticks::Circle { "circle" } else { "thread" })
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// The hosts and the ticks that [`job`] was told; `None` in other runs.
pub fn told() -> Option<(Vec<Place>, Ticks)> {
    let places = std::env::var(PLACES).ok()?;
    let place = |line: &str| {
        let (mac, namespace) = line.split_once(' ').unwrap();
        let byte = |at| u8::from_str_radix(&mac[2 * at..2 * at + 2], 16).unwrap();
        Place { mac: std::array::from_fn(byte), namespace: namespace.into() }
    };
    let ticks = match std::env::var(TICKS).unwrap().as_str() {
        "circle" => Ticks::Circle,
        _ => Ticks::Thread,
    };
    Some((places.lines().map(place).collect(), ticks))
}

/// The processes of the job.
#[test]
fn job_that_is_stopped() {
    let Some((places, ticks)) = told() else { return };
    let (program, plan) = allreduce();
    let mut bench = Bench::at(&places, &[plan], None, Some(ticks));
    let (inputs, outcome) = outcome(&program, 1);
    for (rank, input) in bench.ranks[0].iter_mut().zip(&inputs) {
        rank.write(0, input);
        rank.start().unwrap();
    }
    println!("started");
    // The test writes this line while the process is stopped, so it is there when it goes on.
    std::io::stdin().lock().read_line(&mut String::new()).unwrap();
    let ended = bench.ranks[0].iter().filter(|rank| rank.test().unwrap()).count();
    let mut memories = Vec::new();
    for rank in &mut bench.ranks[0] {
        assert!(rank.wait(limit()).unwrap());
        let mut memory = vec![0; rank.len()];
        rank.read(0, &mut memory);
        memories.push(memory);
    }
    assert_eq!(outcome.first_difference(&memories), None);
    println!("ended {ended}, asked {}", bench.counter(Counter::Asked));
}

fn signal(name: &str, child: &Child) {
    let kill = format!("kill -{name} {}", child.id());
    assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
}

/// Returns how many ranks of a job have ended, by the maps that its process has descriptors of.
fn ended(process: u32) -> usize {
    let infos = fs::read_dir(format!("/proc/{process}/fdinfo")).unwrap().flatten();
    let infos = infos.filter_map(|entry| fs::read_to_string(entry.path()).ok());
    let id = |info: String| -> Option<u32> {
        info.lines().find_map(|line| line.strip_prefix("map_id:")?.trim().parse().ok())
    };
    let ids: BTreeSet<u32> = infos.filter_map(id).collect();
    let done = |&id: &u32| -> Option<u32> {
        let data = MapData::from_id(id).ok()?;
        if data.info().ok()?.name_as_str() != Some("goal_status") {
            return None;
        }
        let array: Array<_, [u8; size_of::<StatusEntry>()]> = Map::Array(data).try_into().ok()?;
        let (entry, at) = (array.get(&0, 0).ok()?, offset_of!(StatusEntry, done));
        Some(u32::from_ne_bytes(entry[at..at + 4].try_into().unwrap()))
    };
    ids.iter().filter(|&id| done(id) == Some(1)).count()
}

/// Returns how many ranks ended while all processes were stopped.
fn ended_while_stopped(cluster: &Cluster, ticks: Ticks) -> u32 {
    cluster.set_faults(Faults { lost: 1_000_000, ..Faults::default() });
    let mut child = job("stopped::job_that_is_stopped", cluster.hosts(), ticks);
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while !line.contains("started") {
        line.clear();
        assert!(output.read_line(&mut line).unwrap() > 0, "the job ended");
    }
    signal("STOP", &child);
    let stat = format!("/proc/{}/stat", child.id());
    until("the job is stopped", || fs::read_to_string(&stat).unwrap().contains(") T "));
    cluster.set_faults(Faults { lost: 100_000, doubled: 100_000, ..Faults::default() });
    match ticks {
        Ticks::Circle => until("all ranks have ended", || ended(child.id()) == 8),
        // Time has to pass, in which not all end.
        Ticks::Thread => std::thread::sleep(Duration::from_secs(2)),
    }
    writeln!(child.stdin.as_mut().unwrap(), "look").unwrap();
    signal("CONT", &child);
    let mut rest = String::new();
    output.read_to_string(&mut rest).unwrap();
    assert!(child.wait().unwrap().success(), "{rest}");
    let found = rest.lines().find_map(|line| line.strip_prefix("ended ")).unwrap();
    println!("{ticks}: {found}");
    found.split(',').next().unwrap().parse().unwrap()
}

#[test]
fn a_collective_ends_while_all_processes_are_stopped() {
    let name = "a_collective_ends_while_all_processes_are_stopped";
    let wiring = Wiring { hosts: 8, mtu: 9000, switch: Switch::Faulty(Faults::default(), 1) };
    let Some(cluster) = Cluster::or_skip(name, &wiring) else { return };
    assert_eq!(ended_while_stopped(&cluster, Ticks::Circle), 8);
    // Ticks of a thread stop with it. A rank may have got all that it needs before.
    assert!(ended_while_stopped(&cluster, Ticks::Thread) < 8);
}
