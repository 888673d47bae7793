use super::units::{count, duration, rate, size};

#[test]
fn durations_have_a_unit_that_fits() {
    assert_eq!(duration(999), "999 ns");
    assert_eq!(duration(1_500), "1.5 us");
    assert_eq!(duration(2_345_678), "2.35 ms");
    assert_eq!(duration(61_000_000_000), "61.000 s");
}

#[test]
fn sizes_are_exact_where_they_are_small() {
    assert_eq!(size(0), "0 bytes");
    assert_eq!(size(1), "1 byte");
    assert_eq!(size(1023), "1023 bytes");
    assert_eq!(size(1024), "1.00 KiB");
    assert_eq!(size(40_000), "39.06 KiB");
    assert_eq!(size(1 << 20), "1.00 MiB");
    assert_eq!(size((1 << 20) - 1), "1.00 MiB");
    assert_eq!(size(300 << 30), "300.0 GiB");
    assert_eq!(size(u64::MAX), "16.00 EiB");
}

#[test]
fn rates_count_bytes_a_second() {
    assert_eq!(rate(0, 5), None);
    assert_eq!(rate(5, 0), None);
    assert_eq!(rate(192, 114_200).unwrap(), "1.68 MB/s");
    assert_eq!(rate(1, 1_000_000_000).unwrap(), "1 B/s");
    assert_eq!(rate(5_000_000_000, 1_000_000_000).unwrap(), "5.00 GB/s");
}

#[test]
fn counts_are_short() {
    assert_eq!(count(9_999), "9999");
    assert_eq!(count(1_200_000), "1.2 M");
    assert_eq!(count(100_000_000), "100 M");
    assert_eq!(count(4_000_000_000), "4 G");
}
