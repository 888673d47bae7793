//! Reads the settings of the profiler from the environment.
//!
//! Threat: whoever sets the environment of the program chooses where files are written and how
//! large numbers are. This is the user who runs the program, so paths are used as they are. The
//! name of the files must not contain `/`, so that a mistake can't lead out of the folder. Numbers
//! are bounded. `tests/settings.rs` has a test for each of these rules.

use goal_collectives::{Table, TableError, algorithm};
use goal_lang::CollectiveKind;
use std::path::PathBuf;

/// The choices of the user.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// The folder for the files (`GOALPROF_DIR`).
    pub dir: PathBuf,
    /// The name of the files before `.RANK.goal` (`GOALPROF_NAME`).
    pub name: String,
    /// The factor for times of computation (`GOALPROF_CALC_SCALE`). With 0 no computation is
    /// written.
    pub calc_scale: f64,
    /// The least nanoseconds of computation that are written (`GOALPROF_CALC_MIN`).
    pub calc_ns_min: u64,
    /// The number of bits in a GOAL tag for the MPI tag (`GOALPROF_TAG_BITS`).
    pub tag_bits: u32,
    /// True if a thread's call comes after everything that other threads had done
    /// (`GOALPROF_THREADS`). `None` if this follows from the thread level of the program.
    pub orders_threads: Option<bool>,
    /// True if the recording is on from the beginning (`GOALPROF_RECORD`).
    pub records: bool,
    /// The collectives whose algorithm the user chose (`GOALPROF_ALLREDUCE` and so on).
    pub algorithms: Vec<(CollectiveKind, &'static str)>,
    /// The table of decisions for all other collectives (`GOALPROF_TABLE`, a file).
    pub table: Table,
}

/// The reason why a variable can't be used.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// A variable has a value that is not allowed.
    #[error("{variable}={value}: expected {expected}")]
    Value {
        /// The variable.
        variable: String,
        /// Its value.
        value: String,
        /// A description of the allowed values.
        expected: &'static str,
    },
    /// A collective has no algorithm of this name.
    #[error("{variable}={value}: {kind} has no such algorithm; it has {known}")]
    Algorithm {
        /// The variable.
        variable: String,
        /// Its value.
        value: String,
        /// The collective.
        kind: CollectiveKind,
        /// The names of its algorithms.
        known: String,
    },
    /// The table can't be read.
    #[error("GOALPROF_TABLE={path}: {error}")]
    Read {
        /// The file.
        path: String,
        /// The reason.
        error: std::io::Error,
    },
    /// The table is wrong.
    #[error("GOALPROF_TABLE={path}: {error}")]
    Table {
        /// The file.
        path: String,
        /// The reason.
        error: TableError,
    },
}

/// The most bytes of a file with a table.
const TABLE_BYTES_MAX: u64 = 1 << 20;

/// Returns the variable that chooses the algorithm of a collective.
fn variable(kind: CollectiveKind) -> String {
    format!("GOALPROF_{}", kind.name().to_uppercase().replace('-', "_"))
}

impl Settings {
    /// Returns the default settings for the program with this name.
    pub fn new(program: &str) -> Self {
        Self {
            dir: "goalprof".into(),
            name: program.replace('/', "_"),
            calc_scale: 1.0,
            calc_ns_min: 0,
            tag_bits: 20,
            orders_threads: None,
            records: true,
            algorithms: Vec::new(),
            table: Table::published(),
        }
    }

    /// Reads the variables that are set. `lookup` returns the value of a variable.
    ///
    /// # Errors
    /// The first variable that can't be used, with the values that it may have.
    pub fn from_variables(
        program: &str,
        lookup: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, SettingsError> {
        let mut settings = Self::new(program);
        let lookup = |name: &str| lookup(name).filter(|value| !value.is_empty());
        if let Some(dir) = lookup("GOALPROF_DIR") {
            settings.dir = dir.into();
        }
        if let Some(name) = lookup("GOALPROF_NAME") {
            if name.contains(['/', '\0']) {
                return Err(wrong("GOALPROF_NAME", name, "a name without `/`"));
            }
            settings.name = name;
        }
        if let Some(value) = lookup("GOALPROF_CALC_SCALE") {
            let scale = value.parse().ok().filter(|scale| (0.0..=1e9).contains(scale));
            let expected = "a factor from 0 to 1e9; 0 writes no computation";
            settings.calc_scale =
                scale.ok_or_else(|| wrong("GOALPROF_CALC_SCALE", value, expected))?;
        }
        if let Some(value) = lookup("GOALPROF_CALC_MIN") {
            let expected = "nanoseconds, a whole number";
            settings.calc_ns_min =
                value.parse().map_err(|_| wrong("GOALPROF_CALC_MIN", value, expected))?;
        }
        if let Some(value) = lookup("GOALPROF_TAG_BITS") {
            let bits = value.parse().ok().filter(|bits| (12..=28).contains(bits));
            let expected = "a whole number from 12 to 28";
            settings.tag_bits = bits.ok_or_else(|| wrong("GOALPROF_TAG_BITS", value, expected))?;
        }
        if let Some(value) = lookup("GOALPROF_THREADS") {
            settings.orders_threads = match value.as_str() {
                "ordered" => Some(true),
                "independent" => Some(false),
                _ => return Err(wrong("GOALPROF_THREADS", value, "ordered or independent")),
            };
        }
        if let Some(value) = lookup("GOALPROF_RECORD") {
            settings.records = match value.as_str() {
                "0" => false,
                "1" => true,
                _ => return Err(wrong("GOALPROF_RECORD", value, "0 or 1")),
            };
        }
        for kind in CollectiveKind::ALL {
            let variable = variable(kind);
            if let Some(value) = lookup(&variable) {
                let Some(found) = algorithm(kind, &value) else {
                    let known = known(kind);
                    return Err(SettingsError::Algorithm { variable, value, kind, known });
                };
                settings.algorithms.push((kind, found.name));
            }
        }
        if let Some(path) = lookup("GOALPROF_TABLE") {
            settings.table = table(path)?;
        }
        Ok(settings)
    }

    /// Returns a hash of the settings that all ranks must have in common. Different settings give
    /// different numbers, except for rare collisions. Scales and paths may differ between ranks.
    pub fn digest(&self) -> u64 {
        use std::hash::{Hash, Hasher};
        let mut hasher = rustc_hash::FxHasher::default();
        (self.tag_bits, self.records, &self.algorithms).hash(&mut hasher);
        format!("{:?}", self.table.rules).hash(&mut hasher);
        hasher.finish()
    }
}

fn wrong(variable: &str, value: String, expected: &'static str) -> SettingsError {
    SettingsError::Value { variable: variable.to_owned(), value, expected }
}

/// Returns the names of a collective's algorithms, separated by commas.
fn known(kind: CollectiveKind) -> String {
    let all = goal_collectives::ALGORITHMS.iter().filter(|found| found.kind == kind);
    all.map(|found| found.name).collect::<Vec<_>>().join(", ")
}

fn table(path: String) -> Result<Table, SettingsError> {
    use std::io::Read;
    let read = || {
        let mut text = String::new();
        std::fs::File::open(&path)?.take(TABLE_BYTES_MAX + 1).read_to_string(&mut text)?;
        match text.len() as u64 > TABLE_BYTES_MAX {
            true => Err(std::io::Error::other(format!(
                "more than {TABLE_BYTES_MAX} bytes are no table of decisions"
            ))),
            false => Ok(text),
        }
    };
    let text = read().map_err(|error| SettingsError::Read { path: path.clone(), error })?;
    Table::parse(&text).map_err(|error| SettingsError::Table { path, error })
}
