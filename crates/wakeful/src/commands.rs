//! The commands that run once and exit.

use std::io::{IsTerminal as _, Write as _};
use std::path::Path;

use wakeful_core::region::{ProbeName, Region};
use wakeful_core::time::Clock as _;
use wakeful_engine::Engine;
use wakeful_store::{Location, backup_sqlite, restore_sqlite};

use crate::bootstrap::{self, Outcome};
use crate::cli::{ClusterCommand, Command, KeyCommand, MembershipCommand, UserCommand};
use crate::clock::SystemClock;
use crate::doctor;
use crate::settings::Settings;
use crate::{admin, advice, audit, lock, probe, transfer};

pub async fn run(settings: &Settings, command: Command) -> Outcome {
    prepare(settings, &command).await?;
    let done = run_prepared(settings, command).await;
    done.map_err(|failure| advice::add(failure, &settings.billing.catalog))
}

async fn run_prepared(settings: &Settings, command: Command) -> Outcome {
    match command {
        Command::Migrate { to: None } => migrate(settings).await,
        Command::Migrate { to: Some(to) } => transfer::run(settings, &to).await,
        Command::Cluster(command) => cluster(settings, command).await,
        Command::Nodes => nodes(settings).await,
        Command::User(command) => user(settings, command).await,
        Command::Team(command) => admin::team(settings, command).await,
        Command::Admin(command) => admin::run(settings, command).await,
        Command::Membership(command) => membership(settings, command).await,
        Command::Backup { file } => backup(settings, &file).await,
        Command::Restore { file, yes } => restore(settings, &file, yes).await,
        Command::Key(command) => key(settings, command).await,
        Command::Audit(command) => audit::run(settings, command).await,
        Command::Doctor => doctor::run(settings).await,
        Command::Serve { .. }
        | Command::Run(_)
        | Command::Probe { .. }
        | Command::Healthcheck { .. }
        | Command::Config(_)
        | Command::Completions { .. } => {
            unreachable!("handled before settings were read")
        }
    }
}

/// Checks the requirements of a command. `migrate` and `restore` create a missing data
/// folder; the others create nothing.
async fn prepare(settings: &Settings, command: &Command) -> Outcome {
    match command {
        Command::Migrate { to: None } | Command::Restore { .. } => {
            bootstrap::make_data_folder(settings)
        }
        // `backup` reports a missing database itself; `probe-key` needs none.
        Command::Backup { .. } | Command::Cluster(ClusterCommand::ProbeKey { .. }) => Ok(()),
        _ => bootstrap::require_database(settings).await,
    }
}

/// The reader of the output, such as `head`, has read enough. That ends a command, but needs no
/// message.
#[derive(Debug, thiserror::Error)]
#[error("nothing reads standard output any more")]
pub struct OutputClosed;

/// Writes to standard output.
pub fn print(text: &str) -> Outcome {
    let mut out = std::io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    written.map_err(|error| match error.kind() {
        std::io::ErrorKind::BrokenPipe => OutputClosed.into(),
        _ => error.into(),
    })
}

async fn migrate(settings: &Settings) -> Outcome {
    let store = bootstrap::store(settings, bootstrap::keyring(settings)?).await?;
    store.close().await;
    print("Database migrated to this version.\n")
}

async fn nodes(settings: &Settings) -> Outcome {
    let store = bootstrap::store(settings, bootstrap::keyring(settings)?).await?;
    let (listed, now) = (store.nodes().await?, store.lease_time().await?);
    store.close().await;
    let mut lines = String::from("node\tmachine\tversion\tstate\tslots\tstarted\n");
    if listed.is_empty() {
        lines.push_str(match bootstrap::location(settings)? {
            Location::Sqlite(_) => "With SQLite there are no nodes: one process does everything.\n",
            Location::Postgres(_) => "No node has registered: start one with `wakeful serve`.\n",
        });
    }
    for one in listed {
        let state = if one.expires > now { "live" } else { "silent" };
        let node = one.node;
        let line = [
            &node.id.to_string(),
            &node.name,
            &node.version,
            state,
            &one.slots.to_string(),
            &one.started.to_string(),
        ];
        lines.push_str(&line.join("\t"));
        lines.push('\n');
    }
    print(&lines)
}

async fn user(settings: &Settings, command: UserCommand) -> Outcome {
    let store = bootstrap::store(settings, bootstrap::keyring(settings)?).await?;
    let public_url = settings.server.public_url(settings.server.listen);
    let engine = bootstrap::engine(settings, store.clone(), public_url, None, String::new());
    let done = user_command(&engine, command).await;
    store.close().await;
    done
}

async fn user_command(engine: &Engine, command: UserCommand) -> Outcome {
    match command {
        UserCommand::List => {
            let mut lines = String::from("email\tteam\tuser\tmfa\tcreated\n");
            for user in engine.every_user().await? {
                let mfa = if user.mfa_enabled { "on" } else { "off" };
                let line = [
                    &user.email,
                    &user.team.to_string(),
                    &user.user.to_string(),
                    mfa,
                    &user.created.to_string(),
                ];
                lines.push_str(&line.join("\t"));
                lines.push('\n');
            }
            print(&lines)
        }
        UserCommand::ResetPassword { email } => {
            let link = engine.reset_link_for(&email).await?;
            print(&format!(
                "Send this link to {email}; it works once and expires in an hour:\n\n  {link}\n"
            ))
        }
        UserCommand::DisableMfa { email } => {
            let changed = engine.disable_mfa_for(&email).await?;
            print(&if changed {
                format!("MFA turned off for {email}.\n")
            } else {
                format!("MFA is off for {email} already.\n")
            })
        }
        UserCommand::Verify { email } => {
            engine.verify_user_for(&email).await?;
            print(&format!("The address {email} is marked as verified.\n"))
        }
        UserCommand::Suspend { email, resume } => {
            let changed = engine.suspend_user_for(&email, !resume).await?;
            print(&match (changed, resume) {
                (true, false) => format!("Suspended {email}.\n"),
                (true, true) => format!("Resumed {email}.\n"),
                (false, false) => format!("{email} is suspended already.\n"),
                (false, true) => format!("{email} is not suspended.\n"),
            })
        }
        UserCommand::Delete { email, yes } => {
            confirm(yes, &format!("Delete {email}, and the team if it has no other user?"))?;
            engine.delete_user_for(&email).await?;
            print(&format!("Deleted {email}.\n"))
        }
    }
}

async fn membership(settings: &Settings, command: MembershipCommand) -> Outcome {
    let MembershipCommand::Set { team, plan } = command;
    let store = bootstrap::store(settings, bootstrap::keyring(settings)?).await?;
    let public_url = settings.server.public_url(settings.server.listen);
    let engine = bootstrap::engine(settings, store.clone(), public_url, None, String::new());
    let done = engine.grant_plan(&team, &plan).await;
    store.close().await;
    let (team, plan) = done?;
    print(&format!("Team {team} is on the plan {plan}.\n"))
}

async fn cluster(settings: &Settings, command: ClusterCommand) -> Outcome {
    let named = |text: &str| ProbeName::parse(text).map_err(|why| format!("the name {why}"));
    match command {
        ClusterCommand::Key => probe::print_key(),
        ClusterCommand::ProbeKey { region, name } => {
            let region = Region::parse(&region).map_err(|why| format!("the region {why}"))?;
            probe::print_probe_key(settings, &region, &named(&name)?)
        }
        ClusterCommand::Revoke { name } => {
            let name = named(&name)?;
            let store = bootstrap::store(settings, bootstrap::keyring(settings)?).await?;
            let done = store.revoke_probe(&name, SystemClock.now()).await;
            store.close().await;
            // Nodes know the connected probes from NATS; the database has none.
            print(&if done? {
                format!(
                    "Probe {name} revoked; this takes effect within seconds. Check the name: it may be one that no probe has.\n"
                )
            } else {
                format!("Probe {name} is revoked already.\n")
            })
        }
        ClusterCommand::Readmit { name } => {
            let name = named(&name)?;
            let store = bootstrap::store(settings, bootstrap::keyring(settings)?).await?;
            let done = store.restore_probe(&name).await;
            store.close().await;
            if done? {
                print(&format!("Probe {name} readmitted; this takes effect within seconds.\n"))
            } else {
                Err(format!("probe {name} is not revoked").into())
            }
        }
    }
}

async fn backup(settings: &Settings, file: &Path) -> Outcome {
    let Location::Sqlite(path) = bootstrap::location(settings)? else {
        return Err("backup supports SQLite only: use pg_dump for PostgreSQL".into());
    };
    if !path.exists() {
        return Err(format!("there is no database at {}", path.display()).into());
    }
    backup_sqlite(&path, file).await?;
    let mut message = format!("Database copied to {}.\n", file.display());
    if settings.secrets.master_keys.is_empty() {
        let key = bootstrap::key_file(settings);
        message.push_str(&format!(
            "Store {} separately; without it the backup cannot be restored.\n",
            key.display()
        ));
    }
    print(&message)
}

async fn restore(settings: &Settings, file: &Path, yes: bool) -> Outcome {
    let Location::Sqlite(path) = bootstrap::location(settings)? else {
        return Err("restore supports SQLite only: use pg_restore for PostgreSQL".into());
    };
    let _lock = lock::take(&path)?;
    if path.exists() {
        confirm(yes, &format!("Replace {} with {}?", path.display(), file.display()))?;
    }
    let previous = restore_sqlite(file, &path).await?;
    let mut message = format!("Restored {} from {}.\n", path.display(), file.display());
    if let Some(previous) = previous {
        message.push_str(&format!("The previous file is {}.\n", previous.display()));
    }
    let key = bootstrap::key_file(settings);
    if settings.secrets.master_keys.is_empty() && !key.exists() {
        message.push_str(&format!(
            "Copy the master key of the installation that was backed up to {}; wakeful does not start without it.\n",
            key.display()
        ));
    }
    print(&message)
}

async fn key(settings: &Settings, command: KeyCommand) -> Outcome {
    let given = !settings.secrets.master_keys.is_empty();
    let file = bootstrap::key_file(settings);
    let mut keyring = bootstrap::keyring(settings)?;
    if matches!(command, KeyCommand::Rotate) && !given {
        keyring = keyring.rotated();
        // The key must be on disk before anything is encrypted with it.
        keyring.replace(&file)?;
    }
    let (pruned, several) = (keyring.pruned(), keyring.has_old_keys());
    let store = bootstrap::store(settings, keyring).await?;
    let moved = store.reseal().await?.0;
    store.close().await;
    let mut message = format!("Encrypted {moved} values again with the first key.\n");
    match command {
        KeyCommand::Rotate if given => {}
        KeyCommand::Rotate => message.push_str(&format!(
            "The old keys remain in {} until you run `wakeful key prune`. With several nodes, copy the file to all of them first.\n",
            file.display()
        )),
        KeyCommand::Prune if given => {
            if several {
                message.push_str("Only the first key of secrets.master_key is still needed; remove the others.\n");
            }
        }
        KeyCommand::Prune => {
            pruned.replace(&file)?;
            message.push_str(&format!("{} now contains one key.\n", file.display()));
        }
    }
    print(&message)
}

/// Asks before data is replaced or deleted; without a terminal, `--yes` is required.
fn confirm(yes: bool, question: &str) -> Outcome {
    if yes {
        return Ok(());
    }
    if !std::io::stdin().is_terminal() {
        return Err("this replaces or deletes data: confirm with --yes".into());
    }
    print(&format!("{question} [y/N] "))?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    match answer.trim().to_lowercase().as_str() {
        "y" | "yes" => Ok(()),
        _ => Err("nothing was changed".into()),
    }
}
