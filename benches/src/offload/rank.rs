//! One rank of a contestant.

use super::Operation;
use super::contestant::Contestant;
use super::rounds::{self, Case};
use super::way::{Setting, Way};
use clap::Args as ClapArgs;
use goal_esp::wire::Mac;
use std::io;
use std::net::Ipv4Addr;
use std::path::PathBuf;

/// `offload-rank`'s arguments.
#[derive(ClapArgs)]
pub(crate) struct Args {
    #[arg(long, value_enum)]
    by: Contestant,
    #[arg(long, value_enum)]
    operation: Operation,
    /// The number of the host, which is that of the rank
    #[arg(long)]
    rank: u32,
    #[arg(long)]
    bytes: u64,
    #[arg(long)]
    mtu: u32,
    #[arg(long)]
    rounds: u32,
    #[arg(long)]
    period: u64,
    /// The hosts' Ethernet addresses
    #[arg(long, value_delimiter = ',')]
    macs: Vec<String>,
    /// The hosts' IP addresses
    #[arg(long, value_delimiter = ',')]
    ips: Vec<Ipv4Addr>,
    /// The folder of the ranks' files
    #[arg(long)]
    folder: PathBuf,
}

pub(crate) fn run(args: &Args) -> io::Result<()> {
    let case = Case {
        operation: args.operation,
        bytes: args.bytes,
        rounds: args.rounds,
        period_us: args.period,
    };
    let macs: Option<Vec<Mac>> = args.macs.iter().map(|text| mac_of(text)).collect();
    let macs = macs.ok_or_else(|| io::Error::other("no Ethernet addresses"))?;
    let setting = Setting { rank: args.rank, macs: &macs, ips: &args.ips, mtu: args.mtu };
    let mut way = Way::open(args.by, &case, &setting)?;
    let place = (way.rank(args.rank), args.ips.len() as u32);
    rounds::run(&mut way, place, &case, &args.folder)?;
    way.close()
}

/// Reads an Ethernet address.
pub(crate) fn mac_of(text: &str) -> Option<Mac> {
    let bytes: Option<Vec<u8>> =
        text.split(':').map(|byte| u8::from_str_radix(byte, 16).ok()).collect();
    Some(Mac(bytes?.try_into().ok()?))
}
