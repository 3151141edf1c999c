//! DNS: sends one query to one name server; up when a record of the type is
//! returned.

use hickory_proto::op::{Message, ResponseCode};
use hickory_proto::rr::{Name, RData, Record, RecordType};
use tokio::time::Instant;
use wakeful_core::assert::{Found, Source};
use wakeful_core::monitors::spec::{DnsSpec, Host};
use wakeful_core::reason::Reason;
use wakeful_core::time::Millis;

use super::{CheckRequest, TargetAnswer, facts};
use crate::net::dns_client::{Question, Signatures, ask, cannot_query};
use crate::net::error::ProbeError;
use crate::net::{Deadline, Net, Trace};

const MAX_ALIASES: usize = 8;
const MAX_ANSWERS: usize = 64;

pub(super) async fn check(
    net: &Net,
    spec: &DnsSpec,
    check: &CheckRequest<'_>,
    deadline: Deadline,
    trace: &mut Trace,
) -> Result<TargetAnswer, ProbeError> {
    let signatures =
        if check.asserts(&[Source::Dnssec]) { Signatures::Verified } else { Signatures::Ignored };
    let question = question(spec, signatures)?;
    let server = spec.server();
    trace.address = Some(server);
    let began = Instant::now();
    let answer = ask(net, &question, server, trace).await?;
    trace.phases.first_byte = Some(began.elapsed());
    let facts = DnsFacts::of(&question, &answer);
    // An assertion about the code says what is expected instead.
    let evaluated = if check.asserts(&[Source::Code]) {
        TargetAnswer::up(facts.summary())
    } else if signatures == Signatures::Verified
        && facts.code == ResponseCode::ServFail
        && Box::pin(rejects_signatures(net, spec, deadline)).await
    {
        let name = question.query.name();
        let message = format!("SERVFAIL: the name server rejects the signatures of {name}");
        TargetAnswer::down(Reason::Dnssec, message)
    } else {
        evaluate(&question, &facts)
    };
    Ok(TargetAnswer { dns: Some(Box::new(facts)), ..evaluated })
}

/// Whether a server that failed answers as soon as it does not have to verify signatures.
async fn rejects_signatures(net: &Net, spec: &DnsSpec, deadline: Deadline) -> bool {
    let Ok(question) = question(spec, Signatures::Unverified) else { return false };
    let left = deadline.at().saturating_duration_since(Instant::now());
    let mut trace = Trace::default();
    // Not all of the time: the result must be returned before the deadline.
    let asked = ask(net, &question, spec.server(), &mut trace);
    let answer = tokio::time::timeout(left.mul_f64(0.8), asked).await;
    let code = answer.ok().and_then(Result::ok).map(|answer| answer.metadata.response_code);
    matches!(code, Some(ResponseCode::NoError | ResponseCode::NXDomain))
}

fn question(spec: &DnsSpec, signatures: Signatures) -> Result<Question, ProbeError> {
    let name = match spec.hostname.host() {
        Host::Name(name) => Name::from_str_relaxed(name).map_err(|_| cannot_query())?,
        // The reverse name of an address, for PTR.
        Host::Address(ip) => Name::from(*ip),
    };
    let kind: RecordType = spec.record_type.as_str().parse().map_err(|_| cannot_query())?;
    Question::new(name, kind, signatures)
}

/// What a name server returned.
#[derive(Clone)]
pub(crate) struct DnsFacts {
    code: ResponseCode,
    records: Vec<String>,
    ttl: Option<u32>,
    authenticated: bool,
    /// When the first signature expires, in seconds since 1970.
    signed_until: Option<u32>,
    question: String,
}

impl DnsFacts {
    fn of(question: &Question, answer: &Message) -> Self {
        let (name, kind) = (question.query.name(), question.query.query_type());
        let records = records_of(name, kind, &answer.answers);
        let signed =
            answer.answers.iter().filter(|record| record.record_type() == RecordType::RRSIG);
        Self {
            code: answer.metadata.response_code,
            ttl: records.iter().map(|record| record.ttl).min(),
            records: records.iter().map(|record| record.data.to_string()).collect(),
            authenticated: answer.metadata.authentic_data,
            signed_until: signed.filter_map(|record| expiration(&record.data)).min(),
            question: format!("{kind} {name}"),
        }
    }

    /// The code in the form of RFC 1035: `NXDOMAIN`.
    fn code(&self) -> &'static str {
        match self.code {
            ResponseCode::NoError => "NOERROR",
            ResponseCode::FormErr => "FORMERR",
            ResponseCode::ServFail => "SERVFAIL",
            ResponseCode::NXDomain => "NXDOMAIN",
            ResponseCode::NotImp => "NOTIMP",
            ResponseCode::Refused => "REFUSED",
            other => other.to_str(),
        }
    }

    fn summary(&self) -> String {
        match self.records.len() {
            0 => self.code().to_owned(),
            _ => self.records.join(", "),
        }
    }

    pub(super) fn find(&self, source: Source, property: &str, now: Millis) -> Found<'_> {
        match source {
            Source::Code => facts::text(Some(self.code())),
            Source::Record => {
                Found::Texts(self.records.iter().map(|record| record.as_str().into()).collect())
            }
            Source::Records => Found::Text(self.records.len().to_string().into()),
            Source::Ttl => Found::number(self.ttl.map(f64::from)),
            Source::Dnssec if property == "authenticated" => {
                facts::text(Some(if self.authenticated { "true" } else { "false" }))
            }
            Source::Dnssec => Found::number(self.signed_until.map(|until| {
                let days = (f64::from(until) - now.0 as f64 / 1e3) / 86_400.0;
                (days * 1e3).floor() / 1e3
            })),
            _ => Found::Missing,
        }
    }

    /// The query and its answer, for the evidence.
    pub(super) fn transcript(&self, now: Millis) -> impl Iterator<Item = String> {
        let head = [format!("C: {}", self.question), format!("S: {}", self.code())];
        let signed = match self.find(Source::Dnssec, "signature_days_left", now) {
            Found::Text(days) => Some(format!("S: signed for {days} more days")),
            _ => None,
        };
        let records = self.records.iter().map(|record| format!("S: {record}"));
        head.into_iter().chain(signed).chain(records)
    }
}

/// When a signature expires: RFC 4034, section 3.1. The decoder does not know its fields.
fn expiration(data: &RData) -> Option<u32> {
    let RData::Unknown { rdata, .. } = data else { return None };
    let bytes = rdata.anything.get(8..12)?;
    Some(u32::from_be_bytes(bytes.try_into().ok()?))
}

fn evaluate(question: &Question, facts: &DnsFacts) -> TargetAnswer {
    let (name, kind) = (question.query.name(), question.query.query_type());
    match facts.code {
        ResponseCode::NoError => {}
        ResponseCode::NXDomain => {
            let message = format!("NXDOMAIN: {name} does not exist");
            return TargetAnswer::down(Reason::DnsNxdomain, message);
        }
        ResponseCode::ServFail => {
            let message = "SERVFAIL: the name server failed to resolve the name";
            return TargetAnswer::down(Reason::DnsServfail, message);
        }
        ResponseCode::Refused => {
            let message = "REFUSED: the name server refused the query";
            return TargetAnswer::down(Reason::DnsRefused, message);
        }
        code => {
            let message = format!("the name server returned {code}");
            return TargetAnswer::down(Reason::DnsServfail, message);
        }
    }
    match facts.records.len() {
        0 => TargetAnswer::down(Reason::DnsNoRecords, format!("no {kind} records for {name}")),
        _ => TargetAnswer::up(facts.summary()),
    }
}

/// The records of the name itself, or of the name it is an alias for.
fn records_of<'a>(name: &'a Name, kind: RecordType, answers: &'a [Record]) -> Vec<&'a Record> {
    let mut owner = name;
    for _ in 0..=MAX_ALIASES {
        let found: Vec<&Record> = answers
            .iter()
            .filter(|record| record.record_type() == kind && record.name == *owner)
            .take(MAX_ANSWERS)
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

    fn texts(name: &Name, kind: RecordType, answers: &[Record]) -> Vec<String> {
        records_of(name, kind, answers).iter().map(|record| record.data.to_string()).collect()
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
        assert_eq!(texts(&name("a."), RecordType::A, &answers), ["1.2.3.4"]);
        assert_eq!(texts(&name("a."), RecordType::CNAME, &answers), ["b."]);
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
