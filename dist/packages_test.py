"""The examples are built and run from the packages alone, each in a clean folder.

    packages_test.py WHEEL_FOLDER TARBALL_FOLDER DEB_FOLDER EXAMPLES DIGITS CHAT.gguf
"""

import functools
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, "python")
import wheel_testing  # noqa: E402

WHEEL, TARBALL, DEB, EXAMPLES, DIGITS, GGUF = map(os.path.abspath, sys.argv[1:7])
MODEL, DIGIT = os.path.join(DIGITS, "digits.uop"), os.path.join(DIGITS, "digit.npy")
# Nothing that this workspace has.
CLEAN = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": tempfile.mkdtemp()}


def run(*command, env=None, **options):
    result = subprocess.run(command, env={**CLEAN, **(env or {})}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            text=True, **options)
    if result.returncode != 0:
        raise AssertionError("%s: %d\n%s" % (" ".join(command), result.returncode, result.stdout))
    return result.stdout


def only(pattern):
    (path,) = glob.glob(pattern)
    return path


@functools.lru_cache(maxsize=None)
def unpacked(package):
    """The prefix of an unpacked package, which all tests share."""
    folder = tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR"))
    if package.endswith(".deb"):
        run("dpkg-deb", "-x", package, folder)
        return os.path.join(folder, "usr")
    run("tar", "xf", package, "-C", folder)
    return os.path.join(folder, os.path.basename(package)[:-len(".tar.gz")])


class PackagesTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR"))

    def unpacked_tarball(self):
        return unpacked(only(TARBALL + "/*.tar.gz"))

    def unpacked_deb(self):
        return unpacked(only(DEB + "/*.deb"))

    def check_libraries(self, program, prefix):
        """All libraries are found, and tg's in the package."""
        listed = run("ldd", program)
        self.assertNotIn("not found", listed)
        found = re.findall(r"lib(?:tg)\S* => (\S+)", listed)
        self.assertTrue(found, listed)
        for path in found:
            self.assertTrue(os.path.realpath(path).startswith(os.path.realpath(prefix)), listed)
        return listed

    def check_digits(self, said):
        self.assertRegex(said, r"^class 8\n200 frames: p50 [\d.]+ us, p99 [\d.]+ us\n$")
        print(said.split("\n")[1])

    def build_c_example(self, prefix):
        return self.build_in_c(prefix, "digits")

    def build_in_c(self, prefix, name, *libraries, options=()):
        source = shutil.copy(os.path.join(EXAMPLES, "c", name + ".c"), self.folder)
        program = os.path.join(self.folder, name)
        flags = run("pkg-config", *options, "--cflags", "--libs", "tg",
                    env={"PKG_CONFIG_PATH": prefix + "/lib/pkgconfig"})
        static = ["-static"] if "--static" in options else []
        run("cc", "-std=c11", "-Wall", "-Wextra", "-Werror", *static, source, "-o", program, *flags.split(), *libraries,
            cwd=self.folder)
        return program

    def test_c_with_pkg_config(self):
        prefix = self.unpacked_tarball()
        program = self.build_c_example(prefix)
        listed = self.check_libraries(program, prefix)
        for path in re.findall(r"libabsl\S* => (\S+)", listed):
            self.assertTrue(os.path.realpath(path).startswith(os.path.realpath(prefix)), listed)
        self.check_digits(run(program, MODEL, DIGIT, "200"))

    def test_c_with_the_callers_opencl(self):
        program = self.build_in_c(self.unpacked_tarball(), "opencl", "-lOpenCL")
        self.assertEqual(run(program, MODEL), "class 1\n")

    def test_c_with_the_debian_package(self):
        prefix = self.unpacked_deb()
        program = self.build_c_example(prefix)
        self.check_libraries(program, prefix)
        self.check_digits(run(program, MODEL, DIGIT, "200"))
        said = run("dpkg-deb", "--info", only(DEB + "/*.deb"))
        self.assertRegex(said, r"Depends: libc6 \(>= 2\.\d+\), libstdc\+\+6, libgcc-s1, libabsl\d+\n")

    def test_c_without_shared_libraries(self):
        program = self.build_in_c(self.unpacked_tarball(), "digits", options=["--static"])
        self.assertNotRegex(run("readelf", "-Wld", program), "INTERP|NEEDED")
        # In a folder that has no code generator, of which there is a part in the program.
        self.check_digits(run(program, MODEL, DIGIT, "200", cwd="/"))

    def test_static_library_has_the_names_of_the_header_alone(self):
        prefix = self.unpacked_tarball()
        with open(prefix + "/include/tg/tg.h") as header:
            declared = set(re.findall(r"^TG_API [^;]*?\b(tg_\w+)\(", header.read(), re.MULTILINE))
        listed = run("nm", "--extern-only", "--defined-only", prefix + "/lib/libtg.a").splitlines()
        defined = {line.split()[2] for line in listed if len(line.split()) == 3}
        self.assertEqual(defined, declared | {"tg_codegen_compile", "tg_codegen_version"})

    def test_an_object_without_a_library(self):
        prefix = self.unpacked_tarball()
        source = shutil.copy(os.path.join(EXAMPLES, "object/linked.c"), self.folder)
        run(prefix + "/bin/tg-opt", "--emit=c99", MODEL, "-o", "digits.c", cwd=self.folder)
        run("cc", "-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", source, "digits.c", "-lm", "-o", "linked",
            cwd=self.folder)
        program = os.path.join(self.folder, "linked")
        self.assertEqual(run(program, "digits.weights", DIGIT, cwd=self.folder), "class 8\n")
        self.assertNotRegex(run("ldd", program), r"tg|absl|stdc\+\+|OpenCL")

    def test_cpp_with_cmake(self):
        prefix = self.unpacked_tarball()
        source = shutil.copytree(os.path.join(EXAMPLES, "cmake"), os.path.join(self.folder, "project"))
        build = os.path.join(self.folder, "build")
        run("cmake", "-S", source, "-B", build, "-DCMAKE_PREFIX_PATH=" + prefix)
        run("cmake", "--build", build)
        program = os.path.join(build, "sizes")
        self.check_libraries(program, prefix)
        self.check_sizes(run(program))
        with self.assertRaisesRegex(AssertionError, "tg-config.cmake, version: 0"):
            text = os.path.join(source, "CMakeLists.txt")
            with open(text) as file:
                wanted = file.read().replace("find_package(tg 0.1", "find_package(tg 1.0")
            with open(text, "w") as file:
                file.write(wanted)
            run("cmake", "-S", source, "-B", build + "2", "-DCMAKE_PREFIX_PATH=" + prefix)

    def test_cpp_with_cmake_and_the_static_library(self):
        prefix = self.unpacked_tarball()
        source = shutil.copytree(os.path.join(EXAMPLES, "cmake"), os.path.join(self.folder, "project"))
        text = os.path.join(source, "CMakeLists.txt")
        with open(text) as file:
            static = file.read().replace("tg::tg)", "tg::tg_static)")
        self.assertIn("tg_static", static)
        with open(text, "w") as file:
            file.write(static)
        build = os.path.join(self.folder, "build")
        run("cmake", "-S", source, "-B", build, "-DCMAKE_PREFIX_PATH=" + prefix)
        run("cmake", "--build", build)
        program = os.path.join(build, "sizes")
        needed = set(re.findall(r"^\s*(lib\S+)", run("ldd", program), re.MULTILINE))
        self.assertLessEqual(needed, {"libc.so.6", "libm.so.6", "libstdc++.so.6", "libgcc_s.so.1"})
        self.check_sizes(run(program))

    def check_sizes(self, said):
        lines = said.split("\n")
        self.assertEqual(lines[:3], ["1.5 ", "1.5 5.5 9.5 ", "1.5 5.5 "])
        self.assertIn("error: ", lines[3])

    def test_python_in_a_venv(self):
        venv = os.path.join(self.folder, "venv")
        # numpy is the system's: nothing is downloaded.
        run("python3", "-m", "venv", "--without-pip", "--system-site-packages", venv)
        python = venv + "/bin/python"
        site = run(python, "-c", "import sysconfig; print(sysconfig.get_paths()['platlib'], end='')")
        wheel_testing.install(wheel_testing.wheel_of(WHEEL), site)
        said = run(python, os.path.join(EXAMPLES, "python/digits.py"), MODEL, DIGIT, "200", cwd=self.folder)
        self.check_digits(said)
        said = run(python, os.path.join(EXAMPLES, "python/chat.py"), GGUF, "5", cwd=self.folder, input="Hello\nAgain\n")
        self.assertEqual(len(said.rstrip("\n").split("\n")), 2, said)

    def test_tools(self):
        for prefix in (self.unpacked_tarball(), self.unpacked_deb()):
            self.assertIn("__kernel", run(prefix + "/bin/tg-opt", "--pass=default", "--emit=opencl", MODEL))
            compiled = os.path.join(self.folder, "digits.tgx")
            run(prefix + "/bin/tg-compile", MODEL, "--device=native", "-o", compiled)
            said = run(prefix + "/bin/tg-run", compiled, "--input", "x=" + DIGIT, "--classify", "logits")
            self.assertIn("class 8", said)

    def test_what_is_in_them(self):
        listed = set(run("tar", "tf", only(TARBALL + "/*.tar.gz")).split())
        for name in ("bin/tg-opt", "bin/tg-run", "bin/tg-compile", "include/tg/tg.h", "lib/libtg.so.1", "lib/libtg.so",
                     "lib/libtg.a", "lib/libtg_codegen.so", "lib/pkgconfig/tg.pc", "lib/cmake/tg/tg-config.cmake",
                     "share/doc/tg/LICENSE", "share/doc/tg/NOTICES"):
            self.assertTrue(any(path.endswith("/" + name) for path in listed), name)
        for path in (only(WHEEL + "/*.whl"), only(TARBALL + "/*.tar.gz"), only(DEB + "/*.deb")):
            size = os.path.getsize(path)
            print("%s: %.1f MB" % (os.path.basename(path), size / 1e6))
            self.assertLess(size, 60e6)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
