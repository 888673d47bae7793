//! Writes and reads the order to a launcher on another host. It has the launcher's arguments, the
//! key and the schedule.
//!
//! ```text
//! length of the text 4, text (JSON), schedule
//! ```

use serde::{Deserialize, Serialize};
use std::io::{self, Read, Write};

/// The most bytes of the JSON text.
const TEXT_MAX: u32 = 16 << 20;

/// The order to a launcher on another host.
#[derive(Serialize, Deserialize)]
pub(crate) struct Order {
    /// The version of goal-run that gives the order.
    pub(crate) version: String,
    /// The name of the host in the list of `--hosts`.
    pub(crate) host: String,
    /// The arguments of the launcher.
    pub(crate) arguments: Vec<String>,
    /// Environment variables that the launcher gets, with their values.
    pub(crate) variables: Vec<(String, String)>,
    /// The folder in which the program runs.
    pub(crate) folder: String,
    /// The key of the job.
    pub(crate) key: String,
    /// The number of bytes of the schedule after the order. `None` if none follows: for a program,
    /// or if the launcher reads the files of the schedule itself.
    pub(crate) schedule_len: Option<u64>,
}

impl Order {
    /// Writes the order, without the schedule that follows it.
    pub(crate) fn write(&self, mut to: impl Write) -> io::Result<()> {
        let text = serde_json::to_vec(self).expect("texts and numbers");
        let len = u32::try_from(text.len()).ok().filter(|&len| len <= TEXT_MAX);
        let len = len.ok_or_else(|| io::Error::other("the arguments are too long"))?;
        to.write_all(&len.to_le_bytes())?;
        to.write_all(&text)
    }

    /// Reads an order, without the schedule that follows it.
    pub(crate) fn read(mut from: impl Read) -> io::Result<Self> {
        let mut len = [0; 4];
        from.read_exact(&mut len)?;
        let len = u32::from_le_bytes(len);
        if len > TEXT_MAX {
            return Err(io::Error::other("it is too long"));
        }
        let mut text = Vec::new();
        from.take(len.into()).read_to_end(&mut text)?;
        Ok(serde_json::from_slice(&text)?)
    }
}

#[cfg(test)]
mod tests {
    use super::Order;

    #[test]
    fn an_order_is_read_as_it_was_written() {
        let order = Order {
            version: "1".to_owned(),
            host: "node1".to_owned(),
            arguments: vec!["--repeat=2".to_owned()],
            variables: vec![("GOAL_TABLE".to_owned(), "t".to_owned())],
            folder: "/".to_owned(),
            key: "k".to_owned(),
            schedule_len: Some(3),
        };
        let mut bytes = vec![];
        order.write(&mut bytes).unwrap();
        let read = Order::read(&bytes[..]).unwrap();
        assert_eq!((read.arguments, read.schedule_len), (order.arguments, Some(3)));
        for len in 0..bytes.len() {
            assert!(Order::read(&bytes[..len]).is_err(), "{len}");
        }
        assert!(Order::read(&[255; 100][..]).is_err());
    }
}
