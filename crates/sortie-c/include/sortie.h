/*
 * Sortie: sorts numbers, pairs, segments and strings.
 *
 * Generated from crates/sortie-c/src by `cargo test -p sortie-c`. Change it there.
 *
 * Results. A function returns SORTIE_STATUS_OK, or why it did not sort. sortie_last_error() then has a message
 * that says what was wrong and what to do. No function ends the process, unless the system refuses a small
 * allocation. After an error keys are as they were, and indices are unspecified. Exceptions: keys may be unspecified
 * after SORTIE_STATUS_DEVICE, and in any order after SORTIE_STATUS_PANIC.
 *
 * Arrays. An array is a pointer to its first element, aligned for its type, and a number of elements. The pointer
 * may be NULL if there are no elements. During the call, nothing else may use an array that the function writes,
 * or write one that it reads. Arrays that are NULL, misaligned, overlapping or larger than the address space are
 * refused. A function cannot check that the memory of an array is valid: the caller must ensure it.
 *
 * Order. Numbers ascend, -0.0 comes before 0.0, and NaNs come last. Strings compare by their bytes, as by memcmp;
 * a string that is a prefix of another comes before it. sortie_options changes this.
 *
 * Stability. Where something moves with its key, equal keys keep their order, unless `unstable` is set.
 *
 * Time. O(n log n) at most for n keys.
 *
 * Threads. Functions may be called from several threads at once. By default, sorts of 262,144 keys or more
 * (strings: 65,536) use all cores, by threads that are started once. They do not survive fork(): afterwards, only
 * the parent may sort with more than one thread.
 */


#ifndef SORTIE_H
#define SORTIE_H

#include <stddef.h>
#include <stdint.h>

/**
 * How a call ended.
 */
typedef enum {
  /**
   * The data is sorted.
   */
  SORTIE_STATUS_OK = 0,
  /**
   * An argument is wrong, or no engine sorts what was asked for.
   */
  SORTIE_STATUS_INVALID = 1,
  /**
   * The memory limit is too low, or the system or the GPU has too little memory.
   */
  SORTIE_STATUS_MEMORY = 2,
  /**
   * The system refused to start the threads.
   */
  SORTIE_STATUS_THREADS = 3,
  /**
   * The GPU is not available, or failed.
   */
  SORTIE_STATUS_DEVICE = 4,
  /**
   * A bug of Sortie, which the message describes. It was also printed to the standard error.
   */
  SORTIE_STATUS_PANIC = 5,
} sortie_status;

/**
 * A type of key. Numbers are in the byte order of the machine.
 */
typedef enum {
  /**
   * Also for `bool`.
   */
  SORTIE_DTYPE_U8 = 0,
  SORTIE_DTYPE_U16 = 1,
  SORTIE_DTYPE_U32 = 2,
  SORTIE_DTYPE_U64 = 3,
  SORTIE_DTYPE_U128 = 4,
  SORTIE_DTYPE_I8 = 5,
  SORTIE_DTYPE_I16 = 6,
  SORTIE_DTYPE_I32 = 7,
  SORTIE_DTYPE_I64 = 8,
  SORTIE_DTYPE_I128 = 9,
  SORTIE_DTYPE_F16 = 10,
  /**
   * The upper half of an F32.
   */
  SORTIE_DTYPE_BF16 = 11,
  SORTIE_DTYPE_F32 = 12,
  SORTIE_DTYPE_F64 = 13,
} sortie_dtype;

/**
 * Where a sort runs.
 */
typedef enum {
  /**
   * On the CPU. After sortie_enable_gpu(), on the first GPU if that is predicted to be faster.
   */
  SORTIE_ENGINE_AUTO = 0,
  /**
   * On the CPU.
   */
  SORTIE_ENGINE_CPU = 1,
  /**
   * On the CUDA device that `device` names. It does not sort everything: SORTIE_STATUS_INVALID tells.
   */
  SORTIE_ENGINE_CUDA = 2,
} sortie_engine;

/**
 * Where NaNs go, whatever the direction, and whether they are told apart.
 */
typedef enum {
  /**
   * After every number, in the order of their bits.
   */
  SORTIE_NANS_LAST = 0,
  /**
   * Before every number, in the order of their bits.
   */
  SORTIE_NANS_FIRST = 1,
  /**
   * After every number, equal to each other.
   */
  SORTIE_NANS_EQUAL_LAST = 2,
  /**
   * Before every number, equal to each other.
   */
  SORTIE_NANS_EQUAL_FIRST = 3,
} sortie_nans;

/**
 * The choices of a sort. All zeros are the defaults, and so is NULL instead of a pointer to it. Set all fields that
 * you do not name to zero: `sortie_options options = {0};`.
 */
typedef struct {
  /**
   * The most scratch memory in bytes, GPU memory included; 0 means no limit.
   */
  uint64_t memory_limit;
  /**
   * How many threads may work, at most 4096; 0 means all cores. If it is 2 or more, the threads are kept for the next
   * call with the same options.
   */
  uint32_t threads;
  /**
   * Not 0: the largest key comes first. NaNs stay where `nans` says, and equal keys keep their order.
   */
  int descending;
  /**
   * Where NaNs go.
   */
  sortie_nans nans;
  /**
   * Not 0: equal keys may come out in any order, if that is faster.
   */
  int unstable;
  /**
   * Where to sort.
   */
  sortie_engine engine;
  /**
   * The number of the device for SORTIE_ENGINE_CUDA. Other engines do not look at it.
   */
  uint32_t device;
} sortie_options;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * The message of the last call of this thread that failed: what was wrong and what to do. "" if none has failed.
 *
 * The message belongs to Sortie, and is valid until the next call of this thread that fails, or its end.
 */
const char *sortie_last_error(void);

/**
 * Allows SORTIE_ENGINE_AUTO to use the first CUDA device, for data of at least 4 MiB, if that is predicted to be faster. If
 * the GPU fails, the CPU sorts. The first sort of a kind waits for seconds until its kernels are compiled.
 *
 * Errors: SORTIE_STATUS_DEVICE if there is no GPU, its speed is not known, or the library was built without GPUs.
 * SORTIE_ENGINE_AUTO then stays on the CPU.
 */
sortie_status sortie_enable_gpu(void);

/**
 * Sorts `n` keys in place.
 *
 * Memory: 262 KiB per thread, and 1/1024 of the size of the keys. Two sorted runs take half the size of the keys, if the
 * limit allows that.
 */
sortie_status sortie_sort(sortie_dtype dtype,
                          void *keys,
                          size_t n,
                          const sortie_options *options);

/**
 * Sorts `n` keys in place, and moves with each its payload of `payload_bytes` bytes, which need not be aligned. Stable.
 *
 * Memory: a copy of keys and payloads. For payloads of other sizes than 4, 8 and 16 bytes, it is a copy of the keys and
 * 16 bytes per key.
 */
sortie_status sortie_sort_pairs(sortie_dtype dtype,
                                void *keys,
                                size_t n,
                                void *payload,
                                size_t payload_bytes,
                                const sortie_options *options);

/**
 * Writes the indices of `n` keys in order: `keys[indices[0]]` comes first. The keys stay as they are. Stable.
 *
 * Memory: a copy of the keys, and up to 8 bytes per key.
 *
 * Errors: SORTIE_STATUS_INVALID for more than 2^32 - 1 keys; call sortie_argsort64.
 */
sortie_status sortie_argsort32(sortie_dtype dtype,
                               const void *keys,
                               size_t n,
                               uint32_t *indices,
                               const sortie_options *options);

/**
 * As sortie_argsort32, with indices of 64 bits and for any number of keys.
 */
sortie_status sortie_argsort64(sortie_dtype dtype,
                               const void *keys,
                               size_t n,
                               uint64_t *indices,
                               const sortie_options *options);

/**
 * Sorts each segment of `length` keys on its own, in place. `n` is the number of all keys, a multiple of `length`.
 *
 * Memory: that of sortie_sort at most.
 */
sortie_status sortie_sort_segments(sortie_dtype dtype,
                                   void *keys,
                                   size_t n,
                                   size_t length,
                                   const sortie_options *options);

/**
 * Sorts each of `segments` segments on its own, in place. Segment `i` goes from key `offsets[i]` to before key
 * `offsets[i + 1]`, so that there are `segments` + 1 offsets. They must not decrease, and none may exceed `n`. Keys before
 * the first offset and from the last offset on stay where they are.
 *
 * Memory: that of sortie_sort at most.
 */
sortie_status sortie_sort_segments_by_offsets(sortie_dtype dtype,
                                              void *keys,
                                              size_t n,
                                              const size_t *offsets,
                                              size_t segments,
                                              const sortie_options *options);

/**
 * Writes the indices of `n` strings in the order of their bytes. String `i` goes from `bytes[offsets[i]]` to before
 * `bytes[offsets[i + 1]]`, as in an Arrow array of type Utf8 or Binary, so that there are `n` + 1 offsets. They must not be
 * negative or decrease, and none may exceed `bytes_len`. Stable.
 *
 * Time: O((n + d) log n), where d bytes tell the strings apart.
 *
 * Memory: 40 bytes per string.
 */
sortie_status sortie_argsort_strings32(const int32_t *offsets,
                                       const uint8_t *bytes,
                                       size_t bytes_len,
                                       size_t n,
                                       uint32_t *indices,
                                       const sortie_options *options);

/**
 * As sortie_argsort_strings32, with offsets and indices of 64 bits, as in an Arrow array of type LargeUtf8 or LargeBinary.
 */
sortie_status sortie_argsort_strings64(const int64_t *offsets,
                                       const uint8_t *bytes,
                                       size_t bytes_len,
                                       size_t n,
                                       uint64_t *indices,
                                       const sortie_options *options);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* SORTIE_H */
