from tests.web.drawing.conftest import read

__all__ = ["read"]
