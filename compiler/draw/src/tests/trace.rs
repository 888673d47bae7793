//! Diagrams of traces.

use super::detail;
use crate::{Body, Diagram, DrawError, Kind, Options, State, by_trace};

fn drawn(json: &str) -> Result<Diagram, DrawError> {
    by_trace("run.json", json.as_bytes(), &Options::default())
}

const PAIR: &str = r#"{"displayTimeUnit":"ns","traceEvents":[
{"name":"process_name","ph":"M","pid":0,"tid":0,"args":{"name":"rank 0"}},
{"name":"process_name","ph":"M","pid":1,"tid":0,"args":{"name":"rank 1"}},
{"name":"s","cat":"send","ph":"X","pid":0,"tid":1,"ts":2,"dur":1,
"args":{"peer":1,"bytes":8,"tag":0,"line":3}},
{"name":"message","cat":"message","ph":"s","pid":0,"tid":1,"ts":2,"id":"0x1"},
{"name":"r","cat":"recv","ph":"X","pid":1,"tid":1,"ts":0,"dur":6,
"args":{"peer":0,"bytes":8,"tag":null,"matched":5}},
{"name":"message","cat":"message","ph":"f","bp":"e","pid":1,"tid":1,"ts":5,"id":"0x1"},
{"name":"c","cat":"calc","ph":"X","pid":1,"tid":1,"ts":6,"dur":1,"args":{"unfinished":true}},
{"name":"schedule start","cat":"schedule","ph":"i","pid":1,"tid":0,"ts":0,"s":"p"}
],"otherData":{"lost_records":0}}"#;

#[test]
fn slices_and_flows_become_shapes_and_messages() {
    let diagram = drawn(PAIR).unwrap();
    let detail = detail(&diagram);
    let receive = detail.shapes.iter().find(|shape| shape.kind == Kind::Receive).unwrap();
    // It is under way from the moment at which it met its message. Before, its rank waits.
    assert_eq!((receive.begin, receive.end), (5_000_000, 6_000_000));
    let wait = detail.shapes.iter().filter(|shape| shape.kind == Kind::Waiting);
    assert_eq!(
        wait.map(|shape| (shape.lane, shape.end)).collect::<Vec<_>>(),
        [(0, 2_000_000), (1, 5_000_000)]
    );
    assert_eq!(detail.messages.len(), 1);
    assert!(detail.messages[0].critical);
    assert_eq!(detail.shapes[0].line, Some(3));
    assert_eq!(detail.shapes[2].state, State::Blocked);
    assert!(diagram.title.contains("2 ranks, ends at 7 us"), "{}", diagram.title);
}

#[test]
fn what_is_no_trace_is_refused() {
    for text in ["", "[1", "3", "{}", "{\"traceEvents\":3}", "[{\"ph\":1}]", "\u{1}"] {
        assert!(matches!(drawn(text), Err(DrawError::NoTrace(_))), "{text}");
    }
    assert!(drawn("[]").is_ok());
}

#[test]
fn times_and_ranks_are_bounded() {
    let event = |fields: &str| {
        format!("[{{\"ph\":\"X\",\"cat\":\"calc\",\"name\":\"x\",\"tid\":0,{fields}}}]")
    };
    for fields in [
        "\"pid\":0,\"ts\":-5,\"dur\":1e300",
        "\"pid\":0,\"ts\":1e300,\"dur\":-1e300",
        "\"pid\":18446744073709551615,\"ts\":1,\"dur\":1",
        "\"pid\":1048575,\"ts\":1,\"dur\":1",
    ] {
        let diagram = drawn(&event(fields)).unwrap();
        assert!(diagram.ranks <= 1 << 20);
        crate::Scene::new(&diagram);
        crate::text(&diagram, 80);
    }
    // A flow that binds to nothing, and one with two beginnings.
    let flows =
        r#"[{"ph":"f","pid":0,"id":1},{"ph":"s","pid":0,"id":1},{"ph":"s","pid":0,"id":1}]"#;
    assert!(drawn(flows).is_ok());
}

#[test]
fn a_long_trace_is_summed_up() {
    let slice = |at: u64| {
        format!(
            "{{\"ph\":\"X\",\"cat\":\"calc\",\"name\":\"x\",\"pid\":{},\"tid\":0,\"ts\":{at},\"dur\":1}}",
            at % 7
        )
    };
    let all: Vec<String> = (0..5000).map(slice).collect();
    let diagram = drawn(&format!("[{}]", all.join(","))).unwrap();
    assert!(matches!(diagram.body, Body::Summary(_)));
    assert!(diagram.notes.iter().any(|note| note.contains("5000 actions are summed up")));
}

#[test]
fn many_slices_at_once_are_summed_up() {
    let slice = r#"{"ph":"X","cat":"send","name":"x","pid":0,"tid":0,"ts":0,"dur":9}"#;
    let diagram = drawn(&format!("[{}]", [slice; 300].join(","))).unwrap();
    assert!(matches!(diagram.body, Body::Summary(_)));
}
