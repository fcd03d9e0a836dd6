//! The configuration of a client's authorization.

use std::fmt;
use std::sync::Arc;

use super::assertion::AssertionSource;
use super::endpoint::{ClientAuth, KnownClient};
use super::store::{MemoryStore, TokenStore};
use super::user_agent::UserAgent;
use crate::jwt::SigningKey;
use crate::metadata::ServerMetadata;
use crate::scopes::Scopes;
use crate::secret::Secret;

/// Obtains tokens for a client.
///
/// The client id is determined in this order: a client that was registered in advance ([`client`](Self::client)); the
/// document that describes the client ([`metadata_document`](Self::metadata_document)), if the authorization server
/// supports that; and dynamic registration, which needs an [interactive](Self::interactive) authorizer.
///
/// Metadata, tokens and registrations are only exchanged over TLS, except on this machine, and only with public
/// addresses; a server on this machine may also name authorization servers on this machine. The bodies of responses are
/// bounded, and redirects are only followed for metadata, and only within the same origin.
///
/// Clones only share the store: each HTTP client obtains tokens for its own server.
///
/// [Specification](https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization)
#[derive(Clone)]
pub struct Authorizer(pub(super) Arc<Config>);

#[derive(Clone)]
pub(super) struct Config {
    pub(super) grant: GrantType,
    pub(super) clients: Vec<Client>,
    pub(super) metadata_document: Option<String>,
    pub(super) client_name: String,
    pub(super) store: Arc<dyn TokenStore>,
    pub(super) scopes: Scopes,
    pub(super) dpop: bool,
    pub(super) private_network: bool,
    pub(super) http: Option<reqwest::Client>,
}

/// The way in which tokens are obtained.
#[derive(Clone)]
pub(super) enum GrantType {
    /// From the user, on the page of the authorization server.
    AuthorizationCode(Arc<dyn UserAgent>),
    /// For the client itself, on its own behalf.
    ClientCredentials,
    /// By an assertion of a third party.
    JwtBearer(Arc<dyn AssertionSource>),
}

impl Authorizer {
    /// Creates an authorizer for a client that acts for a user, who is asked on the page of the authorization server.
    pub fn interactive(user: impl UserAgent) -> Self {
        Self::new(GrantType::AuthorizationCode(Arc::new(user)))
    }

    /// Creates an authorizer for a client that acts on its own behalf, with the secret or the key that it was
    /// registered with.
    ///
    /// ```
    /// use mcp_runtime::auth::{Authorizer, Client};
    ///
    /// let client = Client::new("https://login.example", "nightly-report").secret("of this client");
    /// let authorizer = Authorizer::client_credentials(client);
    /// ```
    #[must_use]
    pub fn client_credentials(client: Client) -> Self {
        Self::new(GrantType::ClientCredentials).client(client)
    }

    /// Creates an authorizer that obtains tokens by assertions: those of the platform that a workload runs on, or of
    /// the user's [`IdentityProvider`](super::IdentityProvider). They are only sent to the issuer at which the client
    /// is registered.
    pub fn jwt_bearer(client: Client, source: impl AssertionSource) -> Self {
        Self::new(GrantType::JwtBearer(Arc::new(source))).client(client)
    }

    fn new(grant: GrantType) -> Self {
        Self(Arc::new(Config {
            grant,
            clients: Vec::new(),
            metadata_document: None,
            client_name: "MCP client".to_owned(),
            store: Arc::new(MemoryStore::default()),
            scopes: Scopes::default(),
            dpop: false,
            private_network: false,
            http: None,
        }))
    }

    fn with(mut self, change: impl FnOnce(&mut Config)) -> Self {
        change(Arc::make_mut(&mut self.0));
        self
    }

    /// Adds a client that was registered in advance. Then only the issuers of such clients are used, even if the server
    /// names other authorization servers.
    #[must_use]
    pub fn client(self, client: Client) -> Self {
        self.with(|config| config.clients.push(client))
    }

    /// Sets the URL of the document that describes this client. It is the client id at authorization servers that
    /// support such documents. It has to be an `https` URL with a path, and the document has to contain the redirect
    /// URI of the user agent.
    ///
    /// [Specification](https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization/client-registration#client-id-metadata-documents)
    #[must_use]
    pub fn metadata_document(self, url: impl Into<String>) -> Self {
        self.with(|config| config.metadata_document = Some(url.into()))
    }

    /// Sets the name that authorization servers show to users if the client is registered dynamically.
    #[must_use]
    pub fn client_name(self, name: impl Into<String>) -> Self {
        self.with(|config| config.client_name = name.into())
    }

    /// Sets the store of tokens; the default is in memory.
    #[must_use]
    pub fn store(self, store: impl TokenStore) -> Self {
        self.with(|config| config.store = Arc::new(store))
    }

    /// Adds scopes to those that the server requires.
    #[must_use]
    pub fn scopes(self, scopes: impl Into<Scopes>) -> Self {
        self.with(|config| config.scopes = scopes.into())
    }

    /// Sets whether tokens are bound to a key (DPoP), if the authorization server supports that: then a stolen token is
    /// useless without the key. The default is `false`, because some servers refuse such tokens although their
    /// authorization server issues them.
    ///
    /// [Specification](https://www.rfc-editor.org/rfc/rfc9449)
    #[must_use]
    pub fn dpop(self, binds: bool) -> Self {
        self.with(|config| config.dpop = binds)
    }

    /// Allows authorization servers at any address and without TLS, such as those of a private network. Link-local
    /// addresses and those of cloud metadata services stay blocked.
    #[must_use]
    pub fn allow_private_network(self, allowed: bool) -> Self {
        self.with(|config| config.private_network = allowed)
    }

    /// Sets the HTTP client for requests to authorization servers, for proxies or certificates. It should follow no
    /// redirects, and has to block private addresses itself.
    #[must_use]
    pub fn http_client(self, client: reqwest::Client) -> Self {
        self.with(|config| config.http = Some(client))
    }
}

impl fmt::Debug for Authorizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let grant = match &self.0.grant {
            GrantType::AuthorizationCode(_) => "authorization_code",
            GrantType::ClientCredentials => "client_credentials",
            GrantType::JwtBearer(_) => "jwt_bearer",
        };
        f.debug_struct("Authorizer")
            .field("grant", &grant)
            .field("clients", &self.0.clients)
            .field("metadata_document", &self.0.metadata_document)
            .finish_non_exhaustive()
    }
}

/// A client that was registered at an authorization server in advance. It is only used there: its secret, the tokens
/// signed by its key, and the assertions for it are sent to that authorization server, and to no other that a server
/// may name.
///
/// [Specification](https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization/client-registration)
#[derive(Debug, Clone)]
pub struct Client {
    pub(super) issuer: String,
    pub(super) id: String,
    credential: Option<Credential>,
}

#[derive(Debug, Clone)]
enum Credential {
    Secret(Secret),
    Key(SigningKey),
}

impl Client {
    /// A client with this id at this issuer, which must be the `issuer` in the metadata of the authorization server. Only
    /// the slash at the end of a URL without a path makes no difference.
    pub fn new(issuer: impl Into<String>, id: impl Into<String>) -> Self {
        Self {
            issuer: issuer.into(),
            id: id.into(),
            credential: None,
        }
    }

    /// Sets the client's secret.
    #[must_use]
    pub fn secret(mut self, secret: impl Into<Secret>) -> Self {
        self.credential = Some(Credential::Secret(secret.into()));
        self
    }

    /// Sets the key by which the client authenticates (`private_key_jwt`).
    #[must_use]
    pub fn key(mut self, key: SigningKey) -> Self {
        self.credential = Some(Credential::Key(key));
        self
    }

    /// The id and the authentication of the client at this authorization server.
    pub(super) fn known(&self, metadata: &ServerMetadata) -> KnownClient {
        let auth = match self.credential.clone() {
            None => ClientAuth::None,
            Some(Credential::Secret(secret)) => ClientAuth::with_secret(secret, None, metadata),
            Some(Credential::Key(key)) => ClientAuth::PrivateKey(key),
        };
        KnownClient {
            id: self.id.clone(),
            auth,
        }
    }
}
