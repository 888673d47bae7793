//! Actions that break a rule of their instruction.

use super::{Bounds, Verifier};
use crate::nisa::instruction::{Form, Opcode, Type};
use goal_lang::{ANY, Datatype, Op};

const BOUNDS: Bounds<'_> =
    Bounds { version: 4, ranks: 4, memory: 64, scratch: 64, buffers: &[], actions: 1 };
const SUM: u32 = Op::Sum as u32 | (Datatype::Int32 as u32) << 8;
const COPY: u32 = Op::Copy as u32 | (Datatype::Int32 as u32) << 8;

/// The parameters of an action, word by word.
#[derive(Default)]
struct Words(Vec<u32>);

impl Words {
    fn word(mut self, word: u32) -> Self {
        self.0.push(word);
        self
    }

    fn buffer(self, addr: u32, size: u32) -> Self {
        self.word(addr).word(0).word(size).word(0)
    }
}

fn words() -> Words {
    Words::default()
}

/// Verifies an action without dependents, and returns what is wrong with it.
fn fault(opcode: u8, placed: bool, forms: [Form; 3], parameters: Words, bounds: Bounds) -> String {
    let kind = Type::new(Opcode::Nop, placed, false, forms).0 & !0xff | u16::from(opcode);
    let mut bytes = (u32::from(kind) << 16).to_le_bytes().to_vec();
    for word in parameters.word(0).0 {
        bytes.extend_from_slice(&word.to_le_bytes());
    }
    match Verifier::from_actions(&bytes, 0, bounds).parts(0) {
        Ok(parts) if parts.end == bytes.len() => String::new(),
        Ok(parts) => format!("it ends at {}", parts.end),
        Err(error) => error.to_string(),
    }
}

#[track_caller]
fn check(opcode: Opcode, forms: &[Form], parameters: Words, wanted: &str) {
    let mut all = [Form::Plain; 3];
    all[..forms.len()].copy_from_slice(forms);
    let found = fault(opcode as u8, false, all, parameters, BOUNDS);
    let is_wanted = if wanted.is_empty() { found.is_empty() } else { found.contains(wanted) };
    assert!(is_wanted, "{opcode:?}: {found:?}, not {wanted:?}");
}

#[test]
fn each_field_is_checked() {
    let pattern = |peer, tag| words().word(peer).word(tag).word(8).word(0);
    check(Opcode::Send, &[], pattern(3, 5), "");
    check(Opcode::Send, &[], pattern(4, 5), "there is no rank 4 among 4");
    check(Opcode::Send, &[], pattern(ANY, 5), "there is no rank");
    check(Opcode::Send, &[], pattern(3, ANY), "a send needs a tag");
    check(Opcode::Recv, &[], pattern(ANY, ANY), "");
    check(Opcode::Recv, &[], pattern(4, 5), "there is no rank 4 among 4");
    let marker = |to, tag| words().word(to).word(tag);
    check(Opcode::Marker, &[], marker(9_999_999, 5), "");
    check(Opcode::Marker, &[], marker(999_999_999, 5), "");
    check(Opcode::Marker, &[], marker(3, 5), "3 is no number of a marker");
    check(Opcode::Marker, &[], marker(9_999_999, ANY), "a send needs a tag");
    let many = Bounds { ranks: 10_000_000, ..BOUNDS };
    let code = Opcode::Marker as u8;
    let found = fault(code, false, [Form::Plain; 3], marker(9_999_999, 5), many);
    assert!(found.contains("9999999 is no number of a marker"), "{found}");
    let exec = |function| words().word(function).buffer(0, 8).buffer(8, 8);
    let both = [Form::Memory, Form::Scratch];
    check(Opcode::Exec, &both, exec(SUM), "");
    check(Opcode::Exec, &both, exec(COPY), "");
    check(Opcode::Exec, &both, exec(0), "there is no operation 0x0");
    check(Opcode::Exec, &both, exec(SUM | 1 << 16), "there is no operation");
    let reduced = |function| words().word(0).word(0).word(function).buffer(0, 8);
    check(Opcode::RecvReduce, &[Form::Memory], reduced(SUM), "");
    check(Opcode::RecvReduce, &[Form::Memory], reduced(COPY), "a copy combines nothing");
}

#[test]
fn each_operand_is_checked() {
    let time = |size| words().buffer(0, size);
    check(Opcode::Wtime, &[Form::Scratch], time(8), "");
    check(Opcode::Wtime, &[Form::Scratch], time(4), "the time takes 8 bytes");
    check(Opcode::Wtime, &[Form::Plain], words(), "operand 0 of this wtime has a form");
    check(Opcode::Nop, &[Form::Plain, Form::Memory], words(), "operand 1 of this nop has a form");
    let user = |count: u32| {
        let first = words().word(7).buffer(0, 8).word(count);
        (0..count).fold(first, |words, i| words.buffer(16 * i, 8).word(0))
    };
    check(Opcode::User, &[Form::Memory, Form::Vector], user(2), "");
    check(Opcode::User, &[Form::Memory, Form::Vector], user(1), "should be a plain buffer");
    check(Opcode::User, &[Form::Memory, Form::Vector], user(0), "a vector of 0 pieces");
    let outside = words().word(0).word(0).buffer(60, 8);
    check(Opcode::Send, &[Form::Memory], outside, "ends outside the 64 bytes of memory");
}

#[test]
fn operands_fit_their_operation() {
    let both = [Form::Memory, Form::Memory];
    let exec = |a, b, size| words().word(SUM).buffer(a, size).buffer(b, size);
    check(Opcode::Exec, &both, exec(0, 0, 8), "");
    check(Opcode::Exec, &both, exec(0, 4, 8), "overlap partly");
    check(Opcode::Exec, &both, exec(0, 8, 6), "no multiple of the element's width");
    let third = |function, c| words().word(function).buffer(0, 8).buffer(8, 8).buffer(c, 8);
    check(Opcode::Exec, &[Form::Memory; 3], third(SUM, 0), "");
    check(Opcode::Exec, &[Form::Memory; 3], third(SUM, 12), "overlap partly");
    check(Opcode::Exec, &[Form::Memory; 3], third(COPY, 16), "a copy has no third buffer");
    let received = |size| words().word(0).word(0).word(SUM).buffer(0, size);
    check(Opcode::RecvReduce, &[Form::Memory], received(6), "no multiple of the element's width");
    let sent = |b, size| words().word(0).word(0).word(SUM).buffer(0, 8).buffer(b, size);
    check(Opcode::ReduceSend, &both, sent(8, 8), "");
    check(Opcode::ReduceSend, &both, sent(8, 4), "differ in size");
    check(Opcode::ReduceSend, &both, sent(4, 8), "overlap partly");
    let mixed = words().word(SUM).buffer(0, 8).word(1).buffer(8, 8).word(0);
    check(Opcode::Exec, &[Form::Memory, Form::Vector], mixed, "all buffers of an operation");
}

#[test]
fn an_instruction_must_be_there_and_old_enough() {
    let plain = [Form::Plain; 3];
    assert!(fault(0, false, plain, words(), BOUNDS).contains("there is no instruction 0"));
    assert!(fault(200, false, plain, words(), BOUNDS).contains("there is no instruction 200"));
    let one = [Form::Memory, Form::Plain, Form::Plain];
    let reduced = words().word(0).word(0).word(SUM).buffer(0, 8);
    let old = fault(Opcode::RecvReduce as u8, false, one, reduced, Bounds { version: 1, ..BOUNDS });
    assert!(old.contains("a recv-reduce in format version 1"), "{old}");
    let calc = |placement| words().word(placement).word(9).word(0);
    // Cpu 1, and cpu 256.
    for placement in [1, 1 << 16] {
        assert_eq!(fault(Opcode::Calc as u8, true, plain, calc(placement), BOUNDS), "");
    }
    for (opcode, placement) in [(Opcode::Calc, 0), (Opcode::Calc, 1 << 24), (Opcode::Nop, 1)] {
        let found = fault(opcode as u8, true, plain, calc(placement), BOUNDS);
        assert!(found.contains("this placement is not allowed"), "{opcode:?}: {found}");
    }
}
