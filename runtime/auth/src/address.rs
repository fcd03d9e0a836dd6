//! The policy for addresses to which a server may direct its clients.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

/// The addresses that requests may reach. A server on the internet must not direct its clients to services in their own
/// networks, and no server may direct them to link-local addresses or to the metadata service of the cloud that they
/// run in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddressPolicy {
    /// Public addresses.
    Public,
    /// Public addresses, and this machine.
    Loopback,
    /// All addresses except for link-local ones and cloud metadata services.
    Any,
}

/// The kind of an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Public,
    Loopback,
    Private,
    /// A link-local address, or a cloud service that gives credentials to every program on the machine.
    LinkLocal,
}

impl AddressPolicy {
    /// The policy for clients whose user has configured this server: it may direct them to addresses like its own.
    pub fn of(server: &Url) -> Self {
        match host_address(server) {
            Some(address) => match kind(address) {
                Kind::Public => Self::Public,
                Kind::Loopback => Self::Loopback,
                Kind::Private | Kind::LinkLocal => Self::Any,
            },
            None if is_localhost(server) => Self::Loopback,
            None => Self::Public,
        }
    }

    /// Whether an address may be reached.
    pub fn allows(self, address: IpAddr) -> bool {
        match kind(address) {
            Kind::Public => true,
            Kind::Loopback => self != Self::Public,
            Kind::Private => self == Self::Any,
            Kind::LinkLocal => false,
        }
    }
}

/// Whether a URL names this machine.
pub fn is_loopback(url: &Url) -> bool {
    is_localhost(url) || host_address(url).is_some_and(|address| kind(address) == Kind::Loopback)
}

/// The IP address in a URL, if its host isn't a name.
pub fn host_address(url: &Url) -> Option<IpAddr> {
    let host = url.host_str()?;
    host.trim_start_matches('[').trim_end_matches(']').parse().ok()
}

fn is_localhost(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_end_matches('.');
    host == "localhost" || host.ends_with(".localhost")
}

fn kind(address: IpAddr) -> Kind {
    match address {
        IpAddr::V4(address) => kind_v4(address),
        IpAddr::V6(address) => kind_v6(address),
    }
}

fn kind_v4(address: Ipv4Addr) -> Kind {
    match address.octets() {
        // Link-local addresses, and other addresses of cloud metadata services.
        [169, 254, ..] | [100, 100, 100, 200] | [168, 63, 129, 16] | [192, 0, 0, 192] => Kind::LinkLocal,
        [127, ..] => Kind::Loopback,
        [0 | 10 | 224.., ..]
        | [100, 64..=127, ..]
        | [172, 16..=31, ..]
        | [192, 168, ..]
        | [192, 0, 0 | 2, _]
        | [198, 18 | 19, ..]
        | [198, 51, 100, _]
        | [203, 0, 113, _] => Kind::Private,
        _ => Kind::Public,
    }
}

fn kind_v6(address: Ipv6Addr) -> Kind {
    if address.is_loopback() {
        return Kind::Loopback;
    }
    let segments = address.segments();
    let embedded = |high: u16, low: u16| kind_v4((u32::from(high) << 16 | u32::from(low)).into());
    match segments {
        // Embedded IPv4 addresses: compatible, mapped, translated, and tunnelled.
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => embedded(high, low),
        [0x2002, high, low, ..] => embedded(high, low),
        // Link-local addresses, and another address of a cloud metadata service.
        [0xfe80..=0xfebf, ..] | [0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254] => Kind::LinkLocal,
        // Global addresses, except for those of examples.
        [0x2001, 0xdb8, ..] => Kind::Private,
        [0x2000..=0x3fff, ..] => Kind::Public,
        _ => Kind::Private,
    }
}

/// A resolver that only returns addresses that the policy allows.
#[derive(Debug)]
pub struct GuardedResolver(pub AddressPolicy);

/// The error when a name has no allowed address.
#[derive(Debug, thiserror::Error)]
#[error("the host has no allowed address")]
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
    fn private_and_loopback_addresses_are_not_public() {
        let private = [
            "10.1.2.3",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.0.1",
            "100.64.0.1",
            "0.0.0.0",
            "255.255.255.255",
            "224.0.0.1",
            "fc00::1",
            "::",
            "::ffff:10.0.0.1",
            "64:ff9b::a00:1",
            "2002:a00:1::",
            "ff02::1",
        ];
        for address in private {
            let address = address.parse().unwrap();
            assert!(
                !AddressPolicy::Public.allows(address) && !AddressPolicy::Loopback.allows(address),
                "{address}"
            );
            assert!(AddressPolicy::Any.allows(address));
        }
        for address in ["127.0.0.1", "127.1.2.3", "::1", "::ffff:127.0.0.1"] {
            let address = address.parse().unwrap();
            assert!(
                !AddressPolicy::Public.allows(address) && AddressPolicy::Loopback.allows(address),
                "{address}"
            );
        }
        for address in ["1.1.1.1", "172.32.0.1", "192.0.1.1", "2606:4700::1111"] {
            assert!(AddressPolicy::Public.allows(address.parse().unwrap()), "{address}");
        }
    }

    #[tokio::test]
    async fn link_local_and_cloud_metadata_addresses_are_never_reached() {
        let never = [
            "169.254.0.1",
            "169.254.169.254",
            "169.254.170.2",
            "100.100.100.200",
            "168.63.129.16",
            "192.0.0.192",
            "fe80::1",
            "febf:ffff::1",
            "fd00:ec2::254",
            "::ffff:169.254.169.254",
            "::169.254.169.254",
            "64:ff9b::a9fe:a9fe",
            "2002:a9fe:a9fe::",
        ];
        let beside = ["169.253.0.1", "169.255.0.1", "fec0::1", "fe7f::1", "fd00:ec2::253"];
        for address in never {
            let it: IpAddr = address.parse().unwrap();
            for reach in [AddressPolicy::Public, AddressPolicy::Loopback, AddressPolicy::Any] {
                assert!(!reach.allows(it), "{address}");
            }
            // The same applies to names that resolve to the address.
            let found = GuardedResolver(AddressPolicy::Any)
                .resolve(address.parse().unwrap())
                .await;
            assert!(found.is_err_and(|error| error.is::<BlockedAddress>()), "{address}");
        }
        for address in beside {
            assert!(AddressPolicy::Any.allows(address.parse().unwrap()), "{address}");
        }
        // A server at such an address may direct its clients into its network, but not to such addresses.
        for server in ["http://169.254.169.254/", "http://[fe80::1]/", "http://10.0.0.1/"] {
            let reach = AddressPolicy::of(&Url::parse(server).unwrap());
            assert!(!reach.allows("169.254.169.254".parse().unwrap()), "{server}");
        }
    }

    #[test]
    fn the_policy_for_a_server_allows_addresses_like_its_own() {
        let reach = |url: &str| AddressPolicy::of(&Url::parse(url).unwrap());
        assert_eq!(reach("https://mcp.example/mcp"), AddressPolicy::Public);
        for url in [
            "http://127.0.0.1:8080/",
            "http://localhost/mcp",
            "http://[::1]/",
            "http://app.localhost./",
        ] {
            assert_eq!(reach(url), AddressPolicy::Loopback, "{url}");
        }
        assert_eq!(reach("http://10.0.0.1/"), AddressPolicy::Any);
        // Other notations of an address are parsed as the URL standard defines.
        assert_eq!(reach("http://2130706433/"), AddressPolicy::Loopback);
    }
}
