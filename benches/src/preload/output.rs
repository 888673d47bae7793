//! Reads the output of the OSU and IMB benchmarks, and the report of `libgoal-mpi.so`.

/// Microseconds of an operation: the mean, the least and the most of the ranks.
pub(super) type Figures = [f64; 3];

/// The names of these columns in the tables of OSU's benchmarks of blocking and persistent calls,
/// of non-blocking calls, and of Intel's.
const COLUMNS: [[&str; 3]; 3] = [
    ["Avg Latency(us)", "Min Latency(us)", "Max Latency(us)"],
    ["Pure Comm.(us)", "Min Comm.(us)", "Max Comm.(us)"],
    ["t_avg[usec]", "t_min[usec]", "t_max[usec]"],
];
/// The names of the column of sizes. A barrier has none.
const SIZES: [&str; 2] = ["Size", "bytes"];

/// Returns the figures for each size in the table of a benchmark.
pub(super) fn figures(text: &str) -> Vec<(u64, Figures)> {
    let mut columns: Option<(Option<usize>, [usize; 3])> = None;
    let mut figures = Vec::new();
    for line in text.lines() {
        if line.trim_start().starts_with('#') {
            columns = header(line).or(columns);
            continue;
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        let Some((size, of)) = columns else { continue };
        let number = |column: usize| words.get(column)?.parse::<f64>().ok();
        let [Some(mean), Some(least), Some(most)] = of.map(number) else { continue };
        let bytes = size.map_or(Some(0), |column| words.get(column)?.parse().ok());
        figures.extend(bytes.map(|bytes| (bytes, [mean, least, most])));
    }
    figures
}

/// Returns the columns of sizes and of figures that a header names.
fn header(line: &str) -> Option<(Option<usize>, [usize; 3])> {
    // In Intel's tables one space stands between the first two columns.
    let line = line.replace('#', "  ");
    let names: Vec<&str> = line.split("  ").map(str::trim).filter(|of| !of.is_empty()).collect();
    let at = |name: &str| names.iter().position(|of| *of == name);
    let size = SIZES.iter().find_map(|name| at(name));
    COLUMNS.iter().find_map(|of| {
        let [Some(mean), Some(least), Some(most)] = of.map(at) else { return None };
        Some((size, [mean, least, most]))
    })
}

/// Returns the share of calls that ran as schedules, in the report of `libgoal-mpi.so`. A benchmark
/// may have another name than the operation in it.
pub(super) fn share_of_schedules(told: &str, benchmark: &str) -> Option<f64> {
    let of_operation = |line: &str| {
        let (operation, rest) = line.strip_prefix("libgoal-mpi: ")?.split_once(": ")?;
        let name = benchmark.to_lowercase();
        let name = name.strip_suffix("_persistent").unwrap_or(&name);
        if name != operation && name.strip_prefix('i') != Some(operation) {
            return None;
        }
        let schedules: f64 = rest.split_once(" as schedules")?.0.parse().ok()?;
        let by_mpi: f64 = rest.split_once("), ")?.1.split_once(" by MPI")?.0.parse().ok()?;
        Some(schedules / (schedules + by_mpi))
    };
    told.lines().find_map(of_operation)
}

#[cfg(test)]
mod tests {
    use super::{figures, share_of_schedules};

    #[test]
    fn tables_of_others() {
        let blocking = "\n# OSU MPI Allreduce Latency Test v7.4\n# Datatype: MPI_CHAR.\n\
            # Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations\n\
            8                       0.44              0.38              0.51         100\n\
            16                      0.50              0.49              0.52         100\n";
        assert_eq!(figures(blocking), [(8, [0.44, 0.38, 0.51]), (16, [0.5, 0.49, 0.52])]);
        let barrier = "# Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations\n\
            \x20            0.39              0.38              0.40         100\n";
        assert_eq!(figures(barrier), [(0, [0.39, 0.38, 0.4])]);
        let nonblocking = "# Size           Overall(us)       Compute(us)    Pure Comm.(us)     Min Comm.(us)     Max Comm.(us)        Overlap(%)\n\
            8                       1.88              1.12              0.84              0.59              1.10              9.34\n";
        assert_eq!(figures(nonblocking), [(8, [0.84, 0.59, 1.1])]);
        let intel = "       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]\n\
            \x20           8         1000         0.51         0.53         0.52\n";
        assert_eq!(figures(intel), [(8, [0.52, 0.51, 0.53])]);
        let intel =
            " #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]\n 1000  0.51  0.53  0.52\n";
        assert_eq!(figures(intel), [(0, [0.52, 0.51, 0.53])]);
    }

    #[test]
    fn shares_of_calls() {
        let told = "libgoal-mpi: barrier: 1 as schedules (blocks of 0 bytes together), 0 by MPI\n\
            libgoal-mpi: allreduce: 3 as schedules (blocks of 440 bytes together), 1 by MPI; 1 for the size\n";
        for name in ["allreduce", "Allreduce", "iallreduce", "allreduce_persistent"] {
            assert_eq!(share_of_schedules(told, name), Some(0.75), "{name}");
        }
        assert_eq!(share_of_schedules(told, "barrier"), Some(1.0));
        assert_eq!(share_of_schedules(told, "reduce"), None);
    }
}
