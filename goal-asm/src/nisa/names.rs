//! The debug part: labels, source names and lines of the sections' actions.

use super::bytes::put_u32;
use super::container::{NONE, padded};
use super::parts::{Parts, in_order};
use super::plan::{Plan, PlannedSection};
use goal_lang::{Labels, LineCounters, Lines, SourceMap};
use rayon::prelude::*;
use std::collections::HashMap;
use std::io;

/// The source name and the lines of each section.
pub(super) struct DebugPlan<'a> {
    names: Vec<&'a str>,
    sections: Vec<(u32, Lines<'a>)>,
}

impl<'a> DebugPlan<'a> {
    /// Returns the plan of the debug part, or `None` if no section has labels or lines.
    pub(super) fn new(plan: &Plan<'a>, sources: Option<&'a SourceMap>) -> Option<Self> {
        let mut names = Vec::new();
        let mut index = HashMap::new();
        let sections = plan.sections.iter().map(|section| {
            let lines = Lines::new(&section.body.debug, sources);
            let name = lines.source_name().map_or(NONE, |name| {
                *index.entry(name).or_insert_with(|| {
                    names.push(name);
                    names.len() as u32 - 1
                })
            });
            (name, lines)
        });
        let sections: Vec<_> = sections.collect();
        let known = |(section, (_, lines)): (&PlannedSection<'_>, &(u32, Lines<'_>))| {
            !lines.is_none() || !section.body.debug.labels.is_empty()
        };
        plan.sections.iter().zip(&sections).any(known).then_some(Self { names, sections })
    }

    pub(super) fn length(&self, plan: &Plan<'_>) -> u64 {
        let names: u64 = self.names.iter().map(|name| 4 + padded(name.len() as u64)).sum();
        let sections = plan.sections.iter().zip(&self.sections).map(|(section, (_, lines))| {
            let lines = if lines.is_none() { 0 } else { 4 * section.body.len() as u64 };
            8 + lines + labels_length(&section.body.debug.labels)
        });
        4 + names + sections.sum::<u64>()
    }

    pub(super) fn write(
        &self,
        plan: &Plan<'_>,
        threads: usize,
        out: &mut Parts<'_>,
    ) -> io::Result<()> {
        put_u32(&mut out.buffer, self.names.len() as u32);
        for name in &self.names {
            put_u32(&mut out.buffer, name.len() as u32);
            out.write(name.as_bytes())?;
            out.pad(name.len());
        }
        let mut counters = LineCounters::default();
        // Several threads begin at offsets far apart, so that each needs the table of newlines.
        for (_, lines) in self.sections.iter().filter(|_| threads > 1) {
            counters.prepare(lines);
        }
        let sections: Vec<_> = plan.sections.iter().zip(&self.sections).collect();
        let encode = |sections: &[(&PlannedSection<'_>, &(u32, Lines<'a>))]| {
            let encode = |counters: &mut LineCounters<'a>, &(section, debug): &(_, _)| {
                let mut nowhere = io::sink();
                let mut parts = Parts::in_memory(&mut nowhere);
                write_section(section, debug, counters, &mut parts)
                    .expect("nothing is written yet");
                parts.buffer
            };
            sections.par_iter().map_init(|| counters.clone(), encode).collect()
        };
        let mut own_counters = counters.clone();
        let write = |&(section, debug): &(_, _), out: &mut Parts<'_>| {
            write_section(section, debug, &mut own_counters, out)
        };
        in_order(&sections, |(section, _)| section.length, threads, encode, write, out)
    }
}

/// Writes the index of a section's source name, its lines and its labels.
fn write_section<'a>(
    section: &PlannedSection<'_>,
    (name, lines): &(u32, Lines<'a>),
    counters: &mut LineCounters<'a>,
    out: &mut Parts<'_>,
) -> io::Result<()> {
    let labels = &section.body.debug.labels;
    put_u32(&mut out.buffer, *name);
    let has = |flag: u32, there: bool| if there { flag } else { 0 };
    put_u32(&mut out.buffer, has(1, !lines.is_none()) | has(2, !labels.is_empty()));
    for id in section.body.ids().filter(|_| !lines.is_none()) {
        put_u32(&mut out.buffer, lines.line(id, counters));
        out.relieve()?;
    }
    if !labels.is_empty() {
        for &end in labels.ends() {
            put_u32(&mut out.buffer, end);
            out.relieve()?;
        }
        out.write(labels.text().as_bytes())?;
        out.pad(labels.text().len());
    }
    Ok(())
}

/// Returns the bytes of all labels and of their ends in the debug part.
fn labels_length(labels: &Labels) -> u64 {
    if labels.is_empty() {
        return 0;
    }
    4 * labels.len() as u64 + padded(labels.text().len() as u64)
}
