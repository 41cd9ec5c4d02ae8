"""The text of `VERIFY.md`: a head, and sections of which a bundle has those that are about it."""

from typing import Final

HEAD: Final = """\
# How to verify this bundle

manifest.json has the SHA-256 digest
`{digest}`.
It is about the run `{run}` of the specs
`{specs}`,
{logs}with {count} receipts under the Merkle root
`{root}`.

Who gave you this bundle may have written every file in it, this one too.
Compare {compared} with values that you have from elsewhere.
Take keys and programs from elsewhere: never trust a key because it came with what it signed.
The commands are for a POSIX shell in the folder of the bundle; what is yours lies in the folder around it.

## With `spec`

    spec verify .{trust}

makes every check that there is, replay included, and says which were not made.

## With one file of Python

    python3 ../verify.py .{trust}

`verify.py` is `tools/verify.py` of the source of specledger. It needs Python 3.9 or newer, and shares no code with the
engine. Only the check of signatures needs more, the package `cryptography`; without it that check is not made.

## With sha256sum

    sha256sum --quiet -c sha256sums

says nothing if every file is as `sha256sums` lists it. Nobody signs that list: it finds accidents, not forgery.

## With jq: the files

    find . -name manifest.json | while IFS= read -r each; do
      ( cd "$(dirname "$each")" &&
        jq -r '.files[] | .sha256 + "  " + .path' manifest.json | sha256sum --quiet --strict -c ) || echo "BROKEN $each"
    done

says nothing if every file that a manifest lists is as listed, in the bundles inside too. That binds receipts, specs and
inner manifests to manifest.json, so it goes with the check of who signed that. A file that no manifest lists is not
looked at, and is no part of the evidence: `spec` and `verify.py` refuse it.

## With jq: the chain

    prev=$(printf '%064d' 0)
    while IFS= read -r line; do
      [ "$(printf '%s' "$line" | jq -r .prev)" = "$prev" ] || {{ echo BROKEN; break; }}
      prev=$({{ printf '\\0'; printf '%s' "$line"; }} | sha256sum | cut -c 1-64)
    done < receipts.jsonl
    [ "$prev" = "$(jq -r .receipts.head manifest.json)" ] && echo the chain is whole

takes some milliseconds for each receipt. `jq .result manifest.json` shows the result.
"""

LOGS_SECTION: Final = """\
and about the logs whose digest, the `recording`, is
{digests},
"""

TAPED_SECTION: Final = """
## Who answered

Answers in tape.jsonl came from a program or a model outside. The run and the digest of the specs say which command was
called or which model was asked. They do not say what the program was: another program of that name has the same ones.

    find . -name tape.jsonl -exec head -n 1 {{}} \\; | jq .programs

prints the SHA-256 digests of the files that the command names, taken when the run began, or null: compare them with
`sha256sum` of the program that you know, or demand it by `program` in a trust file. manifest.json binds these digests,
and every answer, by the digest of tape.jsonl. Nothing binds what these files import, the interpreter, a program that is
no file of the project, or a model behind its name; and a machine that lies can record the digest of a file that did not
run.
"""

UNSIGNED_SECTION: Final = """
## What is missing

Nobody signed this bundle: it may be whole, and still be anybody's.
"""

SIGNED_SECTION: Final = """
## With openssl: who signed it

`../key.pub` is the signer's public key in PEM, which you have from elsewhere.

    work=$(mktemp -d) key=../key.pub
    id=$(openssl pkey -pubin -in "$key" -outform DER | tail -c 32 | sha256sum | cut -c 1-64)
    jq -r .payload {envelope} | base64 -d > "$work/payload"
    jq -r --arg id "$id" '.signatures[] | select(.keyid == $id).sig' {envelope} | base64 -d > "$work/sig"
    {{ printf 'DSSEv1 {length} {type} %d ' "$(wc -c < "$work/payload")"; cat "$work/payload"; }} > "$work/pae"
    openssl pkeyutl -verify -pubin -inkey "$key" -rawin -in "$work/pae" -sigfile "$work/sig"
    jq -r '.subject[0] | .digest.sha256 + "  " + .name' "$work/payload" | sha256sum -c

The last two lines say `Signature Verified Successfully` and `manifest.json: OK`. What is signed is manifest.json; the
other files are bound to it by the section on the files above.
"""

CHECKPOINT_SECTION: Final = """
## With openssl: the checkpoint

    work=$(mktemp -d) key=../key.pub
    head -n 3 {file} > "$work/note"
    tail -n +5 {file} | while read -r dash name line; do
      printf '%s' "$line" | base64 -d | tail -c 64 > "$work/sig"
      openssl pkeyutl -verify -pubin -inkey "$key" -rawin -in "$work/note" -sigfile "$work/sig"
    done
    sed -n 3p "$work/note" | base64 -d | od -An -v -tx1 | tr -d ' \\n'; echo
    jq -r .receipts.root manifest.json

One signature line is the key's, and the last two lines are the same.
"""

PROVENANCE_SECTION: Final = """
## With compliance-trestle

    pip install compliance-trestle
    trestle verify --beta -f manifest.json --signature {file} --public-key ../key.pub

in an environment of its own; it says nothing and ends with 0.
"""

TIMESTAMP_SECTION: Final = """
## With openssl: when

`../tsa.pem` holds the certificates of the time-stamping authority, which you have from elsewhere.

    openssl ts -verify -in {file} -data manifest.json -CAfile ../tsa.pem
    openssl ts -reply -in {file} -text

say `Verification: OK`, and the time.
"""
