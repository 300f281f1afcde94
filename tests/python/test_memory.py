"""The memory: the same decisions as the program, every form of labels, what is refused, files and copies."""
import copy
import ctypes
import gc
import hashlib
import json
import os
import pickle
import random
import subprocess
import threading
import unittest
import warnings

import _testcapi
import numpy as np

import ocdm
import streams
import tap

PROGRAM = os.environ["OCDM_PROGRAM"]


def label_sets(count, seed=0, classes=20):
    """Sets with a long tail of classes that move on slowly, some of them empty; numbered as they appear, as the program does."""
    chance, numbers, sets = random.Random(seed), {}, []
    for i in range(count):
        size = chance.choice([0, 1, 1, 2, 3, 5])
        drawn = sorted({int(classes * chance.random() ** 3) + i // 200 for _ in range(size)})
        sets.append([numbers.setdefault(label, len(numbers)) for label in drawn])
    return sets


def filled(labels=None, capacity=20, **options):
    memory = ocdm.Memory(capacity, **options)
    labels = label_sets(100) if labels is None else labels
    for first in range(0, len(labels), 10):
        memory.update(range(first, first + len(labels[first:first + 10])), labels[first:first + 10])
    return memory


def multi_hot(sets, dtype=np.float32, classes=30):
    hot = np.zeros((len(sets), classes), dtype)
    for row, labels in zip(hot, sets):
        row[labels] = 1
    return hot


def csr(sets):
    return (np.cumsum([0] + [len(labels) for labels in sets]), np.array([label for labels in sets for label in labels], int))


class FilesOfEarlierVersions(unittest.TestCase):
    """Each went on under version 0.1 with the same update; the sums are of what it kept then."""

    def test_memories_of_0_1_load_and_go_on(self):
        kept = {1: "ebbe46b4c4e65bca", 2: "9b469eb5b022c22f", 3: "c122ed983e877f60"}
        for version, expected in kept.items():
            path = os.path.join(os.environ["OCDM_SOURCE"], f"tests/golden/0.1/memory-{version}.safetensors")
            memory = ocdm.Memory.load(path)
            memory.update(range(1000, 1010), [[j % 5] for j in range(10)])
            ids = str(sorted(map(int, memory.ids)))
            self.assertEqual(hashlib.sha256(ids.encode()).hexdigest()[:16], expected, version)


class SparseStandIn:
    """What the memory uses of scipy's matrices."""

    def __init__(self, sets, value=1.0):
        self.indptr, self.indices = csr(sets)
        self.data = np.full(len(self.indices), value, np.float32)

    def tocsr(self):
        return self


class SameAsTheProgram(unittest.TestCase):
    """`ocdm sample --trace` says which ids each batch evicted, in order."""

    def trace(self, records, *flags):
        with open("in.jsonl", "w") as file:
            file.writelines(json.dumps(record) + "\n" for record in records)
        subprocess.run([PROGRAM, "sample", "-q", "-m", "40", "--trace", "trace.jsonl", *flags, "in.jsonl"], check=True,
                       stdout=subprocess.DEVNULL)
        with open("trace.jsonl") as file:
            return [json.loads(line) for line in file]

    def same(self, sets, memory, *flags):
        lines = self.trace([{"id": i, "labels": labels} for i, labels in enumerate(sets)], *flags)
        self.assertEqual(len(lines), (len(sets) + 9) // 10)
        for line, first in zip(lines, range(0, len(sets), 10)):
            change = memory.update(range(first, min(first + 10, len(sets))), sets[first:first + 10])
            self.assertEqual(change.left_ids.tolist(), [int(i) for i in line["out"]])
            self.assertEqual(len(memory), line["size"])

    def test_every_policy_evicts_the_same_ids(self):
        for policy in ocdm.policies():
            if policy in ("gss", "gss-released", "bat-ocdm"):
                continue  # a filter knows neither gradients nor tasks
            single = policy in ("cbrs",)
            sets = [labels[:1] or [0] if single else labels or [0] for labels in label_sets(400, seed=1)]
            with self.subTest(policy=policy):
                self.same(sets, ocdm.Memory(40, policy, seed=7), "-p", policy, "--seed", "7")

    def test_options_mean_the_same(self):
        sets = [labels or [3] for labels in label_sets(400, seed=2)]
        for options, flags in (({"rho": 0.5}, ["--rho", "0.5"]), ({"rho": 1, "tolerance": 0.5}, ["--rho", "1", "--tolerance", "0.5"]), ({"distance": "l2"}, ["--distance", "l2"]),
                               ({"tie": "oldest"}, ["--tie", "oldest"]), ({"distance": "reverse-kl"}, ["--distance", "reverse-kl"])):
            with self.subTest(options):
                self.same(sets, ocdm.Memory(40, **options), *flags)

    def test_strings_are_decided_as_in_the_program(self):
        sets = [[f"class {label}" for label in labels] or ["none"] for labels in label_sets(400, seed=3)]
        self.same(sets, ocdm.Memory(40), "--seed", "0")


class Forms(unittest.TestCase):
    def test_every_form_of_labels_gives_the_same_memory(self):
        sets = label_sets(50)
        expected = filled(sets, capacity=12)
        forms = {
            "tuples": lambda s: [tuple(x) for x in s],
            "arrays": lambda s: [np.array(x, np.int16) for x in s],
            "generators": lambda s: (iter(x) for x in s),
            "csr": csr,
            "csr, 32 bits": lambda s: tuple(part.astype(np.int32) for part in csr(s)),
            "sparse": SparseStandIn,
            "column-major": lambda s: np.asfortranarray(multi_hot(s)),
            "strided": lambda s: np.repeat(multi_hot(s), 2, axis=1)[:, ::2],
            **{f"hot {dtype}": lambda s, dtype=dtype: multi_hot(s, dtype)
               for dtype in ("?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8")},
        }
        for name, form in forms.items():
            with self.subTest(name):
                memory = ocdm.Memory(12)
                for first in range(0, 50, 10):
                    memory.update(np.arange(first, first + 10), form(sets[first:first + 10]))
                self.assertEqual(memory, expected)

    def test_one_label_each(self):
        expected = ocdm.Memory(5)
        expected.update(range(8), [[c] for c in (0, 0, 1, 1, 2, 2, 2, 9)])
        for labels in (np.array([0, 0, 1, 1, 2, 2, 2, 9]), [0, 0, 1, 1, 2, 2, 2, 9], list(np.array([0, 0, 1, 1, 2, 2, 2, 9]))):
            memory = ocdm.Memory(5)
            memory.update(np.arange(8, dtype=np.uint8), labels)
            self.assertEqual(memory, expected)

    def test_a_half_is_a_label_only_above_one_half(self):
        for dtype in ("f2", "f4", "f8"):
            memory = ocdm.Memory(5)
            with self.assertWarnsRegex(UserWarning, "0.5"):
                memory.update([0], np.array([[0.5, 0.501, -1, 65504, 1e-7, 0.25, np.inf, -np.inf, 2]], dtype))
            self.assertEqual(memory.labels(0), [1, 3, 6, 8])

    def test_arrays_of_ctypes_which_have_no_strides(self):
        memory = ocdm.Memory(5)
        memory.update((ctypes.c_long * 3)(7, 8, 9), (ctypes.c_int * 3)(1, 2, 3))
        self.assertEqual((memory.ids.tolist(), memory.labels()), ([7, 8, 9], [[1], [2], [3]]))
        memory.update((ctypes.c_longlong * 2)(1, 2), ((ctypes.c_float * 3) * 2)((1, 0, 1), (0, 1, 0)))
        self.assertEqual(memory.labels()[3:], [[0, 2], [1]])

    def test_values_that_look_wrong_are_warned_of_and_read_as_the_warning_says(self):
        for form in (np.array([[3, 4], [1, 2]]), np.array([[0.5, 0.7]]), np.array([[-1, 1]]), np.array([[0, 2]], np.uint8),
                     SparseStandIn([[3]], 0.4), SparseStandIn([[3]], -1)):
            with self.subTest(form), self.assertWarnsRegex(UserWarning, r"above 0.5, absent.*labels > 0.5.*labels.tolist\(\)"):
                ocdm.Memory(5).update(None, form)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for form in (np.eye(3), np.eye(3, dtype=bool), np.array([[0, -0.0, 1]]), SparseStandIn([[3], [1]]), SparseStandIn([[3]], 0)):
                ocdm.Memory(5).update(None, form)

    def test_columns_that_appear_are_warned_of_once(self):
        memory = ocdm.Memory(9)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            for columns in (3, 3, 5, 5):
                memory.update(None, np.eye(2, columns))
        self.assertEqual(len(said), 1)
        self.assertRegex(str(said[0].message), "5 columns now and had 3 before: column c is class c in both; write")

    def test_a_warning_that_is_an_error_changes_nothing(self):
        memory = ocdm.Memory(9)
        memory.update(None, np.eye(2, 3))
        before = memory._save_bytes()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for form in (np.eye(2, 5), np.full((1, 3), 0.5), np.eye(2, 5)):
                with self.assertRaises(UserWarning):
                    memory.update(None, form)
            self.assertEqual(memory._save_bytes(), before)
            memory.update(None, np.eye(2, 3))

    def test_strings_come_back_as_strings(self):
        memory = ocdm.Memory(10)
        memory.update([1, 2, 3], [["dog", "cat"], "cat", []])
        self.assertEqual(memory.labels(), [["dog", "cat"], ["cat"], []])
        self.assertEqual(memory.counts["id"].tolist(), ["dog", "cat"])
        self.assertEqual(memory.names, ["dog", "cat"])
        memory.update([4], np.array(["müsli"]))
        self.assertEqual(memory.labels(3), ["müsli"])

    def test_ids_are_numbers_with_a_sign_and_may_be_left_out(self):
        memory = ocdm.Memory(10)
        memory.update([-5, 2**63 - 1, -2**63], [[0]] * 3)
        self.assertEqual(memory.ids.tolist(), [-5, 2**63 - 1, -2**63])
        self.assertEqual(memory.find(-5), 0)
        memory.update(None, [[1], [2]])
        self.assertEqual(memory.ids.tolist()[3:], [3, 4])

    def test_a_change_says_what_to_copy(self):
        memory, payload = ocdm.Memory(30), np.full(30, -1)
        sets = label_sets(300)
        for first in range(0, 300, 10):
            change = memory.update(np.arange(first, first + 10), sets[first:first + 10])
            slots, items, left_ids, left_slots, left_items = change
            self.assertTrue(all(array.dtype == np.int64 and array.flags.writeable for array in change))
            self.assertEqual(set(left_ids[left_slots >= 0]), set(payload[left_slots[left_slots >= 0]]))
            self.assertEqual((left_ids[left_items >= 0] - first).tolist(), left_items[left_items >= 0].tolist())
            payload[slots] = first + items
            self.assertEqual(memory.ids.tolist(), payload[:len(memory)].tolist())
        for call in (lambda: memory.resize(20), lambda: memory.forget(int(memory.ids[3]))):
            change = call()
            payload[change.moved_to] = payload[change.moved_from]
            self.assertEqual(memory.ids.tolist(), payload[:len(memory)].tolist())

    def test_questions(self):
        memory = filled(capacity=20, seed=3, rho=0.5, tie="oldest", distance="tv", tolerance=0.25)
        self.assertEqual((memory.tolerance, copy.deepcopy(memory).tolerance), (0.25, 0.25))
        self.assertEqual((memory.capacity, memory.seed, memory.rho, memory.tie, memory.distance_name, memory.policy),
                         (20, 3, 0.5, "oldest", "tv", "ocdm"))
        self.assertEqual(memory.arrived, 100)
        counts = memory.counts
        self.assertAlmostEqual(counts["target"].sum(), 1)
        for row in counts:
            self.assertEqual(sum(int(row["id"]) in labels for labels in memory.labels()), row["kept"])
        self.assertLessEqual(memory.distance(), 1)
        self.assertEqual(memory.distance("in-play"), memory.distance())
        self.assertGreater(memory.distance("seen"), 0)
        self.assertTrue(np.isnan(ocdm.Memory(3).distance()))
        self.assertEqual(len(ocdm.Memory(3).counts), 0)
        self.assertEqual(sorted(memory.draw(100)), list(range(20)))
        self.assertEqual(len(memory.draw(0)), 0)
        memory.set_weight(4, 2.5)
        self.assertEqual((memory.weight(4), memory.weight(77)), (2.5, 1))
        self.assertNotIn("4", memory)


def sparse_with(data):
    matrix = SparseStandIn([[1, 2]])
    matrix.data = data
    return matrix


ONE = [1]  # an id that is not in memory
BAD = {
    "data shorter than the indices": (ONE, sparse_with(np.ones(1))),
    "data longer than the indices": (ONE, sparse_with(np.ones(3))),
    "data without a dimension": (ONE, sparse_with(np.array(1.0))),
    "data of two dimensions": (ONE, sparse_with(np.ones((2, 1)))),
    "data that are strings": (ONE, sparse_with(np.array([b"abc", b"de"]))),
    "integers of shape [n, 1]": ([1, 2], np.array([[3], [4]])),
    "zeros and ones of shape [n, 1]": ([1, 2], np.array([[0], [1]], np.uint8)),
    "more ids than sets": ([1, 2], [[0]]),
    "more sets than ids": (ONE, [[0], [1]]),
    "id array of another length": (np.arange(3), np.array([1, 2])),
    "a float as id": ([1.5], [[0]]),
    "a float array of ids": (np.array([1.0]), [[0]]),
    "a bool as id": ([True], [[0]]),
    "a string as id": (["a"], [[0]]),
    "ids of two dimensions": (np.zeros((1, 1), int), [[0]]),
    "an id beyond 63 bits": (np.array([2**63], np.uint64), [[0]]),
    "an id beyond 64 bits": ([2**64], [[0]]),
    "no ids": (5, [[0]]),
    "a negative class": (ONE, [[-1]]),
    "a negative class in an array": (ONE, np.array([-1])),
    "a class beyond 32 bits": (ONE, [[2**32]]),
    "a class beyond 32 bits in an array": (ONE, np.array([2**32])),
    "a class beyond 63 bits": (ONE, np.array([2**63], np.uint64)),
    "a float label": (ONE, [[0.5]]),
    "a float array [n]": (ONE, np.array([0.5])),
    "a bool array [n]": (ONE, np.array([True])),
    "bools in a list": (ONE, [[True, False]]),
    "None as label set": (ONE, [None]),
    "no labels": (ONE, 7),
    "a string as labels": (ONE, "a"),
    "three dimensions": (ONE, np.zeros((1, 1, 1))),
    "no dimension": (ONE, np.array(3)),
    "complex numbers": (ONE, np.zeros((1, 2), complex)),
    "strings of two dimensions": (ONE, np.array([["a", "b"]])),
    "NaN in multi-hot": (ONE, np.array([[0, np.nan]])),
    "NaN in a half": (ONE, np.array([[0, np.nan]], np.float16)),
    "another byte order": (ONE, np.zeros((1, 2), ">f8")),
    "offsets that fall": ([1, 2], (np.array([0, 2, 1]), np.array([1]))),
    "offsets that do not begin with 0": (ONE, (np.array([1, 2]), np.array([1, 2]))),
    "offsets beyond the labels": (ONE, (np.array([0, 3]), np.array([1, 2]))),
    "offsets that are floats": (ONE, (np.array([0.0, 1.0]), np.array([1]))),
    "offsets of two dimensions": (ONE, (np.array([[0, 1]]), np.array([1]))),
    "no offsets": ([], (np.array([], int), np.array([], int))),
    "a string among numbers": (ONE, [["cat"]]),
    "strings and numbers": (ONE, [["cat", 1]]),
    "too many labels": (ONE, [range(70000)]),
}


def without_memory(n, call):
    """Whether the call raises MemoryError when allocation n fails."""
    _testcapi.set_nomemory(n, n + 1)
    try:
        call()
    except MemoryError:
        return True
    finally:
        _testcapi.remove_mem_hooks()
    return False


class Refused(unittest.TestCase):
    def refused(self, memory, ids, labels, error=ValueError):
        before = copy.copy(memory)
        with self.assertRaises(error) as caught:
            memory.update(ids, labels)
        self.assertEqual(memory, before)
        self.assertEqual(memory.names, before.names)
        return str(caught.exception)

    def test_each_bad_batch_is_one_value_error_and_nothing_changes(self):
        for name, (ids, labels) in BAD.items():
            with self.subTest(name):
                text = self.refused(filled(), [1000] if ids is ONE else ids, labels)
                self.assertGreater(len(text), 15)
                self.assertEqual(len(text.splitlines()), 1)

    def test_the_message_names_the_sample(self):
        self.assertIn("sample 1", self.refused(filled(), [1000, 1001], [[0], [-1]]))
        self.assertIn("sample 1", self.refused(filled(), [1000, 1001], np.array([0, -1])))
        self.assertIn("class 2", self.refused(filled(), [1000], np.array([[0, 0, np.nan]])))

    def test_an_id_twice_is_a_key_error(self):
        memory = filled()
        self.refused(memory, [int(memory.ids[0])], [[0]], KeyError)
        self.refused(memory, [1000, 1000], [[0], [1]], KeyError)
        with self.assertRaises(KeyError):
            memory.forget(12345)

    def test_names_of_a_refused_batch_are_not_remembered(self):
        memory = filled([["a"], ["b"]])
        self.refused(memory, [10, 11], [["new"], [None]])
        self.refused(memory, [0, 11], [["newer"], ["b"]], KeyError)
        self.refused(memory, [10], [[3]])
        empty = ocdm.Memory(3)
        self.refused(empty, [10, 11], [["a"], [1]])
        empty.update([1], [[1]])
        self.assertEqual(empty.labels(0), [1])

    def test_only_type_and_value_errors_of_iterators_become_value_errors(self):
        class Index:
            def __init__(self, error):
                self.error = error

            def __index__(self):
                raise self.error("mine")

        def broken(error):
            yield 1
            raise error("mine")

        for error in (ValueError, TypeError):
            self.assertIn("sample 0", self.refused(filled(), [1000], [broken(error)]))
            self.refused(filled(), [1000], [[Index(error)]])
            self.refused(filled(), [Index(error)], [[0]])
        for error in (KeyboardInterrupt, MemoryError, KeyError, RuntimeError, StopAsyncIteration):
            for ids, labels in (([1000], [broken(error)]), ([1000], broken(error)), ([1000], [[Index(error)]]), ([Index(error)], [[0]]),
                                (broken(error), [[0], [0]])):
                with self.subTest(error=error, labels=labels):
                    self.assertEqual(self.refused(filled(), ids, labels, error).strip("'"), "mine")
            with self.assertRaises(error):
                filled().find(Index(error))
            with self.assertRaises(error):
                filled().weight(Index(error))

    def test_arguments(self):
        for options in ({"capacity": 0}, {"capacity": -1}, {"capacity": 2**31}, {"policy": "none"}, {"distance": "none"},
                        {"tie": "none"}, {"rho": 17}, {"rho": float("nan")}, {"tolerance": -1}, {"tolerance": float("nan")}, {"seed": -1}, {"seed": 2**64}, {"batch": 0},
                        {"policy": object()}):
            with self.subTest(options), self.assertRaises(ValueError):
                ocdm.Memory(**options)
        memory = filled()
        for call in (lambda: memory.resize(0), lambda: memory.set_weight(1, 0), lambda: memory.set_weight(-1, 2),
                     lambda: memory.set_weight("cat", 2), lambda: memory.draw(-1), lambda: memory.distance("all"),
                     lambda: memory.find("x")):
            with self.assertRaises(ValueError):
                call()
        for call in (lambda: memory.update([1]), lambda: memory.update([1], [[1]], None, 3), lambda: memory.update([1], labs=3),
                     lambda: memory.draw(1.5), lambda: ocdm.Memory(colour="red"), lambda: memory.set_weight(1, "x")):
            with self.assertRaises(TypeError):
                call()
        with self.assertRaises(IndexError):
            memory.labels(20)

    def test_an_unknown_name_is_refused_with_the_list_of_names(self):
        for option, names in (("distance", "kl, reverse-kl, l2, tv"), ("tie", "key, oldest, newest, uniform")):
            with self.assertRaises(ValueError) as caught:
                ocdm.Memory(10, **{option: "such"})
            self.assertTrue(str(caught.exception).endswith(f" is named 'such'; there are {names}"), caught.exception)


    def test_integers_of_one_column_are_refused_with_what_to_write(self):
        text = self.refused(ocdm.Memory(5), [1, 2], np.array([[3], [4]]))
        self.assertIn("write labels[:, 0] for one label each", text)
        memory = ocdm.Memory(5)
        memory.update([1, 2], np.array([[3], [4]])[:, 0])
        memory.update([3, 4], np.array([[0], [1]]) > 0)
        self.assertEqual(memory.labels(), [[3], [4], [], [0]])

    def test_a_path_with_a_nul_is_refused(self):
        for memory in (filled(), filled([["a"]])):
            with self.assertRaises(ValueError):
                memory.save("begin\0end")
        self.assertFalse(os.path.exists("begin"))

    def test_without_memory_for_a_python_object_nothing_changes(self):
        """Each allocation of Python fails in turn, until there is none left."""
        memory = filled(label_sets(300), capacity=30)
        for name in ("update", "forget", "resize"):
            failures = 0
            while True:
                ids, labels, id, before = np.arange(10) + memory.arrived, np.arange(10) % 3, int(memory.ids[0]), copy.copy(memory)
                call = {"update": lambda: memory.update(ids, labels), "forget": lambda: memory.forget(id),
                        "resize": lambda: memory.resize(28)}[name]
                if not without_memory(failures, call):
                    break
                self.assertEqual(memory, before, f"allocation {failures} of {name}")
                failures += 1
            self.assertGreater(failures, 1)


class Copies(unittest.TestCase):
    def going_on(self, memory, other):
        """Both are equal, and stay equal."""
        self.assertEqual(memory, other)
        self.assertIsNot(memory, other)
        sets = label_sets(50, seed=9) if memory.names is None else [["x", f"y{i % 4}"] for i in range(50)]
        for each in (memory, other):
            each.update(range(5000, 5050), sets)
        self.assertEqual(memory.ids.tolist(), other.ids.tolist())
        self.assertEqual(memory.draw(5).tolist(), other.draw(5).tolist())
        self.assertEqual(memory, other)

    def copies(self, memory):
        memory.save("memory.safetensors")
        fresh = ocdm.Memory(memory.capacity, "rs")
        fresh.load_state_dict(memory.state_dict())
        return [copy.copy(memory), copy.deepcopy(memory), pickle.loads(pickle.dumps(memory)),
                ocdm.Memory.load("memory.safetensors"), fresh]

    def test_a_copy_goes_on_like_the_original(self):
        for policy in ("ocdm", "prs", "cbes", "rs"):
            for number in range(5):
                memory = filled(policy=policy, seed=5)
                memory.set_weight(3, 2)
                memory.draw(3)
                with self.subTest(policy=policy, number=number):
                    self.going_on(memory, self.copies(memory)[number])

    def test_a_copy_keeps_the_strings(self):
        for number in range(5):
            memory = filled([["a", "ü\n\"\\"], ["b"], ["\U0001f408", "a"]])
            self.assertEqual(self.copies(memory)[number].labels(), memory.labels())
            self.going_on(memory, self.copies(memory)[number])

    def test_the_program_in_c_and_python_read_each_others_files(self):
        memory = filled()
        memory.save("one")
        named = filled([["a"], ["b"]])
        named.save("two")
        with open("one", "rb") as file:
            self.assertEqual(file.read(), memory._save_bytes())
        self.assertEqual(ocdm.Memory.load("two"), named)

    def test_different_memories_are_not_equal(self):
        memory, other = filled(), filled()
        other.draw(1)
        self.assertNotEqual(memory, other)
        self.assertNotEqual(memory, filled(seed=1))
        self.assertNotEqual(memory, 7)
        self.assertNotEqual(filled([["a"]]), filled([["b"]]))
        with self.assertRaises(TypeError):
            hash(memory)

    def test_files_that_cannot_be_read_or_written(self):
        memory = filled()
        for path in ("no/such/folder/file", "."):
            with self.assertRaises(OSError):
                memory.save(path)
            with self.assertRaises(OSError):
                filled([["a"]]).save(path)
        with self.assertRaises(OSError):
            ocdm.Memory.load("missing")
        with open("broken", "wb") as file:
            file.write(b"nothing of the kind")
        with self.assertRaises(ValueError):
            ocdm.Memory.load("broken")

    def test_a_state_is_arrays_and_strings(self):
        state = filled([["a"], ["b", "a"]]).state_dict()
        self.assertEqual(state["label_names"], ["a", "b"])
        self.assertEqual(state["labels"].tolist(), [0, 0, 1])
        self.assertTrue(all(isinstance(value, (str, list, np.ndarray)) for value in state.values()))


class LeastRecent:
    """Evicts the oldest: a policy with everything a policy may have."""
    name = "least recent"

    def __init__(self, fail=None):
        self.fail, self.calls, self.told = fail, [], 0

    def note(self, method):
        self.calls.append(method)
        if self.fail == method:
            raise ZeroDivisionError(method)

    def begin(self, memory, ids, labels):
        self.note("begin")
        assert len(ids) == len(labels) and ids[0] not in memory

    def admit(self, memory, id, labels):
        self.note("admit")
        return 13 not in labels

    def remove(self, memory):
        self.note("remove")
        assert len(memory) == len(memory.ids) == len(memory.labels())
        return int(memory.arrivals.argmin())

    def end(self, memory, change):
        self.note("end")
        self.told = None if change is None else self.told + 1

    def save(self, memory):
        self.note("save")
        return b"told %d" % self.told

    def load(self, memory, data):
        self.note("load")
        self.told = int(data.split()[1])
        assert len(memory) > 0


class Reservoir:
    """rs, written again."""

    def replace(self, memory, id, labels):
        slot = memory.random(memory.arrived + 1)
        return slot if slot < memory.capacity else None


class Policies(unittest.TestCase):
    def test_remove_decides(self):
        memory = filled([[i] for i in range(60)], policy=LeastRecent())
        self.assertEqual(sorted(memory.ids.tolist()), sorted(set(range(41, 60)) | {40}))
        self.assertEqual(memory.policy.told, 6)

    def test_replace_decides_by_the_memorys_random_numbers(self):
        sets = label_sets(200)
        memory = filled(sets, policy=Reservoir())
        self.assertEqual(len(memory), 20)
        self.assertEqual(memory.ids.tolist(), filled(sets, policy=Reservoir()).ids.tolist())
        self.assertNotEqual(memory.ids.tolist(), filled(sets, policy=Reservoir(), seed=1).ids.tolist())

    def test_admit_keeps_samples_out(self):
        memory = filled([[13], [1], [13, 2]], policy=LeastRecent())
        self.assertEqual(memory.ids.tolist(), [1])
        self.assertEqual(memory.arrived, 3)

    def test_strings_are_shown_as_strings(self):
        seen = []

        class Watch(Reservoir):
            def admit(self, memory, id, labels):
                seen.append((id, labels))
                return True

        filled([["a", "b"], []], policy=Watch())
        self.assertEqual(seen, [(0, ["a", "b"]), (1, [])])

    def test_an_exception_is_raised_and_the_memory_is_as_it_was(self):
        for method in ("begin", "admit", "remove"):
            memory = filled(policy=LeastRecent())
            before = memory._save_bytes()
            policy = memory.policy
            policy.fail, policy.told = method, 99
            with self.subTest(method), self.assertRaises(ZeroDivisionError):
                memory.update([500, 501], [[40], [41]])
            policy.fail = None
            self.assertNotIn(40, memory.counts["id"])
            self.assertEqual(policy.told, None if method != "begin" else 99)
            policy.told = 10
            self.assertEqual(memory._save_bytes(), before)

    def test_an_exception_in_end_is_raised_after_the_change(self):
        memory = filled(policy=LeastRecent())
        memory.policy.fail = "end"
        with self.assertRaises(ZeroDivisionError):
            memory.update([500], [[1]])
        self.assertIn(500, memory)

    def test_an_answer_that_is_no_slot_is_refused(self):
        class Wrong:
            answer = None

            def remove(self, memory):
                return self.answer

        for answer in (None, -1, 3, 1000, 2**32 - 1, 2**64, "x", 1.5):
            memory = ocdm.Memory(2, Wrong())
            memory.update([1, 2], [[0], [1]])
            before = memory._save_bytes()
            memory.policy.answer = answer
            with self.subTest(answer), self.assertRaises((ValueError, TypeError)):
                memory.update([3], [[0]])
            self.assertEqual(memory._save_bytes(), before)

    def test_a_policy_may_not_change_its_memory(self):
        class Meddler:
            def remove(self, memory):
                for call in (lambda: memory.update([9], [[0]]), lambda: memory.draw(1), lambda: memory.forget(1),
                             lambda: memory.resize(5), memory._save_bytes, lambda: memory.set_weight(0, 2)):
                    try:
                        call()
                        return None
                    except RuntimeError:
                        pass
                return 0

        self.assertEqual(len(filled(policy=Meddler())), 20)

    def test_a_memory_that_a_policy_kept_from_a_load_is_not_one(self):
        kept = []

        class Keeper(LeastRecent):
            def load(self, memory, data):
                kept.append(memory)
                super().load(memory, data)

        memory = filled(policy=Keeper())
        state, before = memory.state_dict(), memory._save_bytes()
        memory.load_state_dict(state)
        memory.policy.fail = "load"
        with self.assertRaises(ZeroDivisionError):
            memory.load_state_dict(state)
        memory.policy.fail = None
        self.assertEqual((len(kept), memory._save_bytes()), (2, before))
        for other in kept:
            for call in (lambda: len(other), lambda: 3 in other, lambda: other.find(3), lambda: other.ids, lambda: other.counts,
                         lambda: other.labels(), lambda: other.draw(1), lambda: other.update([9], [[0]]), lambda: other.resize(4),
                         lambda: other.capacity, lambda: other.seed, lambda: other.rho, lambda: other.tolerance, lambda: other.tie, lambda: other.policy,
                         lambda: other.distance_name, lambda: other.distance(), lambda: other.weight(1), lambda: other.random(5),
                         lambda: other.state_dict(), lambda: other.load_state_dict(state), lambda: repr(other)):
                self.assertRaises(RuntimeError, call)

    def test_a_finalizer_may_shrink_the_memory_while_labels_are_listed(self):
        memory = filled([[i % 3, 3] for i in range(1000)], capacity=1000)
        expected = memory.labels()

        class Garbage:
            def __init__(self):
                self.cycle = self

            def __del__(self):
                memory.resize(1)

        thresholds = gc.get_threshold()
        gc.collect()
        gc.disable()
        Garbage()
        gc.set_threshold(1)
        gc.enable()
        found = memory.labels()
        gc.set_threshold(*thresholds)
        self.assertEqual(len(memory), 1)
        self.assertEqual(found, expected)

    def test_an_id_whose_index_lets_another_thread_in_is_refused(self):
        deciding, go_on = threading.Event(), threading.Event()

        class Slow:
            def remove(self, memory):
                deciding.set()
                go_on.wait(60)
                return 0

        class Yielding:
            def __init__(self, memory):
                self.thread = threading.Thread(target=lambda: memory.update([len(memory) + 5], [[0]]))

            def __index__(self):
                self.thread.start()
                deciding.wait(60)
                return 1

        for call in (lambda memory, id: memory.find(id), lambda memory, id: id in memory, lambda memory, id: memory.labels(id),
                     lambda memory, id: memory.weight(id), lambda memory, id: memory.random(id)):
            memory = ocdm.Memory(2, Slow())
            memory.update([1, 2], [[0], [1]])
            id = Yielding(memory)
            with self.assertRaises(RuntimeError):
                call(memory, id)
            go_on.set()
            id.thread.join()
            deciding.clear()
            go_on.clear()

    def test_a_second_thread_is_refused(self):
        found = []

        class Slow:
            def remove(self, memory):
                def other():
                    for call in (lambda: memory.update([9], [[0]]), lambda: len(memory), lambda: memory.ids,
                                 lambda: memory.draw(1), lambda: 3 in memory):
                        try:
                            call()
                            found.append("nothing")
                        except RuntimeError as error:
                            found.append(str(error))
                thread = threading.Thread(target=other)
                thread.start()
                thread.join()
                return 0

        memory = ocdm.Memory(1, Slow())
        memory.update([1, 2], [[0], [1]])
        self.assertEqual(len(found), 5)
        self.assertTrue(all("in use" in text for text in found))
        self.assertEqual(len(memory), 1)

    def test_long_calls_of_many_threads_on_memories_of_their_own(self):
        sets = label_sets(6000)
        offsets, labels = csr(sets)
        expected = ocdm.Memory(50)
        expected.update(np.arange(6000), (offsets, labels))
        memories = [ocdm.Memory(50) for _ in range(4)]
        threads = [threading.Thread(target=memory.update, args=(np.arange(6000), (offsets, labels))) for memory in memories]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for memory in memories:
            self.assertEqual(memory, expected)

    def test_the_state_of_a_policy_is_saved_with_the_memory(self):
        memory = filled(policy=LeastRecent())
        memory.save("own")
        with self.assertRaises(ValueError):
            ocdm.Memory.load("own")
        with self.assertRaises(ValueError):
            ocdm.Memory.load("own", policy=Reservoir())
        for other in (ocdm.Memory.load("own", policy=LeastRecent()), pickle.loads(pickle.dumps(memory)), copy.deepcopy(memory),
                      copy.copy(memory)):
            self.assertEqual(other, memory)
            self.assertIsNot(other.policy, memory.policy)
            self.assertEqual(other.policy.told, 10)

    def test_a_load_that_fails_in_the_policy_changes_nothing(self):
        memory = filled(policy=LeastRecent())
        state, before = memory.state_dict(), memory._save_bytes()
        memory.policy.fail = "load"
        with self.assertRaises(ZeroDivisionError):
            memory.load_state_dict(state)
        memory.policy.fail = "save"
        with self.assertRaises(ZeroDivisionError):
            memory.state_dict()
        memory.policy.fail = None
        self.assertEqual(memory._save_bytes(), before)


class States(unittest.TestCase):
    def test_damaged_states_are_refused_and_change_nothing(self):
        chance = random.Random(4)
        loaded = 0
        for named in (False, True):
            source = filled([[f"c{label}" for label in labels] for labels in label_sets(60)] if named else None)
            for _ in range(400):
                state = source.state_dict()
                self.damage(state, chance)
                memory = filled([[1], [2]])
                before = memory._save_bytes()
                try:
                    memory.load_state_dict(state)
                except ValueError:
                    self.assertEqual(memory._save_bytes(), before)
                else:
                    loaded += 1
                    other = ocdm.Memory(memory.capacity)
                    other.load_state_dict(memory.state_dict())
                    self.assertEqual(other, memory)
                    memory.update([10**6], [["c1"]] if memory.names is not None else [[1]])
        self.assertLess(loaded, 400)

    def damage(self, state, chance):
        name = chance.choice(sorted(state))
        kind = chance.randrange(7)
        if kind == 6 and isinstance(state[name], np.ndarray) and state[name].nbytes >= 8:
            numbers = state[name].view(np.uint8)[:state[name].nbytes // 8 * 8].view(np.uint64)
            numbers[chance.randrange(len(numbers))] = chance.choice([0, 1, 2**31, 2**32, 2**63, 2**64 - 1])
        elif kind == 0:
            del state[name]
        elif kind == 1:
            state[name] = chance.choice([None, 7, "x", [], ["a", "a"], [1], np.zeros((2, 2)), np.zeros(3, np.int16), {}])
        elif kind == 2 and isinstance(state[name], np.ndarray):
            state[name] = state[name][:chance.randrange(len(state[name]) + 1)]
        elif kind == 3 and isinstance(state[name], list) and state[name]:
            state[name] = state[name][:chance.randrange(len(state[name]))]
        elif isinstance(state[name], np.ndarray) and len(state[name]):
            flat = state[name].view(np.uint8)
            flat[chance.randrange(len(flat))] ^= 1 << chance.randrange(8)
        else:
            state[chance.choice(["more", "labels", "__metadata__", "\ud800"])] = chance.choice(["x", np.zeros(2, np.uint8)])

    def test_damaged_files_are_refused(self):
        chance = random.Random(5)
        for memory in (filled(), filled([["a"], ["b"]])):
            memory.save("whole")
            with open("whole", "rb") as file:
                whole = file.read()
            for _ in range(200):
                broken = bytearray(whole)
                for _ in range(chance.randrange(1, 4)):
                    broken[chance.randrange(len(broken))] = chance.randrange(256)
                if broken == whole:
                    continue
                with open("broken", "wb") as file:
                    file.write(broken[:chance.choice([len(broken), chance.randrange(len(broken))])])
                with self.assertRaises(ValueError):
                    ocdm.Memory.load("broken")

    def test_names_that_are_no_list_of_strings_are_refused(self):
        memory = filled([["a"], ["b"]])
        for names in (7, 0.5, "ab", {}, [1], np.zeros((2, 2)), np.array(3), iter(["a", "b"])):
            with self.assertRaises(ValueError):
                filled().load_state_dict({**memory.state_dict(), "label_names": names})

    def test_a_state_of_another_capacity_is_refused_until_it_is_resized(self):
        memory, other = filled(), filled(capacity=7)
        before = other._save_bytes()
        with self.assertRaisesRegex(ValueError, r"capacity 20, and this is of capacity 7; resize\(20\) first"):
            other.load_state_dict(memory.state_dict())
        self.assertEqual(other._save_bytes(), before)
        other.resize(20)
        other.load_state_dict(memory.state_dict())
        self.assertEqual(other, memory)

    def test_what_is_no_dict_is_refused(self):
        for state in (None, 3, [], {1: 2}, {}):
            with self.assertRaises(ValueError):
                filled().load_state_dict(state)


class Shards(unittest.TestCase):
    def test_a_merge_keeps_what_the_program_keeps(self):
        """With weights, a target and names that the shards number differently."""
        chance = random.Random(3)
        for tie in ("key", "oldest"):
            memories, kept = [], []
            options = ["-q", "-m", 40, "-b", 1, "--rho", 0.3, "--tie", tie, "--weight", "c1=3"]
            for shard in range(3):
                memory = ocdm.Memory(40, shard=shard, rho=0.3, tie=tie)
                memory.set_weight("c1", 3)
                with open(f"{shard}.jsonl", "w") as file:
                    for i in range(200):
                        labels = sorted({f"c{int(9 * chance.random() ** 2)}" for _ in range(2)}, reverse=shard == 1)
                        file.write(json.dumps({"id": 1000 * shard + i, "labels": labels}) + "\n")
                        memory.update([1000 * shard + i], [labels])
                memories.append(memory)
                streams.ocdm_program("sample", *options, "--shard", shard, "--summary", f"{shard}.json", "-o", f"{shard}.kept", f"{shard}.jsonl")
            for line in streams.ocdm_program("merge", "-q", "-m", 40, *(f"{shard}.kept" for shard in range(3)), "--summary",
                                             *(f"{shard}.json" for shard in range(3))).splitlines():
                kept.append(json.loads(line)["id"])
            merged = ocdm.Memory.merge(reversed(memories))
            self.assertEqual(sorted(merged.ids.tolist()), sorted(kept))
            self.assertEqual((merged.arrived, merged.weight("c1")), (600, 3))


if __name__ == "__main__":
    tap.main()
