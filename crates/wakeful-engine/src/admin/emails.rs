//! The mails to people who are affected by an action of an administrator.

use wakeful_core::one_line::one_line;

use crate::Settings;
use crate::mail::templates::EmailText;

fn about_account(settings: &Settings, subject: &str, what: &str) -> EmailText {
    let url = &settings.public_url;
    EmailText {
        subject: subject.to_owned(),
        text: format!(
            "{what}\n\n    {url}\n\n\
             If you did not expect this, ask the administrator of the installation.\n"
        ),
    }
}

pub(crate) fn admin_granted(settings: &Settings) -> EmailText {
    let what = "You are now an administrator of this Wakeful installation.";
    about_account(settings, "You administer Wakeful", what)
}

pub(crate) fn admin_revoked(settings: &Settings) -> EmailText {
    let what = "You are no longer an administrator of this Wakeful installation.";
    about_account(settings, "You no longer administer Wakeful", what)
}

pub(crate) fn user_suspended(settings: &Settings) -> EmailText {
    let what = "An administrator has suspended your Wakeful account. You cannot log in, and your API\n\
                keys are refused. Nothing has been deleted.";
    about_account(settings, "Your Wakeful account was suspended", what)
}

pub(crate) fn user_resumed(settings: &Settings) -> EmailText {
    let what = "Your Wakeful account is no longer suspended. You can log in again, and your API keys\n\
                work.";
    about_account(settings, "Your Wakeful account was resumed", what)
}

pub(crate) fn user_deleted(settings: &Settings) -> EmailText {
    let what =
        "An administrator has deleted your Wakeful account, and the teams that nobody else was in.";
    about_account(settings, "Your Wakeful account was deleted", what)
}

pub(crate) fn team_suspended(settings: &Settings, team: &str) -> EmailText {
    let team = one_line(team, usize::MAX);
    let what = format!(
        "An administrator has suspended the team \"{team}\". Its monitors are not checked, reports of\n\
         jobs are refused, and nothing can be changed. Members can still read and export everything."
    );
    about_account(settings, &format!("The team {team} was suspended"), &what)
}

pub(crate) fn team_resumed(settings: &Settings, team: &str) -> EmailText {
    let team = one_line(team, usize::MAX);
    let what =
        format!("The team \"{team}\" is no longer suspended. Its monitors are checked again.");
    about_account(settings, &format!("The team {team} was resumed"), &what)
}

/// To a member, whose account may have ended with the team.
pub(crate) fn team_deleted(settings: &Settings, team: &str, with_account: bool) -> EmailText {
    let team = one_line(team, usize::MAX);
    let mut what = format!(
        "An administrator has deleted the team \"{team}\" with its monitors and their history."
    );
    if with_account {
        what.push_str("\nYour account belonged to the team and was deleted, too.");
    }
    about_account(settings, &format!("The team {team} was deleted"), &what)
}

pub(crate) fn owner_appointed(settings: &Settings, team: &str) -> EmailText {
    let team = one_line(team, usize::MAX);
    let what = format!(
        "The team \"{team}\" had no owner. An administrator has made you its owner: you can change\n\
         the roles of its members."
    );
    about_account(settings, &format!("You own the team {team}"), &what)
}
