# SPDX-License-Identifier: Apache-2.0
"""The window, which shows the apps of a cache, searches them, and starts those that are installed."""
from .follower import Follower
from .grid import Cell, Entries
from .names import clean, desktop_files, found
from .pictures import Pictures
from .states import Action, Place, empty_state, nothing_found
from .toolkit import Gdk, Gio, GLib, Gtk, Pango, status_page

# How long the window shows why an app was not started, in seconds.
PATIENCE = 8
# With Shift, it is another one.
TABS = Gdk.KEY_Tab, Gdk.KEY_KP_Tab, Gdk.KEY_ISO_Left_Tab


class Window(Gtk.ApplicationWindow):
    def __init__(self, application, folder, wanted):
        super().__init__(
            application=application, title=clean(wanted or "Apps"), default_width=840, default_height=620)
        self.add_css_class("launcher")
        # What was read last, and the list item of each cell that is in use.
        self.news, self.model, self.cells = None, Entries(), {}
        # By the names of desktop files.
        self.can_start = {}
        self.is_default_folder = folder is None
        self.build()
        self.follower = Follower(folder, wanted, self.take)
        self.pictures = Pictures(lambda image: self.follower.snapshot.open_image(image))
        self.follower.start()

    def build(self):
        self.search = Gtk.SearchEntry(placeholder_text="Search apps", width_chars=12, max_width_chars=36)
        self.search.set_key_capture_widget(self)
        self.search.connect("search-changed", self.find_anew)
        self.search.connect("activate", lambda _: self.start(0))
        header = Gtk.HeaderBar(title_widget=self.search, css_classes=["flat"])
        self.set_titlebar(header)

        factory = Gtk.SignalListItemFactory()
        factory.connect("setup", lambda _, item: item.set_child(Cell()))
        factory.connect("bind", self.fill_cell)
        factory.connect("unbind", self.leave_cell)
        self.selection = Gtk.SingleSelection(model=self.model, autoselect=False, can_unselect=True)
        self.grid = Gtk.GridView(model=self.selection, factory=factory, min_columns=2, max_columns=12)
        self.grid.connect("activate", lambda _, position: self.start(position))
        self.scroll = Gtk.ScrolledWindow(child=self.grid, hscrollbar_policy=Gtk.PolicyType.NEVER)
        self.pages = Gtk.Stack(vexpand=True)
        self.pages.add_named(Gtk.Box(), "nothing")
        self.pages.add_named(self.scroll, "grid")

        self.message = Gtk.Label(wrap=True, wrap_mode=Pango.WrapMode.WORD_CHAR, max_width_chars=60, xalign=0)
        self.dismiss = Gtk.Button(
            icon_name="window-close-symbolic", tooltip_text="Dismiss", valign=Gtk.Align.CENTER,
            css_classes=["flat", "circular"])
        self.dismiss.connect("clicked", lambda _: self.bar.set_reveal_child(False))
        message = Gtk.Box(css_classes=["message"])
        message.append(self.message)
        message.append(self.dismiss)
        self.bar = Gtk.Revealer(
            child=message, halign=Gtk.Align.CENTER, valign=Gtk.Align.END, reveal_child=False,
            transition_type=Gtk.RevealerTransitionType.SLIDE_UP)
        # A revealer that shows nothing would still take the clicks.
        self.bar.bind_property("child-revealed", self.bar, "can-target")
        self.timer = 0
        overlay = Gtk.Overlay(child=self.pages)
        overlay.add_overlay(self.bar)
        self.set_child(overlay)

        keys = Gtk.EventControllerKey(propagation_phase=Gtk.PropagationPhase.CAPTURE)
        keys.connect("key-pressed", self.press)
        self.add_controller(keys)
        # On another monitor, other renditions may fit.
        self.connect("notify::scale-factor", self.find)
        self.installed = Gio.AppInfoMonitor.get()
        self.installed.connect("changed", self.look_for_apps_again)

    # Cells

    def fill_cell(self, _, item):
        cell = item.get_child()
        self.cells[cell] = item
        self.refresh(cell, self.model.entries[item.get_position()])

    def leave_cell(self, _, item):
        self.cells.pop(item.get_child(), None)
        item.get_child().wanted = None

    def refresh(self, cell, entry):
        is_same_app = cell.wanted is not None and cell.entry.identity == entry.identity
        cell.show_entry(entry, self.application_of(entry.app) is not None)
        self.pictures.show(entry.app.image_for(cell.side()), cell, is_same_app)

    # Apps

    def take(self, news):
        """Shows the newest apps. Images that could not be decoded are tried again."""
        self.news = news
        self.pictures.failed.clear()
        self.find()

    def find(self, *_):
        """Shows the apps whose names have the text that is searched."""
        if self.news is None:
            return
        entries = found(self.news.entries, self.search.get_text())
        self.model.replace(entries)
        for cell, item in list(self.cells.items()):
            if item.get_position() < len(entries):
                self.refresh(cell, entries[item.get_position()])
        if entries:
            self.pages.set_visible_child_name("grid")
        else:
            self.show_state(self.state())
        if self.news.entries:
            self.tell(self.news.problem)

    def find_anew(self, *_):
        """Shows what a new text finds, from its beginning. The first app is the one that Enter starts."""
        self.find()
        if self.search.get_text() and not self.is_searching():
            # It was typed while the grid had the keys.
            self.search.get_delegate().grab_focus_without_selecting()
            self.search.set_position(-1)
        self.select_first()
        self.scroll.get_vadjustment().set_value(0)

    def select_first(self):
        """Marks the app that Enter starts in the search, while it has text."""
        has_first = self.search.get_text().strip() and self.model.entries
        self.selection.set_selected(0 if has_first else Gtk.INVALID_LIST_POSITION)

    def state(self):
        if self.news.entries:
            return nothing_found(self.search.get_text())
        place = Place.of(self.news.folder, self.is_default_folder)
        return empty_state(self.news.absence, place, self.follower.wanted, self.news.problem)

    def show_state(self, state):
        if old := self.pages.get_child_by_name("state"):
            if old.state == state:
                return self.pages.set_visible_child_name("state")
            self.pages.remove(old)
        box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=18, halign=Gtk.Align.CENTER)
        if state.action is Action.COPY:
            box.append(Gtk.Label(
                label=state.value, selectable=True, can_focus=False, wrap=True, wrap_mode=Pango.WrapMode.WORD_CHAR,
                css_classes=["command"]))
        button = Gtk.Button(label=state.button, halign=Gtk.Align.CENTER, css_classes=["pill", "suggested-action"])
        button.connect("clicked", lambda _: self.act(state))
        box.append(button)
        page = status_page(state.icon, state.title, state.text, box)
        page.state, page.button = state, button
        self.pages.add_named(page, "state")
        self.pages.set_visible_child_name("state")

    def act(self, state):
        """Does what the button of an empty window says."""
        if state.action is Action.COPY:
            self.get_clipboard().set(state.value)
            self.tell("Copied.", passes=True)
        elif state.action is Action.OPEN:
            folder = Gio.File.new_for_path(state.value)
            if not folder.query_exists():
                return self.tell(f"There is no folder {state.value} yet: start the agent.", passes=True)
            Gtk.show_uri(self, folder.get_uri(), Gdk.CURRENT_TIME)
        elif state.action is Action.SHOW_ALL:
            self.follower.wanted = None
            self.set_title("Apps")
            self.follower.read_again()
        elif state.action is Action.CLEAR:
            self.clear_search()
        elif state.action is Action.READ_AGAIN:
            self.follower.read_again()

    def tell(self, problem, passes=False):
        """Shows a problem below the apps: what could not be read stays until it is read."""
        if self.timer:
            GLib.source_remove(self.timer)
            self.timer = 0
        if problem:
            self.message.set_label(problem)
        self.bar.set_reveal_child(bool(problem))
        if problem and passes:
            self.timer = GLib.timeout_add_seconds(PATIENCE, self.stop_telling)

    def stop_telling(self):
        self.timer = 0
        self.tell(self.news.problem if self.news.entries else "")
        return GLib.SOURCE_REMOVE

    # Keys

    def press(self, _controller, key, _code, modifiers):
        modifiers &= Gtk.accelerator_get_default_mod_mask()
        is_plain = not modifiers
        if modifiers & Gdk.ModifierType.CONTROL_MASK and key == Gdk.KEY_f:
            return self.enter_search()
        if is_plain and key == Gdk.KEY_Escape and self.search.get_text():
            self.clear_search()
            return True
        if is_plain and key in (Gdk.KEY_Down, Gdk.KEY_KP_Down) and self.is_searching():
            return self.enter_grid()
        if is_plain and key in (Gdk.KEY_Up, Gdk.KEY_KP_Up) and self.is_in_first_row():
            return self.enter_search()
        if not modifiers & ~Gdk.ModifierType.SHIFT_MASK and key in TABS and self.is_in_grid():
            return self.leave_grid(is_backward=bool(modifiers))
        return False

    def is_in_grid(self):
        focus = self.get_focus()
        return focus is not None and focus.is_ancestor(self.grid)

    def is_in_first_row(self):
        if not self.is_in_grid():
            return False
        focus = self.get_focus()
        _, bounds = focus.compute_bounds(self.grid)
        return bounds.get_y() + self.scroll.get_vadjustment().get_value() < focus.get_height() / 2

    def is_searching(self):
        focus = self.get_focus()
        return focus is not None and (focus is self.search or focus.is_ancestor(self.search))

    def enter_grid(self):
        """Moves from the search to the first app."""
        if self.pages.get_visible_child_name() == "state":
            self.pages.get_child_by_name("state").button.grab_focus()
        elif self.model.entries:
            self.grid.activate_action("list.scroll-to-item", GLib.Variant("u", 0))
            self.selection.set_selected(0)
            self.grid.grab_focus()
        return True

    def leave_grid(self, is_backward):
        """Moves on from the apps as a whole: GTK would go through each of them."""
        if not is_backward and self.bar.get_reveal_child():
            return self.dismiss.grab_focus()
        return self.enter_search()

    def enter_search(self):
        self.search.grab_focus()
        self.select_first()
        return True

    def clear_search(self):
        self.search.set_text("")
        self.search.grab_focus()

    # Starting

    def application_of(self, app):
        """The application that starts an app; None if it is not installed."""
        for file in desktop_files(app):
            if file not in self.can_start:
                try:
                    self.can_start[file] = Gio.DesktopAppInfo.new(file)
                except (TypeError, ValueError):
                    self.can_start[file] = None
            if self.can_start[file]:
                return self.can_start[file]
        return None

    def look_for_apps_again(self, _):
        self.can_start.clear()
        self.find()

    def start(self, position):
        if position >= len(self.model.entries):
            return
        entry = self.model.entries[position]
        application = self.application_of(entry.app)
        if not application:
            return self.tell(f"Cannot start {entry.label}: no desktop file has its id or its name.", passes=True)
        try:
            application.launch([], self.get_display().get_app_launch_context())
            self.tell("")
        except GLib.Error as error:
            self.tell(f"Cannot start {entry.label}: {error.message}", passes=True)
