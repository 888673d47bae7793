//! The group of ranks, and the blocks of each rank.

use crate::diag::{Code, Diagnostic, Report};
use crate::limits::Limit;
use crate::parse::{Block, Chunk, Member, ParseOptions};
use crate::source::{Position, SourceMap, Span};

/// The ranks with their blocks.
pub(super) struct Group {
    pub(super) num_ranks: u32,
    /// The place of the `num_ranks` that states the number; `None` without a `num_ranks`.
    pub(super) declared: Option<Span>,
    /// The blocks of `rank *`, ascending.
    every: Vec<u32>,
    /// The start of each rank's row in `own`. A row has the blocks that name the rank, ascending.
    starts: Vec<u32>,
    own: Vec<u32>,
}

impl Group {
    /// Returns the blocks of a rank in the order of the text.
    pub(super) fn blocks_of(&self, rank: u32) -> impl Iterator<Item = u32> + '_ {
        let row = self.starts[rank as usize] as usize..self.starts[rank as usize + 1] as usize;
        let (mut own, mut every) =
            (self.own[row].iter().copied().peekable(), self.every.iter().copied().peekable());
        std::iter::from_fn(move || match (own.peek(), every.peek()) {
            (Some(a), Some(b)) if b < a => every.next(),
            (Some(_), _) => own.next(),
            _ => every.next(),
        })
    }

    fn has_blocks(&self, rank: u32) -> bool {
        !self.every.is_empty() || self.starts[rank as usize] < self.starts[rank as usize + 1]
    }
}

/// Returns all blocks and the group, or `None` if the text does not determine a group.
pub(super) fn gather(
    sources: &SourceMap,
    chunks: Vec<Chunk>,
    options: &ParseOptions,
    report: &mut Report,
) -> Option<(Vec<Block>, Group)> {
    let bare = chunks.iter().any(|chunk| chunk.bare);
    if bare && !all_bare(sources, &chunks, report) {
        return None;
    }
    let (mut blocks, mut members, mut every, mut declared) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (file, mut chunk) in chunks.into_iter().enumerate() {
        let first = blocks.len() as u32;
        if bare {
            let place = chunk.blocks.first().map_or(0, |block| block.start);
            members.extend((0..chunk.blocks.len() as u32).map(|block| Member {
                rank: file as u32,
                place,
                block: first + block,
            }));
            if chunk.blocks.is_empty() {
                members.push(Member { rank: file as u32, place, block: first });
                blocks.push(Block::default());
            }
        }
        blocks.append(&mut chunk.blocks);
        members.extend(
            chunk.members.iter().map(|member| Member { block: first + member.block, ..*member }),
        );
        every.extend(chunk.every.iter().map(|block| first + block));
        declared.append(&mut chunk.declared);
    }
    let declared = one_number(&declared, report);
    let highest = members.iter().max_by_key(|member| member.rank);
    let num_ranks = match (declared, highest) {
        (Some((number, _)), _) => number,
        (None, Some(member)) => member.rank + 1,
        (None, None) => {
            no_group(&blocks, !every.is_empty(), report);
            return None;
        }
    };
    if num_ranks > options.limits.ranks_max {
        let message = format!(
            "{num_ranks} files are more than the limit of {} ranks",
            options.limits.ranks_max
        );
        report.push(Diagnostic::new(Code::LimitExceeded, message).limit(Limit::Ranks));
        return None;
    }
    let highest = highest.map(|member| number_at(sources, member.place));
    let declared = declared.map(|(_, span)| span);
    let group = rows(sources, num_ranks, declared, every, &members, report);
    // After a syntax error a rank may lack a block only because it could not be read.
    if !report.diagnostics.iter().any(|finding| finding.code == Code::Syntax) {
        missing(&group, declared.or(highest), report);
    }
    Some((blocks, group))
}

/// Returns true if all files consist of bare statements. Reports a mixture of both kinds.
fn all_bare(sources: &SourceMap, chunks: &[Chunk], report: &mut Report) -> bool {
    let start = |chunk: &Chunk| chunk.blocks.first().map(|block| block.start);
    let Some(with_blocks) = chunks.iter().find(|chunk| !chunk.bare && !chunk.blocks.is_empty())
    else {
        return true;
    };
    let bare = chunks.iter().find(|chunk| chunk.bare).and_then(start);
    if report.has_errors() {
        return false;
    }
    let at = |position: Option<Position>| number_at(sources, position.unwrap_or(0));
    report.push(
        Diagnostic::new(
            Code::Syntax,
            "files with rank blocks and files of bare statements don't join",
        )
        .label(at(start(with_blocks)), "this file has rank blocks")
        .label(at(bare), "this one has statements outside of any block")
        .note("a file of bare statements is the program of one rank, the first file's of rank 0")
        .help("put the bare statements into blocks: `rank 0 { ... }`"),
    );
    false
}

fn one_number(declared: &[(u32, Span)], report: &mut Report) -> Option<(u32, Span)> {
    let &(number, first) = declared.first()?;
    for &(other, span) in declared.iter().filter(|&&(other, _)| other != number) {
        report.add(Code::ConflictingNumRanks, || {
            Diagnostic::new(
                Code::ConflictingNumRanks,
                format!("the group has {number} ranks or {other}, not both"),
            )
            .label(span, format!("{other} ranks here"))
            .label(first, format!("{number} ranks here"))
            .note("`num_ranks` may stand several times if it always says the same")
            .help("leave one of them out")
        });
    }
    // The largest number, so that no rank is reported as outside of the group too.
    declared.iter().copied().max_by_key(|&(number, _)| number)
}

fn no_group(blocks: &[Block], every: bool, report: &mut Report) {
    if report.has_errors() {
        return;
    }
    let diagnostic = Diagnostic::new(Code::EmptyGroup, "the program has no rank");
    report.push(match blocks.first() {
        Some(block) if every => diagnostic
            .label(
                Span { start: block.start, end: block.start },
                "`rank *` stands for all ranks of the group",
            )
            .note("without `num_ranks` the group reaches to the highest rank that has a block of its own")
            .help("say how many there are: `num_ranks N`"),
        _ => diagnostic
            .note("there is neither a rank block nor a statement")
            .help("write at least `rank 0 { }`"),
    });
}

fn rows(
    sources: &SourceMap,
    num_ranks: u32,
    declared: Option<Span>,
    every: Vec<u32>,
    members: &[Member],
    report: &mut Report,
) -> Group {
    let mut starts = vec![0u32; num_ranks as usize + 1];
    for member in members {
        if member.rank < num_ranks {
            starts[member.rank as usize + 1] += 1;
        } else {
            out_of_range(sources, member, num_ranks, declared, report);
        }
    }
    for i in 0..num_ranks as usize {
        starts[i + 1] += starts[i];
    }
    let mut next = starts.clone();
    let mut own = vec![0; starts[num_ranks as usize] as usize];
    for member in members.iter().filter(|member| member.rank < num_ranks) {
        let at = &mut next[member.rank as usize];
        if *at > starts[member.rank as usize] && own[*at as usize - 1] == member.block {
            twice(sources, member, report);
        }
        own[*at as usize] = member.block;
        *at += 1;
    }
    Group { num_ranks, declared, every, starts, own }
}

fn out_of_range(
    sources: &SourceMap,
    member: &Member,
    num_ranks: u32,
    declared: Option<Span>,
    report: &mut Report,
) {
    report.add(Code::RankOutOfRange, || {
        let message = format!("there is no rank {} in a group of {num_ranks}", member.rank);
        let mut diagnostic = Diagnostic::new(Code::RankOutOfRange, message)
            .label(number_at(sources, member.place), format!("the last rank is {}", num_ranks - 1));
        if let Some(span) = declared {
            diagnostic = diagnostic.label(span, "the group's size is set here");
        }
        diagnostic
            .note("ranks count from 0")
            .help(format!("write `num_ranks {}`, or another rank", member.rank + 1))
    });
}

fn twice(sources: &SourceMap, member: &Member, report: &mut Report) {
    report.add(Code::DuplicateRank, || {
        Diagnostic::new(Code::DuplicateRank, format!("rank {} is twice in this list", member.rank))
            .label(number_at(sources, member.place), "again here")
            .note("a block gives its statements to each rank of its list once")
            .help("leave one of them out")
    });
}

/// Reports all ranks without a block, in one warning.
fn missing(group: &Group, place: Option<Span>, report: &mut Report) {
    const LISTED_MAX: usize = 8;
    let mut runs: Vec<(u32, u32)> = Vec::new();
    let mut count = 0u64;
    for rank in (0..group.num_ranks).filter(|&rank| !group.has_blocks(rank)) {
        count += 1;
        if let Some((_, last)) = runs.last_mut()
            && *last + 1 == rank
        {
            *last = rank;
        } else if runs.len() <= LISTED_MAX {
            runs.push((rank, rank));
        }
    }
    if count == 0 {
        return;
    }
    let run = |&(first, last): &(u32, u32)| {
        if first == last { format!("{first}") } else { format!("{first} to {last}") }
    };
    let mut list = runs.iter().take(LISTED_MAX).map(run).collect::<Vec<_>>().join(", ");
    if runs.len() > LISTED_MAX {
        list.push_str(", ...");
    }
    let message = if count == 1 {
        format!("rank {list} has no block: it does nothing")
    } else {
        format!("{count} ranks have no block and do nothing: {list}")
    };
    let mut diagnostic = Diagnostic::new(Code::MissingRank, message)
        .note(format!("the group has {} ranks", group.num_ranks))
        .help("write `rank N { }` for a rank that is meant to be idle");
    if let Some(place) = place {
        let text = if group.declared.is_some() {
            "the group's size is set here"
        } else {
            "the highest rank is here"
        };
        diagnostic = diagnostic.label(place, text);
    }
    report.push(diagnostic);
}

/// Returns the span of the number or word at a position.
fn number_at(sources: &SourceMap, place: Position) -> Span {
    let (text, offset, _) = sources.text_at(place);
    let length =
        text[offset..].iter().take_while(|byte| byte.is_ascii_alphanumeric()).count() as Position;
    Span { start: place, end: place + length }
}
