//! Every operation on every type, and the error of a division by zero.

use crate::alone;
use crate::native::{Engine, Host};
use crate::network::Random;
use goal_interp::apply;
use goal_kernel::{Member, Plan};
use goal_lang::{Action, BodyBuilder, Datatype, Op, Placement, ProgramBuilder, Space};

const INTEGERS: [Datatype; 8] = [
    Datatype::Int8,
    Datatype::Int16,
    Datatype::Int32,
    Datatype::Int64,
    Datatype::UInt8,
    Datatype::UInt16,
    Datatype::UInt32,
    Datatype::UInt64,
];

/// A host whose one rank computes B = A op B on operands behind one another, from `start` on.
fn host(engine: Engine, op: Op, datatype: Datatype, start: u64, size: u64) -> (Host, Member) {
    let mut rank = BodyBuilder::default();
    rank.action(Action::Exec {
        op,
        datatype,
        spaces: [Space::Memory; 3],
        has_c: false,
        a: start,
        b: start + size,
        c: 0,
        size,
    });
    let mut program = ProgramBuilder::default();
    program.rank_with(rank.finish());
    let plan = Plan::of(&crate::nisa(&program.finish()), 64).unwrap();
    let mut installation = alone();
    let member = installation.add(&plan, &[0]).unwrap()[0].1;
    (Host::new(engine, &installation), member)
}

/// Bytes among which extreme values are frequent.
fn operand(random: &mut Random, datatype: Datatype, elements: u64) -> Vec<u8> {
    let width = datatype.width() as usize;
    let mut bytes = Vec::new();
    for _ in 0..elements {
        let value: u64 = match random.below(6) {
            0 => 0,
            1 => u64::MAX,
            2 => 1 << (8 * width - 1),
            3 => (1 << (8 * width - 1)) - 1,
            4 => random.below(5),
            _ => random.next(),
        };
        bytes.extend(&value.to_le_bytes()[..width]);
    }
    bytes
}

#[test]
fn every_operation_on_every_integer_is_the_interpreters() {
    let Some(engine) = Engine::or_skip("every_operation") else { return };
    let mut random = Random(1);
    let (mut computed, mut divisions) = (0, 0);
    for &op in Op::ALL {
        for datatype in INTEGERS {
            for elements in [1, 2, 7, 8, 31, 32, 33, 64, 65, 200] {
                let size = elements * datatype.width();
                let start = random.below(9);
                let (mut host, member) = host(engine, op, datatype, start, size);
                let a = operand(&mut random, datatype, elements);
                let b = operand(&mut random, datatype, elements);
                let memory = host.memory(&member);
                memory[start as usize..][..size as usize].copy_from_slice(&a);
                memory[(start + size) as usize..].copy_from_slice(&b);
                let (_, sent) = host.egress(&member.start(1));
                assert!(sent.is_empty());
                let status = host.status[member.part as usize];
                let place = format!("{op:?} {datatype:?} of {elements}");
                match apply(op, datatype, &a, &b) {
                    Ok(wanted) => {
                        assert_eq!((status.done, status.error), (1, 0), "{place}");
                        assert_eq!(
                            host.memory(&member)[(start + size) as usize..],
                            wanted,
                            "{place}"
                        );
                        computed += 1;
                    }
                    Err(error) => {
                        let found = (status.done, status.error, status.action, status.element);
                        assert_eq!(found, (0, 1, 0, error.0 as u32), "{place}");
                        divisions += 1;
                    }
                }
            }
        }
    }
    assert!(computed > 900 && divisions > 20, "{computed} computed, {divisions} divided by zero");
}

const FLOATS: [Datatype; 3] = [Datatype::Float16, Datatype::Float32, Datatype::Float64];

/// Bits of numbers among which zeros, subnormal numbers, infinities, NaN and numbers close to
/// `beside` are frequent.
fn float(random: &mut Random, datatype: Datatype, beside: Option<u64>) -> u64 {
    let (width, fraction) = match datatype {
        Datatype::Float16 => (16, 10),
        Datatype::Float32 => (32, 23),
        _ => (64, 52),
    };
    let sign = random.below(2) << (width - 1);
    let infinity = ((1u64 << (width - 1 - fraction)) - 1) << fraction;
    let magnitude = match (random.below(12), beside) {
        (0, _) => 0,
        (1, _) => infinity,
        (2, _) => infinity + 1 + random.below((1 << fraction) - 1),
        (3, _) => 1 + random.below(3),
        (4, _) => (1 << fraction) - 1 - random.below(3),
        (5, _) => infinity - 1 - random.below(3),
        (6, _) => random.below(1 << fraction),
        (7 | 8, Some(beside)) => (beside & !(1 << (width - 1))) ^ random.below(4),
        // The exponents differ by a little.
        (9 | 10, Some(beside)) => {
            let exponent = (beside & infinity) >> fraction;
            let least = exponent.saturating_sub(3);
            let near = (least + random.below(7)).min((infinity >> fraction) - 1);
            near << fraction | random.below(1 << fraction)
        }
        _ => random.next() & ((1 << (width - 1)) - 1),
    };
    sign | magnitude
}

#[test]
fn every_operation_on_every_float_is_the_interpreters() {
    let Some(engine) = Engine::or_skip("every_operation_on_floats") else { return };
    let mut random = Random(2);
    let rounds = 4 * std::env::var("GOAL_SEEDS").map_or(1, |seeds| seeds.parse::<u64>().unwrap());
    let mut computed = 0;
    for &op in Op::ALL.iter().filter(|op| !op.is_bitwise()) {
        for datatype in FLOATS {
            for elements in [1, 31, 33].into_iter().chain((0..rounds).map(|_| 4096)) {
                let width = datatype.width();
                let size = elements * width;
                let start = random.below(9);
                let (mut host, member) = host(engine, op, datatype, start, size);
                let (mut a, mut b) = (Vec::new(), Vec::new());
                for _ in 0..elements {
                    let x = float(&mut random, datatype, None);
                    let y = float(&mut random, datatype, Some(x));
                    a.extend(&x.to_le_bytes()[..width as usize]);
                    b.extend(&y.to_le_bytes()[..width as usize]);
                }
                let memory = host.memory(&member);
                memory[start as usize..][..size as usize].copy_from_slice(&a);
                memory[(start + size) as usize..].copy_from_slice(&b);
                host.egress(&member.start(1));
                let status = host.status[member.part as usize];
                assert_eq!((status.done, status.error), (1, 0), "{op:?} {datatype:?}");
                let wanted = apply(op, datatype, &a, &b).unwrap();
                let found = &host.memory(&member)[(start + size) as usize..];
                for (i, wanted) in wanted.chunks(width as usize).enumerate() {
                    let [a, b, found] =
                        [&a, &b, found].map(|bytes| &bytes[i * width as usize..][..width as usize]);
                    let place = format!("{op:?} {datatype:?} of {a:x?} and {b:x?}");
                    assert_eq!(found, wanted, "{place}");
                }
                computed += elements;
            }
        }
    }
    println!("{computed} operations on floats");
    assert!(computed > 100_000, "{computed}");
}

/// A process that gives an action back after another action has failed.
#[test]
fn nothing_goes_on_after_an_error() {
    let Some(engine) = Engine::or_skip("nothing_goes_on_after_an_error") else { return };
    let mut rank = BodyBuilder::default();
    rank.action(Action::Calc { nanos: 1, placement: Placement::default() });
    let (op, datatype, spaces) = (Op::Div, Datatype::Int32, [Space::Memory; 3]);
    rank.action(Action::Exec { op, datatype, spaces, has_c: false, a: 0, b: 4, c: 0, size: 4 });
    let mut program = ProgramBuilder::default();
    program.rank_with(rank.finish());
    let plan = Plan::of(&crate::nisa(&program.finish()), 64).unwrap();
    let mut installation = alone();
    let member = installation.add(&plan, &[0]).unwrap()[0].1;
    let mut host = Host::new(engine, &installation);
    host.egress(&member.start(1));
    assert_eq!((host.status[0].error, host.status[0].handed), (1, 1));
    let before = host.everything();
    assert!(host.egress(&member.give_back(1, 0)).1.is_empty());
    assert!(before == host.everything(), "the action goes on");
}
