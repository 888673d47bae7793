use super::{Credit, Overrun, Room, SHARE_MAX};

/// Grants the share if a grant is due. Returns true if it was.
fn tell(receiver: &mut Credit, sender: &mut Credit, share: u64) -> bool {
    let is_due = receiver.is_due(share);
    if is_due {
        sender.set(receiver.grant(share));
    }
    is_due
}

#[test]
fn grants_follow_what_was_used() {
    let (mut receiver, mut sender) = (Credit::default(), Credit::default());
    assert_eq!(sender.left(), 0);
    assert!(tell(&mut receiver, &mut sender, 1000));
    assert!(!tell(&mut receiver, &mut sender, 1000));
    for _ in 0..4 {
        sender.spend(100);
        receiver.arrive(100).expect("it was granted");
        assert!(!tell(&mut receiver, &mut sender, 1000));
    }
    assert_eq!(sender.left(), 600);
    sender.spend(100);
    receiver.arrive(100).expect("it was granted");
    assert!(tell(&mut receiver, &mut sender, 1000));
    assert_eq!(sender.left(), 1000);
}

#[test]
fn a_first_message_needs_no_grant() {
    let (mut receiver, mut sender) = (Credit::new(100), Credit::new(100));
    assert_eq!((sender.left(), receiver.is_new()), (100, true));
    sender.spend(60);
    receiver.arrive(60).expect("it needs no grant");
    assert!(tell(&mut receiver, &mut sender, 1000));
    assert_eq!((sender.left(), receiver.is_new()), (1000, false));
    let mut liar = Credit::new(100);
    assert_eq!(liar.arrive(101), Err(Overrun { taken: 101, most: 100 }));
}

#[test]
fn absent_ranks_keep_their_first_bytes() {
    let mut room = Room::new(3, 100);
    room.announce(1000);
    room.set_sharers(1);
    assert_eq!(room.share(), 800);
    room.set_sharers(3);
    assert_eq!(room.share(), 333);
    room.announce(u64::MAX);
    assert_eq!(room.share(), SHARE_MAX);
    room.set_sharers(2);
    room.announce(50);
    assert_eq!(room.share(), 0);
}

#[test]
fn grants_follow_the_room() {
    let (mut receiver, mut sender) = (Credit::default(), Credit::default());
    tell(&mut receiver, &mut sender, 1000);
    assert!(!tell(&mut receiver, &mut sender, 500));
    assert!(tell(&mut receiver, &mut sender, 499));
    assert!(!tell(&mut receiver, &mut sender, 999));
    assert!(tell(&mut receiver, &mut sender, 1000));
    assert!(tell(&mut receiver, &mut sender, 0));
    assert!(!tell(&mut receiver, &mut sender, 0));
    assert!(!tell(&mut receiver, &mut sender, 1));
    assert!(tell(&mut receiver, &mut sender, 2));
    // Bytes on their way were sent before the room shrank, so they may exceed it.
    sender.spend(10);
    receiver.arrive(10).expect("it was granted before");
    assert_eq!(sender.left(), 0);
    assert!(tell(&mut receiver, &mut sender, 2));
    assert_eq!(sender.left(), 2);
}

#[test]
fn what_comes_without_room_is_no_news() {
    let (mut receiver, mut sender) = (Credit::default(), Credit::default());
    assert!(tell(&mut receiver, &mut sender, 10));
    assert!(tell(&mut receiver, &mut sender, 0));
    receiver.arrive(1).expect("it was granted before");
    assert!(!tell(&mut receiver, &mut sender, 0));
    assert!(tell(&mut receiver, &mut sender, 10));
}

#[test]
fn what_is_on_its_way_is_counted() {
    let (mut receiver, mut sender) = (Credit::default(), Credit::default());
    tell(&mut receiver, &mut sender, 100);
    sender.spend(60);
    receiver.arrive(60).expect("it was granted");
    let told = receiver.grant(100);
    // 40 more leave before the sender hears of the next grant.
    sender.spend(40);
    sender.set(told);
    assert_eq!(sender.left(), 60, "100 behind the 60 that had come");
}

#[test]
fn who_sends_more_than_it_was_ever_granted_is_told() {
    let mut receiver = Credit::default();
    assert_eq!(receiver.arrive(1), Err(Overrun { taken: 1, most: 0 }), "before any grant");
    let (mut receiver, mut sender) = (Credit::default(), Credit::default());
    for share in [1000, 400, 900, 3] {
        tell(&mut receiver, &mut sender, share);
    }
    receiver.arrive(1000).expect("it may have heard of the first grant only");
    assert_eq!(receiver.arrive(1), Err(Overrun { taken: 1001, most: 1000 }));
    assert_eq!(
        receiver.arrive(u64::MAX),
        Err(Overrun { taken: u64::MAX, most: 1000 }),
        "it does not wrap"
    );
}
