from .memory import Change as Change, Memory as Memory, policies as policies

__version__: str
