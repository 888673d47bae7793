//! Aligned tables for the terminal and for documents.

/// Prints rows under a header, first column to the left, the others to the right.
pub(crate) fn print(header: &[&str], rows: &[Vec<String>]) {
    let width = |column: usize| {
        rows.iter()
            .map(|row| row[column].chars().count())
            .chain([header[column].len()])
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..header.len()).map(width).collect();
    let line = |cells: Vec<&str>| {
        let cells = cells.iter().zip(&widths).enumerate().map(|(i, (cell, &width))| match i {
            0 => format!("{cell:<width$}"),
            _ => format!("{cell:>width$}"),
        });
        say!("| {} |", cells.collect::<Vec<_>>().join(" | "));
    };
    line(header.to_vec());
    say!("|{}|", widths.iter().map(|width| "-".repeat(width + 2)).collect::<Vec<_>>().join("|"));
    for row in rows {
        line(row.iter().map(String::as_str).collect());
    }
}
