//! NTLM against pyspnego, an independent implementation.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::Child;
use wakeful_core::monitors::spec::{
    Authentication, Body, HttpSpec, Keyword, Method, Spec, Username,
};
use wakeful_core::observation::Contact;
use wakeful_core::secret::Secret;

use crate::servers::{TestServer, assert_down, assert_up, check, http, page};

const SERVER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/ntlm_server.py");

/// A Python with pyspnego, installed once in the target folder.
fn python() -> &'static Path {
    static PYTHON: OnceLock<PathBuf> = OnceLock::new();
    PYTHON.get_or_init(|| {
        let target = std::env::current_exe().unwrap();
        let target =
            target.ancestors().find(|path| path.ends_with("debug") || path.ends_with("release"));
        let venv = target.unwrap().join("ntlm-venv");
        let python = venv.join("bin/python");
        let ready = |python: &Path| {
            let asked = Command::new(python).args(["-c", "import spnego"]).output();
            asked.is_ok_and(|asked| asked.status.success())
        };
        // Tests run as separate processes: one installs it, the others wait.
        let lock = std::fs::File::create(venv.with_extension("lock")).unwrap();
        lock.lock().unwrap();
        if !ready(&python) {
            run(Command::new("python3").args(["-m", "venv"]).arg(&venv));
            run(Command::new(&python).args(["-m", "pip", "install", "-q", "pyspnego==0.12.0"]));
        }
        assert!(ready(&python), "pyspnego could not be installed in {}", venv.display());
        python
    })
}

fn run(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

struct Server {
    url: String,
    _child: Child,
    _users: tempfile::NamedTempFile,
}

impl Server {
    async fn start() -> Self {
        let users = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(users.path(), "CORP:ann:Pässwörd1\n:bob@corp.example:secret\n").unwrap();
        let mut child = tokio::process::Command::new(python())
            .arg(SERVER)
            .env("NTLM_USER_FILE", users.path())
            .stdout(std::process::Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let port = lines.next_line().await.unwrap().expect("the server prints its port");
        Self { url: format!("http://127.0.0.1:{port}/"), _child: child, _users: users }
    }

    fn spec(&self, username: &str, password: &str) -> HttpSpec {
        as_user(http(&self.url), username, password)
    }
}

fn as_user(spec: HttpSpec, username: &str, password: &str) -> HttpSpec {
    HttpSpec {
        authentication: Authentication::parse("NTLM").unwrap(),
        username: Username::parse(username).unwrap(),
        password: Secret::new(password),
        ..spec
    }
}

#[tokio::test]
async fn a_user_of_a_domain_is_accepted() {
    let server = Server::start().await;
    let spec = HttpSpec {
        keyword: Keyword::parse(r"hello CORP\ann GET").unwrap(),
        ..server.spec(r"CORP\ann", "Pässwörd1")
    };
    assert_up(&check(&Spec::HttpKeyword(spec)).await, "200 OK, keyword found");
}

#[tokio::test]
async fn a_user_with_a_domain_suffix_is_accepted() {
    let server = Server::start().await;
    let observation = check(&Spec::Http(server.spec("bob@corp.example", "secret"))).await;
    assert_up(&observation, "200 OK");
}

#[tokio::test]
async fn the_body_is_sent_after_authentication() {
    let server = Server::start().await;
    let spec = HttpSpec {
        method: Method::Post,
        body: Body::parse("the body").unwrap(),
        keyword: Keyword::parse(r"hello CORP\ann POST the body").unwrap(),
        ..server.spec(r"CORP\ann", "Pässwörd1")
    };
    assert_up(&check(&Spec::HttpKeyword(spec)).await, "200 OK, keyword found");
}

#[tokio::test]
async fn a_wrong_password_is_rejected() {
    let server = Server::start().await;
    let observation = check(&Spec::Http(server.spec(r"CORP\ann", "wrong"))).await;
    assert_down(&observation, Contact::Answered, "401 Unauthorized");
}

#[tokio::test]
async fn a_server_without_authentication_is_checked_normally() {
    let server = TestServer::answering(page("open to all")).await;
    let observation = check(&Spec::Http(as_user(http(server.url("/")), "ann", "x"))).await;
    assert_up(&observation, "200 OK");
}

#[tokio::test]
async fn a_garbled_challenge_is_reported() {
    let server = TestServer::answering(
        "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: NTLM AAAA\r\nContent-Length: 0\r\n\r\n",
    )
    .await;
    let observation = check(&Spec::Http(as_user(http(server.url("/")), "ann", "x"))).await;
    assert_down(&observation, Contact::Answered, "the server sent an invalid NTLM challenge");
}
