"""Streams: every array is what the file says, without a copy."""
import gc
import os
import pickle
import shutil
import signal
import subprocess
import sys
import unittest

import numpy as np

import ocdm
import streams
import tap


class Features(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        streams.enter_folder(cls)
        cls.rows = streams.make_small()
        cls.stream = ocdm.Stream("small.safetensors")

    def test_tables_are_those_of_the_records(self):
        stream, rows = self.stream, self.rows
        self.assertEqual((len(stream), stream.class_count, stream.task_count, stream.kind), (len(rows), 6, 3, "features"))
        self.assertEqual(sorted(stream.class_names), list("abcdef"))
        starts, labels = stream.labels
        by_id = {str(row["id"]): row for row in rows}
        for i, name in enumerate(stream.ids):
            row = by_id[name]
            self.assertEqual(sorted(stream.names_of(i)), row["labels"])
            self.assertEqual(sorted(stream.class_names[c] for c in labels[starts[i]:starts[i + 1]]), row["labels"])
            self.assertEqual((stream.tasks[i], bool(stream.test[i])), (row["task"], row["split"] == "test"))
        self.assertEqual(len(set(stream.ids)), len(rows))

    def test_features_are_those_of_the_file(self):
        place = {str(row["id"]): i for i, row in enumerate(self.rows)}
        np.testing.assert_array_equal(self.stream.features, np.load("features.npy")[[place[name] for name in self.stream.ids]])
        self.assertIsNone(self.stream.images)
        self.assertIsNone(self.stream.image_paths)

    def test_groups_are_by_counts(self):
        starts, labels = self.stream.labels
        train = np.flatnonzero(~self.stream.test)
        counts = self.stream.targets(train).sum(0)
        np.testing.assert_array_equal(self.stream.groups, np.where(counts > 40, 0, np.where(counts < 20, 2, 1)))

    def test_targets_are_rows_of_labels(self):
        targets = self.stream.targets([5, 0, 5])
        self.assertEqual((targets.dtype, targets.shape), (np.float32, (3, 6)))
        for row, sample in zip(targets, (5, 0, 5)):
            self.assertEqual([self.stream.class_names[c] for c in np.flatnonzero(row)], self.stream.names_of(sample))
        self.assertEqual(self.stream.targets([]).shape, (0, 6))
        for bad in ([-1], [len(self.stream)], [2**40]):
            self.assertRaises(IndexError, self.stream.targets, bad)
        self.assertRaises(ValueError, self.stream.targets, [[1, 2]])

    def test_known_labels_are_those_of_the_tasks(self):
        self.assertFalse(self.stream.partial)
        self.assertTrue(self.stream.known([3, 0]).all())
        streams.ocdm_program("stream", "build", "--records", "records.jsonl", "--features", "features.npy", "--recipe",
                             "incremental", "--base", 3, "--step", 2, "-o", "partial.safetensors")
        stream = ocdm.Stream("partial.safetensors")
        self.assertTrue(stream.partial)
        task_of = np.array([0, 0, 0, 1, 1, 2])
        known = stream.known(range(len(stream)))
        self.assertEqual((known.dtype, known.shape), (np.bool_, (len(stream), 6)))
        np.testing.assert_array_equal(known, stream.test[:, None] | (task_of == stream.tasks[:, None]))
        self.assertFalse((stream.targets(range(len(stream))) > known).any())
        self.assertRaises(IndexError, stream.known, [len(stream)])
        self.assertRaises(IndexError, stream.known, [-1])

    def test_arrays_share_the_mapping_and_keep_it_open(self):
        stream = ocdm.Stream("small.safetensors")
        features, expected = stream.features, self.stream.features.copy()
        starts, labels = stream.labels
        self.assertFalse(features.flags.owndata or features.flags.writeable or labels.flags.writeable)
        self.assertIs(stream.features, features)
        del stream
        gc.collect()
        np.testing.assert_array_equal(features, expected)
        self.assertEqual(int(starts[-1]), len(labels))

    def test_a_stream_that_is_dropped_is_unmapped(self):
        """However many arrays it has made: they refer to the file, and the file to nothing."""
        def mapped():
            with open("/proc/self/maps") as file:
                return sum("dropped.safetensors" in line for line in file)

        shutil.copy("small.safetensors", "dropped.safetensors")
        stream = ocdm.Stream("dropped.safetensors")
        used = [stream.features, stream.labels, stream.tasks, stream.test, stream.ids, stream.targets([0]), repr(stream)]
        self.assertGreater(mapped(), 0)
        del stream
        self.assertGreater(mapped(), 0)
        del used
        gc.collect()
        self.assertEqual(mapped(), 0)

    def test_a_file_that_becomes_shorter_is_an_os_error(self):
        def shortened(read):
            shutil.copy("wide.safetensors", "short.safetensors")
            stream = ocdm.Stream("short.safetensors")
            features, names = stream.features, stream.names_of(3)
            os.truncate("short.safetensors", 4096)
            with self.assertRaisesRegex(OSError, "short.safetensors: the file became shorter"):
                read(stream, features)
            self.assertEqual(stream.names_of(3), names)  # the tables are not in the mapping

        np.save("wide.npy", np.ones((len(self.rows), 500), np.float32))
        streams.ocdm_program("stream", "build", "--records", "records.jsonl", "--features", "wide.npy", "-o", "wide.safetensors")
        for read in (lambda stream, features: features.sum(), lambda stream, features: stream.features[-1].copy(),
                     lambda stream, features: stream.verify()):
            shortened(read)
        self.assertEqual(ocdm.Stream("wide.safetensors").features.sum(), 500 * len(self.rows))

    def test_a_bus_error_elsewhere_ends_the_process_as_before(self):
        code = """
import mmap, os, signal, sys, ocdm
stream = ocdm.Stream("small.safetensors")
if sys.argv[1] == "signal":
    os.kill(os.getpid(), signal.SIGBUS)
with open("other", "wb") as file:
    file.truncate(9000)
with open("other", "r+b") as file:
    pages = mmap.mmap(file.fileno(), 9000)
os.truncate("other", 0)
pages[5000]
"""
        environment = {key: value for key, value in os.environ.items() if key not in ("LD_PRELOAD", "PYTHONMALLOC")}
        environment["PYTHONPATH"] = os.environ["OCDM_RELEASE"]
        for how in ("signal", "read"):
            done = subprocess.run([sys.executable, "-c", code, how], env=environment, capture_output=True, timeout=60)
            self.assertEqual(done.returncode, -signal.SIGBUS, done.stderr)

    def test_selections_are_by_part_and_task(self):
        stream = self.stream
        self.assertEqual([len(stream.select("train", task)) for task in range(3)], [47, 47, 47])
        self.assertTrue(stream.test[stream.select("test")].all())
        self.assertEqual(len(stream.select()), len(stream))
        self.assertRaises(ValueError, stream.select, "tests")

    def test_a_stream_is_pickled_as_its_path(self):
        again = pickle.loads(pickle.dumps(self.stream))
        self.assertEqual((again.checksum, again.path), (self.stream.checksum, "small.safetensors"))
        again.verify()

    def test_what_is_no_stream_is_refused(self):
        data = bytearray(streams.bytes_of("small.safetensors"))
        data[-3] ^= 1
        with open("damaged.safetensors", "wb") as file:
            file.write(data)
        self.assertRaises(OSError, ocdm.Stream, "nowhere.safetensors")
        self.assertRaises(ValueError, ocdm.Stream, "records.jsonl")
        self.assertRaisesRegex(ValueError, "checksum", ocdm.Stream("damaged.safetensors").verify)
        self.assertRaises(TypeError, ocdm.Stream, 3)

    def test_halves_are_float16(self):
        streams.ocdm_program("stream", "build", "--records", "records.jsonl", "--features", "features.npy", "--feature-type",
                             "f16", "-o", "half.safetensors")
        half = ocdm.Stream("half.safetensors")
        self.assertEqual(half.features.dtype, np.float16)
        np.testing.assert_array_equal(half.features, self.stream.features.astype(np.float16))


class Images(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        streams.enter_folder(cls)

    def test_image_files_have_paths(self):
        streams.make_files()
        stream = ocdm.Stream("files.safetensors")
        self.assertEqual((stream.kind, stream.features, stream.images), ("files", None, None))
        self.assertTrue(all(path.startswith(stream.image_root) for path in stream.image_paths))
        self.assertEqual(sorted(stream.image_paths)[0].rsplit("/", 2)[1:], ["task0", "0.png"])

    def test_stored_images_are_an_array(self):
        streams.make_scenes("images", "images.safetensors")
        stream = ocdm.Stream("images.safetensors")
        self.assertEqual((stream.kind, stream.images.shape), ("images", (28817, 3, 16, 16)))
        self.assertEqual(stream.images.dtype, np.uint8)
        self.assertGreater(len(np.unique(stream.images[:50])), 20)


if __name__ == "__main__":
    tap.main()
