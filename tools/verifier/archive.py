"""A bundle that is one zip file: laid out, packed again, and refused unless the bytes are the same."""

import re
import shutil
import stat
import struct
import zipfile

from tools.verifier.basis import CRASHES, MEBI, Refuted, demand, file_sha256


def unzip(file, folder):
    """Write the files of an archive of the one form that a bundle's has: any other byte is refused."""
    code, form = "E_ARCHIVE", re.compile(r"[A-Za-z0-9_][A-Za-z0-9._+=,@-]*(/[A-Za-z0-9_][A-Za-z0-9._+=,@-]*){0,7}")
    try:
        with zipfile.ZipFile(file) as archive:
            entries, size = archive.infolist(), file.stat().st_size
            demand(len(entries) <= 200_000 and sum(e.file_size for e in entries) <= size, code, "it is too large")
            names = {entry.filename.casefold() for entry in entries}
            demand(len(names) == len(entries), code, "two paths in it are the same but for their case")
            for entry in entries:
                stored = entry.compress_type == zipfile.ZIP_STORED and entry.compress_size == entry.file_size
                demand(
                    form.fullmatch(entry.filename) and stored, code, "a file in it is compressed, or has no plain path"
                )
                demand(0 <= entry.header_offset < size, code, "a file is not in it")
                path = folder / entry.filename
                path.parent.mkdir(parents=True, exist_ok=True)
                with archive.open(entry) as source, path.open("xb") as target:
                    shutil.copyfileobj(source, target, MEBI)
        again = folder.with_name("again")
        with zipfile.ZipFile(again, "w", zipfile.ZIP_STORED) as archive:
            for path in sorted(folder.rglob("*"), key=lambda one: one.relative_to(folder).as_posix()):
                if path.is_file():
                    entry = zipfile.ZipInfo(path.relative_to(folder).as_posix(), (1980, 1, 1, 0, 0, 0))
                    entry.create_system, entry.external_attr = 3, (stat.S_IFREG | 0o644) << 16
                    entry.file_size = path.stat().st_size
                    with path.open("rb") as source, archive.open(entry, "w") as target:
                        shutil.copyfileobj(source, target, MEBI)
        demand(file_sha256(again) == file_sha256(file), code, "it is not in the one form of such an archive")
    except (zipfile.BadZipFile, struct.error, *CRASHES, OSError, EOFError, NotImplementedError, RuntimeError) as error:
        raise Refuted(code, f"the archive is damaged: {str(error)[:200]}") from None
