/* topics.h - what klift help explains beside the commands; klift(1) has a section for each. */
#ifndef CLI_TOPICS_H
#define CLI_TOPICS_H

typedef struct cli_topic {
    const char *name, *title, *summary;
    const char *const *before; /* blocks of page_write, above the list */
    const char *list;          /* of klift_list; "libsvm": LIBSVM's flags; NULL: none */
    const char *const *after;  /* below the list, or NULL */
    const char *examples;      /* or NULL */
} cli_topic;

extern const cli_topic topics[]; /* the last has no name */

const cli_topic *topics_find(const char *name); /* NULL: there is none */

#endif
