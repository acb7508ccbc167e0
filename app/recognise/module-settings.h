/* What config.json says of single modules: GPTQModel's `dynamic` (a pattern each) and compressed-tensors' `config_groups`
 * (targets: names, "re:" patterns, classes). Read once; asked for every module. */
#pragma once

#include "recognise/config.h"

G_BEGIN_DECLS

typedef struct _TmModuleSettings TmModuleSettings;

TmModuleSettings *tm_module_settings_new (const TmConfig *config);
void tm_module_settings_free (TmModuleSettings *settings);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (TmModuleSettings, tm_module_settings_free)

/* A member of the first pattern of `dynamic` that matches, NULL where none has it. left_alone: the pattern is one of "-:". */
const char *tm_module_settings_get_dynamic (TmModuleSettings *settings, const char *module, const char *member,
                                            gboolean *left_alone);
/* A member of the weights of the config group that the module belongs to ("num_bits", "block_structure.0"), or NULL. A whole
 * name comes before a pattern, that before a class; a class cannot be told from a name, so it fits all. */
const char *tm_module_settings_get_weights (TmModuleSettings *settings, const char *module, const char *member);
gboolean tm_module_settings_get_weights_u64 (TmModuleSettings *settings, const char *module, const char *member,
                                             guint64 *value);

G_END_DECLS
