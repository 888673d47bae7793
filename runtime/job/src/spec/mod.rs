//! Lists the settings of a job that its user may choose. Each setting has a row: the field, the
//! option of the command line, and the texts about the option.
//!
//! Some settings must be equal on all hosts, and launchers compare them in the order of the rows.
//! The command line creates its options from the rows. This module does not parse command lines.

mod forms;
#[cfg(test)]
mod tests;

pub(crate) use forms::calc_factor;
pub use forms::seconds;

use crate::binding::Bind;
use crate::limits::{
    BURST_MAX, INITIAL_BURST, INITIAL_BURST_MIN, PREFAULT_BYTES_MAX, RING_BYTES, SEGMENT_BYTES_MAX,
    STARTED_RANKS_MAX, TRACE_EVENTS_MAX, VERIFIED_BYTES_MAX,
};
use crate::mode::Mode;
use crate::offload::Offload;
use crate::stuck::Stuck;
use crate::wait::Wait;
use forms::{Bytes, Factor, Form, Named, Seconds, Text, Within};
use goal_engine::{Calc, Options};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// A row of the table: one setting that the user of a job may choose.
#[derive(Debug)]
pub struct Setting {
    /// The long option, without its dashes.
    pub option: &'static str,
    /// The name of the option's value in help texts; empty for a flag.
    pub value_name: &'static str,
    /// The help text.
    pub help: &'static str,
    /// The text after the default's value in help texts. `None` if the default is the same in all
    /// jobs.
    pub default_note: Option<&'static str>,
    /// The heading of the option in help texts; `None` for options of the first part, which has no
    /// heading.
    pub heading: Option<&'static str>,
    /// True if the value must be equal on all hosts.
    pub agreed: bool,
    /// True if only jobs of schedules have the setting, and jobs of programs do not.
    pub is_of_schedules: bool,
    /// True if only jobs of programs have it, and not those of schedules.
    pub is_of_programs: bool,
    /// True if only jobs of hosts on one Ethernet have the setting.
    pub is_of_ethernet: bool,
    /// Returns the names that the value may have, and their help texts; empty if values have no
    /// names.
    pub names: fn() -> Vec<(&'static str, &'static str)>,
    /// Sets the value from the text of the command line. The error is a text for the user.
    pub set: fn(&mut JobSpec, &str) -> Result<(), String>,
    /// Returns the value in the form of the command line; an empty text if there is no value.
    pub text: fn(&JobSpec) -> String,
}

/// A row with the values that most rows have.
const PLAIN: Setting = Setting {
    option: "",
    value_name: "",
    help: "",
    default_note: None,
    heading: None,
    agreed: false,
    is_of_schedules: false,
    is_of_programs: false,
    is_of_ethernet: false,
    names: Vec::new,
    set: |_, _| Ok(()),
    text: |_| String::new(),
};

const LIMITS: Option<&str> = Some("Limits");
const SEVERAL_HOSTS: Option<&str> = Some("Several hosts");

/// The numbers of packets in flight.
type Packets = Within<{ INITIAL_BURST_MIN as u64 }, { BURST_MAX as u64 }>;

/// Makes [`JobSpec`] and [`SETTINGS`] of the rows.
macro_rules! settings {
    ($(
        $(#[$meta:meta])*
        $field:ident: $type:ty = $default:expr => $form:ty,
        $option:literal, $value_name:literal, $help:literal $(, $key:ident: $given:expr)*;
    )*) => {
        /// The settings of a job that its user may choose.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        pub struct JobSpec {
            $($(#[$meta])* pub $field: $type,)*
        }

        impl Default for JobSpec {
            fn default() -> Self {
                Self { $($field: $default,)* }
            }
        }

        /// All rows, in the order of help texts.
        pub static SETTINGS: &[Setting] = &[$(Setting {
            option: $option,
            value_name: $value_name,
            help: $help,
            names: <$form as Form<$type>>::names,
            set: |spec, text| {
                spec.$field = <$form as Form<$type>>::read(text)?;
                Ok(())
            },
            text: |spec| <$form as Form<$type>>::text(&spec.$field),
            $($key: $given,)*
            ..PLAIN
        },)*];
    };
}

settings! {
    /// The mode of progress while ranks compute.
    progress: Mode = Mode::default() => Named, "progress", "PROGRESS",
        "How a rank's schedule makes progress while the rank computes";

    /// The choice if the schedule runs in the kernels of the job's hosts.
    offload: Offload = Offload::default() => Named, "offload", "OFFLOAD",
        "Run the schedule of a job on several hosts in their kernels, while the ranks' processes \
         sleep or compute, or the processes",
        agreed: true;

    /// The policy of ranks that wait.
    wait: Wait = Wait::default() => Named, "wait", "WAIT", "How a rank waits";

    /// The request for the processors of a host's ranks.
    bind: Bind = Bind::default() => Text, "bind", "core|none|LIST",
        "Processors of ranks: core (a core for each rank, if there are enough that no other job \
         holds), none (ranks are not bound), or a list for the ranks of this host in their order";

    /// True if the other ranks of a program go on after the loss of a rank. They learn of the loss
    /// by `Interrupted::Lost`, and form a smaller group by `Attached::regroup` (`goal-rank`).
    survives: bool = false => Text, "survive", "",
        "Let the other ranks of a program go on if one is killed or exits early: they learn of it \
         by GOAL_ERR_RANK_LOST and call GOAL_Comm_shrink",
        agreed: true, is_of_programs: true;

    /// True if all collectives and schedules of programs run in the engine.
    unlinked: bool = false => Text, "no-links", "",
        "Run all collectives and schedules of programs in the engine, none by the ranks' boards",
        agreed: true, is_of_programs: true;

    /// The treatment of a program's job that makes no progress. Threads of its ranks outside of
    /// the library's calls may still act.
    stuck: Stuck = Stuck::default() => Text, "stuck", "tell|end[,S]",
        "Treatment of a program's job in which nothing moves for S seconds, though threads in no \
         call of the library may still act: tell who waits for what, or end it",
        default_note: Some(""), is_of_programs: true;

    /// The duration of `calc` actions.
    #[serde(with = "forms::factor")]
    calc: Calc = Calc::Scaled(1.0) => Factor, "calc", "spin|skip|SCALE",
        "How calc passes the time: spin (as long as it says), skip, or a factor of that",
        agreed: true;

    /// The number of instances, run one after the other without a barrier; at least 1.
    repeat: u64 = 1 => Within<1, { u32::MAX as u64 }>, "repeat", "K",
        "Instances to run, one after the other without a barrier",
        agreed: true, is_of_schedules: true;

    /// The time after which the job is ended; `None` if it has no limit.
    timeout: Option<Duration> = None => Seconds, "timeout", "S",
        "End the run after so many seconds";

    /// The largest eager message in bytes: [`Options::eager_limit`].
    eager_limit: u64 = Options::EAGER_LIMIT => Bytes, "eager-limit", "BYTES",
        "Largest message that is sent before its receive is there",
        default_note: Some(", or what GOAL_TABLE has"), agreed: true;

    /// The most bytes of a ring in shared memory between two ranks: see
    /// [`Layout::with_rings`](goal_shm::Layout::with_rings).
    ring_bytes: u64 = RING_BYTES => Bytes, "ring", "BYTES",
        "Most bytes of a ring between two ranks of a host, a power of two",
        default_note: Some(", or what GOAL_TABLE has"), agreed: true;

    /// The most bytes of unexpected messages of a rank: [`Options::unexpected_limit`].
    unexpected_limit: u64 = Options::UNEXPECTED_LIMIT => Bytes, "unexpected-limit", "BYTES",
        "Most bytes of messages that a rank keeps for receives to come",
        agreed: true;

    /// The most records of a trace, of all ranks together. If there are more, the last records of
    /// each rank are kept.
    trace_events_max: u64 = TRACE_EVENTS_MAX => Within<1, { u64::MAX }>, "trace-max", "N",
        "Most records of a trace, 32 bytes each, all ranks together; the last ones of each rank \
         are kept",
        heading: LIMITS, is_of_schedules: true;

    /// The most ranks that may be started.
    ranks_max: u32 = STARTED_RANKS_MAX => Within<0, { u32::MAX as u64 }>, "max-started", "N",
        "Most ranks that are started",
        heading: LIMITS;

    /// The largest segment that ranks may share, in bytes.
    segment_bytes_max: u64 = SEGMENT_BYTES_MAX => Bytes, "max-segment", "BYTES",
        "Most bytes of the memory that ranks share",
        heading: LIMITS;

    /// The most bytes of its memory that a rank makes resident before it starts. If little memory
    /// is free, the rank makes fewer bytes resident.
    prefault_bytes_max: u64 = PREFAULT_BYTES_MAX => Bytes, "max-prefault", "BYTES",
        "Most bytes of its memory that a rank makes resident before it starts",
        heading: LIMITS, is_of_schedules: true;

    /// The most memory, of all ranks together, that the interpreter may need to compare a run, in
    /// bytes.
    verified_bytes_max: u64 = VERIFIED_BYTES_MAX => Bytes, "max-verified", "BYTES",
        "Most bytes of memory of all ranks together that are compared with the interpreter's",
        heading: LIMITS, is_of_schedules: true;

    /// The packets that a rank may send to one on another host before the first is acknowledged.
    initial_burst: u16 = INITIAL_BURST => Packets, "initial-burst", "N",
        "Packets that a rank may send to one on another host before the first is acknowledged",
        default_note: Some(", or what GOAL_TABLE has"), heading: SEVERAL_HOSTS, agreed: true, is_of_ethernet: true;

    /// The most packets in flight to a rank from one on another host.
    burst: u16 = BURST_MAX => Packets, "burst", "N",
        "Most packets in flight to a rank from one on another host",
        default_note: Some(", or what GOAL_TABLE has"), heading: SEVERAL_HOSTS, agreed: true, is_of_ethernet: true;
}

impl JobSpec {
    /// Returns the option and the value of each setting that must be equal on all hosts, in the
    /// order of the rows.
    pub fn agreed(&self) -> impl Iterator<Item = (String, String)> {
        let rows = SETTINGS.iter().filter(|row| row.agreed);
        rows.map(|row| (format!("--{}", row.option), (row.text)(self)))
    }
}
