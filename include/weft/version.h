/* SPDX-License-Identifier: MIT
 *
 * weft/version.h - which weft this is.
 *
 * The one place the version is written down: the build, the packages and the shared library's name all read it here.
 *
 *     #if WEFT_VERSION < WEFT_VERSION_AT(0, 1, 0)
 *     #error "weft 0.1.0 or newer, please"
 *     #endif
 *
 * Versions follow semantic versioning. While the major version is 0, a new minor version may change the interface.
 */
#ifndef WEFT_VERSION_H
#define WEFT_VERSION_H

#define WEFT_VERSION_MAJOR 0
#define WEFT_VERSION_MINOR 1
#define WEFT_VERSION_PATCH 0

/* A version as one number, for comparing: two decimal digits each for minor and patch. */
#define WEFT_VERSION_AT(major, minor, patch) ((major)*10000 + (minor)*100 + (patch))

/* The version of these headers. */
#define WEFT_VERSION WEFT_VERSION_AT(WEFT_VERSION_MAJOR, WEFT_VERSION_MINOR, WEFT_VERSION_PATCH)

/* The same as text: "0.1.0". */
#define WEFT_VERSION_STRING \
    WEFT_VERSION_TEXT(WEFT_VERSION_MAJOR) \
    "." WEFT_VERSION_TEXT(WEFT_VERSION_MINOR) "." WEFT_VERSION_TEXT(WEFT_VERSION_PATCH)

/* Two steps, so that the argument is expanded before it becomes a string. */
#define WEFT_VERSION_TEXT(number) WEFT_VERSION_QUOTE(number)
#define WEFT_VERSION_QUOTE(number) #number

#endif
