//! `wakeful audit`: verifies and exports the audit log, of one team or of all.

use wakeful_core::id::TeamId;
use wakeful_engine::{AuditChain, AuditVerification, Engine};

use crate::bootstrap::{self, Failure, Outcome};
use crate::cli::AuditCommand;
use crate::commands::print;
use crate::settings::Settings;

/// Names the log of the installation.
const INSTALLATION: &str = "installation";

/// Entries were changed, removed or added.
#[derive(Debug, thiserror::Error)]
#[error("{0} of {1} logs were changed")]
pub struct Broken(usize, usize);

pub async fn run(settings: &Settings, command: AuditCommand) -> Outcome {
    let store = bootstrap::store(settings, bootstrap::keyring(settings)?).await?;
    let public_url = settings.server.public_url(settings.server.listen);
    let engine = bootstrap::engine(settings, store.clone(), public_url, None, String::new());
    let done = match command {
        AuditCommand::Verify { team } => verify(&engine, team.as_deref()).await,
        AuditCommand::Export { team } => export(&engine, team.as_deref()).await,
    };
    store.close().await;
    done
}

async fn verify(engine: &Engine, team: Option<&str>) -> Outcome {
    let chains = chains(engine, team).await?;
    let mut broken = 0;
    for chain in &chains {
        let verified = engine.verify_audit_chain(*chain).await?;
        broken += usize::from(verified.broken.is_some());
        print(&format!("{}: {}\n", name(*chain), result(&verified)))?;
    }
    if broken == 0 { Ok(()) } else { Err(Broken(broken, chains.len()).into()) }
}

fn result(verified: &AuditVerification) -> String {
    let AuditVerification { entries, head, broken, .. } = verified;
    match broken {
        None => format!("{entries} entries, intact, head {head}"),
        Some(broken) => format!("{entries} entries, BROKEN at entry {}", broken.seq),
    }
}

async fn export(engine: &Engine, team: Option<&str>) -> Outcome {
    for chain in chains(engine, team).await? {
        engine.begin_chain_export(chain).await?;
        let mut next = 0;
        loop {
            let entries = engine.chain_export(chain, next).await?;
            let Some(last) = entries.last() else { break };
            next = last.entry.seq + 1;
            let mut lines = String::new();
            for stored in &entries {
                let line = match team {
                    Some(_) => stored.entry.exported(&stored.hash),
                    None => stored.entry.exported_with_team(chain.team(), &stored.hash),
                };
                lines.push_str(&format!("{line}\n"));
            }
            print(&lines)?;
        }
    }
    Ok(())
}

async fn chains(engine: &Engine, team: Option<&str>) -> Result<Vec<AuditChain>, Failure> {
    let only = match team {
        None => None,
        Some(INSTALLATION) => Some(AuditChain::Installation),
        Some(id) => Some(AuditChain::Team(TeamId::parse(id).ok_or_else(|| {
            format!("{id:?} is not the id of a team: `wakeful user list` shows them")
        })?)),
    };
    Ok(engine.audit_chains(only).await?)
}

fn name(chain: AuditChain) -> String {
    match chain {
        AuditChain::Installation => INSTALLATION.to_owned(),
        AuditChain::Team(team) => team.to_string(),
    }
}
