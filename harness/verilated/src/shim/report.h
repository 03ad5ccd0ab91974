// What the RTL said in the current call.
#ifndef GPURF_REPORT_H
#define GPURF_REPORT_H
#include <string>

struct GpurfReport {
    std::string text;
    bool failed = false;
    bool dead = false;
    bool clocked = false; // behind the first clock edge, or without a clock
};

// Thrown where the evaluation cannot go on.
struct GpurfFatal {};

extern thread_local GpurfReport* gpurf_report;
#endif
