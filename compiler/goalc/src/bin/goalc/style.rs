//! The names of the two spellings.

use clap::ValueEnum;
use goal_lang::Style;

#[derive(Clone, Copy, ValueEnum, Default)]
pub(crate) enum Spelling {
    /// That of the 2009 paper
    #[value(name = "2009")]
    Paper2009,
    /// That of Schedgen and LogGOPSim
    #[default]
    Schedgen,
}

impl Spelling {
    pub(crate) fn style(self) -> Style {
        match self {
            Spelling::Paper2009 => Style::Paper2009,
            Spelling::Schedgen => Style::Schedgen,
        }
    }
}
