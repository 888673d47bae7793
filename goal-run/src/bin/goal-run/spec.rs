//! Makes command line arguments from the settings of a job: one for each row of
//! `goal_job::SETTINGS`.

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches};
use goal_job::transport::{ParameterError, Tuned};
use goal_job::{JobSpec, SETTINGS, Setting};
use std::sync::LazyLock;

/// The position of the first row in the help. There are fewer arguments before the rows.
const FIRST: usize = 100;
/// The distance between the positions of two rows. Arguments between rows fit into it.
const DISTANCE: usize = 10;

/// Returns the position in the help of an argument that follows the row `option`.
pub(crate) fn after(option: &str) -> usize {
    let row = SETTINGS.iter().position(|row| row.option == option);
    FIRST + DISTANCE * row.expect("it is a row") + 1
}

/// The defaults of the rows as texts. They are static, because clap keeps only borrowed texts.
static DEFAULTS: LazyLock<Vec<String>> =
    LazyLock::new(|| SETTINGS.iter().map(|row| (row.text)(&JobSpec::default())).collect());

/// The settings that the command line states.
#[derive(Debug)]
pub(crate) struct SpecArguments {
    pub(crate) spec: JobSpec,
    /// The options that the command line or a table of decisions gave.
    given: Vec<&'static str>,
}

impl SpecArguments {
    /// Returns true if the command line or a table of decisions gave `option`.
    pub(crate) fn has(&self, option: &str) -> bool {
        self.given.contains(&option)
    }

    /// Adds the parameters of transports that a measurement has found. Parameters on the command
    /// line take precedence.
    ///
    /// # Errors
    /// [`ParameterError`].
    pub(crate) fn take(&mut self, tuned: Tuned, has_hosts: bool) -> Result<(), ParameterError> {
        let found = if has_hosts { tuned.several_hosts } else { tuned.one_host };
        found.unwrap_or_default().apply(&mut self.spec, &mut self.given);
        self.spec.check()
    }

    /// Returns the given settings as options with values, without settings of an Ethernet.
    pub(crate) fn with_values(&self) -> impl Iterator<Item = (&'static str, String)> {
        let has = |row: &&Setting| {
            self.has(row.option) && !row.value_name.is_empty() && !row.is_of_ethernet
        };
        SETTINGS.iter().filter(has).map(|row| (row.option, (row.text)(&self.spec)))
    }
}

/// Returns the clap argument for a row. `default` is the text of its default.
fn argument(row: &'static Setting, default: &'static str) -> Arg {
    let mut arg = Arg::new(row.option).long(row.option).help_heading(row.heading);
    if row.is_of_ethernet {
        arg = arg.requires("others");
    }
    if row.value_name.is_empty() {
        return arg.help(row.help).action(ArgAction::SetTrue);
    }
    let names = (row.names)();
    arg = arg.value_name(row.value_name);
    arg = match names.is_empty() {
        true => arg.value_parser(|text: &str| {
            (row.set)(&mut JobSpec::default(), text).map(|()| text.to_owned())
        }),
        false => {
            let names = names.into_iter().map(|(name, help)| PossibleValue::new(name).help(help));
            arg.value_parser(PossibleValuesParser::new(names))
        }
    };
    match row.default_note {
        Some(note) => arg.help(format!("{} [default: {default}{note}]", row.help)),
        None if default.is_empty() => arg.help(row.help),
        None => arg.help(row.help).default_value(default),
    }
}

impl Args for SpecArguments {
    fn augment_args(command: Command) -> Command {
        let rows = SETTINGS.iter().zip(DEFAULTS.iter()).zip((FIRST..).step_by(DISTANCE));
        command.args(rows.map(|((row, default), at)| argument(row, default).display_order(at)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for SpecArguments {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut arguments = Self { spec: JobSpec::default(), given: vec![] };
        arguments.update_from_arg_matches(matches)?;
        Ok(arguments)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        let is_given =
            |row: &&Setting| matches.value_source(row.option) == Some(ValueSource::CommandLine);
        for row in SETTINGS.iter().filter(is_given) {
            let text = match row.value_name {
                "" => Some("true"),
                _ => matches.get_one::<String>(row.option).map(String::as_str),
            };
            let set = (row.set)(&mut self.spec, text.unwrap_or_default());
            set.map_err(|why| Error::raw(ErrorKind::ValueValidation, why))?;
            self.given.push(row.option);
        }
        Ok(())
    }
}
