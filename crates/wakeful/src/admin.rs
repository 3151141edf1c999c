//! `wakeful admin` and `wakeful team`: who administers the installation, and the roles in teams.

use wakeful_core::access::Role;
use wakeful_core::id::TeamId;
use wakeful_core::time::Millis;
use wakeful_engine::Engine;

use crate::bootstrap::{self, Outcome};
use crate::cli::{AdminCommand, TeamCommand};
use crate::commands::print;
use crate::settings::Settings;

pub async fn run(settings: &Settings, command: AdminCommand) -> Outcome {
    let store = bootstrap::store(settings, bootstrap::keyring(settings)?).await?;
    let public_url = settings.server.public_url(settings.server.listen);
    let engine = bootstrap::engine(settings, store.clone(), public_url, None, String::new());
    let done = admin(&engine, command).await;
    store.close().await;
    done
}

async fn admin(engine: &Engine, command: AdminCommand) -> Outcome {
    match command {
        AdminCommand::Grant { email } => {
            let changed = engine.set_admin_for(&email, true).await?;
            let already = if changed { "now" } else { "already" };
            print(&format!("{email} {already} administers this installation.\n"))
        }
        AdminCommand::Revoke { email } => {
            let changed = engine.set_admin_for(&email, false).await?;
            let verb = if changed { "no longer administers" } else { "does not administer" };
            print(&format!("{email} {verb} this installation.\n"))
        }
        AdminCommand::List => {
            let mut lines = String::from("email\tuser\tlast seen\tstate\n");
            for user in engine.admins().await? {
                let state = if user.suspended.is_some() { "suspended" } else { "active" };
                let (id, seen) = (user.user.to_string(), time(user.last_seen));
                lines.push_str(&format!("{}\t{id}\t{seen}\t{state}\n", user.email));
            }
            print(&lines)
        }
    }
}

pub async fn team(settings: &Settings, command: TeamCommand) -> Outcome {
    let store = bootstrap::store(settings, bootstrap::keyring(settings)?).await?;
    let public_url = settings.server.public_url(settings.server.listen);
    let engine = bootstrap::engine(settings, store.clone(), public_url, None, String::new());
    let done = team_command(&engine, command).await;
    store.close().await;
    done
}

async fn team_command(engine: &Engine, command: TeamCommand) -> Outcome {
    match command {
        TeamCommand::List => list_teams(engine).await,
        TeamCommand::Role { team, email, role } => {
            let id = TeamId::parse(&team).ok_or_else(|| format!("{team} is not a team's id"))?;
            let role = Role::parse(&role).map_err(|why| format!("the role {why}"))?;
            engine.set_role_for(id, &email, role).await?;
            print(&format!("{email} now has the role {} in team {id}.\n", role.as_str()))
        }
    }
}

async fn list_teams(engine: &Engine) -> Outcome {
    print("team\tname\tplan\tmembers\tmonitors\tlast seen\tstate\n")?;
    let mut before = None;
    loop {
        let teams = engine.teams_before(before).await?;
        let Some(last) = teams.last() else { return Ok(()) };
        before = Some(last.team);
        let mut lines = String::new();
        for team in &teams {
            let state = match (team.suspended, team.has_owner) {
                (Some(_), _) => "suspended",
                (None, false) => "no owner",
                (None, true) => "active",
            };
            let line = [
                &team.team.to_string(),
                // A name can contain anything.
                &wakeful_core::one_line::one_line(&team.name, usize::MAX),
                team.plan.as_deref().unwrap_or("none"),
                &team.members.to_string(),
                &team.monitors.to_string(),
                &time(team.last_seen),
                state,
            ];
            lines.push_str(&line.join("\t"));
            lines.push('\n');
        }
        print(&lines)?;
    }
}

fn time(at: Option<Millis>) -> String {
    at.map_or_else(|| "never".to_owned(), |at| at.to_string())
}
