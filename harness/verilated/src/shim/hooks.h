// Included in front of every translation unit: Verilator's runtime prints and stops through these.
#ifndef GPURF_HOOKS_H
#define GPURF_HOOKS_H
#ifdef __cplusplus
extern "C" {
#endif
int gpurf_printf(const char* format, ...) __attribute__((format(printf, 1, 2)));
#ifdef __cplusplus
}
#endif
#define VL_PRINTF gpurf_printf
#define VL_USER_STOP
#define VL_USER_FINISH
#define VL_USER_FATAL
#endif
