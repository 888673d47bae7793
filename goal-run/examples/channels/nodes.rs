//! Runs ranks as threads of one process that stands for several nodes.

use super::fabric::Channels;
use goal_asm::Nisa;
use goal_job::JobSpec;
use goal_job::binding::Bind;
use goal_launch::report::Report;
use goal_launch::{Ended, Options, Outcome, Wired, joined_rank_over, run_on_hosts};
use std::error::Error;
use std::sync::{Arc, Barrier, Mutex};
use std::thread;

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// Runs a schedule on ranks that are on these nodes. Each rank brings its fabric. Returns the
/// outcome as the launcher of rank 0 has it.
pub(crate) fn run(nisa: &Arc<Nisa>, nodes: &[&str], fabrics: Vec<Channels>) -> Result<Outcome> {
    let size = nodes.len() as u32;
    let (board, barrier) = (Mutex::new(vec![Vec::new(); nodes.len()]), Barrier::new(nodes.len()));
    thread::scope(|scope| {
        let start = |((rank, node), fabric): ((u32, &&str), Channels)| {
            let (board, barrier, node) = (&board, &barrier, node.to_string());
            scope.spawn(move || {
                // Gives each rank the blobs of all. The blob with the node's name is changed: one
                // process has one variable GOAL_NODE.
                let mut exchange = |own: &[u8]| {
                    let own = String::from_utf8_lossy(own);
                    let own = own.replace("\"node\":\"", &format!("\"node\":\"{node} "));
                    board.lock().expect("no rank panics")[rank as usize] = own.into_bytes();
                    barrier.wait();
                    let all = board.lock().expect("no rank panics").clone();
                    barrier.wait();
                    Ok(all)
                };
                rank_of(nisa, rank, size, &mut exchange, fabric)
            })
        };
        let ranks: Vec<_> = (0..).zip(nodes).zip(fabrics).map(start).collect();
        let ended = ranks.into_iter().map(|rank| rank.join().expect("no rank panics"));
        let ended: Vec<Option<Outcome>> = ended.collect::<Result<_>>()?;
        Ok(ended.into_iter().flatten().next().ok_or("no launcher leads")?)
    })
}

/// Runs a rank. If it leads its node, it has the node's launcher beside it.
fn rank_of(
    nisa: &Arc<Nisa>,
    rank: u32,
    size: u32,
    exchange: &mut goal_launch::Exchange<'_>,
    fabric: Channels,
) -> Result<Option<Outcome>> {
    let mut wired = Wired::arrange_over(rank, size, exchange, "channels")?;
    let lead = wired.lead();
    thread::scope(|scope| {
        let launcher = lead.map(|lead| {
            scope.spawn(move || -> Result<Option<Outcome>> {
                let hosts = lead.hosts().ok_or("there is one node only")?;
                let ranks = lead.ranks(false);
                let spec = JobSpec { bind: Bind::None, ..JobSpec::default() };
                let options = Options { spec, ranks, record: true, ..Options::default() };
                match run_on_hosts(nisa, &options, hosts)? {
                    Ended::Leading(outcome, others) => {
                        let report = Report::new(&outcome, None);
                        others.conclude(report.exit_status(), &report);
                        Ok(Some(*outcome))
                    }
                    Ended::Told(verdict) if verdict.status == 0 => Ok(None),
                    Ended::Told(verdict) => Err(verdict.errors.join("; ").into()),
                }
            })
        });
        let ran = joined_rank_over(&wired, |_| Ok(Box::new(fabric)));
        let outcome = launcher.map(|launcher| launcher.join().expect("it does not panic"));
        let outcome = outcome.transpose()?.flatten();
        ran?;
        Ok(outcome)
    })
}
