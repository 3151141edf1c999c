//! The command line: the commands, and the flags that are also settings. `settings`
//! validates the values of flags and variables.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;

use crate::run::RunArguments;

/// Uptime monitoring: checks your services and notifies you when they go down.
#[derive(Debug, Parser)]
#[command(
    name = "wakeful",
    version = env!("WAKEFUL_VERSION"),
    arg_required_else_help = true,
    after_help = "Start with `wakeful serve` and open http://127.0.0.1:8080.\n\
                  All settings: `wakeful config default`."
)]
pub struct Cli {
    #[command(flatten)]
    pub flags: Flags,
    #[command(subcommand)]
    pub command: Command,
}

/// Settings as flags. They are plain text here: `settings` parses them like variables.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Settings")]
pub struct Flags {
    /// Folder for the database, keys and mail files [default: ./data] [env: WAKEFUL_DATA]
    #[arg(long, global = true, value_name = "DIR")]
    pub data: Option<String>,
    /// Address and port to listen on [default: 127.0.0.1:8080] [env: WAKEFUL_LISTEN]
    #[arg(long, global = true, value_name = "ADDR:PORT")]
    pub listen: Option<String>,
    /// Database URL: sqlite:PATH or postgres://… [default: SQLite in the data folder]
    /// [env: WAKEFUL_DATABASE_URL]
    ///
    /// Command lines are visible to other users of the machine; put a URL with a password in the
    /// environment variable or the settings file.
    #[arg(long, global = true, value_name = "URL")]
    pub database_url: Option<String>,
    /// NATS server that connects nodes and probes [default: none] [env: WAKEFUL_NATS_URL]
    #[arg(long, global = true, value_name = "URL")]
    pub nats_url: Option<String>,
    /// Settings file in TOML [default: none] [env: WAKEFUL_CONFIG]
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<String>,
    /// Only for `wakeful probe`.
    #[arg(skip)]
    pub region: Option<String>,
    /// Only for `wakeful probe`.
    #[arg(skip)]
    pub name: Option<String>,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run the service
    #[command(after_help = "Example: wakeful serve --listen 127.0.0.1:8080 --data ./data")]
    Serve {
        /// Fill a new data folder with an account and a month of invented history
        ///
        /// The monitors check a site that Wakeful runs on loopback. Nothing else is reached:
        /// neither other machines nor a mail server. To continue with the same demo, start
        /// again with --demo.
        #[arg(long)]
        demo: bool,
    },
    /// Run a probe: check monitors from this machine on behalf of a Wakeful service
    ///
    /// Requires a NATS server and a probe key (`wakeful cluster probe-key`), but no database.
    #[command(after_help = "Example: wakeful probe --nats-url nats://bus:4222 --region eu-west")]
    Probe {
        /// The region of the probe [env: WAKEFUL_PROBE_REGION]
        #[arg(long, value_name = "NAME")]
        region: Option<String>,
        /// The name of the probe [default: host name and random suffix] [env: WAKEFUL_PROBE_NAME]
        #[arg(long, value_name = "NAME")]
        name: Option<String>,
    },
    /// Create cluster and probe keys; revoke probes
    #[command(subcommand)]
    Cluster(ClusterCommand),
    /// Upgrade the database schema to this version, or copy the data to another database
    ///
    /// `serve` upgrades the schema at startup. To move from SQLite to PostgreSQL, or back,
    /// stop the service, copy the database with `--to`, and start the service on the new one.
    /// An interrupted copy continues when the command is run again.
    #[command(after_help = "Example: wakeful migrate --to postgres:///wakeful")]
    Migrate {
        /// The empty database to copy to: postgres://…, sqlite:PATH, or a data folder
        #[arg(long, value_name = "URL")]
        to: Option<String>,
    },
    /// Manage user accounts
    #[command(subcommand)]
    User(UserCommand),
    /// Manage teams
    #[command(subcommand)]
    Team(TeamCommand),
    /// Manage who administers the installation
    #[command(subcommand)]
    Admin(AdminCommand),
    /// Run a command and report its start and its end to an api monitor
    ///
    /// The command runs whatever becomes of the reports, and its exit code is that of this
    /// command. It works with ping URLs of Healthchecks as well.
    #[command(
        after_help = "Example: wakeful run --url file:/etc/backup.ping -- /usr/local/bin/backup --all"
    )]
    Run(RunArguments),
    /// List the nodes that share the database, and how many slots (shares of the monitors)
    /// each holds
    #[command(after_help = "Example: wakeful nodes --database-url postgres:///wakeful")]
    Nodes,
    /// Back up the SQLite database to a file
    ///
    /// The service may be running. Secrets in the backup are encrypted; the master key is not
    /// part of it. Store the key separately. For PostgreSQL, use pg_dump.
    #[command(after_help = "Example: wakeful backup /var/backups/wakeful.backup")]
    Backup {
        /// The file to write; it must not exist yet
        file: PathBuf,
    },
    /// Restore the SQLite database from a backup
    ///
    /// Stop the service first. For PostgreSQL, use pg_restore.
    #[command(after_help = "Example: wakeful restore /var/backups/wakeful.backup")]
    Restore {
        /// A file created by `backup`
        file: PathBuf,
        /// Do not ask for confirmation
        #[arg(long)]
        yes: bool,
    },
    /// Manage team plans
    #[command(subcommand)]
    Membership(MembershipCommand),
    /// Manage the master key, which encrypts stored secrets
    #[command(subcommand)]
    Key(KeyCommand),
    /// Verify and export the audit log
    #[command(subcommand)]
    Audit(AuditCommand),
    /// Diagnose an installation: files, database, history, clock and checks
    ///
    /// The service may be running. Exits with code 2 if something is wrong.
    #[command(after_help = "Example: wakeful doctor --data ./data")]
    Doctor,
    /// Ask the running service whether it is alive; exits with code 1 if it is not
    ///
    /// For health checks of containers. Needs the same `--listen`, variable or settings file as
    /// the service, waits up to three seconds, and prints nothing if all is well.
    #[command(after_help = "Example: wakeful healthcheck --ready")]
    Healthcheck {
        /// Also require that storage is available and the monitors are loaded
        #[arg(long)]
        ready: bool,
    },
    /// Print and validate settings
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Print shell completions
    #[command(after_help = "Example: wakeful completions bash > /etc/bash_completion.d/wakeful")]
    Completions {
        /// The shell
        shell: Shell,
    },
}

#[derive(Debug, Subcommand)]
pub enum ClusterCommand {
    /// Print a new cluster key, for `cluster.key` on every node
    #[command(after_help = "Example: wakeful cluster key > data/cluster.key")]
    Key,
    /// Print the key of one probe, for `probe.key` on its machine
    ///
    /// The key decrypts only messages for this probe. `wakeful cluster revoke` revokes it.
    #[command(after_help = "Example: wakeful cluster probe-key --region eu-west probe-1")]
    ProbeKey {
        /// The region of the probe
        #[arg(long, value_name = "NAME")]
        region: String,
        /// The name of the probe
        name: String,
    },
    /// Revoke a probe: it gets no more checks, and its results are ignored
    #[command(after_help = "Example: wakeful cluster revoke probe-1")]
    Revoke {
        /// The probe's name, as `GET /api/v1/regions` shows it
        name: String,
    },
    /// Admit a revoked probe again
    #[command(after_help = "Example: wakeful cluster readmit probe-1")]
    Readmit {
        /// The probe's name
        name: String,
    },
}

#[derive(Debug, Subcommand)]
pub enum UserCommand {
    /// List the accounts and their teams
    #[command(after_help = "Example: wakeful user list")]
    List,
    /// Print a password-reset link for a user
    #[command(after_help = "Example: wakeful user reset-password ann@example.com")]
    ResetPassword {
        /// The account's email address
        email: String,
    },
    /// Turn off MFA for a user who has lost access to it
    #[command(after_help = "Example: wakeful user disable-mfa ann@example.com")]
    DisableMfa {
        /// The account's email address
        email: String,
    },
    /// Mark the email address of a user as verified
    #[command(after_help = "Example: wakeful user verify ann@example.com")]
    Verify {
        /// The account's email address
        email: String,
    },
    /// Suspend a user: they cannot log in, and their API keys are refused
    #[command(after_help = "Example: wakeful user suspend ann@example.com")]
    Suspend {
        /// The account's email address
        email: String,
        /// Let the user log in again
        #[arg(long)]
        resume: bool,
    },
    /// Delete an account, and the team too if it has no other user
    #[command(after_help = "Example: wakeful user delete ann@example.com")]
    Delete {
        /// The account's email address
        email: String,
        /// Do not ask for confirmation
        #[arg(long)]
        yes: bool,
    },
}

#[derive(Debug, Subcommand)]
pub enum TeamCommand {
    /// List the teams with their members and monitors
    #[command(after_help = "Example: wakeful team list")]
    List,
    /// Set the role of a member
    #[command(after_help = "Example: wakeful team role 019a… ann@example.com owner")]
    Role {
        /// The team's id, as `wakeful team list` shows it
        team: String,
        /// The member's email address
        email: String,
        /// owner, admin, editor, responder, viewer or billing
        role: String,
    },
}

#[derive(Debug, Subcommand)]
pub enum AdminCommand {
    /// Let a user administer the installation in the web app
    #[command(after_help = "Example: wakeful admin grant ann@example.com")]
    Grant {
        /// The account's email address
        email: String,
    },
    /// Revoke that; the last administrator cannot be removed
    #[command(after_help = "Example: wakeful admin revoke ann@example.com")]
    Revoke {
        /// The account's email address
        email: String,
    },
    /// List the users who administer the installation
    #[command(after_help = "Example: wakeful admin list")]
    List,
}

#[derive(Debug, Subcommand)]
pub enum MembershipCommand {
    /// Assign a plan to a team at no charge; only this command can change or end it
    #[command(after_help = "Example: wakeful membership set ann@example.com enterprise")]
    Set {
        /// The team's id as `wakeful user list` shows it, or the email of one of its users
        team: String,
        /// The plan's id or name; `none` ends the plan
        plan: String,
    },
}

#[derive(Debug, Subcommand)]
pub enum KeyCommand {
    /// Create a new master key and re-encrypt all stored secrets with it
    ///
    /// The old key is retained until `wakeful key prune`. If `secrets.master_key` is set, put the
    /// new key first there; this command then only re-encrypts.
    #[command(after_help = "Example: wakeful key rotate")]
    Rotate,
    /// Re-encrypt the remaining secrets with the newest master key and remove the old keys
    ///
    /// If `secrets.master_key` is set, this command only re-encrypts; then remove the old keys
    /// there.
    #[command(after_help = "Example: wakeful key prune")]
    Prune,
}

#[derive(Debug, Subcommand)]
pub enum AuditCommand {
    /// Verify that no entry was changed, removed or added
    ///
    /// Prints one line for each team, and one for the installation itself. Exits with code 1 if
    /// something was changed. The service may be running.
    #[command(after_help = "Example: wakeful audit verify")]
    Verify {
        /// Only the log of this team, or `installation`
        #[arg(long, value_name = "ID")]
        team: Option<String>,
    },
    /// Print the entries as JSON lines, oldest first
    ///
    /// With `--team`, each line is an entry, as the export in the web app has it. Without it,
    /// each line has the id of the team in `groupid` (null for the installation) and the entry in
    /// `entry`. The export is recorded in each log.
    #[command(after_help = "Example: wakeful audit export > audit.jsonl")]
    Export {
        /// Only the log of this team, or `installation`
        #[arg(long, value_name = "ID")]
        team: Option<String>,
    },
}

#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Print a settings file with all defaults
    #[command(after_help = "Example: wakeful config default > wakeful.toml")]
    Default,
    /// Validate the settings and print each effective value with its source; secrets are redacted
    #[command(after_help = "Example: wakeful config check --config wakeful.toml")]
    Check,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn flags_are_accepted_before_and_after_the_command() {
        for line in ["wakeful --data d serve", "wakeful serve --data d"] {
            let cli = Cli::try_parse_from(line.split(' ')).expect(line);
            assert_eq!(cli.flags.data.as_deref(), Some("d"), "{line}");
        }
    }

    #[test]
    fn every_documented_command_is_accepted() {
        for line in [
            "serve --listen 127.0.0.1:0 --database-url sqlite:x --nats-url nats://h --config f",
            "serve --demo --data d",
            "migrate",
            "migrate --to postgres:///wakeful",
            "probe --nats-url nats://h --region eu --name one",
            "cluster key",
            "cluster probe-key --region eu one",
            "cluster revoke one",
            "cluster readmit one",
            "nodes",
            "user list",
            "user reset-password ann@example.com",
            "user disable-mfa ann@example.com",
            "user verify ann@example.com",
            "user suspend ann@example.com",
            "user suspend ann@example.com --resume",
            "user delete ann@example.com --yes",
            "team list",
            "team role 019a ann@example.com owner",
            "admin grant ann@example.com",
            "admin revoke ann@example.com",
            "admin list",
            "backup file",
            "restore file --yes",
            "membership set ann@example.com enterprise",
            "key rotate",
            "key prune",
            "audit verify",
            "audit export --team 019a",
            "doctor",
            "healthcheck",
            "healthcheck --ready",
            "config default",
            "config check",
            "completions bash",
        ] {
            let words = ["wakeful"].into_iter().chain(line.split(' '));
            assert!(Cli::try_parse_from(words).is_ok(), "{line}");
        }
    }

    #[test]
    fn every_command_has_an_example() {
        fn check(command: &clap::Command) {
            if command.has_subcommands() {
                command.get_subcommands().for_each(check);
                return;
            }
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(help.starts_with("Example: wakeful "), "{}", command.get_name());
        }
        Cli::command().get_subcommands().for_each(check);
    }
}
