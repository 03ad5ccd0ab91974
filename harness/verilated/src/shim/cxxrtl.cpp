// What is the same for all models of CXXRTL.
#include "gpurf_report.h"
#include "gpurf_transfer.h"

#include <cstring>

thread_local GpurfReport* gpurf_report = nullptr;

namespace {

constexpr size_t CHUNK = 32;

size_t chunks_of(size_t bits) { return (bits + CHUNK - 1) / CHUNK; }

// Up to 32 bits of a vector.
uint32_t extract(const uint32_t* from, size_t at, size_t bits) {
    const size_t shift = at % CHUNK;
    uint64_t value = from[at / CHUNK];
    if (shift + bits > CHUNK) value |= static_cast<uint64_t>(from[at / CHUNK + 1]) << CHUNK;
    return static_cast<uint32_t>((value >> shift) & ((uint64_t{1} << bits) - 1));
}

void insert(uint32_t* to, size_t at, size_t bits, uint32_t value) {
    const size_t shift = at % CHUNK;
    const uint64_t mask = ((uint64_t{1} << bits) - 1) << shift;
    const uint64_t placed = (static_cast<uint64_t>(value) << shift) & mask;
    uint32_t& low = to[at / CHUNK];
    low = (low & ~static_cast<uint32_t>(mask)) | static_cast<uint32_t>(placed);
    if (mask >> CHUNK) {
        uint32_t& high = to[at / CHUNK + 1];
        high = (high & ~static_cast<uint32_t>(mask >> CHUNK)) | static_cast<uint32_t>(placed >> CHUNK);
    }
}

// Calls `step` for each part of each element: the part's bytes, its bits, the chunks it is in, and where in them it begins.
template <typename Step> void each(const GpurfPlace& place, Step step) {
    const size_t row = chunks_of(place.bits);
    for (size_t i = 0; i < place.count; ++i) {
        auto* const element = static_cast<uint8_t*>(place.variable) + i * place.elem_bytes;
        const size_t chunk = place.rows ? i * row : 0;
        const size_t base = place.rows ? 0 : (place.count - 1 - i) * place.bits;
        for (size_t done = 0; done < place.bits; done += CHUNK) {
            const size_t bits = place.bits - done < CHUNK ? place.bits - done : CHUNK;
            step(element + done / 8, bits, chunk, base + done);
        }
    }
}

} // namespace

void gpurf_get(const GpurfPlace& place) {
    each(place, [&](uint8_t* part, size_t bits, size_t chunk, size_t at) {
        const uint32_t value = extract(place.chunks + chunk, at, bits);
        // Little-endian, as Verilator's own exchange of records assumes.
        memcpy(part, &value, place.elem_bytes < sizeof(value) ? place.elem_bytes : sizeof(value));
    });
}

void gpurf_put(const GpurfPlace& place) {
    each(place, [&](const uint8_t* part, size_t bits, size_t chunk, size_t at) {
        uint32_t value = 0;
        memcpy(&value, part, place.elem_bytes < sizeof(value) ? place.elem_bytes : sizeof(value));
        insert(place.chunks + chunk, at, bits, value);
        if (place.next) insert(place.next + chunk, at, bits, value);
    });
}

void gpurf_scramble(uint64_t& seed, size_t bits, size_t count, uint32_t* chunks, uint32_t* next) {
    const size_t row = chunks_of(bits);
    for (size_t i = 0; i < count * row; ++i) {
        seed += 0x9e3779b97f4a7c15; // splitmix64
        uint64_t z = seed;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        const bool last = i % row == row - 1;
        const uint32_t mask = last && bits % CHUNK ? (1u << bits % CHUNK) - 1 : ~0u;
        chunks[i] = next[i] = static_cast<uint32_t>(z ^ (z >> 31)) & mask;
    }
}
