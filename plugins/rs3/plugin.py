"""The shipped blob stores: `rs3` in local folders, `s3` in a bucket of an S3-compatible cloud."""

from atrium.sdk import BlobStore, Plugin, Settings

from .local import LocalStore


def open_local(settings: Settings) -> BlobStore:
    """Folders below the data folder."""
    return LocalStore(settings.data_dir / "blobs")


def open_cloud(settings: Settings) -> BlobStore:
    """A bucket; the client library is loaded only where it is used."""
    from .cloud import open_store

    return open_store(settings)


PLUGIN = Plugin(blob_stores={"rs3": open_local, "s3": open_cloud})
