//! Makes a process of a program a rank of its job.

use super::Attached;
use super::error::AttachError;
use super::skeleton::skeleton;
use crate::progress::member_over;
use goal_eth::now_ns;
use goal_job::bootstrap::{OF_PROGRAM, Opened, RankBootstrap};
use goal_job::inherited::Inherited;
use goal_job::remote_sockets::RemoteSockets;
use goal_job::rights;
use goal_job::threads::identity;
use goal_job::transport::Choice;
use goal_job::{Job, JobSpec, Origin, Settings, Stuck, layout};
use goal_kernel::Tables;
use goal_shm::{Segment, State, announce};
use goal_tcp::Listener;
use rustix::process::{
    DumpableBehavior, Signal, getppid, set_dumpable_behavior, set_parent_process_death_signal,
};
use std::ffi::OsString;
use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// The number of looks at the start barrier before a rank sleeps. Each look yields the processor.
const POLLS_AT_START: u32 = 5_000;

/// The size in bytes of the heap of a process that is a group of one.
const LONE_HEAP_BYTES: u64 = super::HEAP_BYTES;

/// Attaches this process to its job. If a launcher started the process, it becomes the rank that
/// the launcher chose; otherwise it becomes a group of one. Binds the calling thread to the rank's
/// processor. Returns when all ranks have attached.
///
/// # Errors
/// [`AttachError`]. After an error this process can't attach any more.
pub fn attach() -> Result<Attached, AttachError> {
    attach_once()?;
    match std::env::var_os(OF_PROGRAM) {
        Some(bootstrap) => attach_by(&bootstrap),
        None => attach_alone(),
    }
}

/// # Errors
/// This process has attached before.
fn attach_once() -> Result<(), AttachError> {
    static HAS_ATTACHED: AtomicBool = AtomicBool::new(false);
    if HAS_ATTACHED.swap(true, Ordering::SeqCst) {
        return Err(AttachError::Again);
    }
    Ok(())
}

impl Attached {
    /// Attaches this process by the bootstrap record and the descriptors that a launcher has sent.
    /// `over` gets the rank's remote sockets and returns the ones to use: the same or others.
    ///
    /// # Errors
    /// [`AttachError`].
    pub fn join(
        bootstrap: RankBootstrap,
        mut inherited: Inherited,
        over: impl FnOnce(&Settings, Option<RemoteSockets>) -> io::Result<Option<RemoteSockets>>,
    ) -> Result<Self, AttachError> {
        attach_once()?;
        let (opened, (remote_sockets, tables)) =
            opened(&bootstrap, &mut inherited).map_err(AttachError::RankBootstrap)?;
        let remote_sockets = over(&opened.settings, remote_sockets)?;
        begin(opened, &bootstrap, (remote_sockets, tables))
    }
}

fn attach_by(bootstrap: &OsString) -> Result<Attached, AttachError> {
    if rights::are_of_file() {
        return Err(AttachError::Rights);
    }
    let (opened, bootstrap, ways) = open(bootstrap).map_err(AttachError::RankBootstrap)?;
    begin(opened, &bootstrap, ways)
}

/// Makes this process the rank that the bootstrap record names.
fn begin(
    Opened { mut segment, nisa, settings }: Opened,
    bootstrap: &RankBootstrap,
    (remote_sockets, tables): RemoteEndpoints,
) -> Result<Attached, AttachError> {
    let rank = bootstrap.rank;
    let joins = rank >= segment.num_started();
    // By the settings that all ranks of the job have, since their fences must fit together.
    segment.choose_fences(settings.crowded);
    let settings = match joins {
        true => settings.of_joined(segment.rank_count().is_crowded()),
        false => settings,
    };
    let process_state = &segment.status(rank).process_state;
    process_state
        .claim(std::process::id())
        .map_err(|process| AttachError::Taken { rank, process })?;
    if let Some(identity) = identity() {
        process_state.identify(identity);
    }
    if let Some(launcher) = bootstrap.launcher_here() {
        process_state.see(std::process::id());
        goal_shm::admit(launcher);
        end_with(launcher)?;
    }
    // The rank is bound before it touches its memory, so that the system allocates this memory near
    // the processor.
    if let Some(processor) = settings.bind(rank).map_err(AttachError::Binding)? {
        segment.status(rank).processor.store(processor + 1, Ordering::Relaxed);
    }
    let resident = segment.populate_messages(rank);
    segment.status(rank).prefaulted.store(resident, Ordering::Relaxed);
    let (segment, nisa, settings) = leak(segment, nisa, settings);
    pass_start_barrier(Job::new(segment, nisa, settings), rank, remote_sockets, tables)
}

/// Lets the system kill this process when its parent ends, if the parent is the launcher. The
/// launcher has asked for this already. But the system forgets the request when root executes a
/// program.
fn end_with(launcher: u32) -> Result<(), AttachError> {
    let is_parent = || getppid().is_some_and(|pid| pid.as_raw_nonzero().get() as u32 == launcher);
    if is_parent() {
        set_parent_process_death_signal(Some(Signal::KILL)).map_err(io::Error::from)?;
        // The launcher may have died before the request.
        if !is_parent() {
            return Err(AttachError::Stopped);
        }
    }
    Ok(())
}

/// A rank's remote sockets, and the tables in which it installs schedules.
type RemoteEndpoints = (Option<RemoteSockets>, Option<Tables>);

/// Opens the descriptors that the bootstrap record names. Programs that this process executes later
/// do not inherit them.
fn open(bootstrap: &OsString) -> io::Result<(Opened, RankBootstrap, RemoteEndpoints)> {
    let bootstrap = RankBootstrap::parse(bootstrap)?;
    let mut inherited = Inherited::from_program(&bootstrap.passed)?;
    if bootstrap.remote_sockets.is_some() {
        // Keeps other processes of the same user from taking the sockets.
        set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    }
    let (opened, ways) = opened(&bootstrap, &mut inherited)?;
    Ok((opened, bootstrap, ways))
}

/// Opens the segment, the schedule and the settings of a job, the rank's remote sockets and its
/// tables.
fn opened(
    bootstrap: &RankBootstrap,
    inherited: &mut Inherited,
) -> io::Result<(Opened, RemoteEndpoints)> {
    let opened = bootstrap.open(inherited)?;
    if opened.settings.origin != Origin::Program {
        return Err(io::Error::other("the bootstrap record is for a rank of a schedule"));
    }
    let remote_sockets = match &bootstrap.remote_sockets {
        Some(passed) => Some(inherited.remote_sockets(passed)?),
        None => None,
    };
    let in_kernel = opened.settings.in_kernel.as_ref();
    let tables = match (bootstrap.tables, in_kernel.and_then(|own| own.share(bootstrap.rank))) {
        (Some(passed), Some(share)) => Some(Tables::open(inherited.tables(passed)?, share)?),
        _ => None,
    };
    Ok((opened, (remote_sockets, tables)))
}

/// Makes this process a group of one.
fn attach_alone() -> Result<Attached, AttachError> {
    let system = |error: &dyn ToString| AttachError::System(io::Error::other(error.to_string()));
    let nisa = skeleton(1, LONE_HEAP_BYTES);
    let settings = Settings::new(1, &Choice::default()).map_err(|error| system(&error))?;
    let stuck = Stuck::from_environment()?;
    let spec = JobSpec { stuck, ..JobSpec::default() };
    let settings = Settings { origin: Origin::Alone, spec, ..settings };
    let layout = layout(&nisa, &settings, u64::MAX).map_err(|error| system(&error))?;
    let segment = Segment::create(layout)?;
    let process = std::process::id();
    segment.status(0).process_state.claim(process).expect("a new segment");
    let (segment, nisa, settings) = leak(segment, nisa, settings);
    pass_start_barrier(Job::new(segment, nisa, settings), 0, None, None)
}

/// Leaks the parts of a job, so that they live until the process ends.
fn leak<S, N, T>(segment: S, nisa: N, settings: T) -> (&'static S, &'static N, &'static T) {
    (Box::leak(Box::new(segment)), Box::leak(Box::new(nisa)), Box::leak(Box::new(settings)))
}

/// Creates the rank's member, and waits until all ranks have attached.
fn pass_start_barrier(
    job: Job<'static>,
    rank: u32,
    remote_sockets: Option<RemoteSockets>,
    tables: Option<Tables>,
) -> Result<Attached, AttachError> {
    let Job { segment, settings, .. } = job;
    announce(segment, rank);
    let listener = remote_sockets
        .as_ref()
        .and_then(RemoteSockets::listener)
        .filter(|_| settings.spec.survives);
    let spare = listener.map(Listener::try_clone).transpose()?;
    // The member announces the room in the rank's mailbox. Other ranks send as soon as they have
    // passed the start barrier, so the member is created first.
    let mut member = member_over(job, rank, remote_sockets)?;
    if let Some(tables) = &tables {
        member.follow(tables.events()).map_err(|_| AttachError::Stopped)?;
    }
    let polls = if settings.polls_at_start() { POLLS_AT_START } else { 0 };
    let may_go_on = match rank < segment.num_started() {
        true => segment.start_barrier().pass_polling(
            settings.awaited(segment.num_started()),
            polls,
            now_ns,
        ),
        // This rank has joined later, and the barrier does not count it. The barrier is open by
        // now, or the job has ended.
        false => segment.start_barrier().is_open(),
    };
    if !may_go_on {
        return Err(AttachError::Stopped);
    }
    segment.status(rank).enter(State::Running);
    let (member, tables) = (Mutex::new(Some(member)), Mutex::new(tables));
    Ok(Attached { job, rank, member, tables, spare, guests: Mutex::default() })
}
