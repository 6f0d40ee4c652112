//! The TCP connections of the network namespace that dogwatch shares with the operator, as the kernel knows them.
//!
//! Read through `NETLINK_SOCK_DIAG`, for which a container needs no right beyond those of the default seccomp profile.
//! Which sockets are dogwatch's own, `/proc/self/fd` says; [`crate::judge::connection`] says what all of it means.

#[cfg(target_os = "linux")]
mod kernel;
#[cfg(target_os = "linux")]
mod own;
#[cfg(target_os = "linux")]
mod parse;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests;

use std::io;

use crate::judge::connection::Socket;

/// Why the connections cannot be seen.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Another operating system.
    #[error("TCP connections can be read on Linux only")]
    Unsupported,
    /// The kernel, a seccomp profile or a sandbox refuses the question.
    #[error("cannot ask the kernel for TCP connections (NETLINK_SOCK_DIAG): {step}")]
    Refused {
        /// What was attempted.
        step: &'static str,
        /// Why it failed.
        #[source]
        source: io::Error,
    },
    /// The kernel's answer ended early or is of another form.
    #[error("the kernel's answer about TCP connections cannot be read: {problem}")]
    Answer {
        /// What is wrong with it.
        problem: String,
    },
    /// Which sockets are dogwatch's own is not known, and without that nothing is.
    #[error("cannot read /proc/self/fd, which tells dogwatch's own sockets")]
    Own(#[source] io::Error),
}

/// Every TCP socket over IPv4 and IPv6 that is open or listens. Blocks for about a millisecond, and for some more where
/// there are hundreds.
///
/// # Errors
/// See [`Error`]. A part of the table is none: what is missing could be what the operator hears through.
#[cfg(target_os = "linux")]
pub fn read() -> Result<Vec<Socket>, Error> {
    // Before and after: what is opened or closed meanwhile is dogwatch's own all the same.
    let mut own = own::sockets()?;
    let mut sockets = kernel::dump()?;
    own.extend(own::sockets()?);
    for socket in &mut sockets {
        socket.is_own = own.contains(&socket.inode);
    }
    Ok(sockets)
}

/// There is nothing to read elsewhere.
///
/// # Errors
/// Always.
#[cfg(not(target_os = "linux"))]
pub fn read() -> Result<Vec<Socket>, Error> {
    Err(Error::Unsupported)
}
