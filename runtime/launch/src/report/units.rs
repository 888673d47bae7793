//! Writes numbers with units, for people to read.

/// Returns a time as text with a unit.
pub(super) fn duration(nanos: u64) -> String {
    let nanos = nanos as f64;
    match nanos {
        0.0..1e3 => format!("{nanos} ns"),
        1e3..1e6 => format!("{:.1} us", nanos / 1e3),
        1e6..1e9 => format!("{:.2} ms", nanos / 1e6),
        _ => format!("{:.3} s", nanos / 1e9),
    }
}

/// Returns a number of bytes as text. It is exact below a KiB (1024 bytes), and has three or four
/// digits above.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    match bytes {
        1 => return "1 byte".to_owned(),
        0..1024 => return format!("{bytes} bytes"),
        _ => {}
    }
    scaled(bytes as f64, 1024.0, &UNITS)
}

/// Returns a rate as text, in units of 1000 bytes per second and its powers. Returns `None` if
/// `bytes` or `nanos` is 0.
pub(super) fn rate(bytes: u64, nanos: u64) -> Option<String> {
    const UNITS: [&str; 4] = ["kB/s", "MB/s", "GB/s", "TB/s"];
    if bytes == 0 || nanos == 0 {
        return None;
    }
    let per_second = bytes as f64 * 1e9 / nanos as f64;
    Some(if per_second < 1e3 {
        format!("{per_second:.0} B/s")
    } else {
        scaled(per_second, 1e3, &UNITS)
    })
}

/// Returns a number in a short form: `950`, `1.2 M`, `100 M`.
pub(crate) fn count(number: u64) -> String {
    const UNITS: [&str; 4] = ["k", "M", "G", "T"];
    if number < 10_000 {
        number.to_string()
    } else {
        short(number as f64, 1e3, &UNITS, 1).replace(".0 ", " ")
    }
}

/// Returns a number in the largest of `units` that leaves a digit before the point. The first unit
/// is `step`, and each further unit is `step` times the previous one.
fn scaled(number: f64, step: f64, units: &[&str]) -> String {
    short(number, step, units, 2)
}

fn short(number: f64, step: f64, units: &[&str], digits: usize) -> String {
    let (mut value, mut index) = (number / step, 0);
    // A value that would round up to a whole step is shown in the next unit.
    while value >= step - 0.5 / 10f64.powi(digits as i32) && index + 1 < units.len() {
        value /= step;
        index += 1;
    }
    let digits = if value >= 100.0 { digits.min(1) } else { digits };
    format!("{value:.digits$} {}", units[index])
}
