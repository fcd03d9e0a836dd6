//! Obtaining and refreshing grants.

use reqwest::Url;

use super::assertion::AssertionRequest;
use super::authorizer::{Authorizer, Config, GrantType};
use super::challenge::Challenge;
use super::code::authorization_code;
use super::discovery::{Target, discover};
use super::dpop::{ALGORITHM, DpopKey};
use super::endpoint::{ClientAuth, KnownClient, TokenEndpoint};
use super::registration::register;
use super::store::{Grant, Registration};
use super::token::Tokens;
use crate::address::AddressPolicy;
use crate::discovery::is_same_issuer;
use crate::error::AuthError;
use crate::fetch::Fetcher;
use crate::scopes::Scopes;

/// The grant type with an assertion of a third party.
const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
/// The scope with which a refresh token is issued.
const OFFLINE_ACCESS: &str = "offline_access";

/// A client, and its dynamic registration if it has one.
struct Identity {
    client: KnownClient,
    registration: Option<Registration>,
}

/// The result of using a refresh token.
pub(super) enum Refresh {
    /// A grant with new tokens.
    Renewed(Box<Grant>),
    /// There is no refresh token, or the authorization server doesn't accept it any more.
    Refused,
    /// The authorization server doesn't know the client any more, so that its registration is useless.
    UnknownClient,
}

/// The code of the error for a client that an authorization server doesn't know.
const INVALID_CLIENT: &str = "invalid_client";

/// Obtains grants for one server.
pub struct GrantSource {
    authorizer: Authorizer,
    /// The URL of the server.
    pub server: Url,
    fetcher: Fetcher,
}

impl GrantSource {
    pub fn new(authorizer: Authorizer, server: &Url) -> Result<Self, AuthError> {
        let mut server = server.clone();
        server.set_fragment(None);
        let reach = match authorizer.0.private_network {
            true => AddressPolicy::Any,
            false => AddressPolicy::of(&server),
        };
        Ok(Self {
            fetcher: Fetcher::new(reach, authorizer.0.http.clone())?,
            authorizer,
            server,
        })
    }

    pub(super) fn config(&self) -> &Config {
        &self.authorizer.0
    }

    /// Finds the authorization server of the client.
    pub(super) async fn discover(&self, challenge: &Challenge, at_origin: bool) -> Result<Target, AuthError> {
        let choose = |servers: &[String]| self.choose(servers);
        let named = challenge.resource_metadata();
        discover(&self.fetcher, &self.server, named, at_origin, choose).await
    }

    /// Chooses an authorization server: the first one at which the client was registered in advance. A client without
    /// such registrations uses the first one.
    fn choose(&self, servers: &[String]) -> Result<String, AuthError> {
        let first = servers.first().cloned();
        let first = first.ok_or_else(|| AuthError::NoMetadata(self.server.to_string()))?;
        let clients = &self.config().clients;
        let is_registered = |issuer: &&String| clients.iter().any(|client| is_same_issuer(&client.issuer, issuer));
        match (servers.iter().find(is_registered), clients.first()) {
            (Some(issuer), _) => Ok(issuer.clone()),
            (None, None) => Ok(first),
            (None, Some(client)) => Err(AuthError::IssuerMismatch {
                expected: client.issuer.clone(),
                found: first,
            }),
        }
    }

    /// Obtains a grant with these scopes. `earlier` is the previous grant, whose registration is reused.
    pub(super) async fn obtain(
        &self,
        target: &Target,
        scopes: Scopes,
        earlier: Option<&Grant>,
    ) -> Result<Grant, AuthError> {
        let config = self.config();
        let scopes = with_offline_access(config, target, scopes);
        let identity = self.identify(target, earlier).await?;
        let mut form = match &config.grant {
            GrantType::AuthorizationCode(user) => {
                authorization_code(&**user, &self.fetcher, target, &identity.client, &scopes).await?
            }
            GrantType::ClientCredentials => vec![("grant_type", "client_credentials".to_owned())],
            GrantType::JwtBearer(source) => {
                let request = AssertionRequest {
                    issuer: target.issuer.clone(),
                    resource: target.resource.clone(),
                    scopes: scopes.clone(),
                };
                let assertion = source.assertion(request).await.map_err(AuthError::Assertion)?;
                let assertion = assertion.expose().to_owned();
                vec![("grant_type", JWT_BEARER.to_owned()), ("assertion", assertion)]
            }
        };
        if !matches!(config.grant, GrantType::AuthorizationCode(_)) && !scopes.is_empty() {
            form.push(("scope", scopes.to_string()));
        }
        let algorithms = target.metadata.dpop_signing_alg_values_supported.iter().flatten();
        let binds =
            (config.dpop || target.needs_dpop) && algorithms.into_iter().any(|algorithm| algorithm == ALGORITHM);
        let dpop = binds.then(DpopKey::generate).transpose()?;
        let tokens = self.tokens(target, &identity.client, dpop.as_ref(), form).await?;
        Ok(Grant {
            server: self.server.to_string(),
            issuer: target.issuer.clone(),
            resource: target.resource.clone(),
            scopes: tokens.scopes.unwrap_or(scopes),
            registration: identity.registration,
            access_token: tokens.access,
            token_type: tokens.token_type,
            expires_at: tokens.expires_at,
            refresh_token: tokens.refresh,
            dpop_key: dpop.map(|key| key.to_stored()),
        })
    }

    /// Uses the refresh token for a grant with new tokens.
    pub(super) async fn refresh(&self, target: &Target, earlier: &Grant) -> Result<Refresh, AuthError> {
        let Some(token) = earlier
            .refresh_token
            .clone()
            .filter(|_| earlier.issuer == target.issuer)
        else {
            return Ok(Refresh::Refused);
        };
        let dpop = earlier.dpop_key.as_ref().map(DpopKey::stored).transpose()?;
        let client = match &earlier.registration {
            Some(registration) => registered(registration, target),
            None => match self.known_client(target) {
                Some(client) => client,
                None => return Ok(Refresh::Refused),
            },
        };
        let form = vec![
            ("grant_type", "refresh_token".to_owned()),
            ("refresh_token", token.expose().to_owned()),
        ];
        match self.tokens(target, &client, dpop.as_ref(), form).await {
            Ok(tokens) => Ok(Refresh::Renewed(Box::new(Grant {
                access_token: tokens.access,
                token_type: tokens.token_type,
                expires_at: tokens.expires_at,
                refresh_token: tokens.refresh.or(Some(token)),
                scopes: tokens.scopes.unwrap_or_else(|| earlier.scopes.clone()),
                ..earlier.clone()
            }))),
            Err(AuthError::Refused { code, .. }) => {
                tracing::debug!(code, "the authorization server refused the refresh token");
                Ok(match code == INVALID_CLIENT {
                    true => Refresh::UnknownClient,
                    false => Refresh::Refused,
                })
            }
            Err(error) => Err(error),
        }
    }

    async fn tokens(
        &self,
        target: &Target,
        client: &KnownClient,
        dpop: Option<&DpopKey>,
        mut form: Vec<(&str, String)>,
    ) -> Result<Tokens, AuthError> {
        let url = target.metadata.token_endpoint.as_deref();
        let url = url.ok_or_else(|| AuthError::NotOffered {
            issuer: target.issuer.clone(),
            what: "token endpoint",
        })?;
        form.extend(target.resource.clone().map(|resource| ("resource", resource)));
        let endpoint = TokenEndpoint {
            fetcher: &self.fetcher,
            issuer: &target.issuer,
            url,
            client,
            dpop,
        };
        Tokens::of(&endpoint.request(form).await?, dpop)
    }

    /// Determines the client's id at an authorization server. If necessary, the client is registered.
    async fn identify(&self, target: &Target, earlier: Option<&Grant>) -> Result<Identity, AuthError> {
        if let Some(client) = self.known_client(target) {
            return Ok(Identity {
                client,
                registration: None,
            });
        }
        let config = self.config();
        let GrantType::AuthorizationCode(user) = &config.grant else {
            return Err(AuthError::NoClient(target.issuer.clone()));
        };
        let redirect_uri = user.redirect_uri();
        let earlier = earlier.filter(|grant| grant.issuer == target.issuer);
        let registration = earlier.and_then(|grant| grant.registration.clone());
        let registration = match registration.filter(|registration| registration.serves(redirect_uri)) {
            Some(registration) => registration,
            None => register(&self.fetcher, target, &config.client_name, redirect_uri).await?,
        };
        Ok(Identity {
            client: registered(&registration, target),
            registration: Some(registration),
        })
    }

    /// The client, if it was registered in advance, or if a document describes it.
    fn known_client(&self, target: &Target) -> Option<KnownClient> {
        let config = self.config();
        if let Some(client) = config
            .clients
            .iter()
            .find(|client| is_same_issuer(&client.issuer, &target.issuer))
        {
            return Some(client.known(&target.metadata));
        }
        let reads_documents = target.metadata.client_id_metadata_document_supported == Some(true);
        let document = config.metadata_document.clone().filter(|_| reads_documents);
        document.map(|id| KnownClient {
            id,
            auth: ClientAuth::None,
        })
    }
}

/// A client that was registered dynamically.
fn registered(registration: &Registration, target: &Target) -> KnownClient {
    let method = registration.auth_method.as_deref();
    let secret = registration.secret.clone();
    KnownClient {
        id: registration.id.clone(),
        auth: secret.map_or(ClientAuth::None, |secret| {
            ClientAuth::with_secret(secret, method, &target.metadata)
        }),
    }
}

/// Adds the scope that requests a refresh token, if the client acts for a user and the authorization server supports
/// the scope.
fn with_offline_access(config: &Config, target: &Target, scopes: Scopes) -> Scopes {
    let asks = matches!(config.grant, GrantType::AuthorizationCode(_));
    match asks && target.metadata.supports_scope(OFFLINE_ACCESS) {
        true => scopes.union(&Scopes::from([OFFLINE_ACCESS])),
        false => scopes,
    }
}
