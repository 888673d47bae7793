#![allow(unsafe_code)] // recorders of segments

use super::names::Names;
use super::record::Record;
use super::slices::{Lane, Lanes, Shown, Slices};
use super::{Omitted, area_bytes, recorder, write};
use goal_engine::testing::{nisa, program};
use goal_engine::trace::{Event, Kind, Point, Recorder};
use goal_shm::{Layout, RankSizes, Segment};

#[test]
fn slices_that_overlap_lie_in_different_lanes() {
    let mut lanes = Lanes::default();
    let take = |lanes: &mut Lanes| {
        let Lane { number, is_new } = lanes.take();
        (number, is_new)
    };
    assert_eq!([(); 3].map(|()| take(&mut lanes)), [(1, true), (2, true), (3, true)]);
    lanes.give_back(2);
    lanes.give_back(1);
    assert_eq!([(); 3].map(|()| take(&mut lanes)), [(1, false), (2, false), (4, true)]);
}

#[test]
fn records_of_what_is_no_action_are_left_out() {
    let nisa = nisa(&program("rank 0 { a: calc 5  b: calc 6  b requires a }"));
    let names = Names::new(&nisa, 0);
    let mut slices = Slices::new(&nisa, 0, &names, 0);
    let mut add = |action, point, time| {
        slices.add(&Record::from_event(
            &Event { kind: Kind::Calc, action, ..Event::new(point, 0) },
            time,
        ))
    };
    add(0, Point::InstanceStarted, 1);
    let offsets: Vec<u32> = nisa.section(0).records().map(|(offset, _)| offset).collect();
    for action in [0, offsets[0] + 1, nisa.section(0).bytes().len() as u32, u32::MAX] {
        for point in [Point::Started, Point::Numbered, Point::Matched, Point::Ended] {
            assert_eq!(add(action, point, 2), None);
        }
    }
    assert_eq!(add(offsets[0], Point::Started, 3), Some(Shown::Lane(1)));
    add(offsets[0], Point::Ended, 4);
    add(offsets[1], Point::Started, 5);
    let Some(Shown::Slice(second)) = add(offsets[1], Point::Ended, 6) else {
        panic!("it has ended")
    };
    assert_eq!((second.number, second.ready), (Some(1), Some(4)));
    assert_eq!(slices.foreign(), 16);
}

#[test]
fn times_that_go_back_end_no_report() {
    let nisa = nisa(&program("rank 0 { calc 5 }"));
    let sizes = RankSizes { trace: area_bytes(8), ..RankSizes::default() };
    let segment = Segment::create(Layout::new(std::iter::once(sizes), 1 << 30).unwrap()).unwrap();
    let (action, _) = nisa.section(0).records().next().unwrap();
    for (point, clock) in [(Point::Started, (|| 10) as fn() -> u64), (Point::Ended, || 4)] {
        // SAFETY: the only recorder of the segment.
        let mut recorder = unsafe { recorder(&segment, 0, clock) }.unwrap();
        for action in [action, action + 1] {
            recorder.record(&Event { kind: Kind::Calc, action, ..Event::new(point, 0) });
        }
    }
    let mut text = Vec::new();
    assert_eq!(write(&segment, &nisa, &mut text).unwrap(), Omitted { lost: 0, foreign: 2 });
    assert!(String::from_utf8(text).unwrap().ends_with("\"foreign_records\":2}}"));
}
