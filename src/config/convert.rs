//! From the file as written to a configuration that is valid as a whole.
//!
//! What is refused takes its default and reading goes on, so that one run shows every problem; the caller drops the
//! result if there was any.

use std::net::{Ipv6Addr, SocketAddr};
use std::path::PathBuf;

use super::cursor::{Cursor, Section};
use super::operator::object_name_part;
use super::pattern::Pattern;
use super::{
    API_VERSION, Budget, Canary, Config, KIND, List, Mode, Nudge, Restart, Role, Server, Watch, operator, resource,
};

/// Reads the whole file.
pub(super) fn config(root: &Cursor<'_>) -> Config {
    root.section(top).unwrap_or_default()
}

fn top(section: &mut Section<'_>) -> Config {
    constant(section, "apiVersion", API_VERSION);
    constant(section, "kind", KIND);
    let role = role(section);
    let is_observer = matches!(role, Role::Observer(_));
    Config {
        role,
        resources: section.read("resources", resource::resources).unwrap_or_default(),
        list: section.read("list", |cursor| cursor.section(list)).unwrap_or_default(),
        watch: section.read("watch", |cursor| cursor.section(watch)).unwrap_or_default(),
        canary: section.read("canary", |cursor| cursor.section(canary)).flatten(),
        restart: restart(section.get("restart"), is_observer),
        nudge: section.read("nudge", |cursor| cursor.section(nudge)).unwrap_or_default(),
        state_file: section.read("stateFile", Cursor::text).map(PathBuf::from),
        server: section.read("server", |cursor| cursor.section(server)).unwrap_or_default(),
    }
}

fn constant(section: &mut Section<'_>, key: &'static str, value: &str) {
    section.required(key, &format!("write `{key}: {value}`"), |cursor| cursor.word(&[(value, ())]));
}

fn role(section: &mut Section<'_>) -> Role {
    let (operator, operators) = (section.get("operator"), section.get("operators"));
    if let (Some(_), Some(operators)) = (&operator, &operators) {
        operators.refuse("excludes `operator`; keep `operator` in a sidecar, `operators` in a stand-alone observer");
    }
    let operator = operator.and_then(|cursor| cursor.section(operator::operator));
    match operators.and_then(|cursor| operator::operators(&cursor)) {
        Some(operators) => Role::Observer(operators),
        None => Role::Sidecar(operator.unwrap_or_default()),
    }
}

fn list(section: &mut Section<'_>) -> List {
    let default = List::default();
    List {
        interval: section.read("interval", Cursor::duration_or_auto),
        page_size: section.read("pageSize", Cursor::count).unwrap_or(default.page_size),
        max_object_bytes: section.read("maxObjectBytes", Cursor::size).unwrap_or(default.max_object_bytes),
    }
}

fn watch(section: &mut Section<'_>) -> Watch {
    let Some(cursor) = section.get("idleAfter") else { return Watch::default() };
    let Some(idle_after) = cursor.duration() else { return Watch::default() };
    if idle_after < Watch::LEAST_IDLE_AFTER {
        cursor.refuse("must be at least 90s, since a healthy watch carries a bookmark only about every 60s");
    }
    Watch { idle_after }
}

fn canary(section: &mut Section<'_>) -> Option<Canary> {
    let resource = section.required("resource", "write it as plural.group", |cursor| cursor.parsed(one_resource));
    let namespace = section.read("namespace", |cursor| cursor.parsed(object_name_part));
    let hint = "write the name of an object made for this purpose";
    let name = section.required("name", hint, |cursor| cursor.parsed(object_name_part));
    let interval = section.read("interval", Cursor::duration);
    let path = section.read("path", |cursor| cursor.parsed(field));
    let create = section.read("create", body);
    let interval = interval.unwrap_or(Canary::DEFAULT_INTERVAL);
    Some(Canary { resource: resource?, namespace, name: name?, interval, path, create })
}

/// Where the canary's change is written. Metadata is out of the question: it is no desired state, but for kopf.
fn field(text: &str) -> Result<Vec<String>, &'static str> {
    let is_key = |part: &&str| {
        !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
    };
    let parts: Vec<&str> = text.split('.').collect();
    if !parts.iter().all(is_key) {
        return Err("is not the path of a field; write its keys with dots, as in spec.canary");
    }
    if ["apiVersion", "kind", "metadata", "status"].contains(&parts[0]) {
        return Err("is no desired state; name a text field below `spec` or beside it, as in spec.canary");
    }
    Ok(parts.into_iter().map(str::to_owned).collect())
}

/// What the canary is created with. dogwatch writes its name, and its type.
fn body(cursor: &Cursor<'_>) -> Option<serde_json::Map<String, serde_json::Value>> {
    let serde_json::Value::Object(body) = cursor.json()? else {
        cursor.refuse("expected keys and values, as in {spec: {}}");
        return None;
    };
    if let Some(key) = ["apiVersion", "kind", "status"].into_iter().find(|key| body.contains_key(*key)) {
        cursor.refuse(format!("`{key}` is not written by hand; leave it out"));
    }
    if body.get("metadata").is_some_and(|metadata| !metadata.is_object()) {
        cursor.refuse("`metadata` has keys and values, such as labels");
        return None;
    }
    Some(body)
}

fn one_resource(text: &str) -> Result<String, String> {
    let pattern = Pattern::parse(text).map_err(|error| error.to_string())?;
    if pattern.is_glob() { Err("must be one resource, not a pattern".to_owned()) } else { Ok(text.to_owned()) }
}

fn restart(cursor: Option<Cursor<'_>>, is_observer: bool) -> Restart {
    let default = Restart { mode: if is_observer { Mode::Observe } else { Mode::Enforce }, ..Restart::default() };
    let read = |section: &mut Section<'_>| Restart {
        mode: mode(section, is_observer).unwrap_or(default.mode),
        confirm: section.read("confirm", Cursor::duration).unwrap_or(default.confirm),
        grace: section.read("grace", Cursor::duration).unwrap_or(default.grace),
        budget: section.read("budget", |cursor| cursor.section(budget)).unwrap_or(default.budget),
        jitter: section.read("jitter", Cursor::duration_or_zero).unwrap_or(default.jitter),
        require_proof: section.read("requireProof", Cursor::boolean).unwrap_or(default.require_proof),
    };
    cursor.and_then(|cursor| cursor.section(read)).unwrap_or(default)
}

fn mode(section: &mut Section<'_>, is_observer: bool) -> Option<Mode> {
    let cursor = section.get("mode")?;
    let mode = cursor.word(&Mode::WORDS)?;
    if is_observer && mode == Mode::Enforce {
        cursor.refuse("`operators` are only ever observed; write `observe` or leave the key out");
    }
    Some(mode)
}

fn budget(section: &mut Section<'_>) -> Budget {
    let default = Budget::default();
    Budget {
        max: section.read("max", Cursor::count).unwrap_or(default.max),
        window: section.read("window", Cursor::duration).unwrap_or(default.window),
        min_gap: section.read("minGap", Cursor::duration).unwrap_or(default.min_gap),
    }
}

fn nudge(section: &mut Section<'_>) -> Nudge {
    let default = Nudge::default();
    Nudge { enabled: section.read("enabled", Cursor::boolean).unwrap_or(default.enabled) }
}

fn server(section: &mut Section<'_>) -> Server {
    let listen = section.read("listen", |cursor| cursor.parsed(address));
    listen.map_or_else(Server::default, |listen| Server { listen })
}

/// Reads an address as Go's listeners take it: without a host it is every address of the machine.
fn address(text: &str) -> Result<SocketAddr, &'static str> {
    let address = match text.strip_prefix(':') {
        Some(port) => port.parse().ok().map(|port: u16| SocketAddr::from((Ipv6Addr::UNSPECIFIED, port))),
        None => text.parse().ok(),
    };
    address.ok_or("is not an address with a port; write it as \"[::]:11850\" or 127.0.0.1:11850")
}
