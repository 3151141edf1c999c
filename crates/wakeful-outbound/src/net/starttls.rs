//! Brings a server to the point where it expects the TLS handshake, in the protocol that it
//! speaks in plain text. What a server sends is bounded, and nothing but its response may arrive
//! before the handshake: it would otherwise pass for encrypted.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use wakeful_core::monitors::spec::Starttls;
use wakeful_core::one_line::one_line;
use wakeful_core::reason::Reason;

use super::error::ProbeError;
use super::{Stage, Trace};

/// All that a server may send before the handshake.
const MAX_BYTES: usize = 65_536;
const READ_BYTES: usize = 4_096;
/// How much of the conversation becomes evidence.
const MAX_TRANSCRIPT: usize = 32;
const MAX_LINE_LENGTH: usize = 512;

/// The request for TLS in PostgreSQL.
const POSTGRESQL_REQUEST: [u8; 8] = [0, 0, 0, 8, 0x04, 0xD2, 0x16, 0x2F];
/// That of LDAP (RFC 4511, section 4.14): an extended request with message id 1.
const LDAP_REQUEST: &[u8] = b"\x30\x1d\x02\x01\x01\x77\x18\x80\x161.3.6.1.4.1.1466.20037";
/// The capability of a MySQL server to use TLS.
const MYSQL_TLS: u16 = 0x0800;
/// TLS, long passwords, protocol 4.1 and secure connections, as clients announce them.
const MYSQL_CLIENT: u32 = 0x0000_8A01 | 0x0800;

/// Asks for TLS. Afterwards the handshake can begin.
pub(crate) async fn request_tls(
    stream: &mut TcpStream,
    protocol: Starttls,
    trace: &mut Trace,
) -> Result<(), ProbeError> {
    trace.stage = Stage::Waiting;
    let mut talk = Conversation { stream, buffer: Vec::new(), received: 0, trace };
    match protocol {
        Starttls::None => {}
        Starttls::Smtp => talk.smtp().await?,
        Starttls::Imap => talk.imap().await?,
        Starttls::Pop3 => talk.pop3().await?,
        Starttls::Postgresql => talk.postgresql().await?,
        Starttls::Mysql => talk.mysql().await?,
        Starttls::Ldap => talk.ldap().await?,
    }
    talk.finish()
}

struct Conversation<'a> {
    stream: &'a mut TcpStream,
    /// What has arrived and has not been used yet.
    buffer: Vec<u8>,
    received: usize,
    trace: &'a mut Trace,
}

impl Conversation<'_> {
    async fn smtp(&mut self) -> Result<(), ProbeError> {
        if !self.smtp_response().await?.iter().all(|line| line.starts_with("220")) {
            return Err(other_protocol("SMTP"));
        }
        self.say("EHLO wakeful.invalid").await?;
        let offered = self.smtp_response().await?;
        let offers = |line: &String| {
            line.get(4..).is_some_and(|word| word.trim().eq_ignore_ascii_case("STARTTLS"))
        };
        if !offered.iter().any(offers) {
            return Err(not_offered());
        }
        self.say("STARTTLS").await?;
        let accepted = self.smtp_response().await?;
        if accepted.iter().all(|line| line.starts_with("220")) {
            Ok(())
        } else {
            Err(not_offered())
        }
    }

    /// The lines of one response, of which all but the last have a hyphen after the code.
    async fn smtp_response(&mut self) -> Result<Vec<String>, ProbeError> {
        let mut lines = Vec::new();
        loop {
            let line = self.line().await?;
            let has_code = line.len() >= 3 && line.bytes().take(3).all(|b| b.is_ascii_digit());
            if !has_code {
                return Err(other_protocol("SMTP"));
            }
            let is_last = line.as_bytes().get(3) != Some(&b'-');
            lines.push(line);
            if is_last {
                return Ok(lines);
            }
        }
    }

    async fn imap(&mut self) -> Result<(), ProbeError> {
        if !self.line().await?.starts_with("* ") {
            return Err(other_protocol("IMAP"));
        }
        self.say("a1 STARTTLS").await?;
        loop {
            let line = self.line().await?;
            if let Some(result) = line.strip_prefix("a1 ") {
                let is_ok = result.get(..2).is_some_and(|word| word.eq_ignore_ascii_case("OK"));
                return if is_ok { Ok(()) } else { Err(not_offered()) };
            }
            if !line.starts_with("* ") {
                return Err(other_protocol("IMAP"));
            }
        }
    }

    async fn pop3(&mut self) -> Result<(), ProbeError> {
        if !self.line().await?.starts_with("+OK") {
            return Err(other_protocol("POP3"));
        }
        self.say("STLS").await?;
        let line = self.line().await?;
        if line.starts_with("+OK") { Ok(()) } else { Err(not_offered()) }
    }

    async fn postgresql(&mut self) -> Result<(), ProbeError> {
        self.send(&POSTGRESQL_REQUEST).await?;
        match self.take(1).await?[..] {
            [b'S'] => Ok(()),
            [b'N'] => Err(not_offered()),
            _ => Err(other_protocol("PostgreSQL")),
        }
    }

    async fn mysql(&mut self) -> Result<(), ProbeError> {
        let head = self.take(4).await?;
        let length = usize::from(head[0]) | usize::from(head[1]) << 8 | usize::from(head[2]) << 16;
        if !(33..=MAX_BYTES / 2).contains(&length) {
            return Err(other_protocol("MySQL"));
        }
        let greeting = self.take(length).await?;
        // Version 10, the name of the server's version, and then 13 fixed bytes before the
        // capabilities.
        let name_end = greeting.iter().position(|byte| *byte == 0);
        let capabilities = name_end.and_then(|end| greeting.get(end + 14..end + 16));
        let Some(&[low, high]) = capabilities.filter(|_| greeting[0] == 10) else {
            return Err(other_protocol("MySQL"));
        };
        if u16::from_le_bytes([low, high]) & MYSQL_TLS == 0 {
            return Err(not_offered());
        }
        let mut request = vec![32, 0, 0, 1];
        request.extend(MYSQL_CLIENT.to_le_bytes());
        request.extend((1_u32 << 24).to_le_bytes());
        request.push(45); // utf8mb4
        request.extend([0; 23]);
        self.send(&request).await
    }

    async fn ldap(&mut self) -> Result<(), ProbeError> {
        self.send(LDAP_REQUEST).await?;
        let head = self.take(2).await?;
        // A sequence; no response to this request is long.
        let length = match (head[0], head[1]) {
            (0x30, short @ 0..=0x7F) => usize::from(short),
            (0x30, 0x81) => usize::from(self.take(1).await?[0]),
            (0x30, 0x82) => {
                let long = self.take(2).await?;
                usize::from(u16::from_be_bytes([long[0], long[1]]))
            }
            (0x30, 0x84) => {
                let long = self.take(4).await?;
                usize::try_from(u32::from_be_bytes([long[0], long[1], long[2], long[3]]))
                    .unwrap_or(usize::MAX)
            }
            _ => return Err(other_protocol("LDAP")),
        };
        if !(10..=MAX_BYTES / 2).contains(&length) {
            return Err(other_protocol("LDAP"));
        }
        let response = self.take(length).await?;
        // The message id, and the extended response, whose result code comes first.
        let code = response
            .strip_prefix(&[0x02, 0x01, 0x01, 0x78])
            .and_then(|rest| rest.iter().position(|byte| *byte == 0x0A).map(|at| &rest[at..]));
        match code {
            Some([0x0A, 0x01, 0, ..]) => Ok(()),
            Some([0x0A, 0x01, ..]) => Err(not_offered()),
            _ => Err(other_protocol("LDAP")),
        }
    }

    async fn say(&mut self, line: &str) -> Result<(), ProbeError> {
        self.record('C', line);
        self.send(format!("{line}\r\n").as_bytes()).await
    }

    async fn send(&mut self, bytes: &[u8]) -> Result<(), ProbeError> {
        self.stream.write_all(bytes).await.map_err(|error| ProbeError::from_io(&error))
    }

    /// The next line without its end.
    async fn line(&mut self) -> Result<String, ProbeError> {
        loop {
            if let Some(end) = memchr::memchr(b'\n', &self.buffer) {
                let line: Vec<u8> = self.buffer.drain(..=end).collect();
                let line = String::from_utf8_lossy(&line).trim_end().to_owned();
                self.record('S', &line);
                return Ok(line);
            }
            self.fill().await?;
        }
    }

    /// The next bytes.
    async fn take(&mut self, count: usize) -> Result<Vec<u8>, ProbeError> {
        while self.buffer.len() < count {
            self.fill().await?;
        }
        Ok(self.buffer.drain(..count).collect())
    }

    async fn fill(&mut self) -> Result<(), ProbeError> {
        let mut bytes = [0; READ_BYTES];
        let read = self.stream.read(&mut bytes).await;
        let count = read.map_err(|error| ProbeError::from_io(&error))?;
        if count == 0 {
            let message = "the server closed the connection before the TLS handshake";
            return Err(ProbeError::answered(Reason::TlsHandshake, message));
        }
        self.received += count;
        if self.received > MAX_BYTES {
            let message = "the server sends too much before the TLS handshake";
            return Err(ProbeError::answered(Reason::Protocol, message));
        }
        self.buffer.extend_from_slice(&bytes[..count]);
        Ok(())
    }

    fn record(&mut self, who: char, line: &str) {
        if self.trace.transcript.len() < MAX_TRANSCRIPT {
            let line = one_line(line, MAX_LINE_LENGTH);
            self.trace.transcript.push(format!("{who}: {line}"));
        }
    }

    /// Nothing else may have arrived: the server waits for the handshake.
    fn finish(self) -> Result<(), ProbeError> {
        let more = !self.buffer.is_empty() || matches!(self.stream.try_read(&mut [0]), Ok(1..));
        if more {
            let message = "the server sent more than its response to STARTTLS";
            return Err(ProbeError::answered(Reason::Protocol, message));
        }
        Ok(())
    }
}

fn other_protocol(name: &str) -> ProbeError {
    ProbeError::answered(Reason::Protocol, format!("the server does not speak {name} on this port"))
}

fn not_offered() -> ProbeError {
    ProbeError::answered(Reason::TlsHandshake, "the server does not offer STARTTLS")
}
