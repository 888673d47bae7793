//! Starts launchers on other hosts, and ends them after the job.

use super::list::{ListedHost, blocks};
use super::order::Order;
use crate::arguments::Arguments;
use crate::key;
use clap::parser::ValueSource;
use clap::{ArgAction, CommandFactory};
use goal_job::rights;
use goal_launch::hosts::{Key, RankList};
use goal_launch::{Hosts, Meeting, Obstacle, Program, Rendezvous, listen_at};
use goal_tcp::Listener;
use goalc::driver;
use rustix::rand::{GetRandomFlags, getrandom};
use std::env;
use std::ffi::OsString;
use std::io::{self, Write};
use std::ops::Range;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The default command that starts a launcher on another host. ssh must not ask for a password,
/// because it may run for many hosts at the same time.
const SSH: &str = "ssh -x -o BatchMode=yes -o ConnectTimeout=10";

/// The options that launchers on other hosts do not get, by their names in [`Arguments`]. Some are
/// about this host, some are followed by the leader only, and some are about checks, which the
/// leader has done.
const OWN: [&str; 12] = [
    "address", "allow", "color", "deny", "dump", "effort", "format", "hosts", "inputs", "key",
    "ssh", "stats",
];

/// The time that launchers have to end by themselves after the job, and the further time after
/// their standard input was closed.
const END_LIMIT: Duration = Duration::from_secs(3);
const LAST_LIMIT: Duration = Duration::from_secs(7);
const LOOK: Duration = Duration::from_millis(10);

/// The schedule or program that the ranks execute.
pub(crate) enum Task<'a> {
    /// The bytes of a schedule. Other hosts get them with the order.
    Schedule(&'a [u8]),
    /// The files of a schedule. Other hosts read them at the same path, as for a window.
    Files,
    /// A program. Other hosts have it at the same path.
    Program(&'a Program),
}

/// The launchers on other hosts. Dropping this waits until they have ended, and kills those that do
/// not end.
pub(crate) struct Fleet {
    hosts: Hosts,
    started: Arc<Mutex<Vec<Started>>>,
    /// Dropping this closes the standard inputs of the launchers.
    end: Option<Sender<()>>,
}

struct Started {
    host: String,
    child: Child,
}

impl Fleet {
    /// Starts the launchers of a job of `ranks` ranks. Returns `None` if the command line names no
    /// hosts.
    ///
    /// # Errors
    /// A text for the user.
    pub(crate) fn start(
        arguments: &Arguments,
        own: &[OsString],
        ranks: u32,
        task: &Task<'_>,
    ) -> Result<Option<Self>, String> {
        let Some(list) = arguments.hosts.listed() else { return Ok(None) };
        let blocks = blocks(list, ranks)?;
        if !list[0].is_this_one() {
            return Err(format!(
                "the first of the hosts must be this one, which has rank 0, and {} is not: put localhost first",
                list[0]
            ));
        }
        let key = match &arguments.hosts.key {
            Some(path) => key::read(path).map_err(|error| error.to_string())?,
            None => Key::new(random().map_err(|error| format!("no key: {error}"))?),
        };
        let (at, listener) = place(arguments, list)?;
        let size = list.len() as u32;
        let rendezvous = Rendezvous {
            here: Some(rank_list(&blocks[0])),
            listener: Some(Arc::new(listener)),
            ..arguments.hosts.rendezvous_with(Rendezvous::new(0, size, at.clone()))
        };
        let started = Arc::new(Mutex::new(vec![]));
        let hosts = Hosts::new(Meeting::Tcp(rendezvous), key.clone());
        let obstacle = Some(obstacle(&started));
        let (end, ends) = channel();
        let ends = Arc::new(Mutex::new(ends));
        let fleet = Self { hosts: Hosts { obstacle, ..hosts }, started, end: Some(end) };
        let ssh = arguments.hosts.ssh.as_deref().unwrap_or(SSH);
        // All threads that send the schedule share one copy.
        let schedule: Arc<[u8]> = match task {
            Task::Schedule(bytes) => Arc::from(*bytes),
            Task::Files | Task::Program(_) => Arc::from([]),
        };
        for (number, (host, block)) in (0..).zip(list.iter().zip(&blocks)).skip(1) {
            let mut all = rendered(arguments, own)?;
            all.extend([
                format!("--rendezvous={at}"),
                format!("--rank={number}"),
                format!("--size={size}"),
                format!("--here={}", shown(block)),
                "--key=-".to_owned(),
                format!("--started-as={host}"),
            ]);
            let order = order(host, all, &key, (task, arguments))?;
            let child = start(ssh, host, &order, &schedule, &ends)?;
            let mut started = fleet.started.lock().unwrap_or_else(PoisonError::into_inner);
            started.push(Started { host: host.to_string(), child });
        }
        Ok(Some(fleet))
    }

    /// Returns the settings for the other hosts. If `keeps_memory` is true, the leader gets the
    /// memory of all ranks.
    pub(crate) fn hosts(&self, keeps_memory: bool) -> Hosts {
        Hosts { keeps_memory, ..self.hosts.clone() }
    }

    /// Waits until all launchers have ended, for at most `limit`. Returns true if all have ended.
    fn wait(&self, limit: Duration) -> bool {
        let since = Instant::now();
        loop {
            let mut started = self.started.lock().unwrap_or_else(PoisonError::into_inner);
            started.retain_mut(|one| matches!(one.child.try_wait(), Ok(None)));
            if started.is_empty() || since.elapsed() >= limit {
                return started.is_empty();
            }
            drop(started);
            thread::sleep(LOOK);
        }
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        let have_ended = self.wait(END_LIMIT);
        self.end = None;
        if !have_ended && !self.wait(LAST_LIMIT) {
            let mut started = self.started.lock().unwrap_or_else(PoisonError::into_inner);
            for one in started.iter_mut() {
                let _ = one.child.kill();
                let _ = one.child.wait();
            }
        }
    }
}

/// Returns an obstacle that reports a launcher which has ended before the job has started.
fn obstacle(started: &Arc<Mutex<Vec<Started>>>) -> Obstacle {
    let started = Arc::clone(started);
    Obstacle::new(move || {
        let mut started = started.lock().unwrap_or_else(PoisonError::into_inner);
        started.iter_mut().find_map(|one| {
            let status = one.child.try_wait().ok()??;
            Some(format!(
                "host {}: its launcher ended before the job began ({status}): can ssh start goal-run there without a password, at the same path as here?",
                one.host
            ))
        })
    })
}

fn random() -> io::Result<[u8; 32]> {
    let mut bytes = [0; 32];
    getrandom(&mut bytes, GetRandomFlags::empty())?;
    Ok(bytes)
}

/// Returns the place where the launchers meet, and a listener there. The place is a name or address
/// at which other hosts reach this host, and a port.
fn place(arguments: &Arguments, list: &[ListedHost]) -> Result<(String, Listener), String> {
    let name = match arguments.hosts.address {
        Some(address) => address.to_string(),
        None if list.iter().all(ListedHost::is_loopback) => "127.0.0.1".to_owned(),
        None if list[0].is_loopback() => own_name()?,
        None => list[0].name().to_owned(),
    };
    let ports = arguments.hosts.ports.clone().unwrap_or(0..=0);
    let listener = listen_at(&name, &ports).map_err(|why| {
        format!(
            "there is no free port to meet at {name} ({why}): name an address of this host by --address, or more --ports"
        )
    })?;
    let port = listener.port();
    let is_ipv6 = name.contains(':');
    let at = if is_ipv6 { format!("[{name}]:{port}") } else { format!("{name}:{port}") };
    Ok((at, listener))
}

/// Returns the name of this host.
fn own_name() -> Result<String, String> {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname");
    name.map(|name| name.trim().to_owned())
        .map_err(|error| format!("this host has no name ({error}): give --address"))
}

fn shown(block: &Range<u32>) -> String {
    format!("{}-{}", block.start, block.end - 1)
}

fn rank_list(block: &Range<u32>) -> RankList {
    RankList::parse(&shown(block)).expect("it is a range")
}

/// Returns the options of this command line that other launchers need. It includes the options that
/// a table of decisions gave.
fn rendered(arguments: &Arguments, own: &[OsString]) -> Result<Vec<String>, String> {
    let mut command = Arguments::command();
    let matches = command.try_get_matches_from_mut(own).map_err(|error| error.to_string())?;
    let mut all = vec![];
    for arg in command.get_arguments() {
        let id = arg.get_id().as_str();
        let is_given = matches.value_source(id) == Some(ValueSource::CommandLine);
        let Some(long) = arg.get_long().filter(|_| is_given && !OWN.contains(&id)) else {
            continue;
        };
        match arg.get_action() {
            ArgAction::SetTrue | ArgAction::SetFalse => all.push(format!("--{long}")),
            _ => {
                for value in matches.get_raw(id).into_iter().flatten() {
                    let value = value.to_str().ok_or_else(|| {
                        format!("--{long} is no text of UTF-8, which other hosts could get")
                    })?;
                    all.push(format!("--{long}={value}"));
                }
            }
        }
    }
    let has = |all: &[String], long: &str| all.iter().any(|one| one.starts_with(long));
    for (long, value) in arguments.settings.with_values() {
        if !has(&all, &format!("--{long}=")) {
            all.push(format!("--{long}={value}"));
        }
    }
    Ok(all)
}

/// Returns the order for the launcher on `host`.
fn order(
    host: &ListedHost,
    mut arguments: Vec<String>,
    key: &Key,
    (task, own): (&Task<'_>, &Arguments),
) -> Result<Order, String> {
    let utf8 = |text: OsString| {
        text.into_string().map_err(|text| {
            format!("{} is no text of UTF-8, which other hosts could get", text.display())
        })
    };
    if !matches!(task, Task::Program(_)) && !arguments.iter().any(|one| one == "--no-check") {
        arguments.push("--no-check".to_owned());
    }
    if let Task::Program(program) = task {
        arguments.push("--".to_owned());
        arguments.push(utf8(program.executable.clone().into_os_string())?);
        for argument in &program.arguments {
            arguments.push(utf8(argument.clone())?);
        }
    }
    if matches!(task, Task::Files) {
        for input in &own.input.inputs {
            arguments.push(utf8(input.clone().into_os_string())?);
        }
    }
    let prefix = if matches!(task, Task::Program(_)) { "GOAL_" } else { "GOAL_TRANSPORT" };
    let variables = env::vars_os().filter_map(|(name, value)| {
        let name = name.into_string().ok().filter(|name| name.starts_with(prefix))?;
        Some((name, value.into_string().ok()?))
    });
    let folder = env::current_dir().map_err(|error| format!("this folder: {error}"))?;
    Ok(Order {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        host: host.to_string(),
        arguments,
        variables: variables.collect(),
        folder: utf8(folder.into_os_string())?,
        key: key.to_text(),
        schedule_len: match task {
            Task::Schedule(bytes) => Some(bytes.len() as u64),
            Task::Files | Task::Program(_) => None,
        },
    })
}

/// Starts the launcher on a host and sends it its order. A thread sends the order, since a host may
/// be slow.
fn start(
    ssh: &str,
    host: &ListedHost,
    order: &Order,
    schedule: &Arc<[u8]>,
    ends: &Arc<Mutex<Receiver<()>>>,
) -> Result<Child, String> {
    let mut words = ssh.split_whitespace();
    let program = words.next().ok_or("--ssh names no command")?;
    let own = env::current_exe().map_err(|error| format!("goal-run: {error}"))?;
    let own = own.to_str().ok_or("the path of goal-run is no text of UTF-8")?;
    let mut command = Command::new(program);
    command.args(words).arg(&host.target).arg(format!("exec {} launcher", quoted(own)));
    // The process group is new, so that Ctrl-C reaches only this launcher, which then ends the
    // others.
    command.stdin(Stdio::piped()).process_group(0);
    let mut child = command.spawn().map_err(|error| format!("{program}: {error}"))?;
    let mut input = child.stdin.take().expect("it is a pipe");
    let mut text = vec![];
    order.write(&mut text).map_err(|error| error.to_string())?;
    let (ends, schedule, host) = (Arc::clone(ends), Arc::clone(schedule), host.to_string());
    let work = move || {
        if let Err(error) = rights::give_up() {
            // The other launcher ends too, because its standard input ends.
            driver::print_line(&format!("goal-run: host {host} gets no order: {error}"));
            return;
        }
        // An error is ignored. If the launcher has ended, its exit status shows that.
        let _ = input.write_all(&text).and_then(|()| input.write_all(&schedule));
        drop(schedule);
        // This waits until the fleet is dropped. Then the standard input of the launcher is closed.
        let _ = ends.lock().unwrap_or_else(PoisonError::into_inner).recv();
    };
    let thread = thread::Builder::new().name("order".to_owned());
    thread.spawn(work).map_err(|error| format!("no thread: {error}"))?;
    Ok(child)
}

/// Returns a word in quotes for a shell.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn a_shell_gets_one_word() {
        assert_eq!(quoted("/a b/c"), "'/a b/c'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
    }
}
