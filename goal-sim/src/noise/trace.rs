//! A trace of noise: the times at which a processor does not work for the program.
//!
//! A trace comes from anywhere. Its lines may be no numbers, out of order, or overlap. Numbers may
//! be too large, and no time may be left for work. [`Trace::parse`] refuses a trace without a
//! meaning, with the line. It holds four numbers for each line, and sums have 64 bits without a
//! wrap.

use goal_lang::diag::quote;

/// The largest time of a trace in picoseconds.
const TIME_MAX: u64 = 1 << 62;

/// Times without work, repeated for ever. All times are in picoseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Trace {
    /// The time after which the trace repeats.
    period: u64,
    /// The time for work in a period.
    work: u64,
    /// In order, without overlaps.
    detours: Vec<Detour>,
}

/// A time without work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Detour {
    start: u64,
    /// The time for work from the beginning of the period to the start.
    before: u64,
}

impl Trace {
    /// Parses lines of a start and a duration in nanoseconds. Lines that begin with `#` are
    /// comments. The last line ends the trace, which repeats after its start.
    ///
    /// # Errors
    /// A sentence that names the line.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, String> {
        let mut lines: Vec<(u64, u64)> = Vec::new();
        for (line, number) in bytes.split(|&byte| byte == b'\n').zip(1_u64..) {
            let detour = parse_line(line).map_err(|why| format!("line {number}: {why}"))?;
            let Some((start, duration)) = detour else { continue };
            if lines.last().is_some_and(|last| last.0 > start) {
                return Err(format!(
                    "line {number}: the start is before that of the line above; sort the lines"
                ));
            }
            lines.push((start, duration));
        }
        let period = lines.pop().map_or(0, |(end, _)| end);
        if period == 0 || lines.is_empty() {
            return Err("a trace needs a detour, and a last line that tells its end".to_owned());
        }
        Self::from_detours(period, lines)
    }

    /// Makes a trace of starts and durations in the order of their starts. Those that overlap count
    /// once.
    fn from_detours(period: u64, mut lines: Vec<(u64, u64)>) -> Result<Self, String> {
        let over = lines.iter().map(|&(start, duration)| start + duration).max().unwrap_or(0);
        if over > period {
            // A detour that lasts beyond the end of the trace goes on at the beginning.
            lines.insert(0, (0, over - period));
        }
        let mut detours = Vec::with_capacity(lines.len());
        let (mut end, mut work) = (0, 0);
        for (start, duration) in lines {
            let last = (start + duration).min(period);
            if start > end || detours.is_empty() {
                work += start.saturating_sub(end);
                detours.push(Detour { start, before: work });
            }
            end = end.max(last);
        }
        work += period.saturating_sub(end);
        if work == 0 {
            return Err("the noise leaves no time for work".to_owned());
        }
        Ok(Self { period, work, detours })
    }

    /// Returns the time after which the trace repeats.
    pub(crate) fn period(&self) -> u64 {
        self.period
    }

    /// Returns the end of `work` that begins at `start`, if the trace began `offset` before 0. All
    /// three are below 2^63, or the end is that of time.
    pub(crate) fn end_of_work(&self, offset: u64, start: u64, work: u64) -> u64 {
        if work == 0 {
            return start;
        }
        let Some(begin) = start.checked_add(offset) else { return u64::MAX };
        // The work that fits from the beginning of the trace to the end that is sought.
        let Some(total) = self.work_until(begin).checked_add(work) else { return u64::MAX };
        let (periods, rest) = ((total - 1) / self.work, (total - 1) % self.work + 1);
        let next = self.detours.partition_point(|detour| detour.before < rest);
        let lost = next.checked_sub(1).map_or(0, |last| self.lost_through(last));
        let end = periods.checked_mul(self.period).and_then(|time| time.checked_add(rest + lost));
        end.map_or(u64::MAX, |end| end - offset)
    }

    /// Returns the time for work from the beginning of the trace to a time.
    fn work_until(&self, time: u64) -> u64 {
        let (periods, rest) = (time / self.period, time % self.period);
        let next = self.detours.partition_point(|detour| detour.start <= rest);
        let within = match next.checked_sub(1) {
            None => rest,
            // It is in the last detour that has started, or behind it.
            Some(last) => {
                let after = rest.saturating_sub(self.lost_through(last));
                after.max(self.detours[last].before)
            }
        };
        periods * self.work + within
    }

    /// Returns the time without work from the beginning of the period to the end of a detour.
    fn lost_through(&self, detour: usize) -> u64 {
        match self.detours.get(detour + 1) {
            Some(next) => next.start - next.before,
            None => self.period - self.work,
        }
    }
}

/// Parses a line. Returns nothing for a comment or an empty line.
fn parse_line(line: &[u8]) -> Result<Option<(u64, u64)>, String> {
    let line = line.trim_ascii();
    if line.is_empty() || line.starts_with(b"#") {
        return Ok(None);
    }
    let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let (Some(start), Some(duration), None) = (words.next(), words.next(), words.next()) else {
        return Err("expected a start and a duration, in nanoseconds".to_owned());
    };
    Ok(Some((picos(start)?, picos(duration)?)))
}

/// Parses nanoseconds.
fn picos(word: &[u8]) -> Result<u64, String> {
    let text = std::str::from_utf8(word).ok();
    let number: f64 = text
        .and_then(|text| text.parse().ok())
        .ok_or_else(|| format!("{} is no number of nanoseconds", quote(word)))?;
    let picos = (number * 1000.0).round();
    if picos.is_nan() || picos < 0.0 {
        return Err(format!("{} is no time: give a number of at least 0", quote(word)));
    }
    if picos >= TIME_MAX as f64 {
        return Err(format!("{} is too large; times end at 53 days", quote(word)));
    }
    Ok(picos as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the end of work by a walk from picosecond to picosecond.
    fn slowly(lines: &[(u64, u64)], period: u64, offset: u64, start: u64, work: u64) -> u64 {
        let is_lost = |time: u64| {
            let at = (time + offset) % period;
            let covers = |&(from, long): &(u64, u64), at| from <= at && at < from + long;
            lines.iter().any(|line| covers(line, at) || covers(line, at + period))
        };
        let (mut now, mut left) = (start, work);
        while left > 0 {
            left -= u64::from(!is_lost(now));
            now += 1;
        }
        now
    }

    #[test]
    fn ends_are_those_of_a_walk() {
        let mut random = fastrand::Rng::with_seed(1);
        let mut compared = 0;
        for _ in 0..3000 {
            let period = random.u64(1..60);
            let mut lines: Vec<(u64, u64)> = (0..random.usize(0..6))
                .map(|_| (random.u64(0..period), random.u64(0..period / 2 + 2)))
                .filter(|&(_, long)| long <= period)
                .collect();
            lines.sort_by_key(|line| line.0);
            let Ok(trace) = Trace::from_detours(period, lines.clone()) else {
                let lost = |at| {
                    lines.iter().any(|&(from, long)| {
                        (from <= at && at < from + long) || at + period < from + long
                    })
                };
                assert!((0..period).all(lost), "{period} {lines:?}");
                continue;
            };
            for _ in 0..20 {
                compared += 1;
                let (offset, start) = (random.u64(0..period), random.u64(0..200));
                let work = random.u64(0..150);
                assert_eq!(
                    trace.end_of_work(offset, start, work),
                    slowly(&lines, period, offset, start, work),
                    "{period} {lines:?} {offset} {start} {work}"
                );
            }
        }
        assert!(compared > 20_000, "{compared}");
    }

    #[test]
    fn any_bytes_are_a_trace_or_an_error() {
        let mut random = fastrand::Rng::with_seed(1);
        let mut accepted = 0;
        for _ in 0..100_000 {
            let words =
                ["0", "1", "7", "12", "9.5", "4e3", "-1", "#", "x", " ", "\t", "\n", "\r\n"];
            let mut bytes = Vec::new();
            for _ in 0..random.usize(0..4) {
                for separator in [9, random.usize(9..12)] {
                    bytes.extend(words[random.usize(0..7)].bytes());
                    bytes.extend(words[separator + random.usize(0..2)].bytes());
                }
                if random.u8(0..8) == 0 {
                    bytes.push(random.u8(..));
                }
            }
            if let Ok(trace) = Trace::parse(&bytes) {
                accepted += 1;
                let (offset, start) = (random.u64(0..trace.period()), random.u64(0..1 << 63));
                let work = random.u64(..);
                let end = trace.end_of_work(offset, start, work);
                assert!(end >= start.saturating_add(work), "{bytes:?} {offset} {start} {work}");
            }
        }
        assert!(accepted > 100, "{accepted}");
    }

    #[test]
    fn late_times_do_not_wrap_around() {
        let trace = Trace::parse(b"0 1\n2 0\n").unwrap();
        assert_eq!(trace.end_of_work(0, 0, 1), 1001);
        for (start, work) in [(u64::MAX, 1), (1 << 62, 1 << 63), (0, u64::MAX), (1 << 63, 1 << 62)]
        {
            assert!(trace.end_of_work(1999, start, work) >= 1 << 63, "{start} {work}");
        }
        let longest = Trace::parse(b"0 1\n4611686018427386 0").unwrap();
        assert!(longest.end_of_work(longest.period() - 1, (1 << 63) - 1, 1 << 63) >= 1 << 63);
    }

    #[test]
    fn lines_may_have_any_form_of_numbers() {
        let trace = Trace::parse(b"# start duration\r\n\n1e3\t2.5e2\r\n  2000.001   7 \n9000 5");
        let wanted = Trace::from_detours(9_000_000, vec![(1_000_000, 250_000), (2_000_001, 7000)]);
        assert_eq!(trace, wanted);
    }

    #[test]
    fn what_has_no_meaning_is_refused_with_its_line() {
        for (text, why) in [
            ("", "a trace needs a detour"),
            ("5 1", "a trace needs a detour"),
            ("0 1", "a trace needs a detour"),
            ("0 1\n0 1", "a trace needs a detour"),
            ("0 1\n# x\n7\n", "line 3: expected a start"),
            ("0 1\n7 1 2\n", "line 2: expected a start"),
            ("0 a\n", "line 1: `a` is no number"),
            ("0 -1\n", "line 1: `-1` is no time"),
            ("nan 1\n", "line 1: `nan` is no time"),
            ("0 inf\n", "line 1: `inf` is too large"),
            ("0 1e300\n", "line 1: `1e300` is too large"),
            ("4\u{1b} 1\n", "line 1: `4\u{fffd}` is no number"),
            ("5 1\n4 1\n9 1", "line 2: the start is before"),
            ("0 9\n9 0", "the noise leaves no time for work"),
            ("3 10\n4 1\n9 0", "the noise leaves no time for work"),
            ("0 4000000000000000\n9 0", "the noise leaves no time for work"),
        ] {
            let error = Trace::parse(text.as_bytes()).expect_err(text);
            assert!(error.starts_with(why), "{text:?}: {error}");
        }
    }
}
