"""Static files under names that change with their content."""

from whitenoise.storage import CompressedManifestStaticFilesStorage

_IMPORTS = CompressedManifestStaticFilesStorage._js_module_import_aggregation_patterns[1]  # noqa: SLF001


class HashedStaticFiles(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    """Also rewrites the imports inside our ES modules, which would be cached for ever otherwise.

    Ours only: what packages bring mentions files that do not exist, in comments.
    """

    patterns = (*CompressedManifestStaticFilesStorage.patterns, ("js/*.js", _IMPORTS))
    manifest_strict = False

    def stored_name(self, name: str) -> str:
        """Return the name to serve ``name`` under; a page is worth more than a missing picture."""
        try:
            return str(super().stored_name(name))
        except ValueError:
            return name
