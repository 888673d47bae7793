use goal_lang::{Action, topological_order};

use crate::{Shape, program};

#[test]
fn the_seed_decides() {
    let shape = Shape::default();
    let text = |seed| format!("{:?}", program(seed, &shape));
    assert_eq!(text(7), text(7));
    assert_ne!(text(7), text(8));
}

#[test]
fn every_message_has_its_receive() {
    for seed in 0..goal_filetest::seeds(500) {
        let program = program(seed, &Shape::varied(seed));
        let mut sent = vec![0u64; program.num_ranks() as usize];
        let mut received = sent.clone();
        for rank in 0..program.num_ranks() {
            let body = program.body_of(rank);
            assert!(topological_order(body).is_ok(), "seed {seed}: rank {rank} has a cycle");
            for action in &body.actions {
                match *action {
                    Action::Send { payload, to, .. } => {
                        sent[to as usize] += 1 + body.payload_size(payload)
                    }
                    Action::Recv { payload, .. } => {
                        received[rank as usize] += 1 + body.payload_size(payload)
                    }
                    _ => {}
                }
            }
        }
        assert_eq!(sent, received, "seed {seed}");
    }
}
