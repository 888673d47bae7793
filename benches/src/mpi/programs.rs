//! The programs in C that call an operation of a library in all its ways.

use super::bench::{Bench, Case};
use super::plan::Plan;
use super::samples::{By, FAILED, Sample, WAYS};
use crate::job::{Page, list, processors};
use crate::library::{Peer, goal};
use goal_run::job::Mode;
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
        let [first, later] = [f64::NAN; 2];
        let sample =
            |&bytes| Sample { row: self.row(case, bytes), by: by.clone(), run: 0, first, later };
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
        let kinds = case.memory.kinds();
        let arguments = self.arguments(case, sizes, &page, kinds, ways)?;
        let lines = peer.run_bound(&processors, &arguments)?;
        let library = &peer.library.name;
        let by = |way: &str, kind: &str| By::Peer {
            library: library.clone(),
            way: way.to_owned(),
            kind: kind.to_owned(),
        };
        self.samples(case, library, &lines, by)
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
        let kinds = case.memory.kinds_of_library();
        let arguments = self.arguments(case, sizes, &page, kinds, &WAYS)?;
        let lines = library.run(case.ranks, Some(&processors), progress, &arguments)?;
        let by = |way: &str, kind: &str| By::Library { way: way.to_owned(), kind: kind.to_owned() };
        let samples = self.samples(case, goal::LIBGOAL, &lines, by)?;
        match samples.iter().find(|sample| sample.later.is_nan()) {
            Some(Sample { row, by, .. }) => {
                let text = format!("{by}: wrong result of {row}, {} bytes", row.bytes);
                Err(io::Error::other(text))
            }
            None => Ok(samples),
        }
    }

    /// Returns the arguments of a program.
    fn arguments(
        &self,
        case: Case,
        sizes: &[u64],
        page: &Page,
        kinds: &str,
        ways: &[&str],
    ) -> io::Result<Vec<String>> {
        let Case { ranks, operation, .. } = case;
        let path = page.path().display().to_string();
        let mut arguments = vec![operation.peer_name().to_owned(), path, list(&processors(ranks)?)];
        arguments.extend([kinds.to_owned(), ways.join(",")]);
        let table = self.replay.as_ref().map(|replay| replay.table.display().to_string());
        arguments.push(table.unwrap_or_else(|| "-".to_owned()));
        let plan = |bytes| Plan::new(operation, ranks, bytes).at_most(self.rounds);
        arguments.extend(sizes.iter().map(|&bytes| plan(bytes).case(bytes, self.in_a_row)));
        Ok(arguments)
    }

    /// Returns the samples in the lines of a program of a library. `by` names the contestant of a
    /// way and a kind of memory.
    fn samples(
        &self,
        case: Case,
        library: &str,
        lines: &[String],
        by: impl Fn(&str, &str) -> By,
    ) -> io::Result<Vec<Sample>> {
        let sample = |line: &String| {
            let words: Vec<&str> = line.split(' ').collect();
            let garbled = || io::Error::other(format!("{library}: {line}"));
            let number = |text: &str| text.parse::<f64>().map_err(|_| garbled());
            let (bytes, by, [first, later]) = match words[..] {
                [bytes, kind, way, "wrong"] => (bytes, by(way, kind), [f64::NAN; 2]),
                [bytes, kind, way, first, later] => {
                    (bytes, by(way, kind), [number(first)?, number(later)?])
                }
                _ => return Err(garbled()),
            };
            let row = self.row(case, bytes.parse().map_err(|_| garbled())?);
            Ok(Sample { row, by, run: 0, first, later })
        };
        lines.iter().map(sample).collect()
    }
}
