/* config.json and its kin, flattened: "quantization_config.bits" → "4". Optional: tensor facts beat config, which only
 * decides what shapes cannot tell (GPTQ v1 or v2, MLX bits, AWQ version). */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

typedef struct _TmConfig TmConfig;

/* Reads config.json, quantize_config.json, quant_config.json, hf_quant_config.json and quanto_qmap.json in a folder; what is absent or broken
 * is left out (broken: one line a file appended to *faults, a GPtrArray of char *). folder NULL: an empty one. */
TmConfig *tm_config_load (const char *folder, GPtrArray *faults);
TmConfig *tm_config_new_from_text (const char *file_name, const char *json, gssize length, GError **error); /* tests */
void tm_config_free (TmConfig *config);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (TmConfig, tm_config_free)

/* A scalar by its dotted path in config.json ("model_type"); strings as they are, numbers and true/false as written; NULL
 * where absent or null. Array items are "key.0", "key.1" …; their number is "key.#";
 * an object without members has "key.#" too, "0". */
const char *tm_config_get (const TmConfig *config, const char *path);

/* The same in any of the files: "quanto_qmap.json:model.layers.0.….weights". */
const char *tm_config_get_path (const TmConfig *config, const char *file_and_path);

/* A member of the quantization settings, wherever they are: quantization_config (also inside text_config),
 * quantization (MLX), quantize_config.json, quant_config.json, hf_quant_config.json's quantization. */
const char *tm_config_get_quantization (const TmConfig *config, const char *member);
gboolean tm_config_get_quantization_u64 (const TmConfig *config, const char *member, guint64 *value);
gboolean tm_config_has_quantization (const TmConfig *config);
/* "config.json" …: which file the settings come from, for evidence; NULL if none. */
const char *tm_config_get_quantization_file (const TmConfig *config);
/* Calls func for every flattened path that begins with prefix. */
void tm_config_foreach (const TmConfig *config, const char *prefix, void (*func) (const char *path, const char *value, gpointer data),
                        gpointer data);
/* The same within the quantization settings, of every place in turn; paths are what follows prefix. */
void tm_config_foreach_quantization (const TmConfig *config, const char *prefix,
                                     void (*func) (const char *path, const char *value, gpointer data), gpointer data);

G_END_DECLS
