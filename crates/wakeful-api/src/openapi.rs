//! The OpenAPI document. Each handler describes its own responses; the errors and
//! credentials that all routes share are added here, so that none can be forgotten.

use std::collections::BTreeSet;
use utoipa::openapi::extensions::Extensions;
use utoipa::openapi::path::{Operation, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, SchemaFormat, Type};
use utoipa::openapi::security::{ApiKey, ApiKeyValue, Http, HttpAuthScheme, SecurityScheme};
use utoipa::openapi::{
    ComponentsBuilder, ContentBuilder, Info, OpenApi, OpenApiBuilder, PathItem, Ref, RefOr,
    Required, ResponseBuilder, SecurityRequirement,
};
use utoipa::{PartialSchema as _, ToSchema as _};
use wakeful_core::access::Permission;

use crate::error::ErrorBody;
use crate::routes;

/// The permission that an operation needs, or `public`.
const PERMISSION: &str = "x-wakeful-permission";
/// Which sessions must be fresh for an operation, unless any session will do.
const REAUTHENTICATION: &str = "x-wakeful-reauthentication";

/// The document as it is served and committed to the repository.
pub fn document() -> OpenApi {
    let mut info = Info::new("Wakeful", env!("CARGO_PKG_VERSION"));
    info.description = Some("Uptime monitoring: monitors, notifiers, teams and accounts.".into());
    let no_strings: [String; 0] = [];
    let mut schemas = vec![(ErrorBody::name().into_owned(), ErrorBody::schema())];
    ErrorBody::schemas(&mut schemas);
    let components = ComponentsBuilder::new()
        .schemas_from_iter(schemas)
        .security_scheme("bearer", SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer)))
        .security_scheme("api_key", header("X-API-Key"))
        .security_scheme("enc_key", header("X-Enc-Key"))
        .build();
    let mut document = OpenApiBuilder::new().info(info).components(Some(components)).build();
    let either = vec![
        SecurityRequirement::new("bearer", no_strings.clone()),
        SecurityRequirement::new("api_key", no_strings.clone()).add("enc_key", no_strings),
    ];
    let mut public = routes::public().document();
    for item in public.paths.paths.values_mut() {
        set_permission(item, "public");
    }
    document.merge(describe(public, &[]));
    document.merge(describe(routes::protected().document(), &either));
    document
}

fn header(name: &str) -> SecurityScheme {
    SecurityScheme::ApiKey(ApiKey::Header(ApiKeyValue::new(name)))
}

fn describe(mut document: OpenApi, security: &[SecurityRequirement]) -> OpenApi {
    let paths: BTreeSet<String> = document.paths.paths.keys().cloned().collect();
    for (path, item) in &mut document.paths.paths {
        // A route that also exists without a version needs a second operation id.
        let twin = paths.contains(&path.replacen("/api/", "/api/v1/", 1));
        for (method, operation) in operations(item) {
            let id = operation_id(method, path);
            operation.operation_id = Some(if twin { id + "_unversioned" } else { id });
            if !security.is_empty() {
                operation.security = Some(security.to_vec());
                add_team_header(operation);
                add_error_response(
                    operation,
                    "404",
                    "The caller is not in the team that `X-Wakeful-Team` names",
                );
                add_error_response(operation, "401", "No valid credentials were sent");
                if permission(operation) != Some(Permission::Known.as_str()) {
                    let description = match extension(operation, REAUTHENTICATION) {
                        None => {
                            "The role of the caller, or the scope of the API key, does not include the permission"
                        }
                        Some(_) => {
                            "The role of the caller, or the scope of the API key, does not include the permission, or the caller must reauthenticate: `ways` says how"
                        }
                    };
                    add_error_response(operation, "403", description);
                }
            }
            if operation.request_body.is_some() {
                add_error_response(operation, "400", "The body is not valid JSON");
                add_error_response(operation, "415", "The body is not sent as application/json");
                add_error_response(
                    operation,
                    "422",
                    "Fields are invalid; `errors` lists all of them",
                );
            }
            add_error_response(operation, "413", "The body is too large");
            add_error_response(operation, "431", "The request has too many headers");
            add_error_response(
                operation,
                "500",
                "Internal error; the operator can find the cause in the log by the X-Request-Id",
            );
            add_error_response(
                operation,
                "429",
                "Too many requests; Retry-After says when to retry",
            );
            add_error_response(
                operation,
                "503",
                "The service is unavailable or busy; Retry-After says when to retry",
            );
        }
    }
    document
}

/// Writes the permission that the operations of a path need into the document.
pub(crate) fn set_permission(item: &mut PathItem, permission: &str) {
    extend(item, PERMISSION, permission);
}

/// Writes into the document which sessions must be fresh for the operations of a path.
pub(crate) fn set_reauthentication(item: &mut PathItem, which: &str) {
    extend(item, REAUTHENTICATION, which);
}

fn extend(item: &mut PathItem, name: &str, value: &str) {
    for (_, operation) in operations(item) {
        let extension = Extensions::builder().add(name, value).build();
        operation.extensions.get_or_insert_default().merge(extension);
    }
}

fn permission(operation: &Operation) -> Option<&str> {
    extension(operation, PERMISSION)
}

fn extension<'a>(operation: &'a Operation, name: &str) -> Option<&'a str> {
    operation.extensions.as_ref()?.get(name)?.as_str()
}

fn operations(item: &mut PathItem) -> impl Iterator<Item = (&'static str, &mut Operation)> {
    let PathItem { get, post, delete, put, patch, .. } = item;
    [("get", get), ("post", post), ("delete", delete), ("put", put), ("patch", patch)]
        .into_iter()
        .filter_map(|(method, operation)| Some((method, operation.as_mut()?)))
}

/// `post_team_save` for `POST /api/v1/team/save`.
fn operation_id(method: &str, path: &str) -> String {
    let words: Vec<&str> = path
        .split('/')
        .filter(|part| !part.is_empty() && !part.starts_with('{') && !matches!(*part, "api" | "v1"))
        .collect();
    format!("{method}_{}", words.join("_"))
}

/// Adds an error response, unless the handler has described it.
/// Every call can be made in another team of the caller.
fn add_team_header(operation: &mut Operation) {
    let header = ParameterBuilder::new()
        .name("X-Wakeful-Team")
        .parameter_in(ParameterIn::Header)
        .required(Required::False)
        .description(Some(
            "The `groupid` of the caller's team that this call concerns, instead of that of the session; an API key has one team",
        ))
        .schema(Some(
            ObjectBuilder::new()
                .schema_type(Type::String)
                .format(Some(SchemaFormat::KnownFormat(KnownFormat::Uuid))),
        ))
        .build();
    operation.parameters.get_or_insert_default().push(RefOr::T(header));
}

fn add_error_response(operation: &mut Operation, status: &str, description: &str) {
    let schema = RefOr::Ref(Ref::from_schema_name(ErrorBody::name()));
    let content = ContentBuilder::new().schema(Some(schema)).build();
    let response = ResponseBuilder::new()
        .description(description)
        .content("application/json", content)
        .build();
    operation.responses.responses.entry(status.to_owned()).or_insert(RefOr::T(response));
}
