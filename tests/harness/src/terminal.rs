//! Provides a terminal for the output of a command, and the screen that a person would see.

use rustix::fs::{Mode, OFlags, open};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use std::fs::File;
use std::io::{self, Read};
use std::process::{Child, Command, Stdio};
use std::thread::{self, JoinHandle};

/// The columns of the terminal, enough for every line.
const COLUMNS: u16 = 200;

/// Opens a pseudoterminal. Returns the master, which has keys and screen, and the slave for
/// programs.
///
/// # Errors
/// Those of the system.
pub fn open_terminal() -> io::Result<(File, File)> {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    grantpt(&master)?;
    unlockpt(&master)?;
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    let slave = open(ptsname(&master, Vec::new())?, flags, Mode::empty())?;
    Ok((File::from(master), File::from(slave)))
}

/// A command whose output and errors go to a terminal.
pub struct Terminal {
    /// The process of the command.
    pub child: Child,
    reader: JoinHandle<String>,
}

impl Terminal {
    /// Starts the command with the terminal as standard output and standard error.
    ///
    /// # Errors
    /// Those of the system.
    pub fn start(mut command: Command) -> io::Result<Self> {
        let size = Winsize { ws_row: 50, ws_col: COLUMNS, ws_xpixel: 0, ws_ypixel: 0 };
        let (mut master, slave) = open_terminal()?;
        tcsetwinsize(&slave, size)?;
        command.stdout(Stdio::from(slave.try_clone()?)).stderr(Stdio::from(slave));
        command.env("TERM", "xterm").env_remove("NO_COLOR");
        let child = command.spawn()?;
        // The command holds the slave of the terminal. The master reaches its end when nobody holds
        // it.
        drop(command);
        let read = move || {
            let (mut all, mut part) = (Vec::new(), [0; 4096]);
            // Reading from a closed terminal fails; it does not return 0 bytes.
            while let Ok(length @ 1..) = master.read(&mut part) {
                all.extend_from_slice(&part[..length]);
            }
            String::from_utf8_lossy(&all).into_owned()
        };
        Ok(Self { child, reader: thread::spawn(read) })
    }

    /// Waits until the command ends. Returns its exit status and all of its output. The exit status
    /// is `None` after a signal.
    ///
    /// # Errors
    /// Those of the system.
    ///
    /// # Panics
    /// If the reading thread panicked.
    pub fn end(mut self) -> io::Result<(Option<i32>, String)> {
        let status = self.child.wait()?;
        Ok((status.code(), self.reader.join().expect("the reader doesn't panic")))
    }
}

/// Returns the lines on the screen after `written` was output, without empty lines.
pub fn screen(written: &str) -> Vec<String> {
    let mut lines: Vec<Vec<char>> = vec![vec![]];
    let (mut row, mut column) = (0, 0);
    let mut chars = written.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '\r' => column = 0,
            '\n' => {
                row += 1;
                column = 0;
                if row == lines.len() {
                    lines.push(vec![]);
                }
            }
            '\x1b' if chars.peek() == Some(&'[') => {
                chars.next();
                let mut number = String::new();
                let command = chars.by_ref().find(|char| {
                    number.extend((!char.is_ascii_alphabetic()).then_some(*char));
                    char.is_ascii_alphabetic()
                });
                match (command, number.as_str()) {
                    (Some('K'), "2") => lines[row].clear(),
                    (Some('K'), _) => lines[row].truncate(column),
                    (Some('J'), "2") => lines.iter_mut().for_each(Vec::clear),
                    (Some('J'), _) => {
                        lines[row].truncate(column);
                        lines.truncate(row + 1);
                    }
                    (Some('A'), _) => row = row.saturating_sub(number.parse().unwrap_or(1)),
                    _ => {}
                }
            }
            char => {
                let line = &mut lines[row];
                line.resize(line.len().max(column + 1), ' ');
                line[column] = char;
                column += 1;
            }
        }
    }
    let lines =
        lines.into_iter().map(|line| line.into_iter().collect::<String>().trim_end().to_owned());
    lines.filter(|line| !line.is_empty()).collect()
}
