//! Computes the tags of several frames at once, both of frames that leave and of frames that have
//! arrived.

use crate::auth::{self, Claim, Key, LANES, Route};
use crate::machine::Ends;
use crate::wire::{Frame, Packet, Tag};

/// The most frames that [`Endpoint::check`](super::Endpoint::check) takes.
pub const CHECKED_MAX: usize = LANES;

/// The keys and control numbers for the tags that the frames of
/// [`Endpoint::poll_unsealed`](super::Endpoint::poll_unsealed) still lack, in the order of the
/// frames.
#[derive(Default)]
pub struct Seals(Vec<Option<(Key, u64)>>);

impl Seals {
    /// Returns the number of frames that were written and not sealed.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Notes the key and the control number of the next frame.
    pub(super) fn push(&mut self, key: &Key, control: u64) {
        self.0.push(Some((key.clone(), control)));
    }

    /// Notes that the `number`-th frame was written. If no key was noted for this frame, it needs
    /// no tag.
    pub(super) fn end_frame(&mut self, number: usize) {
        self.0.resize(number, None);
    }

    /// Writes the tags that are missing. `frames` are all frames that were written since the last
    /// call, in order.
    pub fn seal(&mut self, frames: &mut [&mut [u8]]) {
        debug_assert_eq!(frames.len(), self.0.len());
        for (frames, seals) in frames.chunks_mut(LANES).zip(self.0.chunks(LANES)) {
            seal_some(frames, seals);
        }
        self.0.clear();
    }
}

/// Writes the tags of up to [`LANES`] frames.
fn seal_some(frames: &mut [&mut [u8]], seals: &[Option<(Key, u64)>]) {
    let mut tags = [Tag::default(); LANES];
    {
        let parsed = parse_all(frames.iter().map(|frame| &**frame));
        let claims = parsed.iter().zip(seals).filter_map(|(parsed, seal)| {
            let ((way, packet), (key, control)) = (parsed.as_ref()?, seal.as_ref()?);
            Some(Claim { key, way: *way, control: *control, packet })
        });
        let mut all = Vec::with_capacity(LANES);
        all.extend(claims);
        tags[..all.len()].copy_from_slice(&auth::tags(&all)[..all.len()]);
    }
    let mut tags = tags.iter();
    for (frame, _) in frames.iter_mut().zip(seals).filter(|(_, seal)| seal.is_some()) {
        let bytes = &mut frame[Frame::<&[u8]>::HEADER_LEN..];
        Packet::over(bytes).set_tag(tags.next().expect("a tag for each frame"));
    }
}

/// The addresses and the packet of a frame.
pub(super) type Parsed<'a> = (Route, Packet<&'a [u8]>);

/// Returns the contents of up to [`LANES`] frames; `None` for one that is malformed.
pub(super) fn parse_all<'a>(frames: impl Iterator<Item = &'a [u8]>) -> [Option<Parsed<'a>>; LANES] {
    let mut frames = frames.map(parse);
    std::array::from_fn(|_| frames.next().flatten())
}

fn parse(frame: &[u8]) -> Option<Parsed<'_>> {
    let start = Frame::<&[u8]>::HEADER_LEN;
    let ethernet = Frame::new_checked(frame).ok()?;
    let way = Route { source: ethernet.source(), destination: ethernet.destination() };
    Some((way, Packet::new_checked(&frame[start..]).ok()?))
}

/// The tag that a frame must have, computed when it arrived. This tag is right only if the frame
/// belongs to the connection `ends` and has the control number `number`.
#[derive(Clone, Copy)]
pub struct Checked {
    pub(super) ends: Ends,
    pub(super) number: u64,
    pub(super) tag: Tag,
}
