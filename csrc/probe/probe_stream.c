/* Calls that make, free and position streams. */
#define _GNU_SOURCE
#include "probe/probe_files.h"

static bool probe_fopen(struct probe_files *files)
{
    files->made_stream = call_fopen(files->path[0], "r");
    return files->made_stream;
}

static bool probe_fopen64(struct probe_files *files)
{
    files->made_stream = call_fopen64(files->path[0], "r");
    return files->made_stream;
}

static bool probe_freopen(struct probe_files *files)
{
    files->stream = call_freopen(files->path[1], "r", files->stream);
    return files->stream;
}

static bool probe_freopen64(struct probe_files *files)
{
    files->stream = call_freopen64(files->path[1], "r", files->stream);
    return files->stream;
}

static bool probe_tmpfile(struct probe_files *files)
{
    files->made_stream = call_tmpfile();
    return files->made_stream;
}

static bool probe_tmpfile64(struct probe_files *files)
{
    files->made_stream = call_tmpfile64();
    return files->made_stream;
}

static bool probe_fdopen(struct probe_files *files)
{
    files->made_stream = call_fdopen(files->fd[0], "r+");
    return files->made_stream && tfd_probe_take(&files->fd[0]) >= 0;
}

static bool probe_fclose(struct probe_files *files)
{
    FILE *stream = files->stream;
    files->stream = NULL;
    return call_fclose(stream) == 0;
}

static bool probe_pclose(struct probe_files *files)
{
    FILE *child = files->child;
    files->child = NULL;
    return call_pclose(child) == 0;
}

static bool probe_fileno(struct probe_files *files)
{
    return call_fileno(files->stream) > 2;
}

static bool probe_fileno_unlocked(struct probe_files *files)
{
    return call_fileno_unlocked(files->stream) > 2;
}

static bool probe_fseek(struct probe_files *files)
{
    return call_fseek(files->stream, 70, SEEK_SET) == 0;
}

static bool probe_fseeko(struct probe_files *files)
{
    return call_fseeko(files->stream, 70, SEEK_SET) == 0;
}

static bool probe_fseeko64(struct probe_files *files)
{
    return call_fseeko64(files->stream, 70, SEEK_SET) == 0;
}

static bool probe_fsetpos(struct probe_files *files)
{
    return call_fsetpos(files->stream, &files->position) == 0;
}

static bool probe_fsetpos64(struct probe_files *files)
{
    return call_fsetpos64(files->stream, (const fpos64_t *)&files->position) == 0;
}

static bool probe_rewind(struct probe_files *files)
{
    call_rewind(files->stream);
    return true;
}

static bool probe_fflush(struct probe_files *files)
{
    return call_fflush(files->stream) == 0;
}

static bool probe_fflush_unlocked(struct probe_files *files)
{
    return call_fflush_unlocked(files->stream) == 0;
}

const struct probe tfd_stream_probes[] = {
    {"fopen", (void *)call_fopen, probe_fopen, {{"fopen", 0, 0, 0}}},
    {"fopen64", (void *)call_fopen64, probe_fopen64, {{"fopen", 0, 0, 0}}},
    {"freopen", (void *)call_freopen, probe_freopen, {{"fopen", 0, 0, 1}}},
    {"freopen64", (void *)call_freopen64, probe_freopen64, {{"fopen", 0, 0, 1}}},
    {"tmpfile", (void *)call_tmpfile, probe_tmpfile, {{"fopen", -1, 0, -1}}},
    {"tmpfile64", (void *)call_tmpfile64, probe_tmpfile64, {{"fopen", -1, 0, -1}}},
    {"fdopen", (void *)call_fdopen, probe_fdopen, {{"fdopen", -1, 0, 0}}},
    {"fclose", (void *)call_fclose, probe_fclose, {{"fclose", -1, 0, 0}}},
    {"pclose", (void *)call_pclose, probe_pclose, {{0}}},
    {"fileno", (void *)call_fileno, probe_fileno, {{"fileno", -1, 0, 0}}},
    {"fileno_unlocked", (void *)call_fileno_unlocked, probe_fileno_unlocked, {{"fileno", -1, 0, 0}}},
    {"fseek", (void *)call_fseek, probe_fseek, {{"fseek", 70, 0, 0}}},
    {"fseeko", (void *)call_fseeko, probe_fseeko, {{"fseek", 70, 0, 0}}},
    {"fseeko64", (void *)call_fseeko64, probe_fseeko64, {{"fseek", 70, 0, 0}}},
    {"fsetpos", (void *)call_fsetpos, probe_fsetpos, {{"fseek", 50, 0, 0}}},
    {"fsetpos64", (void *)call_fsetpos64, probe_fsetpos64, {{"fseek", 50, 0, 0}}},
    {"rewind", (void *)call_rewind, probe_rewind, {{"fseek", 0, 0, 0}}},
    {"fflush", (void *)call_fflush, probe_fflush, {{"fflush", -1, 0, 0}}},
    {"fflush_unlocked", (void *)call_fflush_unlocked, probe_fflush_unlocked, {{"fflush", -1, 0, 0}}},
    {0},
};
