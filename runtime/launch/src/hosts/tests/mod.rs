mod discovery;
mod links;
mod plan;
mod questions;
mod rendezvous;
mod rounds;

use goal_esp::wire::Mac;

/// The address of a host's interface.
fn host(number: u8) -> Mac {
    Mac([2, 0, 0, 0, 0, number])
}
