//! Tests `goal-run ping`, `answer` and `info` on hosts of a test bench.

use crate::common::{Ended, GOAL_RUN};
use goal_cluster::{Cluster, Host, INTERFACE, Wiring};
use goal_filetest::timeout;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdout, Stdio};

fn run(host: &Host, arguments: &[&str]) -> Ended {
    Ended::from_output(host.command(GOAL_RUN).args(arguments).output().unwrap())
}

/// Starts to answer; what it says first, and the rest of its output.
fn answer(host: &Host, arguments: &[&str]) -> (Child, String, BufReader<ChildStdout>) {
    let mut command = host.command(GOAL_RUN);
    command.args(["answer", "--interface", INTERFACE, "--timeout", &timeout(60)]).args(arguments);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    (child, line, out)
}

fn ping(host: &Host, to: &Host, timeout: &str, arguments: &[&str]) -> Ended {
    let mac = to.mac().to_string();
    let all = ["ping", &mac, "--interface", INTERFACE, "--interval", "0", "--timeout", timeout];
    run(host, &[&all, arguments].concat())
}

#[test]
fn an_answer_is_measured() {
    let Some(cluster) = Cluster::or_skip("ping", &Wiring::bridge(2)) else { return };
    let [a, b] = cluster.hosts() else { panic!("two hosts") };
    let (mut child, says, mut rest) = answer(b, &["--port", "9"]);
    assert_eq!(says, format!("{} answers echoes at port 9 of v0, 1500 bytes a frame\n", b.mac()));
    for wait in ["spin", "adaptive", "block"] {
        let ended = ping(a, b, &timeout(10), &["--wait", wait, "--count", "3", "--size", "1484"]);
        ended.assert_status(0);
        let last = ended.out.lines().last().unwrap();
        assert!(last.starts_with("3 sent, 3 answered; least "), "{last}");
    }
    let ended = ping(a, b, &timeout(10), &["--port", "9", "--count", "4", "--format", "json"]);
    let json = ended.json();
    ended.assert_status(0);
    assert_eq!(
        (&json["sent"], &json["answered"], &json["port"]),
        (&4.into(), &4.into(), &9.into())
    );
    assert_eq!(
        (json["to"].as_str(), json["mac"].as_str()),
        (Some(&*b.mac().to_string()), Some(&*a.mac().to_string()))
    );
    let least_ns = json["least_ns"].as_u64().unwrap();
    let all_ns: Vec<u64> =
        json["round_trips_ns"].as_array().unwrap().iter().map(|ns| ns.as_u64().unwrap()).collect();
    assert_eq!((all_ns.len(), all_ns.iter().min()), (4, Some(&least_ns)));
    // It is told to end, and says what it did.
    let process = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(process, rustix::process::Signal::TERM).unwrap();
    let mut text = String::new();
    rest.read_to_string(&mut text).unwrap();
    assert_eq!(text, "13 echoes answered\n");
    assert_eq!(child.wait().unwrap().code(), Some(128 + libc::SIGTERM));
}

#[test]
fn xdp_carries_echoes_where_it_can_be_had() {
    let Some(cluster) = Cluster::or_skip("ping by XDP", &Wiring::bridge(2)) else { return };
    let [a, b] = cluster.hosts() else { panic!("two hosts") };
    let (mut child, _, mut rest) =
        answer(b, &["--port", "9", "--driver", "xdp", "--format", "json"]);
    for port in ["0", "9"] {
        let options = [
            "--port", port, "--count", "3", "--driver", "xdp", "--size", "1484", "--format", "json",
        ];
        let ended = ping(a, b, &timeout(10), &options);
        ended.assert_status(0);
        assert_eq!(
            (&ended.json()["answered"], &ended.json()["driver"]),
            (&3.into(), &"xdp".into())
        );
    }
    // The interface has one queue, which has its socket.
    let ended = run(
        b,
        &[
            "answer",
            "--interface",
            INTERFACE,
            "--timeout",
            "0.1",
            "--driver",
            "xdp",
            "--format",
            "json",
        ],
    );
    ended.assert_status(0);
    ended.assert_says(&[
        "goal-run: by packet sockets: each receive queue of v0 has its socket of XDP",
    ]);
    assert!(ended.out.contains("\"driver\":\"packet\""), "{ended:?}");
    child.kill().unwrap();
    child.wait().unwrap();
    rest.read_to_string(&mut String::new()).unwrap();
}

#[test]
fn who_is_silent_is_told() {
    let Some(cluster) = Cluster::or_skip("silence", &Wiring::bridge(2)) else { return };
    let [a, b] = cluster.hosts() else { panic!("two hosts") };
    let ended = ping(a, b, "0.05", &["--count", "2"]);
    ended.assert_status(1);
    assert!(ended.out.contains("echo 2 of 56 bytes: no answer\n"), "{ended:?}");
    assert!(
        ended
            .out
            .ends_with("2 sent, 0 answered: is goal-run answer --interface NAME running there?\n")
    );
    // Another port than the one that is asked.
    let (mut child, ..) = answer(b, &["--port", "9"]);
    ping(a, b, "0.05", &["--count", "1", "--port", "8"]).assert_status(1);
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn mistakes_are_told() {
    let Some(cluster) = Cluster::or_skip("mistakes", &Wiring::bridge(1)) else { return };
    let host = &cluster.hosts()[0];
    let mac = host.mac().to_string();
    let cases: [(&[&str], &str); 7] = [
        (&["ping", &mac, "--interface", "v9"], "there is no interface v9; there are lo, v0"),
        (&["ping", &mac, "--interface", "lo"], "lo leads to this host only"),
        (&["ping", &mac, "--interface", "v0", "--size", "1485"], "frames of v0 have room for 1484"),
        (&["ping", "ff:ff:ff:ff:ff:ff", "--interface", "v0"], "the address of one interface"),
        (&["ping", "2:0:0:0:0:1", "--interface", "v0"], "such as 02:00:00:00:00:01"),
        (&["answer", "--interface", "v0", "--port", "0"], "0 is not in 1..=65535"),
        (&["answer"], "--interface <NAME>"),
    ];
    for (arguments, says) in cases {
        let ended = run(host, arguments);
        ended.assert_status(2);
        ended.assert_says(&[says]);
    }
    let (mut child, ..) = answer(host, &["--port", "9"]);
    let ended = run(host, &["answer", "--interface", "v0", "--port", "9"]);
    ended.assert_status(2);
    ended.assert_says(&["port 9 of v0 is taken"]);
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn without_the_right_it_is_said_how_to_get_it() {
    let Some(cluster) = Cluster::or_skip("rights", &Wiring::bridge(1)) else { return };
    let host = &cluster.hosts()[0];
    let mac = host.mac().to_string();
    let without = ["--bounding-set=-net_raw", "--inh-caps=-net_raw", GOAL_RUN];
    let run = |arguments: &[&str]| {
        Ended::from_output(host.command("setpriv").args(without).args(arguments).output().unwrap())
    };
    let ended = run(&["ping", &mac, "--interface", "v0"]);
    ended.assert_status(2);
    ended.assert_says(&["raw frames need the right CAP_NET_RAW", "setcap cap_net_raw=ep"]);
    // Without the further rights of XDP, packet sockets are used, and a line says so.
    let without_xdp = [
        "--bounding-set=-net_admin,-bpf,-sys_admin",
        "--inh-caps=-net_admin,-bpf,-sys_admin",
        GOAL_RUN,
    ];
    let run_without_xdp = |arguments: &[&str]| {
        Ended::from_output(
            host.command("setpriv").args(without_xdp).args(arguments).output().unwrap(),
        )
    };
    let ended =
        run_without_xdp(&["answer", "--interface", "v0", "--timeout", "0.1", "--driver", "xdp"]);
    ended.assert_status(0);
    ended.assert_says(&[
        "by packet sockets: XDP needs the rights CAP_NET_ADMIN, CAP_BPF",
        "setcap cap_net_raw,cap_net_admin,",
    ]);
    let interfaces = |ended: Ended| ended.json()["interfaces"].as_array().unwrap().clone();
    let refused = interfaces(run(&["info", "--format", "json"]))[1]["refused"].clone();
    assert!(refused.as_str().unwrap().contains("CAP_NET_RAW"), "{refused}");
    let row = &interfaces(run_without_xdp(&["info", "--format", "json"]))[1];
    assert_eq!(row["drivers"], serde_json::json!(["packet"]));
    assert!(row["no_xdp"].as_str().unwrap().contains("CAP_BPF"), "{row}");
    let with = interfaces(Ended::from_output(
        host.command(GOAL_RUN).args(["info", "--format", "json"]).output().unwrap(),
    ));
    let expected = serde_json::json!({
        "name": "v0", "mac": mac, "mtu": 1500, "carrier": true, "drivers": ["packet", "xdp"], "no_xdp": null,
        "refused": null
    });
    assert_eq!(with[1], expected);
    assert_eq!(with[0]["name"], "lo");
    assert!(with[0]["refused"].as_str().unwrap().contains("this host only"));
}
