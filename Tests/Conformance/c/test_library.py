# SPDX-License-Identifier: Apache-2.0
"""The header, the manual pages and the examples of libiconcache, as Packaging/libiconcache installs them."""
import contextlib, glob, os, re, shlex, shutil, subprocess, sys, tempfile, unittest

HERE = os.path.dirname(os.path.abspath(__file__))
PROJECT = os.path.join(HERE, "../../..")
sys.path.insert(0, os.path.dirname(HERE))

from cache import Cache, failed, pending, ready, url_path

CC = os.environ.get("CC", "cc")
WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Werror")
MAIL, MAPS, GONE = (f"https://example.com/{name}.png" for name in ("mail", "maps", "gone"))


def execute(*command, **options):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120, **options)


def read(path):
    with open(path) as file:
        return file.read()


def setUpModule():
    global WORK, ROOT, LIBRARIES
    WORK = tempfile.mkdtemp()
    unittest.addModuleCleanup(shutil.rmtree, WORK)
    ROOT = os.path.join(WORK, "root/usr")
    subprocess.run([os.path.join(PROJECT, "Packaging/libiconcache"), os.path.dirname(ROOT)], check=True)
    [library] = glob.glob(f"{ROOT}/lib/**/libiconcache.a", recursive=True)
    LIBRARIES = os.path.dirname(library)


class LibraryTest(unittest.TestCase):
    def expect(self, run, output="", code=0, messages=""):
        self.assertEqual((run.returncode, run.stdout, run.stderr), (code, output, messages))

    def compile(self, source, *flags, compiler=CC, name="source.c"):
        """Compiles a text, and links it with the static library unless there is `-c`."""
        path = os.path.join(WORK, name)
        with open(path, "w") as file:
            file.write(source)
        library = [] if "-c" in flags else [f"{LIBRARIES}/libiconcache.a"]
        program = os.path.join(WORK, "program")
        self.expect(execute(compiler, *WARNINGS, *flags, f"-I{ROOT}/include", path, *library, "-o", program))
        return program


class HeaderTest(LibraryTest):
    def test_the_header_and_the_library_have_the_version_of_the_package(self):
        version = re.match(r"\w+ \(([0-9.]+)", read(f"{PROJECT}/Packaging/debian/changelog"))[1]
        program = self.compile("""
            #include <iconcache.h>
            #include <stdio.h>
            #if ICONCACHE_VERSION < 10000 || ICONCACHE_VERSION >= 1000000
            #error "not a version"
            #endif
            int main(void)
            {
                printf("%d.%d.%d", ICONCACHE_VERSION_MAJOR, ICONCACHE_VERSION_MINOR, ICONCACHE_VERSION_PATCH);
                return iconcache_version() == ICONCACHE_VERSION ? 0 : 1;
            }""", "-std=c11")
        self.expect(execute(program), version)

    def test_programs_in_c_of_1999_and_in_c_plus_plus_include_the_header(self):
        source = "#include <iconcache.h>\nint main() { return iconcache_version() == 0; }\n"
        self.compile(source.replace("main()", "main(void)"), "-std=c99")
        if not shutil.which("c++"):
            self.skipTest("c++ is not installed")
        self.compile(source, compiler="c++", name="source.cc")


def prototypes_of_header():
    found = re.findall(
        r"^ICONCACHE_API ([^;]*?)\b(iconcache_\w+)\(([^)]*)\);", read(f"{ROOT}/include/iconcache.h"), re.MULTILINE)
    return {name: (result.strip(), " ".join(parameters.split())) for result, name, parameters in found}


def prototypes_of_page(text):
    """What a manual page has in its synopsis: of each function the type of its result, and its parameters."""
    result, name, parameters, found = "", "", [], {}
    for line in text.partition(".Sh SYNOPSIS\n")[2].partition(".Sh ")[0].split("\n"):
        macro, *words = shlex.split(line) or [""]
        if macro == ".Ft":
            result = " ".join(words)
        elif macro == ".Fo":
            name, parameters = words[0], []
        elif macro == ".Fa":
            parameters += words
        elif macro == ".Fn":
            found[words[0]] = (result, ", ".join(words[1:]))
        elif macro == ".Fc":
            found[name] = (result, ", ".join(parameters))
    return found


class ManualPageTest(LibraryTest):
    def pages(self):
        """The text of each page that is no link, by its name."""
        for path in sorted(glob.glob(f"{ROOT}/share/man/man3/*.3")):
            if not os.path.islink(path):
                with self.subTest(os.path.basename(path)):
                    yield os.path.basename(path).removesuffix(".3"), read(path)

    def test_each_function_has_a_page_with_its_prototype(self):
        header = prototypes_of_header()
        self.assertGreater(len(header), 25)
        for name, prototype in header.items():
            with self.subTest(name):
                page = read(f"{ROOT}/share/man/man3/{name}.3")
                self.assertEqual(prototypes_of_page(page)[name], prototype)
                self.assertRegex(page.partition(".Sh SYNOPSIS")[0], rf"\.Nm {name}\b")
        self.assertEqual(prototypes_of_page(read(f"{ROOT}/share/man/man3/iconcache.3")), header)

    def test_pages_have_no_function_twice_and_no_other(self):
        seen = []
        for name, text in self.pages():
            if name != "iconcache":
                seen += prototypes_of_page(text)
        self.assertEqual(sorted(seen), sorted(prototypes_of_header()))

    def test_pages_refer_to_pages_that_are_there(self):
        pages = {name.removesuffix(".3") for name in os.listdir(f"{ROOT}/share/man/man3")}
        for _, text in self.pages():
            self.assertEqual(set(re.findall(r"Xr (iconcache\w*) 3", text)) - pages, set())
            for path in re.findall(r"/usr/share/doc/\S+/examples/\S+", text):
                self.assertTrue(os.path.exists(ROOT + path.removeprefix("/usr")), path)

    def test_checkers_of_manual_pages_find_no_fault(self):
        checkers = [("mandoc", "-T", "lint", "-W", "warning"), ("groff", "-mdoc", "-Tutf8", "-ww", "-P-cbou", "-z")]
        found = [checker for checker in checkers if shutil.which(checker[0])]
        for _, text in self.pages():
            for checker in found:
                self.expect(execute(*checker, input=text))
        if len(found) < len(checkers):
            self.skipTest("mandoc or groff is not installed")

    def test_examples_in_pages_compile(self):
        count = 0
        for _, text in self.pages():
            for block in re.findall(r"\.Bd -literal -offset indent\n(#include.*?)\.Ed", text, re.DOTALL):
                source = block.replace("\\e", "\\")
                if "{\n" not in source:
                    # Statements of a function.
                    includes, _, rest = source.partition("\n\n")
                    source = f"{includes}\nint function(void);\nint function(void)\n{{\n{rest}return 0;\n}}\n"
                self.compile(source, "-c", "-std=c11", "-D_GNU_SOURCE")
                count += 1
        self.assertGreater(count, 6)


class ExamplesTest(LibraryTest):
    """The programs that the package has, built by their Makefile."""

    @classmethod
    def setUpClass(cls):
        for tool in ("make", "pkg-config"):
            if not shutil.which(tool):
                raise unittest.SkipTest(f"{tool} is not installed")
        cls.programs = os.path.join(WORK, "examples")
        shutil.copytree(f"{ROOT}/share/doc/libiconcache-dev/examples", cls.programs)
        environment = dict(os.environ, PKG_CONFIG_PATH=f"{LIBRARIES}/pkgconfig")
        cls.build = execute("make", f"CC={CC} -Werror", "-C", cls.programs, env=environment)
        cls.home = os.path.join(WORK, "home")
        os.makedirs(f"{cls.home}/syncagent")
        cls.environment = dict(os.environ, XDG_CACHE_HOME=cls.home, LD_LIBRARY_PATH=LIBRARIES)
        cache = Cache(f"{cls.home}/syncagent")
        cache.publish(
            {"b.plist": [ready(MAIL, "mail", name="Mail")],
             "a.plist": [failed(GONE, name="Mail"), pending(MAPS, name="Maps")]}, [("mail", MAIL)])
        cls.image = next(path for path in glob.glob(f"{cls.home}/syncagent/icons/*/*"))
        cls.link = f"{cls.home}/syncagent/{url_path(MAIL)}"

    def run_example(self, name, *arguments):
        return execute(f"{self.programs}/{name}", *arguments, env=self.environment)

    def test_examples_compile_without_warnings(self):
        self.assertEqual((self.build.returncode, self.build.stderr), (0, ""))
        for name in os.listdir(self.programs):
            if name.endswith(".c"):
                self.compile(read(f"{self.programs}/{name}"), "-std=c11")

    def test_icon_path_prints_a_path_or_why_there_is_none(self):
        self.expect(self.run_example("icon-path", MAIL), self.link + "\n")
        self.expect(self.run_example("icon-path", MAIL, "64"), self.link + "\n")
        self.expect(self.run_example("icon-path", MAPS), "", 1, f"{MAPS} has not been downloaded yet.\n")
        self.expect(self.run_example("icon-path", GONE), "", 1, f"{GONE} could not be downloaded (http-404).\n")
        self.expect(
            self.run_example("icon-path", "https://example.com/"), "", 1,
            f"No app list in {self.home}/syncagent names https://example.com/: spell the URL exactly as in the list.\n")

    def test_list_apps_prints_the_entries_of_all_lists(self):
        self.expect(
            self.run_example("list-apps"),
            f"a.plist\t{GONE}\t\na.plist\t{MAPS}\t\nb.plist\t{MAIL}\t{self.image}\n")

    def test_find_app_prints_the_entries_of_a_name(self):
        self.expect(
            self.run_example("find-app", "Mail"), f"ready\t{MAIL}\t{self.image}\nfailed\t{GONE}\thttp-404\n")
        self.expect(self.run_example("find-app", "Maps"), f"pending\t{MAPS}\t\n")
        self.expect(
            self.run_example("find-app", "M"), "", 1,
            f"No app list in {self.home}/syncagent has an app named “M”.\n")

    def test_watch_changes_prints_changes(self):
        watch = subprocess.Popen([f"{self.programs}/watch-changes"], stdout=subprocess.PIPE, env=self.environment)
        with contextlib.closing(watch.stdout):
            found = [watch.stdout.readline().decode() for _ in range(3)]
            watch.kill()
            watch.wait()
        self.assertEqual(found, ["list\ta.plist\n", "list\tb.plist\n", f"icon\t{MAIL}\t{self.image}\n"])


if __name__ == "__main__":
    unittest.main()
