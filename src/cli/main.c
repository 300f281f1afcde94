/* The program `ocdm`: passes the command line to its verb and checks that all output was written. */
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/primitives.h"
#include "base/files.h"
#include "base/bytes.h"
#include "base/terminal.h"
#include "cli/console.h"
#include "cli/verbs.h"
#include "experiment/compare/execute.h"
#include "ranks/ranks.h"

/* Usually holds everything that a verb prints, so that one write at the end reports why it failed. */
static char output_buffer[1u << 16];

/* A descriptor 0, 1 or 2 that the caller closed would be given to the next file that is opened, and what is printed would end
 * up in it. It is held by a descriptor that refuses what the standard one is for. */
static bool hold_standard_descriptors(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
            return false;
    return true;
}

/* What all ranks must share for equal results: the program, and the instructions that oneDNN uses. */
static ocdm_status build_checksum(uint64_t *checksum, ocdm_error *error)
{
    ocdm__mapped_file program = {.bytes = NULL};
    const char *instructions = ocdm__device_instructions();
    OCDM_TRY(ocdm__map_file(&program, "/proc/self/exe", error));
    *checksum = ocdm__checksum(OCDM__CHECKSUM_START, instructions, strlen(instructions));
    *checksum = ocdm__checksum(*checksum, program.bytes, program.size);
    ocdm__unmap_file(&program);
    return OCDM_OK;
}

/* The leader's command line. */
struct command {
    uint64_t words, units; /* of four bytes, in `text` */
    char *text;            /* the words, each with its NUL */
    char **argv;
};

/* Rank 0 runs the command, the others follow it; all wait for its end. */
static int run_on_all_ranks(size_t argc, char **argv)
{
    const ocdm__ranks *ranks = ocdm__ranks_all();
    struct command command = {.words = 0};
    int code = OCDM__EXIT_OK;
    uint32_t end = 0;
    if (ranks->size > 1) {
        /* All ranks get the leader's words. */
        if (ranks->rank == 0) {
            size_t size = 0, used = 0;
            for (size_t i = 0; i < argc; i++)
                size += strlen(argv[i]) + 1;
            command.words = argc;
            command.units = size / sizeof(uint32_t) + 1;
            command.text = ocdm__allocate((size_t)command.units, sizeof(uint32_t));
            for (size_t i = 0; command.text != NULL && i < argc; used += strlen(argv[i]) + 1, i++)
                memcpy(command.text + used, argv[i], strlen(argv[i]) + 1);
        }
        ranks->broadcast(&command, 2 * sizeof command.words / sizeof(uint32_t));
        if (ranks->rank != 0)
            command.text = ocdm__allocate((size_t)command.units, sizeof(uint32_t));
        command.argv = ocdm__allocate((size_t)command.words + 1, sizeof *command.argv);
        if (command.text == NULL || command.argv == NULL)
            ranks->fail(&(ocdm_error){.status = OCDM_NO_MEMORY, .message = "out of memory for the command line"});
        ranks->broadcast(command.text, (size_t)command.units);
        char *word = command.text;
        for (size_t i = 0; i < command.words; word += strlen(word) + 1, i++)
            command.argv[i] = word;
        (void)setenv("NO_COLOR", "1", 0); /* launchers give ranks a terminal, wherever the output goes in the end */
    }
    if (ranks->rank != 0) {
        ocdm__catch_signals(); /* the leader stops */
        ocdm__follow_command((size_t)command.words, command.argv);
        ranks->broadcast(&end, 1); /* a rank that waits here still tells when another one is gone */
    } else {
        code = ocdm__run_command(argc, argv);
        int output = ocdm__finish_output();
        code = code != OCDM__EXIT_OK ? code : output;
        ranks->broadcast(&end, 1);
    }
    OCDM_RELEASE(command.argv, command.text);
    ocdm__ranks_end();
    return code;
}

int main(int argc, char **argv)
{
    if (!hold_standard_descriptors())
        return OCDM__EXIT_IO;
    /* A closed pipe is a failed write with an error and exit code 4, not a silent death by signal. */
    signal(SIGPIPE, SIG_IGN);
    bool started_by_us = ocdm__end_with_parent();
    ocdm__catch_lost_pages();
    ocdm__catch_lost_memory(ocdm__device_task);
    if (!ocdm__is_terminal(STDOUT_FILENO))
        setvbuf(stdout, output_buffer, _IOFBF, sizeof output_buffer);
    /* A run that a rank of `compare` started is alone, whatever mpirun left in its environment. */
    if (!started_by_us && !ocdm__ranks_begin(build_checksum, ocdm__exit_code, &ocdm__stop_signal)) {
        ocdm__ranks_end();
        return OCDM__EXIT_USAGE;
    }
    return run_on_all_ranks(argc > 0 ? (size_t)argc - 1 : 0, argv + 1);
}
