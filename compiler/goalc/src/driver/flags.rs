//! The flags that findings name. The crates below this one know options, but not the flags that set
//! them.

use goal_asm::VerifyError;
use goal_check::OptionNames;
use goal_lang::diag::{Code, Diagnostic, Report};
use goal_lang::limits::Limit;

/// The flags that set the options of the checks.
pub const FLAGS: OptionNames = OptionNames {
    eager_limit: "--eager-limit",
    unexpected_limit: "--unexpected-limit",
    effort: "--effort",
    buffers: "--in, --out, --count, --type and --root",
    collective: "--in, --out, --count, --type, --op and --root",
};

/// Names the flag in the help of every finding that a limit led to.
pub fn name_flags(report: &mut Report) {
    report.diagnostics.iter_mut().for_each(name_flag);
}

/// Returns the finding about a NISA file that the verifier refused.
pub fn refused(name: &str, error: &VerifyError) -> Diagnostic {
    let mut diagnostic = error.diagnostic();
    diagnostic.message = format!("{name}: {}", diagnostic.message);
    name_flag(&mut diagnostic);
    diagnostic
}

pub(super) fn name_flag(diagnostic: &mut Diagnostic) {
    let flag = match diagnostic.limit {
        Some(Limit::Ranks) => "--max-ranks",
        Some(Limit::Memory) => "--max-memory",
        Some(Limit::Scratch) => "--max-scratch",
        Some(Limit::Tag) => {
            let help = "use a smaller number, or `--wrap-tags`: tags modulo 2^32, as with LogGOPSim's txt2bin";
            diagnostic.help = Some(help.to_owned());
            return;
        }
        None => {
            name_expansion(diagnostic);
            return;
        }
    };
    let condition = match diagnostic.code {
        Code::LimitExceeded => "",
        _ => " if the file can be trusted",
    };
    diagnostic.help = Some(format!("raise the limit with `{flag}`{condition}"));
}

/// Names the flags for collective statements, once.
fn name_expansion(diagnostic: &mut Diagnostic) {
    let Some(help) = &mut diagnostic.help else { return };
    match diagnostic.code {
        Code::UnexpandedCollective if !help.contains("--expand") => {
            help.push_str(" with `--expand`");
        }
        Code::CollectiveGroups if help.ends_with("`.groups`") => {
            help.push_str(", or name it with `--groups`");
        }
        _ => {}
    }
}
