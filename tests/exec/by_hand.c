/* What nvcc makes of an application's host code, by hand, so that a test needs no nvcc: it registers a fat binary, its kernels and variables,
 * and calls the runtime. The fat binary is a file.
 *
 *     by_hand FATBIN scale|box|edge|fault|wrong|large|refused|busy|loop N
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct { unsigned x, y, z; } Dim3;
void **__cudaRegisterFatBinary(void *);
void __cudaRegisterFatBinaryEnd(void **);
void __cudaRegisterFunction(void **, const char *, char *, const char *, int, void *, void *, void *, void *, int *);
void __cudaRegisterVar(void **, char *, char *, const char *, int, size_t, int, int);
void __cudaRegisterManagedVar(void **, void **, char *, const char *, int, size_t, int, int);
unsigned __cudaPushCallConfiguration(Dim3, Dim3, size_t, void *);
int __cudaPopCallConfiguration(Dim3 *, Dim3 *, size_t *, void *);
int cudaLaunchKernel(const void *, Dim3, Dim3, void **, size_t, void *);
int cudaMalloc(void **, size_t), cudaFree(void *), cudaMallocManaged(void **, size_t, unsigned);
int cudaMemcpy(void *, const void *, size_t, int), cudaMemset(void *, int, size_t);
int cudaMemcpy2D(void *, size_t, const void *, size_t, size_t, size_t, int);
typedef struct { void *at; size_t pitch, width, height; } Pitched;
typedef struct { size_t width, height, depth; } Extent;
typedef struct { size_t x, y, z; } Position;
typedef struct { void *from_array; Position from; Pitched from_at; void *to_array; Position to; Pitched to_at; Extent extent; int kind; } Copy3D;
int cudaMalloc3D(Pitched *, Extent), cudaMemcpy3D(const Copy3D *), cudaMemset3D(Pitched, int, Extent);
int cudaMemcpyToSymbol(const void *, const void *, size_t, size_t, int), cudaMemcpyFromSymbol(void *, const void *, size_t, size_t, int);
int cudaDeviceSynchronize(void), cudaDeviceReset(void), cudaGetLastError(void), cudaPeekAtLastError(void);
int cudaGraphCreate(void **, unsigned), cudaRuntimeGetVersion(int *), cudaGetDeviceProperties(void *, int);
int cudaEventCreate(void **), cudaEventRecord(void *, void *), cudaEventElapsedTime(float *, void *, void *);
int cudaStreamCreate(void **), cudaStreamDestroy(void *), cudaStreamSynchronize(void *);
const char *cudaGetErrorName(int), *cudaGetErrorString(int);

static char stub, edge_stub, outside_stub, factor[8], count[4];
static unsigned *total;

static void expect(int line, int error, int expected) {
    if (error == expected) return;
    printf("line %d: %s in place of %s\n", line, cudaGetErrorName(error), cudaGetErrorName(expected));
    exit(9);
}
#define EXPECT(error, expected) expect(__LINE__, error, expected)
#define GOOD(error) EXPECT(error, 0)

static void *read_file(const char *path) {
    FILE *file = fopen(path, "rb");
    static char bytes[1 << 16];
    if (!file || !fread(bytes, 1, sizeof bytes, file)) exit(8);
    fclose(file);
    return bytes;
}

static void launch(void *x, unsigned n, unsigned threads) {
    Dim3 grid, block;
    size_t shared;
    void *stream, *arguments[] = { &x, &n };
    __cudaPushCallConfiguration((Dim3){ 1, 1, 1 }, (Dim3){ threads, 1, 1 }, 0, NULL);
    GOOD(__cudaPopCallConfiguration(&grid, &block, &shared, &stream));
    cudaLaunchKernel(&stub, grid, block, arguments, shared, stream);
}

static void scale(void) {
    unsigned x[6] = { 1, 2, 3, 4, 5, 6 }, y[6] = { 0 }, two[2] = { 0, 10 }, counted;
    void *device, *from, *to, *stream;
    unsigned *managed;
    float time = -1;
    GOOD(cudaMalloc(&device, sizeof x));
    GOOD(cudaMallocManaged((void **)&managed, 8, 1));
    GOOD(cudaMemcpyToSymbol(factor, two, sizeof two, 0, 1));
    GOOD(cudaMemcpy(device, x, sizeof x, 1));
    GOOD(cudaEventCreate(&from));
    GOOD(cudaEventCreate(&to));
    GOOD(cudaStreamCreate(&stream));
    GOOD(cudaEventRecord(from, stream));
    launch(device, 5, 32);
    GOOD(cudaGetLastError());
    GOOD(cudaEventRecord(to, stream));
    GOOD(cudaEventElapsedTime(&time, from, to));
    GOOD(cudaMemcpy(y, device, sizeof y, 4));
    GOOD(cudaMemcpyFromSymbol(&counted, count, 4, 0, 4));
    printf("%u %u %u %u %u %u, %u\n", y[0], y[1], y[2], y[3], y[4], y[5], counted);
    managed[0] = 7, managed[1] = *total;
    launch(managed, 2, 64);
    printf("%u %u, %u\n", managed[0], managed[1], *total);
    GOOD(cudaMemcpy2D(y, 8, device, 12, 8, 2, 2));
    GOOD(cudaMemset(device, 1, 4));
    GOOD(cudaMemcpy(x, device, sizeof x, 2));
    printf("%u %u %u %u, %#x %u, %s\n", y[0], y[1], y[2], y[3], x[0], x[1], time >= 0 ? "time" : "no time");
    GOOD(cudaFree(managed));
    GOOD(cudaFree(device));
}

/* A box of 3 planes, 4 rows and 5 words. */
static void box(void) {
    unsigned words[60], part[12] = { 0 };
    Pitched host = { words, 20, 20, 4 }, packed = { part, 8, 8, 3 }, device;
    Extent all = { 20, 4, 3 };
    for (unsigned i = 0; i < 60; i++) words[i] = i;
    GOOD(cudaMalloc3D(&device, all));
    printf("%zu %zu %zu\n", device.pitch, device.width, device.height);
    GOOD(cudaMemcpy3D(&(Copy3D){ .from_at = host, .to_at = device, .extent = all, .kind = 1 }));
    /* The second row of the third plane. */
    launch((char *)device.at + 9 * device.pitch, 5, 32);
    GOOD(cudaMemset3D(device, 1, (Extent){ 4, 1, 3 }));
    /* Of planes 1 and 2, rows 1 to 3, words 0 and 1. */
    GOOD(cudaMemcpy3D(&(Copy3D){ .from_at = device, .from = { 0, 1, 1 }, .to_at = packed, .extent = { 8, 3, 2 }, .kind = 4 }));
    for (unsigned i = 0; i < 12; i++) printf("%u ", part[i]);
    GOOD(cudaMemcpy(part, (char *)device.at + 4 * device.pitch, 8, 2));
    printf("%#x %u\n", part[0], part[1]);
    EXPECT(cudaMemcpy3D(&(Copy3D){ .from_at = host, .to_at = device, .extent = { 24, 1, 1 }, .kind = 1 }), 12);
    EXPECT(cudaMemcpy3D(&(Copy3D){ .from_at = host, .to_at = device, .extent = { 20, 5, 2 }, .kind = 1 }), 1);
    EXPECT(cudaMemcpy3D(&(Copy3D){ .from_array = words, .to_at = device, .extent = all, .kind = 1 }), 801);
    EXPECT(cudaMemset3D(device, 1, (Extent){ 1024, 1, 1 }), 12);
}

static void edge(void) {
    unsigned x[8] = { 1, 2, 3, 4, 5, 6, 7, 8 }, n = 7;
    void *device;
    GOOD(cudaMalloc(&device, sizeof x));
    GOOD(cudaMemcpy(device, x, sizeof x, 1));
    cudaLaunchKernel(&edge_stub, (Dim3){ 1, 1, 1 }, (Dim3){ 8, 1, 1 }, (void *[]){ &device, &n }, 0, NULL);
    GOOD(cudaMemcpy(x, device, sizeof x, 2));
    for (int i = 0; i < 8; i++) printf("%u%c", x[i], i < 7 ? ' ' : '\n');
}

static void fault(void) {
    void *device;
    unsigned word;
    GOOD(cudaMalloc(&device, 24));
    GOOD(cudaFree(device));
    launch(device, 1, 32);
    printf("%s: %s\n", cudaGetErrorName(cudaPeekAtLastError()), cudaGetErrorString(cudaDeviceSynchronize()));
    EXPECT(cudaMemcpy(&word, device, 4, 2), 700);
    EXPECT(cudaGetLastError(), 700);
    EXPECT(cudaGetLastError(), 700);
    GOOD(cudaDeviceReset());
    GOOD(cudaGetLastError());
    GOOD(cudaMalloc(&device, 24));
}

static void wrong(void) {
    void *device, *stream;
    unsigned words[8];
    Dim3 one = { 1, 1, 1 };
    EXPECT(cudaLaunchKernel("no stub", one, one, NULL, 0, NULL), 98);
    EXPECT(cudaLaunchKernel(&outside_stub, one, one, (void *[]){ words }, 0, NULL), 209);
    EXPECT(cudaLaunchKernel(&stub, (Dim3){ 0, 1, 1 }, one, (void *[]){ words, words }, 0, NULL), 9);
    EXPECT(cudaLaunchKernel(&stub, one, (Dim3){ 2048, 1, 1 }, (void *[]){ words, words }, 0, NULL), 9);
    EXPECT(cudaLaunchKernel(&stub, one, one, (void *[]){ words, words }, 0, (void *)99), 400);
    GOOD(cudaMalloc(&device, 24));
    EXPECT(cudaMemcpy(words, device, 28, 2), 1);
    EXPECT(cudaMemcpy(words, device, 4, 7), 21);
    EXPECT(cudaMemcpy(words, NULL, 4, 2), 1);
    EXPECT(cudaMemcpy2D(words, 4, device, 8, 8, 2, 2), 12);
    EXPECT(cudaMemcpyToSymbol("no variable", words, 4, 0, 1), 13);
    EXPECT(cudaMemcpyToSymbol(factor, words, 4, 5, 1), 1);
    EXPECT(cudaFree((char *)device + 8), 1);
    GOOD(cudaFree(device));
    EXPECT(cudaFree(device), 1);
    GOOD(cudaFree(NULL));
    EXPECT(cudaMalloc(&device, (size_t)1 << 40), 2);
    GOOD(cudaStreamCreate(&stream));
    GOOD(cudaStreamDestroy(stream));
    EXPECT(cudaStreamSynchronize(stream), 400);
    EXPECT(cudaGetLastError(), 400);
    GOOD(cudaGetLastError());
}

/* On an SM of 8 warps. */
static void large(void) {
    unsigned *managed;
    GOOD(cudaMallocManaged((void **)&managed, 8, 1));
    launch(managed, 1, 1024);
    EXPECT(cudaGetLastError(), 701);
    managed[0] = 5;
    launch(managed, 1, 64);
    GOOD(cudaDeviceSynchronize());
    printf("%u\n", managed[0]);
}

int main(int arguments, char **argument) {
    struct { int magic, version; const void *data; void *more; } fat = { 0x466243b1, 1, read_file(argument[1]), NULL };
    int version = 0;
    char properties[2048];
    void *graph;
    void **module = __cudaRegisterFatBinary(&fat);
    __cudaRegisterFunction(module, &stub, "scale", "scale", -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterFunction(module, &edge_stub, "edge", "edge", -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterFunction(module, &outside_stub, "outside", "outside", -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterVar(module, factor, factor, "factor", 0, sizeof factor, 1, 0);
    __cudaRegisterVar(module, count, count, "count", 0, sizeof count, 0, 0);
    __cudaRegisterManagedVar(module, (void **)&total, "total", "total", 0, 4, 0, 0);
    __cudaRegisterFatBinaryEnd(module);
    GOOD(cudaRuntimeGetVersion(&version));
    memset(properties, -1, sizeof properties);
    GOOD(cudaGetDeviceProperties(properties, 0));
    printf("%d %s\n", version, properties);
    const char *mode = arguments > 2 ? argument[2] : "";
    if (!strcmp(mode, "scale")) scale();
    if (!strcmp(mode, "box")) box();
    if (!strcmp(mode, "edge")) edge();
    if (!strcmp(mode, "fault")) fault();
    if (!strcmp(mode, "wrong")) wrong();
    if (!strcmp(mode, "large")) large();
    if (!strcmp(mode, "refused")) EXPECT(cudaGraphCreate(&graph, 0), 801), EXPECT(cudaGraphCreate(&graph, 0), 801);
    if (!strcmp(mode, "busy")) {
        /* A child has a device of its own, and there is one at a time. */
        fflush(stdout);
        if (fork() == 0) _exit(cudaDeviceSynchronize());
        int status;
        wait(&status);
        printf("%s\n", cudaGetErrorName(WEXITSTATUS(status)));
    }
    if (!strcmp(mode, "loop")) {
        unsigned *managed;
        GOOD(cudaMallocManaged((void **)&managed, 8, 1));
        for (int i = 0; i < 3; i++) launch(managed, 2, 32);
        GOOD(cudaDeviceSynchronize());
        return arguments > 3 ? atoi(argument[3]) : 0;
    }
    return 0;
}
