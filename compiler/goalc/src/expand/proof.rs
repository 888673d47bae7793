//! Proves that the programs of expanded collectives compute what MPI defines.

use super::expanded::Expanded;
use crate::limits::PROVED_ACTIONS_MAX;
use goal_check::{Collective, Options, check_into};
use goal_collectives::Blocks;
use goal_lang::diag::{Code, Diagnostic, Report};

/// The number of collectives that were proved, and those that were not.
#[derive(Debug, Default)]
pub struct Proofs {
    /// The number of collectives that were proved.
    pub proved: u64,
    /// The findings about the others.
    pub report: Report,
}

impl Proofs {
    /// Returns a sentence about the collectives that were proved, or `None` if there are none.
    pub fn sentence(&self) -> Option<String> {
        match self.proved {
            0 => None,
            1 => Some("1 collective".to_owned()),
            proved => Some(format!("{proved} collectives")),
        }
    }
}

/// Proves each program once, with its data: it ends even if every send waits for its receive, and
/// every byte is what MPI defines. A program with too many actions is reported as not proved.
pub fn prove(all: &[Expanded], options: &Options) -> Proofs {
    let mut proofs = Proofs::default();
    let most = PROVED_ACTIONS_MAX.saturating_mul(options.effort);
    for expanded in all {
        if expanded.actions > most {
            proofs.report.push(too_large(expanded, options));
            continue;
        }
        let found = of_one(expanded, options);
        if found.diagnostics.is_empty() {
            proofs.proved += expanded.count;
        }
        found.diagnostics.into_iter().for_each(|finding| proofs.report.push(finding));
    }
    proofs
}

/// Returns the findings about a program.
fn of_one(expanded: &Expanded, options: &Options) -> Report {
    let Expanded { algorithm, request, actions, .. } = expanded;
    let mut report = Report::default();
    if *actions == 0 {
        // No byte moves: the output of each member is its input.
        return report;
    }
    let blocks = match &request.blocks {
        Blocks::Each(list) => goal_check::Blocks::Each(list.clone()),
        _ => goal_check::Blocks::Equal,
    };
    let collective = Collective {
        kind: request.kind,
        root: request.root,
        function: request.function,
        datatype: request.datatype,
        count: Some(request.count),
        blocks,
        neighbors: None,
        input: request.input,
        output: request.output,
    };
    let options = Options { collective: Some(collective), eager_limit: 0, ..options.clone() };
    let program = match algorithm.program(request) {
        Ok(program) => program,
        Err(error) => {
            report.push(Diagnostic::new(Code::CollectiveExpansion, error.to_string()));
            return report;
        }
    };
    if check_into(&program, None, &options, &mut report).is_none() && report.is_empty() {
        report.push(not_proved(expanded, "the check gave no answer"));
    }
    report
}

fn too_large(expanded: &Expanded, options: &Options) -> Diagnostic {
    let actions = expanded.actions;
    let effort = options.names.effort;
    not_proved(expanded, &format!("its program has {actions} actions"))
        .help(format!("raise `{effort}` to prove larger ones"))
}

fn not_proved(expanded: &Expanded, reason: &str) -> Diagnostic {
    let Expanded { algorithm, request, count, .. } = expanded;
    let (kind, members) = (request.kind, request.ranks);
    let message = format!(
        "collectives that were not proved: {count} ({kind} of {members} members by {}), because {reason}",
        algorithm.name
    );
    Diagnostic::new(Code::CheckIncomplete, message)
}
