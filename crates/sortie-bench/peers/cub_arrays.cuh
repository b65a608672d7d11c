// CUB's radix sort of one array, for suite `grid`, and what lets another process sort the same array. The caller provides all
// memory, so nothing is allocated from cell to cell. `cub.cu` includes this.

/// All pointers are to device memory. The input is not changed.
struct Array {
    const void *keys;
    void *sorted_keys;
    const void *payload;
    void *sorted_payload;
    uint64_t n;
};

namespace {

template <class Key, class Payload>
cudaError_t sort_pairs(const Array &array, void *storage, size_t &bytes, cudaStream_t stream) {
    return cub::DeviceRadixSort::SortPairs(
        storage, bytes, static_cast<const Key *>(array.keys), static_cast<Key *>(array.sorted_keys),
        static_cast<const Payload *>(array.payload), static_cast<Payload *>(array.sorted_payload), array.n, 0,
        sizeof(Key) * 8, stream);
}

template <class Key>
cudaError_t sort_array(int payload_bytes, const Array &array, void *storage, size_t &bytes, cudaStream_t stream) {
    switch (payload_bytes) {
        case 0:
            return cub::DeviceRadixSort::SortKeys(storage, bytes, static_cast<const Key *>(array.keys),
                                                  static_cast<Key *>(array.sorted_keys), array.n, 0, sizeof(Key) * 8,
                                                  stream);
        case 4: return sort_pairs<Key, uint32_t>(array, storage, bytes, stream);
        case 8: return sort_pairs<Key, uint64_t>(array, storage, bytes, stream);
        default: throw std::runtime_error("no peer for payloads of " + std::to_string(payload_bytes) + " bytes");
    }
}

}  // namespace

extern "C" {

/// Enqueues DeviceRadixSort of keys of "u32", "u64", "i32", "f32" or "f64". Without storage, it only returns how many bytes of
/// storage the sort takes.
const char *sortie_peer_sort_array(const char *key, int payload_bytes, int device, const Array *array, void *storage,
                                   size_t *bytes, cudaStream_t stream) {
    return guarded([&] {
        if (!storage) check(cudaSetDevice(device), "taking the device");
        const std::string type = key;
        auto sort = [&] {
            if (type == "u32") return sort_array<uint32_t>(payload_bytes, *array, storage, *bytes, stream);
            if (type == "u64") return sort_array<uint64_t>(payload_bytes, *array, storage, *bytes, stream);
            if (type == "i32") return sort_array<int32_t>(payload_bytes, *array, storage, *bytes, stream);
            if (type == "f32") return sort_array<float>(payload_bytes, *array, storage, *bytes, stream);
            if (type == "f64") return sort_array<double>(payload_bytes, *array, storage, *bytes, stream);
            throw std::runtime_error("no peers for keys of type " + type);
        };
        check(sort(), "sorting an array");
    });
}

/// Writes a handle of 64 bytes by which another process on this machine opens the allocation that starts at `memory`.
const char *sortie_peer_export(const void *memory, void *handle) {
    static_assert(sizeof(cudaIpcMemHandle_t) == 64, "as the caller counts");
    return guarded([&] {
        const auto to = static_cast<cudaIpcMemHandle_t *>(handle);
        check(cudaIpcGetMemHandle(to, const_cast<void *>(memory)), "exporting memory to another process");
    });
}

}
