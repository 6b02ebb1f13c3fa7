// SPDX-License-Identifier: Apache-2.0
import CacheFormat

extension SettingKey {
    /// The manual page `syncagent.toml(5)`, in mdoc(7).
    package static var manualPage: String {
        let settings = tables.map { table in
            """
            .Ss [\(table)]
            .Bl -tag -width Ds
            \(all.filter { $0.table == table }.map(\.manualItem).joined(separator: "\n"))
            .El
            """
        }
        return head + settings.joined(separator: "\n") + "\n" + tail
    }

    private var manualItem: String {
        let value = value(in: Settings())
        let text = value.isEmpty ? absence : literal(in: Settings())
        return """
            .It Ic \(key)
            \(Self.mdoc(summary))
            .br
            Form:
            \(Self.mdoc(label + "."))
            Default:
            \(Self.escaped(text + "."))
            .br
            Variable:
            .Ev \(variable)\(effect == .restart ? "\n.br\nNeeds a restart." : "")
            """
    }

    /// Converts Markdown to mdoc: marks up code, and starts each sentence on a new line.
    private static func mdoc(_ text: String) -> String {
        let marks: Set<Character> = [".", ",", ";", ":", ")"]
        var lines: [String] = []
        for (index, part) in text.split(separator: "`", omittingEmptySubsequences: false).enumerated() {
            guard index % 2 == 0 else {
                lines.append(".Ql \(escaped(part).replacing("-", with: "\\-"))")
                continue
            }
            var rest = part
            // In mdoc, punctuation is an argument of the macro before it.
            while index > 0, let mark = rest.first, marks.contains(mark) {
                lines[lines.count - 1] += " \(mark)"
                rest.removeFirst()
            }
            let sentence = rest.drop { $0 == " " }.replacing(". ", with: ".\n")
            if !sentence.isEmpty { lines.append(escaped(sentence)) }
        }
        return lines.joined(separator: "\n")
    }

    /// Escapes text for roff.
    private static func escaped(_ text: some StringProtocol) -> String {
        let text = String(text).replacing("\\", with: "\\e").replacing("±", with: "\\(+-").replacing("→", with: "\\(->")
            .replacing("'", with: "\\(aq").replacing("\"", with: "\\(dq")
        return String((text.starts(withBytes: ".") ? "\\&" + text : text).reversed().drop { $0 == " " }.reversed())
    }

    private static let head = #"""
        .\" SPDX-License-Identifier: Apache-2.0
        .\" Written by "syncagent config man" from the table of settings: change it there.
        .Dd November 23, 2026
        .Dt SYNCAGENT.TOML 5
        .Os syncagent
        .Sh NAME
        .Nm syncagent.toml
        .Nd settings of syncagent
        .Sh SYNOPSIS
        .Bl -item -compact
        .It
        .Pa /etc/syncagent/syncagent.toml
        .It
        .Pa $XDG_CONFIG_HOME/syncagent/syncagent.toml
        .El
        .Sh DESCRIPTION
        This file configures
        .Xr syncagent 1 .
        The first path is that of the system service, the second that of an agent of your own;
        without
        .Ev XDG_CONFIG_HOME
        it is
        .Pa ~/.config/syncagent/syncagent.toml .
        The option
        .Fl -config
        names another file.
        .Pp
        The defaults are meant to be kept, and a file that is missing is fine.
        .Ql syncagent config default
        prints a file with every setting at its default, in comments.
        .Pp
        The file is TOML 1.0, at most 1 MiB long.
        Each setting is a key in one of the tables below.
        Durations, sizes and other texts are strings, numbers and flags are those of TOML, and lists are arrays of strings:
        .Bd -literal -offset indent
        [fetch]
        maxBytes = "1MiB"
        concurrency = 16

        [network]
        allowHosts = ["icons.corp.example"]

        [images]
        allowSVG = true
        .Ed
        .Ss Forms
        .Bl -tag -width duration
        .It duration
        A whole number with a unit:
        .Ql ms ,
        .Ql s ,
        .Ql m ,
        .Ql h
        or
        .Ql d .
        .It size
        A whole number of bytes, or one with a unit:
        .Ql B ,
        .Ql KiB ,
        .Ql MiB
        or
        .Ql GiB .
        .It number
        A whole number.
        .It flag
        .Ql true
        or
        .Ql false .
        .It list
        An array of strings.
        In a variable and after
        .Fl -set ,
        values are separated by commas.
        .El
        .Pp
        An empty string unsets a setting that has no default.
        .Ss Precedence
        .Fl -set Ar key Ns = Ns Ar value
        on the command line wins over the environment variable, which wins over the file, which wins over the default.
        Only
        .Ql syncagent run
        reads the variables, and
        .Ql syncagent config
        about your own agent.
        .Ql syncagent config
        shows the settings in force and where each one comes from.
        .Ss Errors
        Keys and tables that do not exist, values of another form, keys that are set twice, settings that contradict each other
        and errors of syntax are errors.
        The agent then does not start (exit status 78); at a reload it keeps all settings as they were.
        .Ql syncagent config check
        prints all errors of a file, each with its line, and changes nothing.
        .Ss Reload
        At
        .Dv SIGHUP
        the agent reads the file again and rescans the lists folder;
        .Ql systemctl reload syncagent
        checks the file first.
        Changed settings take effect at once, downloads that have begun continue, and icons that failed because of the old
        settings are tried again.
        A setting that needs a restart keeps its old value until then; the log and
        .Ql syncagent config
        name it.
        .Sh SETTINGS

        """#

    private static let tail = #"""
        .Sh HOSTS
        A host in
        .Ic network.allowHosts
        and
        .Ic network.denyHosts
        is a name in ASCII or an address:
        .Bl -tag -width "*.example.com"
        .It Ql icons.example.com
        This name.
        .It Ql *.example.com
        Every name below
        .Ql example.com .
        .It Ql .example.com
        .Ql example.com
        and every name below it.
        .It Ql 10.1.2.3
        This address.
        .El
        .Pp
        .Ic network.allowHosts
        allows an address to the named host only, and never link-local addresses or those at which cloud providers serve
        credentials.
        .Ic network.allow
        opens a network to every list.
        .Sh KEYS
        URLs that differ only in query parameters that a rule ignores are one icon, such as signed URLs:
        .Bd -literal -offset indent
        [[keys]]
        host = "icons.example.com"
        ignore = ["Signature", "Expires", "X-Amz-*"]
        .Ed
        .Pp
        .Ic host
        is a host as in
        .Ic network.allowHosts .
        A name that ends with
        .Ql *
        stands for all that begin so.
        .Sh CREDENTIALS
        Passwords and tokens of private origins are in
        .Pa auth.toml
        beside this file, which only the agent's user and root may be able to read (mode 0600):
        .Bd -literal -offset indent
        [[credentials]]
        host = "icons.example.com"
        path = "/intranet/"
        lists = ["intranet.plist"]
        bearer = "eyJhbGciOi..."
        .Ed
        .Pp
        .Ic host
        and
        .Ic lists
        are required: a credential is sent to that host only, and only for icons of those lists.
        .Ic port
        and
        .Ic path
        limit it to a port and to the paths below one.
        Each has exactly one of
        .Ic user
        and
        .Ic password ,
        .Ic bearer ,
        .Ic header
        and
        .Ic value ,
        or
        .Ic certificate
        and
        .Ic key
        (absolute paths of PEM files).
        It is sent over https; with
        .Ic http Li = true
        also over http, to hosts in
        .Ic network.allowHosts .
        Unless it says
        .Ic public Li = true ,
        it is not used while everyone could read its icons: with
        .Ic cache.mode
        0755, the default, or with
        .Ic serve.listen .
        Without a credential that may be used, an icon fails with
        .Ql auth-refused .
        .Pp
        systemd can keep the file for root alone:
        .Ql LoadCredential=auth.toml:/etc/syncagent/auth.toml
        in the unit.
        .Sh ENVIRONMENT
        The variable of each setting is named with it.
        An empty variable counts as not set.
        .Pp
        Without
        .Ic fetch.proxy ,
        the agent uses the variables that curl uses:
        .Ev http_proxy
        (lower case only),
        .Ev https_proxy ,
        .Ev HTTPS_PROXY ,
        .Ev all_proxy
        and
        .Ev ALL_PROXY ,
        with the exceptions of
        .Ev no_proxy
        or
        .Ev NO_PROXY .
        Without
        .Ic fetch.caFile ,
        it uses the file that
        .Ev SSL_CERT_FILE
        names, or else the system's certificate authorities.
        .Sh EXAMPLES
        Check the file, and have the service read it again:
        .Bd -literal -offset indent
        syncagent config check /etc/syncagent/syncagent.toml
        sudo systemctl reload syncagent
        .Ed
        .Pp
        Try a value on a list that is not in force yet:
        .Bd -literal -offset indent
        syncagent check --fetch --set fetch.maxBytes=1MiB apps.plist
        .Ed
        .Sh SEE ALSO
        .Xr syncagent 1 ,
        .Xr syncagent-lists 5 ,
        .Xr syncagent 8

        """#
}
