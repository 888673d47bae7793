//! Which frames a socket gets: a program of the classic packet filter, which the kernel runs on
//! each.

#[cfg(test)]
mod tests;

use goal_esp::wire::Mac;
use libc::sock_filter;

/// Where the kernel finds them in a frame; ESP and EDP have their destination port in the same
/// place.
const DESTINATION: u32 = 0;
const ETHERTYPE: u32 = 12;
const PORT: u32 = 20;

/// `ld [k]`, `ldh [k]`, `jeq #k`, `ret #k`.
const LOAD_WORD: u32 = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
const LOAD_HALF: u32 = libc::BPF_LD | libc::BPF_H | libc::BPF_ABS;
const IF_EQUAL: u32 = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
const RETURN: u32 = libc::BPF_RET | libc::BPF_K;

const fn step(code: u32, k: u32) -> sock_filter {
    sock_filter { code: code as u16, jt: 0, jf: 0, k }
}

/// Skips `on` steps where the value is `k`, and `off` steps where it is not.
const fn if_equal(k: u32, on: usize, off: usize) -> sock_filter {
    sock_filter { code: IF_EQUAL as u16, jt: on as u8, jf: off as u8, k }
}

/// Lets pass what is for `mac` or all interfaces, has one of the ethertypes, and is for `port` or
/// all ports (0). What is too short to have these fields does not pass.
pub(super) fn program(mac: Mac, ethertypes: &[u16], port: u16) -> Vec<sock_filter> {
    let [a, b, c, d, e, f] = mac.0;
    let (word, half) = (u32::from_be_bytes([a, b, c, d]), u16::from_be_bytes([e, f]));
    // The numbers of steps behind the ethertypes; a jump counts from the step behind it.
    const LEN: usize = 12;
    const PORT_AT: usize = 7;
    const ACCEPT: usize = 10;
    const REFUSE: usize = 11;
    let rest: [sock_filter; LEN] = [
        step(LOAD_WORD, DESTINATION),
        if_equal(word, 0, 2),
        step(LOAD_HALF, DESTINATION + 4),
        if_equal(half.into(), PORT_AT - 4, REFUSE - 4),
        if_equal(u32::MAX, 0, REFUSE - 5),
        step(LOAD_HALF, DESTINATION + 4),
        if_equal(u16::MAX.into(), 0, REFUSE - 7),
        step(LOAD_HALF, PORT),
        if_equal(port.into(), ACCEPT - 9, 0),
        if_equal(0, 0, REFUSE - 10),
        step(RETURN, u32::MAX),
        step(RETURN, 0),
    ];
    let mut program = vec![step(LOAD_HALF, ETHERTYPE)];
    for (at, &ethertype) in ethertypes.iter().enumerate() {
        let left = ethertypes.len() - 1 - at;
        program.push(if_equal(ethertype.into(), left, if left == 0 { REFUSE } else { 0 }));
    }
    program.extend(rest);
    program
}
