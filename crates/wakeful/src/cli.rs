//! The command line: what can be asked of the binary, and the five flags that are
//! also settings. What a flag or variable means is decided in `settings`.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;

/// Watches what you run and tells the right people once and in time.
#[derive(Debug, Parser)]
#[command(
    name = "wakeful",
    version,
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

/// Settings as flags. They are texts here: `settings` reads them as it reads variables.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Settings")]
pub struct Flags {
    /// Folder for the database, keys and unsent mail [default: ./data] [env: WAKEFUL_DATA]
    #[arg(long, global = true, value_name = "DIR")]
    pub data: Option<String>,
    /// Address and port to listen on [default: 127.0.0.1:8080] [env: WAKEFUL_LISTEN]
    #[arg(long, global = true, value_name = "ADDR:PORT")]
    pub listen: Option<String>,
    /// sqlite:PATH or postgres://… [default: SQLite in the data folder] [env: WAKEFUL_DATABASE_URL]
    ///
    /// Other users of this machine can read a flag: give a password by the variable or the file.
    #[arg(long, global = true, value_name = "URL")]
    pub database_url: Option<String>,
    /// NATS server that joins several machines [default: none] [env: WAKEFUL_NATS_URL]
    #[arg(long, global = true, value_name = "URL")]
    pub nats_url: Option<String>,
    /// Settings file in TOML [default: none] [env: WAKEFUL_CONFIG]
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<String>,
    /// Given to `wakeful probe` alone.
    #[arg(skip)]
    pub region: Option<String>,
    /// As the region.
    #[arg(skip)]
    pub name: Option<String>,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run the service until it is told to stop
    #[command(after_help = "Example: wakeful serve --listen 127.0.0.1:8080 --data ./data")]
    Serve,
    /// Make checks for the nodes of a service, from where this machine stands
    ///
    /// Needs a NATS server and a key, and no database.
    #[command(after_help = "Example: wakeful probe --nats-url nats://bus:4222 --region eu-west")]
    Probe {
        /// The region it stands in [env: WAKEFUL_PROBE_REGION]
        #[arg(long, value_name = "NAME")]
        region: Option<String>,
        /// Its own name [default: the host's name and some letters] [env: WAKEFUL_PROBE_NAME]
        #[arg(long, value_name = "NAME")]
        name: Option<String>,
    },
    /// Care for the keys and names of probes
    #[command(subcommand)]
    Cluster(ClusterCommand),
    /// Bring the database to this version's shape, or copy it whole to another
    ///
    /// `serve` does the first at its start. The second is how an installation moves up from
    /// SQLite to PostgreSQL, or back: stop the service, copy, and start it on the new database.
    /// A copy that was interrupted goes on where it was.
    #[command(after_help = "Example: wakeful migrate --to postgres://wakeful:…@db/wakeful")]
    Migrate {
        /// The empty database to copy to: postgres://…, sqlite:PATH, or a data folder
        #[arg(long, value_name = "URL")]
        to: Option<String>,
    },
    /// Help an account from the server's side
    #[command(subcommand)]
    User(UserCommand),
    /// List the nodes that share the database, and what each holds
    #[command(after_help = "Example: wakeful nodes --database-url postgres:///wakeful")]
    Nodes,
    /// Write a copy of the database to a file
    ///
    /// The service may go on running. The copy holds sealed passwords only; the master key
    /// that opens them is not in it and needs a safe place of its own.
    #[command(after_help = "Example: wakeful backup /var/backups/wakeful.backup")]
    Backup {
        /// The file to write; it must not exist yet
        file: PathBuf,
    },
    /// Replace the database by a copy that `backup` wrote
    ///
    /// Stop the service first.
    #[command(after_help = "Example: wakeful restore /var/backups/wakeful.backup")]
    Restore {
        /// The file that `backup` wrote
        file: PathBuf,
        /// Do not ask before data is replaced
        #[arg(long)]
        yes: bool,
    },
    /// Set the plan of a team
    #[command(subcommand)]
    Membership(MembershipCommand),
    /// Care for the key that seals stored passwords
    #[command(subcommand)]
    Key(KeyCommand),
    /// Look whether all is well: database, history, clock, rights, checks
    ///
    /// The service may go on running. Ends with 2 when something is wrong.
    #[command(after_help = "Example: wakeful doctor --data ./data")]
    Doctor,
    /// Show and check settings
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Print completions for a shell
    #[command(after_help = "Example: wakeful completions bash > /etc/bash_completion.d/wakeful")]
    Completions {
        /// The shell to complete in
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
    /// It opens nothing that is meant for another probe, and ends with `wakeful cluster revoke`.
    #[command(after_help = "Example: wakeful cluster probe-key --region eu-west probe-1")]
    ProbeKey {
        /// The region it stands in
        #[arg(long, value_name = "NAME")]
        region: String,
        /// The name it runs under
        name: String,
    },
    /// Believe a probe no longer: it gets no more work, and its answers are ignored
    #[command(after_help = "Example: wakeful cluster revoke probe-1")]
    Revoke {
        /// The probe's name, as `GET /api/v1/regions` shows it
        name: String,
    },
    /// Believe a probe again that was revoked
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
    /// Print a link with which the user chooses a new password
    #[command(after_help = "Example: wakeful user reset-password ann@example.com")]
    ResetPassword {
        /// The account's email address
        email: String,
    },
    /// Turn off the second factor of a user who has lost it
    #[command(after_help = "Example: wakeful user disable-mfa ann@example.com")]
    DisableMfa {
        /// The account's email address
        email: String,
    },
    /// Delete an account, and with its last user the whole team
    #[command(after_help = "Example: wakeful user delete ann@example.com")]
    Delete {
        /// The account's email address
        email: String,
        /// Do not ask before data is deleted
        #[arg(long)]
        yes: bool,
    },
}

#[derive(Debug, Subcommand)]
pub enum MembershipCommand {
    /// Give a team a plan that is not charged and that only this command ends
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
    /// Make a new master key and seal everything under it
    ///
    /// The old key stays beside it until `wakeful key prune`.
    #[command(after_help = "Example: wakeful key rotate")]
    Rotate,
    /// Forget the master keys under which nothing is sealed any more
    #[command(after_help = "Example: wakeful key prune")]
    Prune,
}

#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Print every setting with its default, to start a settings file from
    #[command(after_help = "Example: wakeful config default > wakeful.toml")]
    Default,
    /// Print the settings in force and where each came from; secrets stay hidden
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
    fn every_command_of_the_manual_is_understood() {
        for line in [
            "serve --listen 127.0.0.1:0 --database-url sqlite:x --nats-url nats://h --config f",
            "migrate",
            "migrate --to postgres:///wakeful",
            "probe --nats-url nats://h --region eu --name one",
            "cluster key",
            "cluster probe-key --region eu one",
            "cluster revoke one",
            "cluster readmit one",
            "user list",
            "user reset-password ann@example.com",
            "user disable-mfa ann@example.com",
            "user delete ann@example.com --yes",
            "backup file",
            "restore file --yes",
            "membership set ann@example.com enterprise",
            "key rotate",
            "key prune",
            "doctor",
            "config default",
            "config check",
            "completions bash",
        ] {
            let words = ["wakeful"].into_iter().chain(line.split(' '));
            assert!(Cli::try_parse_from(words).is_ok(), "{line}");
        }
    }

    #[test]
    fn every_command_that_does_something_shows_an_example() {
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
