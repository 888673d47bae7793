//! The handshake of a connection, without IO: both ends prove that they have the key of the job.
//!
//! ```text
//! connecting end                                  accepting end
//!   knock, if the channel is encrypted, and then TLS:
//!             magic 8, from 4, to 4, nonce 16, tag 32  ─▶
//!   hello:    magic 8, from 4, to 4, nonce 16, tag 32  ─▶
//!   ◀─  welcome:  nonce 16, tag 32
//!   confirm:  tag 32  ─▶
//! ```
//!
//! Integers are big-endian. Each tag is a keyed BLAKE3 hash of the step's name, the numbers of both
//! ends, the nonces that are known so far, and the binding. On a plain channel the binding is
//! empty. On an encrypted channel it is a secret that an attacker in between could not have on both
//! sides (RFC 9266).
//!
//! Threat: anyone may send any bytes, and repeat bytes of earlier connections. A knock or a hello
//! without the key is refused after its 64 bytes, before any work of TLS. A repeated knock lets its
//! sender begin TLS, and no more, because the hello after it depends on the binding. A repeated
//! hello gets a welcome and no messages, since the confirm depends on the nonce of the welcome.
//! While this rank waits for the confirm, it does not itself connect with the rank that the hello
//! names. An attacker who can record the bytes of two ranks could as well keep them back. Tags are
//! compared in constant time.

/// The length of a hello in bytes.
pub const HELLO_LEN: usize = 64;
/// The length of a welcome in bytes.
pub const WELCOME_LEN: usize = 48;
/// The length of a confirm in bytes.
pub const CONFIRM_LEN: usize = 32;
/// The length of a nonce in bytes.
pub const NONCE_LEN: usize = 16;

/// The first bytes of every plain connection, and of a hello: a name and a version.
const MAGIC: &[u8; 8] = b"GOALTCP\x01";
/// The first bytes of a connection that is about to be encrypted: a name and a version.
const KNOCK: &[u8; 8] = b"GOALTLS\x01";
const TAGGED: usize = HELLO_LEN - TAG_LEN;
const TAG_LEN: usize = 32;

/// The key of a job's connections.
#[derive(Clone)]
pub struct Key([u8; 32]);

impl Key {
    /// Derives the key from a secret of the job, which must be unpredictable.
    pub fn new(secret: &[u8; 32]) -> Self {
        Self(blake3::derive_key("goal-tcp connections, version 1", secret))
    }

    fn tag(&self, step: &str, ends: Ends, nonces: &[[u8; NONCE_LEN]], binding: &[u8]) -> Tag {
        let mut hasher = blake3::Hasher::new_keyed(&self.0);
        hasher.update(step.as_bytes()).update(MAGIC);
        hasher.update(&ends.from.to_be_bytes()).update(&ends.to.to_be_bytes());
        for nonce in nonces {
            hasher.update(nonce);
        }
        // Hashes compare in constant time.
        Tag(hasher.update(binding).finalize())
    }
}

/// Does not show the key.
impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key")
    }
}

/// The numbers of both ends of a connection: ranks, or launchers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ends {
    /// The end that connects.
    pub from: u32,
    /// The end that accepts.
    pub to: u32,
}

struct Tag(blake3::Hash);

impl Tag {
    fn is(&self, bytes: &[u8]) -> bool {
        bytes.try_into().is_ok_and(|bytes: [u8; TAG_LEN]| self.0 == bytes)
    }
}

/// The reason why a step of a handshake is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HandshakeError {
    /// The first bytes are not those of a hello of this version.
    #[error("what it sent is not the beginning of a connection of GOAL, version 1")]
    NoHello,
    /// The peer encrypts and this end does not, or the other way round.
    #[error("one of the two has --tls, and the other one has not")]
    Encryption,
    /// A tag is wrong.
    #[error("it has another key, or belongs to another run")]
    Key,
}

/// The connecting end of a handshake.
#[derive(Debug, Clone, Copy)]
pub struct Connecting {
    ends: Ends,
    nonce: [u8; NONCE_LEN],
}

impl Connecting {
    /// Begins a handshake. The nonce must be impossible to guess.
    pub fn new(ends: Ends, nonce: [u8; NONCE_LEN]) -> Self {
        Self { ends, nonce }
    }

    /// Returns the numbers of both ends.
    pub fn ends(&self) -> Ends {
        self.ends
    }

    /// Returns the hello.
    pub fn hello(&self, key: &Key, binding: &[u8]) -> [u8; HELLO_LEN] {
        self.greeting(MAGIC, &key.tag("hello", self.ends, &[self.nonce], binding))
    }

    /// Returns the knock: the first bytes of a connection that is about to be encrypted.
    pub fn knock(&self, key: &Key) -> [u8; HELLO_LEN] {
        self.greeting(KNOCK, &key.tag("knock", self.ends, &[self.nonce], &[]))
    }

    fn greeting(&self, magic: &[u8; 8], tag: &Tag) -> [u8; HELLO_LEN] {
        let mut hello = [0; HELLO_LEN];
        hello[..8].copy_from_slice(magic);
        hello[8..12].copy_from_slice(&self.ends.from.to_be_bytes());
        hello[12..16].copy_from_slice(&self.ends.to.to_be_bytes());
        hello[16..TAGGED].copy_from_slice(&self.nonce);
        hello[TAGGED..].copy_from_slice(tag.0.as_bytes());
        hello
    }

    /// Checks a welcome, and returns the confirm that answers it. Success proves that the accepting
    /// end has the key.
    ///
    /// # Errors
    /// [`HandshakeError::Key`].
    pub fn confirm(
        &self,
        key: &Key,
        binding: &[u8],
        welcome: &[u8; WELCOME_LEN],
    ) -> Result<[u8; CONFIRM_LEN], HandshakeError> {
        let (nonce, tag) = welcome.split_at(NONCE_LEN);
        let nonces = [self.nonce, nonce.try_into().expect("16 bytes")];
        if !key.tag("welcome", self.ends, &nonces, binding).is(tag) {
            return Err(HandshakeError::Key);
        }
        Ok(*key.tag("confirm", self.ends, &nonces, binding).0.as_bytes())
    }
}

/// Checks that the sender of a knock had the key. The knock may still be a repetition of recorded
/// bytes.
///
/// # Errors
/// [`HandshakeError`].
pub fn check_knock(key: &Key, knock: &[u8; HELLO_LEN]) -> Result<(), HandshakeError> {
    let (ends, nonce) = greeted(knock, KNOCK)?;
    let has_key = key.tag("knock", ends, &[nonce], &[]).is(&knock[TAGGED..]);
    if has_key { Ok(()) } else { Err(HandshakeError::Key) }
}

/// Returns the ends and the nonce of a knock or a hello. Does not check the tag.
fn greeted(
    bytes: &[u8; HELLO_LEN],
    magic: &[u8; 8],
) -> Result<(Ends, [u8; NONCE_LEN]), HandshakeError> {
    match &bytes[..8] {
        first if first == magic => {}
        first if first == MAGIC || first == KNOCK => return Err(HandshakeError::Encryption),
        _ => return Err(HandshakeError::NoHello),
    }
    let number = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
    let nonce = bytes[16..TAGGED].try_into().expect("16 bytes");
    Ok((Ends { from: number(8), to: number(12) }, nonce))
}

/// The accepting end of a handshake, after a hello.
#[derive(Debug)]
pub struct Accepting {
    ends: Ends,
    nonces: [[u8; NONCE_LEN]; 2],
}

impl Accepting {
    /// Checks that the sender of a hello had the key. The hello may still be a repetition of
    /// recorded bytes. `nonce` is for the welcome, and must be impossible to guess.
    ///
    /// # Errors
    /// [`HandshakeError`].
    pub fn new(
        key: &Key,
        binding: &[u8],
        hello: &[u8; HELLO_LEN],
        nonce: [u8; NONCE_LEN],
    ) -> Result<Self, HandshakeError> {
        let (ends, theirs) = greeted(hello, MAGIC)?;
        if !key.tag("hello", ends, &[theirs], binding).is(&hello[TAGGED..]) {
            return Err(HandshakeError::Key);
        }
        Ok(Self { ends, nonces: [theirs, nonce] })
    }

    /// Returns the numbers of both ends, as the hello states them.
    pub fn ends(&self) -> Ends {
        self.ends
    }

    /// Returns the answer to the hello.
    pub fn welcome(&self, key: &Key, binding: &[u8]) -> [u8; WELCOME_LEN] {
        let mut welcome = [0; WELCOME_LEN];
        welcome[..NONCE_LEN].copy_from_slice(&self.nonces[1]);
        let tag = key.tag("welcome", self.ends, &self.nonces, binding);
        welcome[NONCE_LEN..].copy_from_slice(tag.0.as_bytes());
        welcome
    }

    /// Checks the confirm that answers the welcome. Success proves that the peer has the key, and
    /// does not repeat recorded bytes.
    ///
    /// # Errors
    /// [`HandshakeError::Key`].
    pub fn confirmed(
        &self,
        key: &Key,
        binding: &[u8],
        confirm: &[u8; CONFIRM_LEN],
    ) -> Result<(), HandshakeError> {
        let tag = key.tag("confirm", self.ends, &self.nonces, binding);
        if tag.is(confirm) { Ok(()) } else { Err(HandshakeError::Key) }
    }
}
