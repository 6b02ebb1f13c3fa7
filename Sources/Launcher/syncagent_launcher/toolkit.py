# SPDX-License-Identifier: Apache-2.0
"""GTK 4, and libadwaita if it is installed: without it, the window has the style of GTK."""
import pathlib

import gi

gi.require_versions({"Gdk": "4.0", "Gtk": "4.0"})
from gi.repository import Gdk, GdkPixbuf, Gio, GLib, GObject, Gtk, Pango  # noqa: E402, F401

try:
    gi.require_version("Adw", "1")
    from gi.repository import Adw
except (ImportError, ValueError):
    Adw = None

APPLICATION = "org.syncagent.Launcher"
PORTAL = "org.freedesktop.portal.Desktop", "/org/freedesktop/portal/desktop", "org.freedesktop.portal.Settings"
PREFERENCE = "org.freedesktop.appearance", "color-scheme"
PREFERS_DARK = 1


def begin(display):
    """Loads the styles, and has them follow the preference for dark ones."""
    if Adw:
        Adw.init()
    else:
        # It is answered later: a session without a portal does not hold the window up.
        Gio.DBusProxy.new_for_bus(
            Gio.BusType.SESSION, Gio.DBusProxyFlags.DO_NOT_AUTO_START_AT_CONSTRUCTION, None, *PORTAL, None, ask)
    Gtk.Window.set_default_icon_name(APPLICATION)
    here = pathlib.Path(__file__).parent
    # Where they are without a package.
    Gtk.IconTheme.get_for_display(display).add_search_path(str(here.parent / "data/icons"))
    style = Gtk.CssProvider()
    style.load_from_path(str(here / "style.css"))
    Gtk.StyleContext.add_provider_for_display(display, style, Gtk.STYLE_PROVIDER_PRIORITY_APPLICATION)


def ask(_, result):
    """Asks the portal for the preference, and listens for changes of it."""
    global portal
    try:
        # It must live as long as its signals count.
        portal = Gio.DBusProxy.new_for_bus_finish(result)
    except GLib.Error:
        return
    portal.connect("g-signal", lambda _proxy, _sender, name, values: changed(name, values.unpack()))
    portal.call("Read", GLib.Variant("(ss)", PREFERENCE), Gio.DBusCallFlags.NONE, 5000, None, answered)


def answered(proxy, result):
    try:
        prefer(*proxy.call_finish(result).unpack())
    except GLib.Error:
        pass


def changed(name, values):
    if name == "SettingChanged" and values[:2] == PREFERENCE:
        prefer(values[2])


def prefer(scheme):
    Gtk.Settings.get_default().props.gtk_application_prefer_dark_theme = scheme == PREFERS_DARK


def status_page(icon, title, text, child):
    """A page that fills the window: Adw.StatusPage or its like."""
    if Adw:
        return Adw.StatusPage(
            icon_name=icon, title=GLib.markup_escape_text(title), description=GLib.markup_escape_text(text), child=child)
    page = Gtk.Box(
        orientation=Gtk.Orientation.VERTICAL, spacing=12, valign=Gtk.Align.CENTER, halign=Gtk.Align.CENTER,
        css_classes=["status"], accessible_role=Gtk.AccessibleRole.GROUP)
    page.append(Gtk.Image(icon_name=icon, pixel_size=128, css_classes=["dim"]))
    for line, style in ((title, "title"), (text, "text")):
        page.append(Gtk.Label(
            label=line, wrap=True, wrap_mode=Pango.WrapMode.WORD_CHAR, max_width_chars=50,
            justify=Gtk.Justification.CENTER, css_classes=[style]))
    child.set_margin_top(24)
    page.append(child)
    return page
