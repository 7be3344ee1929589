"""Where the studio listens, and how a person reaches it. Imports nothing, so that the port is open at once."""

from __future__ import annotations

import ipaddress
import socket

from regard.errors import Error

BACKLOG = 1024
UNUSED_ADDRESS = "192.0.2.1"  # for documentation, RFC 5737: looking up the route to it sends nothing


def is_loopback(host: str) -> bool:
    """Whether a host name or address means this machine alone."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def listen(host: str, port: int) -> socket.socket:
    """A socket to which connections can be made from now on; they wait until they are answered."""
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except (socket.gaierror, OverflowError, UnicodeError):
        raise Error(f"--host {host} --port {port}: there is no such address") from None
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(place)
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        raise Error(f"port {port} of {host} cannot be used ({error.strerror}); choose another --port") from error
    return listener


def address_of(listener: socket.socket, token: str | None) -> str:
    """What to open in a browser."""
    host, port = listener.getsockname()[:2]
    if ipaddress.ip_address(host.partition("%")[0]).is_unspecified:
        host = own_address()
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port}/" + (f"?token={token}" if token else "")


def own_address() -> str:
    """The address under which others reach this machine, or its name."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((UNUSED_ADDRESS, 9))
            return str(probe.getsockname()[0])
        except OSError:
            return socket.gethostname()
