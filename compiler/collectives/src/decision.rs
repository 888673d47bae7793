//! The choice of an algorithm by a table of rules.

use crate::algorithm::Algorithm;
use crate::algorithms::algorithm;
use crate::request::{Blocks, Request, RequestError};
use crate::rules::Counts;
use goal_lang::CollectiveKind;
use serde::{Deserialize, Serialize};

/// A table that tells which algorithm to take. The first rule that fits a request decides, if its
/// algorithm can meet it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// The machine that the rules were measured on, and how.
    pub measured: String,
    /// The rules, in the order in which they are tried.
    pub rules: Vec<Rule>,
    /// Parameters of transports that were measured too. Launchers read them; here they are kept as
    /// they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transports: Option<serde_json::Value>,
}

/// An algorithm, and the requests for which it is taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// The name of the collective.
    pub collective: String,
    /// The name of the algorithm.
    pub algorithm: String,
    /// The publication, the library or the measurement that the rule comes from.
    pub source: String,
    /// The fewest ranks for which the rule fits.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub ranks: u64,
    /// The number of ranks from which on the rule does not fit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranks_below: Option<u64>,
    /// The fewest nodes for which the rule fits.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub nodes: u64,
    /// The number of nodes from which on the rule does not fit. Fits only if the nodes are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes_below: Option<u64>,
    /// The fewest bytes of a block for which the rule fits.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub bytes: u64,
    /// The number of bytes of a block from which on the rule does not fit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_below: Option<u64>,
    /// The number of bytes of all ranks' blocks together from which on the rule does not fit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_below: Option<u64>,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// The reason why a table can't be used, or decides nothing.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// The text is no table.
    #[error("it is no table of decisions: {0}")]
    Syntax(#[from] serde_json::Error),
    /// A rule names a collective that does not exist.
    #[error("rule {number}: there is no collective {name}")]
    Collective {
        /// The place of the rule, from 1 on.
        number: usize,
        /// The name.
        name: String,
    },
    /// A rule names an algorithm that does not exist.
    #[error("rule {number}: {kind} has no algorithm {name}")]
    Algorithm {
        /// The place of the rule, from 1 on.
        number: usize,
        /// The collective.
        kind: CollectiveKind,
        /// The name.
        name: String,
    },
    /// The request can't be met by any algorithm.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// No rule fits the request.
    #[error("no rule of the table fits this {0}")]
    NoRule(CollectiveKind),
}

impl Table {
    /// Returns the built-in table. Its first rules are for few ranks of one host: algorithms of one
    /// round for short blocks, and what measurements found for others. The other rules are the
    /// thresholds that publications state.
    ///
    /// # Panics
    /// Never: a test reads the same text.
    pub fn published() -> Self {
        Self::parse(include_str!("../tables/published.json")).expect("the table is right")
    }

    /// Reads a table.
    ///
    /// # Errors
    /// The text is no table, or names a collective or an algorithm that does not exist.
    pub fn parse(text: &str) -> Result<Self, TableError> {
        let table: Self = serde_json::from_str(text)?;
        for (number, rule) in table.rules.iter().enumerate().map(|(at, rule)| (at + 1, rule)) {
            let name = rule.collective.clone();
            let kind = rule.kind().ok_or(TableError::Collective { number, name })?;
            let name = rule.algorithm.clone();
            algorithm(kind, &name).ok_or(TableError::Algorithm { number, kind, name })?;
        }
        Ok(table)
    }

    /// Returns the algorithm for a request, and the rule that decided.
    ///
    /// # Errors
    /// No algorithm can meet the request, or no rule fits it.
    pub fn choose(&self, request: &Request) -> Result<(&'static Algorithm, &Rule), TableError> {
        request.check()?;
        let mut fitting = self.rules.iter().filter(|rule| rule.fits(request));
        let chosen = fitting.find_map(|rule| {
            let algorithm = algorithm(request.kind, &rule.algorithm)?;
            // Ranks that know different blocks must come to the same decision.
            let is_common = !request.kind.has_root()
                || request.blocks == Blocks::Equal
                || algorithm.counts == Counts::Own;
            (is_common && algorithm.check(request).is_ok()).then_some((algorithm, rule))
        });
        chosen.ok_or(TableError::NoRule(request.kind))
    }
}

impl Rule {
    fn kind(&self) -> Option<CollectiveKind> {
        CollectiveKind::ALL.into_iter().find(|kind| kind.name() == self.collective)
    }

    fn fits(&self, request: &Request) -> bool {
        let (ranks, bytes) = (u64::from(request.ranks), request.block());
        let nodes = request.nodes.as_ref().map(|nodes| u64::from(nodes.count()));
        let is_below = |number: u64, bound: Option<u64>| bound.is_none_or(|bound| number < bound);
        self.kind() == Some(request.kind)
            && ranks >= self.ranks
            && is_below(ranks, self.ranks_below)
            && nodes.unwrap_or(1) >= self.nodes
            && is_below(nodes.unwrap_or(u64::MAX), self.nodes_below)
            && bytes >= self.bytes
            && is_below(bytes, self.bytes_below)
            && is_below(bytes.saturating_mul(ranks), self.total_below)
    }
}
