/* The table of conventions, in the order they are asked. */
#include "recognise/convention.h"

extern const TmConvention tm_convention_ggml_nvfp4;
extern const TmConvention tm_convention_gptq, tm_convention_awq, tm_convention_exl2, tm_convention_compressed_integers,
    tm_convention_modelopt_int4, tm_convention_torchao, tm_convention_hardware_order;
extern const TmConvention tm_convention_fp8, tm_convention_gpt_oss, tm_convention_ct_mxfp4, tm_convention_deepseek_fp4,
    tm_convention_ct_nvfp4, tm_convention_modelopt_nvfp4, tm_convention_bitsandbytes, tm_convention_bitsandbytes_int8,
    tm_convention_mlx, tm_convention_hqq, tm_convention_quanto, tm_convention_aqlm, tm_convention_quip_sharp,
    tm_convention_vptq, tm_convention_exl3, tm_convention_eetq, tm_convention_marlin_24;

const TmConvention *const tm_conventions[] = {
  &tm_convention_ggml_nvfp4,
  &tm_convention_marlin_24,
  &tm_convention_gptq,
  &tm_convention_awq,
  &tm_convention_exl2,
  &tm_convention_compressed_integers,
  &tm_convention_modelopt_int4,
  &tm_convention_torchao,
  &tm_convention_hardware_order,
  &tm_convention_fp8,
  &tm_convention_gpt_oss,
  &tm_convention_ct_mxfp4,
  &tm_convention_deepseek_fp4,
  &tm_convention_ct_nvfp4,
  &tm_convention_modelopt_nvfp4,
  &tm_convention_bitsandbytes,
  &tm_convention_bitsandbytes_int8,
  &tm_convention_mlx,
  &tm_convention_hqq,
  &tm_convention_quanto,
  &tm_convention_aqlm,
  &tm_convention_quip_sharp,
  &tm_convention_vptq,
  &tm_convention_exl3,
  &tm_convention_eetq,
  NULL,
};
