//! DNS: sends one query to one name server; up when a record of the type is
//! returned. The message is encoded and decoded here over our own sockets, so
//! that the guard sees every one of them: UDP first, TCP when the response does
//! not fit.

use hickory_proto::op::{Message, MessageType, OpCode, Query, ResponseCode};
use hickory_proto::rr::{Name, RData, Record, RecordType};
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::Instant;
use wakeful_core::monitors::spec::{DnsSpec, Host};
use wakeful_core::observation::FaultKind;

use super::TargetAnswer;
use crate::net::error::ProbeError;
use crate::net::{Deadline, Net, Stage, Target, Trace};

/// A datagram may get lost; the query is sent again after this.
const RESEND_INTERVAL: Duration = Duration::from_secs(2);
const MAX_ALIASES: usize = 8;
const MAX_ANSWERS: usize = 64;

pub(super) async fn check(
    net: &Net,
    spec: &DnsSpec,
    deadline: Deadline,
    trace: &mut Trace,
) -> Result<TargetAnswer, ProbeError> {
    let question = Question::new(spec)?;
    let server = spec.server();
    let began = Instant::now();
    let answer = match by_udp(net, &question, server, trace).await? {
        Some(answer) => answer,
        None => by_tcp(net, &question, server, deadline, trace).await?,
    };
    trace.phases.first_byte = Some(began.elapsed());
    Ok(evaluate(&question, &answer))
}

struct Question {
    id: u16,
    query: Query,
    wire: Vec<u8>,
}

impl Question {
    fn new(spec: &DnsSpec) -> Result<Self, ProbeError> {
        let invalid_name = || ProbeError::fault(FaultKind::Config, "this name cannot be queried");
        let mut name = match spec.hostname.host() {
            Host::Name(name) => Name::from_str_relaxed(name).map_err(|_| invalid_name())?,
            // The reverse name of an address, for PTR.
            Host::Address(ip) => Name::from(*ip),
        };
        name.set_fqdn(true);
        let kind: RecordType = spec.record_type.as_str().parse().map_err(|_| invalid_name())?;
        let query = Query::query(name, kind);
        let id = getrandom::u32()
            .map_err(|error| ProbeError::fault(FaultKind::Internal, error.to_string()))?
            as u16;
        let mut message = Message::new(id, MessageType::Query, OpCode::Query);
        message.metadata.recursion_desired = true;
        message.add_query(query.clone());
        let wire = message.to_vec().map_err(|_| invalid_name())?;
        Ok(Self { id, query, wire })
    }

    /// Whether these bytes can be a response to this query at all.
    fn is_answered_by(&self, bytes: &[u8]) -> bool {
        bytes.len() >= 12 && bytes[..2] == self.id.to_be_bytes() && bytes[2] & 0x80 != 0
    }

    fn read(&self, bytes: &[u8]) -> Result<Message, ProbeError> {
        let message = Message::from_vec(bytes)
            .map_err(|_| ProbeError::answered("the name server sent an invalid response"))?;
        let echoed = match &message.queries[..] {
            // Servers that refuse may omit the question.
            [] => message.metadata.response_code != ResponseCode::NoError,
            [query] => query.name == self.query.name && query.query_type == self.query.query_type,
            _ => false,
        };
        if echoed {
            Ok(message)
        } else {
            Err(ProbeError::answered("the name server responded to another query"))
        }
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
    let mut buffer = [0; 4_096];
    loop {
        socket.send(&question.wire).await.map_err(|error| ProbeError::from_io(&error))?;
        let again = Instant::now() + RESEND_INTERVAL;
        while let Ok(received) = tokio::time::timeout_at(again, socket.recv(&mut buffer)).await {
            let length = received.map_err(|error| ProbeError::from_io(&error))?;
            let bytes = &buffer[..length];
            // Anyone can send a datagram; one that does not match is ignored.
            if !question.is_answered_by(bytes) {
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
    deadline: Deadline,
    trace: &mut Trace,
) -> Result<Message, ProbeError> {
    let target = Target::Address(server.ip());
    let mut stream = net.connect_to(target, server.port(), deadline, trace).await?;
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
    if question.is_answered_by(&bytes) {
        question.read(&bytes)
    } else {
        Err(ProbeError::answered("the name server sent an invalid response"))
    }
}

fn evaluate(question: &Question, answer: &Message) -> TargetAnswer {
    let (name, kind) = (question.query.name(), question.query.query_type());
    match answer.metadata.response_code {
        ResponseCode::NoError => {}
        ResponseCode::NXDomain => {
            return TargetAnswer::down(format!("NXDOMAIN: {name} does not exist"));
        }
        ResponseCode::ServFail => {
            return TargetAnswer::down("SERVFAIL: the name server failed to resolve the name");
        }
        ResponseCode::Refused => {
            return TargetAnswer::down("REFUSED: the name server refused the query");
        }
        code => return TargetAnswer::down(format!("the name server returned {code}")),
    }
    let records = records_of(name, kind, &answer.answers);
    match records.len() {
        0 => TargetAnswer::down(format!("no {kind} records for {name}")),
        _ => TargetAnswer::up(records.join(", ")),
    }
}

/// The records of the name itself, or of the name it is an alias for.
fn records_of(name: &Name, kind: RecordType, answers: &[Record]) -> Vec<String> {
    let mut owner = name;
    for _ in 0..=MAX_ALIASES {
        let found: Vec<String> = answers
            .iter()
            .filter(|record| record.record_type() == kind && record.name == *owner)
            .take(MAX_ANSWERS)
            .map(|record| record.data.to_string())
            .collect();
        if !found.is_empty() {
            return found;
        }
        let alias = answers.iter().find_map(|record| match &record.data {
            RData::CNAME(alias) if record.name == *owner => Some(&alias.0),
            _ => None,
        });
        let Some(alias) = alias else { break };
        owner = alias;
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;
    use hickory_proto::rr::rdata::{A, CNAME};

    fn name(text: &str) -> Name {
        Name::from_ascii(text).unwrap()
    }

    fn alias(from: &str, to: &str) -> Record {
        Record::from_rdata(name(from), 60, RData::CNAME(CNAME(name(to))))
    }

    fn address(of: &str) -> Record {
        Record::from_rdata(name(of), 60, RData::A(A::new(1, 2, 3, 4)))
    }

    #[test]
    fn an_alias_is_followed_to_its_records() {
        let answers = [address("c."), alias("b.", "c."), alias("a.", "b.")];
        assert_eq!(records_of(&name("a."), RecordType::A, &answers), ["1.2.3.4"]);
        assert_eq!(records_of(&name("a."), RecordType::CNAME, &answers), ["b."]);
        assert!(records_of(&name("a."), RecordType::MX, &answers).is_empty());
    }

    #[test]
    fn circular_aliases_have_no_records() {
        let answers = [alias("a.", "b."), alias("b.", "a."), address("x.")];
        assert!(records_of(&name("a."), RecordType::A, &answers).is_empty());
    }

    #[test]
    fn records_of_another_name_do_not_count() {
        assert!(records_of(&name("a."), RecordType::A, &[address("b.")]).is_empty());
        assert_eq!(records_of(&name("A."), RecordType::A, &[address("a.")]).len(), 1);
    }

    #[test]
    fn the_number_of_reported_answers_is_bounded() {
        let many = vec![address("a."); 1_000];
        assert_eq!(records_of(&name("a."), RecordType::A, &many).len(), MAX_ANSWERS);
    }
}
