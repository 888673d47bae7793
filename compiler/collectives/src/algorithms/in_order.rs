//! Combines operands in the order of ranks. Floating-point results have the same bits at all ranks
//! that combine the same operands.

use crate::buf::Buf;
use crate::rank::Rank;

/// Combines the operands of the ranks below `count` in `sum`. The operands of other ranks arrive as
/// one message each. The operand of this rank is `own`. It may be `sum`, and shares no other bytes
/// with it.
///
/// It begins with the last of these ranks, so B = A f B leaves the sum so far in one place.
pub(super) fn combine_all(rank: &mut Rank<'_>, count: u32, own: Buf, sum: Buf) {
    let (me, last) = (rank.me(), count - 1);
    let mut so_far = if me == last {
        own
    } else {
        let is_own_read_later = me < last && own == sum;
        let place = if is_own_read_later { rank.scratch(sum.size()) } else { sum };
        rank.recv(place, last);
        place
    };
    for other in (0..last).rev() {
        let operand = if other == me {
            own
        } else {
            let arrived = rank.scratch(sum.size());
            rank.recv(arrived, other);
            arrived
        };
        let to = if other <= me { sum } else { so_far };
        rank.combine_to(operand, so_far, to);
        so_far = to;
    }
    // The only operand may be this rank's.
    rank.copy(so_far, sum);
}
