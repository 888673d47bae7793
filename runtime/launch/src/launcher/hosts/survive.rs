//! Lets a job go on after the loss of ranks or hosts. The leader does this.

use super::follow::lose;
use super::lead::{Ending, Leader};
use super::survival::Survival;
use crate::hosts::LauncherMessage;
use crate::launcher::losses;
use crate::launcher::rank_set::RankSet;
use goal_job::host::Host;

impl Leader<'_, '_> {
    /// Returns true if the job may go on without a rank or a host.
    pub(super) fn is_survived(&self) -> bool {
        self.place.settings.spec.survives && self.has_begun
    }

    /// Tells all hosts of new losses. Begins the next generation when all ranks that are left wait
    /// for it or have come to their end. Returns the reason why the job must end, if any.
    pub(super) fn tend(&mut self, rank_set: &mut dyn RankSet) -> Option<Ending> {
        let segment = self.place.segment;
        let suspicions: Vec<(u32, u32)> = losses::suspicions(self.place).collect();
        for (by, rank) in suspicions {
            self.survival.suspect(by, rank);
        }
        let (start_barrier, num_ranks) = (segment.start_barrier(), segment.num_ranks());
        let is_lost = |rank: u32| segment.status(rank).is_lost();
        let is_missing = |rank: u32| segment.status(rank).is_missing_in(start_barrier.generation());
        if start_barrier.is_broken() {
            // Ranks that wait for the next generation close their connections. So other ranks can't
            // reach them for a while, though they are not lost. If a rank really can't be reached,
            // this is noticed again in the next generation.
            self.survival.clear_suspicions();
        }
        let has_part = |rank| rank < num_ranks && !is_missing(rank) && !is_lost(rank);
        for (rank, by) in self.survival.unreachable(has_part) {
            self.survival.lose(rank, format!("can't be reached by rank {by}"));
        }
        let mut new = std::mem::take(&mut self.survival.new);
        new.retain(|&(rank, _)| rank < segment.num_ranks() && !is_lost(rank));
        if !new.is_empty() {
            new.iter().for_each(|(rank, how)| {
                (self.place.options.tell)(&losses::text(*rank, how));
            });
            if let Err(error) = lose(self.place, rank_set, &new) {
                return Some(Ending::Refused(error.to_string()));
            }
            self.tell_all(&LauncherMessage::Lost(new.clone()));
            if (0..segment.num_ranks()).all(is_lost) {
                let (rank, how) = new.swap_remove(0);
                return Some(Ending::Died(rank, how, None));
            }
        }
        self.regroup()
    }

    /// Begins the next generation if no rank of any host uses messages any more. Returns the reason
    /// why the job must end, if any.
    fn regroup(&mut self) -> Option<Ending> {
        if !self.place.segment.start_barrier().is_broken() {
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
        self.tell_all(&LauncherMessage::Mend(sits_out.clone()));
        losses::mend(self.place, &sits_out).err().map(|error| Ending::Refused(error.to_string()))
    }

    /// Lets the job go on without a host. Its ranks count as lost.
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
