use super::Credit;

/// Grants where it is due; whether it was.
fn tell(receiver: &mut Credit, sender: &mut Credit, share: u64) -> bool {
    let is_due = receiver.is_due(share);
    if is_due {
        receiver.grant(share);
        sender.set(share);
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
        receiver.arrive(100);
        assert!(!tell(&mut receiver, &mut sender, 1000));
    }
    assert_eq!(sender.left(), 600);
    sender.spend(100);
    receiver.arrive(100);
    assert!(tell(&mut receiver, &mut sender, 1000));
    assert_eq!(sender.left(), 1000);
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
    // More is on its way than there is room for: that was sent before the room shrank.
    sender.spend(10);
    receiver.arrive(10);
    assert_eq!(sender.left(), 0);
    assert!(tell(&mut receiver, &mut sender, 2));
    assert_eq!(sender.left(), 2);
}

#[test]
fn what_comes_without_room_is_no_news() {
    let (mut receiver, mut sender) = (Credit::default(), Credit::default());
    assert!(tell(&mut receiver, &mut sender, 0));
    receiver.arrive(1);
    assert!(!tell(&mut receiver, &mut sender, 0));
    assert!(tell(&mut receiver, &mut sender, 10));
}
