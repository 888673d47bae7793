//! The bytes of a connection: plain, or encrypted by TLS 1.3.
//!
//! Both ends of an encrypted channel then prove the key of the job to each other
//! ([`handshake`](crate::handshake)). The proof is bound to a secret that TLS derives for this
//! channel alone (RFC 9266). An attacker in between has a different secret on each side, and can't
//! prove the key on either side. So no certificate has to be distributed or checked.
//!
//! Threat: the peer, or anyone on the way, may send any bytes. Bytes that TLS refuses end the
//! connection. While a record is unread, no more bytes are buffered.

use crate::info;
use crate::sockets;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{
    ClientConfig, ClientConnection, Connection, DigitallySignedStruct, ServerConfig,
    ServerConnection, SignatureScheme,
};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

/// The most encrypted bytes that wait in a channel to be sent.
const BUFFERED_MAX: usize = 64 << 10;
/// The label with which TLS exports the secret that binds proofs to a channel.
const BINDING: &[u8] = b"EXPORTER-goal-run-job-key";

/// The TLS configurations of this process as a client and as a server, with a certificate of its
/// own.
#[derive(Clone, Debug)]
pub struct Tls {
    client: Arc<ClientConfig>,
    server: Arc<ServerConfig>,
}

/// The socket of a connection, with TLS if the connection is encrypted.
#[derive(Debug)]
pub struct Channel {
    socket: OwnedFd,
    tls: Option<Box<Connection>>,
}

/// The reason why a channel failed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ChannelError {
    /// A system call failed.
    #[error("{}", io::Error::from(*.0))]
    System(#[from] Errno),
    /// The peer closed the connection before the channel was open.
    #[error(
        "it closed the connection before it was encrypted: do both have --tls and the same key, and are they of the same run?"
    )]
    Closed,
    /// The peer does not speak TLS, or breaks its rules.
    #[error("encryption failed: {0} (do all hosts have --tls?)")]
    Tls(#[from] rustls::Error),
}

impl Tls {
    /// Creates a certificate of this process.
    ///
    /// # Errors
    /// There are no random numbers.
    pub fn new() -> io::Result<Self> {
        let certified = rcgen::generate_simple_self_signed(vec!["goal-run".to_owned()]);
        let certified = certified.map_err(io::Error::other)?;
        let key = PrivateKeyDer::Pkcs8(certified.signing_key.serialize_der().into());
        let certificates = vec![certified.cert.der().clone()];
        let provider = Arc::new(ring::default_provider());
        let versions = &[&rustls::version::TLS13];
        let server = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(versions)
            .map_err(io::Error::other)?
            .with_no_client_auth()
            .with_single_cert(certificates, key)
            .map_err(io::Error::other)?;
        let client = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(versions)
            .map_err(io::Error::other)?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(AnyCertificate(provider)))
            .with_no_client_auth();
        Ok(Self { client: Arc::new(client), server: Arc::new(server) })
    }
}

/// Accepts any certificate if the peer has its private key. The key of the job tells who the peer
/// is.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _certificate: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Err(rustls::Error::General("only TLS 1.3 is spoken".to_owned()))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

impl Channel {
    /// Returns the connecting end of a channel.
    ///
    /// # Errors
    /// TLS refuses to begin.
    pub(crate) fn connecting(socket: OwnedFd, tls: Option<&Tls>) -> Result<Self, ChannelError> {
        let begin = |tls: &Tls| {
            let name = ServerName::try_from("goal-run").expect("it is a name");
            let connection = ClientConnection::new(Arc::clone(&tls.client), name)?;
            Ok::<_, ChannelError>(Connection::from(connection))
        };
        Self::of(socket, tls.map(begin).transpose()?)
    }

    /// Returns the accepting end of a channel.
    ///
    /// # Errors
    /// TLS refuses to begin.
    pub(crate) fn accepting(socket: OwnedFd, tls: Option<&Tls>) -> Result<Self, ChannelError> {
        let begin = |tls: &Tls| {
            let connection = ServerConnection::new(Arc::clone(&tls.server))?;
            Ok::<_, ChannelError>(Connection::from(connection))
        };
        Self::of(socket, tls.map(begin).transpose()?)
    }

    fn of(socket: OwnedFd, tls: Option<Connection>) -> Result<Self, ChannelError> {
        let bounded = |mut tls: Connection| {
            tls.set_buffer_limit(Some(BUFFERED_MAX));
            Box::new(tls)
        };
        Ok(Self { socket, tls: tls.map(bounded) })
    }

    /// Continues the handshake of TLS. Returns true once the channel is open. A plain channel is
    /// open at once.
    ///
    /// # Errors
    /// [`ChannelError`].
    pub(crate) fn open(&mut self) -> Result<bool, ChannelError> {
        let Some(tls) = &mut self.tls else { return Ok(true) };
        loop {
            write_encrypted(tls, self.socket.as_fd())?;
            if !tls.is_handshaking() {
                return Ok(true);
            }
            match tls.read_tls(&mut Socket(self.socket.as_fd())) {
                Ok(0) => return Err(ChannelError::Closed),
                Ok(_) => {
                    let processed = tls.process_new_packets();
                    if let Err(error) = processed {
                        // Tells the peer why.
                        let _ = write_encrypted(tls, self.socket.as_fd());
                        return Err(error.into());
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                // A peer that closes before it has read all bytes resets the connection.
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => {
                    return Err(ChannelError::Closed);
                }
                Err(error) => return Err(errno(&error).into()),
            }
        }
    }

    /// Returns the secret that only the two ends of this channel share. It is empty for a plain
    /// channel. The channel must be open.
    pub(crate) fn binding(&self) -> Vec<u8> {
        let Some(tls) = &self.tls else { return Vec::new() };
        let secret = tls.export_keying_material([0; 32], BINDING, None);
        secret.expect("an open channel has secrets").to_vec()
    }

    /// Sends bytes. Returns the number of bytes that were taken.
    ///
    /// # Errors
    /// [`Errno::AGAIN`] if none was taken, or those of the system.
    #[inline]
    pub fn send(&mut self, bytes: &[u8]) -> Result<usize, Errno> {
        match &mut self.tls {
            None => send(&self.socket, bytes, SendFlags::NOSIGNAL),
            Some(tls) => {
                write_encrypted(tls, self.socket.as_fd())?;
                match tls.writer().write(bytes) {
                    Ok(0) => Err(Errno::AGAIN),
                    Ok(taken) => {
                        write_encrypted(tls, self.socket.as_fd())?;
                        Ok(taken)
                    }
                    Err(error) => Err(errno(&error)),
                }
            }
        }
    }

    /// Returns the socket of a plain channel; `None` if the channel is encrypted.
    #[inline]
    pub(crate) fn plain(&self) -> Option<BorrowedFd<'_>> {
        self.tls.is_none().then(|| self.socket.as_fd())
    }

    /// Returns the time in nanoseconds since the peer's host last acknowledged anything; `None` if
    /// the system does not tell it.
    pub fn host_heard_before_ns(&self) -> Option<u64> {
        info::read(self.socket.as_fd()).map(|info| info.heard_before_ns)
    }

    /// Returns true if bytes that [`Channel::send`] took still wait to be sent. The caller must
    /// then call [`Channel::flush`] when the socket can be written.
    #[inline]
    pub fn has_unsent(&self) -> bool {
        self.tls.as_ref().is_some_and(|tls| tls.wants_write())
    }

    /// Sends the bytes that [`Channel::send`] took and that still wait. Returns true if some of
    /// them still wait after the call.
    ///
    /// # Errors
    /// Those of the system.
    #[inline]
    pub fn flush(&mut self) -> Result<bool, Errno> {
        let Some(tls) = &mut self.tls else { return Ok(false) };
        write_encrypted(tls, self.socket.as_fd())?;
        Ok(tls.wants_write())
    }

    /// Receives bytes into `into`, without waiting. Returns the number of bytes, 0 at the end of
    /// the stream, or `None` if there are no bytes now.
    ///
    /// # Errors
    /// [`ChannelError`].
    #[inline]
    pub fn receive(&mut self, into: &mut [u8]) -> Result<Option<usize>, ChannelError> {
        let Some(tls) = &mut self.tls else {
            return Ok(sockets::receive(self.socket.as_fd(), into)?);
        };
        loop {
            match tls.reader().read(into) {
                Ok(taken) => return Ok(Some(taken)),
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(Some(0)),
                Err(_) => {}
            }
            match tls.read_tls(&mut Socket(self.socket.as_fd())) {
                Ok(0) => return Ok(Some(0)),
                Ok(_) => {
                    tls.process_new_packets()?;
                    // A key update of TLS may have to be answered.
                    write_encrypted(tls, self.socket.as_fd())?;
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
                Err(error) => return Err(errno(&error).into()),
            }
        }
    }

    /// Receives bytes as [`Channel::receive`] does. Bytes that do not fit into `into` go to
    /// `ahead`. An encrypted channel leaves `ahead` alone.
    ///
    /// # Errors
    /// [`ChannelError`].
    pub(crate) fn receive_pieces(
        &mut self,
        into: &mut [u8],
        ahead: &mut [u8],
    ) -> Result<Option<usize>, ChannelError> {
        if self.tls.is_some() {
            return self.receive(into);
        }
        Ok(sockets::receive_pieces(self.socket.as_fd(), into, ahead)?)
    }

    /// Returns true if the channel may have bytes although its socket has none, because TLS keeps
    /// decrypted bytes.
    #[inline]
    pub(crate) fn may_hold_bytes(&self) -> bool {
        self.tls.is_some()
    }

    /// Returns the socket.
    pub(crate) fn socket(&self) -> &OwnedFd {
        &self.socket
    }
}

impl AsFd for Channel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Sends as many of the waiting encrypted bytes as the system takes.
fn write_encrypted(tls: &mut Connection, socket: BorrowedFd<'_>) -> Result<(), Errno> {
    while tls.wants_write() {
        match tls.write_tls(&mut Socket(socket)) {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
            Err(error) => return Err(errno(&error)),
        }
    }
    Ok(())
}

fn errno(error: &io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}

/// A socket as rustls reads and writes it.
struct Socket<'s>(BorrowedFd<'s>);

impl Read for Socket<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        Ok(rustix::io::retry_on_intr(|| recv(self.0, &mut *into, RecvFlags::empty()))?.0)
    }
}

impl Write for Socket<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(rustix::io::retry_on_intr(|| send(self.0, bytes, SendFlags::NOSIGNAL))?)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
