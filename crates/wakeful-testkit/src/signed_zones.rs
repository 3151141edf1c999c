//! Zones with DNSSEC: Knot DNS signs them, another instance serves one of them with a record that
//! was changed afterward, and Unbound verifies the answers of both.

use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

use crate::installed_server::InstalledServer;
use crate::wait::until;

const SIGNED_ZONE: &str = "signed.example";
const FORGED_ZONE: &str = "forged.example";
const OTHER_ADDRESS: &str = "192.0.2.66";

pub struct SignedZones {
    /// The name server of the signed zone. It verifies nothing.
    pub authority: InstalledServer,
    /// Trusts the keys of the zones, and verifies their signatures.
    pub resolver: InstalledServer,
    _forger: InstalledServer,
    _copy: TempDir,
}

impl SignedZones {
    pub const SIGNED: &'static str = "www.signed.example";
    /// Its signature is that of another address.
    pub const FORGED: &'static str = "www.forged.example";
    pub const ADDRESS: &'static str = "192.0.2.1";
    /// How long the signatures are valid.
    pub const DAYS: u32 = 14;

    pub async fn start() -> Self {
        let authority = InstalledServer::start("knotd", |folder, port| {
            for zone in [SIGNED_ZONE, FORGED_ZONE] {
                fs::write(folder.join(format!("{zone}.zone")), unsigned(zone)).unwrap();
            }
            knot(folder, port, "on")
        })
        .await;
        let signed = signed_by(&authority, SIGNED_ZONE).await;
        let forged = signed_by(&authority, FORGED_ZONE).await;
        let trusted = [key(&signed), key(&forged)];
        let forger = InstalledServer::start("knotd", |folder, port| {
            let forged = forged.replace(Self::ADDRESS, OTHER_ADDRESS);
            fs::write(folder.join(format!("{SIGNED_ZONE}.zone")), &signed).unwrap();
            fs::write(folder.join(format!("{FORGED_ZONE}.zone")), forged).unwrap();
            knot(folder, port, "off")
        })
        .await;
        let servers = [(SIGNED_ZONE, authority.port), (FORGED_ZONE, forger.port)];
        // Where AppArmor is on, Debian's Unbound reads no files of tests. A copy does.
        let copy = tempfile::tempdir().unwrap();
        let program = copy.path().join("unbound");
        fs::copy(installed("unbound"), &program).unwrap();
        let resolver = InstalledServer::start(program.to_str().unwrap(), |folder, port| {
            unbound(folder, port, &trusted, servers)
        })
        .await;
        Self { authority, resolver, _forger: forger, _copy: copy }
    }
}

/// The path of a program.
fn installed(program: &str) -> PathBuf {
    let path = format!("{}:/usr/sbin", std::env::var("PATH").unwrap_or_default());
    let mut found = std::env::split_paths(&path).map(|folder| folder.join(program));
    found
        .find(|path| path.is_file())
        .unwrap_or_else(|| panic!("{program} is missing: run scripts/install-test-deps"))
}

fn unsigned(zone: &str) -> String {
    let address = SignedZones::ADDRESS;
    format!(
        "$ORIGIN {zone}.\n$TTL 3600\n@ SOA ns hostmaster 1 3600 600 86400 60\n@ NS ns\n\
         ns A 127.0.0.1\nwww A {address}\n"
    )
}

/// The text of a zone once Knot has signed it and written it back.
async fn signed_by(server: &InstalledServer, zone: &str) -> String {
    let file = server.folder().join(format!("{zone}.zone"));
    until("a signed zone", || async {
        let text = fs::read_to_string(&file).unwrap();
        text.contains("RRSIG").then_some(text)
    })
    .await
}

/// The record of the key that a zone is signed with.
fn key(zone: &str) -> String {
    let mut records = zone.lines().map(|line| line.split_whitespace().collect::<Vec<&str>>());
    records.find(|record| record.get(2) == Some(&"DNSKEY")).unwrap().join(" ")
}

fn knot(folder: &Path, port: u16, signing: &str) -> Vec<String> {
    let (at, days) = (folder.display(), SignedZones::DAYS);
    let zone = |name| {
        format!("  - domain: {name}\n    dnssec-signing: {signing}\n    dnssec-policy: own\n")
    };
    let config = format!(
        "server:\n    rundir: \"{at}\"\n    listen: 127.0.0.1@{port}\n    udp-workers: 1\n    \
             tcp-workers: 1\n    background-workers: 1\n\
         log:\n  - target: stderr\n    any: warning\n\
         database:\n    storage: \"{at}\"\n\
         policy:\n  - id: own\n    single-type-signing: on\n    rrsig-lifetime: {days}d\n\
         template:\n  - id: default\n    storage: \"{at}\"\n\
         zone:\n{}{}",
        zone(SIGNED_ZONE),
        zone(FORGED_ZONE),
    );
    let path = folder.join("knot.conf");
    fs::write(&path, config).unwrap();
    vec!["-c".to_owned(), path.display().to_string()]
}

fn unbound(folder: &Path, port: u16, trusted: &[String], servers: [(&str, u16); 2]) -> Vec<String> {
    let keys: String = trusted.iter().map(|key| format!("    trust-anchor: \"{key}\"\n")).collect();
    let zones: String = servers
        .iter()
        .map(|(zone, port)| {
            format!("stub-zone:\n    name: \"{zone}\"\n    stub-addr: 127.0.0.1@{port}\n")
        })
        .collect();
    let config = format!(
        "server:\n    interface: 127.0.0.1\n    port: {port}\n    directory: \"{}\"\n    \
             username: \"\"\n    chroot: \"\"\n    pidfile: \"\"\n    use-syslog: no\n    \
             logfile: \"\"\n    do-ip6: no\n    do-not-query-localhost: no\n    \
             module-config: \"validator iterator\"\n    num-threads: 1\n    \
             outgoing-range: 64\n    num-queries-per-thread: 32\n{keys}{zones}",
        folder.display()
    );
    let path = folder.join("unbound.conf");
    fs::write(&path, config).unwrap();
    vec!["-d".to_owned(), "-c".to_owned(), path.display().to_string()]
}
