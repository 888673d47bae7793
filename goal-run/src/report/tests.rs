use super::duration;

#[test]
fn durations_have_a_unit_that_fits() {
    assert_eq!(duration(999), "999 ns");
    assert_eq!(duration(1_500), "1.5 us");
    assert_eq!(duration(2_345_678), "2.35 ms");
    assert_eq!(duration(61_000_000_000), "61.000 s");
}
