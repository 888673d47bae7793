//! Parses command lines, and reports errors in them in the format that they ask for.

use super::console::{Color, Format, report_error, report_wrong_arguments, set_color};
use super::{Error, Status, streams};
use clap::error::{Error as Wrong, ErrorKind};
use clap::{ColorChoice, Command, Parser, ValueEnum};
use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::sync::OnceLock;

/// The arguments that [`parse_these`] got.
static PARSED: OnceLock<Vec<OsString>> = OnceLock::new();

/// Parses the arguments of this process. Prints help and errors itself.
///
/// # Errors
/// Returns the exit status if an error or help was printed.
pub fn parse<T: Parser>(program: &str) -> Result<T, Status> {
    parse_these(program, std::env::args_os().collect())
}

/// Parses the given arguments, the name of the program first. Prints help and errors itself. It is
/// called once.
///
/// # Errors
/// As [`parse`].
pub fn parse_these<T: Parser>(program: &str, arguments: Vec<OsString>) -> Result<T, Status> {
    parse_as(program, arguments, T::command())
}

/// Parses the arguments of this process as [`parse`] does. If standard input is no terminal, it is
/// the input of a command line without one. The command has [`InputArguments`].
///
/// [`InputArguments`]: super::InputArguments
///
/// # Errors
/// As [`parse`].
pub fn parse_filter<T: Parser>(program: &str) -> Result<T, Status> {
    let mut command = T::command();
    if !io::stdin().is_terminal() {
        command = command.mut_arg("inputs", |inputs| inputs.required(false).default_value("-"));
    }
    parse_as(program, std::env::args_os().collect(), command)
}

fn parse_as<T: Parser>(
    program: &str,
    arguments: Vec<OsString>,
    command: Command,
) -> Result<T, Status> {
    let arguments = PARSED.get_or_init(|| arguments);
    let color = value(arguments, "--color").and_then(|text| Color::from_str(text, false).ok());
    let color = color.unwrap_or_default();
    set_color(color);
    let choice = match color {
        Color::Auto => ColorChoice::Auto,
        Color::Always => ColorChoice::Always,
        Color::Never => ColorChoice::Never,
    };
    let mut command = command.color(choice);
    let parsed = command.try_get_matches_from_mut(arguments);
    let parsed = parsed.and_then(|matches| {
        T::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
    });
    parsed.map_err(|error| {
        let is_json = value(arguments, "--format") == Some("json");
        print_error(program, &error, is_json)
    })
}

/// Returns true if the parsed arguments ask for reports that programs read.
pub fn asks_for_json() -> bool {
    PARSED.get().is_some_and(|arguments| value(arguments, "--format") == Some("json"))
}

/// Returns the last value of an option among arguments that may be wrong, as `--name VALUE` or
/// `--name=VALUE`.
fn value<'a>(arguments: &'a [OsString], name: &str) -> Option<&'a str> {
    let options = arguments.iter().take_while(|argument| *argument != "--");
    let options: Vec<Option<&str>> = options.map(|argument| argument.to_str()).collect();
    let mut values = options.iter().enumerate().filter_map(|(i, argument)| {
        match argument.as_ref()?.strip_prefix(name)? {
            "" => *options.get(i + 1)?,
            rest => rest.strip_prefix('='),
        }
    });
    values.next_back()
}

fn print_error(program: &str, wrong: &Wrong, is_json: bool) -> Status {
    if matches!(wrong.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        let printed = streams::stdout().and_then(|mut out| {
            wrong.print()?;
            io::Write::flush(&mut out)
        });
        return match printed.map_err(|error| Error::io("<stdout>", error)) {
            Err(error) => report_error(program, &error, Format::Text),
            Ok(()) => Status::Success,
        };
    }
    if is_json {
        let text = wrong.render().to_string();
        let (message, rest) = text.split_once("\n\n").unwrap_or((&text, ""));
        let message = message.strip_prefix("error: ").unwrap_or(message);
        let rest = rest.split("\n\n").filter(|part| !part.starts_with("For more information"));
        let rest = rest.map(str::trim).collect::<Vec<_>>().join("\n");
        report_wrong_arguments(
            program,
            message.trim_end(),
            Some(rest).filter(|rest| !rest.is_empty()).as_deref(),
        );
    } else {
        // If standard error is closed, the message is lost.
        let _ = wrong.print();
    }
    Status::System
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_is_found_wherever_it_stands() {
        let of = |text: &str| {
            let arguments: Vec<OsString> = text.split(' ').map(OsString::from).collect();
            value(&arguments, "--format").map(str::to_owned)
        };
        assert_eq!(of("goalc check --format json x").as_deref(), Some("json"));
        assert_eq!(of("goalc --format=json check --nonsense").as_deref(), Some("json"));
        assert_eq!(of("goalc --format=json --format text").as_deref(), Some("text"));
        assert_eq!(of("goalc check --format"), None);
        assert_eq!(of("goalc check --formats json -- --format json"), None);
    }
}
