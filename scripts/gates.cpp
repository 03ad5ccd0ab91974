// A zero-delay simulation of a gate netlist that counts what switches; scripts/energy.py calls it.
//
// Nets have numbers; net 0 is constant 0, net 1 constant 1. A gate is a truth table of at most four nets; gates are in an order in
// which each follows what it reads. In each cycle registers and inputs change together, then all gates settle.
#include <cstdint>

extern "C" void simulate(
    int64_t nets, uint8_t *value,                                                       // state: also after the run
    int64_t gates, const int32_t *reads, const uint16_t *table, const int32_t *drives,  // reads: four a gate
    int64_t registers, const int32_t *d, const int32_t *q,
    int64_t inputs, const int32_t *input, const uint8_t *given,        // given: cycles x inputs
    int64_t outputs, const int32_t *output, uint8_t *seen,             // seen: cycles x outputs
    const double *rise, const double *fall,                            // energy of a net that changes
    int64_t cycles, int64_t from,                                      // counts from this cycle on
    double *energy,                                                    // of each cycle
    int64_t *rises, int64_t *falls                                     // of each net
) {
    uint8_t *before = new uint8_t[nets], *next = new uint8_t[registers];
    for (int64_t cycle = 0; cycle < cycles; cycle++) {
        for (int64_t net = 0; net < nets; net++) before[net] = value[net];
        for (int64_t i = 0; i < registers; i++) next[i] = value[d[i]];
        // What the registers hold before the first cycle is `value` itself.
        if (cycle > 0) for (int64_t i = 0; i < registers; i++) value[q[i]] = next[i];
        for (int64_t i = 0; i < inputs; i++) value[input[i]] = given[cycle * inputs + i];
        for (int64_t i = 0; i < gates; i++) {
            const int32_t *r = reads + 4 * i;
            value[drives[i]] = table[i] >> (value[r[0]] | value[r[1]] << 1 | value[r[2]] << 2 | value[r[3]] << 3) & 1;
        }
        for (int64_t i = 0; i < outputs; i++) seen[cycle * outputs + i] = value[output[i]];
        energy[cycle] = 0;
        if (cycle < from) continue;
        for (int64_t net = 0; net < nets; net++) {
            if (value[net] == before[net]) continue;
            energy[cycle] += value[net] ? rise[net] : fall[net];
            (value[net] ? rises : falls)[net]++;
        }
    }
    delete[] before;
    delete[] next;
}
