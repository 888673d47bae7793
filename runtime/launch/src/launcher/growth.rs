//! Adds ranks to a job of programs on one host, at the request of a rank or of `goal-run grow`.
//!
//! The process of a new rank gets a bootstrap record, like the processes that start with the job.
//! If the rank that asked takes the new rank in, it is a member of the job at once. Otherwise it
//! waits until the members accept it. If its process ends before that, the job goes on without it.
//! The number of a rank is not used again.

use super::child::{Exit, Process};
use super::options::Program;
use super::programs::Programs;
use super::rank_set::Exited;
use goal_job::binding::is_crowded;
use goal_job::growth::{Answer, Command, Request, What, no_room};
use rustix::process::Signal;
use std::sync::Arc;
use std::time::Duration;

/// The most requests that are answered between two looks at the ranks.
const REQUESTS_MAX: u32 = 8;
/// The time within which the process of a new member must attach, since other ranks wait for it.
const ATTACH_LIMIT: Duration = Duration::from_secs(60);

impl Programs<'_> {
    /// Answers requests for more ranks by starting them. Returns true if there were requests.
    pub(super) fn answer_requests(&mut self) -> bool {
        // A rank has asked to open the socket for requests, and waits until it is open.
        if let Some(socket) =
            self.requests.as_mut().filter(|_| self.segment.rank_count().wants_growth())
            && let Err(error) = socket.open(false)
        {
            (self.place.options.tell)(&format!(
                "this job can't grow: {}: {error}",
                socket.address().folder.display()
            ));
            self.requests = None;
        }
        // Requests wait until all ranks that start with the job have attached.
        for number in 0..REQUESTS_MAX {
            let have_asked = number > 0;
            let Some(socket) =
                self.requests.as_mut().filter(|_| self.segment.start_barrier().is_open())
            else {
                return have_asked;
            };
            let Some((request, reply)) = socket.next() else { return have_asked };
            let answer = self.start_more(&request);
            let is_told = reply.send(&answer);
            // Only the caller would know of these ranks. Without the answer it can't tell members
            // their communicator, and it may ask for ranks again.
            if let (Ok(first), false) = (answer, is_told) {
                self.take_back(first, request.are_members);
            }
        }
        true
    }

    /// Starts the ranks of a request. Returns the number of the first one, or the reason why not.
    fn start_more(&mut self, request: &Request) -> Answer {
        let segment = self.segment;
        let (first, wanted) = (segment.num_ranks(), request.ranks);
        if wanted == 0 {
            return Err("a job grows by at least one rank".to_owned());
        }
        if let Some(why) = no_room(first, segment.capacity(), wanted) {
            return Err(why);
        }
        if segment.start_barrier().finished() == segment.num_members() {
            return Err("the job has come to its end".to_owned());
        }
        let program = match &request.what {
            What::Command(Command { executable, arguments }) => {
                let (executable, arguments) = (executable.into(), arguments.clone());
                Arc::new(Program { executable, arguments })
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
            segment.rank_count().crowd();
        }
        for rank in first..first + wanted {
            segment.status(rank).member_state.begin(request.are_members);
            segment.rank_count().set_ranks(rank + 1);
            if let Err(error) = self.start(rank, &program, None, wanted as usize) {
                // This rank has no process, so its number is free again.
                segment.rank_count().set_ranks(rank);
                let stay = self.take_back(first, request.are_members);
                return Err(match stay {
                    0 => error.to_string(),
                    _ => format!("{error}; {stay} of the ranks were accepted meanwhile and stay"),
                });
            }
        }
        Ok(first)
    }

    /// Kills the ranks from `first` on, because their request failed as a whole or its caller has
    /// gone. Ranks that were accepted meanwhile stay; returns their number.
    fn take_back(&mut self, first: u32, are_members: bool) -> usize {
        let mut stay = 0;
        for process in self.processes.iter().filter(|process| process.rank >= first) {
            let member_state = &self.segment.status(process.rank).member_state;
            match are_members {
                // Only the caller could tell other ranks of these members.
                true => member_state.take_back(),
                false if member_state.give_up() => {}
                false => {
                    stay += 1;
                    continue;
                }
            }
            process.send(Signal::KILL);
        }
        stay
    }

    /// Gives up ranks that were not accepted before their process ended. If a script was started,
    /// the end of the process that has attached counts too.
    pub(super) fn give_up_ended(&mut self) {
        for process in &mut self.processes {
            let status = self.segment.status(process.rank);
            if !status.member_state.is_joining() {
                continue;
            }
            process.attended.look(&status.process_state, process.child.id());
            let how = match process.exit {
                Some(Exit::Status(status)) => format!("exited with status {status}"),
                Some(Exit::Signal(signal)) => format!("was killed by signal {signal}"),
                None if process.attended.has_ended() => "(not its script) has ended".to_owned(),
                None => continue,
            };
            if !status.member_state.give_up() {
                continue;
            }
            let name = process.program.executable.display();
            (self.place.options.tell)(&format!(
                "rank {} ({name}) {how} before it was accepted (GOAL_Accept); the job goes on without it",
                process.rank
            ));
        }
    }

    /// Kills the ranks that were never accepted, as all other ranks have come to their end.
    pub(super) fn dismiss_unaccepted(&mut self) {
        for process in &self.processes {
            if self.segment.status(process.rank).member_state.give_up() {
                process.send(Signal::KILL);
                (self.place.options.tell)(&format!(
                    "rank {} ({}) was started and never accepted (GOAL_Accept): the job has ended",
                    process.rank,
                    process.program.executable.display()
                ));
            }
        }
    }

    /// Returns a member that other ranks wait for and whose process has not attached in time.
    pub(super) fn overdue(&self) -> Option<Exited> {
        let is_overdue = |process: &&Process| {
            let status = self.segment.status(process.rank);
            process.rank >= self.segment.num_started()
                && process.exit.is_none()
                && process.since.elapsed() >= ATTACH_LIMIT
                && status.member_state.takes_part()
                && status.process_state.process().is_none()
        };
        let process = self.processes.iter().find(is_overdue)?;
        let how = format!(
            "({}) was added to the job, and has not attached to it within {} s: does its program call GOAL_Init?",
            process.program.executable.display(),
            ATTACH_LIMIT.as_secs()
        );
        Some(Exited::Ended(process.rank, how, None))
    }
}
