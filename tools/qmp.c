/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "qmp.h"

#define ANSWER_LIMIT_US (3 * G_USEC_PER_SEC)
#define LINE_LIMIT (4 * 1024 * 1024)

/*
 * One line without its end; NULL at the deadline (0: now), at end of file or for an absurd length.
 */
static char *read_line(EmuQmp *qmp, gint64 deadline)
{
    for (;;) {
        guint8 *end = memchr(qmp->input->data, '\n', qmp->input->len);
        struct pollfd pfd = { .fd = qmp->fd, .events = POLLIN };
        gint64 left = deadline - g_get_monotonic_time();
        guint8 buf[4096];
        ssize_t n;

        if (qmp->input->len && end) {
            char *line = g_strndup((char *)qmp->input->data, end - qmp->input->data);

            g_byte_array_remove_range(qmp->input, 0, end - qmp->input->data + 1);
            return line;
        }
        if ((deadline && left <= 0) || qmp->input->len > LINE_LIMIT ||
            poll(&pfd, 1, deadline ? left / 1000 + 1 : 0) <= 0) {
            return NULL;
        }
        n = read(qmp->fd, buf, sizeof(buf));
        if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
            return NULL;
        }
        if (n > 0) {
            g_byte_array_append(qmp->input, buf, n);
        }
    }
}

JsonNode *emu_qmp_run(EmuQmp *qmp, const char *command, const char *arguments)
{
    gint64 deadline = g_get_monotonic_time() + ANSWER_LIMIT_US;
    g_autofree char *request =
        g_strdup_printf("{\"execute\": \"%s\"%s%s}\n", command,
                        arguments ? ", \"arguments\": " : "", arguments ? arguments : "");
    char *line;

    if (write(qmp->fd, request, strlen(request)) != (ssize_t)strlen(request)) {
        return NULL;
    }
    while ((line = read_line(qmp, deadline))) {
        g_autoptr(JsonNode) answer = json_from_string(line, NULL);
        JsonObject *object = answer && JSON_NODE_HOLDS_OBJECT(answer)
                             ? json_node_get_object(answer) : NULL;

        g_free(line);
        if (object && json_object_has_member(object, "return")) {
            return json_node_copy(json_object_get_member(object, "return"));
        }
        if (!object || json_object_has_member(object, "error")) {
            return NULL;
        }
        /* the greeting or an event: the answer is still to come */
    }
    return NULL;
}

char *emu_qmp_event(EmuQmp *qmp)
{
    char *line;

    while ((line = read_line(qmp, 0))) {
        g_autoptr(JsonNode) message = json_from_string(line, NULL);
        JsonObject *object = message && JSON_NODE_HOLDS_OBJECT(message)
                             ? json_node_get_object(message) : NULL;

        g_free(line);
        if (object && json_object_has_member(object, "event")) {
            return g_strdup(json_object_get_string_member(object, "event"));
        }
    }
    return NULL;
}

EmuQmp *emu_qmp_open(int fd)
{
    EmuQmp *qmp = g_new0(EmuQmp, 1);
    JsonNode *answer;

    qmp->fd = fd;
    qmp->input = g_byte_array_new();
    answer = emu_qmp_run(qmp, "qmp_capabilities", NULL);
    if (!answer) {
        emu_qmp_close(qmp);
        return NULL;
    }
    json_node_unref(answer);
    return qmp;
}

void emu_qmp_close(EmuQmp *qmp)
{
    if (qmp) {
        g_byte_array_unref(qmp->input);
        g_free(qmp);
    }
}

char *emu_qmp_get(EmuQmp *qmp, const char *path, const char *property)
{
    g_autofree char *arguments =
        g_strdup_printf("{\"path\": \"%s\", \"property\": \"%s\"}", path, property);
    g_autoptr(JsonNode) value = emu_qmp_run(qmp, "qom-get", arguments);

    if (!value) {
        return NULL;
    }
    if (JSON_NODE_HOLDS_VALUE(value) && json_node_get_value_type(value) == G_TYPE_STRING) {
        return json_node_dup_string(value);
    }
    return json_to_string(value, FALSE);
}
