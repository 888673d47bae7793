//! The moment at which messages leave.

use super::{Esp, SimulatedDriver, World, clock};
use goal_engine::transport::{Header, Kind, Transport};
use goal_esp::auth::JobKey;
use goal_esp::endpoint::Config;
use goal_esp::sim::{Faults, Links, Network, Random, Simulation};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::rc::Rc;

/// A message that was written leaves without a poll, and nothing else does.
#[test]
fn what_was_written_leaves_before_the_rank_computes() {
    let addresses: Vec<_> = (0..2).map(Simulation::address).collect();
    let network = Network::new(2, Links::default(), Faults::default(), Random::new(1));
    let inboxes = vec![VecDeque::new(); 2];
    let world = Rc::new(RefCell::new(World { network, now_ns: 1, inboxes }));
    let [mut sender, mut receiver] = [0, 1].map(|host: usize| {
        let payload_max = Config::payload_max_of(1500).expect("it is enough");
        let config = Config::new(addresses[host], JobKey::new(&[1; 32]), payload_max);
        let driver = SimulatedDriver { host, world: Rc::clone(&world) };
        let seed = [host as u8; 32];
        Esp::new(host as u32, addresses.clone(), config, seed, driver, clock(&world))
    });
    let request = Header::new(Kind::Rts, 0);
    while sender.try_send(1, &request, |_| {}).is_err() {
        sender.exchange_frames();
        receiver.exchange_frames();
        let later_ns = world.borrow().now_ns + 1000;
        world.borrow_mut().advance(later_ns);
    }
    let came = |receiver: &mut Esp| {
        let later_ns = world.borrow().now_ns + 100_000;
        world.borrow_mut().advance(later_ns);
        receiver.poll(1, |header, _| {
            assert_eq!(header.kind(), Kind::Rts);
            ControlFlow::Continue(())
        })
    };
    assert_eq!(came(&mut receiver), 0, "it left by itself");
    sender.send_written();
    assert_eq!(came(&mut receiver), 1);
    let sent = world.borrow().network.counts().delivered;
    sender.send_written();
    assert_eq!(came(&mut receiver), 0);
    assert!(world.borrow().network.counts().delivered <= sent + 1, "only the receiver may answer");
}
