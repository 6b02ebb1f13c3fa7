// SPDX-License-Identifier: Apache-2.0
import AgentSettings
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
/// A script of our own would repeat every command and option for three shells. So ArgumentParser's scripts are changed
/// where they are wrong, and `CompletionScriptTests` fails if one of its versions no longer has a replaced text.
enum CompletionScript {
    typealias Change = (old: String, new: String)

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
        // The settings of `config show`, which is the default subcommand.
        (
            "compgen -W 'show check default' ",
            "compgen -W 'show check default \(SettingKey.all.map(\.name).joined(separator: " "))' "
        ),
    ]
    static let zshChange: Change = (
        "        __syncagent_complete \"${completions[@]:0:-1}\"\n",
        """
                if [[ "${completions[1]}" = *= ]]; then
                    compadd -S '' -- "${completions[@]:0:-1}"
                else
                    __syncagent_complete "${completions[@]:0:-1}"
                fi

        """
    )

    /// Corrects a script of ArgumentParser; the rest of its text is unchanged.
    ///
    /// The bash script loses its `#!`, because a shell sources it.
    static func corrected(_ text: String) -> String {
        if text.starts(withBytes: "#compdef ") { return text.replacing(bytes: zshChange.old, with: zshChange.new) }
        guard text.starts(withBytes: bashBeginning), text.ends(withBytes: bashEnd) else { return text }
        let body = text.dropping(bytes: bashBeginning.utf8.count).droppingLast(bytes: bashEnd.utf8.count).trimmed
        return ([bashOffer] + bashChanges).reduce(body) { $0.replacing(bytes: $1.old, with: $1.new) } + "\n\n"
            + functions
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
