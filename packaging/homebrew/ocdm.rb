# Homebrew formula of the program and the libraries: brew install --formula packaging/homebrew/ocdm.rb, after make release. Ruby has
# checked its syntax; it was not run on macOS.
class Ocdm < Formula
  desc "Replay memory for multi-label online continual learning"
  version "1.0.0"
  url "file://#{File.expand_path("../../build/release/ocdm-#{version}-source.tar.gz", __dir__)}"
  license "MIT"

  depends_on "cmake" => :build
  depends_on "jpeg-turbo"
  depends_on "libpng"
  depends_on "onednn"
  depends_on "zstd"
  uses_from_macos "zlib"

  def install
    system "cmake", "-S", ".", "-B", "build", *std_cmake_args
    system "cmake", "--build", "build"
    system "cmake", "--install", "build"
  end

  test do
    (testpath/"records.jsonl").write <<~JSON
      {"id": 1, "labels": ["cat"]}
      {"id": 2, "labels": ["cat"]}
      {"id": 3, "labels": ["dog"]}
    JSON
    assert_equal 2, shell_output("#{bin}/ocdm sample -m 2 -q records.jsonl").lines.count
  end
end
