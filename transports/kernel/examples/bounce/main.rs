//! Measures the time of a hop if the kernel answers each frame with one frame. The answer comes
//! from XDP in the driver, or from a classifier by one of its two functions that send. Two network
//! namespaces are joined by a wire. The engine uses the second of the two functions, because only
//! that one can send several frames for one.
//!
//! `taskset -c 1 cargo run --release -p goal-kernel --example bounce`; needs clang and root.
#![allow(missing_docs, unsafe_code)]

use aya::Ebpf;
use aya::maps::{Array, MapData};
use aya::programs::tc::TcAttachOptions;
use aya::programs::{LinkOrder, SchedClassifier, TcAttachType, Xdp, XdpMode};
use goal_cluster::{Cluster, Host, INTERFACE, Switch, Wiring};
use rustix::net::netdevice::name_to_index;
use rustix::net::{AddressFamily, SocketType, socket};
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

const ANSWERS: u64 = 200_000;
const LIMIT: Duration = Duration::from_secs(20);

fn main() {
    let wiring = Wiring { hosts: 2, mtu: 1500, switch: Switch::Wire };
    let Some(cluster) = Cluster::or_skip("bounce", &wiring) else { return };
    let source = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("examples/bounce/bounce.c");
    let object = std::env::temp_dir().join(format!("goal-bounce-{}.o", std::process::id()));
    let clang = Command::new("clang")
        .args(["-O2", "-g", "-target", "bpf", "-mcpu=v3", "-c"])
        .arg(&source)
        .arg("-o")
        .arg(&object)
        .status();
    assert!(clang.expect("clang is installed").success());
    for name in ["from_xdp", "by_redirect", "by_clone"] {
        for bytes in [64, 1024] {
            let ends: Vec<Ebpf> = cluster
                .hosts()
                .iter()
                .map(|host| host.call(|| attached(&object, name)).expect("the host is there"))
                .collect();
            send(&cluster.hosts()[0], cluster.hosts()[1].mac().0, bytes);
            let start = Instant::now();
            let counts = loop {
                let counts = counts(&ends[1]);
                if counts[0] >= ANSWERS {
                    break counts;
                }
                assert!(start.elapsed() < LIMIT, "{name}: the frame was lost at {}", counts[0]);
                std::thread::sleep(Duration::from_millis(5));
            };
            let hops = 2 * (ANSWERS - 1);
            let took = (counts[3] - counts[2]) as f64 / hops as f64;
            println!("{name}, {bytes} B: {took:.0} ns a hop");
        }
    }
    let _ = std::fs::remove_file(&object);
}

/// Loads the object and attaches one of its programs to the interface of this namespace.
fn attached(object: &PathBuf, name: &str) -> Ebpf {
    let mut ebpf = Ebpf::load_file(object).unwrap_or_else(|error| panic!("{error}"));
    let program = ebpf.program_mut(name).expect("the object has it");
    if name == "from_xdp" {
        let xdp: &mut Xdp = program.try_into().unwrap();
        xdp.load().unwrap();
        xdp.attach(INTERFACE, XdpMode::Driver).unwrap();
    } else {
        let classifier: &mut SchedClassifier = program.try_into().unwrap();
        classifier.load().unwrap();
        let options = TcAttachOptions::TcxOrder(LinkOrder::default());
        classifier.attach_with_options(INTERFACE, TcAttachType::Ingress, options).unwrap();
    }
    let mut map: Array<_, [u64; 4]> = Array::try_from(ebpf.map_mut("counts").unwrap()).unwrap();
    map.set(0, [0, ANSWERS, 0, 0], 0).unwrap();
    ebpf
}

fn counts(ebpf: &Ebpf) -> [u64; 4] {
    let map: Array<&MapData, [u64; 4]> = Array::try_from(ebpf.map("counts").unwrap()).unwrap();
    map.get(&0, 0).unwrap()
}

/// Sends one frame.
fn send(host: &Host, to: [u8; 6], bytes: usize) {
    let mut frame = to.to_vec();
    frame.extend(host.mac().0);
    frame.extend([0x88, 0xb7]);
    frame.resize(14 + bytes, 1);
    let sent = host.call(|| {
        let index =
            name_to_index(socket(AddressFamily::UNIX, SocketType::DGRAM, None)?, INTERFACE)?;
        let packet = socket(AddressFamily::PACKET, SocketType::RAW, None)?;
        // SAFETY: all zeros is a value of a structure of integers.
        let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
        address.sll_family = libc::AF_PACKET as u16;
        address.sll_ifindex = index as i32;
        // SAFETY: the kernel reads the frame and the address, which outlive the call.
        let sent = unsafe {
            libc::sendto(
                packet.as_raw_fd(),
                frame.as_ptr().cast(),
                frame.len(),
                0,
                (&raw const address).cast(),
                size_of::<libc::sockaddr_ll>() as u32,
            )
        };
        rustix::io::Result::Ok(sent)
    });
    assert_eq!(sent.unwrap().unwrap(), frame.len() as isize);
}
