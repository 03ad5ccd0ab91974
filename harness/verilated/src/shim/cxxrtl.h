// What the shim uses of Verilator, on top of CXXRTL: a context, a root with the variables, a model that evaluates it.
#ifndef GPURF_CXXRTL_H
#define GPURF_CXXRTL_H
#include "gpurf_report.h"
#include "gpurf_transfer.h"

#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

// CXXRTL asks for every operation to be put in place of its call. A block of a hundred lanes becomes functions that the
// compiler needs minutes for; as calls, and not optimised, it needs seconds. The standard library keeps its own.
#define __always_inline__ __unused__
#include <cxxrtl/cxxrtl.h>
#undef __always_inline__

using CData = uint8_t;
using SData = uint16_t;
using IData = uint32_t;
using QData = uint64_t;
using EData = uint32_t;

class VerilatedContext {
public:
    void randReset(int) {}
    void randSeed(int seed) { m_seed = static_cast<uint64_t>(seed); }
    uint64_t seed() const { return m_seed; }

private:
    uint64_t m_seed = 0;
};

struct Verilated {
    static void threadContextp(VerilatedContext*) {}
};

// A failed assertion is kept for the harness, and the evaluation goes on to its end.
struct GpurfPerformer : cxxrtl::performer {
    void on_print(const cxxrtl::lazy_fmt& text, const cxxrtl::metadata_map&) override { note(text()); }
    void on_check(cxxrtl::flavor kind, bool holds, const cxxrtl::lazy_fmt& text, const cxxrtl::metadata_map&) override {
        if (holds || kind == cxxrtl::flavor::COVER) return;
        note(text());
        if (gpurf_report) gpurf_report->failed = true;
    }

private:
    static void note(const std::string& text) {
        constexpr size_t MAX_TEXT = 4096;
        if (gpurf_report && gpurf_report->text.size() < MAX_TEXT) gpurf_report->text += text;
    }
};

// The places of a root's variables.
struct GpurfPlaces {
    std::vector<GpurfPlace> inputs, read, written;
    std::vector<const GpurfPlace*> handed_out;

    // A variable for reading and writing from outside: what it holds from now on goes to the design before it is evaluated again.
    template <typename Variable> Variable* outside(Variable* variable) {
        for (const GpurfPlace& place : written) {
            if (place.variable != variable) continue;
            if (handed_out_already(&place)) gpurf_put(place);
            else handed_out.push_back(&place);
            gpurf_get(place);
        }
        return variable;
    }

    template <typename Design> void eval(Design& design, GpurfPerformer& performer) {
        for (const GpurfPlace& place : inputs) gpurf_put(place);
        for (const GpurfPlace* place : handed_out) gpurf_put(*place);
        handed_out.clear();
        design.step(&performer);
        for (const GpurfPlace& place : read) gpurf_get(place);
    }

private:
    bool handed_out_already(const GpurfPlace* place) const {
        for (const GpurfPlace* other : handed_out)
            if (other == place) return true;
        return false;
    }
};
#endif
