//! Stores of tokens, and keys of clients.

use aws_lc_rs::encoding::AsDer as _;
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::KeySize;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, RsaKeyPair};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use mcp_runtime::auth::{Authorizer, Client, FileStore, SigningKey, TokenStore};
use serde_json::{Value, json};

use crate::auth::test_servers::{TestServers, call};
use crate::auth::user::Browser;

#[tokio::test]
async fn a_file_keeps_tokens_readable_only_by_their_owner() {
    let world = TestServers::new().await;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("new/tokens.json");
    let user = Browser::default();
    for _ in 0..2 {
        let authorizer = Authorizer::interactive(user.clone()).store(FileStore::new(&path));
        let session = world.connect(authorizer).await.unwrap();
        call(&session).await.unwrap();
    }
    assert_eq!(user.asked(), 1);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    let store = FileStore::new(&path);
    let grant = store.load(&world.endpoint()).await.unwrap().unwrap();
    assert_eq!(grant.issuer, world.auth.url);
    assert_eq!(grant.access_token.expose(), "token-0");
    let shown = format!("{grant:?} {store:?}");
    assert!(
        !shown.contains("token-0") && !shown.contains("a-refresh-token"),
        "{shown}"
    );
    assert!(store.load("https://other.example/mcp").await.unwrap().is_none());
    store.remove(&world.endpoint()).await.unwrap();
    assert!(store.load(&world.endpoint()).await.unwrap().is_none());
}

/// Two stores on one file behave like two programs: they share nothing else.
#[cfg(unix)]
#[tokio::test]
async fn of_two_programs_that_share_a_refresh_token_only_one_refreshes() {
    let world = TestServers::new().await;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("tokens.json");
    let user = Browser::default();
    let connect = async || {
        let authorizer = Authorizer::interactive(user.clone()).store(FileStore::new(&path));
        world.connect(authorizer).await.unwrap()
    };
    let (one, other) = (connect().await, connect().await);
    call(&one).await.unwrap();
    call(&other).await.unwrap();
    world.issued.revoke();
    let (one, other) = tokio::join!(call(&one), call(&other));
    one.and(other).unwrap();
    let refreshes = world.auth.seen("POST /token");
    let refreshes = refreshes
        .iter()
        .filter(|seen| seen.form("grant_type").as_deref() == Some("refresh_token"));
    assert_eq!(refreshes.count(), 1);
    assert_eq!(user.asked(), 1);
}

/// Runs in a separate process with a separate message bus, where GNOME's keyring writes to an empty directory.
#[cfg(target_os = "linux")]
#[test]
#[ignore = "needs dbus-run-session and gnome-keyring-daemon"]
fn the_keyring_of_a_desktop_keeps_tokens() {
    use mcp_runtime::auth::{Grant, KeyringStore};

    const IS_CHILD: &str = "MCP_TEST_WITH_KEYRING";
    const BESIDE_A_KEYRING: &str =
        "printf password | gnome-keyring-daemon --unlock --components=secrets && exec \"$@\"";
    if std::env::var_os(IS_CHILD).is_none() {
        let home = tempfile::tempdir().unwrap();
        let mut session = std::process::Command::new("dbus-run-session");
        session.args(["--", "sh", "-c", BESIDE_A_KEYRING, "sh"]);
        session.arg(std::env::current_exe().unwrap());
        session.args([
            "--exact",
            "auth::stores::the_keyring_of_a_desktop_keeps_tokens",
            "--ignored",
        ]);
        for variable in ["HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR"] {
            session.env(variable, home.path());
        }
        let output = session
            .env(IS_CHILD, "1")
            .output()
            .expect("dbus-run-session is installed");
        let shown = format!("{output:?}");
        assert!(output.status.success() && shown.contains("1 passed"), "{shown}");
        assert!(home.path().join("keyrings/login.keyring").exists());
        return;
    }
    let grant = |token: &str| -> Grant {
        let server = "https://mcp.example/mcp";
        let grant =
            json!({"server": server, "issuer": "https://login.example", "access_token": token, "token_type": "dpop"});
        serde_json::from_value(grant).unwrap()
    };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let store = KeyringStore::new("mcp-runtime tests");
        let server = grant("").server;
        assert!(store.load(&server).await.unwrap().is_none());
        // The second one replaces the first, and has several entries.
        for token in ["short".to_owned(), "long".repeat(50_000), "other".to_owned()] {
            store.save(&grant(&token)).await.unwrap();
            let another = KeyringStore::new("mcp-runtime tests");
            let kept = another.load(&server).await.unwrap().expect("it is kept");
            assert_eq!(json!(kept), json!(grant(&token)));
        }
        let other = KeyringStore::new("another program");
        assert!(other.load(&server).await.unwrap().is_none());
        store.remove(&server).await.unwrap();
        assert!(store.load(&server).await.unwrap().is_none());
        store.remove(&server).await.unwrap();
    });
}

/// Runs in a separate process, whose environment names a message bus that doesn't exist.
#[cfg(target_os = "linux")]
#[test]
fn a_system_without_a_keyring_is_an_error() {
    use mcp_runtime::auth::KeyringStore;

    const IS_CHILD: &str = "MCP_TEST_WITHOUT_KEYRING";
    if std::env::var_os(IS_CHILD).is_none() {
        let mut child = std::process::Command::new(std::env::current_exe().unwrap());
        child.args(["--exact", "auth::stores::a_system_without_a_keyring_is_an_error"]);
        child
            .env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent")
            .env(IS_CHILD, "1");
        let output = child.output().unwrap();
        let shown = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && shown.contains("1 passed"), "{shown}");
        return;
    }
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let error = runtime.block_on(async {
        let world = TestServers::new().await;
        let authorizer = Authorizer::interactive(Browser::default()).store(KeyringStore::new("mcp-runtime tests"));
        crate::auth::test_servers::auth_error(&world.connect(authorizer).await.expect_err("there is a keyring"))
    });
    assert!(error.contains("the token store failed"), "{error}");
}

#[test]
fn debug_output_of_an_authorizer_hides_the_secret() {
    let client = Client::new("https://login.example", "client").secret("hidden");
    let shown = format!("{:?}", Authorizer::client_credentials(client));
    assert!(shown.contains("client") && !shown.contains("hidden"), "{shown}");
}

/// The PEM of a private key.
pub fn pem(der: &[u8]) -> String {
    format!(
        "-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n",
        STANDARD.encode(der)
    )
}

#[tokio::test]
async fn a_client_authenticates_with_a_key() {
    let ecdsa = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &SystemRandom::new()).unwrap();
    let rsa = RsaKeyPair::generate(KeySize::Rsa2048).unwrap().as_der().unwrap();
    for (algorithm, der) in [("ES256", ecdsa.as_ref()), ("RS256", rsa.as_ref())] {
        let world = TestServers::new().await;
        let key = SigningKey::from_pem(algorithm, &pem(der)).unwrap().key_id("key-1");
        let authorizer = Authorizer::client_credentials(Client::new(&world.auth.url, "a client").key(key));
        call(&world.connect(authorizer).await.unwrap()).await.unwrap();
        let got = &world.auth.seen("POST /token")[0];
        let sort = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
        assert_eq!(got.form("client_assertion_type").as_deref(), Some(sort));
        let assertion = got.form("client_assertion").unwrap();
        let mut parts = assertion.split('.').map(|part| URL_SAFE_NO_PAD.decode(part).unwrap());
        let [header, claims] = [(); 2].map(|()| serde_json::from_slice::<Value>(&parts.next().unwrap()).unwrap());
        assert_eq!(header, json!({"alg": algorithm, "kid": "key-1", "typ": "JWT"}));
        assert_eq!(
            (&claims["iss"], &claims["sub"]),
            (&json!("a client"), &json!("a client"))
        );
        assert_eq!(claims["aud"], json!(world.auth.url));
        assert!(claims["exp"].as_u64().unwrap() <= claims["iat"].as_u64().unwrap() + 300);
    }
    for (algorithm, text) in [
        ("HS256", pem(ecdsa.as_ref())),
        ("ES384", pem(ecdsa.as_ref())),
        ("ES256", "no PEM".to_owned()),
        ("XS", pem(&[])),
    ] {
        assert!(SigningKey::from_pem(algorithm, &text).is_err(), "{algorithm}");
    }
}
