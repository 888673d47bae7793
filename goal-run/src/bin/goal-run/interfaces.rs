//! Lists the interfaces of this host, for `goal-run info`.

use goal_eth::{DriverKind, Interface, probe, probe_xdp};
use goal_job::Named;
use serde::Serialize;
use std::fmt::Write;

#[derive(Serialize)]
pub(super) struct Row {
    name: String,
    mac: Option<String>,
    mtu: usize,
    /// True if the interface has a carrier.
    carrier: bool,
    /// The drivers that can use the interface.
    drivers: Vec<DriverKind>,
    /// The reason why AF_XDP can't be used although packet sockets can.
    no_xdp: Option<String>,
    /// The reason why the interface can't be used. `None` if it can.
    refused: Option<String>,
}

/// Returns all interfaces.
pub(super) fn rows() -> Vec<Row> {
    let rights = probe().map_err(|error| error.to_string());
    let no_xdp = probe_xdp().err().map(|why| why.to_string());
    let row = |interface: Interface| {
        let refusal = interface.refusal().map(|refusal| refusal.to_string());
        let refused = refusal.or_else(|| rights.as_ref().err().cloned());
        Row {
            mac: interface.mac.map(|mac| mac.to_string()),
            mtu: interface.mtu,
            carrier: interface.has_carrier,
            drivers: match (&refused, &no_xdp) {
                (Some(_), _) => Vec::new(),
                (None, Some(_)) => vec![DriverKind::Packet],
                (None, None) => vec![DriverKind::Packet, DriverKind::Xdp],
            },
            no_xdp: no_xdp.clone().filter(|_| refused.is_none()),
            refused,
            name: interface.name,
        }
    };
    Interface::all().unwrap_or_default().into_iter().map(row).collect()
}

/// Returns the interfaces as a table.
pub(super) fn table(rows: &[Row]) -> String {
    let mut lines = vec![["interface", "MAC", "MTU", "link", "drivers", "use"].map(str::to_owned)];
    lines.extend(rows.iter().map(|row| {
        [
            row.name.clone(),
            row.mac.clone().unwrap_or("-".to_owned()),
            row.mtu.to_string(),
            if row.carrier { "yes" } else { "no" }.to_owned(),
            drivers(&row.drivers),
            row.refused.clone().unwrap_or("yes".to_owned()),
        ]
    }));
    let mut text = aligned(&lines);
    if let Some(why) = rows.iter().find_map(|row| row.no_xdp.as_ref()) {
        let _ = write!(text, "no driver xdp: {why}");
    }
    text
}

fn drivers(kinds: &[DriverKind]) -> String {
    if kinds.is_empty() {
        return "-".to_owned();
    }
    kinds.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(", ")
}

/// Returns lines with the columns of `rows` aligned.
pub(super) fn aligned<const COLUMNS: usize>(rows: &[[String; COLUMNS]]) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let widths: [usize; COLUMNS] = std::array::from_fn(width);
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(widths) {
            let _ = write!(line, "{cell:width$}  ");
        }
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}
