"""Runs the unit tests of the calling script and prints TAP: one line per test, what failed as comments."""
import os
import sys
import tempfile
import unittest


class _Result(unittest.TestResult):
    number = 0

    def _line(self, word, test, text=""):
        self.number += 1
        print(f"{word} {self.number} - {test._testMethodName}", flush=True)
        for line in text.splitlines():
            print(f"# {line}", flush=True)

    def addSuccess(self, test):
        self._line("ok", test)

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self._line("not ok", test, self.failures[-1][1])

    def addError(self, test, error):
        super().addError(test, error)
        if hasattr(test, "_testMethodName"):
            self._line("not ok", test, self.errors[-1][1])
        else:
            print(f"# {self.errors[-1][1]}")

    def addSubTest(self, test, subtest, error):
        super().addSubTest(test, subtest, error)
        if error is not None:
            self.wrong.append(f"{subtest}\n{error[1]}")

    def startTest(self, test):
        super().startTest(test)
        self.wrong = []

    def stopTest(self, test):
        super().stopTest(test)
        if self.wrong:
            self._line("not ok", test, "\n".join(self.wrong))


def main():
    tests = unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"])
    print(f"1..{tests.countTestCases()}", flush=True)
    result = _Result()
    with tempfile.TemporaryDirectory() as folder:  # for the files of the tests
        started = os.getcwd()
        os.chdir(folder)
        tests.run(result)
        os.chdir(started)
    sys.exit(not result.wasSuccessful())
