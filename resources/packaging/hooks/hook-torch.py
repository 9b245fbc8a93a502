"""torch without its C++ tests, headers and build tools; the stock hook takes everything.

The modules come from the workload (build_app.spec). Those that read their own source text are kept as
source beside the bytecode.
"""

import re
from pathlib import Path

from PyInstaller.utils.hooks import PY_DYLIB_PATTERNS, collect_dynamic_libs, get_package_paths

SOURCE_READERS = re.compile(r"install_config_module\(|\b_overload(_method)?\b|@torch\.jit\.script")
TESTS = ("jitbackend_test", "torchbind_test", "aoti_custom_ops", "backend_with_compiler")

_folder = Path(get_package_paths("torch")[1])
_reads_itself = [
    ".".join(path.relative_to(_folder.parent).with_suffix("").parts)
    for path in _folder.rglob("*.py")
    if "test" not in path.parts and SOURCE_READERS.search(path.read_text(encoding="utf-8"))
]

module_collection_mode = {name: "pyz+py" for name in _reads_itself}
warn_on_missing_hiddenimports = False
bindepend_symlink_suppression = ["**/torch/lib/*.so*"]
binaries = [
    (source, target)
    for source, target in collect_dynamic_libs("torch", search_patterns=[*PY_DYLIB_PATTERNS, "*.so.*"])
    if not any(test in source for test in TESTS)
]
binaries += [(str(path), "torch/bin") for path in (_folder / "bin").glob("torch_shm_manager*")]
