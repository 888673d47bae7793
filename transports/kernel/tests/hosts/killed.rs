//! Nothing is left of a job that is killed, at whatever moment.

use crate::allreduce;
use crate::bench::{Bench, bytes};
use crate::stopped::{job, told};
use aya::maps::loaded_maps;
use aya::programs::{SchedClassifier, TcAttachType, loaded_programs};
use goal_cluster::{Cluster, Host, INTERFACE, Switch, Wiring};
use goal_filetest::{skipped, until};
use goal_kernel::Ticks;
use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::time::Duration;

/// The processes of the job: run after run, until they are killed.
#[test]
fn job_that_is_killed() {
    let Some((places, ticks)) = told() else { return };
    let (program, plan) = allreduce();
    let mut bench = Bench::at(&places, &[plan], None, Some(ticks));
    let (inputs, _) = crate::bench::outcome(&program, 1);
    println!("loaded");
    loop {
        bench.run(0, &inputs);
    }
}

/// The numbers of the programs at a host's interface.
fn attached(host: &Host) -> Result<Vec<u32>, String> {
    let of = |hook| -> Result<Vec<u32>, String> {
        let (_, all) =
            SchedClassifier::query_tcx(INTERFACE, hook).map_err(|error| error.to_string())?;
        Ok(all.iter().map(|program| program.id()).collect())
    };
    let both = || Ok([of(TcAttachType::Ingress)?, of(TcAttachType::Egress)?].concat());
    host.call(both).unwrap()
}

/// The number of interfaces on a host.
fn interfaces(host: &Host) -> usize {
    let list = || std::fs::read_to_string("/proc/thread-self/net/dev").unwrap().lines().count();
    host.call(list).unwrap()
}

#[test]
fn nothing_is_left_of_a_killed_job() {
    let name = "nothing_is_left_of_a_killed_job";
    let wiring = Wiring { hosts: 2, mtu: 9000, switch: Switch::Bridge };
    let Some(cluster) = Cluster::or_skip(name, &wiring) else { return };
    let hosts = cluster.hosts();
    if let Err(why) = attached(&hosts[0]) {
        return skipped(&format!("no TCX: {why}"));
    }
    let before = interfaces(&hosts[0]);
    let kills = 3 * goal_filetest::seeds(1);
    for kill in 0..kills {
        let mut child = job("killed::job_that_is_killed", hosts, Ticks::Circle);
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let random = bytes(kill, 2);
        let (mut programs, mut maps) = (Vec::new(), Vec::new());
        if kill % 4 == 3 {
            // While it loads. Time passes, so that the moments differ.
            std::thread::sleep(Duration::from_millis(4 * u64::from(random[0])));
        } else {
            let mut line = String::new();
            while !line.contains("loaded") {
                line.clear();
                assert!(output.read_line(&mut line).unwrap() > 0, "the job ended");
            }
            std::thread::sleep(Duration::from_micros(100 * u64::from(random[0])));
            programs = hosts.iter().flat_map(|host| attached(host).unwrap()).collect();
            assert_eq!(programs.len(), 4);
            assert!(hosts.iter().all(|host| interfaces(host) == before + 1));
            for program in loaded_programs().flatten().filter(|p| programs.contains(&p.id())) {
                maps.extend(program.map_ids().unwrap().unwrap_or_default());
            }
            assert!(maps.len() > 10, "{maps:?}");
        }
        child.kill().unwrap();
        assert_eq!(child.wait().unwrap().signal(), Some(9));
        // The kernel frees what descriptors held a little later.
        for host in hosts {
            until("no program is attached", || attached(host).unwrap().is_empty());
            until("no interface is left", || interfaces(host) == before);
        }
        until("no program is left", || {
            loaded_programs().flatten().all(|program| !programs.contains(&program.id()))
        });
        until("no map is left", || loaded_maps().flatten().all(|map| !maps.contains(&map.id())));
    }
    println!("{kills} jobs killed");
}
