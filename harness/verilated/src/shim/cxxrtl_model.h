// A model as the shim knows it. The design, the variables and their places are generated.
#ifndef GPURF_CXXRTL_MODEL_H
#define GPURF_CXXRTL_MODEL_H
#include "verilated.h"

#include "design.h"

struct @PREFIX@___024root {
    GpurfPlaces places;
@VARIABLES@};

class @PREFIX@ {
    cxxrtl_design::@DESIGN@ m_design;
    GpurfPerformer m_performer;
    @PREFIX@___024root m_root{};

public:
    @PREFIX@___024root* const rootp = &m_root;

    // What reset does not set begins with any value.
    explicit @PREFIX@(VerilatedContext* context) {
        uint64_t seed = context->seed();
        (void)seed;
@UNSET@@PLACES@    }

    void eval() { m_root.places.eval(m_design, m_performer); }
};
#endif
