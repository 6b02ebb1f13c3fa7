#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# GNUstep Base 1.28.0 (Debian 12: 1.28.1+really1.28.0-5), read with its own `plutil`.
# Expected: in an XML property list, <![CDATA[a&b]]> is another way to write a&amp;b, as in all XML.
# Seen: GNUstep leaves out the CDATA part without a word and exits 0. A string that is one CDATA
# section becomes an empty string, and one that has such a part in its middle loses just that part.
# The key stays, and so do strings written with &amp;, so the list looks complete.
# Why it matters: a writer may use CDATA where a string has an "&", which is where icon addresses
# have their queries. One that does is dd-plist for Java (seen with Debian's libdd-plist-java
# 1.20-1.1). A list of icons written there and then edited with a GNUstep tool has lost the
# addresses with a query, and only those. Who writes lists for others should write &amp;, and an
# empty address in a list need not be its author's wish.
# Needs: the lists of `apt-get update`, and python3 as second reader.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

version=1.28.1+really1.28.0-5
apt-get -qq -o APT::Sandbox::User=root download \
    gnustep-base-runtime=$version gnustep-base-common=$version libgnustep-base1.28=$version \
    libobjc4 libavahi-client3 libavahi-common3 libxslt1.1 libxml2 libicu72
for package in *.deb; do dpkg -x "$package" root; done

cat > apps.plist <<'XML'
<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
    <key>calendar</key><string>http://icons.example/icon?app=calendar&amp;size=256</string>
    <key>clock</key><string><![CDATA[http://icons.example/icon?app=clock&size=256]]></string>
    <key>mail</key><string>http://icons.example/icon?app=mail<![CDATA[&]]>size=256</string>
</dict>
</plist>
XML

lib=$(echo root/usr/lib/*-linux-gnu)
mkdir home
HOME=$work/home LC_ALL=C.UTF-8 LD_LIBRARY_PATH=$work/root/usr/lib:$work/$lib \
    root/usr/bin/plutil -convert xml1 - < apps.plist > converted.plist
python3 - > got <<'PYTHON'
import plistlib
for name in "apps", "converted":
    with open(name + ".plist", "rb") as file:
        for key, value in sorted(plistlib.load(file).items()):
            print(f"{name} {key}: {value!r}")
PYTHON

cat > expected <<'TEXT'
apps calendar: 'http://icons.example/icon?app=calendar&size=256'
apps clock: 'http://icons.example/icon?app=clock&size=256'
apps mail: 'http://icons.example/icon?app=mail&size=256'
converted calendar: 'http://icons.example/icon?app=calendar&size=256'
converted clock: ''
converted mail: 'http://icons.example/icon?app=mailsize=256'
TEXT
diff -u expected got || { echo "no longer as described" >&2; exit 1; }
cat got
echo "as described"
