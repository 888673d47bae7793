//! `goalc slice`.

use super::splice::{OutputArguments, program, tell};
use clap::ArgGroup;
use goalc::driver::{Error, InputArguments};
use goalc::splice::{RankList, Slice, Summary, Window};

#[derive(clap::Args)]
#[command(group(ArgGroup::new("part").required(true).multiple(true).args(["ranks", "window"])))]
#[command(after_long_help = "\
Examples:
  goalc slice trace.bin --ranks 0-63,128 -o part.bin
  goalc slice trace.bin --window 1000..2000 -o part.bin     the actions 1000 to 1999 of each rank
  goalc slice ring.goal --ranks 1,0                         rank 1 becomes rank 0")]
pub(crate) struct Arguments {
    #[command(flatten)]
    input: InputArguments,
    /// Ranks that stay, in their new order; they are renumbered from 0 [default: all]
    #[arg(long, value_name = "LIST")]
    ranks: Option<RankList>,
    /// Positions of the actions of each rank that stay, from A on and before B; A or B may be left
    /// out
    #[arg(long, value_name = "A..B")]
    window: Option<Window>,
    #[command(flatten)]
    output: OutputArguments,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Error> {
    let options = arguments.input.options();
    let target = arguments.output.target(arguments.input.files())?;
    let ranks = program(&arguments.input.inputs, &options)?;
    let mut slice = Slice::new(ranks, arguments.ranks.as_ref(), arguments.window.as_ref())?;
    let size = (slice.num_ranks(), slice.is_streamed());
    arguments.output.write(&target, &options, size, |rank| slice.rank(rank))?;
    if let Some(list) = arguments.ranks.as_ref().filter(|_| slice.renumbers()) {
        tell(&format!("the ranks {list} are now 0 to {}", slice.num_ranks() - 1));
    }
    lines(slice.summary()).iter().for_each(|line| tell(line));
    Ok(())
}

/// Returns lines about what was left out.
fn lines(summary: &Summary) -> Vec<String> {
    let Summary { actions, cut, sends, receives, wildcards, has_data } = *summary;
    let mut lines = Vec::new();
    if cut > 0 {
        lines.push(format!("actions outside of the window: {cut} of {}", actions + cut));
    }
    if sends + receives > 0 {
        lines.push(format!(
            "messages whose other end is outside became `calc 0`: {sends} sends, {receives} receives"
        ));
    }
    if wildcards > 0 {
        lines.push(format!(
            "receives with wildcards got the source and the tag of a run without data: {wildcards}"
        ));
    }
    if has_data {
        let line = "buffers became sizes and local operations `calc 0`, because bytes are missing";
        lines.push(line.to_owned());
    }
    lines
}
