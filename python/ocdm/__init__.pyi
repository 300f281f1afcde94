from . import metrics as metrics
from .memory import Change as Change, Memory as Memory, policies as policies
from .replay import Replay as Replay
from .run import Run as Run, Step as Step
from .stream import Stream as Stream

__version__: str
