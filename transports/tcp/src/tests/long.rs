//! Tests long messages: payloads that are sent and received in place, and peers that send forbidden
//! parts of messages.

use super::{V4, exchange, fabrics, now_ns, patience_ns};
use crate::TcpFabric;
use crate::limits::PART_MAX;
use crate::wire::Item;
use goal_engine::testing::{Rank, nisa, program};
use goal_engine::transport::{Full, Header, Kind, Sink, Transport};
use goal_engine::{Cause, Fault, Options};
use goal_fabric::{Fabric, translate};
use std::collections::VecDeque;
use std::ops::ControlFlow;

/// The patience of a test, in seconds.
const LIMIT: u64 = 20;

/// The receive of a long message, as an engine lends its memory, and the other messages that came.
struct Receive {
    memory: Vec<u8>,
    arrived: usize,
    /// The bytes that arrived in the memory itself.
    placed: usize,
    /// The other messages, each with the bytes that had arrived before it.
    others: Vec<(Header, usize)>,
}

impl Receive {
    fn new(len: usize) -> Self {
        Self { memory: vec![0; len], arrived: 0, placed: 0, others: vec![] }
    }
}

impl Sink for Receive {
    fn take(&mut self, header: &Header, payload: &[u8]) -> ControlFlow<()> {
        if header.kind() != Kind::Part {
            self.others.push((*header, self.arrived));
        }
        self.memory[self.arrived..self.arrived + payload.len()].copy_from_slice(payload);
        self.arrived += payload.len();
        ControlFlow::Continue(())
    }

    fn place(
        &mut self,
        header: &Header,
        receive: &mut dyn FnMut(&mut [u8]) -> usize,
    ) -> Option<ControlFlow<()>> {
        let written = receive(&mut self.memory[self.arrived..self.arrived + header.payload_len()]);
        self.arrived += written;
        self.placed += written;
        Some(ControlFlow::Continue(()))
    }
}

fn part(len: usize) -> Header {
    Header { size: len as u64, ..Header::new(Kind::Part, 0) }
}

#[test]
fn a_payload_may_change_once_it_was_sent() {
    let mut ends = fabrics(2, V4, 0);
    assert!(exchange(&mut ends));
    let mut random = fastrand::Rng::with_seed(7);
    let (mut sent, mut payload) = (vec![], vec![0; PART_MAX]);
    // Nobody reads, so the system takes no more after a while, and then only a piece of a part.
    loop {
        random.fill(&mut payload);
        match ends[0].try_send_zcopy(1, &part(PART_MAX), &payload) {
            Ok(()) => sent.extend_from_slice(&payload),
            Err(Full) => break,
        }
        assert!(sent.len() < 1 << 30, "the system takes everything");
    }
    ends[0].try_send(1, &Header::new(Kind::Fin, 0), |_| {}).unwrap();
    let mut receive = Receive::new(sent.len());
    let since_ns = now_ns();
    while receive.others.is_empty() {
        assert!(now_ns() - since_ns < patience_ns(LIMIT), "{} bytes came", receive.arrived);
        ends[0].poll(8, |_, _| ControlFlow::Continue(()));
        ends[1].poll_into(8, &mut receive);
    }
    assert_eq!(receive.others, [(Header::new(Kind::Fin, 0), sent.len())]);
    assert!(receive.memory == sent, "other bytes came than were sent");
    assert!(receive.placed > sent.len() / 2, "{} of {}", receive.placed, sent.len());
    assert_eq!(ends[0].try_send_zcopy(1, &part(PART_MAX), &payload), Ok(()), "there is room again");
}

#[test]
fn a_payload_that_breaks_off_is_written_as_far_as_it_came() {
    let mut ends = fabrics(2, V4, 0);
    assert!(exchange(&mut ends));
    let connection = ends[0].connections[1].as_mut().unwrap();
    let item = Item::Chunk(translate::chunk(&part(PART_MAX), 1));
    let mut bytes = vec![1; item.header_len() + 30_000];
    item.emit(&mut bytes);
    assert_eq!(connection.channel.send(&bytes), Ok(bytes.len()));
    let taken = ends[1].exchanged().taken;
    let mut receive = Receive::new(PART_MAX);
    let since_ns = now_ns();
    while receive.arrived < 30_000 {
        assert!(now_ns() - since_ns < patience_ns(LIMIT), "{} bytes came", receive.arrived);
        ends[1].poll_into(8, &mut receive);
    }
    assert!(receive.placed > 0);
    // Ends the stream, as the system does when a process is killed.
    let socket = ends[0].connections[1].as_ref().unwrap().channel.socket();
    rustix::net::shutdown(socket, rustix::net::Shutdown::Write).unwrap();
    while ends[1].connections() > 0 {
        assert!(now_ns() - since_ns < patience_ns(LIMIT), "nobody notices");
        ends[1].poll_into(8, &mut receive);
    }
    assert_eq!(ends[1].exchanged().taken, taken, "the part is not complete");
    assert_eq!(receive.arrived, 30_000);
    assert!(receive.memory[..30_000].iter().all(|&byte| byte == 1));
    assert!(receive.memory[30_000..].iter().all(|&byte| byte == 0));
}

/// Lets ranks 0 and 2 send messages to rank 1, which receives 100,000 bytes from rank 0. Answers
/// are awaited before parts of a message that was announced. Returns the fault that rank 1 finds.
fn fault(messages: &[Header]) -> Fault {
    let mut ends = fabrics(3, V4, 0);
    let program =
        program("rank 0 { send 0,100000 to 1 }  rank 1 { recv 0,100000 from 0 }  rank 2 { }");
    let tcp = ends.remove(1);
    let Rank { mut engine, .. } = Rank::start(&nisa(&program), 1, tcp, Options::default());
    let mut left: VecDeque<Header> = messages.iter().copied().collect();
    let is_announced = messages.iter().any(|header| header.kind() == Kind::Rts);
    let (bytes, mut is_asked, since_ns) = ([3; PART_MAX], false, now_ns());
    loop {
        assert!(now_ns() - since_ns < patience_ns(LIMIT), "it is not refused: {messages:?}");
        if let Some(header) = left.front()
            && (header.kind() != Kind::Data || !is_announced || is_asked)
        {
            let end: &mut TcpFabric = &mut ends[header.source as usize / 2];
            let payload = &bytes[..header.payload_len()];
            if end.try_send_zcopy(1, header, payload).is_ok() {
                left.pop_front();
            }
        }
        for end in &mut ends {
            end.poll(8, |header, _| {
                is_asked |= header.kind() == Kind::Cts;
                ControlFlow::Continue(())
            });
        }
        match engine.poll(now_ns()) {
            Ok(_) => {}
            Err(failure) => match failure.cause {
                Cause::Foreign { source_rank, fault } => {
                    assert_eq!(source_rank, messages.last().unwrap().source);
                    return fault;
                }
                other => panic!("{other}"),
            },
        }
    }
}

#[test]
fn parts_that_belong_to_no_receive_are_refused() {
    let long = Header { size: 100_000, ..Header::new(Kind::Long, 0) };
    let request = Header { size: 100_000, cookie: 5, ..Header::new(Kind::Rts, 0) };
    let data = |offset: u64, size: usize| Header {
        size: size as u64,
        offset,
        ..Header::new(Kind::Data, 0)
    };
    let too_long = Fault::TooLong { end: 2 * PART_MAX as u64, size: 100_000 };
    // Without the message.
    assert_eq!(fault(&[part(PART_MAX)]), Fault::Part);
    assert_eq!(fault(&[Header { cookie: 3, ..data(0, PART_MAX) }]), Fault::Data(3));
    // Beyond the end.
    assert_eq!(fault(&[long, part(PART_MAX), part(PART_MAX)]), too_long);
    assert_eq!(fault(&[request, data(0, PART_MAX), data(PART_MAX as u64, PART_MAX)]), too_long);
    // Elsewhere in the message.
    let place = Fault::Place { offset: 8, arrived: 0 };
    assert_eq!(fault(&[request, data(8, PART_MAX)]), place);
    // After the end.
    let (first, last) = (data(0, PART_MAX), data(PART_MAX as u64, 100_000 - PART_MAX));
    assert_eq!(fault(&[request, first, last, data(0, PART_MAX)]), Fault::Data(0));
    assert_eq!(fault(&[long, part(PART_MAX), part(100_000 - PART_MAX), part(8)]), Fault::Part);
    // From another rank than the message.
    let foreign = Header { source: 2, ..first };
    assert_eq!(fault(&[request, foreign]), Fault::Data(0));
    assert_eq!(fault(&[long, Header { source: 2, ..part(PART_MAX) }]), Fault::Part);
}
