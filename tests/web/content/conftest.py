from tests.web.drawing.conftest import empty_cache, read

__all__ = ["empty_cache", "read"]
