"""A file within a zip archive, and a Parquet file: what is in them, within bounds."""

import io
import zipfile
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from demos.errors import UserError
from demos.training.data.upload_limit import MAX_UPLOAD
from demos.training.data.workbooks import ZIP, is_workbook

PARQUET = b"PAR1"  # how a Parquet file begins
MAX_UNPACKED = 24 * 2**20  # bytes of a Parquet file's columns
MAX_FILES = 1_000  # of an archive that is looked through
BROKEN = "The zip archive is broken or has a password; unpack it and choose the file in it."
_HIDDEN = ("__MACOSX/", ".")  # macOS's additions beside the files


def unpacked(data: bytes, name: str, endings: Sequence[str]) -> tuple[bytes, str]:
    """The one file with one of these `endings` that a zip archive holds, and its name; any other file unchanged.

    Raises UserError for an archive without such a file or with several, for a broken one, and for one that is too
    large when it is unpacked.
    """
    inner = packed_name(data, name, endings)
    if not inner:
        return data, name
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            size = archive.getinfo(inner).file_size
            if size > MAX_UPLOAD:
                raise UserError(
                    f"The file in the archive has {size / 2**20:.1f} MB; the limit is {MAX_UPLOAD // 2**20} MB."
                )
            return archive.read(inner), PurePosixPath(inner).name
    except UserError:
        raise
    except Exception as error:  # zipfile raises many kinds; each means the same to the reader
        raise UserError(BROKEN) from error


def packed_name(data: bytes, name: str, endings: Sequence[str]) -> str:
    """The name of the one file of a zip archive that can be read; "" for a file that is no archive.

    Raises UserError for an archive without such a file or with several, and for a broken one.
    """
    if not data.startswith(ZIP) or is_workbook(data) or Path(name).suffix.lower() not in (".zip", ""):
        return ""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            every = archive.namelist()[:MAX_FILES]
    except Exception as error:
        raise UserError(BROKEN) from error
    names = [
        name
        for name in every
        if Path(name).suffix.lower() in endings and not name.startswith(_HIDDEN) and not Path(name).name.startswith(".")
    ]
    if len(names) != 1:
        shown = ", ".join(repr(PurePosixPath(name).name[:30]) for name in names[:4])
        several = f"several files that can be read: {shown}" if names else "no file that can be read"
        raise UserError(f"The archive has {several}; unpack it and choose one.")
    return names[0]


def parquet_rows(data: bytes, max_rows: int, max_columns: int) -> tuple[tuple[str, ...], list[list[Any]]]:
    """(the names of a Parquet file's columns, its rows). Raises UserError for a broken one and for one over a bound."""
    import pyarrow.parquet  # here: most readers bring none

    try:
        file = pyarrow.parquet.ParquetFile(io.BytesIO(data))
        meta = file.metadata
        size = sum(meta.row_group(group).total_byte_size for group in range(meta.num_row_groups))
        names = tuple(file.schema_arrow.names)
        if len(names) > max_columns:
            raise UserError(f"The file has {len(names):,} columns; the limit is {max_columns}.")
        if meta.num_rows > max_rows:
            raise UserError(f"The file has more than {max_rows:,} rows.")
        if size > MAX_UNPACKED:
            raise UserError(f"The unpacked file has {size / 2**20:,.0f} MB; the limit is {MAX_UNPACKED // 2**20} MB.")
        columns = [file.read(columns=[name]).column(0).to_pylist() for name in names]
    except UserError:
        raise
    except Exception as error:  # pyarrow raises many kinds; each means the same to the reader
        raise UserError("The Parquet file is broken; save it again, or as CSV.") from error
    return names, [list(row) for row in zip(*columns, strict=True)]
