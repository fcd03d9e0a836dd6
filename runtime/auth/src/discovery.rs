//! Fetching the metadata of authorization servers.

use reqwest::Url;

use super::error::AuthError;
use super::fetch::Fetcher;
use super::metadata::ServerMetadata;

/// Fetches the metadata of an authorization server, whose `issuer` has to be this one.
///
/// Later comparisons have to use the `issuer` of the metadata, which can differ by a slash.
pub async fn server_metadata(fetcher: &Fetcher, issuer: &str) -> Result<ServerMetadata, AuthError> {
    let url = fetcher.check(issuer)?;
    let mut places = vec![
        well_known(&url, "oauth-authorization-server", MetadataLocation::Inserted),
        well_known(&url, "openid-configuration", MetadataLocation::Inserted),
    ];
    if url.path() != "/" {
        places.push(well_known(&url, "openid-configuration", MetadataLocation::Appended));
    }
    for place in places {
        let Some(answer) = fetcher.get(place.as_str()).await? else {
            continue;
        };
        let Some(metadata) = answer.metadata::<ServerMetadata>("issuer")? else {
            continue;
        };
        return match is_same_issuer(&metadata.issuer, issuer) {
            true => Ok(metadata),
            false => Err(AuthError::IssuerMismatch {
                expected: issuer.to_owned(),
                found: metadata.issuer,
            }),
        };
    }
    Err(AuthError::NoMetadata(issuer.to_owned()))
}

/// Whether two URLs identify the same issuer. An issuer without a path can be written with a slash at its end or without,
/// because libraries for URLs add the slash: several servers name their authorization server in the other form than its
/// metadata.
pub fn is_same_issuer(one: &str, other: &str) -> bool {
    let is_root = || Url::parse(one).is_ok_and(|url| url.path() == "/" && url.query().is_none());
    one == other || without_slash(one) == without_slash(other) && is_root()
}

fn without_slash(issuer: &str) -> &str {
    issuer.strip_suffix('/').unwrap_or(issuer)
}

/// The way in which a well-known URL is derived from a URL with a path.
pub enum MetadataLocation {
    /// The path comes after the well-known part.
    Inserted,
    /// The path comes before the well-known part.
    Appended,
}

/// The well-known URL for another URL.
pub fn well_known(of: &Url, name: &str, place: MetadataLocation) -> Url {
    let path = of.path().trim_end_matches('/');
    let path = match place {
        MetadataLocation::Inserted => format!("/.well-known/{name}{path}"),
        MetadataLocation::Appended => format!("{path}/.well-known/{name}"),
    };
    server_root(of, &path)
}

/// The URL with this path at the same origin.
pub fn server_root(of: &Url, path: &str) -> Url {
    let mut url = of.clone();
    url.set_path(path);
    url.set_query(None);
    url.set_fragment(None);
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn issuers_differ_by_more_than_the_slash_of_an_empty_path() {
        assert!(is_same_issuer("https://as.example/", "https://as.example"));
        assert!(is_same_issuer("https://as.example:8443", "https://as.example:8443/"));
        for (one, other) in [
            ("https://as.example/tenant/", "https://as.example/tenant"),
            ("https://as.example//", "https://as.example"),
            ("https://as.example/?a=/", "https://as.example/?a="),
            ("https://AS.example", "https://as.example"),
            ("https://as.example", "http://as.example"),
        ] {
            assert!(!is_same_issuer(one, other), "{one} {other}");
        }
    }

    #[test]
    fn well_known_urls_keep_the_path() {
        let url = Url::parse("https://as.example/tenant/?a=b").unwrap();
        let inserted = well_known(&url, "openid-configuration", MetadataLocation::Inserted);
        assert_eq!(
            inserted.as_str(),
            "https://as.example/.well-known/openid-configuration/tenant"
        );
        let appended = well_known(&url, "openid-configuration", MetadataLocation::Appended);
        assert_eq!(
            appended.as_str(),
            "https://as.example/tenant/.well-known/openid-configuration"
        );
    }
}
