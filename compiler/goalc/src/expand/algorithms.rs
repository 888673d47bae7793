//! The choice of algorithms for the collectives of a program.

use goal_collectives::{
    ALGORITHMS, Algorithm, GenerateError, Request, Table, TableError, algorithm,
};
use goal_lang::CollectiveKind;
use std::str::FromStr;
use std::sync::Arc;

/// The algorithms that collectives are expanded by. The default is the built-in table of decisions
/// for all of them.
#[derive(Debug, Clone, Default)]
pub struct Algorithms {
    /// The name for all collectives that have an algorithm of that name.
    name: Option<Arc<str>>,
    by_kind: Vec<&'static Algorithm>,
}

/// The reason why a text names no algorithms.
#[derive(Debug, thiserror::Error)]
pub enum AlgorithmError {
    /// No collective has an algorithm of this name.
    #[error("no collective has an algorithm `{0}`; `goalc gen --list` lists them")]
    Unknown(String),
    /// There is no such collective.
    #[error("there is no collective `{0}`; write NAME, or KIND=NAME as in bcast=binomial")]
    Kind(String),
    /// The collective has no algorithm of this name.
    #[error("{kind} has no algorithm `{name}`; `goalc gen {kind} --list` lists them")]
    OfKind {
        /// The collective.
        kind: CollectiveKind,
        /// The name.
        name: String,
    },
    /// Two names for all collectives, or two for one of them.
    #[error("`{0}` comes after another algorithm for the same collectives")]
    Twice(String),
}

impl FromStr for Algorithms {
    type Err = AlgorithmError;

    /// Reads a list with commas: a name for all collectives, and names for some as `KIND=NAME`. The
    /// name `auto` stands for the table of decisions.
    fn from_str(text: &str) -> Result<Self, AlgorithmError> {
        let mut chosen = Self::default();
        for part in text.split(',') {
            match part.split_once('=') {
                Some((kind, name)) => chosen.of_kind(part, kind, name)?,
                None if chosen.name.is_some() => {
                    return Err(AlgorithmError::Twice(part.to_owned()));
                }
                None if part == "auto" || ALGORITHMS.iter().any(|known| known.name == part) => {
                    chosen.name = Some(part.into());
                }
                None => return Err(AlgorithmError::Unknown(part.to_owned())),
            }
        }
        Ok(chosen)
    }
}

impl Algorithms {
    fn of_kind(&mut self, part: &str, kind: &str, name: &str) -> Result<(), AlgorithmError> {
        let found = CollectiveKind::ALL.into_iter().find(|known| known.name() == kind);
        let kind = found.ok_or_else(|| AlgorithmError::Kind(kind.to_owned()))?;
        if self.by_kind.iter().any(|known| known.kind == kind) {
            return Err(AlgorithmError::Twice(part.to_owned()));
        }
        let found = algorithm(kind, name);
        let name = name.to_owned();
        self.by_kind.push(found.ok_or(AlgorithmError::OfKind { kind, name })?);
        Ok(())
    }

    /// Returns the algorithm for a request.
    pub(super) fn choose(
        &self,
        request: &Request,
        table: &Table,
    ) -> Result<&'static Algorithm, AlgorithmRefusal> {
        let of_kind = self.by_kind.iter().copied().find(|known| known.kind == request.kind);
        let by_name = || algorithm(request.kind, self.name.as_deref()?);
        match of_kind.or_else(by_name) {
            Some(algorithm) => {
                algorithm.check(request)?;
                Ok(algorithm)
            }
            None => Ok(table.choose(request)?.0),
        }
    }
}

/// The reason why there is no algorithm for a request.
#[derive(Debug, thiserror::Error)]
pub enum AlgorithmRefusal {
    /// The algorithm can't meet the request.
    #[error(transparent)]
    Algorithm(#[from] GenerateError),
    /// No rule of the table fits, or no algorithm can meet the request.
    #[error(transparent)]
    Table(#[from] TableError),
}
