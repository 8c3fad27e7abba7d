/*
 * completion.c - a script for bash and one for zsh: commands, options of each, words for their values, else file names.
 * All words stand in the script: completing starts no klift.
 */
#include "completion.h"

#include "commands.h"
#include "progress.h"
#include "registry.h"
#include "topics.h"

#include <ctype.h>
#include <string.h>

static bool is_long(const cli_option *option)
{
    return option->name[1] != '\0';
}

/* What the value of an option is for completion: words, a file, or something only the user knows. */
typedef enum { WORDS, A_FILE, FREE } value_kind;

static value_kind kind_of(const cli_option *option, const registry_words *words)
{
    if (words->count > 0)
        return WORDS;
    return strcmp(option->value, "FILE") == 0 || strcmp(option->value, "MODEL") == 0 ? A_FILE : FREE;
}

/* Of the first argument: names of a registry, or the words that the usage separates by bars. None: files. */
static klift_status first_argument(const cli_command *command, registry_words *words)
{
    klift_status status = KLIFT_OK;
    const char *at = command->arguments + strspn(command->arguments, "[");
    if (command->names != NULL)
        return registry_names(words, command->names);
    if (!islower((unsigned char)*at) || strstr(at, " | ") == NULL)
        return KLIFT_OK;
    for (; islower((unsigned char)*at) && status == KLIFT_OK; at += strspn(at, " |")) {
        size_t span = strcspn(at, " |]");
        status = registry_add(words, at, span);
        at += span;
    }
    return status;
}

static void print_words(const registry_words *words)
{
    for (int i = 0; i < words->count; i++)
        printf("%s%s", i > 0 ? " " : "", words->word[i]);
}

static void print_help_words(void)
{
    for (int i = 0; commands[i] != NULL; i++)
        printf("%s ", commands[i]->name);
    for (const cli_topic *topic = topics; topic->name != NULL; topic++)
        printf("%s%s", topic->name, topic[1].name != NULL ? " " : "");
}

/* bash: a case per command, in it one per option that takes a value. */
static klift_status bash_value(const cli_option *option)
{
    registry_words words = {0};
    klift_status status = registry_values(&words, option);
    if (status == KLIFT_OK) {
        fputs("        ", stdout);
        if (is_long(option))
            printf("--%s%s", option->name, option->letter != 0 ? " | " : "");
        if (option->letter != 0)
            printf("-%c", option->letter);
        value_kind kind = kind_of(option, &words);
        fputs(kind == A_FILE ? ") files=1 ;;\n" : kind == FREE ? ") ;;\n" : ") words=\"", stdout);
        if (kind == WORDS) {
            print_words(&words);
            puts("\" ;;");
        }
    }
    registry_clear(&words);
    return status;
}

static klift_status bash_command(const cli_command *command)
{
    registry_words words = {0};
    klift_status status = first_argument(command, &words);
    printf("    %s)\n        case $option in\n", command->name);
    for (const cli_option *option = NULL; status == KLIFT_OK && (option = options_next(command, option)) != NULL;)
        if (option->value != NULL)
            status = bash_value(option);
    fputs("        *) option='' ;;\n        esac\n        options=\"", stdout);
    for (const cli_option *option = NULL; (option = options_next(command, option)) != NULL;) {
        if (option->letter != 0)
            printf("-%c ", option->letter);
        if (is_long(option))
            printf("--%s ", option->name);
    }
    puts("\"");
    fputs("        first=\"", stdout);
    print_words(&words);
    printf("\" most=%d ;;\n", command->most);
    registry_clear(&words);
    return status;
}

static const char bash_start[] = "# bash completion for klift, made by klift help --completion bash\n"
                                 "_klift()\n"
                                 "{\n"
                                 "    # Bash cuts words at : and =, as in --kernel=gaussian:gamma=1; here a word is what stands between blanks.\n"
                                 "    local line=${COMP_LINE:0:COMP_POINT} current=${COMP_WORDS[COMP_CWORD]}\n"
                                 "    local -a word\n"
                                 "    read -ra word <<<\"$line\"\n"
                                 "    [[ $line == *[[:space:]] ]] && word+=('')\n"
                                 "    local last=$((${#word[@]} - 1)) typed option='' words='' options='' first='' most=0 files='' value='' candidate\n"
                                 "    typed=${word[last]}\n"
                                 "    case $current in : | =) current='' ;; esac\n"
                                 "    local before=${typed%\"$current\"} # what bash has cut off\n"
                                 "    COMPREPLY=()\n"
                                 "    if [ $last -eq 1 ]; then\n"
                                 "        words=\"";
static const char bash_middle[] = "\"\n"
                                  "        mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$typed\")\n"
                                  "        return\n"
                                  "    fi\n"
                                  "    option=${word[last - 1]} value=$typed\n"
                                  "    case $typed in --*=*) option=${typed%%=*} value=${typed#*=} ;; esac\n"
                                  "    case ${word[1]} in\n";
static const char bash_end[] = "    *) return ;;\n"
                               "    esac\n"
                               "    if [ -z \"$option\" ]; then\n"
                               "        case $typed in\n"
                               "        -*) words=$options value=$typed ;;\n"
                               "        *)\n"
                               "            for candidate in \"${word[@]:2:last-2}\"; do\n"
                               "                case \" $first \" in *\" $candidate \"*) first='' most=$((most - 1)) ;; esac\n"
                               "            done\n"
                               "            if [ -n \"$first\" ]; then words=$first; elif [ \"$most\" -gt 0 ]; then files=1; fi ;;\n"
                               "        esac\n"
                               "    fi\n"
                               "    if [ -n \"$words\" ]; then\n"
                               "        for candidate in $(compgen -W \"$words\" -- \"$value\"); do\n"
                               "            candidate=${typed%\"$value\"}$candidate\n"
                               "            COMPREPLY+=(\"${candidate#\"$before\"}\")\n"
                               "        done\n"
                               "    elif [ -n \"$files\" ]; then\n"
                               "        # bash itself knows best about file names; outside a terminal it does not offer to\n"
                               "        compopt -o default 2>/dev/null || mapfile -t COMPREPLY < <(compgen -f -- \"$value\")\n"
                               "    fi\n"
                               "}\n"
                               "complete -F _klift klift";

static klift_status print_bash(void)
{
    klift_status status = KLIFT_OK;
    fputs(bash_start, stdout);
    for (int i = 0; commands[i] != NULL; i++)
        printf("%s ", commands[i]->name);
    printf("help version --help --version%s", bash_middle);
    for (int i = 0; commands[i] != NULL && status == KLIFT_OK; i++)
        status = bash_command(commands[i]);
    fputs("    help)\n        option='' first=\"", stdout);
    print_help_words();
    puts("\" ;;");
    puts(bash_end);
    return status;
}

/* In '...' of _arguments: brackets and colons would end the text. */
static void zsh_text(const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '\'')
            fputs("'\\''", stdout);
        else {
            if (strchr("[]:\\", *text) != NULL)
                putchar('\\');
            putchar(*text);
        }
    }
}

static klift_status zsh_option(const cli_option *option)
{
    registry_words words = {0};
    klift_status status = option->value != NULL ? registry_values(&words, option) : KLIFT_OK;
    fputs("            '*", stdout); /* given again, the later value counts */
    if (is_long(option) && option->letter != 0)
        printf("'{-%c%s,--%s%s}'", option->letter, option->value != NULL ? "+" : "", option->name, option->value != NULL ? "=" : "");
    else if (is_long(option))
        printf("--%s%s", option->name, option->value != NULL ? "=" : "");
    else
        printf("-%c%s", option->letter, option->value != NULL ? "+" : "");
    putchar('[');
    zsh_text(option->help);
    putchar(']');
    if (option->value != NULL) {
        value_kind kind = kind_of(option, &words);
        putchar(':');
        zsh_text(option->value);
        fputs(kind == A_FILE ? ":_files" : kind == WORDS ? ":(" : ":", stdout);
        print_words(&words);
        fputs(kind == WORDS ? ")" : "", stdout);
    }
    puts("' \\");
    registry_clear(&words);
    return status;
}

static klift_status zsh_command(const cli_command *command)
{
    registry_words words = {0};
    klift_status status = first_argument(command, &words);
    printf("    %s)\n        _arguments -S : \\\n", command->name);
    for (const cli_option *option = NULL; status == KLIFT_OK && (option = options_next(command, option)) != NULL;)
        status = zsh_option(option);
    if (words.count > 0) {
        fputs("            '1:name:(", stdout);
        print_words(&words);
        puts(")' \\");
    }
    puts(command->most > (words.count > 0) ? "            '*:file:_files' ;;" : "            && return ;;");
    registry_clear(&words);
    return status;
}

static klift_status print_zsh(void)
{
    klift_status status = KLIFT_OK;
    puts("#compdef klift\n"
         "# zsh completion for klift, made by klift help --completion zsh\n"
         "_klift() {\n"
         "    local -a names\n"
         "    if (( CURRENT == 2 )); then\n"
         "        names=(");
    for (int i = 0; commands[i] != NULL; i++) {
        printf("            '%s:", commands[i]->name);
        zsh_text(commands[i]->summary);
        puts("'");
    }
    puts("            'help:how a command is used, or a topic'\n"
         "            'version:the version of klift'\n"
         "        )\n"
         "        _describe command names\n"
         "        return\n"
         "    fi\n"
         "    local command=$words[2]\n"
         "    shift words\n"
         "    (( CURRENT-- ))\n"
         "    case $command in");
    for (int i = 0; commands[i] != NULL && status == KLIFT_OK; i++)
        status = zsh_command(commands[i]);
    fputs("    help)\n        _arguments '1:topic:(", stdout);
    print_help_words();
    puts(")' ;;\n"
         "    esac\n"
         "}\n"
         "_klift \"$@\"");
    return status;
}

klift_status completion_print(const char *shell)
{
    if (strcmp(shell, "bash") == 0)
        return print_bash();
    if (strcmp(shell, "zsh") == 0)
        return print_zsh();
    return progress_fail(KLIFT_USAGE, "there is completion for bash and zsh, not for '%s'", shell);
}
