//! Keeps some ranks of a program, or a window of every rank's actions.

mod channels;
mod run;

use super::assembly::{Assembly, drop_places};
use super::data::{drop_data, dummy, names_data};
use super::numbers::{RankList, Window};
use crate::driver::{Error, Ranks};
use channels::{Channels, Counts, channel, order};
use goal_lang::{ANY, Action, Body, MemoryImage};
use run::Partners;
use std::ops::Range;

/// A part of a program: some of its ranks, and the actions of a window of each.
///
/// Both ends of a message that loses one become dummies, so that dependencies stay. The others are
/// matched as in the program: by the order of their pair of ranks and tag. Receives with wildcards
/// get the source and the tag of the message that they take in a run without data.
pub struct Slice {
    ranks: Ranks,
    /// The ranks that stay, in their new order.
    kept: Vec<u32>,
    /// By rank of the program, its new number.
    numbers: Vec<Option<u32>>,
    window: Range<u64>,
    matching: Matching,
    /// True if an action or a message is left out.
    is_part: bool,
    summary: Summary,
}

/// The rule by which a slice knows the messages that stay.
enum Matching {
    /// Those whose both ranks stay.
    Ranks,
    /// Those whose both ends are in the window.
    Window(Channels),
    /// Those whose both ends stay in a run without data.
    Run(Partners),
}

/// Counts of what a slice left out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Summary {
    /// Actions of the ranks that stay.
    pub actions: u64,
    /// Actions outside of the window.
    pub cut: u64,
    /// Sends that became dummies.
    pub sends: u64,
    /// Receives that became dummies.
    pub receives: u64,
    /// Receives with wildcards that got a source and a tag.
    pub wildcards: u64,
    /// True if the program had data, which is dropped.
    pub has_data: bool,
}

/// The findings of a first look at the ranks that stay.
#[derive(Default)]
struct Survey {
    has_wildcards: bool,
    has_data: bool,
    /// True if a message leads to another rank, or an action is outside of the window.
    is_part: bool,
    /// Most actions of a rank.
    longest: u64,
    in_window: u64,
}

impl Survey {
    fn action(&mut self, action: &Action, numbers: &[Option<u32>]) {
        self.has_data |= names_data(action);
        let (Action::Send { to: peer, tag, .. } | Action::Recv { from: peer, tag, .. }) = *action
        else {
            return;
        };
        self.has_wildcards |= peer == ANY || tag == ANY;
        self.is_part |= peer != ANY && numbers[peer as usize].is_none();
    }

    fn rank(&mut self, actions: u64, in_window: u64) {
        self.longest = self.longest.max(actions);
        self.in_window += in_window;
        self.is_part |= in_window < actions;
    }
}

impl Slice {
    /// Looks for the messages that stay.
    ///
    /// # Errors
    /// Returns an error if a rank does not exist or is named twice, if the window has no action, if
    /// a run without data does not end, or if the program can't be read.
    pub fn new(
        mut ranks: Ranks,
        list: Option<&RankList>,
        window: Option<&Window>,
    ) -> Result<Self, Error> {
        let kept = kept(list, &ranks)?;
        let mut numbers = vec![None; ranks.num_ranks() as usize];
        for (new, &old) in (0..).zip(&kept) {
            numbers[old as usize] = Some(new);
        }
        let mut channels = Channels::default();
        let mut survey = Survey::default();
        for &rank in &kept {
            survey.has_data |= ranks.image(rank).is_some_and(|image| !image.is_empty());
            match window {
                Some(Window(window)) => {
                    let body = ranks.body(rank)?;
                    body.actions.iter().for_each(|action| survey.action(action, &numbers));
                    survey.rank(body.len() as u64, channels.add(rank, &body, window));
                }
                None => ranks.visit_actions(rank, |action| survey.action(action, &numbers))?,
            }
        }
        if let Some(window) = window
            && survey.in_window == 0
        {
            return Err(Error::Usage(format!(
                "no action is in the window {window}: the longest rank has {}",
                survey.longest
            )));
        }
        let lacks_ranks = kept.len() < numbers.len();
        let is_part = survey.is_part || lacks_ranks && survey.has_wildcards;
        let window = window.map(|Window(window)| window.clone());
        let matching = match &window {
            _ if is_part && survey.has_wildcards => {
                let name = ranks.name.clone();
                Matching::Run(Partners::new(
                    &name,
                    ranks.hold("its wildcards need a run")?,
                    window.as_ref(),
                )?)
            }
            Some(_) if is_part => Matching::Window(channels.without_halves()),
            _ => Matching::Ranks,
        };
        let summary = Summary { has_data: is_part && survey.has_data, ..Summary::default() };
        let window = window.unwrap_or(0..u64::MAX);
        Ok(Self { ranks, kept, numbers, window, matching, is_part, summary })
    }

    /// Returns the number of ranks that stay.
    pub fn num_ranks(&self) -> u32 {
        self.kept.len() as u32
    }

    /// Returns true if ranks are read from a file each time.
    pub fn is_streamed(&self) -> bool {
        self.ranks.is_streamed()
    }

    /// Returns true if a rank gets another number.
    pub fn renumbers(&self) -> bool {
        (0..).zip(&self.kept).any(|(new, &old): (u32, &u32)| new != old)
    }

    /// Returns the counts of the ranks that were made so far.
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// Makes a rank. Each is made once, in order.
    ///
    /// # Errors
    /// Returns an error if the rank can't be read.
    ///
    /// # Panics
    /// If there is no such rank.
    pub fn rank(&mut self, rank: u32) -> Result<(Body, Option<MemoryImage>), Error> {
        let Self { ranks, kept, numbers, window, matching, is_part, summary } = self;
        let old = kept[rank as usize];
        let image = ranks.image(old).filter(|_| !*is_part).cloned();
        let body = ranks.body(old)?;
        let fates = fates(old, &body, window, matching, numbers);
        let mut part = Assembly::default();
        let added = part.add(&body, |id, action| match fates[id.index()] {
            Fate::Cut => None,
            Fate::Stays => Some(action),
            Fate::Meets { peer, tag } => {
                summary.wildcards += u64::from(is_wild(&action) && peer != ANY);
                Some(with_partner(action, peer, tag))
            }
            Fate::LosesPartner => {
                match action {
                    Action::Send { .. } => summary.sends += 1,
                    _ => summary.receives += 1,
                }
                Some(dummy(action.placement()))
            }
        });
        let made = added.and_then(|()| part.finish());
        let mut made = made.map_err(|error| Error::Usage(format!("rank {old}: {error}")))?;
        summary.actions += made.len() as u64;
        summary.cut += (body.len() - made.len()) as u64;
        drop_places(&mut made);
        if *is_part {
            drop_data(&mut made);
        }
        Ok((made, image))
    }
}

/// The fate of an action in a slice.
#[derive(Clone, Copy)]
enum Fate {
    /// It is outside of the window.
    Cut,
    /// It is no message.
    Stays,
    /// It is a message that stays, with this peer and tag.
    Meets { peer: u32, tag: u32 },
    /// It is a message that loses its other end.
    LosesPartner,
}

/// Returns the fate of each action of a rank.
fn fates(
    rank: u32,
    body: &Body,
    window: &Range<u64>,
    matching: &Matching,
    numbers: &[Option<u32>],
) -> Vec<Fate> {
    let mut fates = vec![Fate::Cut; body.len()];
    let number = |rank: u32| numbers[rank as usize];
    let mut counts = Counts::default();
    for (at, id) in (0..).zip(order(body)) {
        let action = body.action(id);
        let channel = channel(rank, action);
        let count = channel.map_or(0, |channel| counts.next(channel));
        if !window.contains(&at) {
            continue;
        }
        let (Action::Send { to: peer, tag, .. } | Action::Recv { from: peer, tag, .. }) = *action
        else {
            fates[id.index()] = Fate::Stays;
            continue;
        };
        let other = match (matching, channel) {
            (Matching::Run(partners), _) => {
                let partner = partners.of(rank, id);
                partner.and_then(|(peer, tag)| Some((number(peer)?, tag)))
            }
            (Matching::Window(channels), Some(channel)) if !channels.has(channel.0, count) => None,
            _ if peer == ANY => Some((peer, tag)),
            _ => number(peer).map(|peer| (peer, tag)),
        };
        fates[id.index()] = match other {
            Some((peer, tag)) => Fate::Meets { peer, tag },
            None => Fate::LosesPartner,
        };
    }
    fates
}

fn is_wild(action: &Action) -> bool {
    matches!(action, Action::Recv { from, tag, .. } if *from == ANY || *tag == ANY)
}

fn with_partner(mut action: Action, partner: u32, with: u32) -> Action {
    if let Action::Send { to: peer, tag, .. } | Action::Recv { from: peer, tag, .. } = &mut action {
        (*peer, *tag) = (partner, with);
    }
    action
}

/// Returns the ranks that stay: those of the list, or all.
fn kept(list: Option<&RankList>, ranks: &Ranks) -> Result<Vec<u32>, Error> {
    let count = ranks.num_ranks();
    let Some(list) = list else { return Ok((0..count).collect()) };
    if list.highest() >= count {
        return Err(Error::Usage(format!(
            "--ranks {list}: there is no rank {}, {} has ranks 0 to {}",
            list.highest(),
            ranks.name,
            count - 1
        )));
    }
    match list.repeated() {
        Some(rank) => {
            Err(Error::Usage(format!("--ranks {list}: rank {rank} is listed twice, keep it once")))
        }
        None => Ok(list.ranks().collect()),
    }
}
