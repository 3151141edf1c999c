//! What an operator can do about an error of the engine, whose own words are for every caller.

use wakeful_core::billing::Catalog;
use wakeful_engine::Error;

use crate::bootstrap::Failure;

/// The failure, with advice if there is some.
pub fn add(failure: Failure, plans: &Catalog) -> Failure {
    let advice = failure.downcast_ref::<Error>().and_then(|error| of(error, plans));
    match advice {
        Some(advice) => format!("{failure}: {advice}").into(),
        None => failure,
    }
}

fn of(error: &Error, plans: &Catalog) -> Option<String> {
    let advice = match error {
        Error::NotFound("user") => "`wakeful user list` lists them",
        Error::NotFound("team") => "`wakeful team list` lists them",
        Error::NotFound("team or email") => "`wakeful team list` and `wakeful user list` list them",
        Error::LastOwner => "make another member an owner first",
        Error::LastAdmin => "appoint another administrator with `wakeful admin grant` first",
        Error::UnknownPlan => {
            let ids: Vec<&str> = plans.plans().iter().map(|plan| plan.id.as_str()).collect();
            return Some(format!("choose one of {}", ids.join(", ")));
        }
        _ => return None,
    };
    Some(advice.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_the_engine_say_what_an_operator_can_do() {
        let plans = Catalog::built_in();
        let said = |failure: Failure| add(failure, &plans).to_string();
        let user = said(Error::NotFound("user").into());
        assert_eq!(user, "there is no such user: `wakeful user list` lists them");
        let plan = said(Error::UnknownPlan.into());
        assert!(plan.starts_with("there is no such plan: choose one of none, "), "{plan}");
        assert_eq!(said("the disk is full".into()), "the disk is full");
        assert_eq!(said(Error::NoPlan.into()), Error::NoPlan.to_string());
    }
}
