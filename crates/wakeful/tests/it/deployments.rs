//! The Compose files and the Helm chart are valid. The chart is rendered by a port of Go's
//! templates, with those of Helm's functions that it uses, and validated for the oldest Kubernetes
//! that it allows and for a recent one.

use gotmpl::{Result, Template, TemplateError, Value};
use serde_json::{Value as Json, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::process::{python_tool, run_command, workspace};

#[tokio::test]
async fn the_compose_files_are_valid() {
    let mut command = python_tool("check-jsonschema");
    command.args(["--builtin-schema", "vendor.compose-spec"]);
    command.args(["compose.yaml", "compose.cluster.yaml"].map(|name| workspace().join(name)));
    run_command(command).await.ok();
}

/// Values that are set, and the resources that the chart has then.
fn cases() -> [(&'static str, Json, &'static [&'static str]); 3] {
    let single = json!({});
    let cluster = json!({
        "cluster": {"enabled": true, "replicas": 3},
        "existingSecret": "secrets",
        "probes": [
            {
                "region": "eu-west",
                "replicas": 2,
                "existingSecret": "probe",
                "settings": {"WAKEFUL_NETWORK_EGRESS": "private"},
                "nodeSelector": {"region": "eu-west"},
                "extraVolumes": [{"name": "ca", "configMap": {"name": "ca"}}],
                "extraVolumeMounts": [{"name": "ca", "mountPath": "/ca"}],
            },
            {"region": "us-east", "existingSecret": "probe"},
        ],
    });
    let everything = json!({
        "image": {"tag": "1.2.3", "pullSecrets": [{"name": "registry"}]},
        "settings": {
            "WAKEFUL_SIGNUP_OPEN": false,
            "WAKEFUL_SERVER_TRUSTED_PROXIES": "10.0.0.0/8",
            // As Helm reads numbers.
            "WAKEFUL_SERVER_BODY_LIMIT": 2_097_152.0,
        },
        "service": {"type": "LoadBalancer"},
        "extraVolumes": [{"name": "ca", "configMap": {"name": "ca"}}],
        "extraVolumeMounts": [{"name": "ca", "mountPath": "/ca"}],
        "persistence": {"storageClass": "fast"},
        "ingress": {
            "enabled": true,
            "className": "nginx",
            "annotations": {"example.com/name": "value"},
            "tlsSecret": "certificate",
        },
        "metrics": {"enabled": true, "serviceMonitor": {"enabled": true, "labels": {"team": "a"}}},
        "networkPolicy": {"enabled": true, "from": [{"podSelector": {"matchLabels": {"app": "proxy"}}}]},
        "ping": false,
        "nodeSelector": {"disk": "fast"},
        "tolerations": [{"key": "disk", "operator": "Exists"}],
        "affinity": {"podAntiAffinity": {}},
    });
    [
        ("single", single, &["deployment/w", "persistentvolumeclaim/w", "service/w"]),
        (
            "cluster",
            cluster,
            &[
                "deployment/w",
                "deployment/w-probe-eu-west",
                "deployment/w-probe-us-east",
                "poddisruptionbudget/w",
                "service/w",
            ],
        ),
        (
            "everything",
            everything,
            &[
                "deployment/w",
                "ingress/w",
                "networkpolicy/w",
                "persistentvolumeclaim/w",
                "service/w",
                "service/w-metrics",
            ],
        ),
    ]
}

#[tokio::test]
async fn the_chart_is_valid_however_wakeful_runs() {
    let chart = Chart::read().await;
    let folder = tempfile::tempdir().unwrap();
    let mut files = Vec::new();
    let mut expected = BTreeSet::new();
    for (name, changes, resources) in cases() {
        let rendered = chart.render_all(&changes).unwrap();
        for missing in ["<no value>", "<nil>"] {
            assert!(!rendered.contains(missing), "{name}: {rendered}");
        }
        let file = folder.path().join(name);
        fs::write(&file, rendered).unwrap();
        files.push(file);
        expected.extend(resources.iter().map(|resource| format!("{name} {resource}")));
    }
    let oldest = chart.about["kubeVersion"].as_str().unwrap().trim_start_matches(">=");
    assert_eq!(validate(&["-k", oldest], &files).await, expected);
    assert_eq!(validate(&[], &files).await, expected);
}

#[tokio::test]
async fn what_is_missing_is_refused_by_name() {
    let chart = Chart::read().await;
    for (changes, expected) in [
        (json!({"cluster": {"enabled": true}}), "cluster.enabled requires existingSecret"),
        (json!({"probes": [{"region": "eu"}]}), "the probes of eu require existingSecret"),
        (
            json!({"ingress": {"enabled": true}}),
            "ingress.enabled requires settings.WAKEFUL_SERVER_TRUSTED_PROXIES",
        ),
    ] {
        let error = chart.render_all(&changes).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[tokio::test]
async fn settings_are_as_they_were_written_and_links_have_the_host_of_the_ingress() {
    let chart = Chart::read().await;
    let [_, _, (_, everything, _)] = cases();
    let rendered = chart.render_all(&everything).unwrap();
    assert!(rendered.contains(r#"value: "2097152""#), "{rendered}");
    assert!(rendered.contains(r#"value: "https://wakeful.example.com""#), "{rendered}");
    // The type of the service does not expose the metrics.
    assert_eq!(rendered.matches("type: LoadBalancer").count(), 1);
    assert_eq!(rendered.matches("type: ClusterIP").count(), 1);
    let proxies = json!({"WAKEFUL_SERVER_TRUSTED_PROXIES": "10.0.0.0/8"});
    let plain = json!({"ingress": {"enabled": true}, "settings": proxies});
    assert!(chart.render_all(&plain).unwrap().contains(r#"value: "http://wakeful.example.com""#));
    let own = json!({"WAKEFUL_SERVER_TRUSTED_PROXIES": "10.0.0.0/8",
        "WAKEFUL_SERVER_PUBLIC_URL": "https://status.example.com"});
    let rendered =
        chart.render_all(&json!({"ingress": {"enabled": true}, "settings": own})).unwrap();
    assert_eq!(rendered.matches("WAKEFUL_SERVER_PUBLIC_URL").count(), 1, "{rendered}");
}

/// The resources of the files, with the names of their files. Fails unless all are valid.
async fn validate(options: &[&str], files: &[PathBuf]) -> BTreeSet<String> {
    let mut command = python_tool("kubernetes-validate");
    command.arg("--strict").args(options).args(files);
    let output = run_command(command).await.ok();
    // Kubernetes itself has no schema of it.
    let lines = output.lines().filter(|line| !line.contains("kind ServiceMonitor"));
    lines.map(valid_resource).collect()
}

/// `single service/w` from `INFO /folder/single passed for resource service/w against version 1.25`.
fn valid_resource(line: &str) -> String {
    let words: Vec<&str> = line.split(' ').collect();
    let ["INFO", file, "passed", "for", "resource", resource, ..] = words[..] else {
        panic!("not valid: {line}");
    };
    format!("{} {resource}", Path::new(file).file_name().unwrap().display())
}

struct Chart {
    about: Json,
    values: Json,
}

impl Chart {
    async fn read() -> Chart {
        Chart { about: yaml("Chart.yaml").await, values: yaml("values.yaml").await }
    }

    /// All templates, with some values changed.
    fn render_all(&self, changes: &Json) -> Result<String> {
        let mut values = self.values.clone();
        merge(&mut values, changes);
        let (name, version) = (&self.about["name"], &self.about["version"]);
        let data = gotmpl::to_value(&json!({
            "Values": values,
            "Chart": {"Name": name, "Version": version, "AppVersion": self.about["appVersion"]},
            "Release": {"Name": "w", "Namespace": "default", "Service": "Helm"},
        }))?;
        let files = fs::read_dir(path("templates")).unwrap().map(|entry| entry.unwrap().path());
        let mut files: Vec<PathBuf> = files.collect();
        files.sort();
        let (templates, texts): (Vec<PathBuf>, Vec<PathBuf>) =
            files.into_iter().partition(|file| file.extension().is_some_and(|kind| kind == "yaml"));
        for file in texts {
            render(&file, &data)?;
        }
        let rendered: Result<Vec<String>> =
            templates.iter().map(|file| render(file, &data)).collect();
        Ok(rendered?.join("\n---\n"))
    }
}

fn path(name: &str) -> PathBuf {
    workspace().join("packaging/helm/wakeful").join(name)
}

async fn yaml(name: &str) -> Json {
    let script = "import json, sys, yaml; print(json.dumps(yaml.safe_load(open(sys.argv[1]))))";
    let mut python = python_tool("python");
    python.args(["-c", script]).arg(path(name));
    serde_json::from_str(&run_command(python).await.ok()).unwrap()
}

/// Sets values as `helm install --values` does: maps are merged, everything else is replaced.
fn merge(values: &mut Json, changes: &Json) {
    match (values, changes) {
        (Json::Object(values), Json::Object(changes)) => {
            for (name, change) in changes {
                merge(values.entry(name.as_str()).or_insert(Json::Null), change);
            }
        }
        (value, change) => *value = change.clone(),
    }
}

fn render(file: &Path, data: &Value) -> Result<String> {
    let helpers = fs::read_to_string(path("templates/_helpers.tpl")).unwrap();
    template()
        .func("include", move |given: &[Value]| {
            let [name, data] = arguments::<2>(given)?;
            let helpers = template().parse(&helpers)?;
            helpers.execute_template_to_string(&name.to_string(), data).map(text)
        })
        .parse(&fs::read_to_string(file).unwrap())?
        .execute_to_string(data)
}

/// A template with the functions of Helm that the chart uses, except `include`.
fn template() -> Template {
    Template::new("chart")
        .func("default", or_default)
        .func("fail", fail)
        .func("kindIs", kind_is)
        .func("nindent", nindent)
        .func("quote", quote)
        .func("ternary", ternary)
        .func("toYaml", to_yaml)
}

fn arguments<const N: usize>(given: &[Value]) -> Result<&[Value; N]> {
    given.try_into().map_err(|_| TemplateError::Exec(format!("not {N} arguments: {given:?}")))
}

fn text(text: String) -> Value {
    Value::String(text.into())
}

fn or_default(given: &[Value]) -> Result<Value> {
    let [default, value] = arguments::<2>(given)?;
    Ok(if value.is_truthy() { value.clone() } else { default.clone() })
}

fn fail(given: &[Value]) -> Result<Value> {
    let [message] = arguments::<1>(given)?;
    Err(TemplateError::Exec(message.to_string()))
}

fn kind_is(given: &[Value]) -> Result<Value> {
    let [kind, value] = arguments::<2>(given)?;
    let is_float = kind.to_string() == "float64" && matches!(value, Value::Float(_));
    Ok(Value::Bool(is_float))
}

fn ternary(given: &[Value]) -> Result<Value> {
    let [yes, no, condition] = arguments::<3>(given)?;
    Ok(if condition.is_truthy() { yes.clone() } else { no.clone() })
}

fn nindent(given: &[Value]) -> Result<Value> {
    let [width, lines] = arguments::<2>(given)?;
    let width = width.as_int().and_then(|width| usize::try_from(width).ok()).unwrap_or(0);
    let start = format!("\n{}", " ".repeat(width));
    Ok(text(format!("{start}{}", lines.to_string().replace('\n', &start))))
}

fn quote(given: &[Value]) -> Result<Value> {
    let [value] = arguments::<1>(given)?;
    Ok(text(Json::String(value.to_string()).to_string()))
}

/// A line for each item, because the chart adds some to a list or map; what is in them is JSON,
/// which is YAML too.
fn to_yaml(given: &[Value]) -> Result<Value> {
    let [value] = arguments::<1>(given)?;
    let lines: Vec<String> = match to_json(value) {
        Json::Array(items) if !items.is_empty() => {
            items.iter().map(|item| format!("- {item}")).collect()
        }
        Json::Object(entries) if !entries.is_empty() => {
            entries.iter().map(|(name, value)| format!("{}: {value}", json!(name))).collect()
        }
        other => vec![other.to_string()],
    };
    Ok(text(lines.join("\n")))
}

fn to_json(value: &Value) -> Json {
    match value {
        Value::Nil | Value::Function(_) => Json::Null,
        Value::Bool(flag) => json!(flag),
        Value::Int(number) => json!(number),
        Value::Uint(number) => json!(number),
        Value::Float(number) => json!(number),
        Value::String(text) => Json::String(text.to_string()),
        Value::List(items) => items.iter().map(to_json).collect(),
        Value::Map(entries) => {
            entries.iter().map(|(name, value)| (name.to_string(), to_json(value))).collect()
        }
    }
}
