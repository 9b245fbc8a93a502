"""transformers with its source: it lists its families by reading the files of its own folder.

Families in the workload are compiled as well; any other one is imported from its source.
"""

from PyInstaller.utils.hooks import collect_data_files, copy_metadata

NEVER_RUN = ["models/*/convert_*", "models/*/modular_*", "testing_utils.py", "cli/**", "**/*.pyc"]
ASKED_FOR = ("transformers", "tokenizers", "huggingface_hub", "safetensors", "sentencepiece", "regex", "tqdm")
MORE = ("numpy", "packaging", "pyyaml", "filelock", "torch", "pillow")

warn_on_missing_hiddenimports = False
datas = collect_data_files("transformers", include_py_files=True, excludes=NEVER_RUN)
for name in (*ASKED_FOR, *MORE):
    datas += copy_metadata(name)
