import os
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .stream import Stream

class Step:
    number: int
    task: int
    samples: NDArray[np.int64]
    new_count: int
    evaluate: bool
    checkpoint: bool
    update: int
    @property
    def targets(self) -> NDArray[np.float32]: ...
    @property
    def known(self) -> NDArray[np.bool_]: ...
    @property
    def new(self) -> NDArray[np.int64]: ...
    @property
    def replayed(self) -> NDArray[np.int64]: ...
    def done(self, loss: float | None = None) -> None: ...

class Run(Iterator[Step]):
    stream: Stream
    folder: str
    name: str
    finished: bool
    def __init__(
        self,
        stream: Stream | str | os.PathLike[str],
        folder: str | os.PathLike[str],
        *,
        name: str,
        resume: bool = True,
        gradient: Callable[[NDArray[np.int64]], Any] | None = None,
        gradient_size: int = 0,
        **settings: Any,
    ) -> None: ...
    @property
    def saved(self) -> bytes | None: ...
    @property
    def notes(self) -> list[str]: ...
    @property
    def test_samples(self) -> NDArray[np.int64]: ...
    def __next__(self) -> Step: ...
    def evaluate(self, scores: Any) -> None: ...
    def checkpoint(self, data: bytes | bytearray | memoryview) -> None: ...
    def close(self) -> None: ...
    def __enter__(self) -> Run: ...
    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None: ...
