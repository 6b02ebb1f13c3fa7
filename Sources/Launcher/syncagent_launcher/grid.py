# SPDX-License-Identifier: Apache-2.0
"""The apps in the grid, and the cells that show them."""
from .names import NOT_INSTALLED, color, explanation, letter
from .toolkit import GObject, Gio, Gtk, Pango

# The side of an icon, in pixels at a scale of 1.
SIDE = 64


class Cell(Gtk.Box):
    """An icon or a letter above a name. `entry` is what it shows, `wanted` the digest of its image and the side it has."""

    def __init__(self):
        super().__init__(orientation=Gtk.Orientation.VERTICAL, spacing=6, css_classes=["app"], has_tooltip=True)
        # It is made when it is looked at: a cell is filled each time it comes into view.
        self.connect("query-tooltip", self.explain)
        self.entry = self.wanted = self.can_start = None
        self.image = Gtk.Image(pixel_size=SIDE, css_classes=["picture"])
        # As large as most icons look: they have a margin of their own.
        self.letter = Gtk.Label(
            width_request=SIDE - 8, height_request=SIDE - 8, halign=Gtk.Align.CENTER, margin_top=4, margin_bottom=4,
            visible=False, accessible_role=Gtk.AccessibleRole.PRESENTATION)
        self.name = Gtk.Label(
            wrap=True, wrap_mode=Pango.WrapMode.WORD_CHAR, lines=2, ellipsize=Pango.EllipsizeMode.END,
            justify=Gtk.Justification.CENTER, yalign=0, width_chars=12, max_width_chars=12, css_classes=["name"])
        for child in (self.image, self.letter, self.name):
            self.append(child)

    def side(self):
        """The side of the icon in pixels of the monitor."""
        return SIDE * self.get_scale_factor()

    def show_entry(self, entry, can_start):
        """Shows the name of an app, and whether it can be started."""
        if entry is self.entry and can_start == self.can_start:
            return
        if self.entry is None or entry.label != self.entry.label:
            self.name.set_label(entry.label)
        if can_start != self.can_start:
            self.set_css_classes(["app", "can-start" if can_start else "cannot-start"])
            self.update_property([Gtk.AccessibleProperty.DESCRIPTION], ["" if can_start else NOT_INSTALLED])
        self.entry, self.can_start = entry, can_start

    def explain(self, _cell, _x, _y, _by_key, tooltip):
        tooltip.set_text(explanation(self.entry, self.can_start))
        return True

    def paint(self, texture):
        """Shows an image."""
        self.letter.set_visible(False)
        self.image.set_visible(True)
        if self.image.get_paintable() != texture:
            self.image.set_from_paintable(texture)

    def clear(self):
        """Shows neither an image nor a letter, until an image was decoded."""
        self.letter.set_visible(False)
        self.image.set_visible(True)
        self.image.clear()

    def paint_letter(self):
        """Shows a letter on a color: there is no image."""
        self.image.set_visible(False)
        self.image.clear()
        self.letter.set_label(letter(self.entry.label))
        self.letter.set_css_classes(["letter", f"color-{color(self.entry.label)}"])
        self.letter.set_visible(True)


class Entries(GObject.Object, Gio.ListModel):
    """The entries in the grid. Its items are only places: there is no object for each of many thousand apps."""

    entries = []

    def do_get_item_type(self):
        return GObject.Object.__gtype__

    def do_get_n_items(self):
        return len(self.entries)

    def do_get_item(self, position):
        return GObject.Object() if position < len(self.entries) else None

    def replace(self, entries):
        """Changes the places from the first app that differs to the last one."""
        old, self.entries = self.entries, entries
        most = min(len(old), len(entries))
        start = next((i for i in range(most) if old[i].identity != entries[i].identity), most)
        most -= start
        end = next((i for i in range(most) if old[-1 - i].identity != entries[-1 - i].identity), most)
        if start + end < max(len(old), len(entries)):
            self.items_changed(start, len(old) - start - end, len(entries) - start - end)
