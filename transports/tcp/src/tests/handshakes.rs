//! Both ends of a handshake have the key, and every change of a byte is noticed.

use crate::handshake::{Accepting, Connecting, Ends, HandshakeError, Key, check_knock};

const ENDS: Ends = Ends { from: 3, to: 8 };

fn keys() -> [Key; 2] {
    [Key::new(&[1; 32]), Key::new(&[2; 32])]
}

#[test]
fn both_ends_prove_the_key() {
    let [key, other] = keys();
    let connecting = Connecting::new(ENDS, [5; 16]);
    let hello = connecting.hello(&key, b"channel");
    let accepting = Accepting::new(&key, b"channel", &hello, [6; 16]).unwrap();
    assert_eq!(accepting.ends(), ENDS);
    let welcome = accepting.welcome(&key, b"channel");
    let confirm = connecting.confirm(&key, b"channel", &welcome).unwrap();
    assert_eq!(accepting.confirmed(&key, b"channel", &confirm), Ok(()));

    assert_eq!(
        Accepting::new(&other, b"channel", &hello, [6; 16]).unwrap_err(),
        HandshakeError::Key
    );
    assert_eq!(connecting.confirm(&other, b"channel", &welcome).unwrap_err(), HandshakeError::Key);
    assert_eq!(accepting.confirmed(&other, b"channel", &confirm), Err(HandshakeError::Key));
    // Somebody in between has another channel on each side.
    assert_eq!(Accepting::new(&key, b"other", &hello, [6; 16]).unwrap_err(), HandshakeError::Key);
    assert_eq!(connecting.confirm(&key, b"other", &welcome).unwrap_err(), HandshakeError::Key);
}

#[test]
fn a_changed_byte_is_noticed() {
    let [key, _] = keys();
    let connecting = Connecting::new(ENDS, [5; 16]);
    let hello = connecting.hello(&key, &[]);
    let accepting = Accepting::new(&key, &[], &hello, [6; 16]).unwrap();
    let welcome = accepting.welcome(&key, &[]);
    let confirm = connecting.confirm(&key, &[], &welcome).unwrap();
    for at in 0..hello.len() {
        let mut hello = hello;
        hello[at] ^= 1;
        assert!(Accepting::new(&key, &[], &hello, [6; 16]).is_err(), "byte {at} of the hello");
    }
    for at in 0..welcome.len() {
        let mut welcome = welcome;
        welcome[at] ^= 1;
        assert!(connecting.confirm(&key, &[], &welcome).is_err(), "byte {at} of the welcome");
    }
    for at in 0..confirm.len() {
        let mut confirm = confirm;
        confirm[at] ^= 1;
        assert!(accepting.confirmed(&key, &[], &confirm).is_err(), "byte {at} of the confirm");
    }
}

#[test]
fn a_recording_gets_no_further_than_the_welcome() {
    let [key, _] = keys();
    let connecting = Connecting::new(ENDS, [5; 16]);
    let hello = connecting.hello(&key, &[]);
    let first = Accepting::new(&key, &[], &hello, [6; 16]).unwrap();
    let confirm = connecting.confirm(&key, &[], &first.welcome(&key, &[])).unwrap();
    let second = Accepting::new(&key, &[], &hello, [7; 16]).unwrap();
    assert_eq!(second.confirmed(&key, &[], &confirm), Err(HandshakeError::Key));
    // The tag of one step is wrong in another: a peer can't prove the key by its own bytes.
    assert_eq!(
        second.confirmed(&key, &[], &hello[32..].try_into().unwrap()),
        Err(HandshakeError::Key)
    );
}

#[test]
fn a_knock_shows_the_key_and_is_no_hello() {
    let [key, other] = keys();
    let connecting = Connecting::new(ENDS, [5; 16]);
    let (knock, hello) = (connecting.knock(&key), connecting.hello(&key, &[]));
    assert_eq!(check_knock(&key, &knock), Ok(()));
    assert_eq!(check_knock(&other, &knock), Err(HandshakeError::Key));
    assert_eq!(check_knock(&key, &hello), Err(HandshakeError::Encryption));
    assert_eq!(Accepting::new(&key, &[], &knock, [6; 16]).unwrap_err(), HandshakeError::Encryption);
    // Its tag is not that of a hello.
    let mut forged = knock;
    forged[..8].copy_from_slice(&hello[..8]);
    assert_eq!(Accepting::new(&key, &[], &forged, [6; 16]).unwrap_err(), HandshakeError::Key);
    for at in 0..knock.len() {
        let mut knock = knock;
        knock[at] ^= 1;
        assert!(check_knock(&key, &knock).is_err(), "byte {at} of the knock");
    }
}
