// The peers of suite `batch` that are made from CUB, behind a C interface: sorts of many segments in device memory. Temporary
// storage is allocated when a job is opened, so that a run only sorts. The peers of suite `grid` are in `cub_arrays.cuh`.
//
//     nvcc -O3 -std=c++17 -arch=native -shared -Xcompiler -fPIC -o cub.so cub.cu

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <cub/cub.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

/// What to sort. All pointers are to device memory.
struct Batch {
    const void *input;        // left as it is
    void *keys;               // where the result belongs; holds a copy of the input before a run in place
    uint64_t n;
    uint64_t segments;
    uint64_t length;          // of every segment, where `offsets` is null
    const uint64_t *offsets;  // segments + 1 of them
};

/// A peer that is prepared for one batch.
struct Job {
    virtual ~Job() = default;
    virtual void run(cudaStream_t stream) = 0;
    /// What was chosen, or an empty string.
    std::string note;
};

namespace {

void check(cudaError_t error, const char *what) {
    if (error == cudaSuccess) return;
    // Otherwise a later launch would report this error.
    cudaGetLastError();
    throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(error));
}

void copy(void *to, const void *from, size_t bytes, cudaStream_t stream) {
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream), "copying");
}

/// Device memory, freed with its owner.
class Memory {
public:
    Memory() = default;
    explicit Memory(size_t bytes) : bytes(bytes) {
        check(cudaMalloc(&at, bytes), ("allocating " + std::to_string(bytes) + " bytes").c_str());
    }
    Memory(Memory &&other) noexcept { swap(other); }
    Memory &operator=(Memory &&other) noexcept {
        swap(other);
        return *this;
    }
    ~Memory() { cudaFree(at); }

    void *at = nullptr;
    size_t bytes = 0;

private:
    void swap(Memory &other) {
        std::swap(at, other.at);
        std::swap(bytes, other.bytes);
    }
};

// ---- CUB's device-wide sorts of segments, from `input` to `keys` ----

struct StartOf {
    uint64_t length;
    __host__ __device__ int64_t operator()(int64_t segment) const { return segment * length; }
};

enum class DeviceWide { Sort, RadixSort };

template <class Key, DeviceWide ALGORITHM>
class Segmented : public Job {
public:
    explicit Segmented(const Batch &batch) : batch(batch) {
        size_t bytes = 0;
        check(call(nullptr, bytes, nullptr), "asking for the size of temporary storage");
        storage = Memory(bytes);
    }
    void run(cudaStream_t stream) override { check(call(storage.at, storage.bytes, stream), "sorting"); }

private:
    cudaError_t call(void *at, size_t &bytes, cudaStream_t stream) {
        if (batch.offsets) return call(at, bytes, batch.offsets, stream);
        const auto segments = thrust::make_counting_iterator<int64_t>(0);
        return call(at, bytes, thrust::make_transform_iterator(segments, StartOf{batch.length}), stream);
    }

    template <class Offsets>
    cudaError_t call(void *at, size_t &bytes, Offsets offsets, cudaStream_t stream) {
        auto from = static_cast<const Key *>(batch.input);
        auto to = static_cast<Key *>(batch.keys);
        if constexpr (ALGORITHM == DeviceWide::Sort) {
            return cub::DeviceSegmentedSort::SortKeys(at, bytes, from, to, batch.n, batch.segments, offsets,
                                                      offsets + 1, stream);
        } else {
            return cub::DeviceSegmentedRadixSort::SortKeys(at, bytes, from, to, batch.n, batch.segments, offsets,
                                                           offsets + 1, 0, sizeof(Key) * 8, stream);
        }
    }

    Batch batch;
    Memory storage;
};

// ---- By hand from CUB's parts, in place, one worker a segment ----

/// Workers are parts of a warp.
template <class Key, int LANES_, int ITEMS_>
struct WarpMerge {
    static constexpr const char *NAME = "WarpMergeSort";
    static constexpr int LANES = LANES_, ITEMS = ITEMS_, THREADS = 128;
    using K = Key;
    using Sort = cub::WarpMergeSort<Key, ITEMS, LANES>;
    using Exchange = cub::WarpExchange<Key, ITEMS, LANES>;
    union Shared {
        typename Sort::TempStorage sort;
        typename Exchange::TempStorage exchange;
    };

    static __device__ void sort(Key (&items)[ITEMS], Shared &shared) {
        Sort sort(shared.sort);
        sort.Sort(items, [](Key a, Key b) { return a < b; });
        __syncwarp(sort.get_member_mask());
        Exchange(shared.exchange).BlockedToStriped(items, items);
    }
};

/// Workers are blocks, here and below.
template <class Key, int THREADS_, int ITEMS_>
struct BlockMerge {
    static constexpr const char *NAME = "BlockMergeSort";
    static constexpr int LANES = THREADS_, ITEMS = ITEMS_, THREADS = THREADS_;
    using K = Key;
    using Sort = cub::BlockMergeSort<Key, THREADS, ITEMS>;
    using Exchange = cub::BlockExchange<Key, THREADS, ITEMS>;
    union Shared {
        typename Sort::TempStorage sort;
        typename Exchange::TempStorage exchange;
    };

    static __device__ void sort(Key (&items)[ITEMS], Shared &shared) {
        Sort(shared.sort).Sort(items, [](Key a, Key b) { return a < b; });
        __syncthreads();
        Exchange(shared.exchange).BlockedToStriped(items, items);
    }
};

template <class Key, int THREADS_, int ITEMS_>
struct BlockRadix {
    static constexpr const char *NAME = "BlockRadixSort";
    static constexpr int LANES = THREADS_, ITEMS = ITEMS_, THREADS = THREADS_;
    using K = Key;
    using Sort = cub::BlockRadixSort<Key, THREADS, ITEMS>;
    using Shared = typename Sort::TempStorage;

    static __device__ void sort(Key (&items)[ITEMS], Shared &shared) { Sort(shared).SortBlockedToStriped(items); }
};

/// Loads a segment striped over its worker's lanes, since any order will do, sorts, and stores striped.
template <class Worker>
__global__ void __launch_bounds__(Worker::THREADS)
    one_worker_a_segment(typename Worker::K *keys, uint64_t segments, int length, typename Worker::K highest) {
    extern __shared__ __align__(16) unsigned char memory[];
    auto *shared = reinterpret_cast<typename Worker::Shared *>(memory);
    const int worker = threadIdx.x / Worker::LANES, lane = threadIdx.x % Worker::LANES;
    const uint64_t segment = uint64_t(blockIdx.x) * (Worker::THREADS / Worker::LANES) + worker;
    if (segment >= segments) return;
    keys += segment * length;

    typename Worker::K items[Worker::ITEMS];
#pragma unroll
    for (int i = 0; i < Worker::ITEMS; ++i) {
        const int at = i * Worker::LANES + lane;
        items[i] = at < length ? keys[at] : highest;
    }
    Worker::sort(items, shared[worker]);
#pragma unroll
    for (int i = 0; i < Worker::ITEMS; ++i) {
        const int at = i * Worker::LANES + lane;
        if (at < length) keys[at] = items[i];
    }
}

/// One instantiation.
template <class Key>
struct Shape {
    const char *name;
    int lanes, items;
    void (*launch)(Key *keys, uint64_t segments, int length, cudaStream_t stream);

    int capacity() const { return lanes * items; }
};

template <class Worker>
void launch(typename Worker::K *keys, uint64_t segments, int length, cudaStream_t stream) {
    using Limits = std::numeric_limits<typename Worker::K>;
    constexpr int workers = Worker::THREADS / Worker::LANES;
    constexpr int shared = workers * sizeof(typename Worker::Shared);
    const auto kernel = one_worker_a_segment<Worker>;
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared), "taking shared memory");
    const unsigned blocks = (segments + workers - 1) / workers;
    const auto highest = Limits::has_infinity ? Limits::infinity() : Limits::max();
    kernel<<<blocks, Worker::THREADS, shared, stream>>>(keys, segments, length, highest);
    check(cudaGetLastError(), "launching");
}

/// Shapes of one kind, given as pairs of lanes and items.
template <class Key, template <class, int, int> class Worker>
struct Kind {
    std::vector<Shape<Key>> &all;

    template <int LANES, int... ITEMS>
    Kind &with() {
        (all.push_back({Worker<Key, LANES, ITEMS>::NAME, LANES, ITEMS, launch<Worker<Key, LANES, ITEMS>>}), ...);
        return *this;
    }
};

/// Several for each length: few lanes with many keys each, and more lanes with fewer.
template <class Key>
std::vector<Shape<Key>> shapes() {
    std::vector<Shape<Key>> all;
    Kind<Key, WarpMerge>{all}
        .template with<4, 2, 4, 7, 9, 13>()
        .template with<8, 4, 7, 9, 13, 16>()
        .template with<16, 4, 7, 9, 13, 16>()
        .template with<32, 2, 4, 7, 9, 13, 16>();
    Kind<Key, BlockRadix>{all}
        .template with<32, 8, 16>()
        .template with<64, 8, 12, 16>()
        .template with<128, 8, 12, 16, 32>()
        .template with<256, 8, 12, 16, 24, 40>()
        .template with<512, 8, 12, 16, 20>()
        .template with<1024, 10, 16, 20>();
    Kind<Key, BlockMerge>{all}
        .template with<64, 4, 8, 16>()
        .template with<128, 8, 16>()
        .template with<256, 8, 16>()
        .template with<512, 8, 12, 16, 20>()
        .template with<1024, 10, 16, 20>();
    return all;
}

/// The shape that sorts this batch fastest, of all that are at most twice as large as necessary.
template <class Key>
class ByHand : public Job {
public:
    ByHand(const Batch &batch, cudaStream_t stream) : batch(batch) {
        if (batch.offsets) throw std::runtime_error("its workers have one size, the segments do not");
        const std::vector<Shape<Key>> all = shapes<Key>();
        int least = LARGEST;
        for (const auto &shape : all)
            if (uint64_t(shape.capacity()) >= batch.length) least = std::min(least, shape.capacity());
        float best = std::numeric_limits<float>::infinity();
        int tried = 0;
        for (const auto &shape : all) {
            if (uint64_t(shape.capacity()) < batch.length || shape.capacity() > 2 * least) continue;
            const float ms = trial(shape, stream);
            ++tried;
            if (ms < best) {
                best = ms;
                chosen = shape;
            }
        }
        if (!tried) throw std::runtime_error("no shape holds " + std::to_string(batch.length) + " keys");
        note = "the best of " + std::to_string(tried) + " shapes: " + chosen.name + ", " +
               std::to_string(chosen.lanes) + " threads x " + std::to_string(chosen.items) + " keys";
    }

    void run(cudaStream_t stream) override { run(chosen, stream); }

private:
    void run(const Shape<Key> &shape, cudaStream_t stream) {
        shape.launch(static_cast<Key *>(batch.keys), batch.segments, int(batch.length), stream);
    }

    /// Milliseconds, the better of two.
    float trial(const Shape<Key> &shape, cudaStream_t stream) {
        cudaEvent_t start, end;
        check(cudaEventCreate(&start), "making an event");
        check(cudaEventCreate(&end), "making an event");
        float best = std::numeric_limits<float>::infinity();
        for (int round = 0; round < 2; ++round) {
            copy(batch.keys, batch.input, batch.n * sizeof(Key), stream);
            check(cudaEventRecord(start, stream), "recording an event");
            run(shape, stream);
            check(cudaEventRecord(end, stream), "recording an event");
            check(cudaEventSynchronize(end), shape.name);
            float ms;
            check(cudaEventElapsedTime(&ms, start, end), "reading an event");
            best = std::min(best, ms);
        }
        cudaEventDestroy(start);
        cudaEventDestroy(end);
        return best;
    }

    /// More than any shape holds.
    static constexpr int LARGEST = 1 << 20;

    Batch batch;
    Shape<Key> chosen{};
};

// ---- Sorting by tags: a stable sort of all keys, then one by the number of the segment each came from ----

/// One warp for each segment.
__global__ void write_tags(uint32_t *tags, uint64_t segments, uint64_t length, const uint64_t *offsets) {
    const uint64_t warps = uint64_t(gridDim.x) * blockDim.x / 32;
    const uint64_t warp = (uint64_t(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
    for (uint64_t segment = warp; segment < segments; segment += warps) {
        const uint64_t start = offsets ? offsets[segment] : segment * length;
        const uint64_t end = offsets ? offsets[segment + 1] : start + length;
        for (uint64_t at = start + threadIdx.x % 32; at < end; at += 32) tags[at] = uint32_t(segment);
    }
}

/// All bits of key and tag, as Thrust's stable_sort_by_key takes them; writing the tags is part of a run.
template <class Key>
class ByTags : public Job {
public:
    explicit ByTags(const Batch &batch)
        : batch(batch), other_keys(batch.n * sizeof(Key)), tags(batch.n * 4), other_tags(batch.n * 4) {
        reset();
        size_t first = 0, second = 0;
        check(by_key(nullptr, first, nullptr), "asking for the size of temporary storage");
        check(by_tag(nullptr, second, nullptr), "asking for the size of temporary storage");
        storage = Memory(std::max(first, second));
    }

    void run(cudaStream_t stream) override {
        reset();
        write_tags<<<1024, 256, 0, stream>>>(tag.Current(), batch.segments, batch.length, batch.offsets);
        check(cudaGetLastError(), "writing tags");
        check(by_key(storage.at, storage.bytes, stream), "sorting by key");
        check(by_tag(storage.at, storage.bytes, stream), "sorting by tag");
        if (key.Current() != batch.keys)
            copy(batch.keys, key.Current(), batch.n * sizeof(Key), stream);
    }

private:
    void reset() {
        key = {static_cast<Key *>(batch.keys), static_cast<Key *>(other_keys.at)};
        tag = {static_cast<uint32_t *>(tags.at), static_cast<uint32_t *>(other_tags.at)};
    }
    cudaError_t by_key(void *at, size_t &bytes, cudaStream_t stream) {
        return cub::DeviceRadixSort::SortPairs(at, bytes, key, tag, batch.n, 0, sizeof(Key) * 8, stream);
    }
    cudaError_t by_tag(void *at, size_t &bytes, cudaStream_t stream) {
        return cub::DeviceRadixSort::SortPairs(at, bytes, tag, key, batch.n, 0, 32, stream);
    }

    Batch batch;
    Memory other_keys, tags, other_tags, storage;
    cub::DoubleBuffer<Key> key;
    cub::DoubleBuffer<uint32_t> tag;
};

// ---- The interface ----

template <class Key>
std::unique_ptr<Job> make(int peer, const Batch &batch, cudaStream_t stream) {
    switch (peer) {
        case 0: return std::make_unique<Segmented<Key, DeviceWide::Sort>>(batch);
        case 1: return std::make_unique<Segmented<Key, DeviceWide::RadixSort>>(batch);
        case 2: return std::make_unique<ByHand<Key>>(batch, stream);
        case 3: return std::make_unique<ByTags<Key>>(batch);
        default: throw std::runtime_error("no peer " + std::to_string(peer));
    }
}

/// Null, or an error message, which is valid until this thread's next call.
template <class Work>
const char *guarded(Work work) {
    static thread_local std::string error;
    try {
        work();
        return nullptr;
    } catch (const std::exception &e) {
        error = e.what();
        return error.c_str();
    }
}

}  // namespace

#include "cub_arrays.cuh"

// ---- One array ----

enum class OneArray { Radix = 4, Merge = 5, RadixPairs = 6 };

// ---- Strings ----

constexpr int STRINGS = 7;

/// Sorts indices by the strings that they refer to: `input` has the bytes, `keys` has the indices of 32 bits.
struct StringSort : Job {
    explicit StringSort(const Batch &batch) : batch(batch) {
        size_t bytes = 0;
        check(call(nullptr, bytes, nullptr), "asking for temporary storage");
        storage = Memory(bytes);
    }

    void run(cudaStream_t stream) override {
        size_t bytes = storage.bytes;
        check(call(storage.at, bytes, stream), "sorting strings");
    }

    cudaError_t call(void *at, size_t &bytes, cudaStream_t stream) {
        const Less less{static_cast<const uint8_t *>(batch.input), batch.offsets};
        return cub::DeviceMergeSort::SortKeys(at, bytes, static_cast<uint32_t *>(batch.keys), batch.n, less, stream);
    }

    struct Less {
        const uint8_t *bytes;
        const uint64_t *offsets;

        __device__ bool operator()(uint32_t a, uint32_t b) const {
            const uint64_t length_a = offsets[a + 1] - offsets[a], length_b = offsets[b + 1] - offsets[b];
            const uint8_t *string_a = bytes + offsets[a], *string_b = bytes + offsets[b];
            const uint64_t shorter = length_a < length_b ? length_a : length_b;
            for (uint64_t i = 0; i < shorter; ++i)
                if (string_a[i] != string_b[i]) return string_a[i] < string_b[i];
            return length_a != length_b ? length_a < length_b : a < b;
        }
    };

    Batch batch;
    Memory storage;
};

/// Sorts a batch of one segment: by radix from the input, with payloads of 4 bytes or without, or by comparison in place.
template <class Key, OneArray ALGORITHM>
struct OneArraySort : Job {
    explicit OneArraySort(const Batch &batch) : batch(batch) {
        if (ALGORITHM == OneArray::RadixPairs) {
            payload = Memory(batch.n * sizeof(uint32_t));
            sorted_payload = Memory(batch.n * sizeof(uint32_t));
        }
        size_t bytes = 0;
        check(call(nullptr, bytes, nullptr), "asking for temporary storage");
        storage = Memory(bytes);
    }

    void run(cudaStream_t stream) override {
        size_t bytes = storage.bytes;
        check(call(storage.at, bytes, stream), "sorting one array");
    }

    cudaError_t call(void *at, size_t &bytes, cudaStream_t stream) {
        auto from = static_cast<const Key *>(batch.input);
        auto keys = static_cast<Key *>(batch.keys);
        if constexpr (ALGORITHM == OneArray::Radix) {
            return cub::DeviceRadixSort::SortKeys(at, bytes, from, keys, batch.n, 0, sizeof(Key) * 8, stream);
        } else if constexpr (ALGORITHM == OneArray::RadixPairs) {
            return cub::DeviceRadixSort::SortPairs(at, bytes, from, keys, static_cast<const uint32_t *>(payload.at),
                                                   static_cast<uint32_t *>(sorted_payload.at), batch.n, 0,
                                                   sizeof(Key) * 8, stream);
        } else {
            return cub::DeviceMergeSort::SortKeys(at, bytes, keys, batch.n, Less{}, stream);
        }
    }

    struct Less {
        template <class T>
        __device__ bool operator()(const T &a, const T &b) const {
            return a < b;
        }
    };

    Batch batch;
    Memory payload, sorted_payload, storage;
};

/// A number of 128 bits.
struct alignas(16) Wide {
    uint64_t low, high;
    __device__ bool operator<(const Wide &other) const {
        return high != other.high ? high < other.high : low < other.low;
    }
};

template <class Key>
std::unique_ptr<Job> make_one_array(int peer, const Batch &batch) {
    if (peer == int(OneArray::Radix)) return std::make_unique<OneArraySort<Key, OneArray::Radix>>(batch);
    if (peer == int(OneArray::RadixPairs)) return std::make_unique<OneArraySort<Key, OneArray::RadixPairs>>(batch);
    return std::make_unique<OneArraySort<Key, OneArray::Merge>>(batch);
}

extern "C" {

/// Prepares a peer:
///
/// - for keys of "f32" or "u64": 0 DeviceSegmentedSort, 1 DeviceSegmentedRadixSort, 2 by hand, 3 by tags;
/// - for one array of "u32" or "u64": 4 DeviceRadixSort, 5 DeviceMergeSort (also of "u128"), 6 DeviceRadixSort of pairs;
/// - for the indices of strings of "bytes": 7 DeviceMergeSort.
///
/// What this enqueues is enqueued on `stream`, and may leave anything in `keys`.
const char *sortie_peer_open(int peer, const char *key, int device, const Batch *batch, cudaStream_t stream,
                             Job **job) {
    return guarded([&] {
        check(cudaSetDevice(device), "taking the device");
        const std::string type = key;
        const bool one_array = peer >= int(OneArray::Radix);
        if (peer == STRINGS) *job = std::make_unique<StringSort>(*batch).release();
        else if (one_array && type == "u32") *job = make_one_array<uint32_t>(peer, *batch).release();
        else if (one_array && type == "u64") *job = make_one_array<uint64_t>(peer, *batch).release();
        else if (peer == int(OneArray::Merge) && type == "u128")
            *job = std::make_unique<OneArraySort<Wide, OneArray::Merge>>(*batch).release();
        else if (type == "f32") *job = make<float>(peer, *batch, stream).release();
        else if (type == "u64") *job = make<uint64_t>(peer, *batch, stream).release();
        else throw std::runtime_error("no peers for keys of type " + type);
    });
}

/// Enqueues the sort.
const char *sortie_peer_run(Job *job, cudaStream_t stream) {
    return guarded([&] { job->run(stream); });
}

/// What was chosen for this batch. The text is valid as long as the job.
const char *sortie_peer_note(const Job *job) { return job->note.c_str(); }

void sortie_peer_close(Job *job) { delete job; }

}
