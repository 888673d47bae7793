//! Checks that all hosts were started with the same settings.

use super::error::HostsError;
use super::options::Hosts;
use super::post::random;
use super::session::{LOOK, Session};
use crate::hosts::{LauncherMessage, LinkEvent, Term};
use crate::launcher::error::LaunchError;
use crate::launcher::options::Options;
use goal_asm::Nisa;
use goal_esp::limits::PAYLOAD_MAX;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Zeros that follow the messages of the agreement, so that these need the longest frames. If the
/// network drops long frames, the job does not start. Without this it would hang later.
const LONGEST: [u8; PAYLOAD_MAX] = [0; PAYLOAD_MAX];

/// The time before a leader ends after it has refused the job. Meanwhile late hosts send their
/// settings, and learn the reason too.
const GRACE: Duration = Duration::from_secs(2);

impl Session<'_> {
    /// Compares the settings of all hosts. Returns the number of the run, which the leader chooses.
    pub(super) fn agree(&mut self) -> Result<u64, LaunchError> {
        let own = terms(self.nisa, self.options, self.hosts);
        let run =
            if self.leader() == self.me { self.hear(&own) } else { self.report_to_leader(own) }?;
        self.post.begin(run);
        Ok(run)
    }

    /// Compares the settings of all other hosts with those of this host, which leads. Returns the
    /// number of the run.
    fn hear(&mut self, own: &[Term]) -> Result<u64, LaunchError> {
        let mut awaited = self.all();
        awaited.remove(&self.me);
        let mut refusal: Option<(HostsError, Instant)> = None;
        while !awaited.is_empty() {
            if let Some((error, _)) = refusal.take_if(|(_, since)| since.elapsed() >= GRACE) {
                return Err(error.into());
            }
            let names: Vec<String> = awaited.iter().map(|&host| self.named(host)).collect();
            self.check(|session| {
                format!("{} found, but not ready; {}", names.join(", "), session.long_frames())
            })?;
            match self.event(LOOK) {
                Some(LinkEvent::Message(host, LauncherMessage::Hello(theirs), _)) => {
                    if let Some((name, ours, theirs)) = difference(own, &theirs) {
                        let [name, ours, theirs] = [name, ours, theirs].map(str::to_owned);
                        let leader = self.me;
                        let error = HostsError::Differs { host, leader, name, theirs, ours };
                        refusal.get_or_insert((error, Instant::now()));
                    }
                    awaited.remove(&host);
                }
                Some(LinkEvent::Message(host, LauncherMessage::Refused(why), _)) => {
                    let name = format!("host {host}");
                    let error = HostsError::Refused { host: name, why };
                    refusal.get_or_insert((error, Instant::now()));
                    awaited.remove(&host);
                }
                // After a refusal other events do not matter. The host that has refused ends its
                // connection.
                Some(_) if refusal.is_some() => {}
                Some(event) => self.check_event(event)?,
                None => {}
            }
        }
        if let Some((error, _)) = refusal {
            return Err(error.into());
        }
        let run = u64::from_ne_bytes(random()?);
        for host in self.all().into_iter().filter(|&host| host != self.me) {
            self.post.send_with(host, LauncherMessage::Start { run }, LONGEST.to_vec(), true);
        }
        Ok(run)
    }

    /// Sends the settings of this host to the leader, and waits until it starts or refuses the job.
    fn report_to_leader(&mut self, own: Vec<Term>) -> Result<u64, LaunchError> {
        let leader = self.leader();
        let mut own = Some(own);
        self.post.connect(leader);
        loop {
            self.check(|session| {
                format!("{} has not begun; {}", session.named(leader), session.long_frames())
            })?;
            let event = self.event(LOOK);
            if self.connected.contains(&leader)
                && let Some(own) = own.take()
            {
                self.post.send_with(leader, LauncherMessage::Hello(own), LONGEST.to_vec(), true);
            }
            match event {
                Some(LinkEvent::Message(_, LauncherMessage::Start { run }, _)) => return Ok(run),
                Some(LinkEvent::Message(_, LauncherMessage::Refused(why), _)) => {
                    return Err(HostsError::Ended(why).into());
                }
                Some(event) => self.check_event(event)?,
                None => {}
            }
        }
    }

    /// Handles an event that is no message of the agreement.
    ///
    /// # Errors
    /// [`HostsError`] if the event prevents the start of the job.
    pub(super) fn check_event(&self, event: LinkEvent) -> Result<(), HostsError> {
        match event {
            // A late answer may still contradict what is known.
            LinkEvent::Contradiction(error) => Err(error.into()),
            LinkEvent::Lost(host, why) => Err(HostsError::Lost { host: self.named(host), why }),
            LinkEvent::Finished(host) => Err(HostsError::Gone(self.named(host))),
            _ => Ok(()),
        }
    }

    /// Returns advice for the user if a host was found but does not answer.
    fn long_frames(&self) -> String {
        let Some(interface) = &self.interface else {
            return "its launcher is connected, and slow".to_owned();
        };
        format!(
            "does the network between carry frames of {} bytes, as {} does here? (ip link set {} mtu N on all hosts)",
            interface.mtu, interface.name, interface.name
        )
    }

    /// Tells all hosts with a stream to this one why the job does not start.
    pub(super) fn refuse(&self, error: &LaunchError) {
        let text = match error {
            LaunchError::Hosts(error) => error.to_string(),
            // Other hosts put the name of this host before the text.
            LaunchError::Offload(why) => {
                let own = format!("host {}: ", self.me);
                let why = why.strip_prefix(&own).unwrap_or(why).to_owned();
                (self.options.explain)(&LaunchError::Offload(why))
            }
            other => (self.options.explain)(other),
        };
        for &host in &self.connected {
            self.post.send(host, LauncherMessage::Refused(text.clone()));
        }
    }
}

/// Returns the settings that must be equal on all hosts, in the order in which they are compared.
fn terms(nisa: &Nisa, options: &Options, hosts: &Hosts) -> Vec<Term> {
    let mut hasher = blake3::Hasher::new();
    // Names in the program are left out: a copy of the file may have other ones, or none.
    for piece in nisa.essence() {
        hasher.update(piece);
    }
    if let Some(window) = &options.window {
        for rank in 0..nisa.num_ranks() {
            hasher.update(format!("{:?}", window.outline.place(rank)).as_bytes());
        }
    }
    let window = options
        .window
        .as_ref()
        .map_or("none".to_owned(), |window| window.settings.size.to_string());
    let is_authenticated = hosts.ethernet().is_none_or(|ethernet| ethernet.authenticates_data);
    let unauthenticated = if is_authenticated { "not given" } else { "given" };
    let fault_timeout = hosts.fault_timeout_s().map_or("none".to_owned(), |s| format!("{s} s"));
    let term = |name: &str, value| (name.to_owned(), value);
    let mut terms = vec![term("goal-run of version", env!("CARGO_PKG_VERSION").to_owned())];
    terms.extend(options.spec.agreed());
    terms.extend([
        term("--window", window),
        term("--verify", options.record.to_string()),
        term("--unauthenticated-data", unauthenticated.to_owned()),
        term("--fault-timeout", fault_timeout),
        term("the program", hasher.finalize().to_hex()[..16].to_owned()),
    ]);
    terms
}

/// Returns the first setting whose value differs on another host: its name, the value here and the
/// value there.
fn difference<'t>(own: &'t [Term], theirs: &'t [Term]) -> Option<(&'t str, &'t str, &'t str)> {
    let theirs: BTreeMap<&str, &str> =
        theirs.iter().map(|(name, value)| (&**name, &**value)).collect();
    own.iter().find_map(|(name, value)| {
        let other = theirs.get(&**name).copied().unwrap_or("nothing");
        (other != value).then_some((&**name, &**value, other))
    })
}
