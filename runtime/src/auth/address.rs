//! Addresses that a server may send its clients to.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

/// Which addresses may be reached. A server out in the internet must not send its clients to services in their own
/// networks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Public ones.
    Public,
    /// Public ones, and this machine.
    Loopback,
    /// All.
    Any,
}

impl Reach {
    /// What those may be sent to who have named this server themselves.
    pub fn of(server: &Url) -> Self {
        match host_address(server) {
            Some(address) => kind(address),
            None if is_localhost(server) => Self::Loopback,
            None => Self::Public,
        }
    }

    /// Whether an address may be reached.
    pub fn allows(self, address: IpAddr) -> bool {
        match (self, kind(address)) {
            (Self::Any, _) | (_, Self::Public) => true,
            (reach, needed) => reach == needed,
        }
    }
}

/// Whether a URL names this machine.
pub fn is_loopback(url: &Url) -> bool {
    is_localhost(url) || host_address(url).is_some_and(|address| kind(address) == Reach::Loopback)
}

/// The address that a URL has instead of a name.
pub fn host_address(url: &Url) -> Option<IpAddr> {
    let host = url.host_str()?;
    host.trim_start_matches('[').trim_end_matches(']').parse().ok()
}

fn is_localhost(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_end_matches('.');
    host == "localhost" || host.ends_with(".localhost")
}

/// What has to be allowed for an address.
fn kind(address: IpAddr) -> Reach {
    match address {
        IpAddr::V4(address) => kind_v4(address),
        IpAddr::V6(address) => kind_v6(address),
    }
}

fn kind_v4(address: Ipv4Addr) -> Reach {
    let [first, second, third, _] = address.octets();
    let is_special = matches!(
        (first, second, third),
        (0 | 10 | 224.., ..)
            | (100, 64..=127, _)
            | (169, 254, _)
            | (172, 16..=31, _)
            | (192, 168, _)
            | (192, 0, 0 | 2)
            | (198, 18 | 19, _)
            | (198, 51, 100)
            | (203, 0, 113)
    );
    match (first, is_special) {
        (127, _) => Reach::Loopback,
        (_, true) => Reach::Any,
        (_, false) => Reach::Public,
    }
}

fn kind_v6(address: Ipv6Addr) -> Reach {
    if address.is_loopback() {
        return Reach::Loopback;
    }
    let segments = address.segments();
    let embedded = |high: u16, low: u16| kind_v4((u32::from(high) << 16 | u32::from(low)).into());
    match segments {
        // Addresses of IPv4: as they are, mapped, translated, and tunnelled.
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => embedded(high, low),
        [0x2002, high, low, ..] => embedded(high, low),
        // What is global, but for the addresses of examples.
        [0x2001, 0xdb8, ..] => Reach::Any,
        [0x2000..=0x3fff, ..] => Reach::Public,
        _ => Reach::Any,
    }
}

/// Resolves names to the addresses that may be reached.
#[derive(Debug)]
pub struct GuardedResolver(pub Reach);

/// A name has none of the addresses that may be reached.
#[derive(Debug, thiserror::Error)]
#[error("the host is at no address that may be reached")]
pub struct BlockedAddress;

impl Resolve for GuardedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let reach = self.0;
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let allowed: Vec<SocketAddr> = found.filter(|address| reach.allows(address.ip())).collect();
            if allowed.is_empty() {
                return Err(BlockedAddress.into());
            }
            Ok(Box::new(allowed.into_iter()) as Addrs)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_public_addresses_are_public() {
        let private = [
            "10.1.2.3",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.0.1",
            "169.254.169.254",
            "100.64.0.1",
            "0.0.0.0",
            "255.255.255.255",
            "224.0.0.1",
            "fc00::1",
            "fe80::1",
            "::",
            "::ffff:10.0.0.1",
            "64:ff9b::a9fe:a9fe",
            "2002:a00:1::",
            "ff02::1",
        ];
        for address in private {
            let address = address.parse().unwrap();
            assert!(
                !Reach::Public.allows(address) && !Reach::Loopback.allows(address),
                "{address}"
            );
            assert!(Reach::Any.allows(address));
        }
        for address in ["127.0.0.1", "127.1.2.3", "::1", "::ffff:127.0.0.1"] {
            let address = address.parse().unwrap();
            assert!(
                !Reach::Public.allows(address) && Reach::Loopback.allows(address),
                "{address}"
            );
        }
        for address in ["1.1.1.1", "172.32.0.1", "192.0.1.1", "2606:4700::1111"] {
            assert!(Reach::Public.allows(address.parse().unwrap()), "{address}");
        }
    }

    #[test]
    fn a_server_may_send_its_clients_where_it_is_itself() {
        let reach = |url: &str| Reach::of(&Url::parse(url).unwrap());
        assert_eq!(reach("https://mcp.example/mcp"), Reach::Public);
        for url in [
            "http://127.0.0.1:8080/",
            "http://localhost/mcp",
            "http://[::1]/",
            "http://app.localhost./",
        ] {
            assert_eq!(reach(url), Reach::Loopback, "{url}");
        }
        assert_eq!(reach("http://10.0.0.1/"), Reach::Any);
        // Other ways to write an address are read as the URL standard does.
        assert_eq!(reach("http://2130706433/"), Reach::Loopback);
    }
}
