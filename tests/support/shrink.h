/* How much smaller the largest inputs are under a sanitizer, which is slow and keeps everything freed. */
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define TM_SHRINK 10
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TM_SHRINK 10
#endif
#endif
#ifndef TM_SHRINK
#define TM_SHRINK 1
#endif
