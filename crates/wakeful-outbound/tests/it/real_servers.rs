//! The options of requests with servers that others have written: nginx, Apache, Tinyproxy and
//! microsocks. `scripts/install-test-deps` installs them.

use std::fs;
use std::path::Path;
use wakeful_core::monitors::hostname::Hostname;
use wakeful_core::monitors::spec::http::password;
use wakeful_core::monitors::spec::{
    Authentication, HttpSpec, HttpVersion, Proxy, RequestOptions, Spec, TlsSpec, Username,
};
use wakeful_core::observation::{FaultKind, Observation};
use wakeful_core::reason::Reason;
use wakeful_core::secret::Secret;
use wakeful_outbound::net::client_auth::read_client_certificate;
use wakeful_testkit::{Authority, Identity, InstalledServer};

use crate::servers::{LONG_TIMEOUT, TestServer, check_with, http, net, page};

fn with_options(url: &str, options: RequestOptions) -> Spec {
    Spec::Http(HttpSpec { options: options.boxed(), ..http(url) })
}

async fn seen(spec: &Spec) -> Observation {
    check_with(&net(), spec, LONG_TIMEOUT).await.unwrap()
}

/// Writes a file, and returns its path.
fn write(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

/// nginx with TLS and HTTP/2. It requires a client certificate of the authority.
async fn nginx(authority: &Authority, own: &Identity) -> InstalledServer {
    InstalledServer::start("nginx", |folder, port| {
        let certificate = write(folder, "own.pem", &own.pem.0);
        let key = write(folder, "own.key", &own.pem.1);
        let clients = write(folder, "clients.pem", authority.pem());
        let at = folder.display();
        let config = format!(
            "daemon off;
            master_process off;
            pid {at}/pid;
            error_log stderr;
            events {{}}
            http {{
                access_log off;
                client_body_temp_path {at}/body;
                proxy_temp_path {at}/proxy;
                fastcgi_temp_path {at}/fastcgi;
                uwsgi_temp_path {at}/uwsgi;
                scgi_temp_path {at}/scgi;
                server {{
                    listen 127.0.0.1:{port} ssl http2;
                    ssl_certificate {certificate};
                    ssl_certificate_key {key};
                    ssl_client_certificate {clients};
                    ssl_verify_client on;
                    location / {{ return 200 'for $ssl_client_s_dn over $server_protocol'; }}
                }}
            }}"
        );
        let config = write(folder, "nginx.conf", &config);
        vec!["-c".to_owned(), config, "-p".to_owned(), at.to_string()]
    })
    .await
}

#[tokio::test]
async fn nginx_accepts_a_client_certificate_over_http_2() {
    let authority = Authority::new("Test Authority");
    let server = nginx(&authority, &authority.issue("localhost")).await;
    let url = format!("https://localhost:{}/", server.port);
    let client = authority.issue("client.test");
    let certificate =
        read_client_certificate(&client.pem.0, &Secret::new(client.pem.1.as_str())).unwrap();
    let options = |with: bool, version| RequestOptions {
        client_certificate: with.then(|| certificate.clone()),
        ca: authority.pem().to_owned(),
        version,
        ..RequestOptions::default()
    };
    for version in [HttpVersion::Auto, HttpVersion::Http2, HttpVersion::Http11] {
        let presented = seen(&with_options(&url, options(true, version))).await;
        assert!(presented.up, "{presented:?}");
    }
    // Without a certificate, nginx finishes the handshake and then responds with 400.
    let without = seen(&with_options(&url, options(false, HttpVersion::Auto))).await;
    assert_eq!(without.reason, Some(Reason::HttpStatus), "{without:?}");
    // It presents a certificate of an authority that the system does not trust.
    let tls = TlsSpec::of(Hostname::parse("localhost").unwrap(), server.port);
    let untrusted = seen(&Spec::Tls(tls)).await;
    assert_eq!(untrusted.reason, Some(Reason::TlsUntrusted), "{untrusted:?}");
}

#[tokio::test]
async fn apache_accepts_digest_authentication() {
    // MD5 of the user, the realm and the password.
    const USERS: &str = "ann:shop:bf526dc632ea552a94971c56292e78cd\n";
    let server = InstalledServer::start("apache2", |folder, port| {
        let users = write(folder, "users", USERS);
        write(folder, "index.html", "private");
        let at = folder.display();
        let load = |name: &str, file: &str| {
            format!("LoadModule {name}_module /usr/lib/apache2/modules/mod_{file}.so\n")
        };
        let modules: String = [
            ("mpm_event", "mpm_event"),
            ("authn_core", "authn_core"),
            ("authn_file", "authn_file"),
            ("authz_core", "authz_core"),
            ("authz_user", "authz_user"),
            ("auth_digest", "auth_digest"),
        ]
        .iter()
        .map(|(name, file)| load(name, file))
        .collect();
        let config = format!(
            "{modules}
            User nobody
            Group nogroup
            ServerName localhost
            Listen 127.0.0.1:{port}
            PidFile {at}/pid
            ErrorLog {at}/log
            DefaultRuntimeDir {at}
            DocumentRoot {at}
            <Directory {at}>
                AuthType Digest
                AuthName shop
                AuthDigestDomain /
                AuthUserFile {users}
                Require valid-user
            </Directory>"
        );
        let config = write(folder, "apache.conf", &config);
        vec!["-X".to_owned(), "-f".to_owned(), config]
    })
    .await;
    let spec = |text: &str| {
        let url = format!("http://127.0.0.1:{}/index.html?a=b", server.port);
        Spec::Http(HttpSpec {
            authentication: Authentication::parse("digest").unwrap(),
            username: Username::parse("ann").unwrap(),
            password: password(text).unwrap(),
            ..http(url)
        })
    };
    let right = seen(&spec("s3ntinel")).await;
    assert!(right.up, "{right:?}");
    let wrong = seen(&spec("other")).await;
    assert_eq!(wrong.reason, Some(Reason::HttpStatus), "{wrong:?}");
}

/// A target is reached through the proxy, a closed port is not, and a wrong password is a fault.
async fn assert_proxy(scheme: &str, port: u16) {
    let target = TestServer::answering(page("ok")).await;
    let through = |url: &str, login: &str| {
        let proxy = Proxy::parse(&format!("{scheme}://{login}@127.0.0.1:{port}")).unwrap();
        with_options(url, RequestOptions { proxy: Some(proxy), ..RequestOptions::default() })
    };
    let reached = seen(&through(&target.url("/"), "ann:s3ntinel")).await;
    assert!(reached.up, "{reached:?}");
    let closed = seen(&through("http://127.0.0.1:1/", "ann:s3ntinel")).await;
    assert_eq!(closed.reason, Some(Reason::Proxy), "{closed:?}");
    let wrong = check_with(&net(), &through(&target.url("/"), "ann:other"), LONG_TIMEOUT).await;
    assert_eq!(wrong.unwrap_err().kind, FaultKind::Config);
    assert_eq!(target.connection_count(), 1);
}

#[tokio::test]
async fn tinyproxy_opens_tunnels() {
    let server = InstalledServer::start("tinyproxy", |folder, port| {
        let config = format!(
            "Port {port}\nListen 127.0.0.1\nTimeout 30\nBasicAuth ann s3ntinel\nLogFile \"{}/proxy.log\"\n",
            folder.display()
        );
        vec!["-d".to_owned(), "-c".to_owned(), write(folder, "tinyproxy.conf", &config)]
    })
    .await;
    assert_proxy("http", server.port).await;
}

#[tokio::test]
async fn microsocks_opens_connections() {
    let server = InstalledServer::start("microsocks", |_, port| {
        let text = format!("-i 127.0.0.1 -p {port} -u ann -P s3ntinel");
        text.split(' ').map(str::to_owned).collect()
    })
    .await;
    assert_proxy("socks5", server.port).await;
}
