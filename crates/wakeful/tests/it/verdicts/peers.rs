//! The servers of the verdict matrix: each path, name or port has one fault.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use wakeful_core::time::Millis;
use wakeful_testkit::{Authority, DnsReply, HttpsServer, Identity, NameServer, SignedZones};

use super::lossy_echo::LossyEcho;
use crate::probes;

const NAME_SERVERS: [&str; 2] = ["127.0.0.1:53", "127.0.0.2:53"];
/// Of documentation networks: nothing answers there.
const SILENT: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
const SILENT_V6: &str = "2001:db8::1";
/// More than one segment, so that it does not arrive with the head.
const HOSTILE_BYTES: usize = 1 << 20;
/// The first check passes, and the next request is the tenth.
const FIRST_REQUEST: usize = 8;
/// How long a slow response takes.
const SLOW: Duration = Duration::from_millis(700);
const SLOW_ANSWER: Duration = Duration::from_secs(1);

/// A server on loopback that ends with the test.
pub(super) struct Peer {
    pub(super) port: u16,
    _tasks: JoinSet<()>,
}

impl Peer {
    async fn start<F>(serve: impl Fn(TcpStream) -> F + Send + 'static) -> Self
    where
        F: Future<Output = io::Result<()>> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut serving = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let work = serve(stream);
                // A client that disconnects is not a failure.
                serving.spawn(async move { drop(work.await) });
                while serving.try_join_next().is_some() {}
            }
        });
        Self { port, _tasks: tasks }
    }

    /// Sends these bytes in response to the first message, and nothing more.
    async fn replying(bytes: &'static [u8]) -> Self {
        Self::start(async move |mut stream| {
            let _ = stream.read(&mut [0; 4_096]).await?;
            stream.write_all(bytes).await?;
            wait_for_end(stream).await
        })
        .await
    }
}

/// What the plain server knows.
#[derive(Default)]
pub(super) struct Site {
    /// How often each path was requested.
    requests: Mutex<HashMap<String, usize>>,
    /// The regions of the probes, by the ids of their processes.
    regions: Mutex<HashMap<u32, &'static str>>,
}

impl Site {
    pub(super) fn set_regions(&self, regions: HashMap<u32, &'static str>) {
        *self.regions.lock().unwrap() = regions;
    }

    /// The number of this request, from 0.
    fn count(&self, path: &str) -> usize {
        let mut requests = self.requests.lock().unwrap();
        let count = requests.entry(path.to_owned()).or_default();
        *count += 1;
        *count - 1
    }

    /// The region that a connection comes from.
    fn region(&self, stream: &TcpStream) -> Option<&'static str> {
        let ports = (stream.peer_addr().ok()?.port(), stream.local_addr().ok()?.port());
        let regions = self.regions.lock().unwrap().clone();
        let socket = probes::socket(ports)?;
        regions.into_iter().find(|(pid, _)| probes::has(*pid, &socket)).map(|(_, region)| region)
    }
}

pub(super) struct Peers {
    pub(super) site: Arc<Site>,
    pub(super) http: Peer,
    pub(super) https: HttpsServer,
    pub(super) for_clients_with_certificate: HttpsServer,
    pub(super) resetting: Peer,
    pub(super) old_tls: Peer,
    pub(super) stalling: Peer,
    pub(super) plaintext: Peer,
    pub(super) failing_proxy: Peer,
    pub(super) mail_without_tls: Peer,
    /// It sends more than the response to STARTTLS before the handshake.
    pub(super) injecting_mail: Peer,
    /// A client that a server trusts.
    pub(super) client: Identity,
    /// A port that nothing listens on.
    pub(super) closed_port: u16,
    pub(super) authority: Authority,
    pub(super) zones: SignedZones,
    _names: [NameServer; 2],
    _echo: LossyEcho,
}

impl Peers {
    pub(super) async fn start() -> Self {
        let site = Arc::new(Site::default());
        let shared = site.clone();
        let http = Peer::start(move |stream| respond(stream, shared.clone())).await;
        let authority = Authority::new("Test Authority");
        let plain = http.port;
        let identities = vec![
            ("good.test", authority.issue("good.test")),
            ("expired.test", authority.issue_for_years("expired.test", (2020, 2021))),
            ("future.test", authority.issue_for_years("future.test", (2080, 2090))),
            ("wrong.test", authority.issue("other.test")),
            ("own.test", Identity::self_signed("own.test")),
            ("incomplete.test", authority.issue_without_chain("incomplete.test")),
        ];
        let https = HttpsServer::named(identities, None, move |path| match path {
            "/downgrade" => redirect(&format!("http://good.test:{plain}/ok")),
            _ => page("secure"),
        })
        .await;
        let mutual = vec![("mutual.test", authority.issue("mutual.test"))];
        let for_clients_with_certificate =
            HttpsServer::named(mutual, Some(&authority), |_| page("private")).await;
        let resetting = Peer::start(async |mut stream: TcpStream| {
            let _ = stream.read(&mut [0; 16]).await?;
            stream.set_zero_linger()
        })
        .await;
        // A ServerHello of TLS 1.0.
        let hello = b"\x16\x03\x01\x00\x2a\x02\x00\x00\x26\x03\x01\
            0123456789abcdef0123456789abcdef\x00\x00\x2f\x00";
        let closed = TcpListener::bind("127.0.0.1:0").await.unwrap();
        Self {
            site,
            http,
            https,
            for_clients_with_certificate,
            resetting,
            old_tls: Peer::replying(hello).await,
            stalling: Peer::replying(b"").await,
            plaintext: Peer::replying(b"HTTP/1.1 400 Bad Request\r\n\r\n").await,
            failing_proxy: Peer::replying(b"HTTP/1.1 502 Bad Gateway\r\n\r\n").await,
            mail_without_tls: Peer::start(|stream| serve_mail(stream, "250 mail.test\r\n", ""))
                .await,
            injecting_mail: Peer::start(|stream| {
                serve_mail(
                    stream,
                    "250-mail.test\r\n250 STARTTLS\r\n",
                    "220 go\r\n250 injected\r\n",
                )
            })
            .await,
            client: authority.issue("client.test"),
            closed_port: closed.local_addr().unwrap().port(),
            authority,
            zones: SignedZones::start().await,
            _names: [name_server(0).await, name_server(1).await],
            _echo: LossyEcho::start(),
        }
    }
}

async fn name_server(number: usize) -> NameServer {
    let here = IpAddr::from(Ipv4Addr::LOCALHOST);
    NameServer::start(NAME_SERVERS[number].parse().unwrap(), move |name| match name {
        "nxdomain.test" => DnsReply::Code(NameServer::NXDOMAIN),
        "servfail.test" => DnsReply::Code(NameServer::SERVFAIL),
        "refused.test" => DnsReply::Code(NameServer::REFUSED),
        "no-address.test" => DnsReply::Code(0),
        "dangling.test" => DnsReply::Aliases(vec!["nxdomain.test"], NameServer::NXDOMAIN),
        "loop.test" => DnsReply::Aliases(vec!["noose.test", "loop.test"], 0),
        "noose.test" => DnsReply::Aliases(vec!["loop.test", "noose.test"], 0),
        // Whether the resolver works at all is found out with the root.
        "silent.test" | "" => DnsReply::Silence,
        "half.test" if number == 0 => DnsReply::Silence,
        "two.test" => DnsReply::Addresses(vec![SILENT.into(), here]),
        "dead-v6.test" => DnsReply::Addresses(vec![SILENT_V6.parse().unwrap(), here]),
        "slow.test" => DnsReply::Late(SLOW_ANSWER, vec![here]),
        "metadata.test" => DnsReply::Addresses(vec![Ipv4Addr::new(169, 254, 169, 254).into()]),
        _ => DnsReply::Addresses(vec![here]),
    })
    .await
}

/// The response of the plain server to a path.
async fn respond(mut stream: TcpStream, site: Arc<Site>) -> io::Result<()> {
    let mut request = [0; 4_096];
    let length = stream.read(&mut request).await?;
    let request = String::from_utf8_lossy(&request[..length]).into_owned();
    let mut words = request.split(' ');
    let method = words.next().unwrap_or_default();
    let path = words.next().unwrap_or_default();
    let bytes = match path.split('/').collect::<Vec<&str>>().as_slice() {
        ["", "status", code] => answer(code, "", "blocked by the firewall"),
        ["", "silent"] => return wait_for_end(stream).await,
        ["", "drip"] => return drip(stream).await,
        ["", "cut"] => b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nx".to_vec(),
        ["", "lengths"] => {
            b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx".to_vec()
        }
        ["", "garbage"] => b"SSH-2.0-OpenSSH_9.2\r\n".to_vec(),
        ["", "loop"] => redirect("/loop"),
        ["", "hop", "11"] => page("arrived"),
        ["", "hop", number] => redirect(&format!("/hop/{}", number.parse::<u8>().unwrap() + 1)),
        ["", "away", port] => redirect(&format!("http://elsewhere.test:{port}/ok")),
        ["", "no-head"] if method == "HEAD" => answer("405", "", ""),
        ["", "no-get"] if method == "GET" => answer("503", "", ""),
        ["", "tenth", _] if (site.count(path) + FIRST_REQUEST + 1).is_multiple_of(10) => {
            answer("500", "", "")
        }
        ["", "course", _, course] => follow_course(course, site.count(path)).await,
        ["", "regions", failing] => {
            let region = site.region(&stream);
            let fails = region.is_some_and(|region| failing.split('+').any(|one| one == region));
            if fails { answer("503", "", "") } else { page("Welcome to the shop") }
        }
        ["", "changing", _] => page(&format!("version {}", site.count(path).min(1))),
        ["", "token"] => {
            page(r#"{"access_token": "good", "token_type": "bearer", "expires_in": 60}"#)
        }
        ["", "bearer"] if request.contains("authorization: Bearer good\r\n") => page("private"),
        ["", "bearer"] => answer("401", "WWW-Authenticate: Bearer\r\n", ""),
        ["", "digest"] => {
            let challenge = "Digest realm=\"shop\", nonce=\"n\", qop=\"auth\", algorithm=SHA-256";
            answer("401", &format!("WWW-Authenticate: {challenge}\r\n"), "")
        }
        ["", "rdap", state, "domain", "shop.test"] => registration(state),
        ["", "rdap", ..] => answer("404", "", ""),
        ["", "queue"] => page(r#"{"queue": {"depth": 1834}}"#),
        ["", "empty"] => page(""),
        ["", "error"] => page("<h1>Database error</h1>"),
        ["", "defaced"] => page("You have been hacked"),
        ["", "script"] => page("<p>Shop</p><SCRIPT src=//evil.test/x.js></SCRIPT>"),
        ["", "hostile"] => page(&format!("{}..", "[".repeat(HOSTILE_BYTES - 2))),
        _ => page("Welcome to the shop"),
    };
    stream.write_all(&bytes).await?;
    stream.shutdown().await?;
    wait_for_end(stream).await
}

/// What a registry knows about a domain in this state.
#[expect(clippy::disallowed_methods, reason = "the service under test has the same clock")]
fn registration(state: &str) -> Vec<u8> {
    let (days, status) = match state {
        "good" => (400, "active"),
        "expiring" => (40, "active"),
        "expired" => (-1, "active"),
        "hold" => (400, "client hold"),
        "busy" => return answer("429", "", ""),
        _ => return answer("404", "", ""),
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis();
    let expires = Millis(i64::try_from(now).unwrap() + days * 86_400_000);
    page(&format!(
        r#"{{"objectClassName": "domain", "ldhName": "shop.test", "status": ["{status}"],
            "events": [{{"eventAction": "expiration", "eventDate": "{expires}"}}]}}"#
    ))
}

/// A mail server with these responses to EHLO and STARTTLS.
async fn serve_mail(mut stream: TcpStream, hello: &str, go: &str) -> io::Result<()> {
    stream.write_all(b"220 mail.test ESMTP\r\n").await?;
    let _ = stream.read(&mut [0; 512]).await?;
    stream.write_all(hello.as_bytes()).await?;
    let _ = stream.read(&mut [0; 512]).await?;
    stream.write_all(go.as_bytes()).await?;
    wait_for_end(stream).await
}

/// The response to a request of a course: each character is one request, and the last one repeats.
/// `s` is slow, `d` is down, and `u` is neither.
async fn follow_course(course: &str, number: usize) -> Vec<u8> {
    match course.as_bytes()[number.min(course.len() - 1)] {
        b's' => {
            tokio::time::sleep(SLOW).await;
            page("Welcome to the shop, at last")
        }
        b'd' => answer("503", "", ""),
        _ => page("Welcome to the shop"),
    }
}

/// Bytes of a body, one after the other, for longer than any check lasts.
async fn drip(mut stream: TcpStream) -> io::Result<()> {
    stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n").await?;
    let mut ticks = tokio::time::interval(Duration::from_millis(100));
    loop {
        ticks.tick().await;
        stream.write_all(b"x").await?;
    }
}

async fn wait_for_end(mut stream: TcpStream) -> io::Result<()> {
    tokio::io::copy(&mut stream, &mut tokio::io::sink()).await.map(drop)
}

fn page(body: &str) -> Vec<u8> {
    answer("200", "", body)
}

fn redirect(to: &str) -> Vec<u8> {
    answer("302", &format!("Location: {to}\r\n"), "")
}

fn answer(status: &str, headers: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status} Reply\r\nContent-Length: {length}\r\nConnection: close\r\n{headers}\r\n"
    );
    [head.as_bytes(), body.as_bytes()].concat()
}
