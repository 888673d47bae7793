//! The growth of a job of programs on one host, at the request of a rank or of `goal-run grow`.
//!
//! A new rank's process gets an order as those of the start do. It is a member of the job at once
//! if the rank that asked for it takes it in. Otherwise it waits to be accepted, and if its process
//! ends before, the job goes on without it. Numbers of ranks are not used again.

use super::child::{Exit, Process};
use super::crew::Fallen;
use super::options::Program;
use super::programs::Programs;
use crate::binding::is_crowded;
use crate::growth::{Answer, Command, Request, What};
use rustix::process::Signal;
use std::sync::Arc;
use std::time::Duration;

/// The most requests between two looks at the ranks.
const REQUESTS_MAX: u32 = 8;
/// The time in which the process of a rank that others wait for must attach.
const ATTACH_LIMIT: Duration = Duration::from_secs(60);

impl Programs<'_> {
    /// Starts the ranks that others ask for.
    pub(super) fn answer_requests(&mut self) {
        // Callers wait until all ranks of the start have attached.
        for _ in 0..REQUESTS_MAX {
            let Some(door) = self.requests.as_mut().filter(|_| self.segment.gate().is_open())
            else {
                return;
            };
            let Some((request, reply)) = door.next() else { return };
            reply.send(&self.start_more(&request));
        }
    }

    /// Starts the ranks of a request.
    fn start_more(&mut self, request: &Request) -> Answer {
        let segment = self.segment;
        let (first, wanted) = (segment.num_ranks(), request.ranks);
        let room = segment.capacity() - first;
        if wanted == 0 {
            return Err("a job grows by at least one rank".to_owned());
        }
        if wanted > room {
            let (most, needed) = (segment.capacity(), u64::from(first) + u64::from(wanted));
            return Err(format!(
                "{wanted} more ranks do not fit: the job has had {first}, and room for {most} in all; start it with goal-run --grow-to {needed}"
            ));
        }
        if segment.gate().finished() == segment.num_members() {
            return Err("the job has come to its end".to_owned());
        }
        let program = match &request.what {
            What::Command(Command { executable, arguments }) => {
                Arc::new(Program { executable: executable.clone(), arguments: arguments.clone() })
            }
            What::LikeRank(rank) => {
                let of_rank = |process: &&Process| process.rank == *rank;
                let Some(process) = self.processes.iter().find(of_rank) else {
                    return Err(format!("the job has no rank {rank}"));
                };
                Arc::clone(&process.program)
            }
        };
        if is_crowded(first + wanted) {
            segment.roll().crowd();
        }
        for rank in first..first + wanted {
            segment.status(rank).membership.begin(request.are_members);
            segment.roll().set_ranks(rank + 1);
            if let Err(error) = self.start(rank, &program, None, wanted as usize) {
                self.take_back(first, rank);
                return Err(error.to_string());
            }
        }
        Ok(first)
    }

    /// Ends the ranks of a request that could not be started as a whole, up to `failed`, which has
    /// no process and whose number is free again.
    fn take_back(&mut self, first: u32, failed: u32) {
        self.segment.roll().set_ranks(failed);
        for process in self.processes.iter().filter(|process| process.rank >= first) {
            self.segment.status(process.rank).membership.take_back();
            process.send(Signal::KILL);
        }
    }

    /// Gives up ranks that nobody has accepted and whose processes have ended.
    pub(super) fn give_up_ended(&mut self) {
        for process in &self.processes {
            let status = self.segment.status(process.rank);
            let Some(exit) = process.exit else { continue };
            if !status.membership.give_up() {
                continue;
            }
            let name = process.program.executable.display();
            let how = match exit {
                Exit::Status(status) => format!("exited with status {status}"),
                Exit::Signal(signal) => format!("was killed by signal {signal}"),
            };
            (self.place.options.tell)(&format!(
                "rank {} ({name}) {how} before it was accepted (GOAL_Accept); the job goes on without it",
                process.rank
            ));
        }
    }

    /// Ends ranks that nobody has accepted, since all others have come to their end.
    pub(super) fn dismiss_strangers(&mut self) {
        for process in &self.processes {
            if self.segment.status(process.rank).membership.give_up() {
                process.send(Signal::KILL);
                (self.place.options.tell)(&format!(
                    "rank {} ({}) was started and never accepted (GOAL_Accept): the job has ended",
                    process.rank,
                    process.program.executable.display()
                ));
            }
        }
    }

    /// Returns a rank that others wait for and whose process does not attach.
    pub(super) fn overdue(&self) -> Option<Fallen> {
        let is_overdue = |process: &&Process| {
            let status = self.segment.status(process.rank);
            process.rank >= self.segment.num_started()
                && process.exit.is_none()
                && process.since.elapsed() >= ATTACH_LIMIT
                && status.membership.takes_part()
                && status.attendance.process().is_none()
        };
        let process = self.processes.iter().find(is_overdue)?;
        let how = format!(
            "({}) was added to the job, and has not attached to it within {} s: does its program call GOAL_Init?",
            process.program.executable.display(),
            ATTACH_LIMIT.as_secs()
        );
        Some(Fallen::Ended(process.rank, how, None))
    }
}
