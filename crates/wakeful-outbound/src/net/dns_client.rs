//! One query to one name server. The message is encoded and decoded here over our own sockets,
//! so that the guard sees every one of them: UDP first, TCP when the response does not fit. Name
//! servers that users choose are only queried here.

use futures_util::future::join_all;
use hickory_proto::op::{Edns, Message, MessageType, OpCode, Query, ResponseCode};
use hickory_proto::rr::{Name, Record, RecordType};
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::Instant;
use wakeful_core::monitors::spec::IpFamily;
use wakeful_core::observation::FaultKind;
use wakeful_core::reason::Reason;

use super::error::ProbeError;
use super::resolve::{Resolved, refused};
use super::{Deadline, Net, Stage, Trace, add};

/// A datagram may get lost; the query is sent again after this.
const RESEND_INTERVAL: Duration = Duration::from_secs(2);
const MAX_DATAGRAM: u16 = 4_096;
/// The most addresses of a name that are read.
const MAX_ADDRESSES: usize = 16;
/// How long a name server that a user chose may take.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(5);

impl Net {
    /// The addresses of a name, from this name server. If it does not answer, nothing is known
    /// about the target.
    pub(crate) async fn lookup_at(
        &self,
        server: SocketAddr,
        name: &str,
        family: IpFamily,
        deadline: Deadline,
    ) -> Result<Resolved, ProbeError> {
        let parsed = Name::from_str_relaxed(name).map_err(|_| cannot_query())?;
        let kinds: &[RecordType] = match family {
            IpFamily::V4 => &[RecordType::A],
            IpFamily::V6 => &[RecordType::AAAA],
            IpFamily::Any | IpFamily::Both => &[RecordType::AAAA, RecordType::A],
        };
        let queries = kinds.iter().map(|kind| self.addresses_at(server, &parsed, *kind));
        let left = deadline.at().saturating_duration_since(Instant::now());
        // Not all of the time: the result must be returned before the deadline.
        let limit = LOOKUP_TIMEOUT.min(left.mul_f64(0.8));
        let silent = || {
            let message = format!("the resolver {server} of this monitor does not answer");
            ProbeError::fault(FaultKind::Network, message)
        };
        let answers = tokio::time::timeout(limit, join_all(queries)).await.map_err(|_| silent())?;
        let mut found = Vec::new();
        let mut failure = None;
        for answer in answers {
            match answer {
                Ok((ResponseCode::NoError, records)) => found.extend(records),
                Ok((code, _)) => failure = Some(refused(name, code)),
                Err(ProbeError::Fault(fault)) if fault.kind == FaultKind::Egress => {
                    return Err(ProbeError::Fault(fault));
                }
                Err(_) => failure = Some(silent()),
            }
        }
        match failure {
            Some(failure) if found.is_empty() => Err(failure),
            _ => {
                let ttl = found.iter().map(|(_, ttl)| *ttl).min();
                Ok(Resolved { addrs: found.into_iter().map(|(ip, _)| ip).collect(), ttl })
            }
        }
    }

    /// The addresses of one family, each with its time to live.
    async fn addresses_at(
        &self,
        server: SocketAddr,
        name: &Name,
        kind: RecordType,
    ) -> Result<(ResponseCode, Vec<(IpAddr, u32)>), ProbeError> {
        let question = Question::new(name.clone(), kind, Signatures::Ignored)?;
        let answer = ask(self, &question, server, &mut Trace::default()).await?;
        let address = |record: &Record| Some((record.data.ip_addr()?, record.ttl));
        let records = answer.answers.iter().filter_map(address);
        Ok((answer.metadata.response_code, records.take(MAX_ADDRESSES).collect()))
    }
}

/// What is asked about the signatures of records.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signatures {
    Ignored,
    /// They are returned, and a server that verifies them says whether they are valid.
    Verified,
    /// They are returned, also those that a server rejects.
    Unverified,
}

pub(crate) struct Question {
    id: u16,
    pub(crate) query: Query,
    wire: Vec<u8>,
}

impl Question {
    pub(crate) fn new(
        mut name: Name,
        kind: RecordType,
        signatures: Signatures,
    ) -> Result<Self, ProbeError> {
        name.set_fqdn(true);
        let query = Query::query(name, kind);
        let id = getrandom::u32()
            .map_err(|error| ProbeError::fault(FaultKind::Internal, error.to_string()))?
            as u16;
        let mut message = Message::new(id, MessageType::Query, OpCode::Query);
        message.metadata.recursion_desired = true;
        message.add_query(query.clone());
        if signatures != Signatures::Ignored {
            message.metadata.authentic_data = true;
            message.metadata.checking_disabled = signatures == Signatures::Unverified;
            let mut edns = Edns::new();
            edns.set_max_payload(MAX_DATAGRAM).set_dnssec_ok(true);
            message.set_edns(edns);
        }
        let wire = message.to_vec().map_err(|_| cannot_query())?;
        Ok(Self { id, query, wire })
    }

    /// Whether these bytes can be a response to this query at all.
    fn is_answered_by(&self, bytes: &[u8]) -> bool {
        bytes.len() >= 12 && bytes[..2] == self.id.to_be_bytes() && bytes[2] & 0x80 != 0
    }

    fn read(&self, bytes: &[u8]) -> Result<Message, ProbeError> {
        let message = Message::from_vec(bytes).map_err(|_| invalid_response())?;
        let echoed = match &message.queries[..] {
            // Servers that refuse may omit the question.
            [] => message.metadata.response_code != ResponseCode::NoError,
            [query] => query.name == self.query.name && query.query_type == self.query.query_type,
            _ => false,
        };
        if echoed {
            Ok(message)
        } else {
            Err(ProbeError::answered(
                Reason::Protocol,
                "the name server responded to another query",
            ))
        }
    }
}

/// How many datagrams that do not match are read: each one takes time.
const MAX_OTHERS: usize = 512;

/// Sends a query, and returns the response.
pub(crate) async fn ask(
    net: &Net,
    question: &Question,
    server: SocketAddr,
    trace: &mut Trace,
) -> Result<Message, ProbeError> {
    match by_udp(net, question, server, trace).await? {
        Some(answer) => Ok(answer),
        None => by_tcp(net, question, server, trace).await,
    }
}

/// The response, or `None` when it does not fit into a datagram.
async fn by_udp(
    net: &Net,
    question: &Question,
    server: SocketAddr,
    trace: &mut Trace,
) -> Result<Option<Message>, ProbeError> {
    let socket = net.datagrams(server).await?;
    trace.stage = Stage::Waiting;
    let mut buffer = [0; MAX_DATAGRAM as usize];
    let mut others = 0;
    loop {
        socket.send(&question.wire).await.map_err(|error| ProbeError::from_io(&error))?;
        let again = Instant::now() + RESEND_INTERVAL;
        while let Ok(received) = tokio::time::timeout_at(again, socket.recv(&mut buffer)).await {
            let length = received.map_err(|error| ProbeError::from_io(&error))?;
            let bytes = &buffer[..length];
            // Anyone can send a datagram; one that does not match is ignored.
            if !question.is_answered_by(bytes) {
                others += 1;
                if others > MAX_OTHERS {
                    let message = "the name server responds to other queries only";
                    return Err(ProbeError::answered(Reason::Protocol, message));
                }
                continue;
            }
            let truncated = bytes[2] & 0x02 != 0;
            return if truncated { Ok(None) } else { question.read(bytes).map(Some) };
        }
    }
}

async fn by_tcp(
    net: &Net,
    question: &Question,
    server: SocketAddr,
    trace: &mut Trace,
) -> Result<Message, ProbeError> {
    trace.stage = Stage::Connecting;
    let began = Instant::now();
    let (_, mut stream) = net.open(server).await?;
    add(&mut trace.phases.connect, began.elapsed());
    trace.stage = Stage::Waiting;
    let length = u16::try_from(question.wire.len()).unwrap_or_default();
    let framed = [&length.to_be_bytes(), question.wire.as_slice()].concat();
    let exchange = async {
        stream.write_all(&framed).await?;
        let length = stream.read_u16().await?;
        let mut bytes = vec![0; length.into()];
        stream.read_exact(&mut bytes).await?;
        Ok(bytes)
    };
    let bytes = exchange.await.map_err(|error: std::io::Error| ProbeError::from_io(&error))?;
    if question.is_answered_by(&bytes) { question.read(&bytes) } else { Err(invalid_response()) }
}

pub(crate) fn cannot_query() -> ProbeError {
    ProbeError::fault(FaultKind::Config, "this name cannot be queried")
}

fn invalid_response() -> ProbeError {
    ProbeError::answered(Reason::Protocol, "the name server sent an invalid response")
}
