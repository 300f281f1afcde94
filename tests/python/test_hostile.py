"""What callers should not do, and machines sometimes do: allocations that fail at any point, objects that change what they are asked for,
threads, and processes that are forked off."""
import os
import pickle
import threading
import unittest

import _testcapi
import numpy as np

import ocdm
import tap

HOT = np.eye(6, 8, dtype="f4")
X = np.arange(12.0).reshape(6, 2)


def memory():
    made = ocdm.Memory(5, seed=2)
    made.update(None, [[0], [1], [0, 2], [], [3], [3]])
    return made


def named():
    made = ocdm.Memory(5, min={"a": 1})
    made.update(None, [["a"], ["b"], ["a", "c"]])
    return made


def replay():
    made = ocdm.Replay(5, seed=2)
    made.add({"x": X, "o": list("abcdef")}, [[0], [1], [0, 2], [], [3], [3]])
    return made


MEMORY_CALLS = {
    "update lists": lambda m: m.update(None, [[1], [2, 3]]),
    "update labels": lambda m: m.update(np.arange(50, 56), np.arange(6)),
    "update multi-hot": lambda m: m.update(range(50, 56), HOT, HOT > 2),
    "update rows": lambda m: m.update(None, (np.arange(3), np.arange(2))),
    "draw": lambda m: m.draw(3),
    "draw many": lambda m: m.draw(100, replace=True),
    "draw balanced": lambda m: m.draw(2, "balanced", np.ones(5), exclude=[1]),
    "forget": lambda m: m.forget(int(m.ids[0])),
    "resize": lambda m: m.resize(2),
    "weights": lambda m: m.set_weight(7, 3.0),
    "minimums": lambda m: m.set_minimum(7, 1),
    "questions": lambda m: (m.labels(), m.labels(1), m.counts, m.ids, m.arrivals, m.distance(), m.find(1), 1 in m, m.names, m.policy, repr(m)),
    "states": lambda m: m.load_state_dict(m.state_dict()),
    "pickle": lambda m: pickle.loads(pickle.dumps(m)),
    "merge": lambda m: ocdm.Memory.merge([m]),
    "picture": lambda m: ocdm._ocdm.draw_classes("ocdm", 0.1, 0.2, "caption", ["a", "b"], bytes(8), None, None),
}
NAMED_CALLS = {
    "update names": lambda m: m.update(None, [["a", "new"], ["newer"]]),
    "weights": lambda m: m.set_weight("other", 2.0),
    "minimums": lambda m: m.set_minimum("other", 1),
    "merge": lambda m: ocdm.Memory.merge([m]),
    "states": lambda m: m.load_state_dict(m.state_dict()),
}

def content(replay):
    """Everything but the number of draws."""
    parts = replay[:]
    return replay.memory.ids.tolist(), replay.memory.arrived, parts["x"].tolist(), parts["o"], replay._loss_weights().tolist()


class Starved(unittest.TestCase):
    """One allocation of Python's fails, then the next one, until a call has had more than it needs. Payloads and plots are not tried in this way, since
    NumPy 1.24 itself crashes in sums; test_payloads interrupts them at every line."""

    def starve(self, make, calls, content):
        failures = 0
        for name, call in calls.items():
            call(make())  # imports
            passed = 0
            for failing in range(3000):
                thing = make()
                before = content(thing)
                _testcapi.set_nomemory(failing, failing + 1)
                try:
                    call(thing)
                    passed += 1
                except (MemoryError, pickle.PicklingError):  # pickle says the latter when an import fails
                    passed = 0
                finally:
                    _testcapi.remove_mem_hooks()
                if passed == 0:
                    failures += 1
                    self.assertEqual(content(thing), before, name)
                    call(thing)
                if passed == 20:  # CPython does without some allocations, but not without so many
                    break
            else:
                self.fail(f"{name} never got through")
        self.assertGreater(failures, 3 * len(calls))

    def test_a_memory_is_as_before(self):
        for make, calls in ((memory, MEMORY_CALLS), (named, NAMED_CALLS)):
            calls = {name: call for name, call in calls.items() if not name.startswith("draw")}
            self.starve(make, calls, lambda made: (made._save_bytes(), made.names))

    def test_a_draw_that_fails_changes_no_decision(self):
        calls = {name: call for name, call in MEMORY_CALLS.items() if name.startswith("draw")}
        self.starve(memory, calls, lambda made: (made.ids.tolist(), made.arrived))


class Evil(unittest.TestCase):
    def test_objects_that_change_the_memory_while_they_are_read(self):
        made = memory()

        class Weights:
            def __array__(self, dtype=None):
                made.resize(2)
                return np.ones(5)

        with self.assertRaises(ValueError):
            made.draw(3, weights=Weights())
        self.assertEqual(len(made.draw(9)), 2)

        class Exclude(Weights):
            def __array__(self, dtype=None):
                made.update(None, [[5]] * 3)
                raise ZeroDivisionError

        with self.assertRaises(ZeroDivisionError):
            made.draw(3, exclude=Exclude())

        class Known:
            shape = (6, 8)

            def __array__(self, dtype=None):
                made.forget(int(made.ids[0]))

        with self.assertRaises(RuntimeError):
            made.update(None, HOT, Known())
        made.update(None, HOT, HOT > 0)

    def test_minimums_of_odd_kinds(self):
        class Odd(int):
            def __index__(self):
                raise ZeroDivisionError

        for bad in ({0: object()}, {object(): 1}, {"a": 1, 0: 1}, 2**40, object(), {(): 1}):
            with self.assertRaises((ValueError, TypeError), msg=bad):
                ocdm.Memory(5, min=bad)
        for bad in (-1, 2**32, "0", 1.5, None):
            with self.assertRaises((ValueError, TypeError), msg=bad):
                ocdm.Memory(5, shard=bad)

    def test_merges_of_odd_kinds(self):
        one = memory()
        for bad in ([], [1], [one, None], [one, one], 5, [one, named()], [ocdm.Memory(5, "rs")]):
            with self.assertRaises((ValueError, TypeError, RuntimeError), msg=bad):
                ocdm.Memory.merge(bad)
        with self.assertRaises(ValueError):
            ocdm.Memory.merge([one], capacity=0)
        other = ocdm.Memory(5, shard=1, seed=2)
        other.update(one.ids, [[1]] * 5)
        with self.assertRaises(KeyError):
            ocdm.Memory.merge([one, other])

    def test_payloads_of_odd_kinds(self):
        class Lazy(list):
            def __len__(self):
                return 2

        class Rows(np.ndarray):
            def take(self, *arguments):
                raise ZeroDivisionError

        made = replay()
        before = content(made)
        for batch in ({"x": X, "o": Lazy("abcdefg")}, {"x": X.view(Rows), "o": list("abcdef"), "y": 1}, {"o": list("abcdef")}, X, None,
                      {"x": X.T, "o": ["a", "b"]}, {"x": X.astype("f4"), "o": list("abcdef")}, {"x": X, "o": tuple("abcdef")}, [X, X]):
            with self.assertRaises((ValueError, TypeError), msg=batch):
                made.add(batch, np.arange(6))
            self.assertEqual(content(made), before)
        with self.assertRaises(ZeroDivisionError):  # after the decision: the next call completes it, and fails too
            made.add({"x": X.view(Rows), "o": list("abcdef")}, np.arange(6))
        with self.assertRaises(ZeroDivisionError):
            made.sample(1)

    def test_every_dtype_is_kept(self):
        for dtype in ("?", "i1", "u2", "i8", "f2", "f4", "f8", "c8", "S5", "U3", "M8[s]", [("a", "i4"), ("b", "f8", 2)], "O"):
            values = np.zeros(6, dtype)
            made = ocdm.Replay(4)
            made.add((values, np.zeros((6, 2, 3), dtype)), np.arange(6))
            made[1] = made[2]
            self.assertEqual(made.sample(3)[0].dtype, values.dtype)
            if dtype != "O":
                made.save("dtypes.safetensors")
                self.assertEqual(ocdm.Replay.load("dtypes.safetensors")[:][1].dtype, values.dtype, dtype)

    def test_pictures_of_odd_names(self):
        made = ocdm.Memory(5)
        made.update(None, [["<script>", "a&b"], ["\u202e\x00\ud7ff", "\"'"]])
        picture = made.plot()
        self.assertNotIn("<script>", picture)
        self.assertNotIn("<script>", made._repr_html_())
        with self.assertRaises(ValueError):
            ocdm.Memory(5).plot()
        with self.assertRaises(OSError):
            made.plot("no/such/folder.svg")


class Shared(unittest.TestCase):
    def test_threads_get_an_answer_or_an_error(self):
        made, wrong = ocdm.Memory(50), []

        def work(number):
            calls = (lambda: made.update(range(number, number + 3000, 30), np.arange(100) % 7), lambda: made.draw(5, "balanced"), made.labels,
                     lambda: made.counts, made.state_dict, lambda: made.set_minimum(number, 1), lambda: ocdm.Memory.merge([made]), made.plot)
            for turn in range(40):
                for call in calls:
                    try:
                        call()
                    except (RuntimeError, KeyError):
                        pass
                    except Exception as error:
                        wrong.append(error)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual([error for error in wrong if "minimums do not fit" not in str(error) and "no sample had a label" not in str(error)], [])
        self.assertEqual(pickle.loads(pickle.dumps(made)), made)

    def test_a_forked_process_goes_its_own_way(self):
        made = replay()
        before = content(made)
        child = os.fork()
        if child == 0:
            made.add({"x": X, "o": list("ghijkl")}, np.arange(6))
            os._exit(content(made) == before)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertEqual(content(made), before)


if __name__ == "__main__":
    tap.main()
