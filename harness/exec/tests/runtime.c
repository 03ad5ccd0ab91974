/* An application without nvcc, which registers its kernel and its variables by hand (as tests/exec/by_hand.c):
 *
 *     runtime FATBIN variables|directions|kinds|extents|launch|count|child|left
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef struct { unsigned x, y, z; } Dim3;
typedef struct { void *at; size_t pitch, width, height; } Pitched;
typedef struct { size_t width, height, depth; } Extent;
typedef struct { size_t x, y, z; } Position;
typedef struct { void *from_array; Position from; Pitched from_at; void *to_array; Position to; Pitched to_at; Extent extent; int kind; } Copy3D;
void **__cudaRegisterFatBinary(void *);
void __cudaRegisterFunction(void **, const char *, char *, const char *, int, void *, void *, void *, void *, int *);
void __cudaRegisterVar(void **, char *, char *, const char *, int, size_t, int, int);
void __cudaRegisterManagedVar(void **, void **, char *, const char *, int, size_t, int, int);
int cudaLaunchKernel(const void *, Dim3, Dim3, void **, size_t, void *);
int cudaMalloc(void **, size_t), cudaFree(void *), cudaMallocManaged(void **, size_t, unsigned);
int cudaMallocHost(void **, size_t), cudaFreeHost(void *), cudaHostRegister(void *, size_t, unsigned), cudaHostUnregister(void *);
int cudaMallocAsync(void **, size_t, void *), cudaFreeAsync(void *, void *), cudaHostGetDevicePointer(void **, void *, unsigned);
int cudaMemcpy(void *, const void *, size_t, int), cudaMemcpy2D(void *, size_t, const void *, size_t, size_t, size_t, int);
int cudaMemset(void *, int, size_t), cudaMemset3D(Pitched, int, Extent), cudaMemcpy3D(const Copy3D *);
int cudaMemcpyToSymbol(const void *, const void *, size_t, size_t, int), cudaMemcpyFromSymbol(void *, const void *, size_t, size_t, int);
int cudaGetSymbolAddress(void **, const void *), cudaPointerGetAttributes(void *, const void *);
int cudaStreamCreate(void **), cudaStreamDestroy(void *), cudaDeviceSynchronize(void), cudaDeviceReset(void);
int cudaEventCreateWithFlags(void **, unsigned), cudaEventRecord(void *, void *), cudaEventElapsedTime(float *, void *, void *);
const char *cudaGetErrorName(int);

static char stub, factor[8], count[4];
static unsigned *total;

static void expect(int line, int error, int expected) {
    if (error == expected) return;
    printf("line %d: %s in place of %s\n", line, cudaGetErrorName(error), cudaGetErrorName(expected));
    exit(9);
}
#define EXPECT(error, expected) expect(__LINE__, error, expected)
#define GOOD(error) EXPECT(error, 0)
/* A value that is no error. */
#define IS(value, expected) do { if ((value) != (expected)) printf("line %d\n", __LINE__), exit(9); } while (0)

static int type_of(const void *pointer) {
    struct { int type, device; void *on_device, *on_host; } attributes;
    char room[64];
    GOOD(cudaPointerGetAttributes(room, pointer));
    memcpy(&attributes, room, sizeof attributes);
    IS(attributes.on_device, (attributes.type == 0 ? NULL : pointer));
    IS(attributes.on_host, (attributes.type == 1 || attributes.type == 3 ? pointer : NULL));
    return attributes.type;
}

/* The address of a variable of the device is not the host's. */
static void variables(void) {
    unsigned word = 0;
    void *at, *device, *host;
    GOOD(cudaMalloc(&device, 4));
    GOOD(cudaGetSymbolAddress(&at, count));
    GOOD(cudaMemcpy(&word, at, 4, 4));
    IS(word, 100);
    GOOD(cudaMemcpy(device, at, 4, 4));
    word = 7;
    GOOD(cudaMemcpy(at, &word, 4, 4));
    GOOD(cudaMemcpy(&word, device, 4, 4));
    IS(word, 100);
    GOOD(cudaMemcpyToSymbol(factor, at, 4, 4, 4));
    GOOD(cudaMemcpyFromSymbol(&word, factor, 4, 4, 4));
    IS(word, 7);
    GOOD(cudaMallocHost(&host, 8));
    const void *pointers[] = { at, device, total, host, &word };
    const int types[] = { 2, 2, 3, 1, 0 };
    for (int i = 0; i < 5; i++) IS(type_of(pointers[i]), types[i]);
    IS(*total, 40);
    GOOD(cudaDeviceReset());
    IS(*total, 40);
    IS(type_of(total), 3);
    GOOD(cudaMemcpyFromSymbol(&word, count, 4, 0, 2));
    IS(word, 100);
}

/* Pointers that a direction does not allow, and sizes that are too large, are errors, and the device stays. */
static void directions(void) {
    unsigned words[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
    void *device, *managed;
    GOOD(cudaMalloc(&device, sizeof words));
    GOOD(cudaMallocManaged(&managed, sizeof words, 1));
    EXPECT(cudaMemcpyToSymbol(factor, device, 8, 0, 1), 1);
    EXPECT(cudaMemcpyToSymbol(factor, words, 8, 0, 3), 1);
    EXPECT(cudaMemcpyToSymbol(factor, words, (size_t)1 << 40, 0, 1), 1);
    EXPECT(cudaMemcpyToSymbol(factor, words, 4, (size_t)-2, 1), 1);
    EXPECT(cudaMemcpyToSymbol(factor, words, 8, 0, 2), 21);
    EXPECT(cudaMemcpyFromSymbol(device, factor, 8, 0, 2), 1);
    EXPECT(cudaMemcpyFromSymbol(words, factor, 8, 0, 3), 1);
    EXPECT(cudaMemcpyFromSymbol(words, factor, 8, 0, 1), 21);
    GOOD(cudaMemcpy(device, words, sizeof words, 1));
    GOOD(cudaMemcpyToSymbol(factor, device, 8, 0, 3));
    GOOD(cudaMemcpyFromSymbol(managed, factor, 8, 0, 2));
    GOOD(cudaMemcpyFromSymbol((char *)managed + 8, factor, 8, 0, 3));
    IS(memcmp(managed, (unsigned[]){ 1, 2, 1, 2 }, 16), 0);
    EXPECT(cudaMemcpy(device, words, (size_t)-4, 1), 1);
    EXPECT(cudaMemcpy(device, words, 1 << 30, 1), 1);
    EXPECT(cudaMemcpy(device, words, 33, 4), 1);
    EXPECT(cudaMemcpy((char *)device + 4, words, 32, 1), 1);
    EXPECT(cudaMemcpy(managed, words, 1 << 30, 1), 1);
    EXPECT(cudaMemcpy(words, device, 4, 1), 1);
    EXPECT(cudaMemcpy(device, words, 4, 2), 1);
    EXPECT(cudaMemcpy(device, words, 4, 3), 1);
    EXPECT(cudaMemcpy(words, device, 4, 0), 1);
    GOOD(cudaMemcpy(words + 4, device, 16, 2));
    IS(words[7], 4);
}

/* Each kind of memory has its function, and handles that are gone have none. */
static void kinds(void) {
    unsigned words[8];
    void *device, *host, *managed, *other, *stream, *events[2];
    float time;
    GOOD(cudaMalloc(&device, 64));
    GOOD(cudaMallocHost(&host, 64));
    GOOD(cudaMallocManaged(&managed, 64, 1));
    GOOD(cudaHostGetDevicePointer(&other, host, 0));
    IS(other, host);
    EXPECT(cudaFree(host), 1);
    EXPECT(cudaFreeHost(device), 1);
    EXPECT(cudaFreeHost(managed), 1);
    EXPECT(cudaFree(total), 1);
    GOOD(cudaGetSymbolAddress(&other, count));
    EXPECT(cudaFree(other), 1);
    memset(host, 1, 64), memset(managed, 1, 64);
    GOOD(cudaFreeHost(host));
    GOOD(cudaFree(managed));
    EXPECT(cudaHostUnregister(words), 713);
    GOOD(cudaHostRegister(words, sizeof words, 0));
    EXPECT(cudaHostRegister(words + 7, 4, 0), 712);
    EXPECT(cudaHostUnregister(words + 1), 713);
    GOOD(cudaHostUnregister(words));
    EXPECT(cudaHostUnregister(words), 713);
    GOOD(cudaStreamCreate(&stream));
    GOOD(cudaMallocAsync(&other, 4, stream));
    GOOD(cudaStreamDestroy(stream));
    EXPECT(cudaFreeAsync(other, stream), 400);
    EXPECT(cudaMallocAsync(&other, 4, stream), 400);
    for (int i = 0; i < 2; i++) {
        GOOD(cudaEventCreateWithFlags(&events[i], i ? 2 : 0));
        GOOD(cudaEventRecord(events[i], NULL));
    }
    GOOD(cudaEventElapsedTime(&time, events[0], events[0]));
    EXPECT(cudaEventElapsedTime(&time, events[0], events[1]), 400);
    GOOD(cudaDeviceSynchronize());
}

/* A copy that does not fit changes nothing. */
static void extents(void) {
    unsigned ones[64], found[16], none[16] = { 0 };
    void *device;
    memset(ones, 1, sizeof ones);
    GOOD(cudaMalloc(&device, sizeof found));
    GOOD(cudaMemset(device, 0, sizeof found));
    Pitched box = { device, 16, 16, 2 }, host = { ones, 16, 16, 4 };
    EXPECT(cudaMemcpy2D(device, 32, ones, 32, 32, 3, 1), 1);
    EXPECT(cudaMemcpy2D(device, 16, ones, 16, 16, (size_t)1 << 61, 1), 1);
    EXPECT(cudaMemcpy2D((char *)device + 32, 16, device, 16, 16, 3, 3), 1);
    EXPECT(cudaMemcpy3D(&(Copy3D){ .from_at = host, .to_at = box, .extent = { 16, 2, 3 }, .kind = 1 }), 1);
    EXPECT(cudaMemcpy3D(&(Copy3D){ .from_at = host, .to_at = box, .to = { 0, 1, 1 }, .extent = { 16, 2, 1 }, .kind = 1 }), 1);
    EXPECT(cudaMemcpy3D(&(Copy3D){ .from_at = host, .to_at = box, .to = { 0, 0, -1 }, .extent = { 16, 1, 2 }, .kind = 1 }), 1);
    EXPECT(cudaMemset3D(box, 1, (Extent){ 16, 2, 3 }), 1);
    EXPECT(cudaMemset3D(host, 1, (Extent){ 16, 2, 1 }), 1);
    GOOD(cudaMemcpy(found, device, sizeof found, 2));
    IS(memcmp(found, none, sizeof found), 0);
    GOOD(cudaMemcpy3D(&(Copy3D){ .from_at = host, .to_at = box, .extent = { 16, 2, 2 }, .kind = 1 }));
    GOOD(cudaMemcpy2D(found, 16, device, 16, 16, 4, 2));
    IS(memcmp(found, ones, sizeof found), 0);
    GOOD(cudaMemset3D(box, 0, (Extent){ 16, 2, 2 }));
    GOOD(cudaMemcpy(found, device, sizeof found, 2));
    IS(memcmp(found, none, sizeof found), 0);
}

/* In a child: its parent ends before it, and the test ends it. In the parent: prints the child's number. */
static void outlive(int child) {
    if (child) {
        printf("%d\n", child);
        return;
    }
    for (int file = 0; file < 3; file++) close(file);
    sleep(600);
    _exit(0);
}

int main(int arguments, char **argument) {
    static char bytes[1 << 16];
    FILE *file = fopen(argument[1], "rb");
    if (arguments < 3 || !file || !fread(bytes, 1, sizeof bytes, file)) return 8;
    struct { int magic, version; const void *data; void *more; } fat = { 0x466243b1, 1, bytes, NULL };
    const char *mode = argument[2];
    unsigned n = 1;
    void *device;
    void **module = __cudaRegisterFatBinary(&fat);
    __cudaRegisterFunction(module, &stub, "scale", "scale", -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterVar(module, factor, factor, "factor", 0, sizeof factor, 1, 0);
    __cudaRegisterVar(module, count, count, "count", 0, sizeof count, 0, 0);
    __cudaRegisterManagedVar(module, (void **)&total, "total", "total", 0, 4, 0, 0);
    GOOD(cudaMalloc(&device, 4));
    if (!strcmp(mode, "variables")) variables();
    if (!strcmp(mode, "directions")) directions();
    if (!strcmp(mode, "kinds")) kinds();
    if (!strcmp(mode, "extents")) extents();
    if (!strcmp(mode, "launch")) {
        /* The process is killed while the launch runs. */
        alarm(1);
        cudaLaunchKernel(&stub, (Dim3){ 1, 1, 1 }, (Dim3){ 1, 1, 1 }, (void *[]){ &device, &n }, 0, NULL);
    }
    if (!strcmp(mode, "count")) {
        GOOD(cudaMemcpyFromSymbol(&n, count, 4, 0, 2));
        printf("%u\n", n);
    }
    /* A child that outlives its parent. The second one has no handlers of fork: it keeps the connection of its parent. */
    if (!strcmp(mode, "child")) outlive(fork());
    if (!strcmp(mode, "left")) outlive(syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL));
    return 0;
}
