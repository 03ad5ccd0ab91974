/* What nvcc makes of an application's host code, by hand, so that a test needs no nvcc: it registers a fat binary, its kernels and variables,
 * and calls the runtime. The fat binary is a file.
 *
 *     by_hand FATBIN scale|box|edge|fault|wrong|large|extended|refused|separate|busy|wait|loop N|random SEED
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
typedef struct { unsigned id, pad, value[16]; } Attribute;
typedef struct { Dim3 grid, block; size_t shared; void *stream; Attribute *attributes; unsigned count; } Configuration;
int cudaLaunchKernelExC(const Configuration *, const void *, void **);
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
int cudaUserObjectCreate(void **, unsigned), cudaRuntimeGetVersion(int *), cudaGetDeviceProperties(void *, int);
int cudaEventCreate(void **), cudaEventRecord(void *, void *), cudaEventElapsedTime(float *, void *, void *);
int cudaStreamCreate(void **), cudaStreamDestroy(void *), cudaStreamSynchronize(void *);
int cudaEventDestroy(void *), cudaEventQuery(void *), cudaStreamWaitEvent(void *, void *, unsigned);
int cudaGetSymbolAddress(void **, const void *), cudaGetSymbolSize(size_t *, const void *), cudaFuncGetAttributes(void *, const void *);
int cudaPointerGetAttributes(void *, const void *), cudaMallocPitch(void **, size_t *, size_t, size_t), cudaMemset2D(void *, size_t, int, size_t, size_t);
int cudaDeviceGetAttribute(int *, int, int), cudaDeviceSetLimit(int, size_t), cudaDeviceGetLimit(size_t *, int), cudaSetDevice(int);
int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *, const void *, int, size_t), cudaGetFuncBySymbol(const void **, const void *);
int cudaHostGetDevicePointer(void **, void *, unsigned), cudaHostRegister(void *, size_t, unsigned), cudaHostUnregister(void *), cudaMemGetInfo(size_t *, size_t *);
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
    EXPECT(cudaMemcpy3D(&(Copy3D){ .from_array = words, .to_at = device, .extent = all, .kind = 1 }), 400);
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

/* A launch with attributes: hints, and others that ask for nothing. Attributes that ask for what the device has not are refused. */
static void extended(void) {
    unsigned *managed, n = 1;
    void *arguments[] = { &managed, &n };
    Attribute attributes[] = { { 8, 0, { 1 } }, { 4, 0, { 1, 1, 1 } }, { 2, 0, { 0 } } };
    const Attribute refused[] = { { 4, 0, { 1, 2, 1 } }, { 12, 0, { 0 } }, { 99, 0, { 0 } } };
    Configuration how = { { 1, 1, 1 }, { 64, 1, 1 }, 0, NULL, attributes, 3 };
    GOOD(cudaMallocManaged((void **)&managed, 8, 1));
    managed[0] = 5;
    GOOD(cudaLaunchKernelExC(&how, &stub, arguments));
    GOOD(cudaDeviceSynchronize());
    for (int i = 0; i < 3; i++) {
        attributes[2] = refused[i];
        EXPECT(cudaLaunchKernelExC(&how, &stub, arguments), 801);
    }
    /* Cooperative: more blocks than the SM has room for. */
    attributes[2] = (Attribute){ 2, 0, { 1 } };
    how.grid.x = 1000;
    EXPECT(cudaLaunchKernelExC(&how, &stub, arguments), 720);
    how.grid.x = 1;
    how.attributes = NULL;
    EXPECT(cudaLaunchKernelExC(&how, &stub, arguments), 1);
    EXPECT(cudaLaunchKernelExC(NULL, &stub, arguments), 1);
    how.count = 0;
    GOOD(cudaLaunchKernelExC(&how, &stub, arguments));
    GOOD(cudaDeviceSynchronize());
    printf("%u\n", managed[0]);
}

static uint64_t state;
static unsigned below(unsigned n) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (unsigned)((state >> 11) % n);
}

/* Calls at random with handles that are gone, null pointers, sizes that are too large, directions that are wrong. Each gives an error of CUDA's that has a name,
 * or works; in the end the device does what it should. Memory of the host is as large as the call says: what CUDA itself does not survive is left out. */
static void at_random(void) {
    enum { CALLS = 400, KEPT = 16 };
    static unsigned char host[1 << 16];
    static const size_t sizes[] = { 0, 1, 4, 24, 255, 4096, 1 << 16, (size_t)1 << 33, (size_t)-1 };
    void *memory[KEPT] = { NULL }, *streams[KEPT] = { NULL }, *events[KEPT] = { NULL }, *nothing;
    unsigned good = 0, wrong = 0, n;
    for (int call = 0; call < CALLS; call++) {
        void **at = &memory[below(KEPT)], **stream = &streams[below(KEPT)], **event = &events[below(KEPT)];
        char *pointer = (char *)*at + (below(4) ? 0 : below(5000));
        const void *known[] = { &stub, &edge_stub, &outside_stub, factor, count, host, NULL }, *one = known[below(7)];
        size_t size = sizes[below(9)], small = below(300), words[8] = { 0 }, offset = below(4) ? 0 : sizes[below(9)];
        int error = 0, kind = (int)below(7) - 1, values[8];
        float time;
        switch (below(30)) {
        case 0: case 1: case 2: error = cudaMalloc(below(9) ? at : NULL, size); break;
        case 3: error = cudaMallocManaged(below(9) ? at : NULL, small, 1); break;
        case 4: case 5: error = cudaFree(below(2) ? *at : pointer); break;
        case 6: case 7: error = cudaMemcpy(pointer, host, small, 1); break;
        case 8: case 9: error = cudaMemcpy(host, pointer, small, 2); break;
        case 10: error = cudaMemcpy(pointer, (char *)memory[below(KEPT)] + below(64), size, 3); break;
        /* Directions that are none, and those in which the host's memory is the device's. */
        case 11: error = cudaMemcpy(host, pointer, small, kind == 0 || kind == 4 ? 5 : kind); break;
        case 12: error = cudaMemset(pointer, (int)below(256), below(2) ? small : size); break;
        case 13: error = cudaMemset2D(pointer, below(300), 7, below(300), sizes[below(9)]); break;
        case 14: error = cudaMemcpy2D(host, 256, pointer, below(600), below(300), below(200), 2); break;
        case 15: error = cudaMallocPitch(at, below(9) ? words : NULL, size, sizes[below(9)]); break;
        case 16: error = cudaMemcpyToSymbol(one, host, small, offset, kind); break;
        case 17: error = cudaMemcpyFromSymbol(host, one, small, offset, kind); break;
        case 18: error = cudaGetSymbolAddress(below(9) ? &nothing : NULL, one); break;
        case 19: error = cudaGetSymbolSize(below(9) ? words : NULL, one); break;
        case 20: error = below(2) ? cudaStreamCreate(below(9) ? stream : NULL) : cudaStreamDestroy(*stream); break;
        case 21: error = below(2) ? cudaEventCreate(below(9) ? event : NULL) : cudaEventDestroy(*event); break;
        case 22: error = below(2) ? cudaEventRecord(*event, *stream) : cudaEventElapsedTime(below(9) ? &time : NULL, *event, events[below(KEPT)]); break;
        case 23: error = below(2) ? cudaStreamWaitEvent(*stream, *event, 0) : cudaEventQuery(*stream); break;
        case 24: error = below(2) ? cudaFuncGetAttributes(below(9) ? host : NULL, one) : cudaGetFuncBySymbol(below(9) ? known : NULL, one); break;
        case 25: error = below(2) ? cudaPointerGetAttributes(below(9) ? host : NULL, pointer) : cudaHostGetDevicePointer(&nothing, pointer, 0); break;
        case 26: error = below(2) ? cudaDeviceGetAttribute(below(9) ? values : NULL, (int)below(200) - 9, (int)below(2)) : cudaSetDevice((int)below(3) - 1); break;
        case 27: error = below(2) ? cudaDeviceSetLimit((int)below(9) - 1, size) : cudaDeviceGetLimit(below(9) ? words : NULL, (int)below(9) - 1); break;
        case 28: error = below(2) ? cudaOccupancyMaxActiveBlocksPerMultiprocessor(values, one, (int)below(3000) - 9, size) : cudaMemGetInfo(words, below(9) ? words : NULL); break;
        default:
            n = below(40);
            error = cudaLaunchKernel(one, (Dim3){ below(3), 1, below(9) ? 1 : 70000 }, (Dim3){ below(40), below(9) ? 1 : 64, 1 },
                                     below(9) ? (void *[]){ &pointer, below(9) ? &n : NULL } : NULL, below(9) ? 0 : size, below(4) ? NULL : *stream);
        }
        if (!strcmp(cudaGetErrorName(error), "unrecognized error code")) printf("error %d has no name\n", error), exit(9);
        if (cudaPeekAtLastError() == 700 || cudaPeekAtLastError() == 716) {
            /* A launch has ended the device. */
            EXPECT(cudaStreamSynchronize(NULL), cudaPeekAtLastError());
            GOOD(cudaDeviceReset());
            memset(memory, 0, sizeof memory);
        }
        if (error) wrong++; else good++;
    }
    GOOD(cudaDeviceReset());
    printf("%s\n", good > 100 && wrong > 100 ? "good and wrong" : "too few");
    scale();
}

int main(int arguments, char **argument) {
    const char *mode = arguments > 2 ? argument[2] : "";
    struct { int magic, version; const void *data; void *more; } fat = { 0x466243b1, 1, read_file(argument[1]), NULL };
    if (!strcmp(mode, "separate")) fat.version = 2;
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
    if (!strcmp(mode, "scale")) scale();
    if (!strcmp(mode, "box")) box();
    if (!strcmp(mode, "edge")) edge();
    if (!strcmp(mode, "fault")) fault();
    if (!strcmp(mode, "wrong")) wrong();
    if (!strcmp(mode, "large")) large();
    if (!strcmp(mode, "extended")) extended();
    if (!strcmp(mode, "random")) {
        state = strtoull(argument[3], NULL, 10) * 0x9e3779b97f4a7c15u | 1;
        at_random();
    }
    if (!strcmp(mode, "refused")) {
        EXPECT(cudaUserObjectCreate(&graph, 0), 801);
        EXPECT(cudaUserObjectCreate(&graph, 0), 801);
        EXPECT(cudaDeviceSetLimit(2, 1 << 20), 215);
        /* A kernel cannot access the program's own memory. */
        void *device = NULL;
        GOOD(cudaHostRegister(properties, sizeof properties, 2));
        EXPECT(cudaHostGetDevicePointer(&device, properties + 100, 0), 801);
        GOOD(cudaHostUnregister(properties));
        EXPECT(cudaHostGetDevicePointer(&device, properties + 100, 0), 1);
    }
    if (!strcmp(mode, "busy")) {
        /* A child has a device of its own, and there is one at a time. */
        fflush(stdout);
        if (fork() == 0) _exit(cudaDeviceSynchronize());
        int status;
        wait(&status);
        printf("%s\n", cudaGetErrorName(WEXITSTATUS(status)));
    }
    if (!strcmp(mode, "wait")) {
        printf("%d\n", (int)getpid());
        fflush(stdout);
        for (;;) pause();
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
