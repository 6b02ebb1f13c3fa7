#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# CFPropertyList 2.2.8 (Debian 12: ruby-cfpropertylist 2.2.8-1.2) with REXML 3.2.5 of Ruby 3.1,
# the XML library that it takes where neither libxml-ruby nor Nokogiri is installed.
# Expected: `:formatted => true` only adds line breaks between elements, as in other list writers.
# Seen: it also changes the strings. REXML's pretty printer treats them as running text: inside any
# string each run of white space becomes one space, and a string of 80 or more characters (counted
# with its escapes) gets lines of its own. The long address of an icon is read back with a line break and
# spaces at both ends; tests with short addresses see nothing. Without the option, all is kept.
# Why it matters: such an address is no URL until it is trimmed, and trimming does not restore a
# name with two spaces or a line break. Upstream knows of the long strings: CFPropertyList issue 44.
# Needs: the lists of `apt-get update`; libgmp10, libcrypt1 and zlib1g, and python3 as second reader.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

apt-get -qq -o APT::Sandbox::User=root download \
    ruby3.1=3.1.7+really3.1.2-0+deb12u1 libruby3.1=3.1.7+really3.1.2-0+deb12u1 ruby-cfpropertylist=2.2.8-1.2
for package in *.deb; do dpkg -x "$package" root; done

lib=$(echo root/usr/lib/*-linux-gnu)
export LD_LIBRARY_PATH=$work/$lib LC_ALL=C.UTF-8
ruby="$work/root/usr/lib/ruby"
export RUBYLIB=$ruby/vendor_ruby:$ruby/3.1.0:$work/$lib/ruby/3.1.0:$ruby/gems/3.1.0/gems/rexml-3.2.5/lib

cat > write.rb <<'RUBY'
require "cfpropertylist"
puts "#{CFPropertyList.xml_parser_interface} #{REXML::VERSION}"
app = {
  "name" => "Room  2\nCalendar",
  "short" => "http://icons.example/calendar.png",
  "long" => "http://icons.example/kiosks/ground-floor/meeting-rooms/light/calendar-512.png?v=31",
}
list = CFPropertyList::List.new
list.value = CFPropertyList.guess(app)
list.save("plain.plist", CFPropertyList::List::FORMAT_XML)
list.save("formatted.plist", CFPropertyList::List::FORMAT_XML, :formatted => true)
again = CFPropertyList::List.new(:file => "formatted.plist")
same = CFPropertyList.native_types(again.value) == app
puts "CFPropertyList reads its formatted list back: #{same ? "same" : "changed"}"
first = (1..200).find do |length|
  list.value = CFPropertyList.guess("x" * length)
  !list.to_str(CFPropertyList::List::FORMAT_XML, :formatted => true).include?("<string>x")
end
puts "shortest string put on its own line: #{first} characters"
RUBY
root/usr/bin/ruby3.1 --disable-gems write.rb > got
python3 - >> got <<'PYTHON'
import plistlib
for name in "plain", "formatted":
    with open(name + ".plist", "rb") as file:
        for key, value in plistlib.load(file).items():
            print(f"{name} {key}: {value!r}")
PYTHON

cat > expected <<'TEXT'
CFPropertyList::ReXMLParser 3.2.5
CFPropertyList reads its formatted list back: changed
shortest string put on its own line: 80 characters
plain name: 'Room  2\nCalendar'
plain short: 'http://icons.example/calendar.png'
plain long: 'http://icons.example/kiosks/ground-floor/meeting-rooms/light/calendar-512.png?v=31'
formatted name: 'Room 2 Calendar'
formatted short: 'http://icons.example/calendar.png'
formatted long: '\n      http://icons.example/kiosks/ground-floor/meeting-rooms/light/calendar-512.png?v=31\n    '
TEXT
diff -u expected got || { echo "no longer as described" >&2; exit 1; }
cat got
echo "as described"
