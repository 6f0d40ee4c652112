//! A `kube-apiserver` with its own `etcd`, on loopback, for as long as a test runs.

use std::hash::{BuildHasher, RandomState};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use dogwatch::cluster::connect::{Cluster, Options, connect};
use serde_json::json;
use tempfile::TempDir;

use super::admin::Admin;
use super::certificate;
use super::process::Process;
use super::storage::Storage;

/// Somebody else may take a port between the moment it was found free and the moment it is used.
const ATTEMPTS: u32 = 5;
const START_UP: Duration = Duration::from_mins(1);

/// Who asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum User {
    /// May do everything.
    Admin,
    /// May look at discovery, and at what [`Admin::grant`] grants.
    Limited,
}

/// A running API server. Stopped, with everything it wrote, when dropped.
#[derive(Debug)]
pub(crate) struct ApiServer {
    // Dropped in this order: the API server before its storage, both before their folder.
    server: Mutex<Option<Process>>,
    etcd: Mutex<Process>,
    folder: TempDir,
    arguments: Vec<String>,
    address: String,
    storage_address: String,
}

impl ApiServer {
    /// Starts one for one test alone.
    pub(crate) async fn start() -> Self {
        let binaries = binaries();
        for attempt in 1.. {
            let started = Self::spawn(&binaries);
            match started.wait_until_ready().await {
                Ok(()) => return started,
                Err(last_words) => assert!(attempt < ATTEMPTS, "no API server after {attempt} attempts\n{last_words}"),
            }
        }
        unreachable!("the loop ends by returning or panicking")
    }

    /// The one that the tests running at this moment share; started by the first and stopped by the last of them. Each
    /// test uses API groups and namespaces of its own.
    pub(crate) async fn shared() -> Arc<Self> {
        static SHARED: Mutex<Weak<ApiServer>> = Mutex::new(Weak::new());
        static STARTING: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

        let _starting = STARTING.lock().await;
        let running = locked(&SHARED).upgrade();
        if let Some(running) = running {
            return running;
        }
        let started = Arc::new(Self::start().await);
        *locked(&SHARED) = Arc::downgrade(&started);
        started
    }

    /// The kubeconfig of a user. Its one context is called after the user.
    pub(crate) fn kubeconfig(&self, user: User) -> PathBuf {
        self.folder.path().join(format!("{}.kubeconfig", user.name()))
    }

    /// What dogwatch finds with a user's kubeconfig.
    pub(crate) async fn cluster(&self, user: User) -> Cluster {
        let options = Options { kubeconfig: Some(self.kubeconfig(user)), ..Options::default() };
        connect(&options).await.expect("the kubeconfig is in order")
    }

    /// The hands of the tests.
    pub(crate) async fn admin(&self) -> Admin {
        Admin::new(&self.kubeconfig(User::Admin)).await
    }

    /// Kills the API server; its storage lives on.
    pub(crate) fn kill(&self) {
        *locked(&self.server) = None;
    }

    /// Starts it again where it was, after [`ApiServer::kill`].
    pub(crate) async fn revive(&self) {
        let server = Process::start(&binaries().join("kube-apiserver"), &self.arguments, self.folder());
        *locked(&self.server) = Some(server);
        self.wait_until_ready().await.unwrap_or_else(|last_words| panic!("no API server any more\n{last_words}"));
    }

    /// Where its certificates are: `ca.crt`, `tls.crt` and `tls.key`.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Its storage, past it.
    pub(crate) fn storage(&self) -> Storage {
        Storage::new(&self.storage_address)
    }

    /// `https://127.0.0.1:<port>`.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    fn spawn(binaries: &Path) -> Self {
        let folder = TempDir::with_prefix("dogwatch-api-server-").expect("a temporary folder");
        let path = folder.path();
        certificate::write_all(path);
        let [etcd_port, peer_port, port] = free_ports();
        let address = format!("https://127.0.0.1:{port}");
        let tokens = write_tokens(path);
        for (user, token) in [User::Admin, User::Limited].into_iter().zip(tokens) {
            write_kubeconfig(path, user, &address, &token);
        }
        let etcd = Process::start(&binaries.join("etcd"), &etcd_arguments(path, etcd_port, peer_port), path);
        let arguments = server_arguments(path, etcd_port, port);
        let server = Process::start(&binaries.join("kube-apiserver"), &arguments, path);
        let storage_address = format!("http://127.0.0.1:{etcd_port}");
        let (server, etcd) = (Mutex::new(Some(server)), Mutex::new(etcd));
        Self { server, etcd, folder, arguments, address, storage_address }
    }

    /// Fails with the end of the logs when one of the two has ended, or none is ready in time.
    async fn wait_until_ready(&self) -> Result<(), String> {
        let admin = self.admin().await;
        let begun = Instant::now();
        while begun.elapsed() < START_UP {
            if admin.is_ready().await {
                return Ok(());
            }
            if self.has_ended() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        let words = locked(&self.server).as_ref().map(Process::last_words).unwrap_or_default();
        Err(format!("{}\n{words}", locked(&self.etcd).last_words()))
    }

    fn has_ended(&self) -> bool {
        locked(&self.etcd).has_ended() || locked(&self.server).as_mut().is_some_and(Process::has_ended)
    }
}

impl User {
    /// The name under which the API server knows the user.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Admin => "admin",
            Self::Limited => "limited",
        }
    }
}

fn locked<T>(it: &Mutex<T>) -> MutexGuard<'_, T> {
    it.lock().unwrap_or_else(PoisonError::into_inner)
}

fn binaries() -> PathBuf {
    let folder = std::env::var_os("KUBEBUILDER_ASSETS").map(PathBuf::from);
    let folder = folder.expect("KUBEBUILDER_ASSETS names no folder: run these tests with tests/cluster/test");
    for name in ["etcd", "kube-apiserver"] {
        assert!(folder.join(name).is_file(), "there is no {name} in {}: see tests/cluster/README.md", folder.display());
    }
    folder
}

fn free_ports() -> [u16; 3] {
    // Held together, so that they differ.
    let listeners = [(); 3].map(|()| TcpListener::bind("127.0.0.1:0").expect("a free port"));
    listeners.map(|listener| listener.local_addr().expect("a bound socket").port())
}

fn write_tokens(folder: &Path) -> [String; 2] {
    let random = || format!("{:016x}{:016x}", RandomState::new().hash_one(0), RandomState::new().hash_one(1));
    let [admin, limited] = [random(), random()];
    let lines = format!("{admin},admin,uid-admin,system:masters\n{limited},limited,uid-limited,\n");
    std::fs::write(folder.join("tokens.csv"), lines).expect("the folder can be written to");
    [admin, limited]
}

fn write_kubeconfig(folder: &Path, user: User, address: &str, token: &str) {
    let name = user.name();
    let kubeconfig = json!({
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": name,
        "contexts": [{"name": name, "context": {"cluster": "test", "user": name}}],
        "clusters": [{"name": "test", "cluster": {"server": address, "certificate-authority": folder.join("ca.crt")}}],
        "users": [{"name": name, "user": {"token": token}}],
    });
    let path = folder.join(format!("{name}.kubeconfig"));
    std::fs::write(path, kubeconfig.to_string()).expect("the folder can be written to");
}

fn etcd_arguments(folder: &Path, port: u16, peer_port: u16) -> Vec<String> {
    let (client, peer) = (format!("http://127.0.0.1:{port}"), format!("http://127.0.0.1:{peer_port}"));
    vec![
        "--name=test".to_owned(),
        format!("--data-dir={}", folder.join("etcd").display()),
        format!("--listen-client-urls={client}"),
        format!("--advertise-client-urls={client}"),
        format!("--listen-peer-urls={peer}"),
        format!("--initial-advertise-peer-urls={peer}"),
        format!("--initial-cluster=test={peer}"),
        "--unsafe-no-fsync".to_owned(),
        "--log-level=warn".to_owned(),
    ]
}

fn server_arguments(folder: &Path, etcd_port: u16, port: u16) -> Vec<String> {
    let file = |flag: &str, name: &str| format!("--{flag}={}", folder.join(name).display());
    let mut arguments = vec![
        format!("--etcd-servers=http://127.0.0.1:{etcd_port}"),
        format!("--secure-port={port}"),
        file("tls-cert-file", "tls.crt"),
        file("tls-private-key-file", "tls.key"),
        file("cert-dir", "certs"),
        file("token-auth-file", "tokens.csv"),
        file("service-account-key-file", "sa.pub"),
        file("service-account-signing-key-file", "sa.key"),
    ];
    let fixed = [
        "--bind-address=127.0.0.1",
        "--advertise-address=127.0.0.1",
        "--authorization-mode=RBAC",
        // No controller runs that would make the service accounts that it asks for.
        "--disable-admission-plugins=ServiceAccount",
        "--service-account-issuer=https://kubernetes.default.svc",
        "--service-cluster-ip-range=10.0.0.0/24",
        "--allow-privileged=true",
        "--endpoint-reconciler-type=none",
    ];
    arguments.extend(fixed.map(str::to_owned));
    arguments
}
