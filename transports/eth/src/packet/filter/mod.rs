//! The filter of a socket: a program of the classic packet filter (cBPF) that the kernel runs on
//! each frame.

#[cfg(test)]
mod tests;

use goal_esp::wire::Mac;
use libc::sock_filter;

/// Offsets of fields in a frame. The destination port has the same offset in ESP and in EDP.
const DESTINATION: u32 = 0;
const ETHERTYPE: u32 = 12;
pub(super) const PORT: u32 = 20;
/// The length of Ethernet's header.
pub(super) const ETHERNET_LEN: u32 = 14;

/// The instructions `ld [k]`, `ldh [k]`, `jeq #k`, `jgt #k`, `jge #k`, `add #k`, `ret #k`, `ret a`.
const LOAD_WORD: u32 = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
pub(super) const LOAD_HALF: u32 = libc::BPF_LD | libc::BPF_H | libc::BPF_ABS;
const IF_EQUAL: u32 = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
const IF_GREATER: u32 = libc::BPF_JMP | libc::BPF_JGT | libc::BPF_K;
const IF_NOT_LESS: u32 = libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K;
pub(super) const ADD: u32 = libc::BPF_ALU | libc::BPF_ADD | libc::BPF_K;
pub(super) const RETURN: u32 = libc::BPF_RET | libc::BPF_K;
pub(super) const RETURN_LOADED: u32 = libc::BPF_RET | libc::BPF_A;

/// Returns an instruction that is no jump.
pub(super) const fn step(code: u32, k: u32) -> sock_filter {
    sock_filter { code: code as u16, jt: 0, jf: 0, k }
}

/// Returns an instruction that skips `on` instructions if the loaded value is `k`, and `off`
/// instructions if not.
const fn if_equal(k: u32, on: usize, off: usize) -> sock_filter {
    sock_filter { code: IF_EQUAL as u16, jt: on as u8, jf: off as u8, k }
}

/// Returns an instruction that skips `on` instructions if the loaded value is greater than `k`, and
/// `off` instructions if not.
pub(super) const fn if_greater(k: u16, on: u8, off: u8) -> sock_filter {
    sock_filter { code: IF_GREATER as u16, jt: on, jf: off, k: k as u32 }
}

/// Returns an instruction that skips `on` instructions if the loaded value is less than `k`, and
/// `off` instructions if not.
pub(super) const fn if_less(k: u16, on: u8, off: u8) -> sock_filter {
    sock_filter { code: IF_NOT_LESS as u16, jt: off, jf: on, k: k as u32 }
}

/// Returns the program that accepts frames to `mac` or to all interfaces, of one of the ethertypes,
/// and to `port` or to all ports (0). A frame that is too short for these fields is refused.
pub(super) fn program(mac: Mac, ethertypes: &[u16], port: u16) -> Vec<sock_filter> {
    let [a, b, c, d, e, f] = mac.0;
    let (word, half) = (u32::from_be_bytes([a, b, c, d]), u16::from_be_bytes([e, f]));
    // Positions of instructions, counted behind the instructions on ethertypes. A jump counts from
    // the next instruction.
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
