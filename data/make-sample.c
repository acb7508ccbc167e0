/* Writes the bundled sample: a small llama-like GGUF, made here from nothing, the same bytes on every machine.
 *
 * Six blocks. 0 and 1 keep attn_v and ffn_down in Q6_K and fold; 2 is unlike any other (F16 attention keys, a pruned
 * Q8_0 ffn_up); 3 and 4 are Q4_K throughout and fold; 5 is as 0 and 1 again. So folds, single cards and every kind of
 * boundary are on the screen at once. With --float the same weights unrounded, as a checkpoint in safetensors. Only + − × ÷ and square roots make the weights: libm's other functions differ
 * in the last bit between machines. */
#include "sample-quantize.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HIDDEN 256
#define FEED_FORWARD 768
#define HEADS 8
#define HEADS_KV 4
#define HEAD (HIDDEN / HEADS)
#define VOCABULARY 2048
#define BLOCKS 6
#define ALIGNMENT 32
#define MAX_TENSORS 64

typedef enum
{
  KIND_NORM,
  KIND_EMBEDDING,
  KIND_MATRIX,
  KIND_PRUNED
} Kind;

typedef struct
{
  char name[48];
  SampleType type;
  Kind kind;
  size_t rows, columns;
  uint8_t *data;
  size_t bytes;
  float *values; /* as they were before encoding */
} Tensor;

static Tensor tensors[MAX_TENSORS];
static size_t n_tensors;

/* --- Random numbers: xorshift64*, seeded by the tensor's name ----------------------------------------------------- */

static uint64_t
next_u64 (uint64_t *state)
{
  *state ^= *state >> 12;
  *state ^= *state << 25;
  *state ^= *state >> 27;
  return *state * 2685821657736338717u;
}

static float
uniform (uint64_t *state) /* [0, 1) */
{
  return (float) (next_u64 (state) >> 40) / 16777216.0f;
}

static float
normal (uint64_t *state) /* four 16-bit uniforms: near enough to a bell, and exact arithmetic */
{
  uint64_t bits = next_u64 (state);
  int sum = 0;
  for (int i = 0; i < 4; i++)
    sum += (int) ((bits >> (16 * i)) & 0xffff);
  return (float) (sum - 131070) / 37837.0f;
}

static uint64_t
seed_of (const char *name)
{
  uint64_t hash = 1469598103934665603u;
  for (; *name != '\0'; name++)
    hash = (hash ^ (uint8_t) *name) * 1099511628211u;
  return hash | 1;
}

/* --- Weights ------------------------------------------------------------------------------------------------------ */

/* Gains of channels: mostly near 1, a long tail upwards, and now and then an outlier. */
static void
fill_gains (float *gain, size_t n, size_t n_outliers, uint64_t *state)
{
  for (size_t i = 0; i < n; i++)
    {
      float t = normal (state);
      gain[i] = 0.7f + 0.25f * t * t;
    }
  for (size_t i = 0; i < n_outliers; i++)
    gain[next_u64 (state) % n] = 4 + 4 * uniform (state);
}

/* A slow walk between −1 and 1: the low-rank part shows as soft bands under the noise. */
static void
fill_walk (float *walk, size_t n, uint64_t *state)
{
  float at = 0;
  for (size_t i = 0; i < n; i++)
    {
      at = 0.93f * at + 0.35f * normal (state);
      walk[i] = at;
    }
}

/* Of every four neighbours the two smaller go: what 2:4 pruning leaves behind. */
static void
prune (float *row, size_t columns)
{
  for (size_t c = 0; c + 4 <= columns; c += 4)
    for (int gone = 0; gone < 2; gone++)
      {
        int least = -1;
        for (int i = 0; i < 4; i++)
          if (row[c + i] != 0 && (least < 0 || fabsf (row[c + i]) < fabsf (row[c + least])))
            least = i;
        if (least >= 0)
          row[c + least] = 0;
      }
}

static void
fill_norm (float *values, size_t n, uint64_t *state)
{
  for (size_t i = 0; i < n; i++)
    values[i] = 0.85f + 0.12f * normal (state);
  for (int i = 0; i < 3; i++)
    values[next_u64 (state) % n] = 2.5f + uniform (state);
}

static void
fill_row (float *row, const Tensor *tensor, size_t r, const float *row_gain, const float *column_gain,
          const float *row_walk, const float *column_walk, uint64_t *state)
{
  float spread = 1 / sqrtf ((float) tensor->columns);
  for (size_t c = 0; c < tensor->columns; c++)
    {
      float soft = 0.45f * row_walk[r] * column_walk[c];
      row[c] = spread * row_gain[r] * column_gain[c] * (0.8f * normal (state) + soft);
    }
  if (tensor->kind == KIND_PRUNED)
    {
      prune (row, tensor->columns);
      if (r % 96 >= 90) /* and some rows are gone altogether */
        memset (row, 0, tensor->columns * sizeof *row);
    }
}

static void *
allocate (size_t n, size_t size)
{
  void *memory = calloc (n, size);
  if (memory == NULL)
    {
      fputs ("make-sample: out of memory\n", stderr);
      exit (1);
    }
  return memory;
}

static void
fill_tensor (Tensor *tensor)
{
  const SampleTypeInfo *info = &sample_types[tensor->type];
  uint64_t state = seed_of (tensor->name);
  size_t blocks_per_row = tensor->columns / info->elements;
  float *row_gain = allocate (tensor->rows, sizeof (float)), *column_gain = allocate (tensor->columns, sizeof (float));
  float *row_walk = allocate (tensor->rows, sizeof (float)), *column_walk = allocate (tensor->columns, sizeof (float));
  float *row = allocate (tensor->columns, sizeof (float));

  tensor->bytes = tensor->rows * blocks_per_row * info->bytes;
  tensor->data = allocate (tensor->bytes, 1);
  tensor->values = allocate (tensor->rows * tensor->columns, sizeof (float));
  fill_gains (row_gain, tensor->rows, tensor->kind == KIND_EMBEDDING ? 12 : 2, &state);
  fill_gains (column_gain, tensor->columns, 4, &state);
  fill_walk (row_walk, tensor->rows, &state);
  fill_walk (column_walk, tensor->columns, &state);

  uint8_t *out = tensor->data;
  for (size_t r = 0; r < tensor->rows; r++)
    {
      if (tensor->kind == KIND_NORM)
        fill_norm (row, tensor->columns, &state);
      else
        fill_row (row, tensor, r, row_gain, column_gain, row_walk, column_walk, &state);
      memcpy (tensor->values + r * tensor->columns, row, tensor->columns * sizeof *row);
      for (size_t b = 0; b < blocks_per_row; b++, out += info->bytes)
        info->encode (row + b * info->elements, out);
    }
  free (row_gain);
  free (column_gain);
  free (row_walk);
  free (column_walk);
  free (row);
}

static void
add_tensor (const char *name, SampleType type, Kind kind, size_t rows, size_t columns)
{
  Tensor *tensor = &tensors[n_tensors++];
  snprintf (tensor->name, sizeof tensor->name, "%s", name);
  tensor->type = type;
  tensor->kind = kind;
  tensor->rows = rows;
  tensor->columns = columns;
  fill_tensor (tensor);
}

static void
add_block_tensor (int block, const char *role, SampleType type, Kind kind, size_t rows, size_t columns)
{
  char name[48];
  snprintf (name, sizeof name, "blk.%d.%s.weight", block, role);
  add_tensor (name, type, kind, rows, columns);
}

static void
add_block (int block)
{
  bool fine = block < 2 || block == BLOCKS - 1, odd = block == 2;
  SampleType usual = SAMPLE_Q4_K, more_bits = fine ? SAMPLE_Q6_K : SAMPLE_Q4_K;

  add_block_tensor (block, "attn_norm", SAMPLE_F32, KIND_NORM, 1, HIDDEN);
  add_block_tensor (block, "attn_q", usual, KIND_MATRIX, HIDDEN, HIDDEN);
  add_block_tensor (block, "attn_k", odd ? SAMPLE_F16 : usual, KIND_MATRIX, HEADS_KV * HEAD, HIDDEN);
  add_block_tensor (block, "attn_v", odd ? SAMPLE_Q8_0 : more_bits, KIND_MATRIX, HEADS_KV * HEAD, HIDDEN);
  add_block_tensor (block, "attn_output", usual, KIND_MATRIX, HIDDEN, HIDDEN);
  add_block_tensor (block, "ffn_norm", SAMPLE_F32, KIND_NORM, 1, HIDDEN);
  add_block_tensor (block, "ffn_gate", usual, KIND_MATRIX, FEED_FORWARD, HIDDEN);
  add_block_tensor (block, "ffn_up", odd ? SAMPLE_Q8_0 : usual, odd ? KIND_PRUNED : KIND_MATRIX, FEED_FORWARD, HIDDEN);
  add_block_tensor (block, "ffn_down", more_bits, KIND_MATRIX, HIDDEN, FEED_FORWARD);
}

/* --- GGUF --------------------------------------------------------------------------------------------------------- */

enum
{
  VALUE_U32 = 4,
  VALUE_I32 = 5,
  VALUE_F32 = 6,
  VALUE_BOOL = 7,
  VALUE_STRING = 8,
  VALUE_ARRAY = 9
};

static FILE *out;
static uint64_t position;

static void
put_bytes (const void *bytes, size_t n)
{
  fwrite (bytes, 1, n, out);
  position += n;
}

static void
put_uint (uint64_t number, int bytes)
{
  uint8_t little[8];
  for (int i = 0; i < bytes; i++)
    little[i] = (uint8_t) (number >> (8 * i));
  put_bytes (little, (size_t) bytes);
}

static void
put_float (float number)
{
  uint32_t bits;
  memcpy (&bits, &number, sizeof bits);
  put_uint (bits, 4);
}

static void
put_string (const char *text)
{
  put_uint (strlen (text), 8);
  put_bytes (text, strlen (text));
}

static void
pad (void)
{
  while (position % ALIGNMENT != 0)
    put_uint (0, 1);
}

static uint64_t n_keys; /* counted on a first pass, written on the second */

static void
put_key (const char *key, uint32_t type)
{
  n_keys++;
  put_string (key);
  put_uint (type, 4);
}

static void
put_text (const char *key, const char *text)
{
  put_key (key, VALUE_STRING);
  put_string (text);
}

static void
put_u32 (const char *key, uint32_t number)
{
  put_key (key, VALUE_U32);
  put_uint (number, 4);
}

static void
put_f32 (const char *key, float number)
{
  put_key (key, VALUE_F32);
  put_float (number);
}

static void
put_flag (const char *key, bool flag)
{
  put_key (key, VALUE_BOOL);
  put_uint (flag, 1);
}

static void
put_array (const char *key, uint32_t item_type, uint64_t n)
{
  put_key (key, VALUE_ARRAY);
  put_uint (item_type, 4);
  put_uint (n, 8);
}

/* Three control tokens, 256 bytes, then made-up syllables, every other one at the start of a word. */
static void
name_token (size_t token, char *name, size_t size)
{
  static const char *const control[] = { "<unk>", "<s>", "</s>" };
  static const char consonants[] = "bdfghjklmnprstvz", vowels[] = "aeiou", ends[] = "nrslmtk";
  if (token < 3)
    snprintf (name, size, "%s", control[token]);
  else if (token < 259)
    snprintf (name, size, "<0x%02X>", (unsigned) (token - 3));
  else
    {
      size_t i = token - 259, word = i & 1, rest = i / 2;
      char end[2] = { rest / 80 % 8 < 7 ? ends[rest / 80 % 8] : '\0', '\0' };
      snprintf (name, size, "%s%c%c%s%s", word ? "\u2581" : "", consonants[rest % 16], vowels[rest / 16 % 5], end,
                rest >= 640 ? "i" : "");
    }
}

static void
put_tokenizer (void)
{
  char name[32];
  put_text ("tokenizer.ggml.model", "llama");
  put_array ("tokenizer.ggml.tokens", VALUE_STRING, VOCABULARY);
  for (size_t token = 0; token < VOCABULARY; token++)
    {
      name_token (token, name, sizeof name);
      put_string (name);
    }
  put_array ("tokenizer.ggml.scores", VALUE_F32, VOCABULARY);
  for (size_t token = 0; token < VOCABULARY; token++)
    put_float (token < 259 ? 0 : -(float) (token - 258));
  put_array ("tokenizer.ggml.token_type", VALUE_I32, VOCABULARY);
  for (size_t token = 0; token < VOCABULARY; token++)
    put_uint (token == 0 ? 2 : token < 3 ? 3 : token < 259 ? 6 : 1, 4);
  put_u32 ("tokenizer.ggml.unknown_token_id", 0);
  put_u32 ("tokenizer.ggml.bos_token_id", 1);
  put_u32 ("tokenizer.ggml.eos_token_id", 2);
  put_flag ("tokenizer.ggml.add_bos_token", true);
  put_text ("tokenizer.chat_template", "{% for message in messages %}{{ message['role'] }}: {{ message['content'] }}\n"
                                       "{% endfor %}");
}

static void
put_metadata (void)
{
  put_text ("general.architecture", "llama");
  put_text ("general.name", "Tensormorph sample");
  put_text ("general.description", "Made by a program: realistic distributions, no trained weights.");
  put_text ("general.license", "mit");
  put_u32 ("general.file_type", 15);
  put_u32 ("general.quantization_version", 2);
  put_u32 ("general.alignment", ALIGNMENT);
  put_u32 ("llama.block_count", BLOCKS);
  put_u32 ("llama.context_length", 2048);
  put_u32 ("llama.embedding_length", HIDDEN);
  put_u32 ("llama.feed_forward_length", FEED_FORWARD);
  put_u32 ("llama.vocab_size", VOCABULARY);
  put_u32 ("llama.attention.head_count", HEADS);
  put_u32 ("llama.attention.head_count_kv", HEADS_KV);
  put_f32 ("llama.attention.layer_norm_rms_epsilon", 1e-5f);
  put_u32 ("llama.rope.dimension_count", HEAD);
  put_f32 ("llama.rope.freq_base", 10000);
  put_tokenizer ();
}

static void
put_model (uint64_t keys)
{
  uint64_t offset = 0;
  position = 0;
  n_keys = 0;
  put_bytes ("GGUF", 4);
  put_uint (3, 4);
  put_uint (n_tensors, 8);
  put_uint (keys, 8);
  put_metadata ();
  for (size_t i = 0; i < n_tensors; i++)
    {
      const Tensor *tensor = &tensors[i];
      put_string (tensor->name);
      put_uint (tensor->kind == KIND_NORM ? 1 : 2, 4);
      put_uint (tensor->columns, 8);
      if (tensor->kind != KIND_NORM)
        put_uint (tensor->rows, 8);
      put_uint (sample_types[tensor->type].id, 4);
      put_uint (offset, 8);
      offset += (tensor->bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }
  pad ();
  for (size_t i = 0; i < n_tensors; i++)
    {
      put_bytes (tensors[i].data, tensors[i].bytes);
      pad ();
    }
}

/* --- Safetensors: the weights before they were encoded, as a checkpoint has them ----------------------------------- */

/* "blk.3.attn_q.weight" → "model.layers.3.self_attn.q_proj.weight" */
static void
name_in_checkpoint (const char *name, char *out_name, size_t size)
{
  static const char *const names[][2] = {
    { "attn_norm", "input_layernorm" },    { "attn_q", "self_attn.q_proj" },
    { "attn_k", "self_attn.k_proj" },      { "attn_v", "self_attn.v_proj" },
    { "attn_output", "self_attn.o_proj" }, { "ffn_norm", "post_attention_layernorm" },
    { "ffn_gate", "mlp.gate_proj" },       { "ffn_up", "mlp.up_proj" },
    { "ffn_down", "mlp.down_proj" },
  };
  char role[24];
  int block;

  if (sscanf (name, "blk.%d.%23[^.]", &block, role) == 2)
    {
      for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp (names[i][0], role) == 0)
          snprintf (out_name, size, "model.layers.%d.%s.weight", block, names[i][1]);
    }
  else
    snprintf (out_name, size, "%s",
              strcmp (name, "token_embd.weight") == 0    ? "model.embed_tokens.weight"
              : strcmp (name, "output_norm.weight") == 0 ? "model.norm.weight"
                                                         : "lm_head.weight");
}

/* Checkpoints have the two halves of a head one after the other, where this architecture's GGUF has them in pairs. */
static size_t
row_in_checkpoint (const Tensor *tensor, size_t row)
{
  size_t within = row % HEAD;

  if (strstr (tensor->name, "attn_q") == NULL && strstr (tensor->name, "attn_k") == NULL)
    return row;
  return row - within + 2 * (within % (HEAD / 2)) + within / (HEAD / 2);
}

static int
write_checkpoint (const char *path)
{
  char *header = allocate (MAX_TENSORS, 256);
  size_t length = 0, offset = 0;

  length += (size_t) sprintf (header, "{\"__metadata__\":{\"format\":\"pt\"}");
  for (size_t i = 0; i < n_tensors; i++)
    {
      char name[96], shape[48];
      size_t bytes = tensors[i].rows * tensors[i].columns * sizeof (float);

      name_in_checkpoint (tensors[i].name, name, sizeof name);
      if (tensors[i].kind == KIND_NORM)
        snprintf (shape, sizeof shape, "%zu", tensors[i].columns);
      else
        snprintf (shape, sizeof shape, "%zu,%zu", tensors[i].rows, tensors[i].columns);
      length
          += (size_t) sprintf (header + length, ",\"%s\":{\"dtype\":\"F32\",\"shape\":[%s],\"data_offsets\":[%zu,%zu]}",
                               name, shape, offset, offset + bytes);
      offset += bytes;
    }
  header[length++] = '}';
  while (length % 8 != 0)
    header[length++] = ' ';

  out = fopen (path, "wb");
  if (out == NULL)
    return 1;
  put_uint (length, 8);
  put_bytes (header, length);
  for (size_t i = 0; i < n_tensors; i++)
    for (size_t r = 0; r < tensors[i].rows; r++)
      for (size_t c = 0; c < tensors[i].columns; c++)
        put_float (tensors[i].values[row_in_checkpoint (&tensors[i], r) * tensors[i].columns + c]);
  free (header);
  return ferror (out) || fclose (out) != 0;
}

int
main (int argc, char **argv)
{
  bool checkpoint = argc == 3 && strcmp (argv[1], "--float") == 0;

  if (argc != 2 && !checkpoint)
    {
      fputs ("usage: make-sample OUT.gguf, or make-sample --float OUT.safetensors\n", stderr);
      return 2;
    }
  add_tensor ("token_embd.weight", SAMPLE_Q8_0, KIND_EMBEDDING, VOCABULARY, HIDDEN);
  for (int block = 0; block < BLOCKS; block++)
    add_block (block);
  add_tensor ("output_norm.weight", SAMPLE_F32, KIND_NORM, 1, HIDDEN);
  add_tensor ("output.weight", SAMPLE_Q6_K, KIND_MATRIX, VOCABULARY, HIDDEN);

  if (checkpoint)
    {
      if (write_checkpoint (argv[2]) == 0)
        return 0;
      fprintf (stderr, "make-sample: %s: %s\n", argv[2], strerror (errno));
      return 1;
    }
  out = fopen (argv[1], "wb");
  if (out == NULL)
    {
      fprintf (stderr, "make-sample: %s: %s\n", argv[1], strerror (errno));
      return 1;
    }
  put_model (0);
  rewind (out);
  put_model (n_keys);
  if (ferror (out) || fclose (out) != 0)
    {
      fprintf (stderr, "make-sample: %s: %s\n", argv[1], strerror (errno));
      return 1;
    }
  for (size_t i = 0; i < n_tensors; i++)
    {
      free (tensors[i].data);
      free (tensors[i].values);
    }
  return 0;
}
