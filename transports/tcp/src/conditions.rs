//! Settings of connections: the time of silence after which a host is lost, and encryption. All
//! hosts of a job have equal settings.

use crate::channel::Tls;
use crate::limits::SILENCE_S;

/// Settings of the connections of a job.
#[derive(Debug, Clone)]
pub struct Conditions {
    /// The seconds of silence after which the host at the other end is lost, at least 1.
    pub silence_s: u32,
    /// The encryption, if connections are encrypted.
    pub tls: Option<Tls>,
}

/// Plain connections.
impl Default for Conditions {
    fn default() -> Self {
        Self { silence_s: SILENCE_S, tls: None }
    }
}
