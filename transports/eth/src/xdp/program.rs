//! The XDP program of an interface, which redirects frames to the sockets of ranks before the
//! kernel's network stack gets them. It is short, so it is written as instructions.

use goal_esp::wire::Mac;
use zerocopy::{Immutable, IntoBytes};

/// The number of receive queues of an interface, from queue 0 on, that can have the socket of a
/// rank.
pub(super) const QUEUES_MAX: u32 = 256;
/// The most ethertypes of a rank.
pub(super) const ETHERTYPES_MAX: usize = 3;

/// The fields of the frames that go to the socket of a queue, in network byte order as in a frame.
/// No field of a valid owner is 0.
#[derive(Debug, Clone, Copy, IntoBytes, Immutable)]
#[repr(C)]
pub(super) struct Owner {
    mac: [u8; 6],
    port: [u8; 2],
    ethertypes: [[u8; 2]; ETHERTYPES_MAX],
    zero: [u8; 2],
}

impl Owner {
    /// Returns the owner of a port, for 1 to [`ETHERTYPES_MAX`] ethertypes.
    pub(super) fn new(mac: Mac, port: u16, ethertypes: &[u16]) -> Self {
        let ethertypes =
            std::array::from_fn(|at| ethertypes.get(at).unwrap_or(&ethertypes[0]).to_be_bytes());
        Self { mac: mac.0, port: port.to_be_bytes(), ethertypes, zero: [0; 2] }
    }
}

/// `struct bpf_insn`.
#[derive(Debug, Clone, Copy, IntoBytes, Immutable)]
#[repr(C)]
pub(super) struct Instruction {
    code: u8,
    registers: u8,
    offset: i16,
    immediate: i32,
}

/// Opcodes, by the kernel's names. The suffix `X` stands for a register operand, `K` for a
/// constant.
const LDX_WORD: u8 = 0x61;
const LDX_HALF: u8 = 0x69;
const STX_WORD: u8 = 0x63;
const LD_MAP: u8 = 0x18;
const MOV_X: u8 = 0xbf;
const MOV_K: u8 = 0xb7;
const ADD_K: u8 = 0x07;
const JEQ_K: u8 = 0x15;
const JEQ_X: u8 = 0x1d;
const JNE_X: u8 = 0x5d;
const JGT_X: u8 = 0x2d;
const CALL: u8 = 0x85;
const EXIT: u8 = 0x95;
/// The source register of [`LD_MAP`] if its constant is a descriptor.
const MAP_FD: u8 = 1;

/// Numbers of the kernel's functions.
const MAP_LOOKUP: i32 = 1;
const REDIRECT_MAP: i32 = 51;
/// The result by which the program leaves the frame to the kernel's network stack.
const XDP_PASS: i32 = 2;

/// Registers: the result of functions, their arguments, two that functions preserve, the stack.
const R0: u8 = 0;
const R1: u8 = 1;
const R2: u8 = 2;
const R3: u8 = 3;
const CONTEXT: u8 = 6;
const FRAME: u8 = 7;
const STACK: u8 = 10;

/// Offsets of the members of `struct xdp_md`.
const DATA: i16 = 0;
const DATA_END: i16 = 4;
const QUEUE: i16 = 16;

/// Offsets in a frame and in [`Owner`] at which both must have the same 2 bytes.
const SAME: [(i16, i16); 4] = [(0, 0), (2, 2), (4, 4), (20, 6)];
const ETHERTYPE: i16 = 12;
const OWNER_ETHERTYPES: i16 = 8;
/// The least bytes of a frame that has all fields which the program compares.
const FRAME_LEN_MIN: i32 = 22;

/// The placeholder for the offset of a jump to the instructions that leave the frame to the kernel.
/// The target is not known at first.
const TO_PASS: i16 = i16::MAX;
/// The placeholder for the offset of a jump to the instructions that redirect the frame to a
/// socket.
const TO_TAKE: i16 = i16::MIN;

const fn step(code: u8, to: u8, from: u8, offset: i16, immediate: i32) -> Instruction {
    // The registers are two bit fields of 4 bits, whose order depends on the byte order.
    let registers = if cfg!(target_endian = "big") { to << 4 | from } else { from << 4 | to };
    Instruction { code, registers, offset, immediate }
}

/// Returns the program for a map of [`Owner`]s and one of sockets, both by queue. A frame with the
/// fields of its queue's owner goes to the queue's socket. All other frames go on to the kernel's
/// network stack, and so do frames whose socket is gone.
pub(super) fn program(owners: i32, sockets: i32) -> Vec<Instruction> {
    let mut program = vec![
        step(MOV_X, CONTEXT, R1, 0, 0),
        step(LDX_WORD, FRAME, CONTEXT, DATA, 0),
        step(LDX_WORD, R2, CONTEXT, DATA_END, 0),
        step(MOV_X, R1, FRAME, 0, 0),
        step(ADD_K, R1, 0, 0, FRAME_LEN_MIN),
        step(JGT_X, R1, R2, TO_PASS, 0),
        step(LDX_WORD, R1, CONTEXT, QUEUE, 0),
        step(STX_WORD, STACK, R1, -4, 0),
        step(MOV_X, R2, STACK, 0, 0),
        step(ADD_K, R2, 0, 0, -4),
        step(LD_MAP, R1, MAP_FD, 0, owners),
        step(0, 0, 0, 0, 0),
        step(CALL, 0, 0, 0, MAP_LOOKUP),
        step(JEQ_K, R0, 0, TO_PASS, 0),
    ];
    for (in_frame, in_owner) in SAME {
        program.extend([
            step(LDX_HALF, R1, FRAME, in_frame, 0),
            step(LDX_HALF, R2, R0, in_owner, 0),
            step(JNE_X, R1, R2, TO_PASS, 0),
        ]);
    }
    program.push(step(LDX_HALF, R1, FRAME, ETHERTYPE, 0));
    for number in 0..ETHERTYPES_MAX as i16 {
        program.extend([
            step(LDX_HALF, R2, R0, OWNER_ETHERTYPES + 2 * number, 0),
            step(JEQ_X, R1, R2, TO_TAKE, 0),
        ]);
    }
    let pass_at = program.len();
    program.extend([step(MOV_K, R0, 0, 0, XDP_PASS), step(EXIT, 0, 0, 0, 0)]);
    let take_at = program.len();
    program.extend([
        step(LDX_WORD, R2, CONTEXT, QUEUE, 0),
        step(LD_MAP, R1, MAP_FD, 0, sockets),
        step(0, 0, 0, 0, 0),
        step(MOV_K, R3, 0, 0, XDP_PASS),
        step(CALL, 0, 0, 0, REDIRECT_MAP),
        step(EXIT, 0, 0, 0, 0),
    ]);
    for (at, instruction) in program.iter_mut().enumerate() {
        let target = match instruction.offset {
            TO_PASS => pass_at,
            TO_TAKE => take_at,
            _ => continue,
        };
        instruction.offset = (target - (at + 1)) as i16;
    }
    program
}
