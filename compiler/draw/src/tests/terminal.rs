//! Pictures in characters.

use super::{read, steps};
use crate::{Options, text};
use insta::assert_snapshot;

#[test]
fn steps_have_cells() {
    let ring = "num_ranks 3
        rank * { s: send 0,4 to rank+1; r: recv 4,4 from rank-1; x: exec sumInt32 with 4,4 0,4;
        requ x -> s; requ x -> r; }";
    assert_snapshot!(text(&steps(ring), 60));
}

#[test]
fn many_steps_have_short_cells_in_blocks() {
    let rounds: String = (0..9)
        .map(|round| {
            format!("s{round}: send 8b to rank+1 tag {round}\n")
                + &format!("r{round}: recv 8b from rank-1 tag {round}\n")
                + &match round {
                    0 => String::new(),
                    _ => format!("s{round} requires r{}\n", round - 1),
                }
        })
        .collect();
    let text_of_ring = format!("num_ranks 4 rank * {{ {rounds} }}");
    assert_snapshot!(text(&steps(&text_of_ring), 50));
}

#[test]
fn a_deadlock_has_signs() {
    let circle = "rank 0 { r: recv 8b from 1; s: send 8b to 1; requ s -> r; }
        rank 1 { r: recv 8b from 0; s: send 8b to 0; requ s -> r; send 8b to 0 tag 9; }";
    assert_snapshot!(text(&steps(circle), 70));
}

#[test]
fn what_does_not_fit_is_letters() {
    let chain: String =
        (1..90).map(|at| format!("c{at}: nop c{at} requires c{}\n", at - 1)).collect();
    let program =
        format!("rank 0 {{ c0: calc 1 {chain} }} rank 1 {{ send 8b to 1; recv 8b from 1 }}");
    assert_snapshot!(text(&steps(&program), 60));
}

#[test]
fn large_programs_have_a_line_for_ranks_alike() {
    let read = read("num_ranks 3000 rank * { s: send 8b to rank+1; r: recv 8b from rank-1; }");
    assert_snapshot!(text(&read.steps(&Options::default()), 60));
}
