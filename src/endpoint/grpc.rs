//! One call of `grpc.health.v1.Health/Check`, as the kubelet's gRPC probes make it: over HTTP/2 without TLS.
//!
//! Request and answer have one field each, so they are written and read here; HTTP/2 is a library's.

use bytes::{BufMut, Bytes, BytesMut};
use h2::RecvStream;
use h2::client;
use http::header::{CONTENT_TYPE, HeaderMap, TE, USER_AGENT};
use http::{Request, StatusCode};

use super::{Error, Target};

/// An answer has two bytes; more are not read.
const MAX_BYTES: usize = 4096;
/// In front of every message: one byte whether it is compressed, four with its length.
const FRAME: usize = 5;

/// Asks, and takes everything but `SERVING` for a failure. The URL's path names the service; none: the whole server.
pub(super) async fn check(target: &Target) -> Result<(), Error> {
    let failed = |source| Error::Grpc { target: target.to_string(), source };
    let stream = target.connect().await?;
    let (client, connection) = client::handshake(stream).await.map_err(failed)?;
    // Its errors arrive at the call as well, and it ends with the client.
    tokio::spawn(connection);
    let mut client = client.ready().await.map_err(failed)?;
    let request = request(target).map_err(|source| Error::Request { target: target.to_string(), source })?;
    let (response, mut body) = client.send_request(request, false).map_err(failed)?;
    body.send_data(message(target.uri.path().trim_start_matches('/')), true).map_err(failed)?;
    let (head, mut body) = response.await.map_err(failed)?.into_parts();
    if head.status != StatusCode::OK {
        let status = head.status.as_u16();
        return Err(Error::Status { target: target.to_string(), status, line: String::new() });
    }
    let answer = collect(&mut body).await.map_err(failed)?;
    let trailers = body.trailers().await.map_err(failed)?.unwrap_or_default();
    // An answer without a message has its status where the head is.
    let code = code(&trailers).or_else(|| code(&head.headers)).unwrap_or_else(|| "none".to_owned());
    if code != "0" {
        return Err(Error::GrpcStatus { target: target.to_string(), code });
    }
    match status(&answer) {
        Some(1) => Ok(()),
        other => {
            let status = match other {
                Some(0) => "UNKNOWN",
                Some(2) => "NOT_SERVING",
                Some(3) => "SERVICE_UNKNOWN",
                _ => "no status",
            };
            Err(Error::NotServing { target: target.to_string(), status })
        }
    }
}

fn request(target: &Target) -> Result<Request<()>, http::Error> {
    Request::post(format!("http://{}/grpc.health.v1.Health/Check", target.authority()))
        .header(CONTENT_TYPE, "application/grpc")
        .header(TE, "trailers")
        .header(USER_AGENT, target.agent)
        .body(())
}

/// `HealthCheckRequest`: field 1 is the service's name, left out where it is empty.
fn message(service: &str) -> Bytes {
    let mut message = BytesMut::new();
    if !service.is_empty() {
        message.put_u8(0x0a);
        put_varint(&mut message, service.len() as u64);
        message.put_slice(service.as_bytes());
    }
    let mut framed = BytesMut::new();
    framed.put_u8(0);
    framed.put_u32(u32::try_from(message.len()).unwrap_or(u32::MAX));
    framed.put_slice(&message);
    framed.freeze()
}

fn put_varint(into: &mut BytesMut, mut value: u64) {
    while value >= 0x80 {
        into.put_u8((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    into.put_u8((value & 0x7f) as u8);
}

async fn collect(body: &mut RecvStream) -> Result<Vec<u8>, h2::Error> {
    let mut all = Vec::new();
    while let Some(bytes) = body.data().await {
        let bytes = bytes?;
        body.flow_control().release_capacity(bytes.len())?;
        all.extend_from_slice(&bytes[..bytes.len().min(MAX_BYTES.saturating_sub(all.len()))]);
    }
    Ok(all)
}

fn code(headers: &HeaderMap) -> Option<String> {
    let code = headers.get("grpc-status")?.to_str().ok()?;
    Some(if code.len() <= 3 { code.to_owned() } else { "unreadable".to_owned() })
}

/// `status` of a `HealthCheckResponse`: field 1, a number; left out where it is 0. `None` for what is no such message.
fn status(framed: &[u8]) -> Option<u64> {
    let (frame, rest) = framed.split_at_checked(FRAME)?;
    let [0, length @ ..] = frame else { return None };
    let length = usize::try_from(u32::from_be_bytes(length.try_into().ok()?)).ok()?;
    let mut message = rest.get(..length)?;
    let mut status = 0;
    while !message.is_empty() {
        let key = varint(&mut message)?;
        match (key >> 3, key & 7) {
            (1, 0) => status = varint(&mut message)?,
            (_, 0) => drop(varint(&mut message)?),
            (_, 1) => message = message.get(8..)?,
            (_, 2) => {
                let length = usize::try_from(varint(&mut message)?).ok()?;
                message = message.get(length..)?;
            }
            (_, 5) => message = message.get(4..)?,
            _ => return None,
        }
    }
    Some(status)
}

fn varint(from: &mut &[u8]) -> Option<u64> {
    let mut value = 0_u64;
    for shift in (0..64).step_by(7) {
        let (first, rest) = from.split_first()?;
        *from = rest;
        value |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_names_its_service_or_none() {
        assert_eq!(&message("")[..], [0, 0, 0, 0, 0]);
        assert_eq!(&message("ab")[..], [0, 0, 0, 0, 4, 0x0a, 2, b'a', b'b']);
        let long = "x".repeat(300);
        assert_eq!(message(&long)[..8], [0, 0, 0, 1, 47, 0x0a, 0xac, 2]);
    }

    #[test]
    fn the_status_is_read_among_unknown_fields_and_nothing_else_is_taken_for_one() {
        let framed = |message: &[u8]| {
            let mut framed = vec![0, 0, 0, 0, u8::try_from(message.len()).expect("short")];
            framed.extend_from_slice(message);
            status(&framed)
        };
        assert_eq!((framed(&[]), framed(&[8, 1]), framed(&[8, 2])), (Some(0), Some(1), Some(2)));
        assert_eq!(framed(&[0x12, 2, 8, 2, 8, 1]), Some(1), "a text field before it");
        assert_eq!(framed(&[0x1d, 0, 0, 0, 0, 0x21, 0, 0, 0, 0, 0, 0, 0, 0, 0x28, 5, 8, 1]), Some(1));
        for broken in
            [&[8][..], &[0x12, 9, 1], &[0x0b], &[8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]]
        {
            assert_eq!(framed(broken), None, "{broken:?}");
        }
        for broken in [&[][..], &[0, 0, 0, 0], &[0, 0, 0, 0, 3, 8, 1], &[1, 0, 0, 0, 2, 8, 1]] {
            assert_eq!(status(broken), None, "{broken:?}");
        }
    }
}
