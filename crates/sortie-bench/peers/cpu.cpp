// The C++ peers of suite `cpu-grid`, behind a C interface: vqsort of Highway and IPS4o, from Debian's `libhwy-dev` and
// `libips4o-dev`.
//
//     g++ -O3 -std=c++17 -march=haswell -mcx16 -pthread -shared -fPIC -o cpu-peers.so cpu.cpp -lhwy_contrib -lhwy -ltbb -latomic

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include <hwy/contrib/sort/vqsort.h>
#include <hwy/targets.h>
#include <ips4o.hpp>

namespace {

/// Sorts `n` keys on so many threads.
using Sort = void (*)(void *keys, size_t n, int threads);

/// Where Sortie is limited to AVX2, so is vqsort, which chooses at run time. Better targets have lower bits.
const bool limited = [] {
    const char *isa = std::getenv("SORTIE_ISA");
    const bool avx2 = isa && std::strcmp(isa, "avx2") == 0;
    if (avx2) hwy::DisableTargets(HWY_AVX2 - 1);
    return avx2;
}();

template <typename K> void vqsort(void *keys, size_t n, int) {
    static const hwy::Sorter sorter;
    sorter(static_cast<K *>(keys), n, hwy::SortAscending());
}

/// The bits of a float as an integer in the same order, -0.0 before 0.0, NaNs last or first by their sign.
int32_t order_of(float key) {
    int32_t bits;
    std::memcpy(&bits, &key, sizeof bits);
    return bits ^ int32_t(uint32_t(bits >> 31) >> 1);
}
int64_t order_of(double key) {
    int64_t bits;
    std::memcpy(&bits, &key, sizeof bits);
    return bits ^ int64_t(uint64_t(bits >> 63) >> 1);
}
template <typename K> K order_of(K key) { return key; }

template <typename K> void ips4o_sort(void *keys, size_t n, int threads) {
    K *first = static_cast<K *>(keys);
    const auto less = [](K a, K b) { return order_of(a) < order_of(b); };
    if (threads == 1) ips4o::sort(first, first + n, less);
    else ips4o::parallel::sort(first, first + n, less, threads);
}

struct Entry {
    std::string_view type;
    Sort vqsort, ips4o;
};

const Entry ENTRIES[] = {
    {"u8", nullptr, ips4o_sort<uint8_t>},
    {"i8", nullptr, ips4o_sort<int8_t>},
    {"u16", vqsort<uint16_t>, ips4o_sort<uint16_t>},
    {"i16", vqsort<int16_t>, ips4o_sort<int16_t>},
    {"u32", vqsort<uint32_t>, ips4o_sort<uint32_t>},
    {"i32", vqsort<int32_t>, ips4o_sort<int32_t>},
    {"u64", vqsort<uint64_t>, ips4o_sort<uint64_t>},
    {"i64", vqsort<int64_t>, ips4o_sort<int64_t>},
    {"u128", vqsort<hwy::uint128_t>, ips4o_sort<unsigned __int128>},
    {"i128", nullptr, ips4o_sort<__int128>},
    {"f32", vqsort<float>, ips4o_sort<float>},
    {"f64", vqsort<double>, ips4o_sort<double>},
};

}  // namespace

/// The sort of a peer, "vqsort" or "IPS4o", for keys of this type; null where it has none. vqsort has one thread.
extern "C" Sort sortie_peer_sort(const char *peer, const char *type) {
    const bool ips4o = std::string_view(peer) == "IPS4o";
    for (const Entry &entry : ENTRIES)
        if (entry.type == type) return ips4o ? entry.ips4o : entry.vqsort;
    return nullptr;
}
