//! How checks connect: the same fields for every type that connects to its target.

use wakeful_core::monitors::spec::{
    ConnectOptions, Host, Hostname, IpFamily, Kind, Resolver, Spec,
};

use crate::dto::Fields;

/// The options that are sent, and otherwise those of the old spec, for a target with this host.
/// An empty text removes one.
pub(super) fn read(
    fields: &mut Fields,
    old: Option<&Spec>,
    host: Option<&Host>,
) -> Option<Box<ConnectOptions>> {
    let mut options = old.and_then(Spec::connect).cloned().unwrap_or_default();
    if let Some(family) = fields.optional_text_or_number("ip_family", IpFamily::parse) {
        options.ip_family = family;
    }
    let resolver = fields.optional("resolver", |text| match text.trim() {
        "" => Ok(None),
        text => Resolver::parse(text).map(Some),
    });
    if let Some(resolver) = resolver {
        options.resolver = resolver;
    }
    let connect_to = fields.optional("connect_to", |text| match text.trim() {
        "" => Ok(None),
        text => Hostname::parse(text).map(Some),
    });
    if let Some(connect_to) = connect_to {
        options.connect_to = connect_to;
    }
    fields.accept("ip_family", options.check_host(host));
    options.boxed()
}

/// Other types have none of these fields.
pub(super) fn refuse(fields: &mut Fields, kind: Kind) {
    let why = format!("is not supported for {} monitors", kind.as_str());
    let is_default = |text: &str| matches!(text.trim(), "" | "any");
    for field in ["ip_family", "resolver", "connect_to"] {
        let sent = fields.optional_text(field);
        if sent.is_some_and(|text| !is_default(&text)) {
            fields.refuse(field, why.clone());
        }
    }
}
