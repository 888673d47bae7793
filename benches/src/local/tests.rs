use super::{Case, FUNCTIONS, function, name, size};

#[test]
fn schedules_and_loops_leave_the_same_bytes() {
    for function in FUNCTIONS {
        for bytes in [8, 56, 4096] {
            Case::new(function, bytes).expect("a schedule").check().expect("the same bytes");
        }
    }
}

#[test]
fn a_wrong_loop_is_found() {
    let mut case = Case::new(FUNCTIONS[1], 64).expect("a schedule");
    case.function = FUNCTIONS[9];
    let error = case.check().expect_err("a sum is no largest element").to_string();
    assert_eq!(error, format!("{} of 64 bytes: another result", name(FUNCTIONS[9])));
}

#[test]
fn every_contestant_takes_time() {
    let mut case = Case::new(FUNCTIONS[1], 512).expect("a schedule");
    assert!(case.times().into_iter().all(|ns| ns > 0.0));
}

#[test]
fn sizes_are_whole_elements_of_every_type() {
    assert_eq!(size("24"), Ok(24));
    for wrong in ["0", "12", "-8", "x"] {
        assert!(size(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn functions_are_known_by_their_names() {
    for known in FUNCTIONS {
        assert_eq!(function(&name(known)), Ok(known));
    }
    let error = function("bandFloat32").expect_err("floats have no bitwise operations");
    assert!(error.starts_with("one of copyInt32, sumInt32"), "{error}");
}
