//! More ready actions than one frame may set off.

use crate::alone;
use crate::native::{Engine, Host};
use goal_kernel::layout::{Counter, FrameHeader, kind};
use goal_kernel::limits::{ACTIONS_MAX, RUN_ACTIONS};
use goal_kernel::{Member, Plan, Reason};
use goal_lang::{Action, BodyBuilder, Program, ProgramBuilder};
use std::mem::offset_of;

/// A chain of actions.
fn chain(actions: u32) -> Program {
    let mut rank = BodyBuilder::default();
    let all: Vec<_> = (0..actions).map(|_| rank.action(Action::Nop)).collect();
    for pair in all.windows(2) {
        rank.requires(pair[1], pair[0]);
    }
    let mut program = ProgramBuilder::default();
    program.rank_with(rank.finish());
    program.finish()
}

fn host(engine: Engine, actions: u32) -> (Host, Member, [u8; 60]) {
    let plan = Plan::of(&crate::nisa(&chain(actions)), 64).unwrap();
    let mut installation = alone();
    let member = installation.add(&plan, &[0]).unwrap()[0].1;
    (Host::new(engine, &installation), member, installation.tick())
}

#[test]
fn long_runs_go_on_with_frames_to_the_host_itself() {
    let Some(engine) = Engine::or_skip("long_runs") else { return };
    let actions = 3 * RUN_ACTIONS + 10;
    for is_lost in [false, true] {
        let (mut host, member, tick) = host(engine, actions);
        for epoch in 1..=3 {
            let (_, mut sent) = host.egress(&member.start(epoch));
            let mut frames = 0;
            while host.status[0].done != epoch {
                assert_eq!(sent.len(), 1, "after {frames} frames");
                let (mut frame, is_local) = sent.remove(0);
                assert!(is_local && frame[offset_of!(FrameHeader, kind)] == kind::CONTINUE);
                if is_lost {
                    // The frame is lost; a tick brings another one.
                    (frame, _) = host.tick(&tick).remove(0);
                }
                (_, sent) = host.ingress(&frame);
                frames += 1;
            }
            assert_eq!(frames, 3, "{actions} actions");
        }
        assert_eq!(host.counter(Counter::Continued), 9);
    }
}

#[test]
fn too_long_parts_are_refused() {
    assert!(Plan::of(&crate::nisa(&chain(ACTIONS_MAX)), 64).is_ok());
    let refusals = Plan::of(&crate::nisa(&chain(ACTIONS_MAX + 1)), 64).expect_err("too long");
    assert_eq!(refusals[0].reason, Reason::ManyActions(u64::from(ACTIONS_MAX) + 1));
}
