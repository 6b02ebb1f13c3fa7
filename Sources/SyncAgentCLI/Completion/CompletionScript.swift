// SPDX-License-Identifier: Apache-2.0
import CacheFormat

/// Corrects ArgumentParser's completion scripts for URLs and settings.
///
/// In bash:
/// - bash splits words at colons, so parts of a URL were counted as arguments. `__syncagent_whole_words` passes whole
///   words to the script, and removes the part that bash does not replace from the result.
/// - `compgen -W` expanded the offered words, so a URL with `$(…)` would have been executed. The program quotes them,
///   and `__syncagent_add_offered` takes them literally.
/// - A RETURN trap outlived the completion: each later `source` restored shell options.
/// - Only files are shown as files: a command is no longer mistaken for a folder of that name, nor a URL for its last
///   path component. The shell adds no space after an incomplete word.
///
/// In zsh, no space is added between a setting's key and its value.
///
/// In all shells, `config` completes what its default subcommand takes, besides the names of its subcommands.
///
/// A script of our own would repeat every command and option for three shells. So ArgumentParser's scripts are changed
/// where they are wrong, and `CompletionScriptTests` fails if one of its versions no longer has a replaced text.
enum CompletionScript {
    typealias Change = (old: String, new: String)

    static let zshBeginning = "#compdef "
    static let fishBeginning = "function __syncagent_"
    static let bashBeginning = "#!/bin/bash\n"
    static let bashEnd = "complete -o filenames -F _syncagent syncagent"
    /// The bash call of an argument with offered names, and its replacement.
    static let bashOffer: Change = ("__syncagent_add_completions -W \"$(", "__syncagent_add_offered \"$(")
    /// Each text to be replaced occurs once in the script.
    static let bashChanges: [Change] = [
        (
            "__syncagent_add_completions() {\n",
            "__syncagent_add_completions() {\n    [[ \"${1}\" = -W ]] || compopt -o filenames\n"
        ),
        (" \"${words[@]}\"\n}", " \"${words[@]}\" 2>/dev/null\n}"),
        config(
            """
                [[ "${unparsed_words[0]}" != @(show|check|default) ]] || { _syncagent_config_named; return; }
                ((${#unparsed_words[@]} > 1)) || COMPREPLY+=($(compgen -W 'show check default' -- "${cur}"))
                _syncagent_config_show
            """),
    ]
    static let zshChanges: [Change] = [
        (
            "        __syncagent_complete \"${completions[@]:0:-1}\"\n",
            """
                    if [[ "${completions[1]}" = *= ]]; then
                        compadd -S '' -- "${completions[@]:0:-1}"
                    else
                        __syncagent_complete "${completions[@]:0:-1}"
                    fi

            """
        ),
        config(
            """
                [[ "${words[2]}" != (show|check|default) ]] || { _syncagent_config_named; return }
                local -i ret=1
                ((CURRENT > 2)) || { _syncagent_config_named && ret=0 }
                _syncagent_config_show && ret=0
                return "${ret}"
            """),
    ]
    static let fishChanges: [Change] = [
        (
            "        case 'config'\n",
            """
                    case 'config'
                        contains -- "$unparsed_tokens[2]" show check default
                        or set unparsed_tokens config show $unparsed_tokens[2..]

            """
        ),
        (
            "for_positional \"syncagent config\" -eq 1'",
            "for_positional \"syncagent config show\" -eq 1; and not contains show (__syncagent_tokens -pc)'"
        ),
    ]

    /// Replaces the function for `config`, whose default subcommand may be left out.
    private static func config(_ body: String) -> Change {
        ("\n_syncagent_config() {\n", "\n_syncagent_config() {\n\(body)\n}\n\n_syncagent_config_named() {\n")
    }

    /// Corrects a script of ArgumentParser; the rest of its text is unchanged.
    ///
    /// The bash script loses its `#!`, because a shell sources it.
    static func corrected(_ text: String) -> String {
        func applying(_ changes: [Change], to text: String) -> String {
            changes.reduce(text) { $0.replacing(bytes: $1.old, with: $1.new) }
        }
        if text.starts(withBytes: zshBeginning) { return applying(zshChanges, to: text) }
        if text.starts(withBytes: fishBeginning) { return applying(fishChanges, to: text) }
        guard text.starts(withBytes: bashBeginning), text.ends(withBytes: bashEnd) else { return text }
        let body = text.dropping(bytes: bashBeginning.utf8.count).droppingLast(bytes: bashEnd.utf8.count).trimmed
        return applying([bashOffer] + bashChanges, to: body) + "\n\n" + functions
    }

    private static let functions = #"""
        # Adds the lines that the program printed: they fit the word, and are quoted.
        __syncagent_add_offered() {
            local line
            while IFS='' read -r line; do
                [[ -n "${line}" && "${line}" = "${fixed}"* ]] || continue
                COMPREPLY+=("${line#"${fixed}"}")
                # It goes on.
                [[ "${line}" != *[=/] ]] || compopt -o nospace
            done <<<"${1}"
        }

        # Joins the words again that bash split at the characters : = @ of a URL, and completes the whole word.
        __syncagent_whole_words() {
            local -a words=()
            local -i index current=0 begin=0 end=0 start=0
            local word space previous=''
            for index in "${!COMP_WORDS[@]}"; do
                word="${COMP_WORDS[index]}"
                space="${COMP_LINE:end}"
                space="${space%%[![:space:]]*}"
                if ((index > 0)) && [[ -z "${space}" && ("${word}" = [:=@]* || "${previous}" = *[:=@]) ]]; then
                    words[${#words[@]} - 1]+="${word}"
                else
                    words+=("${word}")
                    begin=$((end + ${#space}))
                fi
                ((index != COMP_CWORD)) || ((current = ${#words[@]} - 1, start = begin, 1))
                end+=$((${#space} + ${#word}))
                previous="${word}"
            done

            # What is typed of the word, and how much of it bash will not replace.
            local -r typed="${COMP_LINE:start:COMP_POINT - start}"
            local fixed="${typed%"${2}"}"
            [[ "${fixed}" != [\'\"] ]] || fixed=''
            local -a COMP_WORDS=("${words[@]}")
            local -i COMP_CWORD="${current}"
            _syncagent "${1}" "${fixed}${2}" "${words[current > 0 ? current - 1 : 0]}"
            trap - RETURN
        }

        complete -F __syncagent_whole_words syncagent
        """#
}
