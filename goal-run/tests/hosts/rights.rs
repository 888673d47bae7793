//! The rights of launchers and ranks on hosts: none once the sockets are open.

use crate::bench::{Bench, DISCOVER, LONG, ended, launcher, ranks_of, send};
use crate::common::processes::wait_for;
use crate::common::rights::{FILES, Rights};
use goal_cluster::Wiring;
use goal_run::transport::esp::Xdp;
use rustix::process::{Pid, Signal};
use std::fs;

#[test]
fn no_process_of_a_job_on_hosts_has_rights_once_ranks_run() {
    let Some(bench) = Bench::or_skip("rights", &Wiring::bridge(2)) else { return };
    let program = bench.write("long.goal", LONG);
    for driver in ["packet", "xdp"] {
        for ranks_as in ["processes", "threads"] {
            let options = ["--driver", driver, "--ranks-as", ranks_as, "--transport", "auto"];
            let children = bench.start_all(&program, &[&DISCOVER[..], &options].concat());
            for child in &children {
                let id = launcher(child);
                if ranks_as == "processes" {
                    let ranks = ranks_of(id, 2);
                    ranks.iter().for_each(|&rank| Rights::assert_none(rank, 0));
                    // The interface has one queue, so that one of the ranks has a socket of XDP, which its launcher opened.
                    let maps =
                        |rank: &Pid| fs::read_to_string(format!("/proc/{}/maps", rank.as_raw_nonzero()));
                    let has_area = |rank| maps(rank).unwrap().contains("memfd:goal-run frames");
                    let wanted = usize::from(driver == "xdp" && Xdp::probe().is_ok());
                    assert_eq!(ranks.iter().filter(|rank| has_area(rank)).count(), wanted);
                } else {
                    let tasks = format!("/proc/{}/task", id.as_raw_nonzero());
                    wait_for(|| {
                        let names =
                            fs::read_dir(&tasks).unwrap().map(|task| task.unwrap().path().join("comm"));
                        let is_rank =
                            |path| fs::read_to_string(path).is_ok_and(|name| name.starts_with("rank "));
                        (names.filter(|path| is_rank(path.clone())).count() == 2).then_some(())
                    });
                }
                Rights::assert_none(id, FILES);
            }
            send(launcher(&children[0]), Signal::INT);
            children.into_iter().map(ended).for_each(|ended| ended.assert_status(130));
        }
    }
}
