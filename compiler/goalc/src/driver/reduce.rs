//! Reduces programs by a shell command's verdict.

use super::interruption::Interruption;
use super::{Error, Output, Target, show_stage};
use goal_check::reduce::Verdict;
use goal_lang::{BodyBuilder, Program, ProgramBuilder, Style, print};
use rustix::process::{Pid, Signal, kill_process_group};
use std::fs;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// The options of a reduction.
#[derive(Debug, Clone)]
pub struct ReduceOptions {
    /// The shell command, which ends with status 0 on interesting programs. `%s` stands for the
    /// program's file, which is appended if there is no `%s`.
    pub check: String,
    /// The time after which the command is killed.
    pub timeout: Duration,
    /// Most programs that are tried.
    pub tries_max: u64,
    /// The spelling of the texts.
    pub style: Style,
}

/// Makes a program as small as possible while the command finds it interesting, and writes it to
/// `target`. A file always has the smallest program so far. Reports the progress on standard error.
/// A signal that ends the process ends the command first.
///
/// # Errors
/// Returns an error if the program itself is not interesting, if a program without actions is
/// interesting too, if the command can't be run, or if a file can't be written.
pub fn reduce(program: &Program, options: &ReduceOptions, target: &Target) -> Result<(), Error> {
    let interruption = Interruption::new().map_err(|error| Error::io("signals", error))?;
    let reduced = reduce_until(program, options, target, &interruption);
    // `reduce_until` has removed the temporary folder.
    interruption.follow();
    reduced
}

fn reduce_until(
    program: &Program,
    options: &ReduceOptions,
    target: &Target,
    interruption: &Interruption,
) -> Result<(), Error> {
    let folder = tempfile::tempdir().map_err(|error| Error::io("a temporary folder", error))?;
    let path = folder.path().join("program.goal");
    let command = command(&options.check, &path);
    let (mut tries, mut failure, mut best, mut first) = (0, None, Vec::new(), None);
    let ask = |text: &[u8]| {
        fs::write(&path, text).map_err(|error| Error::io(path.display().to_string(), error))?;
        run(&command, options.timeout, interruption).map_err(|error| Error::io("sh", error))
    };
    let mut verdict = |candidate: &Program| {
        if tries == options.tries_max {
            return Verdict::Stop;
        }
        tries += 1;
        let text = text(candidate, options.style);
        let kept = ask(&text).and_then(|status| {
            let is_first = first.is_none();
            first.get_or_insert(status);
            let interesting = shows_fault(status);
            if interesting && is_first && shows_fault(ask(&self::text(&empty(), options.style))?) {
                return Err(Error::Usage(always_interesting(options)));
            }
            if interesting {
                best = text;
                show_stage(&format!("reducing, try {tries}: {}", size(candidate)));
                if matches!(target, Target::File(_)) {
                    write(&best, target)?;
                }
            }
            Ok(interesting)
        });
        match kept {
            Ok(true) => Verdict::Interesting,
            Ok(false) => Verdict::Uninteresting,
            Err(error) => {
                failure = Some(error);
                Verdict::Stop
            }
        }
    };
    let reduced = goal_check::reduce::reduce(program, &mut verdict);
    if let Some(failure) = failure {
        return Err(failure);
    }
    let Some(reduced) = reduced else {
        return Err(Error::Usage(not_interesting(options, first.flatten())));
    };
    if *target == Target::Stdout {
        write(&best, target)?;
    }
    let is_minimal =
        if reduced.is_minimal { "" } else { "; there may be a smaller one: raise --max-tries" };
    super::console::print_line(&format!(
        "goalc: {} became {} in {tries} tries{is_minimal}",
        size(program),
        size(&reduced.program)
    ));
    Ok(())
}

fn text(program: &Program, style: Style) -> Vec<u8> {
    let mut text = Vec::new();
    print(program, style, &mut text).expect("a vector takes every byte");
    text
}

/// Returns the smallest program. If the command found it interesting, every program would be
/// reduced to it.
fn empty() -> Program {
    let mut program = ProgramBuilder::default();
    program.rank_with(BodyBuilder::default().finish());
    program.finish()
}

fn shows_fault(status: Option<ExitStatus>) -> bool {
    status.is_some_and(|status| status.success())
}

/// A shell whose command was killed by a signal ends with the sum of this number and the number of
/// the signal.
const OF_SIGNALS: i32 = 128;

/// Returns the command as it is run. If it has no `%s`, adds one at the end.
fn shown(check: &str) -> String {
    if check.contains("%s") { check.to_owned() } else { format!("{check} %s") }
}

fn always_interesting(options: &ReduceOptions) -> String {
    format!(
        "a program without any action is interesting too, and would be the result: `{}` ended with status 0 on it; let it ask for the fault that is meant, as with `goalc check %s 2>&1 | grep -q G0301`, and not for the lack of something",
        shown(&options.check)
    )
}

fn not_interesting(options: &ReduceOptions, status: Option<ExitStatus>) -> String {
    let ended = match status.map(|status| (status.code(), status)) {
        Some((Some(code), status)) if code > OF_SIGNALS => {
            let signal = code - OF_SIGNALS;
            format!("ended with {status} (a command of it was killed by signal {signal})")
        }
        Some((Some(_), status)) => format!("ended with {status}"),
        Some((None, status)) => format!("was killed by {status}"),
        None => format!("did not end within {} s and was killed", options.timeout.as_secs()),
    };
    format!(
        "the program itself is not interesting: on it, `{}` {ended}, and 0 is what says that a program shows the fault",
        shown(&options.check)
    )
}

/// Returns the size of a program as text.
fn size(program: &Program) -> String {
    let (mut actions, mut dependencies) = (0, 0);
    for rank in 0..program.num_ranks() {
        let body = program.body_of(rank);
        actions += body.len();
        dependencies += body.requires.len() + body.irequires.len();
    }
    let many = |count: usize, one: &str, more: &str| {
        format!("{count} {}", if count == 1 { one } else { more })
    };
    format!(
        "{} with {} and {}",
        many(program.ranks.len(), "rank", "ranks"),
        many(actions, "action", "actions"),
        many(dependencies, "dependency", "dependencies")
    )
}

/// Returns the command with the file's name in place of each `%s`. The name is quoted as its place
/// requires: `%s` may stand alone or inside quotes.
fn command(check: &str, path: &Path) -> String {
    let path = path.display().to_string();
    let quoted = path.replace('\'', r"'\''");
    let check = &shown(check);
    let mut command = String::with_capacity(check.len() + path.len());
    let mut quote = None;
    let mut characters = check.chars().peekable();
    while let Some(character) = characters.next() {
        match (character, quote) {
            ('%', _) if characters.next_if_eq(&'s').is_some() => match quote {
                Some('"') => {
                    for character in path.chars() {
                        if matches!(character, '"' | '\\' | '$' | '`') {
                            command.push('\\');
                        }
                        command.push(character);
                    }
                }
                Some(_) => command.push_str(&quoted),
                None => command.extend(["'", &quoted, "'"]),
            },
            ('\\', None | Some('"')) => {
                command.push(character);
                command.extend(characters.next());
            }
            ('"' | '\'', None) => {
                command.push(character);
                quote = Some(character);
            }
            _ => {
                command.push(character);
                if quote == Some(character) {
                    quote = None;
                }
            }
        }
    }
    command
}

/// Runs a command in a process group of its own. Returns `None` if it was killed after the timeout.
///
/// # Errors
/// The system's error, or `Interrupted` if a signal is to end this process; the command is then
/// killed.
fn run(
    command: &str,
    timeout: Duration,
    interruption: &Interruption,
) -> io::Result<Option<ExitStatus>> {
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).process_group(0);
    let mut child =
        shell.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let begin = Instant::now();
    let mut pause = Duration::from_micros(200);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        let is_interrupted = interruption.has_come();
        if is_interrupted || begin.elapsed() > timeout {
            // The child was not waited for yet, so its process id cannot belong to another process.
            let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
            kill_process_group(group.expect("a child has a number"), Signal::KILL)?;
            child.wait()?;
            return if is_interrupted { Err(io::ErrorKind::Interrupted.into()) } else { Ok(None) };
        }
        thread::sleep(pause);
        pause = (2 * pause).min(Duration::from_millis(10));
    }
}

fn write(text: &[u8], target: &Target) -> Result<(), Error> {
    let mut out = Output::create(target, false)?;
    out.write_all(text).map_err(|error| Error::io(out.name(), error))?;
    out.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_one_word_of_the_command_wherever_its_place_is() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path().join(r#"it's "a" $HOME `x` \ b"#);
        fs::create_dir(&folder).expect("a new folder");
        let path = folder.join("p.goal");
        fs::write(&path, "found").expect("a new file");
        for check in [
            "cat %s",
            "cat \"%s\"",
            "cat '%s'",
            "cat \"\"%s''",
            "cat \\\"%s 2> /dev/null || cat \"%s\"",
            "cat",
        ] {
            let command = command(check, &path);
            let out = Command::new("sh").args(["-c", &command]).output().expect("a shell");
            assert_eq!(String::from_utf8_lossy(&out.stdout), "found", "{command}");
        }
    }
}
