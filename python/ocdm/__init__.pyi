from . import metrics as metrics
from .memory import Change as Change, Memory as Memory, policies as policies
from .replay import Replay as Replay
from .run import Run as Run, Step as Step
from .stratify import MultilabelStratifiedKFold as MultilabelStratifiedKFold
from .stratify import MultilabelStratifiedShuffleSplit as MultilabelStratifiedShuffleSplit
from .stratify import RepeatedMultilabelStratifiedKFold as RepeatedMultilabelStratifiedKFold
from .stratify import select as select, split as split
from .stream import Stream as Stream

__version__: str
