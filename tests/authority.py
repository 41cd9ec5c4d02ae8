"""A time-stamping authority of openssl, made up for one test."""

import subprocess

CONFIG = """
[one]
serial = serial
signer_digest = sha256
default_policy = 1.2.3.4.1
digests = sha256
ess_cert_id_alg = sha256
[ca]
basicConstraints = critical,CA:true
[leaf]
extendedKeyUsage = critical,timeStamping
keyUsage = critical,digitalSignature
[req]
distinguished_name = dn
[dn]
"""
CERTIFICATE = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -config tsa.cnf"
SCRIPT = f"""set -e
{CERTIFICATE} -subj /CN=root -extensions ca -keyout ca.key -out tsa.pem
{CERTIFICATE} -subj /CN=stamps -extensions leaf -keyout leaf.key -out leaf.pem -CA tsa.pem -CAkey ca.key
openssl ts -query -data bundle/manifest.json -sha256 -cert -out query
openssl ts -reply -config tsa.cnf -section one -queryfile query -signer leaf.pem -inkey leaf.key -out reply
"""


def stamp(desk):
    """The response over the manifest of `bundle` on a desk, and there `tsa.pem`, the authority's root, and `reply`."""
    (desk / "tsa.cnf").write_text(CONFIG)
    (desk / "serial").write_text("01\n")
    made = subprocess.run(["sh", "-c", SCRIPT], cwd=desk, capture_output=True, text=True, check=False, timeout=120)
    assert made.returncode == 0, made
    return (desk / "reply").read_bytes()
