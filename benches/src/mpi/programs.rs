//! The programs in C that call an operation of a library in all its ways.

use super::bench::{Bench, Case};
use super::calls::{Calls, parsed, right};
use super::samples::{By, FAILED, Sample, WAYS};
use crate::job::{Page, processors};
use crate::library::{Over, Peer, goal};
use goal_job::Mode;
use std::collections::BTreeSet;
use std::io;

impl Bench {
    /// Returns the samples of all ways to call the operation. If the program fails, each way is
    /// called in processes of its own, so that only one of them is lost. Adds that one to `failed`,
    /// whose ways are not tried again.
    pub(super) fn run_peer(
        &self,
        peer: &Peer,
        case: Case,
        sizes: &[u64],
        failed: &mut BTreeSet<(String, &'static str)>,
    ) -> Vec<Sample> {
        let name = &peer.library.name;
        let mut ways = WAYS.to_vec();
        ways.retain(|&way| !failed.contains(&(name.clone(), way)));
        let mut samples = self.run_ways(peer, case, sizes, &ways).unwrap_or_else(|_| {
            let mut samples = Vec::new();
            for &way in &ways {
                match self.run_ways(peer, case, sizes, &[way]) {
                    Ok(of_way) => samples.extend(of_way),
                    Err(error) => {
                        eprintln!("{way} {}: {error}", case.operation.name());
                        failed.insert((name.clone(), way));
                    }
                }
            }
            samples
        });
        let lost = failed.iter().filter(|(library, _)| library == name);
        samples.extend(lost.flat_map(|&(_, way)| self.failed(peer, case, sizes, way)));
        samples
    }

    /// Returns the samples of a way whose program has failed: without a number.
    fn failed(&self, peer: &Peer, case: Case, sizes: &[u64], way: &str) -> Vec<Sample> {
        let library = peer.library.name.clone();
        let by = By::Peer { library, way: way.to_owned(), kind: FAILED.to_owned() };
        let sample = |&bytes| Sample::without_time(self.row(case, bytes), by.clone());
        sizes.iter().map(sample).collect()
    }

    /// Returns the samples of these ways. Those with wrong results have no numbers as times.
    fn run_ways(
        &self,
        peer: &Peer,
        case: Case,
        sizes: &[u64],
        ways: &[&str],
    ) -> io::Result<Vec<Sample>> {
        let page = Page::new()?;
        let processors = processors(case.ranks)?;
        let calls = self.calls(case, sizes, &processors);
        let arguments = calls.arguments(&page, case.memory.kinds(), ways);
        let lines = peer.run_bound(Over::SharedMemory, &processors, &arguments)?;
        let library = &peer.library.name;
        parsed(&lines, library, |bytes| self.row(case, bytes), By::peer(library))
    }

    /// Returns the samples of all ways in which the C library offers the operation.
    ///
    /// # Errors
    /// The program fails, or leaves a wrong result.
    pub(super) fn run_library(
        &self,
        library: &goal::Program,
        case: Case,
        sizes: &[u64],
        progress: Mode,
    ) -> io::Result<Vec<Sample>> {
        let page = Page::new()?;
        let processors = processors(case.ranks)?;
        let calls = self.calls(case, sizes, &processors);
        let arguments = calls.arguments(&page, case.memory.kinds_of_library(), &WAYS);
        let by = By::library(&library.variant);
        let lines = library.run(case.ranks, Some(&processors), progress, &arguments)?;
        right(parsed(&lines, goal::LIBGOAL, |bytes| self.row(case, bytes), by)?)
    }

    fn calls<'a>(&'a self, case: Case, sizes: &'a [u64], processors: &'a [u32]) -> Calls<'a> {
        Calls {
            operation: case.operation,
            processors,
            sizes,
            rounds: self.rounds,
            manner: case.manner,
            table: self.replay.as_ref().map(|replay| replay.table.as_path()),
        }
    }
}
