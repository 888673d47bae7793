//! Ranks that sleep, and what they might have done for others.

use super::boxes::Allocated;
use super::{explore, shared};
use crate::{Sleepers, Turn};
use loom::thread;

/// A rank that is away, and another one that acts for it or sleeps.
#[derive(Default)]
struct Node {
    away: Turn,
    sleepers: Sleepers,
    sleeper: Allocated,
}

impl Node {
    fn needs_help(&self) -> bool {
        self.away.busy_if_lent() == Some(true)
    }
}

/// Somebody leaves something to do for a rank that is away while another rank goes to sleep: that
/// one sees it or is woken. Loom fails a model in which a thread sleeps for ever. Without either of
/// the fences it does.
#[test]
fn nobody_sleeps_while_there_is_something_to_do() {
    explore("one leaves something to do, one goes to sleep", None, || {
        let node = shared(Node::default());
        node.away.lend();
        let busy = {
            let node = node.clone();
            thread::spawn(move || {
                assert!(node.away.try_lock());
                node.away.set_busy(true);
                node.away.unlock();
                if node.sleepers.any() && node.needs_help() {
                    node.sleeper.mailbox().wake();
                }
            })
        };
        while !node.needs_help() {
            let mailbox = node.sleeper.mailbox();
            node.sleepers.enter();
            assert!(mailbox.arm());
            node.sleepers.fence();
            if node.needs_help() {
                mailbox.disarm();
            } else {
                mailbox.wait(None);
            }
            node.sleepers.leave();
            thread::yield_now();
        }
        busy.join().unwrap();
    });
}
