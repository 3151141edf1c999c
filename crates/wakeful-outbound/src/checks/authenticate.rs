//! Sends the request of an http check as its user, and in the version of HTTP that it requires.

use bytes::Bytes;
use http::header::{AUTHORIZATION, HeaderValue};
use http::{StatusCode, Version};
use url::Position;
use wakeful_core::id::TeamId;
use wakeful_core::monitors::spec::{AuthenticationKind, HttpSpec, HttpVersion, Oauth2};
use wakeful_core::observation::FaultKind;
use wakeful_core::reason::Reason;
use wakeful_core::secret::Secret;

use super::http::{cannot_send, version_text};
use super::{digest, ntlm};
use crate::net::error::ProbeError;
use crate::net::http::{ConnectionMode, Head, Request, Session};
use crate::net::http2_frames::Excess;
use crate::net::{Deadline, Net, Trace, oauth};

/// What is needed to send the requests of one check.
pub(super) struct Sender<'a> {
    pub(super) net: &'a Net,
    pub(super) spec: &'a HttpSpec,
    pub(super) team: TeamId,
    pub(super) deadline: Deadline,
    /// Whether only the status matters of a response that is accepted.
    pub(super) status_is_enough: bool,
}

impl Sender<'_> {
    /// Sends a request; with credentials if the server is that of the monitor.
    pub(super) async fn send(
        &self,
        request: &Request,
        is_trusted: bool,
        trace: &mut Trace,
    ) -> Result<(Session, Head), ProbeError> {
        self.secure(request, is_trusted, trace)?;
        let kind =
            if is_trusted { self.spec.authentication.kind } else { AuthenticationKind::None };
        let oauth2 = self.spec.options.as_ref().and_then(|options| options.oauth2.as_ref());
        let sent = match (kind, oauth2) {
            (AuthenticationKind::Ntlm, _) => Box::pin(self.by_ntlm(request, trace)).await,
            (AuthenticationKind::Digest, _) => Box::pin(self.by_digest(request, trace)).await,
            (AuthenticationKind::Oauth2, Some(oauth2)) => {
                Box::pin(self.by_oauth2(oauth2, request, trace)).await
            }
            // The headers of the request have the credentials.
            _ => self.exchange(request, self.status_is_enough, trace).await,
        };
        let (session, head) = sent.map_err(|error| self.explain(error, request))?;
        self.check_version(&head)?;
        Ok((session, head))
    }

    fn version(&self) -> HttpVersion {
        self.spec.options.as_ref().map(|options| options.version).unwrap_or_default()
    }

    /// The certificate is presented to the server of the monitor only.
    fn secure(
        &self,
        request: &Request,
        is_trusted: bool,
        trace: &mut Trace,
    ) -> Result<(), ProbeError> {
        let Some(options) = &self.spec.options else { return Ok(()) };
        let certificate = options.client_certificate.as_ref().filter(|_| is_trusted);
        trace.profile = self.net.tls().profile(request.trust, certificate, &options.ca)?;
        Ok(())
    }

    async fn exchange(
        &self,
        request: &Request,
        status_is_enough: bool,
        trace: &mut Trace,
    ) -> Result<(Session, Head), ProbeError> {
        let (keep, version) = (ConnectionMode::Close, self.version());
        let mut session =
            Session::open(self.net, request, keep, version, self.deadline, trace).await?;
        if status_is_enough && self.spec.accepted.contains(StatusCode::OK.as_u16()) {
            session.skip_headers_of_ok();
        }
        let head = session.send(request, trace).await?;
        Ok((session, head))
    }

    async fn by_ntlm(
        &self,
        request: &Request,
        trace: &mut Trace,
    ) -> Result<(Session, Head), ProbeError> {
        let (keep, version) = (ConnectionMode::Open, self.version());
        let mut session =
            Session::open(self.net, request, keep, version, self.deadline, trace).await?;
        let user = ntlm::Credentials::new(&self.spec.username, &self.spec.password);
        let now = self.net.clock().now();
        let head = ntlm::send_authenticated(&mut session, request, &user, now, trace).await?;
        Ok((session, head))
    }

    /// The challenge is requested without the body, if that would be sent twice.
    async fn by_digest(
        &self,
        request: &Request,
        trace: &mut Trace,
    ) -> Result<(Session, Head), ProbeError> {
        let opening = Request { body: Bytes::new(), ..request.clone() };
        let (session, head) = self.exchange(&opening, false, trace).await?;
        if head.status != StatusCode::UNAUTHORIZED {
            // The server did not require authentication.
            if request.body.is_empty() {
                return Ok((session, head));
            }
            return self.exchange(request, false, trace).await;
        }
        let uri = &request.url[Position::BeforePath..Position::AfterQuery];
        let (username, password) = (&self.spec.username, &self.spec.password);
        let nonce = random_hex(16)?;
        let answer =
            digest::answer(&head.headers, &request.method, uri, username, password, &nonce)?;
        match answer {
            Some(value) => {
                drop(session);
                self.exchange(&with_authorization(request, value), false, trace).await
            }
            None => Ok((session, head)),
        }
    }

    /// A token that the server no longer accepts is renewed once.
    async fn by_oauth2(
        &self,
        oauth2: &Oauth2,
        request: &Request,
        trace: &mut Trace,
    ) -> Result<(Session, Head), ProbeError> {
        let mut renew = false;
        loop {
            let token = self.token(oauth2, request, renew, trace).await?;
            let value = bearer(&token)?;
            trace.secrets.push(token);
            let (session, head) =
                self.exchange(&with_authorization(request, value), false, trace).await?;
            if renew || head.status != StatusCode::UNAUTHORIZED {
                return Ok((session, head));
            }
            renew = true;
        }
    }

    /// The token endpoint is another server: the client certificate is not for it.
    async fn token(
        &self,
        oauth2: &Oauth2,
        request: &Request,
        renew: bool,
        trace: &mut Trace,
    ) -> Result<Secret, ProbeError> {
        let own = trace.profile.clone();
        self.secure(request, false, trace)?;
        let (net, team, deadline) = (self.net, self.team, self.deadline);
        let token = oauth::token(net, team, oauth2, request.trust, renew, deadline, trace).await;
        trace.profile = own;
        token
    }

    fn check_version(&self, head: &Head) -> Result<(), ProbeError> {
        let expected = match self.version() {
            HttpVersion::Auto => return Ok(()),
            HttpVersion::Http11 => Version::HTTP_11,
            HttpVersion::Http2 => Version::HTTP_2,
        };
        if head.version == expected {
            return Ok(());
        }
        let found = version_text(head.version);
        let message = format!("the server responded with HTTP/{found}");
        Err(ProbeError::answered(Reason::HttpVersion, message))
    }

    /// A server that is addressed in HTTP/2 without TLS, and does not speak it, sends anything.
    fn explain(&self, error: ProbeError, request: &Request) -> ProbeError {
        let by_prior_knowledge =
            self.version() == HttpVersion::Http2 && request.url.scheme() == "http";
        match error {
            ProbeError::Down(
                contact,
                Reason::HttpInvalid
                | Reason::HttpIncomplete
                | Reason::ConnectReset
                | Reason::Protocol,
                ref message,
            ) if by_prior_knowledge && !Excess::is_message(message) => {
                let message = "the server does not speak HTTP/2 without TLS".to_owned();
                ProbeError::Down(contact, Reason::HttpVersion, message)
            }
            other => other,
        }
    }
}

fn with_authorization(request: &Request, value: HeaderValue) -> Request {
    let mut request = request.clone();
    request.headers.insert(AUTHORIZATION, value);
    request
}

/// RFC 6750.
pub(super) fn bearer(token: &Secret) -> Result<HeaderValue, ProbeError> {
    let mut value = HeaderValue::from_str(&format!("Bearer {}", token.expose()))
        .map_err(|_| cannot_send("authorization"))?;
    value.set_sensitive(true);
    Ok(value)
}

/// Random bytes as hex.
pub(super) fn random_hex(bytes: usize) -> Result<String, ProbeError> {
    let mut random = vec![0; bytes];
    getrandom::fill(&mut random)
        .map_err(|error| ProbeError::fault(FaultKind::Internal, error.to_string()))?;
    Ok(data_encoding::HEXLOWER.encode(&random))
}
