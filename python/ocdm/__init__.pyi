from .memory import Change as Change, Memory as Memory, policies as policies
from .replay import Replay as Replay

__version__: str
