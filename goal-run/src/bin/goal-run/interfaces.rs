//! The interfaces of this host, for `goal-run info`.

use super::table::aligned;
use goal_run::transport::esp::{Interface, probe};
use serde::Serialize;

/// The driver of all that can be used.
const DRIVER: &str = "packet";

#[derive(Serialize)]
pub(super) struct Row {
    name: String,
    mac: Option<String>,
    mtu: usize,
    /// Whether there is something at the other end.
    carrier: bool,
    /// What would carry frames; `None` where it can't be used.
    driver: Option<&'static str>,
    /// Why it can't be used; `None` where it can.
    refused: Option<String>,
}

/// All interfaces.
pub(super) fn rows() -> Vec<Row> {
    let rights = probe();
    let row = |interface: Interface| {
        let refusal = interface.refusal().map(|refusal| refusal.to_string());
        let refused = refusal.or_else(|| rights.as_ref().err().cloned());
        Row {
            mac: interface.mac.map(|mac| mac.to_string()),
            mtu: interface.mtu,
            carrier: interface.has_carrier,
            driver: refused.is_none().then_some(DRIVER),
            refused,
            name: interface.name,
        }
    };
    Interface::all().unwrap_or_default().into_iter().map(row).collect()
}

/// The same for people.
pub(super) fn table(rows: &[Row]) -> String {
    let mut lines = vec![["interface", "MAC", "MTU", "link", "driver", "use"].map(str::to_owned)];
    lines.extend(rows.iter().map(|row| {
        [
            row.name.clone(),
            row.mac.clone().unwrap_or("-".to_owned()),
            row.mtu.to_string(),
            if row.carrier { "yes" } else { "no" }.to_owned(),
            row.driver.unwrap_or("-").to_owned(),
            row.refused.clone().unwrap_or("yes".to_owned()),
        ]
    }));
    aligned(&lines)
}
