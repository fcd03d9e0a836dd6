//! An issuer that grants every request.

use std::sync::{Arc, Mutex};

use jsonwebtoken::decode_header;
use serde_json::{Value, json};

use crate::auth::proof::thumbprint;
use crate::auth::protected::Protected;
use crate::auth::script::{json as reply, with_headers};
use crate::auth::signer::{Signer, claims, with};

/// The metadata of an issuer.
pub fn metadata(url: &str) -> Value {
    json!({
        "issuer": url,
        "jwks_uri": format!("{url}/jwks"),
        "authorization_endpoint": format!("{url}/authorize"),
        "token_endpoint": format!("{url}/token"),
        "registration_endpoint": format!("{url}/register"),
        "code_challenge_methods_supported": ["S256"],
        "dpop_signing_alg_values_supported": ["ES256"],
    })
}

/// Makes the issuer of a server grant every client a token with the requested scopes. The token is bound to the key
/// of the DPoP proof, if there is one.
pub fn issue(server: &Protected) {
    let scope = Arc::new(Mutex::new(String::new()));
    let asked = scope.clone();
    server.issuer.on("GET /authorize", move |request| {
        *asked.lock().unwrap() = request.query("scope").unwrap();
        let (to, state) = (request.query("redirect_uri").unwrap(), request.query("state").unwrap());
        with_headers(302, &[("location", format!("{to}?code=x&state={state}"))])
    });
    server
        .issuer
        .on("POST /register", |_| reply(json!({"client_id": "a client"})));
    let signer = Signer {
        key: server.signer.key.clone(),
        id: server.signer.id.clone(),
    };
    let issuer = server.issuer.url.clone();
    server.issuer.on("POST /token", move |request| {
        let audience = request.form("resource").unwrap();
        let claims = claims(&issuer, &audience, "alice", &scope.lock().unwrap());
        let (claims, token_type) = match request.header("dpop") {
            Some(proof) => {
                let key = decode_header(proof).unwrap().jwk.unwrap();
                (with(claims, "cnf", json!({"jkt": thumbprint(&key)})), "DPoP")
            }
            None => (claims, "Bearer"),
        };
        reply(json!({"access_token": signer.sign(&claims), "token_type": token_type, "expires_in": 600}))
    });
}
