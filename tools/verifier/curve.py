"""Ed25519 (RFC 8032, section 5.1.7), as strict as OpenSSL: S below the group's order, R compared as bytes."""

import hashlib

P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
HALF = pow(2, (P - 1) // 4, P)


def _sum(a, b):
    (x1, y1, z1, t1), (x2, y2, z2, t2) = a, b
    left, right = (y1 - x1) * (y2 - x2) % P, (y1 + x1) * (y2 + x2) % P
    c, d = 2 * t1 * t2 * D % P, 2 * z1 * z2 % P
    e, f, g, h = right - left, d - c, d + c, right + left
    return e * f % P, g * h % P, f * g % P, e * h % P


def _times(number, point):
    made = (0, 1, 1, 0)
    while number:
        if number & 1:
            made = _sum(made, point)
        point, number = _sum(point, point), number >> 1
    return made


def _point(raw):
    y = int.from_bytes(raw, "little")
    sign, y = y >> 255, y & (1 << 255) - 1
    if y >= P:
        return None
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if x * x % P != square:
        x = x * HALF % P
    if x * x % P != square or (x == 0 and sign):
        return None
    x = P - x if x & 1 != sign else x
    return x, y, 1, x * y % P


BASE = _point((4 * pow(5, P - 2, P) % P).to_bytes(32, "little"))


def ed25519(public, signature, message):
    """Whether a signature is that of a public key, both raw, over a message."""
    key, s = _point(public), int.from_bytes(signature[32:], "little")
    if len(signature) != 64 or key is None or s >= ORDER:
        return False
    h = int.from_bytes(hashlib.sha512(signature[:32] + public + message).digest(), "little") % ORDER
    x, y, z, t = _sum(_times(s, BASE), _times(h, (P - key[0], key[1], 1, P - key[3])))
    inverse = pow(z, P - 2, P)
    x, y = x * inverse % P, y * inverse % P
    return (y | (x & 1) << 255).to_bytes(32, "little") == signature[:32]
