//! The routes of the API together with their documentation. The OpenAPI document takes twenty
//! megabytes while it is built, and most services are never asked for it: a router therefore
//! only says how each route is documented, and `ApiRouter::document` does it.

use axum::Router;
use axum::handler::Handler;
use axum::routing::{MethodFilter, MethodRouter, on};
use utoipa::openapi::OpenApi;
use utoipa::openapi::path::HttpMethod;
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouter};
use wakeful_core::access::Permission;

use crate::app::Api;
use crate::caller::Reauthentication;
use crate::openapi;

/// Routes of handlers with `#[utoipa::path]`: `routes!(get_monitor)`.
macro_rules! routes {
    ($($handler:ident),+ $(,)?) => {
        utoipa_axum::paste! {
            $crate::api_router::Routes::new(|| utoipa_axum::routes!($($handler),+))
                $(.with::<[<__path_ $handler>], _, _>($handler))+
        }
    };
}
pub(crate) use routes;

/// Routes with the same permission.
pub(crate) struct Routes {
    handlers: Vec<(String, MethodRouter<Api>)>,
    documented: Documented,
}

#[derive(Clone, Copy)]
struct Documented {
    routes: fn() -> UtoipaMethodRouter<Api>,
    permission: Option<Permission>,
    reauthentication: Option<Reauthentication>,
}

impl Routes {
    pub(crate) fn new(routes: fn() -> UtoipaMethodRouter<Api>) -> Self {
        let documented = Documented { routes, permission: None, reauthentication: None };
        Self { handlers: Vec::new(), documented }
    }

    /// Adds a handler at the path and methods of its `#[utoipa::path]`.
    pub(crate) fn with<P, H, T>(mut self, handler: H) -> Self
    where
        P: utoipa::Path,
        H: Handler<T, Api>,
        T: 'static,
    {
        let methods = P::methods();
        let filter =
            methods.iter().map(filter).reduce(MethodFilter::or).expect("a path has a method");
        self.handlers.push((P::path(), on(filter, handler)));
        self
    }

    pub(crate) fn needing(mut self, permission: Permission) -> Self {
        self.documented.permission = Some(permission);
        self
    }

    pub(crate) fn reauthenticated(mut self, which: Reauthentication) -> Self {
        self.documented.reauthentication = Some(which);
        self
    }
}

fn filter(method: &HttpMethod) -> MethodFilter {
    match method {
        HttpMethod::Get => MethodFilter::GET,
        HttpMethod::Post => MethodFilter::POST,
        HttpMethod::Put => MethodFilter::PUT,
        HttpMethod::Delete => MethodFilter::DELETE,
        HttpMethod::Options => MethodFilter::OPTIONS,
        HttpMethod::Head => MethodFilter::HEAD,
        HttpMethod::Patch => MethodFilter::PATCH,
        HttpMethod::Trace => MethodFilter::TRACE,
    }
}

impl Documented {
    fn document(&self) -> UtoipaMethodRouter<Api> {
        let mut routes = (self.routes)();
        for item in routes.1.paths.values_mut() {
            if let Some(permission) = self.permission {
                openapi::set_permission(item, permission.as_str());
            }
            if let Some(which) = self.reauthentication {
                openapi::set_reauthentication(item, which.as_str());
            }
        }
        routes
    }
}

/// A router whose routes are documented.
#[derive(Default)]
pub(crate) struct ApiRouter {
    router: Router<Api>,
    documented: Vec<Documented>,
}

impl ApiRouter {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn routes(mut self, routes: Routes) -> Self {
        for (path, handler) in routes.handlers {
            self.router = self.router.route(&path, handler);
        }
        self.documented.push(routes.documented);
        self
    }

    pub(crate) fn merge(mut self, other: Self) -> Self {
        self.router = self.router.merge(other.router);
        self.documented.extend(other.documented);
        self
    }

    pub(crate) fn into_router(self) -> Router<Api> {
        self.router
    }

    /// The paths and schemas of all routes.
    pub(crate) fn document(&self) -> OpenApi {
        let documented = self.documented.iter().map(Documented::document);
        documented.fold(OpenApiRouter::new(), OpenApiRouter::routes).into_openapi()
    }
}
