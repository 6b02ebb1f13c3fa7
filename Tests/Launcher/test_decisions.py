# SPDX-License-Identifier: Apache-2.0
"""What the launcher decides, without a display: the order of results, placeholders, empty windows."""
import pathlib, sys, types, unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "Sources/Launcher"))
from syncagent_launcher import names, states
from syncagent_launcher.states import Absence, Action, Place


def app(name=None, icon="https://example.com/a.png", **members):
    return types.SimpleNamespace(**{"name": name, "icon": icon, "id": None, "status": "ready", "error": None, **members})


def entries(*labels):
    return [names.Entry(app(label)) for label in labels]


class Search(unittest.TestCase):
    def test_beginnings_of_names_come_first_then_those_of_words_then_the_rest(self):
        table = [
            # what is searched, the names in their order, what is found
            ("ma", ["Gmail", "Google Maps", "Mail"], ["Mail", "Google Maps", "Gmail"]),
            ("ma", ["Maps", "Mail"], ["Maps", "Mail"]),
            ("", ["B", "A"], ["B", "A"]),
            ("  ", ["B", "A"], ["B", "A"]),
            ("x", ["Mail"], []),
            ("MAIL", ["mail"], ["mail"]),
            (" mail ", ["Mail"], ["Mail"]),
            ("office", ["Suboffice", "LibreOffice", "Office"], ["Office", "LibreOffice", "Suboffice"]),
            ("365", ["1365", "Office365", "Office 365"], ["Office365", "Office 365", "1365"]),
            ("tube", ["Youtube", "YouTube"], ["YouTube", "Youtube"]),
            ("maps go", ["Google Maps", "Maps Go"], ["Maps Go", "Google Maps"]),
            ("google  maps", ["Google Maps"], ["Google Maps"]),
            ("maps x", ["Google Maps"], []),
            ("cafe", ["Le Café", "Café"], ["Café", "Le Café"]),
            ("ÉTÉ", ["ete"], ["ete"]),
            ("strasse", ["Die Straße", "Straße"], ["Straße", "Die Straße"]),
            ("plan", ["Straßenplan", "ßß Plan"], ["ßß Plan", "Straßenplan"]),
            ("(my", ["(My) App"], ["(My) App"]),
            ("my", ["Enemy", "(My) App", "foo_my"], ["(My) App", "foo_my", "Enemy"]),
            ("почта", ["Моя Почта", "Почта"], ["Почта", "Моя Почта"]),
            ("信", ["微信", "信息"], ["信息", "微信"]),
        ]
        for text, given, expected in table:
            with self.subTest(text, given=given):
                self.assertEqual([entry.label for entry in names.found(entries(*given), text)], expected)

    def test_a_place_is_the_best_one(self):
        table = [("mail", names.BEGINNING), ("box", names.BEGINNING_OF_WORD), ("ai", names.ELSEWHERE), ("z", None)]
        [entry] = entries("Mail Box Mail")
        for text, expected in table:
            with self.subTest(text):
                self.assertEqual(names.match(entry, text), expected)

    def test_many_long_names_are_searched_quickly(self):
        [entry] = entries("a " * 100_000)
        self.assertLessEqual(len(entry.words), 100)


class Labels(unittest.TestCase):
    def test_an_app_without_a_name_has_that_of_its_icon(self):
        table = [
            (app("Mail"), "Mail"),
            (app(" Mail\n\x07App "), "Mail App"),
            (app("x" * 300), "x" * 199 + "…"),
            (app(icon="https://user@cdn.example.com/icons/a.png?x=1"), "a.png (cdn.example.com)"),
            (app("\x00", icon="https://cdn.example.com/"), "cdn.example.com"),
            (app(icon="data:image/png;base64,AAAA"), "data: image"),
            (app(icon="DATA:,AAAA"), "data: image"),
            (app(icon="https://user:p@SECRET@host/x.png"), "x.png (host)"),
            (app(icon="https://user:pa/SECRET@host/x.png"), "…"),
            (app(icon="https://user\\SECRET@host/x.png"), "…"),
            (app(icon="https://user:SEC?RET@host/x.png"), "…"),
            (app(icon="user:SECRET@host/x.png"), "…"),
            (app(icon="https://a.example:٣/@x"), "…"),
            (app(icon="https://a.example:8443/@b/c@1.2.3/d.svg?x@y"), "d.svg (a.example:8443)"),
            (app(icon="http://[::1]/@x"), "@x ([::1])"),
        ]
        for given, expected in table:
            with self.subTest(given.icon or expected):
                self.assertEqual(names.label(given), expected)

    def test_numbers_are_sorted_by_value(self):
        self.assertEqual(sorted(["app 10", "App 2", "App 02", "app"], key=names.natural), ["app", "App 02", "App 2", "app 10"])


class Placeholders(unittest.TestCase):
    def test_the_letter_is_the_first_of_the_name(self):
        table = [
            ("mail", "M"), ("Élan", "É"), ("E\u0301lan", "É"), ("(2) Things", "2"), ("1Password", "1"), ("ßtraße", "S"),
            ("微信", "微"), ("почта", "П"), ("✨ Sparkle", "S"), ("…", ""), ("", ""),
        ]
        for name, expected in table:
            with self.subTest(name):
                self.assertEqual(names.letter(name), expected)

    def test_the_color_of_a_name_never_changes(self):
        table = [("Mail", 8), ("MAIL", 8), ("Maps", 5), ("Café", 6), ("Cafe", 6), ("", 0), ("\ud800", 0)]
        for name, expected in table:
            with self.subTest(name):
                self.assertEqual(names.color(name), expected)

    def test_all_colors_are_used_and_have_a_style(self):
        self.assertEqual({names.color(f"App {number}") for number in range(300)}, set(range(names.COLORS)))
        style = pathlib.Path(names.__file__).with_name("style.css").read_text()
        for number in range(names.COLORS):
            self.assertIn(f".color-{number} {{", style)


class Starting(unittest.TestCase):
    def test_the_desktop_file_has_the_id_or_the_name(self):
        table = [
            (app("Mail", id="org.example.Mail"), ["org.example.Mail.desktop", "Mail.desktop"]),
            (app("Mail"), ["Mail.desktop"]),
            (app(id="org.example.Mail"), ["org.example.Mail.desktop"]),
            (app("../Mail", id="/tmp/Mail"), []),
            (app("Ma\0il", id=""), []),
        ]
        for given, expected in table:
            with self.subTest(expected):
                self.assertEqual(names.desktop_files(given), expected)

    def test_the_tooltip_says_what_is_missing(self):
        missing = "It is not installed: no desktop file has its id or name."
        table = [
            (app("Mail"), True, "Mail"),
            (app("Mail"), False, f"Mail\n{missing}"),
            (app("Mail", status="pending"), True, "Mail\nIts icon has not been downloaded yet."),
            (app("Mail", status="failed", error="http-404"), False,
             f"Mail\nIts icon could not be downloaded (http-404).\n{missing}"),
        ]
        for given, can_start, expected in table:
            with self.subTest(expected):
                self.assertEqual(names.explanation(names.Entry(given), can_start), expected)


class EmptyWindows(unittest.TestCase):
    own, system, other = Place("/home/u/.cache/syncagent", True), Place(states.SYSTEM_CACHE), Place("/srv/my icons")
    environment = {"HOME": "/home/u"}

    def test_each_has_a_button_that_helps(self):
        table = [
            (Absence.NO_CACHE, self.own, "No Icons Yet", Action.COPY, "systemctl --user enable --now syncagent"),
            (Absence.NO_CACHE, self.system, "No Icons Yet", Action.COPY, "sudo systemctl enable --now syncagent"),
            (Absence.NO_CACHE, self.other, "No Icons Yet", Action.COPY, "syncagent run --cache='/srv/my icons'"),
            (Absence.NO_APPS, self.own, "No Apps Yet", Action.OPEN, "/home/u/.config/syncagent/lists.d"),
            (Absence.NO_APPS, self.system, "No Apps Yet", Action.OPEN, "/etc/syncagent/lists.d"),
            (Absence.NO_APPS, self.other, "No Apps Yet", Action.COPY, "syncagent config"),
            (Absence.NO_LIST, self.own, "No Such List", Action.SHOW_ALL, ""),
            (Absence.UNREADABLE, self.own, "Cannot Read the Icons", Action.READ_AGAIN, ""),
        ]
        for absence, place, title, action, value in table:
            with self.subTest(absence, place=place):
                state = states.empty_state(absence, place, "a.plist", "Cannot read it.", self.environment)
                self.assertEqual((state.title, state.action, state.value), (title, action, value))
                self.assertTrue(state.button and state.text and state.icon)

    def test_it_says_what_is_missing(self):
        list_state = states.empty_state(Absence.NO_LIST, self.other, "a\n.plist")
        self.assertEqual(list_state.text, "There is no list a .plist in /srv/my icons.")
        self.assertEqual(states.empty_state(Absence.UNREADABLE, self.own, problem="Denied.").text, "Denied.")
        self.assertEqual(states.nothing_found("x" * 300).text, f"No app has a name with “{'x' * 39}…”.")

    def test_the_place_is_that_of_the_folder(self):
        table = [
            (states.SYSTEM_CACHE, True, False, True), (states.SYSTEM_CACHE, False, False, True),
            ("/home/u/.cache/syncagent", True, True, False), ("/home/u/.cache/syncagent", False, False, False),
        ]
        for folder, is_default, is_own, is_system in table:
            with self.subTest(folder, is_default=is_default):
                place = Place.of(folder, is_default)
                self.assertEqual((place.is_own, place.is_system), (is_own, is_system))

    def test_the_lists_folder_follows_the_environment(self):
        table = [
            ({"HOME": "/home/u", "XDG_CONFIG_HOME": "/conf"}, "/conf/syncagent/lists.d"),
            ({"HOME": "/home/u", "XDG_CONFIG_HOME": "relative"}, "/home/u/.config/syncagent/lists.d"),
        ]
        for environment, expected in table:
            with self.subTest(environment):
                self.assertEqual(self.own.lists(environment), expected)

    def test_a_home_is_written_as_a_tilde(self):
        table = [("/home/u/x", "/home/u", "~/x"), ("/home/user", "/home/u", "/home/user"), ("/x", "/", "/x")]
        for path, home, expected in table:
            with self.subTest(path):
                self.assertEqual(states.shown(path, home), expected)


if __name__ == "__main__":
    unittest.main()
