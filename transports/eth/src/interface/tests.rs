//! Tests of the interfaces that are refused.

use super::*;

fn interface(name: &str) -> Interface {
    Interface {
        name: name.to_owned(),
        index: 1,
        mac: Some(Mac([2, 0, 0, 0, 0, 1])),
        mtu: 1500,
        is_ethernet: true,
        is_up: true,
        has_carrier: true,
    }
}

#[test]
fn the_loopback_is_listed_and_refused() {
    let all = Interface::all().unwrap();
    // A network namespace always has it, but getifaddrs may be forbidden.
    let Some(loopback) = all.iter().find(|interface| interface.name == "lo") else {
        return goal_filetest::skipped("the system does not list the loopback");
    };
    assert!(loopback.mtu > 0);
    let refusal = Interface::among(&all, "lo").unwrap_err().to_string();
    assert!(refusal.contains("leads to this host only"), "{refusal}");
}

#[test]
fn refusals_say_what_to_do() {
    let up = interface("v0");
    let all = [
        up.clone(),
        Interface { is_up: false, ..interface("v1") },
        Interface { is_ethernet: false, mac: None, ..interface("ppp0") },
        Interface { mtu: 100, ..interface("v3") },
    ];
    assert_eq!(Interface::among(&all, "v0").unwrap(), up);
    let says = |name| Interface::among(&all, name).unwrap_err().to_string();
    assert_eq!(says("v1"), "v1 is down: ip link set v1 up");
    assert_eq!(says("ppp0"), "ppp0 is no interface of Ethernet");
    assert_eq!(says("v3"), "frames of v3 carry 100 bytes, ESP needs 306: ip link set v3 mtu 306");
    assert_eq!(says("v9"), "there is no interface v9; there are v0, v1, ppp0, v3");
    assert!(Interface::among(&[], "v0").unwrap_err().to_string().ends_with("there is none at all"));
}

#[test]
fn no_more_is_used_than_the_longest_packet() {
    let long = Interface { mtu: 65535, ..interface("v0") };
    assert_eq!(long.usable_mtu(), 9216 + Packet::<&[u8]>::HEADER_LEN_MAX);
    assert_eq!(interface("v0").usable_mtu(), 1500);
}
