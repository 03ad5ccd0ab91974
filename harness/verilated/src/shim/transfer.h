// Between the variables of a model, laid out as Verilator lays them out, and the chunks of CXXRTL's values.
#ifndef GPURF_TRANSFER_H
#define GPURF_TRANSFER_H
#include <cstddef>
#include <cstdint>

// A variable, and where its bits are in the design.
struct GpurfPlace {
    void* variable;
    size_t elem_bytes; // of an element of the variable
    size_t bits;       // of an element
    size_t count;      // elements
    bool rows;         // each element is a row of a memory; otherwise all are one vector, the first one on top
    uint32_t* chunks;  // what the design has
    uint32_t* next;    // where a write goes too, if not null: what a register takes next
};

// From the design to the variable.
void gpurf_get(const GpurfPlace& place);
// From the variable to the design.
void gpurf_put(const GpurfPlace& place);
// Any value, from a seed that goes on, for as many elements of so many bits.
void gpurf_scramble(uint64_t& seed, size_t bits, size_t count, uint32_t* chunks, uint32_t* next);
#endif
