/* Tensor names and shapes as the usual families have them, at small sizes, without values worth looking at. */
#pragma once

#include "model/model.h"

G_BEGIN_DECLS

/* "llama-hf", "gpt2", "bert", "t5", "vit", "mamba", "mixtral", "qwen3moe-gguf", "deepseek2", "gemma2", "resnet", "unet", "clip",
 * "flat". (transfer full) */
TmModel *tm_family_new (const char *family);
extern const char *const tm_families[]; /* NULL-terminated */

G_END_DECLS
