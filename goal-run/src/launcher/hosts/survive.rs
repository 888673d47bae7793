//! The leader's work after the loss of ranks or hosts, in a job that goes on without them.

use super::follow::lose;
use super::lead::{Ending, Leader};
use super::survival::Survival;
use crate::host::Host;
use crate::hosts::Message;
use crate::launcher::crew::Crew;
use crate::launcher::losses;
use std::time::{Duration, Instant};

/// The time that the host of a rank has to tell why others can't reach it. Its reason says more.
const GRACE: Duration = Duration::from_secs(1);

impl Leader<'_, '_> {
    /// Returns true if the job may go on without a rank or a host.
    pub(super) fn is_survived(&self) -> bool {
        self.place.settings.survives && self.has_begun
    }

    /// Lets all hosts know of new losses, and lets the ranks that are left go on when all of them
    /// wait for that. Returns the reason if the job ends.
    pub(super) fn tend(&mut self, crew: &mut dyn Crew) -> Option<Ending> {
        let segment = self.place.segment;
        let accusations: Vec<(u32, u32)> = losses::accusations(self.place).collect();
        for (by, rank) in accusations {
            self.survival.accuse(by, rank);
        }
        let is_due = |since: &Instant| since.elapsed() >= GRACE;
        let is_lost = |rank: u32| segment.status(rank).is_lost();
        if segment.gate().is_broken() {
            // Ranks that regroup close their connections, which says nothing about them. One that
            // can't be reached is noticed again in the next generation.
            self.survival.unreachable.clear();
        }
        let due = self.survival.unreachable.iter().filter(|(_, (_, since))| is_due(since));
        let due: Vec<(u32, u32)> = due.map(|(&rank, &(by, _))| (rank, by)).collect();
        for (rank, by) in due {
            let how = format!("can't be reached by rank {by}");
            self.survival.lose(rank, how);
        }
        let mut new = std::mem::take(&mut self.survival.new);
        new.retain(|&(rank, _)| rank < segment.num_ranks() && !is_lost(rank));
        if !new.is_empty() {
            new.iter().for_each(|(rank, how)| {
                (self.place.options.tell)(&losses::text(*rank, how));
            });
            if let Err(error) = lose(self.place, crew, &new) {
                return Some(Ending::Refused(error.to_string()));
            }
            self.tell_all(&Message::Lost(new.clone()));
            if (0..segment.num_ranks()).all(is_lost) {
                let (rank, how) = new.swap_remove(0);
                return Some(Ending::Died(rank, how, None));
            }
        }
        self.regroup()
    }

    /// Begins the next generation if no rank uses messages any more.
    fn regroup(&mut self) -> Option<Ending> {
        if !self.place.segment.gate().is_broken() {
            return None;
        }
        let me = self.session.me;
        if !self.survival.stands.contains_key(&me) {
            let own = losses::stand(self.place)?;
            self.survival.stand(me, own);
        }
        let stands = &self.survival.stands;
        let have_all = self.others.iter().all(|host| stands.contains_key(host));
        if !have_all || !stands.values().any(|stand| stand.regroups) {
            return None;
        }
        let sits_out: Vec<u32> = stands.values().flat_map(|stand| stand.sits_out.clone()).collect();
        self.survival = Survival::default();
        self.tell_all(&Message::Mend(sits_out.clone()));
        losses::mend(self.place, &sits_out).err().map(|error| Ending::Refused(error.to_string()))
    }

    /// Goes on without a host, whose ranks are lost.
    pub(super) fn go_on_without(&mut self, host: Host, why: &str) {
        let name = self.session.named(host);
        for set in [&mut self.others, &mut self.ready, &mut self.finished, &mut self.at_end] {
            set.remove(&host);
        }
        self.rounds.leave_out(host);
        self.survival.forget(host);
        for rank in self.session.ranks_of(host) {
            self.survival.lose(rank, format!("is lost with {name}: {why}"));
        }
    }
}
