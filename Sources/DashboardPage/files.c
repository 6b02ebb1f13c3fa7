// SPDX-License-Identifier: Apache-2.0
// The files are a part of the program: it can be moved anywhere.
#include "DashboardPage.h"

#include <string.h>

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char page[] = {
#embed "dashboard.html"
};
static const unsigned char style[] = {
#embed "dashboard.css"
};
static const unsigned char icon[] = {
#embed "favicon.svg"
};
static const unsigned char main_script[] = {
#embed "dashboard.js"
};
static const unsigned char agent_script[] = {
#embed "agent.js"
};
static const unsigned char problems_script[] = {
#embed "problems.js"
};
static const unsigned char wall_script[] = {
#embed "wall.js"
};
static const unsigned char details_script[] = {
#embed "details.js"
};
static const unsigned char dialogs_script[] = {
#embed "dialogs.js"
};
static const unsigned char events_script[] = {
#embed "events.js"
};
static const unsigned char filters_script[] = {
#embed "filters.js"
};
static const unsigned char images_script[] = {
#embed "images.js"
};
static const unsigned char lists_script[] = {
#embed "lists.js"
};
static const unsigned char text_script[] = {
#embed "text.js"
};
static const unsigned char description[] = {
#embed "openapi.json"
};

#define SCRIPT "text/javascript; charset=utf-8"

static const struct dashboard_file files[] = {
    {"/", "text/html; charset=utf-8", page, sizeof page},
    {"/dashboard.css", "text/css; charset=utf-8", style, sizeof style},
    {"/favicon.svg", "image/svg+xml", icon, sizeof icon},
    {"/dashboard.js", SCRIPT, main_script, sizeof main_script},
    {"/agent.js", SCRIPT, agent_script, sizeof agent_script},
    {"/problems.js", SCRIPT, problems_script, sizeof problems_script},
    {"/wall.js", SCRIPT, wall_script, sizeof wall_script},
    {"/details.js", SCRIPT, details_script, sizeof details_script},
    {"/dialogs.js", SCRIPT, dialogs_script, sizeof dialogs_script},
    {"/events.js", SCRIPT, events_script, sizeof events_script},
    {"/filters.js", SCRIPT, filters_script, sizeof filters_script},
    {"/images.js", SCRIPT, images_script, sizeof images_script},
    {"/lists.js", SCRIPT, lists_script, sizeof lists_script},
    {"/text.js", SCRIPT, text_script, sizeof text_script},
};

const struct dashboard_file *dashboard_file(const char *path) {
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if (strcmp(files[i].path, path) == 0) return &files[i];
    }
    return NULL;
}

const struct dashboard_file *api_description(void) {
    static const struct dashboard_file file = {"/v1/openapi.json", "application/json", description, sizeof description};
    return &file;
}
