//! Which sockets are dogwatch's own.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use super::Error;

/// The kernel's numbers of this process's sockets.
pub(super) fn sockets() -> Result<HashSet<u64>, Error> {
    let folder = fs::read_dir("/proc/self/fd").map_err(Error::Own)?;
    let mut own = HashSet::new();
    for entry in folder {
        // A file that was closed meanwhile has no link any more.
        if let Ok(target) = fs::read_link(entry.map_err(Error::Own)?.path()) {
            own.extend(inode(&target));
        }
    }
    Ok(own)
}

/// `socket:[123]`.
fn inode(target: &Path) -> Option<u64> {
    target.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
}
