//! Connections of the tests' own hands.

use hyper_util::client::legacy;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use kube::client::ConfigExt;
use tower::{BoxError, ServiceBuilder};

/// A client that sends small writes at once. kube's own waits for an acknowledgement between the head and the body of a
/// request, 40 ms each time.
pub(crate) fn open(config: &kube::Config) -> kube::Client {
    let mut tcp = HttpConnector::new();
    tcp.enforce_http(false);
    tcp.set_nodelay(true);
    let connector = config.rustls_https_connector_with_connector(tcp).expect("certificates");
    let service = ServiceBuilder::new()
        .layer(config.base_uri_layer())
        .option_layer(config.auth_layer().expect("credentials"))
        .map_err(BoxError::from)
        .service(legacy::Client::builder(TokioExecutor::new()).build(connector));
    kube::Client::new(service, "default")
}
