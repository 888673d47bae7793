//! The settings, from the environment.
//!
//! Threat: whoever sets the environment of the program chooses where files are written and how
//! large numbers are. That is the user who runs the program, so paths are taken as they are. A name
//! of files must not have a `/`, so that a mistake can't lead out of the folder. Numbers are
//! bounded. `tests/settings.rs` has a test of each.

use goal_collectives::{Table, TableError, algorithm};
use goal_lang::CollectiveKind;
use std::path::PathBuf;

/// The choices of the user.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// The folder of the files (`GOALPROF_DIR`).
    pub dir: PathBuf,
    /// The name of the files in front of `.RANK.goal` (`GOALPROF_NAME`).
    pub name: String,
    /// The factor of computation (`GOALPROF_CALC_SCALE`); 0 writes none.
    pub calc_scale: f64,
    /// Computation of fewer nanoseconds is left out (`GOALPROF_CALC_MIN`).
    pub calc_ns_min: u64,
    /// The bits of a GOAL tag that hold the tag of MPI (`GOALPROF_TAG_BITS`).
    pub tag_bits: u32,
    /// True if a thread's call comes behind what other threads had done (`GOALPROF_THREADS`);
    /// `None` if the user leaves it to the program.
    pub orders_threads: Option<bool>,
    /// True if recording begins with the program (`GOALPROF_RECORD`).
    pub records: bool,
    /// The algorithm of each collective that the user chose (`GOALPROF_ALLREDUCE` and so on).
    pub algorithms: Vec<(CollectiveKind, &'static str)>,
    /// The table that chooses the other algorithms (`GOALPROF_TABLE`, a file).
    pub table: Table,
}

/// The reason why a variable can't be used.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// A number is wrong.
    #[error("{variable}={value}: expected {expected}")]
    Value {
        /// The variable.
        variable: String,
        /// Its value.
        value: String,
        /// The values that it may have.
        expected: &'static str,
    },
    /// There is no such algorithm.
    #[error("{variable}={value}: {kind} has no such algorithm; it has {known}")]
    Algorithm {
        /// The variable.
        variable: String,
        /// Its value.
        value: String,
        /// The collective.
        kind: CollectiveKind,
        /// The algorithms that there are.
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

/// The most bytes of a table.
const TABLE_BYTES_MAX: u64 = 1 << 20;

/// Returns the variable that chooses the algorithm of a collective.
fn variable(kind: CollectiveKind) -> String {
    format!("GOALPROF_{}", kind.name().to_uppercase().replace('-', "_"))
}

impl Settings {
    /// Returns the defaults, for a program of this name.
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

    /// Returns a number that differs, but for rare collisions, if the ranks' settings would give
    /// programs that don't fit together. Scales and places may differ.
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

/// Lists the algorithms of a collective.
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
