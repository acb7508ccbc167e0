/* Every limit on what a file may say, in one table, each with its reason. */
#pragma once

/* GGUF */
#define TM_MAX_ARRAY_DEPTH 8             /* ggml.md 5.4: nested arrays open, deeper is refused, never recursed */
#define TM_MAX_GGUF_RANK 8               /* the library writes 4; 5 to 8 are shown, more is refused */
#define TM_MAX_GGUF_ALIGNMENT (1u << 20) /* a page is 4 KiB, a huge page 2 MiB; nothing writes more than 64 KiB */
#define TM_MAX_STRING (1u << 30)         /* the library's own cap */
#define TM_MAX_HEADER_TEXT (1u << 28)    /* keys, names and string values of one header together; real ones have a few MiB */

/* safetensors */
#define TM_MAX_SAFETENSORS_HEADER 100000000u /* the reference reader's cap */
#define TM_MAX_JSON_DEPTH 127            /* containers; the reference takes 127 and refuses 128 */

/* any */
#define TM_MAX_PROBLEMS 100000u          /* nobody reads more, and each costs memory */
#define TM_MAX_RANK 1024                 /* axes of one tensor; nothing real has more than 8, the reference takes 70 */
#define TM_MAX_INDEX_FILE 268435456u     /* a shard index of 500 000 names is 60 MB */
#define TM_MAX_CONFIG_FILE (1u << 26)    /* config.json and its like: real ones have 1 to 200 KiB, with overrides for each layer more */
