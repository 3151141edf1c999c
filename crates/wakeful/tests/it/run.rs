//! `wakeful run`: real commands, and a server that fails at first.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::AsyncReadExt as _;
use tokio::process::Command;
use wakeful_testkit::until;

/// A request: its path with the query, and its body.
type Requests = Arc<Mutex<Vec<(String, String)>>>;

/// A server that answers the first `failures` requests with 503.
fn server(failures: usize) -> (String, Requests) {
    failing_server(failures, "503 Service Unavailable")
}

/// A server that answers the first `failures` requests with `failure`.
fn failing_server(failures: usize, failure: &'static str) -> (String, Requests) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let requests = Requests::default();
    let seen = Arc::clone(&requests);
    std::thread::spawn(move || {
        for connection in listener.incoming() {
            let mut connection = connection.unwrap();
            let (path, body) = read(&mut connection);
            let count = {
                let mut seen = seen.lock().unwrap();
                seen.push((path, body));
                seen.len()
            };
            let status = if count <= failures { failure } else { "200 OK" };
            let answer =
                format!("HTTP/1.1 {status}\r\nContent-Length: 2\r\nConnection: close\r\n\r\nOK");
            let _ = connection.write_all(answer.as_bytes());
        }
    });
    (format!("http://{address}/ping/00000000-0000-4000-8000-000000000001"), requests)
}

/// Each path, without the id of the run.
fn paths(requests: &Requests) -> Vec<String> {
    let without_rid = |(path, _): &(String, String)| {
        let (before, rid) = path.split_once("rid=").unwrap();
        format!("{before}rid={}", &rid[36..])
    };
    requests.lock().unwrap().iter().map(without_rid).collect()
}

/// The path and the body of a request.
fn read(connection: &mut TcpStream) -> (String, String) {
    let mut reader = BufReader::new(connection);
    let (mut path, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if path.is_empty() {
            line.split(' ').nth(1).unwrap_or_default().clone_into(&mut path);
        }
        if let Some(number) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = number.trim().parse().unwrap();
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    (path, String::from_utf8(body).unwrap())
}

fn wakeful(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wakeful"));
    command.arg("run").args(arguments).stdin(Stdio::null()).kill_on_drop(true);
    command
}

/// The end of each path, and what was sent.
fn ends(requests: &Requests) -> Vec<(String, String)> {
    let requests = requests.lock().unwrap();
    let end = |path: &String| {
        let path = path.split('?').next().unwrap_or_default();
        path.rsplit('/').next().unwrap_or_default().to_owned()
    };
    requests.iter().map(|(path, body)| (end(path), body.clone())).collect()
}

#[tokio::test]
async fn a_command_is_run_and_its_code_and_output_are_reported() {
    let (url, requests) = server(0);
    let script = "printf out; printf err >&2; printf %0100d 7; exit 3";
    let run =
        wakeful(&["--url", &url, "--tail", "5", "--", "sh", "-c", script]).output().await.unwrap();
    assert_eq!(run.status.code(), Some(3));
    assert_eq!(String::from_utf8_lossy(&run.stdout), format!("out{}7", "0".repeat(99)));
    assert_eq!(String::from_utf8_lossy(&run.stderr), "err");
    let sent = ends(&requests);
    assert_eq!(sent[0], ("start".to_owned(), String::new()));
    assert_eq!((sent[1].0.as_str(), sent[1].1.len()), ("3", 5));
    assert_eq!(sent.len(), 2);
    let rids: Vec<String> = requests
        .lock()
        .unwrap()
        .iter()
        .map(|(path, _)| path.split("rid=").nth(1).unwrap().to_owned())
        .collect();
    assert!(rids[0] == rids[1] && rids[0].len() == 36, "{rids:?}");

    let quiet =
        wakeful(&["--url", &url, "--no-output", "--", "echo", "secret"]).output().await.unwrap();
    assert_eq!((quiet.status.code(), &quiet.stdout[..]), (Some(0), &b"secret\n"[..]));
    assert_eq!(ends(&requests).pop(), Some(("0".to_owned(), String::new())));
    let missing = wakeful(&["--url", &url, "--", "/no/such/command"]).output().await.unwrap();
    assert_eq!(missing.status.code(), Some(127));
    assert_eq!(ends(&requests).pop().map(|(end, _)| end), Some("127".to_owned()));
}

#[tokio::test]
async fn reports_that_fail_are_repeated_and_never_stop_the_command() {
    let (url, requests) = server(2);
    // The start is given up when the command has ended; the end is reported with its retries.
    let run = wakeful(&["--url", &url, "--", "true"]).output().await.unwrap();
    assert_eq!(run.status.code(), Some(0));
    let sent = ends(&requests);
    assert_eq!(sent.last().map(|(end, _)| end.as_str()), Some("0"), "{sent:?}");
    let errors = String::from_utf8_lossy(&run.stderr).into_owned();
    assert_eq!(
        errors,
        "wakeful run: reporting start failed: the server responded with 503 Service Unavailable\n"
    );
    // Without a URL, the command runs as well.
    let mut run = wakeful(&["--key", "k", "--slug", "s", "--", "sh", "-c", "exit 4"]);
    let run = run.env_remove("WAKEFUL_URL").output().await.unwrap();
    assert_eq!(run.status.code(), Some(4));
    assert_eq!(
        String::from_utf8_lossy(&run.stderr),
        "wakeful run: nothing is reported: --server is missing\n"
    );
}

#[tokio::test]
async fn reports_that_are_rejected_are_not_repeated() {
    let (url, requests) = failing_server(usize::MAX, "404 Not Found");
    let run = wakeful(&["--url", &url, "--", "true"]).output().await.unwrap();
    assert_eq!(run.status.code(), Some(0));
    let sent: Vec<String> = ends(&requests).into_iter().map(|(end, _)| end).collect();
    assert_eq!(sent, ["start", "0"]);
    let errors = String::from_utf8_lossy(&run.stderr).into_owned();
    let failed = |end: &str| {
        format!("wakeful run: reporting {end} failed: the server responded with 404 Not Found\n")
    };
    assert_eq!(errors, failed("start") + &failed("0"));
}

#[tokio::test]
async fn a_monitor_may_be_named_by_key_and_slug_in_arguments_files_and_the_environment() {
    let (url, requests) = server(0);
    let server = url.split("/ping/").next().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, content: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        format!("file:{}", path.display())
    };
    let run = async |mut command: Command| {
        let run = command.output().await.unwrap();
        assert_eq!((run.status.code(), &run.stderr[..]), (Some(0), &b""[..]), "{run:?}");
        let sent = paths(&requests);
        requests.lock().unwrap().clear();
        sent
    };
    let key = file("key", "AAAAAAAAAAAAAAAAAAAAAA\n");
    let mut named = vec!["--key", &key, "--slug", "backup", "--server", server];
    let unnamed = wakeful(&[&named[..], &["--", "true"]].concat());
    let base = "/ping/AAAAAAAAAAAAAAAAAAAAAA/backup";
    assert_eq!(run(unnamed).await, [format!("{base}/start?rid="), format!("{base}/0?rid=")]);
    // Settings of a new monitor are sent only if it is to be created.
    named.extend(["--schedule", "0 3 * * *", "--tz", "Europe/Berlin", "--grace", "600"]);
    let existing = wakeful(&[&named[..], &["--", "true"]].concat());
    assert_eq!(run(existing).await[1], format!("{base}/0?rid="));
    let created = wakeful(&[&named[..], &["--create", "--", "true"]].concat());
    let query = "rid=&create=1&schedule=0+3+*+*+*&tz=Europe%2FBerlin&grace=600";
    assert_eq!(run(created).await, [format!("{base}/start?{query}"), format!("{base}/0?{query}")]);

    let by_environment = |variables: &[(&str, &str)]| {
        let mut command = wakeful(&["--", "true"]);
        command.envs(variables.iter().copied());
        command
    };
    let slug = file("slug", "weekly");
    let by_slug = by_environment(&[
        ("WAKEFUL_PING_KEY", &key),
        ("WAKEFUL_PING_SLUG", &slug),
        ("WAKEFUL_URL", &format!("{server}/")),
    ]);
    assert_eq!(run(by_slug).await[1], "/ping/AAAAAAAAAAAAAAAAAAAAAA/weekly/0?rid=");
    let url_file = file("url", &url);
    let by_url = by_environment(&[("WAKEFUL_PING_URL", &url_file), ("WAKEFUL_PING_KEY", &key)]);
    assert_eq!(run(by_url).await[1], "/ping/00000000-0000-4000-8000-000000000001/0?rid=");

    // Arguments come before the environment.
    let mut by_both = wakeful(&[&named[..6], &["--", "true"]].concat());
    by_both.env("WAKEFUL_PING_URL", &url);
    assert_eq!(run(by_both).await[1], format!("{base}/0?rid="));

    let missing = wakeful(&["--url", "file:/no/such/file", "--", "true"]).output().await.unwrap();
    assert_eq!(missing.status.code(), Some(0));
    let errors = String::from_utf8_lossy(&missing.stderr).into_owned();
    assert!(
        errors.starts_with("wakeful run: nothing is reported: cannot read /no/such/file: "),
        "{errors}"
    );
}

#[tokio::test]
async fn signals_reach_the_command() {
    let (url, requests) = server(0);
    let script = "trap 'echo ended; exit 9' TERM; echo ready; while :; do sleep 0.05; done";
    let mut child =
        wakeful(&["--url", &url, "--", "sh", "-c", script]).stdout(Stdio::piped()).spawn().unwrap();
    let mut out = child.stdout.take().unwrap();
    let mut ready = [0; 6];
    out.read_exact(&mut ready).await.unwrap();
    let id = child.id().unwrap().to_string();
    Command::new("kill").args(["-TERM", &id]).status().await.unwrap();
    let status =
        tokio::time::timeout(Duration::from_secs(20), child.wait()).await.unwrap().unwrap();
    assert_eq!(status.code(), Some(9));
    until("the end to be reported", || async { (ends(&requests).len() == 2).then_some(()) }).await;
    assert_eq!(ends(&requests).pop(), Some(("9".to_owned(), "ready\nended\n".to_owned())));
    // A command that a signal ends.
    let killed =
        wakeful(&["--url", &url, "--", "sh", "-c", "kill -KILL $$"]).status().await.unwrap();
    assert_eq!(killed.code(), Some(137));
}
