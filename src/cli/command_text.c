/* Writing a command line down. */
#include "cli/command_text.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/allocate.h"
#include "base/error.h"

static bool needs_quotes(const char *word)
{
    return word[0] == '\0' ||
           word[strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.,:=+@%/")] != '\0';
}

static char *append(char *end, const char *text)
{
    size_t length = strlen(text);
    memcpy(end, text, length + 1);
    return end + length;
}

/* A space and the word; a quote inside quotes takes four characters. */
static char *append_word(char *end, const char *word)
{
    const char *quote = needs_quotes(word) ? "'" : "";
    end = append(append(end, " "), quote);
    for (; *word != '\0'; word++) {
        const char one[2] = {*word, '\0'};
        end = append(end, *word == '\'' ? "'\\''" : one);
    }
    return append(end, quote);
}

static const char *without_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

static bool is_told(const ocdm__arguments *arguments, size_t flag, const char *const *left_out)
{
    for (; *left_out != NULL; left_out++)
        if (strcmp(arguments->verb->flags[flag].name, *left_out) == 0)
            return false;
    return arguments->values[flag] != NULL;
}

static size_t room_for(const ocdm__arguments *arguments)
{
    const ocdm__flag *flags = arguments->verb->flags;
    size_t room = strlen(arguments->verb->name) + 16;
    for (size_t i = 0; flags[i].name != NULL; i++)
        room += 16 + strlen(flags[i].name) + (arguments->values[i] != NULL ? 4 * strlen(arguments->values[i]) : 0);
    for (size_t i = 0; i < arguments->operand_count; i++)
        room += 4 + 4 * strlen(arguments->operands[i]);
    return room;
}

ocdm_status ocdm__command_text(const ocdm__arguments *arguments, const char *const *left_out, char **command, ocdm_error *error)
{
    const ocdm__flag *flags = arguments->verb->flags;
    char *text = ocdm__allocate(room_for(arguments), 1);
    if (text == NULL)
        return ocdm__fail_memory(error, "the command");
    char *end = append(append(text, "ocdm "), arguments->verb->name);
    for (size_t i = 0; flags[i].name != NULL; i++) {
        if (!is_told(arguments, i, left_out))
            continue;
        end = append(append(end, " --"), flags[i].name);
        if (flags[i].value != NULL)
            end = append_word(end, without_folder(arguments->values[i]));
    }
    for (size_t i = 0; i < arguments->operand_count; i++)
        end = append_word(end, without_folder(arguments->operands[i]));
    *command = text;
    return OCDM_OK;
}
