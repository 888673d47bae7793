//! Tests of the events of other hosts that the leader and the others handle.

use crate::hosts::{DiscoveryError, LauncherMessage, LinkEvent};
use crate::launcher::hosts::concern::concerns;
use goal_job::host::{Host, Location};

const LEADER: Host = Host::Mac([2, 0, 0, 0, 0, 0]);
const OTHER: Host = Host::Mac([2, 0, 0, 0, 0, 1]);
const THIRD: Host = Host::Mac([2, 0, 0, 0, 0, 2]);
const UNLISTED: Host = Host::Mac([2, 0, 0, 0, 0, 9]);

/// All events that a host can cause and that start or end a job.
fn events(host: Host) -> [LinkEvent; 8] {
    let message = |message| LinkEvent::Message(host, message, vec![]);
    [
        message(LauncherMessage::Start { run: 1 }),
        message(LauncherMessage::Go),
        message(LauncherMessage::End {
            is_complete: true,
            is_stuck: false,
            is_late: false,
            areas: vec![],
        }),
        message(LauncherMessage::Refused("no".to_owned())),
        message(LauncherMessage::Verdict { status: 0, report: "{}".to_owned(), errors: vec![] }),
        LinkEvent::Lost(host, "it is gone".to_owned()),
        LinkEvent::Finished(host),
        LinkEvent::Probe { from: host, round: 1 },
    ]
}

#[test]
fn a_launcher_hears_the_leader_and_the_leader_all_others_of_the_job() {
    let addresses = [LEADER, OTHER, THIRD].map(|host| Location { host, port: 1000 });
    let heard = |me, host| {
        let mut all = events(host).into_iter().map(|event| concerns(&event, me, &addresses));
        let first = all.next().unwrap();
        assert!(all.all(|concerns| concerns == first));
        first
    };
    assert!(heard(OTHER, LEADER) && heard(LEADER, OTHER) && heard(LEADER, THIRD));
    assert!(!heard(OTHER, THIRD), "a host of the job that does not lead");
    assert!(!heard(OTHER, UNLISTED) && !heard(LEADER, UNLISTED));
    assert!(
        events(UNLISTED).iter().all(|event| concerns(event, OTHER, &[])),
        "nobody is known yet"
    );
    assert!(concerns(
        &LinkEvent::Contradiction(DiscoveryError::NotAPeer(UNLISTED.mac())),
        OTHER,
        &addresses
    ));
}
