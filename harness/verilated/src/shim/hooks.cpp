// What happens when the RTL prints, fails an assertion, stops or finishes: it is kept for the harness, and the process
// goes on. Verilator's own versions abort, or exit with status 0.
#include "gpurf_report.h"
#include "verilated.h"

#include <cstdarg>
#include <cstdio>

thread_local GpurfReport* gpurf_report = nullptr;

static constexpr size_t MAX_TEXT = 4096;

static void note(const std::string& text) {
    if (gpurf_report && gpurf_report->text.size() < MAX_TEXT) gpurf_report->text += text;
}

extern "C" int gpurf_printf(const char* format, ...) {
    char line[1024];
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    note(line);
    return length;
}

// $error, $fatal, $stop and failed assertions: the message has been printed; the evaluation goes on to its end.
void vl_stop(const char*, int, const char*) VL_MT_UNSAFE {
    if (gpurf_report) gpurf_report->failed = true;
}

void vl_finish(const char* file, int line, const char*) VL_MT_UNSAFE {
    note(std::string(file) + ":" + std::to_string(line) + ": the RTL called $finish\n");
    if (gpurf_report) gpurf_report->failed = true;
}

// Errors of Verilator's runtime (a loop that does not settle): the evaluation cannot be resumed.
void vl_fatal(const char* file, int line, const char*, const char* message) VL_MT_UNSAFE {
    note(std::string(file ? file : "") + ":" + std::to_string(line) + ": " + (message ? message : "fatal") + "\n");
    throw GpurfFatal{};
}
