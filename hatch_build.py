"""Hook of the build: an extension in the wheel, where the machine can compile one."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompiledKernels(BuildHookInterface):  # type: ignore[type-arg]
    """Compile ``native/`` into the wheel; without a compiler the wheel is pure, and complete."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile; of an editable installation into the sources."""
        path = Path(self.root, "native", "build.py")
        spec = importlib.util.spec_from_file_location("native_build", path)
        assert spec is not None
        assert spec.loader is not None
        build = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(build)
        self.folder = None if version == "editable" else tempfile.mkdtemp()
        folder = Path(self.folder or build.PACKAGE)
        (folder / build.NAME).unlink(missing_ok=True)
        try:
            made = build.compiled(folder)
        except (OSError, subprocess.CalledProcessError) as error:
            self.app.display_warning(f"pure Python, not compiled: {build.reason(error)}")
            return
        if self.folder is not None:
            build_data["force_include"][str(made)] = f"riemdp/{build.NAME}"
            build_data["pure_python"] = False
            build_data["tag"] = build.tag()

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        """Remove what was compiled for a wheel."""
        if self.folder is not None:
            shutil.rmtree(self.folder)
