//! Processes that end in unusual ways.

use super::*;
use rustix::process::{WaitOptions, waitpid};

#[test]
fn a_process_that_somebody_else_has_waited_for_has_ended() {
    let child = Command::new("true").spawn().unwrap();
    let pid = Pid::from_child(&child);
    let mut processes = Processes {
        children: vec![(7, child)],
        stopped: BTreeMap::new(),
        suspended: Vec::new(),
        troubles: Troubles::new().unwrap(),
        held: Vec::new(),
        next: 0,
    };
    waitpid(Some(pid), WaitOptions::empty()).unwrap();
    let fallen = processes.fallen();
    assert!(matches!(&fallen, Some(Fallen::Ended(7, how)) if how == NOT_KNOWN), "{fallen:?}");
}
