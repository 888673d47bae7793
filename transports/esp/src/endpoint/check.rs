//! The tags of frames that have arrived together.

use super::Endpoint;
use super::seals::{CHECKED_MAX, Checked, parse_all};
use crate::auth::{self, Address, Claim, LANES};
use crate::wire::Extension;

impl Endpoint {
    /// Computes the tags that up to [`CHECKED_MAX`] arrived frames must have, faster than one at a
    /// time. The results are in the order of the frames. [`Endpoint::handle_checked`] takes the
    /// result of its frame. A result is `None` if the frame's tag is left to that call.
    pub fn check(&self, frames: &[&[u8]]) -> [Option<Checked>; CHECKED_MAX] {
        let mut checked = [None; CHECKED_MAX];
        if !auth::hashes_together(frames.len()) {
            return checked;
        }
        let parsed = parse_all(frames.iter().copied());
        let mut claims = Vec::with_capacity(LANES);
        let mut numbers = Vec::with_capacity(LANES);
        for (place, (way, packet)) in
            parsed.iter().enumerate().filter_map(|(place, parsed)| Some((place, parsed.as_ref()?)))
        {
            let peer = Address { mac: way.source, port: packet.source_port() };
            let Extension::Whole { control } = packet.repr().extension else { continue };
            let index = self.by_peer.get(&peer);
            let connection = index.and_then(|&index| self.connections[index as usize].as_ref());
            // Frames with another nonce are refused without a look at their tags.
            let proof = connection
                .and_then(|connection| connection.proof.as_ref())
                .filter(|proof| proof.ends.peer as u32 == packet.repr().nonce);
            let Some(proof) = proof else { continue };
            let number = auth::whole_control(control, proof.seen);
            claims.push(Claim { key: &proof.key, way: *way, control: number, packet });
            numbers.push((place, proof.ends, number));
        }
        let tags = auth::tags(&claims);
        for ((place, ends, number), tag) in numbers.into_iter().zip(tags) {
            checked[place] = Some(Checked { ends, number, tag });
        }
        checked
    }
}
