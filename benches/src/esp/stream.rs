//! Messages of a rank over ESP, as an engine hands them over: eager ones, and longer ones in parts.

use super::way::{Patience, Way};
use goal_cluster::INTERFACE;
use goal_engine::transport::{Header, Kind, Transport};
use goal_esp::auth::{Address, JobKey};
use goal_esp::endpoint::Config;
use goal_esp::wire::{ETHERTYPE_ESP, Mac};
use goal_eth::{Driver, EspTransport, Packet, now_ns};
use std::collections::VecDeque;
use std::io;
use std::ops::ControlFlow;

/// Bytes of short messages that are taken at a time.
const BYTES_MAX: usize = 4096;

/// Bytes of messages without a receive that a rank keeps, as an engine has it.
const ROOM: u64 = 64 << 20;

/// The end of one of two ranks.
pub(super) struct Stream {
    esp: EspTransport<Packet>,
    rank: u32,
    spins: bool,
    /// Bytes of messages that came together with the expected one.
    spare: VecDeque<u8>,
}

impl Stream {
    pub(super) fn open(
        rank: u32,
        addresses: [(Mac, u16); 2],
        spins: bool,
        authenticates_data: bool,
    ) -> io::Result<Self> {
        let addresses = addresses.map(|(mac, port)| Address { mac, port });
        let own = addresses[rank as usize];
        let driver =
            Packet::open(INTERFACE, &[ETHERTYPE_ESP], Some(own.port)).map_err(io::Error::other)?;
        let payload_max = Config::payload_max_of(driver.mtu())
            .ok_or_else(|| io::Error::other("frames too short for ESP"))?;
        let mut config = Config::new(own, JobKey::new(&[7; 32]), payload_max);
        config.authenticates_data = authenticates_data;
        let seed = [rank as u8; 32];
        let mut esp: EspTransport<Packet> =
            EspTransport::new(rank, addresses.to_vec(), config, seed, driver, now_ns);
        esp.announce_room(ROOM, ROOM);
        Ok(Self { esp, rank, spins, spare: VecDeque::new() })
    }

    /// Sends and receives frames and hands messages to `sink`. Waits if nothing comes.
    fn poll(
        &mut self,
        patience: &mut Patience,
        messages_max: usize,
        mut sink: impl FnMut(&[u8], &mut VecDeque<u8>),
    ) -> io::Result<()> {
        let Self { esp, spare, .. } = self;
        if esp.poll(messages_max, |_, payload| {
            sink(payload, spare);
            ControlFlow::Continue(())
        }) > 0
        {
            *patience = Patience::new();
            return Ok(());
        }
        if !self.spins && self.esp.exchange_frames() { Ok(()) } else { self.rest(patience) }
    }

    /// Sleeps until a frame comes, if this end waits asleep.
    fn rest(&mut self, patience: &mut Patience) -> io::Result<()> {
        if let Some((_, lost)) = self.esp.lost() {
            return Err(io::Error::other(lost));
        }
        patience.check()?;
        if !self.spins {
            self.esp.wait();
        }
        Ok(())
    }
}

impl Way for Stream {
    fn send(&mut self, message: &[u8]) -> io::Result<()> {
        let to = 1 - self.rank;
        let part_max = self.esp.payload_max(to);
        let mut header = Header { source: self.rank, ..Header::default() };
        header.kind = if message.len() > part_max { Kind::Data } else { Kind::Eager } as u8;
        for part in message.chunks(part_max) {
            header.size = part.len() as u64;
            let mut patience = Patience::new();
            let send = |esp: &mut EspTransport<_>| {
                esp.try_send(to, &header, |out| out.copy_from_slice(part))
            };
            while send(&mut self.esp).is_err() {
                // Grants of the other end come among its messages.
                let Self { esp, spare, .. } = self;
                esp.poll(1, |_, payload| {
                    spare.extend(payload);
                    ControlFlow::Continue(())
                });
                if send(&mut self.esp).is_ok() {
                    break;
                }
                self.rest(&mut patience)?;
            }
            header.offset += header.size;
        }
        self.esp.poll(0, |_, _| ControlFlow::Continue(()));
        Ok(())
    }

    fn tend(&mut self) {
        self.esp.exchange_frames();
    }

    fn receive(&mut self, message: &mut [u8]) -> io::Result<()> {
        let mut done = self.spare.len().min(message.len());
        for (byte, spare) in message.iter_mut().zip(self.spare.drain(..done)) {
            *byte = spare;
        }
        let mut patience = Patience::new();
        while done < message.len() {
            let messages_max = (BYTES_MAX / message.len()).max(1);
            self.poll(&mut patience, messages_max, |payload, spare| {
                let (here, later) = payload.split_at(payload.len().min(message.len() - done));
                message[done..][..here.len()].copy_from_slice(here);
                done += here.len();
                spare.extend(later);
            })?;
        }
        Ok(())
    }
}
