//! Whether the way to the API server leads through the proxy that the environment names.

use std::net::IpAddr;

use http::Uri;
use kube::config::Kubeconfig;

/// Whether the kubeconfig itself names a proxy for the cluster of `context`. `NO_PROXY` does not apply to that one.
pub(super) fn is_configured(kubeconfig: &Kubeconfig, context: &str) -> bool {
    let cluster = kubeconfig
        .contexts
        .iter()
        .find(|named| named.name == context)
        .and_then(|named| named.context.as_ref())
        .map(|context| context.cluster.as_str());
    kubeconfig
        .clusters
        .iter()
        .filter(|named| Some(named.name.as_str()) == cluster)
        .filter_map(|named| named.cluster.as_ref())
        .any(|cluster| cluster.proxy_url.as_ref().is_some_and(|url| !url.is_empty()))
}

/// Whether requests to `server` go past the environment's proxy, by the rules of Go's `httpproxy`, which kubectl uses:
/// this machine is never reached through a proxy, `*` means everything, a name covers its subdomains, `.name` only them.
pub(super) fn is_bypassed(server: &Uri, no_proxy: Option<&str>) -> bool {
    let Some(host) = server.host() else { return false };
    let host = host.trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
    let address = host.parse::<IpAddr>().ok();
    if host == "localhost" || address.is_some_and(|address| address.is_loopback()) {
        return true;
    }
    let port = server.port_u16().unwrap_or(443);
    let entries = no_proxy.unwrap_or_default().split(',').map(|entry| entry.trim().to_ascii_lowercase());
    entries.filter(|entry| !entry.is_empty()).any(|entry| covers(&entry, &host, address, port))
}

fn covers(entry: &str, host: &str, address: Option<IpAddr>, port: u16) -> bool {
    if entry == "*" {
        return true;
    }
    if let Some((network, bits)) = entry.split_once('/') {
        let (Ok(network), Ok(bits)) = (network.parse(), bits.parse()) else { return false };
        return address.is_some_and(|address| is_in(address, network, bits));
    }
    let (name, only_port) = match entry.rsplit_once(':') {
        Some((name, digits)) if !name.contains(':') => (name, digits.parse().ok()),
        _ => (entry, None),
    };
    if only_port.is_some_and(|only: u16| only != port) {
        return false;
    }
    if let Ok(named) = name.parse::<IpAddr>() {
        return address == Some(named);
    }
    let domain = name.trim_start_matches('*').trim_start_matches('.');
    let is_below = host.strip_suffix(domain).is_some_and(|before| before.ends_with('.'));
    is_below || (host == domain && !name.starts_with('.') && !name.starts_with('*'))
}

fn is_in(address: IpAddr, network: IpAddr, bits: u32) -> bool {
    match (address, network) {
        (IpAddr::V4(address), IpAddr::V4(network)) if bits <= 32 => {
            let mask = u32::MAX.checked_shl(32 - bits).unwrap_or(0);
            address.to_bits() & mask == network.to_bits() & mask
        }
        (IpAddr::V6(address), IpAddr::V6(network)) if bits <= 128 => {
            let mask = u128::MAX.checked_shl(128 - bits).unwrap_or(0);
            address.to_bits() & mask == network.to_bits() & mask
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::is_bypassed;

    fn bypassed(server: &str, no_proxy: &str) -> bool {
        is_bypassed(&server.parse().expect("a URL"), Some(no_proxy))
    }

    #[test]
    fn this_machine_is_never_reached_through_a_proxy() {
        for server in ["https://127.0.0.1:6443", "https://localhost:6443", "https://[::1]:6443"] {
            assert!(bypassed(server, ""), "{server}");
        }
        assert!(!bypassed("https://10.0.0.1:6443", ""));
    }

    #[test]
    fn no_proxy_is_read_as_go_reads_it() {
        let server = "https://api.prod.example.com:6443";
        for entry in
            ["*", "example.com", ".example.com", "*.example.com", "API.prod.example.com", "x,, example.com:6443"]
        {
            assert!(bypassed(server, entry), "{entry}");
        }
        for entry in ["", "ample.com", ".api.prod.example.com", "example.com:443", "example.org", "10.0.0.0/8"] {
            assert!(!bypassed(server, entry), "{entry}");
        }
        for entry in ["10.1.2.3", "10.0.0.0/8", "0.0.0.0/0", "10.1.2.3:6443"] {
            assert!(bypassed("https://10.1.2.3:6443", entry), "{entry}");
        }
        for entry in ["10.1.2.4", "11.0.0.0/8", "10.0.0.0/40", "fd00::/8", "10.1.2.3:443"] {
            assert!(!bypassed("https://10.1.2.3:6443", entry), "{entry}");
        }
        assert!(bypassed("https://[fd00::1]:6443", "fd00::/8"));
        assert!(!bypassed("https://[fd00::1]:6443", "fd00::2"));
    }
}
