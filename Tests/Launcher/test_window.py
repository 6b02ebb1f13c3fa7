# SPDX-License-Identifier: Apache-2.0
"""What the launcher's window shows and does. `test` runs this on a display of its own, with GTK and without libadwaita too."""
import os, pathlib, stat, sys, tempfile, unittest, unittest.mock

if os.environ.get("WITHOUT_ADW"):
    sys.modules["gi.repository.Adw"] = None
PROJECT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(PROJECT / "Sources/Launcher"), str(pathlib.Path(__file__).parent)]
import scenes
from scenes import failed, pending, png, ready
from syncagent_launcher import toolkit
from syncagent_launcher.grid import Cell
from syncagent_launcher.toolkit import Gdk, GLib, Gtk
from syncagent_launcher.window import Window

LIMIT = 20


def until(condition, what):
    """Runs the main loop until something is true."""
    context, late = GLib.MainContext.default(), []
    source = GLib.timeout_add_seconds(LIMIT, lambda: late.append(True))
    while not condition() and not late:
        context.iteration(True)
    if late:
        raise AssertionError(f"It never happens that {what}.")
    GLib.source_remove(source)


class Application(Gtk.Application):
    """One for all tests: GTK can have no second one."""

    application = None

    @classmethod
    def get(cls):
        if not cls.application:
            toolkit.begin(Gdk.Display.get_default())
            cls.application = cls(application_id="org.syncagent.Launcher", flags=toolkit.Gio.ApplicationFlags.NON_UNIQUE)
            cls.application.register()
        return cls.application


class WindowTest(unittest.TestCase):
    def setUp(self):
        work = tempfile.TemporaryDirectory()
        self.addCleanup(work.cleanup)
        self.folder = pathlib.Path(work.name, "cache")
        self.data = pathlib.Path(os.environ["XDG_DATA_HOME"])

    def open(self, wanted=None):
        self.window = Window(Application.get(), str(self.folder), wanted)
        self.window.present()
        self.addCleanup(self.window.destroy)
        until(lambda: self.window.news is not None, "the cache was read")
        return self.window

    def publish(self, *apps, name="apps.plist"):
        """Publishes a list of these apps, whose images are there."""
        if not hasattr(self, "cache"):
            self.cache = scenes.Cache(str(self.folder))
        images = [(png(*app.pop("pixel")), app["icon"]) for app in apps if "pixel" in app]
        self.cache.publish({name: list(apps)}, images)

    def app(self, name, *pixel, **members):
        url = f"https://example.com/{name}.png"
        if not pixel:
            return pending(url, name=name, **members)
        return {**ready(url, png(*pixel), name=name, **members), "pixel": pixel}

    def shown(self):
        return [entry.label for entry in self.window.model.entries]

    def cell(self, name):
        until(lambda: any(cell.entry.label == name for cell in self.window.cells), f"{name} is shown")
        return next(cell for cell in self.window.cells if cell.entry.label == name)

    def state(self):
        page = self.window.pages
        return page.get_child_by_name("state").state if page.get_visible_child_name() == "state" else None

    def click(self):
        """Clicks the button of the empty window."""
        self.window.pages.get_child_by_name("state").button.emit("clicked")

    def press(self, key, modifiers=0):
        return self.window.press(None, key, 0, Gdk.ModifierType(modifiers))

    def search(self, text):
        self.window.search.set_text(text)
        self.window.search.emit("search-changed")


class Icons(WindowTest):
    def test_an_app_has_its_image_or_a_letter(self):
        self.publish(
            self.app("Mail", 200, 30, 30), self.app("Later"), failed("https://example.com/x.png", name="Never"),
            {**ready("https://example.com/b.png", "no image", name="Broken"), "pixel": (1, 2, 3)})
        self.cache.image("no image", "https://example.com/b.png")
        self.open()
        until(lambda: self.cell("Mail").image.get_paintable(), "the image is painted")
        self.assertFalse(self.cell("Mail").letter.get_visible())
        for name, letter in (("Later", "L"), ("Never", "N"), ("Broken", "B")):
            with self.subTest(name):
                until(self.cell(name).letter.get_visible, "a letter is shown")
                self.assertEqual(self.cell(name).letter.get_label(), letter)
                self.assertFalse(self.cell(name).image.get_visible())

    def test_an_image_takes_the_place_of_a_letter_when_it_comes(self):
        self.publish(self.app("Mail"))
        self.open()
        until(self.cell("Mail").letter.get_visible, "a letter is shown")
        self.publish(self.app("Mail", 10, 20, 30))
        until(lambda: self.cell("Mail").image.get_visible() and self.cell("Mail").image.get_paintable(), "it has an image")
        self.assertFalse(self.cell("Mail").letter.get_visible())

    def test_names_have_two_lines_and_rows_one_height(self):
        self.publish(self.app("A"), self.app("A very long name of an app that has more than two lines of text"))
        self.open()
        short, long = self.cell("A"), self.cell("A very long name of an app that has more than two lines of text")
        until(lambda: long.name.get_height() > 0, "it has a size")
        self.assertEqual(long.name.get_layout().get_line_count(), 2)
        self.assertTrue(long.name.get_layout().is_ellipsized())
        natural = [cell.measure(Gtk.Orientation.VERTICAL, 140).natural for cell in (short, long)]
        self.assertLessEqual(abs(natural[0] - natural[1]), 1)


class Starting(WindowTest):
    def desktop_file(self, name, command):
        folder = self.data / "applications"
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / f"{name}.desktop"
        file.write_text(f"[Desktop Entry]\nType=Application\nName={name}\nExec={command}\n")
        self.addCleanup(file.unlink)

    def test_an_app_that_can_start_looks_different(self):
        self.publish(self.app("Here", id="com.example.here"), self.app("Elsewhere"))
        self.desktop_file("com.example.here", "true")
        self.open()
        self.assertTrue(self.cell("Here").has_css_class("can-start"))
        self.assertTrue(self.cell("Elsewhere").has_css_class("cannot-start"))
        tooltip = unittest.mock.Mock()
        self.cell("Elsewhere").explain(None, 0, 0, False, tooltip)
        self.assertIn("not installed", tooltip.set_text.call_args[0][0])
        self.desktop_file("Elsewhere", "true")
        until(lambda: self.cell("Elsewhere").has_css_class("can-start"), "it is noticed that an app was installed")

    def test_enter_starts_the_first_app_that_was_found(self):
        mark = self.data / "started"
        program = self.data / "program"
        self.data.mkdir(exist_ok=True)
        program.write_text(f"#!/bin/sh\necho >{mark}\n")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        self.desktop_file("Mail", program)
        self.publish(self.app("Gmail"), self.app("Mail"))
        self.open()
        self.search("mail")
        self.assertEqual(self.window.selection.get_selected(), 0)
        GLib.timeout_add(50, lambda: not mark.exists())
        self.window.search.emit("activate")
        until(mark.exists, "the app was started")
        self.assertFalse(self.window.bar.get_reveal_child())

    def test_one_that_is_not_installed_is_told(self):
        self.publish(self.app("Mail"))
        self.open()
        self.window.start(0)
        self.assertTrue(self.window.bar.get_reveal_child())
        self.assertEqual(
            self.window.message.get_label(), "Cannot start Mail: no desktop file has its id or its name.")
        self.window.stop_telling()
        self.assertFalse(self.window.bar.get_reveal_child())
        self.window.timer = 0


class Keys(WindowTest):
    def test_down_goes_from_the_search_to_the_first_app(self):
        self.publish(*map(self.app, ("Mail", "Maps", "Gmail")))
        self.open()
        self.cell("Gmail")
        self.window.search.grab_focus()
        self.assertTrue(self.press(Gdk.KEY_Down))
        self.assertFalse(self.window.is_searching())
        self.assertEqual(self.window.selection.get_selected(), 0)
        self.assertTrue(self.window.get_focus().is_ancestor(self.window.grid))
        # From there, it is a key of the grid.
        self.assertFalse(self.press(Gdk.KEY_Down))

    def test_up_goes_from_the_first_row_to_the_search(self):
        self.publish(*(self.app(f"App {number}") for number in range(60)))
        self.open()
        self.cell("App 0")
        until(lambda: self.cell("App 0").get_height() > 0, "it has a size")
        self.press(Gdk.KEY_Down)
        self.window.grid.activate_action("list.select-item", GLib.Variant("(ubb)", (40, False, False)))
        self.cell("App 40").get_parent().grab_focus()
        self.assertFalse(self.press(Gdk.KEY_Up))
        self.assertFalse(self.window.is_searching())
        self.cell("App 1").get_parent().grab_focus()
        self.assertTrue(self.press(Gdk.KEY_Up))
        self.assertTrue(self.window.is_searching())

    def test_what_is_typed_in_the_grid_is_searched(self):
        self.publish(*map(self.app, ("Mail", "Maps", "Gmail")))
        self.open()
        self.cell("Mail")
        self.press(Gdk.KEY_Down)
        self.search("ma")
        self.assertTrue(self.window.is_searching())
        self.assertEqual((self.window.search.get_position(), self.window.search.get_selection_bounds()), (2, ()))

    def test_escape_clears_the_search_and_leaves_the_window_open(self):
        self.publish(*map(self.app, ("Mail", "Maps", "Gmail")))
        self.open()
        self.search("mail")
        self.assertEqual(self.shown(), ["Mail", "Gmail"])
        self.press(Gdk.KEY_Down)
        self.assertTrue(self.press(Gdk.KEY_Escape))
        until(lambda: self.shown() == ["Mail", "Maps", "Gmail"], "all apps are shown")
        self.assertTrue(self.window.is_searching())
        self.assertFalse(self.press(Gdk.KEY_Escape))
        self.assertTrue(self.window.get_mapped())

    def test_control_f_goes_to_the_search(self):
        self.publish(self.app("Mail"))
        self.open()
        self.cell("Mail")
        self.press(Gdk.KEY_Down)
        self.assertTrue(self.press(Gdk.KEY_f, Gdk.ModifierType.CONTROL_MASK))
        self.assertTrue(self.window.is_searching())

    def test_tab_goes_on_from_all_apps_at_once(self):
        self.publish(*map(self.app, ("Mail", "Maps", "Gmail")))
        self.open()
        self.cell("Gmail")
        for is_told, key, modifiers in (
            (False, Gdk.KEY_Tab, 0), (False, Gdk.KEY_ISO_Left_Tab, Gdk.ModifierType.SHIFT_MASK), (True, Gdk.KEY_Tab, 0),
        ):
            with self.subTest(is_told=is_told, key=key):
                self.window.tell("A problem." if is_told else "")
                until(lambda: self.window.bar.get_child_revealed() == is_told, "what is told is shown")
                self.window.search.grab_focus()
                # From the search it is GTK's.
                self.assertFalse(self.press(key, modifiers))
                self.press(Gdk.KEY_Down)
                self.assertTrue(self.press(key, modifiers))
                if is_told:
                    self.assertEqual(self.window.get_focus(), self.window.dismiss)
                else:
                    self.assertTrue(self.window.is_searching())

    def test_down_goes_to_the_button_of_an_empty_window(self):
        self.open()
        self.window.search.grab_focus()
        self.press(Gdk.KEY_Down)
        self.assertEqual(self.window.get_focus(), self.window.pages.get_child_by_name("state").button)


class EmptyWindows(WindowTest):
    def test_without_a_cache_the_command_is_copied_that_starts_the_agent(self):
        self.open()
        self.assertEqual(self.state().title, "No Icons Yet")
        self.click()
        copied = []
        self.window.get_clipboard().read_text_async(
            None, lambda clipboard, result: copied.append(clipboard.read_text_finish(result)))
        until(lambda: copied, "the clipboard was read")
        self.assertEqual(copied, [f"syncagent run --cache={self.folder}"])
        # It is noticed when the agent publishes.
        self.publish(self.app("Mail"))
        until(lambda: self.shown() == ["Mail"], "the app is shown")
        self.assertIsNone(self.state())

    def test_without_apps_it_is_said_where_lists_go(self):
        scenes.Cache(str(self.folder)).publish({})
        self.open()
        self.assertEqual(self.state().title, "No Apps Yet")

    def test_all_apps_are_shown_in_place_of_a_list_that_is_not_there(self):
        self.publish(self.app("Mail"))
        self.open("games.plist")
        self.assertEqual(self.state().title, "No Such List")
        self.click()
        until(lambda: self.shown() == ["Mail"], "all apps are shown")
        self.assertEqual(self.window.get_title(), "Apps")

    def test_a_search_that_finds_nothing_is_cleared(self):
        self.publish(self.app("Mail"))
        self.open()
        self.search("x <b>")
        self.assertEqual(self.state().title, "No Results Found")
        self.search("xy")
        self.assertIn("xy", self.state().text)
        self.click()
        until(lambda: self.shown() == ["Mail"], "all apps are shown")

    def test_what_cannot_be_read_is_read_again(self):
        self.publish(self.app("Mail"))
        manifest = self.folder / "manifest.json"
        good = manifest.read_bytes()
        manifest.write_text("{")
        self.open()
        self.assertEqual((self.state().title, self.shown()), ("Cannot Read the Icons", []))
        manifest.write_bytes(good)
        self.click()
        until(lambda: self.shown() == ["Mail"], "the app is shown")
        # Apps that are shown stay, and what failed stands below them.
        manifest.write_text("{")
        until(self.window.bar.get_reveal_child, "the problem is told")
        self.assertEqual(self.shown(), ["Mail"])


class Styles(WindowTest):
    def test_it_has_its_own_icon(self):
        icons = Gtk.IconTheme.get_for_display(Application.get() and Gdk.Display.get_default())
        for name in ("org.syncagent.Launcher", "org.syncagent.Launcher-symbolic"):
            self.assertTrue(icons.has_icon(name))

    def test_it_follows_the_preference_for_dark_styles(self):
        self.publish(self.app("Mail"))
        self.open()
        name = self.cell("Mail").name
        lightness = lambda: name.get_style_context().get_color().red
        light = lightness()
        if toolkit.Adw:
            manager = toolkit.Adw.StyleManager.get_default()
            self.assertEqual(manager.get_color_scheme(), toolkit.Adw.ColorScheme.DEFAULT)
            manager.set_color_scheme(toolkit.Adw.ColorScheme.FORCE_DARK)
            self.addCleanup(manager.set_color_scheme, toolkit.Adw.ColorScheme.DEFAULT)
        else:
            for values in ((*toolkit.PREFERENCE, toolkit.PREFERS_DARK), ("org.gnome.desktop.interface", "color-scheme", 0)):
                toolkit.changed("SettingChanged", values)
            self.addCleanup(toolkit.prefer, 0)
        until(lambda: lightness() > 0.9, "names are light")
        self.assertLess(light, 0.3)

    def test_cells_are_used_again(self):
        self.publish(*(self.app(f"App {number}") for number in range(1000)))
        self.open()
        self.cell("App 0")
        adjustment = self.window.scroll.get_vadjustment()
        until(lambda: adjustment.get_upper() > 2000, "it can be scrolled")
        adjustment.set_value(adjustment.get_upper())
        self.cell("App 999")
        self.assertLess(len(self.window.cells), 400)
        self.assertIsInstance(next(iter(self.window.cells)), Cell)


if __name__ == "__main__":
    unittest.main()
