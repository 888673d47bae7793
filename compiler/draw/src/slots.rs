//! Places of shapes that lie beside each other in a lane.

use crate::diagram::{Lane, Shape};

/// Gives each shape the lowest slot that is free from its beginning to its end, and each lane the
/// number of its slots. Shapes of a lane are taken in the order of their beginnings.
pub(crate) fn place(lanes: &mut [Lane], shapes: &mut [Shape]) {
    let mut order: Vec<usize> = (0..shapes.len()).collect();
    order.sort_by_key(|&at| (shapes[at].lane, shapes[at].begin));
    let mut ends: Vec<u64> = Vec::new();
    let mut lane = u32::MAX;
    for at in order {
        let shape = &mut shapes[at];
        if shape.lane != lane {
            lane = shape.lane;
            ends.clear();
        }
        let slot = ends.iter().position(|&end| end <= shape.begin).unwrap_or_else(|| {
            ends.push(0);
            ends.len() - 1
        });
        // A shape without length takes its moment.
        ends[slot] = shape.end.max(shape.begin + 1);
        shape.slot = slot as u32;
        let slots = &mut lanes[shape.lane as usize].slots;
        *slots = (*slots).max(slot as u32 + 1);
    }
}
