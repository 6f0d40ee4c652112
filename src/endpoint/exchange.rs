//! One GET over HTTP/1.1.

use std::path::PathBuf;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, HOST, HeaderValue, USER_AGENT};
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Empty};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};

use super::tls::{self, Trust};
use super::{Error, Target};

/// The header by which dogwatch says that it is dogwatch.
const DOGWATCH: &str = "dogwatch";
/// As much of a body is read for its first line.
const LONGEST_LINE: usize = 1024;
/// A longer line is none of those that anybody looks for.
const LONGEST_READ_LINE: usize = 16 * 1024;

/// What was answered.
#[derive(Debug)]
pub struct Reply {
    /// The status.
    pub status: StatusCode,
    /// Whether it was dogwatch that answered.
    pub is_dogwatch: bool,
    /// The first line of the body.
    pub line: String,
}

/// How a protected target is asked.
#[derive(Debug, Clone, Default)]
pub struct Access {
    /// A file with a bearer token, read anew for every request since the kubelet replaces it. None: no token is sent.
    pub token_file: Option<PathBuf>,
    /// Which certificates are trusted.
    pub trust: Trust,
}

impl Target {
    /// Asks, and waits for the answer's first line at most until `limit` is over. Any certificate is taken.
    ///
    /// # Errors
    /// When there is no answer in time.
    pub async fn get(&self, limit: Duration) -> Result<Reply, Error> {
        self.within(limit, async {
            let (head, body) = self.open(&Access { token_file: None, trust: Trust::Any }).await?.into_parts();
            let line = first_line(body).await;
            Ok(Reply { status: head.status, is_dogwatch: head.headers.contains_key(DOGWATCH), line })
        })
        .await
    }

    /// Asks, and hands every line of the answer to `each`, without its end. Lines of more than 16 KiB are left out.
    ///
    /// # Errors
    /// When there is no answer of status 200 within `limit`, or it has more than `bytes` bytes.
    pub async fn lines(
        &self,
        access: &Access,
        limit: Duration,
        bytes: usize,
        each: &mut impl FnMut(&[u8]),
    ) -> Result<(), Error> {
        self.within(limit, async {
            let (head, mut body) = self.open(access).await?.into_parts();
            if head.status != StatusCode::OK {
                let status = head.status.as_u16();
                return Err(Error::Status { target: self.to_string(), status, line: String::new() });
            }
            let mut lines = Lines::default();
            let mut read = 0;
            while let Some(frame) = body.frame().await {
                let frame = frame.map_err(|source| Error::Http { target: self.to_string(), source })?;
                let Some(data) = frame.data_ref() else { continue };
                read += data.len();
                if read > bytes {
                    return Err(Error::TooLarge { target: self.to_string(), limit: bytes });
                }
                lines.feed(data, each);
            }
            lines.end(each);
            Ok(())
        })
        .await
    }

    async fn open(&self, access: &Access) -> Result<Response<Incoming>, Error> {
        let request = self.request(access)?;
        let stream = self.connect().await?;
        if self.uri.scheme_str() == Some("https") {
            let stream = tls::connect(self.host(), stream, &access.trust).await;
            self.exchange(stream.map_err(|source| Error::Tls { target: self.to_string(), source })?, request).await
        } else {
            self.exchange(stream, request).await
        }
    }

    async fn exchange(
        &self,
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
        request: Request<Empty<Bytes>>,
    ) -> Result<Response<Incoming>, Error> {
        let failed = |source| Error::Http { target: self.to_string(), source };
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(failed)?;
        // Its errors arrive at the sender as well.
        tokio::spawn(connection);
        sender.send_request(request).await.map_err(failed)
    }

    fn request(&self, access: &Access) -> Result<Request<Empty<Bytes>>, Error> {
        let mut request = Request::get(self.uri.path_and_query().map_or("/", |path| path.as_str()))
            .header(HOST, self.authority())
            .header(USER_AGENT, self.agent)
            .header(ACCEPT, "*/*")
            .body(Empty::new())
            .map_err(|source| Error::Request { target: self.to_string(), source })?;
        if let Some(path) = &access.token_file {
            request.headers_mut().insert(AUTHORIZATION, bearer(path)?);
        }
        Ok(request)
    }
}

fn bearer(path: &PathBuf) -> Result<HeaderValue, Error> {
    let token = std::fs::read_to_string(path).map_err(|source| Error::File { path: path.clone(), source })?;
    let empty = || Error::Token { path: path.clone() };
    let token = Some(token.trim()).filter(|token| !token.is_empty()).ok_or_else(empty)?;
    let mut value = HeaderValue::try_from(format!("Bearer {token}")).map_err(|_| empty())?;
    value.set_sensitive(true);
    Ok(value)
}

/// The status has been said by now: a body that breaks off has an empty or a short first line.
async fn first_line(mut body: Incoming) -> String {
    let mut read = Vec::new();
    while read.len() < LONGEST_LINE && !read.contains(&b'\n') {
        let Some(Ok(frame)) = body.frame().await else { break };
        read.extend_from_slice(frame.data_ref().map_or(&[][..], |data| data));
    }
    read.truncate(LONGEST_LINE);
    let line = read.split(|byte| *byte == b'\n').next().unwrap_or_default();
    String::from_utf8_lossy(line).trim_end().to_owned()
}

/// A body cut into lines; one that lies within a piece is not copied.
#[derive(Debug, Default)]
struct Lines {
    /// The beginning of a line that has not ended.
    begun: Vec<u8>,
    is_too_long: bool,
}

impl Lines {
    fn feed(&mut self, mut piece: &[u8], each: &mut impl FnMut(&[u8])) {
        while let Some(at) = memchr::memchr(b'\n', piece) {
            let (line, rest) = (&piece[..at], &piece[at + 1..]);
            if self.begun.is_empty() && !self.is_too_long {
                each(line);
            } else {
                self.keep(line);
                self.end(each);
            }
            piece = rest;
        }
        self.keep(piece);
    }

    fn keep(&mut self, part: &[u8]) {
        self.is_too_long |= self.begun.len() + part.len() > LONGEST_READ_LINE;
        if self.is_too_long {
            self.begun.clear();
        } else {
            self.begun.extend_from_slice(part);
        }
    }

    fn end(&mut self, each: &mut impl FnMut(&[u8])) {
        if !self.is_too_long && !self.begun.is_empty() {
            each(&self.begun);
        }
        self.begun.clear();
        self.is_too_long = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_the_same_however_the_body_arrives() {
        let long = "x".repeat(LONGEST_READ_LINE + 1);
        let body = format!("a 1\n\nbc 2\n{long}\nd 3\nend");
        for size in [1, 2, 3, 7, 1000, body.len()] {
            let (mut lines, mut found) = (Lines::default(), Vec::new());
            let mut each = |line: &[u8]| {
                if !line.is_empty() && line.len() <= LONGEST_READ_LINE {
                    found.push(String::from_utf8_lossy(line).into_owned());
                }
            };
            body.as_bytes().chunks(size).for_each(|piece| lines.feed(piece, &mut each));
            lines.end(&mut each);
            assert_eq!(found, ["a 1", "bc 2", "d 3", "end"], "{size}");
        }
    }
}
