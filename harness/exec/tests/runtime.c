/* An application without nvcc, which registers its kernel and its variables by hand (as tests/exec/by_hand.c):
 *
 *     runtime FATBIN variables|directions|kinds|extents|launch|count|child|left
 *     runtime FATBIN arrays|array-errors|headers|objects|forgotten|random
 *     runtime FATBIN graphs|graph-updates|graph-errors|capture|capture-errors|graph-memory|graphs-forgotten|graphs-reset|graphs-random
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
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

/* ----------------------------------------------------------------------------------- arrays, textures and surfaces */

typedef struct { int x, y, z, w, kind; } Channels;
/* The structures of each version of CUDA. */
typedef struct {
    int type;
    union {
        void *array;
        struct { void *at; Channels channels; size_t bytes; } linear;
        struct { void *at; Channels channels; size_t width, height, pitch; } pitched;
#if CUDART >= 13
        int reserved[32];
    };
    unsigned flags;
#else
    };
#endif
} Resource;
typedef struct {
    int modes[3], filter, normalises, srgb;
    float border[4];
    int normalised;
    unsigned anisotropy;
    int mipmap_filter;
    float bias, lowest, highest;
    int trilinear;
#if CUDART > 11
    int seamless;
#endif
} Sampler;
typedef struct { Sampler first; int seamless; } SamplerV2;
_Static_assert(sizeof(Resource) == (CUDART >= 13 ? 144 : 64) && sizeof(Sampler) == (CUDART > 11 ? 72 : 68), "as in the headers of CUDA");
typedef unsigned long long Object;
Channels cudaCreateChannelDesc(int, int, int, int, int);
int cudaMallocArray(void **, const Channels *, size_t, size_t, unsigned), cudaMalloc3DArray(void **, const Channels *, Extent, unsigned);
int cudaFreeArray(void *), cudaArrayGetInfo(Channels *, Extent *, unsigned *, void *), cudaGetChannelDesc(Channels *, void *);
int cudaMemcpyToArray(void *, size_t, size_t, const void *, size_t, int), cudaMemcpyFromArray(void *, void *, size_t, size_t, size_t, int);
int cudaMemcpyToArrayAsync(void *, size_t, size_t, const void *, size_t, int, void *);
int cudaMemcpyFromArrayAsync(void *, void *, size_t, size_t, size_t, int, void *);
int cudaMemcpyArrayToArray(void *, size_t, size_t, void *, size_t, size_t, size_t, int);
int cudaMemcpyPeerAsync(void *, int, const void *, int, size_t, void *);
int cudaMemcpy2DToArray(void *, size_t, size_t, const void *, size_t, size_t, size_t, int);
int cudaMemcpy2DToArrayAsync(void *, size_t, size_t, const void *, size_t, size_t, size_t, int, void *);
int cudaMemcpy2DFromArray(void *, size_t, void *, size_t, size_t, size_t, size_t, int);
int cudaMemcpy2DFromArrayAsync(void *, size_t, void *, size_t, size_t, size_t, size_t, int, void *);
int cudaMemcpy2DArrayToArray(void *, size_t, size_t, void *, size_t, size_t, size_t, size_t, int);
int cudaMemcpy2DToArray_ptds(void *, size_t, size_t, const void *, size_t, size_t, size_t, int), cudaMemcpy3DAsync(const Copy3D *, void *);
int cudaCreateTextureObject(Object *, const Resource *, const Sampler *, const void *), cudaDestroyTextureObject(Object);
int cudaGetTextureObjectResourceDesc(Resource *, Object), cudaGetTextureObjectTextureDesc(Sampler *, Object);
int cudaGetTextureObjectResourceViewDesc(void *, Object);
int cudaCreateTextureObject_v2(Object *, const Resource *, const SamplerV2 *, const void *), cudaGetTextureObjectTextureDesc_v2(SamplerV2 *, Object);
int cudaCreateSurfaceObject(Object *, const Resource *), cudaDestroySurfaceObject(Object), cudaGetSurfaceObjectResourceDesc(Resource *, Object);
int cudaDeviceGetTexture1DLinearMaxWidth(size_t *, const Channels *, int), cudaDeviceGetAttribute(int *, int, int);
int cudaMemGetInfo(size_t *, size_t *);
int cudaMallocPitch(void **, size_t *, size_t, size_t);

enum { LAYERED = 1, STORED = 2, CUBE = 4, GATHERED = 8 };
static const Channels BYTE = { 8, 0, 0, 0, 1 }, BYTES4 = { 8, 8, 8, 8, 1 }, SHORT = { 16, 0, 0, 0, 0 }, HALF = { 16, 0, 0, 0, 2 };
static const Channels INT = { 32, 0, 0, 0, 0 }, FLOAT1 = { 32, 0, 0, 0, 2 }, FLOAT2 = { 32, 32, 0, 0, 2 };

static size_t free_bytes(void) {
    size_t left, all;
    GOOD(cudaMemGetInfo(&left, &all));
    return left;
}

static void *new_array(Channels channels, size_t width, size_t height, size_t depth, unsigned flags) {
    void *array;
    GOOD(cudaMalloc3DArray(&array, &channels, (Extent){ width, height, depth }, flags));
    return array;
}

/* Bytes that count from 1, so that no two of an array are the same, and none is that of a new array. */
static unsigned char counted[192];

static void arrays(void) {
    unsigned char found[192] = { 0 }, expected[192] = { 0 };
    Channels channels = cudaCreateChannelDesc(32, 32, 0, 0, 2);
    Extent extent;
    unsigned flags = 9;
    void *array, *other, *device, *stream;
    for (size_t i = 0; i < sizeof counted; i++) counted[i] = (unsigned char)(i + 1);
    IS(memcmp(&channels, &FLOAT2, sizeof channels), 0);

    /* One dimension; an array counts as its texels. */
    size_t before = free_bytes();
    GOOD(cudaMallocArray(&array, &channels, 5, 0, STORED));
    IS(before - free_bytes(), 40);
    GOOD(cudaMemcpyToArray(array, 8, 0, counted, 32, 1));
    GOOD(cudaMemcpyFromArray(found, array, 0, 0, 40, 2));
    memcpy(expected + 8, counted, 32);
    IS(memcmp(found, expected, 40), 0);
    GOOD(cudaArrayGetInfo(&channels, &extent, &flags, array));
    IS(memcmp(&channels, &FLOAT2, sizeof channels) || extent.width != 5 || extent.height || extent.depth || flags != STORED, 0);
    GOOD(cudaArrayGetInfo(NULL, NULL, NULL, array));
    memset(&channels, 0, sizeof channels);
    GOOD(cudaGetChannelDesc(&channels, array));
    IS(memcmp(&channels, &FLOAT2, sizeof channels), 0);
    GOOD(cudaFreeArray(array));
    IS(free_bytes(), before);

    /* Two dimensions: rows of 4 texels of 4 bytes. */
    array = new_array(BYTES4, 4, 3, 0, 0), other = new_array(BYTES4, 4, 3, 0, 0);
    memset(expected, 0, sizeof expected);
    GOOD(cudaMemcpy2DToArray(array, 4, 1, counted, 20, 12, 2, 1));
    for (int row = 0; row < 2; row++) memcpy(expected + 16 + 16 * row + 4, counted + 20 * row, 12);
    GOOD(cudaMemcpyFromArray(found, array, 0, 0, 48, 4));
    IS(memcmp(found, expected, 48), 0);
    memset(found, 0, sizeof found);
    GOOD(cudaMemcpy2DFromArray(found, 10, array, 8, 1, 8, 2, 2));
    IS(memcmp(found, counted + 4, 8) || memcmp(found + 10, counted + 24, 8) || found[8] || found[9], 0);
    GOOD(cudaMemcpy2DArrayToArray(other, 0, 0, array, 4, 1, 12, 2, 3));
    GOOD(cudaMemcpy2DFromArray(found, 16, other, 0, 0, 16, 3, 4));
    for (int row = 0; row < 2; row++) IS(memcmp(found + 16 * row, counted + 20 * row, 12), 0);
    /* Copies of bytes go on in the next row. */
    GOOD(cudaMemcpyToArray(array, 12, 1, counted, 12, 1));
    GOOD(cudaMemcpyArrayToArray(other, 8, 0, array, 12, 1, 12, 3));
    GOOD(cudaMemcpyFromArray(found, other, 8, 0, 12, 2));
    IS(memcmp(found, counted, 12), 0);
    /* From memory of the device, and in a stream. */
    GOOD(cudaMalloc(&device, 48));
    GOOD(cudaStreamCreate(&stream));
    GOOD(cudaMemcpy(device, counted + 100, 48, 1));
    GOOD(cudaMemcpy2DToArrayAsync(array, 0, 0, device, 16, 16, 3, 3, stream));
    GOOD(cudaMemset(device, 0, 48));
    GOOD(cudaMemcpy2DFromArrayAsync(device, 16, array, 0, 0, 16, 3, 4, stream));
    GOOD(cudaMemcpy(found, device, 48, 2));
    IS(memcmp(found, counted + 100, 48), 0);
    GOOD(cudaMemcpyToArrayAsync(array, 0, 0, counted, 48, 1, stream));
    GOOD(cudaMemcpyFromArrayAsync(found, array, 0, 0, 48, 2, stream));
    IS(memcmp(found, counted, 48), 0);
    /* The pitch of a single row does not matter. */
    GOOD(cudaMemcpy2DToArray(array, 0, 0, counted + 9, 0, 16, 1, 1));
    GOOD(cudaMemcpy2DFromArray(found, 0, array, 0, 0, 16, 1, 2));
    IS(memcmp(found, counted + 9, 16), 0);
    GOOD(cudaMemcpyPeerAsync(device, 0, device, 0, 16, stream));
    EXPECT(cudaMemcpyPeerAsync(device, 1, device, 0, 16, stream), 101);
    GOOD(cudaMemcpy2DToArray_ptds(array, 0, 0, counted + 1, 16, 16, 3, 1));
    GOOD(cudaStreamDestroy(stream));
    EXPECT(cudaMemcpy2DToArrayAsync(array, 0, 0, counted, 16, 16, 3, 1, stream), 400);
    EXPECT(cudaMemcpy2DFromArrayAsync(found, 16, array, 0, 0, 16, 3, 2, stream), 400);
    EXPECT(cudaMemcpyToArrayAsync(array, 0, 0, counted, 48, 1, stream), 400);
    EXPECT(cudaMemcpyFromArrayAsync(found, array, 0, 0, 48, 2, stream), 400);
    GOOD(cudaMemcpyFromArray(found, array, 0, 0, 48, 2));
    IS(memcmp(found, counted + 1, 48), 0);

    /* Three dimensions: 4 x 3 x 2 texels of 2 bytes. Extents and positions in an array count texels, those in memory bytes. */
    array = new_array(SHORT, 4, 3, 2, 0), other = new_array(SHORT, 5, 3, 3, 0);
    Pitched host = { counted, 12, 12, 4 }, back = { found, 8, 8, 3 };
    GOOD(cudaMemcpy3D(&(Copy3D){ .from_at = host, .from = { 2, 1, 0 }, .to_array = array, .to = { 1, 1, 0 }, .extent = { 3, 2, 2 }, .kind = 1 }));
    memset(expected, 0, sizeof expected);
    for (int z = 0; z < 2; z++) for (int y = 0; y < 2; y++) memcpy(expected + (3 * z + y + 1) * 8 + 2, counted + (4 * z + y + 1) * 12 + 2, 6);
    GOOD(cudaMemcpy3D(&(Copy3D){ .from_array = array, .to_at = back, .extent = { 4, 3, 2 }, .kind = 2 }));
    IS(memcmp(found, expected, 48), 0);
    /* An array is on the device, whatever the direction says. */
    GOOD(cudaMemcpy3D(&(Copy3D){ .from_array = array, .from = { 1, 1, 0 }, .to_array = other, .to = { 2, 0, 1 }, .extent = { 3, 2, 2 }, .kind = 0 }));
    memset(found, 0, sizeof found);
    GOOD(cudaMemcpy3DAsync(&(Copy3D){ .from_array = other, .from = { 2, 0, 1 }, .to_at = { found, 6, 6, 2 }, .extent = { 3, 2, 2 }, .kind = 0 }, NULL));
    for (int z = 0; z < 2; z++) for (int y = 0; y < 2; y++) IS(memcmp(found + (2 * z + y) * 6, counted + (4 * z + y + 1) * 12 + 2, 6), 0);
    GOOD(cudaMemcpy3D(&(Copy3D){ .from_at = { device, 8, 8, 3 }, .to_array = array, .extent = { 4, 3, 2 }, .kind = 3 }));

    /* Layers of one dimension, faces of cubes. */
    array = new_array(INT, 4, 0, 3, LAYERED);
    GOOD(cudaMemcpy3D(&(Copy3D){ .from_at = { counted, 16, 16, 1 }, .to_array = array, .to = { 0, 0, 1 }, .extent = { 4, 1, 2 }, .kind = 4 }));
    GOOD(cudaMemcpy3D(&(Copy3D){ .from_array = array, .to_at = { found, 16, 16, 1 }, .extent = { 4, 1, 3 }, .kind = 4 }));
    memset(expected, 0, 16), memcpy(expected + 16, counted, 32);
    IS(memcmp(found, expected, 48), 0);
    array = new_array(BYTE, 2, 2, 12, CUBE | LAYERED | STORED);
    GOOD(cudaMemcpy3D(&(Copy3D){ .from_at = { counted, 2, 2, 2 }, .to_array = array, .to = { 0, 0, 6 }, .extent = { 2, 2, 6 }, .kind = 1 }));
    GOOD(cudaMemcpy3D(&(Copy3D){ .from_array = array, .from = { 0, 0, 7 }, .to_at = { found, 2, 2, 2 }, .extent = { 2, 2, 5 }, .kind = 2 }));
    IS(memcmp(found, counted + 4, 20), 0);
    GOOD(cudaArrayGetInfo(NULL, &extent, &flags, array));
    IS(extent.width != 2 || extent.height != 2 || extent.depth != 12 || flags != (CUBE | LAYERED | STORED), 0);
    new_array(BYTE, 2, 2, 6, CUBE), new_array(BYTE, 3, 2, 7, LAYERED), new_array(BYTE, 3, 2, 0, GATHERED), new_array(BYTE, 1, 1, 20000, 0);
}

static int limit(int attribute) {
    int value;
    GOOD(cudaDeviceGetAttribute(&value, attribute, 0));
    return value;
}

static void array_errors(void) {
    void *array = &array, *other, *bytes;
    unsigned words[32], found[16], none[16] = { 0 };
    size_t wide, before = free_bytes();
    memset(words, 1, sizeof words);
    /* Formats. */
    const Channels bad[] = { { 0 }, { 8, 8, 8, 0, 1 }, { 8, 16, 0, 0, 1 }, { 0, 8, 0, 0, 1 }, { 64, 0, 0, 0, 1 }, { 8, 0, 0, 0, 2 }, { 8, 0, 0, 0, 3 },
                             { 8, 0, 0, 0, -1 }, { 8, 0, 0, 0, 99 }, { -8, 0, 0, 0, 0 }, { 8, 0, 8, 0, 0 } };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) EXPECT(cudaMallocArray(&array, &bad[i], 4, 4, 0), 20);
    IS(array, NULL);
    EXPECT(cudaMallocArray(&array, &(Channels){ 8, 8, 8, 8, 17 }, 4, 4, 0), 801);
    EXPECT(cudaMallocArray(NULL, &INT, 4, 4, 0), 1);
    EXPECT(cudaMallocArray(&array, NULL, 4, 4, 0), 1);
    EXPECT(cudaMalloc3DArray(NULL, &INT, (Extent){ 1, 0, 0 }, 0), 1);
    EXPECT(cudaDeviceGetTexture1DLinearMaxWidth(&wide, &bad[1], 0), 20);
    EXPECT(cudaDeviceGetTexture1DLinearMaxWidth(&wide, &INT, 1), 101);
    EXPECT(cudaDeviceGetTexture1DLinearMaxWidth(NULL, &INT, 0), 1);
    GOOD(cudaDeviceGetTexture1DLinearMaxWidth(&wide, &INT, 0));
    IS(wide, (size_t)limit(69));
    /* Flags and extents. */
    EXPECT(cudaMallocArray(&array, &INT, 4, 4, LAYERED), 1);
    EXPECT(cudaMallocArray(&array, &INT, 4, 4, CUBE), 1);
    EXPECT(cudaMallocArray(&array, &INT, 4, 4, 16), 1);
    EXPECT(cudaMallocArray(&array, &INT, 4, 4, 0x40), 801);
    EXPECT(cudaMallocArray(&array, &INT, 4, 4, 0x80), 801);
    const struct { Extent extent; unsigned flags; } wrong[] = {
        { { 0, 0, 0 }, 0 }, { { 0, 4, 0 }, 0 }, { { 4, 0, 4 }, 0 }, { { 4, 0, 0 }, LAYERED }, { { 4, 4, 0 }, LAYERED },
        { { 4, 4, 5 }, CUBE }, { { 4, 4, 12 }, CUBE }, { { 4, 2, 6 }, CUBE },
        { { 4, 4, 8 }, CUBE | LAYERED }, { { 4, 4, 0 }, CUBE | LAYERED }, { { 0, 0, 6 }, CUBE },
        { { 4, 0, 0 }, GATHERED }, { { 4, 4, 4 }, GATHERED }, { { 4, 4, 4 }, GATHERED | LAYERED }, { { (size_t)limit(45) + 1, 1, 0 }, GATHERED },
        { { (size_t)limit(21) + 1, 0, 0 }, 0 }, { { (size_t)limit(55) + 1, 0, 0 }, STORED }, { { 1, (size_t)limit(23) + 1, 0 }, 0 },
        { { 1, 1, (size_t)limit(49) + 1 }, 0 }, { { (size_t)limit(47) + 1, 1, (size_t)limit(26) + 1 }, 0 },
        { { 1, 1, (size_t)limit(60) + 1 }, STORED },
        { { 1, 0, (size_t)limit(43) + 1 }, LAYERED }, { { 1, 1, (size_t)limit(29) + 1 }, LAYERED },
        { { 1, 1, (size_t)limit(54) + 6 }, CUBE | LAYERED },
        { { SIZE_MAX, SIZE_MAX, SIZE_MAX }, 0 },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) EXPECT(cudaMalloc3DArray(&array, &BYTE, wrong[i].extent, wrong[i].flags), 1);
    EXPECT(cudaMallocArray(&array, &INT, 65536, 65536, 0), 2);
    IS(free_bytes(), before);
    GOOD(cudaMallocArray(&array, &BYTE, (size_t)limit(21), 0, 0));
    GOOD(cudaMallocArray(&other, &BYTE, (size_t)limit(55), 0, STORED));
    GOOD(cudaFreeArray(other));

    /* Handles. */
    EXPECT(cudaFreeArray(&array), 400);
    GOOD(cudaFreeArray(NULL));
    GOOD(cudaFreeArray(array));
    EXPECT(cudaFreeArray(array), 400);
    EXPECT(cudaArrayGetInfo(NULL, NULL, NULL, array), 400);
    EXPECT(cudaArrayGetInfo(NULL, NULL, NULL, NULL), 1);
    EXPECT(cudaGetChannelDesc(NULL, array), 1);
    EXPECT(cudaMemcpyToArray(array, 0, 0, words, 4, 1), 400);
    EXPECT(cudaMemcpyFromArray(words, array, 0, 0, 4, 2), 400);
    EXPECT(cudaMemcpy2DToArray(array, 0, 0, words, 4, 4, 1, 1), 400);
    EXPECT(cudaMemcpy2DFromArray(words, 4, array, 0, 0, 4, 1, 2), 400);
    EXPECT(cudaMemcpy3D(&(Copy3D){ .from_array = array, .to_at = { words, 4, 4, 1 }, .extent = { 1, 1, 1 }, .kind = 2 }), 400);
    EXPECT(cudaMemcpy3D(&(Copy3D){ .from_at = { words, 4, 4, 1 }, .to_array = array, .extent = { 1, 1, 1 }, .kind = 1 }), 400);
    array = new_array(INT, 4, 2, 2, 0), other = new_array(SHORT, 4, 2, 2, 0);
    EXPECT(cudaMemcpy(array, words, 4, 1), 1);
    EXPECT(cudaMemcpyArrayToArray(array, 0, 0, &words, 0, 0, 4, 3), 400);
    EXPECT(cudaMemcpy2DArrayToArray(&words, 0, 0, array, 0, 0, 4, 1, 3), 400);

    /* Copies that do not fit, or in a wrong direction. */
    EXPECT(cudaMemcpyToArray(array, 0, 0, words, 36, 1), 1);
    EXPECT(cudaMemcpyToArray(array, 4, 0, words, 32, 1), 1);
    EXPECT(cudaMemcpyToArray(array, 16, 0, words, 4, 1), 1);
    EXPECT(cudaMemcpyToArray(array, 0, 2, words, 4, 1), 1);
    EXPECT(cudaMemcpyToArray(array, 2, 0, words, 4, 1), 1);
    EXPECT(cudaMemcpyToArray(array, 0, 0, words, 6, 1), 1);
    EXPECT(cudaMemcpyToArray(array, (size_t)-4, 0, words, 4, 1), 1);
    EXPECT(cudaMemcpyToArray(array, 0, (size_t)-1, words, 4, 1), 1);
    EXPECT(cudaMemcpyToArray(array, 0, 0, words, (size_t)-4, 1), 1);
    EXPECT(cudaMemcpyToArray(array, 0, 0, NULL, 4, 1), 1);
    EXPECT(cudaMemcpyToArray(array, 0, 0, words, 4, 2), 21);
    EXPECT(cudaMemcpyToArray(array, 0, 0, words, 4, 0), 21);
    EXPECT(cudaMemcpyToArray(array, 0, 0, words, 4, 3), 1);
    EXPECT(cudaMemcpyFromArray(words, array, 0, 0, 4, 1), 21);
    EXPECT(cudaMemcpyFromArray(words, array, 0, 1, 20, 2), 1);
    EXPECT(cudaMemcpyArrayToArray(array, 0, 0, array, 0, 0, 4, 1), 21);
    EXPECT(cudaMemcpyArrayToArray(array, 0, 1, array, 0, 0, 20, 3), 1);
    EXPECT(cudaMemcpy2DToArray(array, 4, 0, words, 16, 16, 1, 1), 1);
    EXPECT(cudaMemcpy2DToArray(array, 0, 0, words, 0, 16, 2, 1), 12);
    EXPECT(cudaMemcpy2DToArray(array, 0, 1, words, 16, 16, 2, 1), 1);
    EXPECT(cudaMemcpy2DToArray(array, 2, 0, words, 16, 8, 1, 1), 1);
    EXPECT(cudaMemcpy2DToArray(array, 0, 0, words, 16, 6, 1, 1), 1);
    EXPECT(cudaMemcpy2DToArray(array, 0, 0, words, 12, 16, 2, 1), 12);
    EXPECT(cudaMemcpy2DToArray(array, 0, 0, NULL, 16, 16, 1, 1), 1);
    EXPECT(cudaMemcpy2DToArray(array, 0, 0, words, 16, 16, 1, 2), 21);
    EXPECT(cudaMemcpy2DToArray(array, (size_t)-4, 0, words, 16, 8, 1, 1), 1);
    EXPECT(cudaMemcpy2DFromArray(words, 12, array, 0, 0, 16, 2, 2), 12);
    EXPECT(cudaMemcpy2DFromArray(words, 16, array, 0, 0, 16, 1, 1), 21);
    EXPECT(cudaMemcpy2DFromArray(words, 32, array, 0, 0, 20, 1, 2), 1);
    EXPECT(cudaMemcpy2DArrayToArray(array, 0, 0, array, 4, 0, 16, 1, 3), 1);
    EXPECT(cudaMemcpy2DArrayToArray(array, 0, 0, array, 0, 0, 16, 1, 2), 21);
    EXPECT(cudaMemcpy2DArrayToArray(array, 0, 0, other, 0, 0, 8, 1, 3), 1);
    Pitched host = { words, 16, 16, 2 };
    const Copy3D copies[] = {
        { .from_at = host, .to_array = array, .extent = { 5, 1, 1 }, .kind = 1 },
        { .from_at = host, .to_array = array, .extent = { 4, 3, 1 }, .kind = 1 },
        { .from_at = host, .to_array = array, .extent = { 4, 2, 3 }, .kind = 1 },
        { .from_at = host, .to_array = array, .to = { 1, 0, 0 }, .extent = { 4, 2, 2 }, .kind = 1 },
        { .from_at = host, .to_array = array, .to = { 0, 1, 0 }, .extent = { 4, 2, 1 }, .kind = 1 },
        { .from_at = host, .to_array = array, .to = { 0, 0, 1 }, .extent = { 4, 2, 2 }, .kind = 1 },
        { .from_at = host, .to_array = array, .to = { -1, 0, 0 }, .extent = { 2, 1, 1 }, .kind = 1 },
        { .from_at = host, .to_array = array, .extent = { (size_t)1 << 62, 1, 1 }, .kind = 1 },
        { .from_at = host, .to_array = array, .to_at = host, .extent = { 1, 1, 1 }, .kind = 1 },
        { .from_at = host, .from_array = array, .to_at = host, .extent = { 1, 1, 1 }, .kind = 2 },
        { .from_array = other, .to_array = array, .extent = { 1, 1, 1 }, .kind = 3 }, { .to_array = array, .extent = { 1, 1, 1 }, .kind = 1 },
        { .from_at = host, .to_array = array, .extent = { 1, 1, 1 }, .kind = 3 },
        { .from_at = { words, 16, 16, 1 }, .to_array = array, .extent = { 4, 2, 2 }, .kind = 1 },
    };
    for (size_t i = 0; i < sizeof copies / sizeof copies[0]; i++) EXPECT(cudaMemcpy3D(&copies[i]), 1);
    EXPECT(cudaMemcpy3D(&(Copy3D){ .from_at = { words, 12, 12, 2 }, .to_array = array, .extent = { 4, 2, 2 }, .kind = 1 }), 12);
    EXPECT(cudaMemcpy3D(&(Copy3D){ .from_at = host, .to_array = array, .extent = { 1, 1, 1 }, .kind = 5 }), 21);
    EXPECT(cudaMemcpy3D(NULL), 1);
    /* The last row of a source that is too short comes after good ones. */
    GOOD(cudaMalloc(&bytes, 40));
    EXPECT(cudaMemcpy2DToArray(array, 0, 0, bytes, 32, 16, 2, 3), 1);
    GOOD(cudaMemcpy3D(&(Copy3D){ .from_array = array, .to_at = { found, 16, 16, 2 }, .extent = { 4, 2, 2 }, .kind = 2 }));
    IS(memcmp(found, none, sizeof found), 0);
    /* Nothing to copy. */
    GOOD(cudaMemcpyToArray(array, 99, 0, NULL, 0, 1));
    GOOD(cudaMemcpy2DToArray(array, 99, 0, NULL, 0, 4, 0, 1));
    GOOD(cudaMemcpy3D(&(Copy3D){ .to_array = array, .kind = 1 }));
}

/* The 16 words at an object's address; the first two are the address of the texels. */
static void is_header(int line, Object object, const void *texels, const unsigned expected[10]) {
    unsigned found[16], all[16] = { (unsigned)(uintptr_t)texels, 0 };
    memcpy(all + 2, expected, 40);
    IS(object % 64, 0);
    GOOD(cudaMemcpy(found, (void *)object, sizeof found, 2));
    for (int i = 0; i < 16; i++) if (found[i] != all[i]) printf("line %d: word %d is %#x in place of %#x\n", line, i, found[i], all[i]), exit(9);
}
#define HEADER(object, texels, ...) is_header(__LINE__, object, texels, (const unsigned[10]){ __VA_ARGS__ })

static Resource of_array(void *array) { return (Resource){ .type = 0, .array = array }; }
static Resource of_linear(void *at, Channels channels, size_t bytes) { return (Resource){ .type = 2, .linear = { at, channels, bytes } }; }
static Resource of_pitched(void *at, Channels channels, size_t width, size_t height, size_t pitch) {
    return (Resource){ .type = 3, .pitched = { at, channels, width, height, pitch } };
}

static Object texture_of(Resource resource, Sampler sampler) {
    Object texture;
    GOOD(cudaCreateTextureObject(&texture, &resource, &sampler, NULL));
    return texture;
}

/* Writes a texel and finds it by the address in the header. */
static void *texels_of(Object object, void *array) {
    static unsigned marker = 0x12345678;
    unsigned found, words[2];
    marker++;
    GOOD(cudaMemcpy3D(&(Copy3D){ .from_at = { &marker, 16, 16, 1 }, .to_array = array, .extent = { 1, 1, 1 }, .kind = 1 }));
    GOOD(cudaMemcpy(words, (void *)object, 8, 2));
    IS(words[1], 0);
    GOOD(cudaMemcpy(&found, (void *)(uintptr_t)words[0], 4, 2));
    Channels channels;
    GOOD(cudaGetChannelDesc(&channels, array));
    unsigned mask = channels.x == 8 && !channels.y ? 0xff : channels.x == 16 && !channels.y ? 0xffff : ~0u;
    IS(found & mask, marker & mask);
    return (void *)(uintptr_t)words[0];
}

static unsigned bits_of(float value) {
    unsigned bits;
    memcpy(&bits, &value, 4);
    return bits;
}

static void headers(void) {
    void *array = new_array(FLOAT2, 4, 3, 0, STORED), *device;
    Object object, surface;
    size_t pitch;
    Resource resource = of_array(array);
    /* All three modes, a filter, coordinates from 0 to 1. Words for channels that a texel does not have are zero. */
    object = texture_of(resource, (Sampler){ .modes = { 0, 2, 3 }, .filter = 1, .normalised = 1, .border = { 0.5f, -2, 3, 4 } });
    HEADER(object, texels_of(object, array), 0xe1a6, 4, 3, 1, 32, 96, bits_of(0.5f), bits_of(-2));
    /* A surface has no sampler. */
    GOOD(cudaCreateSurfaceObject(&surface, &resource));
    IS(surface == object, 0);
    HEADER(surface, texels_of(object, array), 0x26, 4, 3, 1, 32, 96);
    /* Without normalised coordinates wrap and mirror become clamp; border stays. Levels, of which an array has one, do not matter. */
    array = new_array(BYTES4, 5, 2, 0, 0);
    object = texture_of(of_array(array), (Sampler){ .modes = { 0, 3, 2 }, .normalises = 1, .anisotropy = 1, .mipmap_filter = 1, .bias = 1, .highest = 9 });
    HEADER(object, texels_of(object, array), 0x744c, 5, 2, 1, 20, 40);
    object = texture_of(of_array(array), (Sampler){ .modes = { 1, 1, 1 }, .filter = 1, .normalises = 1 });
    HEADER(object, texels_of(object, array), 0x54cc, 5, 2, 1, 20, 40);
    /* Integers, whose border color is not a float. */
    array = new_array(SHORT, 6, 5, 4, 0);
    Sampler sampler = { .modes = { 3, 3, 3 } };
    memcpy(sampler.border, (int[]){ -5, 6, 7, 8 }, 16);
    object = texture_of(of_array(array), sampler);
    HEADER(object, texels_of(object, array), 0xfc11, 6, 5, 4, 12, 60, (unsigned)-5);
    /* Floats are not normalised. */
    array = new_array(HALF, 7, 0, 0, 0);
    object = texture_of(of_array(array), (Sampler){ .normalises = 1, .filter = 1, .normalised = 1 });
    HEADER(object, texels_of(object, array), 0x1a1, 7, 1, 1, 14, 14);
    /* Layers and faces. */
    array = new_array(INT, 5, 0, 3, LAYERED);
    /* Integers of 32 bits are never read as floats. */
    object = texture_of(of_array(array), (Sampler){ .modes = { 1 }, .normalises = 1 });
    HEADER(object, texels_of(object, array), 0x5412, 5, 1, 3, 20, 20);
    array = new_array(BYTE, 2, 2, 12, CUBE | LAYERED | STORED);
    GOOD(cudaCreateSurfaceObject(&surface, &(Resource){ .array = array }));
    HEADER(surface, texels_of(surface, array), 0, 2, 2, 12, 2, 4);
    /* Linear memory: no filter, modes, border or normalised coordinates. An incomplete texel at the end does not count. */
    GOOD(cudaMalloc(&device, 1024));
    object = texture_of(of_linear((char *)device + 512, INT, 303), (Sampler){ .modes = { 0, 9 }, .filter = 1, .normalised = 1, .border = { 1, 1, 1, 1 } });
    HEADER(object, (char *)device + 512, 0xfc12, 75, 1, 1, 300, 300);
    object = texture_of(of_linear(device, BYTE, 1024), (Sampler){ .normalises = 1 });
    HEADER(object, device, 0xfc40, 1024, 1, 1, 1024, 1024);
    /* Memory with a pitch. */
    GOOD(cudaMallocPitch(&device, &pitch, 50, 3));
    object = texture_of(of_pitched(device, BYTE, 50, 3, pitch), (Sampler){ .modes = { 1, 3 }, .border = { 1, 1, 1, 1 } });
    HEADER(object, device, 0x7400, 50, 3, 1, (unsigned)pitch, 3 * (unsigned)pitch, bits_of(1));
    /* Memory that the host sees. */
    GOOD(cudaMallocManaged(&device, 64, 1));
    object = texture_of(of_linear(device, FLOAT1, 64), (Sampler){ 0 });
    HEADER(object, device, 0xfc22, 16, 1, 1, 64, 64);
}

static void objects(void) {
    void *array = new_array(FLOAT1, 4, 4, 0, STORED), *plain = new_array(BYTE, 4, 4, 0, 0), *ints = new_array(INT, 4, 4, 0, 0);
    void *gone = new_array(BYTE, 4, 4, 0, STORED), *device;
    unsigned words[2], on_host[64];
    Object texture = 0, surface = 0, other;
    struct { Resource all; int guard; } resource;
    struct { Sampler all; int guard; } sampler;
    const Sampler usual = { .modes = { 1, 1, 1 }, .border = { 1, 2, 3, 4 }, .highest = 5, .trilinear = 6 };
    const Resource of = of_array(array);
    size_t before = free_bytes();
    GOOD(cudaFreeArray(gone));
    GOOD(cudaMalloc(&device, 2048));

    /* Textures that cannot be. */
    EXPECT(cudaCreateTextureObject(NULL, &of, &usual, NULL), 1);
    EXPECT(cudaCreateTextureObject(&texture, NULL, &usual, NULL), 1);
    EXPECT(cudaCreateTextureObject(&texture, &of, NULL, NULL), 1);
#define BAD_TEXTURE(error, resource, ...) \
    EXPECT(cudaCreateTextureObject(&texture, &(const Resource[]){ resource }[0], &(Sampler){ __VA_ARGS__ }, NULL), error)
    BAD_TEXTURE(1, of_array(NULL), 0);
    BAD_TEXTURE(400, of_array(gone), 0);
    BAD_TEXTURE(400, of_array(device), 0);
    BAD_TEXTURE(1, ((Resource){ .type = 4, .array = array }), 0);
    BAD_TEXTURE(801, ((Resource){ .type = 1, .array = array }), 0);
    BAD_TEXTURE(1, of, .modes = { 0, 4 });
    BAD_TEXTURE(1, of, .modes = { -1 });
    BAD_TEXTURE(1, of, .filter = 2);
    BAD_TEXTURE(1, of, .normalises = 2);
    BAD_TEXTURE(801, of, .srgb = 1);
    BAD_TEXTURE(801, of, .anisotropy = 2);
    BAD_TEXTURE(26, of_array(plain), .filter = 1);
    BAD_TEXTURE(26, of_array(ints), .filter = 1);
    /* Integers of 32 bits are never read as floats. */
    BAD_TEXTURE(26, of_array(ints), .filter = 1, .normalises = 1);
    BAD_TEXTURE(1, of_linear(device, INT, 0), 0);
    BAD_TEXTURE(1, of_linear(device, INT, 3), 0);
    BAD_TEXTURE(1, of_linear(device, INT, 2052), 0);
    BAD_TEXTURE(1, of_linear(device, BYTE, (size_t)1 << 29), 0);
    BAD_TEXTURE(1, of_linear((char *)device + 256, INT, 64), 0);
    BAD_TEXTURE(1, of_linear(NULL, INT, 64), 0);
    BAD_TEXTURE(1, of_linear((void *)((uintptr_t)(on_host + 32) & ~(uintptr_t)511), INT, 4), 0);
    BAD_TEXTURE(20, of_linear(device, ((Channels){ 8, 8, 8, 0, 1 }), 64), 0);
    BAD_TEXTURE(801, of_linear(device, ((Channels){ 8, 0, 0, 0, 5 }), 64), 0);
    BAD_TEXTURE(20, of_pitched(device, ((Channels){ 0 }), 4, 4, 32), 0);
    BAD_TEXTURE(1, of_pitched(device, INT, 8, 4, 48), 0);
    BAD_TEXTURE(1, of_pitched(device, INT, 9, 4, 32), 0);
    BAD_TEXTURE(1, of_pitched(device, INT, 0, 4, 32), 0);
    BAD_TEXTURE(1, of_pitched(device, INT, 8, 0, 32), 0);
    BAD_TEXTURE(1, of_pitched(device, INT, 8, 65, 32), 0);
    BAD_TEXTURE(1, of_pitched(device, INT, 8, (size_t)limit(71) + 1, 32), 0);
    BAD_TEXTURE(1, of_pitched(device, INT, 8, 1, (size_t)1 << 32), 0);
    BAD_TEXTURE(1, of_pitched((char *)device + 32, INT, 8, 4, 32), 0);
    BAD_TEXTURE(26, of_pitched(device, INT, 8, 4, 32), .filter = 1);
    EXPECT(cudaCreateTextureObject(&texture, &of, &usual, words), 801);
    EXPECT(cudaCreateTextureObject(&texture, &(Resource){ .type = 2, .linear = { device, INT, 64 } }, &usual, words), 1);
#if CUDART >= 13
    EXPECT(cudaCreateTextureObject(&texture, &(Resource){ .array = array, .flags = 1 }, &usual, NULL), 1);
#endif
    /* Faces that the filter crosses. */
    void *cube = new_array(FLOAT1, 4, 4, 6, CUBE);
    const Resource of_cube = of_array(cube);
#if CUDART == 11
    struct { SamplerV2 all; int guard; } second = { .guard = 77 };
    const SamplerV2 bad = { { .filter = 1 }, 1 }, good = { usual, 1 };
    EXPECT(cudaCreateTextureObject_v2(&texture, &of_cube, &bad, NULL), 801);
    EXPECT(cudaCreateTextureObject_v2(&texture, &of, &good, NULL), 1);
    GOOD(cudaCreateTextureObject_v2(&texture, &of_cube, &good, NULL));
    GOOD(cudaGetTextureObjectTextureDesc_v2(&second.all, texture));
    IS(memcmp(&second.all, &good, sizeof good) || second.guard != 77, 0);
    /* The structure of the first version ends before this field. */
    struct { Sampler all; int behind; } longer = { { .filter = 1 }, 1 };
    GOOD(cudaDestroyTextureObject(texture));
    GOOD(cudaCreateTextureObject(&texture, &of, &longer.all, NULL));
#else
    BAD_TEXTURE(801, of_cube, .filter = 1, .seamless = 1);
    BAD_TEXTURE(1, of, .seamless = 1);
    GOOD(cudaCreateTextureObject(&texture, &of_cube, &(Sampler){ .seamless = 1 }, NULL));
#endif
    GOOD(cudaDestroyTextureObject(texture));
    GOOD(cudaFreeArray(cube));

    /* Surfaces that cannot be. */
    EXPECT(cudaCreateSurfaceObject(NULL, &of), 1);
    EXPECT(cudaCreateSurfaceObject(&surface, NULL), 1);
    EXPECT(cudaCreateSurfaceObject(&surface, &(Resource){ .array = plain }), 1);
    EXPECT(cudaCreateSurfaceObject(&surface, &(Resource){ .array = gone }), 400);
    EXPECT(cudaCreateSurfaceObject(&surface, &(Resource){ .type = 2, .linear = { device, INT, 64 } }), 1);

    /* What an object was made of; structures of each version. */
    GOOD(cudaFree(device));
    IS(free_bytes(), before + 16);
    texture = texture_of(of, usual);
    IS(free_bytes(), before + 16 - 64);
    GOOD(cudaCreateSurfaceObject(&surface, &of));
    resource.guard = sampler.guard = 77;
    memset(&resource.all, 1, sizeof resource.all), memset(&sampler.all, 1, sizeof sampler.all);
    GOOD(cudaGetTextureObjectResourceDesc(&resource.all, texture));
    GOOD(cudaGetTextureObjectTextureDesc(&sampler.all, texture));
    IS(resource.all.type != 0 || resource.all.array != array || resource.guard != 77, 0);
    IS(memcmp(&sampler.all, &usual, sizeof usual) || sampler.guard != 77, 0);
    memset(&resource.all, 1, sizeof resource.all);
    GOOD(cudaGetSurfaceObjectResourceDesc(&resource.all, surface));
    IS(resource.all.type != 0 || resource.all.array != array || resource.guard != 77, 0);
    EXPECT(cudaGetTextureObjectResourceDesc(NULL, texture), 1);
    EXPECT(cudaGetTextureObjectTextureDesc(NULL, texture), 1);
    EXPECT(cudaGetSurfaceObjectResourceDesc(NULL, surface), 1);
    EXPECT(cudaGetTextureObjectResourceViewDesc(words, texture), 1);

    /* Each kind of memory has its function. */
    GOOD(cudaMemcpy(words, (void *)texture, 8, 2));
    EXPECT(cudaFree((void *)(uintptr_t)words[0]), 1);
    EXPECT(cudaFree((void *)texture), 1);
    EXPECT(cudaDestroySurfaceObject(texture), 1);
    EXPECT(cudaDestroyTextureObject(surface), 1);
    EXPECT(cudaGetTextureObjectResourceDesc(&resource.all, surface), 1);
    EXPECT(cudaGetSurfaceObjectResourceDesc(&resource.all, texture), 1);
    EXPECT(cudaDestroyTextureObject(0), 1);

    /* Handles that are gone. */
    GOOD(cudaDestroyTextureObject(texture));
    GOOD(cudaDestroySurfaceObject(surface));
    EXPECT(cudaDestroyTextureObject(texture), 1);
    EXPECT(cudaDestroySurfaceObject(surface), 1);
    EXPECT(cudaGetTextureObjectResourceDesc(&resource.all, texture), 1);
    EXPECT(cudaGetTextureObjectTextureDesc(&sampler.all, texture), 1);
    EXPECT(cudaGetSurfaceObjectResourceDesc(&resource.all, surface), 1);
    EXPECT(cudaMemcpy(words, (void *)texture, 8, 2), 1);
    IS(free_bytes(), before + 16);
    other = texture_of(of, usual);
    IS(other == texture, 0);
}

/* After a reset the memory of arrays and objects is free, and handles are unknown; a child does not know those of its parent. */
static void forgotten(void) {
    GOOD(cudaDeviceReset());
    size_t before = free_bytes();
    void *array = new_array(FLOAT1, 4, 4, 0, STORED);
    const Resource of = of_array(array);
    Object texture = texture_of(of, (Sampler){ 0 }), surface;
    Resource resource;
    int status = -1;
    GOOD(cudaCreateSurfaceObject(&surface, &of));
    pid_t child = fork();
    if (child == 0) _exit(cudaFreeArray(array) == 400 && cudaGetTextureObjectResourceDesc(&resource, texture) == 1 ? 0 : 1);
    IS(waitpid(child, &status, 0), child);
    IS(status, 0);
    GOOD(cudaGetTextureObjectResourceDesc(&resource, texture));
    GOOD(cudaDeviceReset());
    IS(free_bytes(), before);
    EXPECT(cudaFreeArray(array), 400);
    EXPECT(cudaDestroyTextureObject(texture), 1);
    EXPECT(cudaDestroySurfaceObject(surface), 1);
    EXPECT(cudaCreateTextureObject(&texture, &of, &(Sampler){ 0 }, NULL), 400);
    GOOD(cudaFreeArray(new_array(BYTE, 4, 4, 0, 0)));
}

/* Calls with handles that are gone, sizes that do not fit and values that do not exist. Each works or gives an error that has a name. */
static void at_random(void) {
    enum { KEPT = 6 };
    static unsigned char host[1 << 16];
    void *kept[KEPT] = { NULL, host }, *device;
    Object objects[KEPT] = { 0, 1 };
    const size_t sizes[] = { 0, 1, 2, 3, 4, 6, 8, 12, 16, 64, (size_t)-1, (size_t)1 << 32 };
#define ANY(n) ((unsigned)rand() % (n))
#define SIZE (sizes[ANY(5) ? ANY(10) : ANY(12)])
#define SOME (kept[ANY(KEPT)])
    srand(1);
    GOOD(cudaMalloc(&device, 4096));
    for (int i = 0; i < 20000; i++) {
        unsigned at = ANY(KEPT);
        int bits = (int[]){ 8, 16, 32, 8, 7 }[ANY(5)], count = (int[]){ 1, 2, 4, 3 }[ANY(4)], error = 0;
        Channels channels = { bits, count > 1 ? bits : 0, count > 2 ? bits : 0, count > 3 ? bits : 0, (int)ANY(4) };
        Pitched box = { ANY(8) ? ANY(2) ? (void *)host : device : NULL, sizes[ANY(10)], 64, sizes[ANY(10)] };
        Position places[2] = { { SIZE, ANY(3), ANY(3) }, { SIZE, SIZE, SIZE } };
        Extent extent = { SIZE, ANY(3) ? ANY(5) : SIZE, ANY(3) ? ANY(7) : SIZE };
        int kind = (int)ANY(6) - (ANY(50) == 0);
        switch (ANY(13)) {
        case 0: error = cudaMalloc3DArray(&kept[at], &channels, extent, ANY(2) ? 0 : ANY(20)); break;
        case 1: error = cudaMallocArray(&kept[at], &channels, SIZE, SIZE, ANY(2) ? 0 : ANY(20)); break;
        case 2: error = ANY(3) ? 0 : cudaFreeArray(SOME); break;
        case 3: error = cudaMemcpyToArray(SOME, SIZE, SIZE, box.at, SIZE, kind); break;
        case 4: error = cudaMemcpyFromArray(box.at, SOME, SIZE, SIZE, SIZE, kind); break;
        case 5: error = cudaMemcpy2DToArray(SOME, SIZE, SIZE, box.at, box.pitch, SIZE, SIZE, kind); break;
        case 6: error = cudaMemcpy2DFromArray(box.at, box.pitch, SOME, SIZE, SIZE, SIZE, SIZE, kind); break;
        case 7: error = cudaMemcpy2DArrayToArray(SOME, SIZE, SIZE, SOME, SIZE, SIZE, SIZE, SIZE, kind); break;
        case 8: error = cudaMemcpyArrayToArray(SOME, SIZE, SIZE, SOME, SIZE, SIZE, SIZE, kind); break;
        case 9: error = cudaMemcpy3D(&(Copy3D){ NULL, places[0], box, SOME, places[ANY(2)], { 0 }, extent, kind }); break;
        case 10: error = cudaMemcpy3D(&(Copy3D){ SOME, places[ANY(2)], { 0 }, NULL, places[0], box, extent, kind }); break;
        case 11: {
            void *memory = ANY(2) ? device : SOME;
            Resource resources[] = { of_array(SOME), of_linear(memory, channels, SIZE), of_pitched(memory, channels, SIZE, SIZE, 32 * SIZE),
                                     { .type = (int)ANY(5), .array = SOME } };
            Sampler sampler = { .modes = { (int)ANY(5), (int)ANY(4), (int)ANY(4) }, .filter = (int)ANY(3), .normalises = (int)ANY(3) };
            sampler.normalised = (int)ANY(2);
            Resource *of = &resources[ANY(4)];
            error = ANY(3) ? cudaCreateTextureObject(&objects[at], of, &sampler, NULL) : cudaCreateSurfaceObject(&objects[at], of);
            break;
        }
        default: error = ANY(2) ? cudaDestroyTextureObject(objects[at]) : cudaDestroySurfaceObject(objects[at]);
        }
        if (error == 46 || !strncmp(cudaGetErrorName(error), "unrecognized", 12)) printf("call %d: %d\n", i, error), exit(9);
    }
    GOOD(cudaDeviceSynchronize());
}

/* ------------------------------------------------------------------------------------------------------------ graphs */

typedef struct { const void *function; Dim3 grid, block; unsigned shared; void **arguments, **extra; } KernelNode;
typedef struct { void *at; size_t pitch; unsigned value, element; size_t width, height; } FillNode;
typedef struct { void (*function)(void *); void *data; } HostNode;
typedef struct { int allocation, handles, location, device; void *security; char reserved[64]; void *access; size_t accesses, size; void *at; } MemoryNode;
typedef struct {
    int type, reserved[3];
    union { long long room[29]; KernelNode kernel; FillNode fill; struct { void *graph; int moves; } child; };
    long long last;
} AnyNode;
typedef struct { int result; void *node, *from; } Update;
typedef struct { unsigned long long flags; void *stream, *culprit; int result; } Instantiation;
int cudaGraphCreate(void **, unsigned), cudaGraphDestroy(void *), cudaGraphClone(void **, void *), cudaGraphDestroyNode(void *);
int cudaGraphAddKernelNode(void **, void *, void **, size_t, const KernelNode *), cudaGraphAddMemcpyNode(void **, void *, void **, size_t, const Copy3D *);
int cudaGraphAddMemcpyNode1D(void **, void *, void **, size_t, void *, const void *, size_t, int);
int cudaGraphAddMemcpyNodeToSymbol(void **, void *, void **, size_t, const void *, const void *, size_t, size_t, int);
int cudaGraphAddMemcpyNodeFromSymbol(void **, void *, void **, size_t, void *, const void *, size_t, size_t, int);
int cudaGraphAddMemsetNode(void **, void *, void **, size_t, const FillNode *), cudaGraphAddHostNode(void **, void *, void **, size_t, const HostNode *);
int cudaGraphAddChildGraphNode(void **, void *, void **, size_t, void *), cudaGraphAddEmptyNode(void **, void *, void **, size_t);
int cudaGraphAddEventRecordNode(void **, void *, void **, size_t, void *), cudaGraphAddEventWaitNode(void **, void *, void **, size_t, void *);
int cudaGraphAddMemAllocNode(void **, void *, void **, size_t, MemoryNode *), cudaGraphAddMemFreeNode(void **, void *, void **, size_t, void *);
int cudaGraphKernelNodeGetParams(void *, KernelNode *), cudaGraphKernelNodeSetParams(void *, const KernelNode *);
int cudaGraphKernelNodeGetAttribute(void *, unsigned, unsigned *), cudaGraphKernelNodeSetAttribute(void *, unsigned, const unsigned *);
int cudaGraphKernelNodeCopyAttributes(void *, void *), cudaGraphMemcpyNodeGetParams(void *, Copy3D *), cudaGraphMemcpyNodeSetParams(void *, const Copy3D *);
int cudaGraphMemsetNodeGetParams(void *, FillNode *), cudaGraphMemsetNodeSetParams(void *, const FillNode *), cudaGraphHostNodeGetParams(void *, HostNode *);
int cudaGraphHostNodeSetParams(void *, const HostNode *), cudaGraphChildGraphNodeGetGraph(void *, void **), cudaGraphEventRecordNodeGetEvent(void *, void **);
int cudaGraphEventRecordNodeSetEvent(void *, void *), cudaGraphMemAllocNodeGetParams(void *, MemoryNode *), cudaGraphMemFreeNodeGetParams(void *, void *);
int cudaGraphNodeFindInClone(void **, void *, void *), cudaGraphNodeGetType(void *, int *), cudaGraphGetNodes(void *, void **, size_t *);
int cudaGraphGetRootNodes(void *, void **, size_t *), cudaGraphInstantiateWithFlags(void **, void *, unsigned long long), cudaGraphExecDestroy(void *);
int cudaGraphInstantiateWithParams(void **, void *, Instantiation *), cudaGraphLaunch(void *, void *), cudaGraphUpload(void *, void *);
int cudaGraphExecKernelNodeSetParams(void *, void *, const KernelNode *), cudaGraphExecHostNodeSetParams(void *, void *, const HostNode *);
int cudaGraphExecMemcpyNodeSetParams1D(void *, void *, void *, const void *, size_t, int), cudaGraphExecMemsetNodeSetParams(void *, void *, const FillNode *);
int cudaGraphExecMemcpyNodeSetParams(void *, void *, const Copy3D *), cudaGraphExecChildGraphNodeSetParams(void *, void *, void *);
int cudaGraphNodeSetEnabled(void *, void *, unsigned), cudaGraphNodeGetEnabled(void *, void *, unsigned *);
int cudaGraphDebugDotPrint(void *, const char *, unsigned);
int cudaGraphNodeSetParams(void *, AnyNode *), cudaGraphExecNodeSetParams(void *, void *, AnyNode *);
int cudaDeviceGraphMemTrim(int), cudaDeviceGetGraphMemAttribute(int, int, void *), cudaDeviceSetGraphMemAttribute(int, int, void *);
int cudaStreamBeginCapture(void *, int), cudaStreamEndCapture(void *, void **), cudaStreamIsCapturing(void *, int *);
int cudaStreamBeginCapture_ptsz(void *, int), cudaStreamEndCapture_ptsz(void *, void **), cudaMemsetAsync_ptsz(void *, int, size_t, void *);
int cudaThreadExchangeStreamCaptureMode(int *), cudaStreamCreateWithFlags(void **, unsigned), cudaStreamSynchronize(void *), cudaStreamQuery(void *);
int cudaStreamWaitEvent(void *, void *, unsigned), cudaEventRecordWithFlags(void *, void *, unsigned), cudaEventSynchronize(void *), cudaEventQuery(void *);
int cudaEventDestroy(void *), cudaMemcpyAsync(void *, const void *, size_t, int, void *), cudaMemsetAsync(void *, int, size_t, void *);
int cudaLaunchHostFunc(void *, void (*)(void *), void *), cudaStreamAddCallback(void *, void (*)(void *, int, void *), void *, unsigned);
int cudaMemcpyToSymbolAsync(const void *, const void *, size_t, size_t, int, void *);
/* The functions that differ between the versions. */
#if CUDART >= 13
int cudaGraphGetEdges(void *, void **, void **, void *, size_t *), cudaGraphNodeGetDependencies(void *, void **, void *, size_t *);
int cudaGraphNodeGetDependentNodes(void *, void **, void *, size_t *), cudaGraphAddDependencies(void *, void **, void **, const void *, size_t);
int cudaGraphRemoveDependencies(void *, void **, void **, const void *, size_t), cudaGraphAddNode(void **, void *, void **, const void *, size_t, AnyNode *);
int cudaStreamGetCaptureInfo(void *, int *, unsigned long long *, void **, void ***, void **, size_t *), cudaGraphNodeGetParams(void *, AnyNode *);
int cudaStreamUpdateCaptureDependencies(void *, void **, const void *, size_t, unsigned), cudaGraphNodeGetContainingGraph(void *, void **);
static int EDGES(void *graph, void **from, void **to, size_t *count) { return cudaGraphGetEdges(graph, from, to, NULL, count); }
static int BEFORE(void *node, void **nodes, size_t *count) { return cudaGraphNodeGetDependencies(node, nodes, NULL, count); }
static int BEHIND(void *node, void **nodes, size_t *count) { return cudaGraphNodeGetDependentNodes(node, nodes, NULL, count); }
static int DEPEND(void *graph, void **from, void **to, size_t count) { return cudaGraphAddDependencies(graph, from, to, NULL, count); }
static int UNDEPEND(void *graph, void **from, void **to, size_t count) { return cudaGraphRemoveDependencies(graph, from, to, NULL, count); }
static int ADD_ANY(void **node, void *graph, void **before, size_t count, AnyNode *how) { return cudaGraphAddNode(node, graph, before, NULL, count, how); }
static int INFO(void *stream, int *status, unsigned long long *id, void **graph, void ***tips, size_t *count) {
    return cudaStreamGetCaptureInfo(stream, status, id, graph, tips, NULL, count);
}
static int SET_TIPS(void *stream, void **nodes, size_t count) { return cudaStreamUpdateCaptureDependencies(stream, nodes, NULL, count, 1); }
#else
int cudaGraphGetEdges(void *, void **, void **, size_t *), cudaGraphNodeGetDependencies(void *, void **, size_t *);
int cudaGraphNodeGetDependentNodes(void *, void **, size_t *), cudaGraphAddDependencies(void *, void **, void **, size_t);
int cudaGraphRemoveDependencies(void *, void **, void **, size_t), cudaGraphAddNode(void **, void *, void **, size_t, AnyNode *);
int cudaStreamGetCaptureInfo_v2(void *, int *, unsigned long long *, void **, void ***, size_t *);
int cudaStreamUpdateCaptureDependencies(void *, void **, size_t, unsigned);
#define EDGES cudaGraphGetEdges
#define BEFORE cudaGraphNodeGetDependencies
#define BEHIND cudaGraphNodeGetDependentNodes
#define DEPEND cudaGraphAddDependencies
#define UNDEPEND cudaGraphRemoveDependencies
#define ADD_ANY cudaGraphAddNode
#define INFO cudaStreamGetCaptureInfo_v2
static int SET_TIPS(void *stream, void **nodes, size_t count) { return cudaStreamUpdateCaptureDependencies(stream, nodes, count, 1); }
#endif
#if CUDART >= 12
int cudaGraphInstantiate(void **, void *, unsigned long long), cudaGraphExecUpdate(void *, void *, Update *);
#define INSTANTIATE(executable, graph) cudaGraphInstantiate(executable, graph, 0)
static int update(void *executable, void *graph, Update *found) { return cudaGraphExecUpdate(executable, graph, found); }
#else
int cudaGraphInstantiate(void **, void *, void **, char *, size_t), cudaGraphExecUpdate(void *, void *, void **, int *);
#define INSTANTIATE(executable, graph) cudaGraphInstantiate(executable, graph, NULL, NULL, 0)
static int update(void *executable, void *graph, Update *found) { return cudaGraphExecUpdate(executable, graph, &found->node, &found->result); }
#endif

/* The functions of the host note their numbers, one digit each. */
static unsigned noted;
static void note(void *number) { noted = noted * 10 + *(unsigned *)number; }
static unsigned digits[] = { 0, 1, 2, 3, 4, 5, 6 };
static void *host_node(void *graph, void **before, size_t count, unsigned digit) {
    void *node;
    GOOD(cudaGraphAddHostNode(&node, graph, before, count, &(HostNode){ note, &digits[digit] }));
    return node;
}
static void *executable_of(void *graph) {
    void *executable;
    GOOD(INSTANTIATE(&executable, graph));
    return executable;
}
static void launch(void *executable, unsigned expected) {
    noted = 0;
    GOOD(cudaGraphLaunch(executable, NULL));
    GOOD(cudaDeviceSynchronize());
    IS(noted, expected);
}
static unsigned word_at(const void *device) {
    unsigned word;
    GOOD(cudaMemcpy(&word, device, 4, 4));
    return word;
}

/* A graph of each kind of node, what it says about itself, and copies of it. */
static void graphs(void) {
    unsigned words[4] = { 0 }, source = 11, value = 0, any = 0, n = 1;
    void *graph, *child, *copy, *executable, *device, *event, *found[8], *to[8], *nodes[8];
    size_t count = 8;
    int type;
    GOOD(cudaMalloc(&device, 64));
    GOOD(cudaEventCreateWithFlags(&event, 0));
    GOOD(cudaGraphCreate(&graph, 0));
    GOOD(cudaGraphAddMemsetNode(&nodes[0], graph, NULL, 0, &(FillNode){ device, 0, 0x01020304, 4, 2, 1 }));
    KernelNode kernel = { &stub, { 1, 1, 1 }, { 1, 1, 1 }, 0, (void *[]){ &device, &n }, NULL };
    GOOD(cudaGraphAddKernelNode(&nodes[1], graph, nodes, 1, &kernel));
    GOOD(cudaGraphAddMemcpyNode1D(&nodes[2], graph, nodes + 1, 1, words, device, 8, 2));
    nodes[3] = host_node(graph, nodes + 2, 1, 1);
    GOOD(cudaGraphAddMemcpyNodeToSymbol(&nodes[4], graph, NULL, 0, factor, &source, 4, 0, 1));
    GOOD(cudaGraphAddMemcpyNodeFromSymbol(&nodes[5], graph, (void *[]){ nodes[4], nodes[1] }, 2, &value, factor, 4, 0, 2));
    GOOD(cudaGraphAddEventRecordNode(&nodes[6], graph, nodes + 5, 1, event));
    GOOD(cudaGraphCreate(&child, 0));
    host_node(child, NULL, 0, 2);
    GOOD(cudaGraphAddChildGraphNode(&nodes[7], graph, (void *[]){ nodes[3], nodes[6] }, 2, child));
    /* The child is a copy. */
    host_node(child, NULL, 0, 3);

    const int types[] = { 2, 0, 1, 3, 1, 1, 7, 4 };
    for (int i = 0; i < 8; i++) {
        GOOD(cudaGraphNodeGetType(nodes[i], &type));
        IS(type, types[i]);
    }
    GOOD(cudaGraphGetNodes(graph, found, &count));
    IS(count == 8 && !memcmp(found, nodes, sizeof nodes), 1);
    count = 3;
    GOOD(cudaGraphGetRootNodes(graph, found, &count));
    IS(count == 2 && found[0] == nodes[0] && found[1] == nodes[4] && !found[2], 1);
    GOOD(EDGES(graph, NULL, NULL, &count));
    IS(count, 8);
    GOOD(EDGES(graph, found, to, &count));
    IS(found[0] == nodes[0] && to[0] == nodes[1] && found[3] == nodes[4] && to[3] == nodes[5], 1);
    count = 1;
    GOOD(BEFORE(nodes[5], found, &count));
    IS(count == 1 && found[0] == nodes[4], 1);
    count = 8;
    GOOD(BEHIND(nodes[1], found, &count));
    IS(count == 2 && found[0] == nodes[2] && found[1] == nodes[5], 1);

    executable = executable_of(graph);
    n = 2, source = 12;
    launch(executable, 12);
    IS(words[0] == 3 * 0x01020304 && words[1] == 0x01020304 && value == 12, 1);
    GOOD(cudaEventSynchronize(event));
    /* Copies read memory when they run; an executable graph is none of the graph. */
    source = 13;
    GOOD(cudaGraphDestroyNode(nodes[3]));
    launch(executable, 12);
    IS(value, 13);
    GOOD(cudaGraphExecDestroy(executable));
    executable = executable_of(graph);
    launch(executable, 2);

    /* A clone, and its nodes. */
    GOOD(cudaGraphClone(&copy, graph));
    GOOD(cudaGraphNodeFindInClone(&found[0], nodes[1], copy));
    KernelNode told;
    GOOD(cudaGraphKernelNodeGetParams(found[0], &told));
    IS(told.function == &stub && told.grid.x == 1 && *(void **)told.arguments[0] == device && *(unsigned *)told.arguments[1] == 1 && !told.extra, 1);
    GOOD(cudaGraphDestroy(graph));
    EXPECT(cudaGraphNodeGetType(nodes[0], &type), 1);
    launch(executable, 2);
    GOOD(cudaGraphExecDestroy(executable));
    executable = executable_of(copy);
    launch(executable, 2);

    /* Without a dependency the order is that of the nodes; a node that is left out has none. */
    GOOD(cudaGraphCreate(&graph, 0));
    for (unsigned i = 1; i < 4; i++) nodes[i] = host_node(graph, NULL, 0, i);
    GOOD(DEPEND(graph, (void *[]){ nodes[3], nodes[2] }, (void *[]){ nodes[1], nodes[1] }, 2));
    launch(executable_of(graph), 321);
    GOOD(UNDEPEND(graph, nodes + 3, nodes + 1, 1));
    launch(executable_of(graph), 213);
    GOOD(cudaGraphAddEmptyNode(&nodes[4], graph, nodes + 3, 1));
    GOOD(DEPEND(graph, nodes + 4, nodes + 2, 1));
    launch(executable_of(graph), 321);
    GOOD(cudaGraphAddMemsetNode(&nodes[5], graph, NULL, 0, &(FillNode){ device, 4, 7, 1, 4, 1 }));
    executable = executable_of(graph);
    GOOD(cudaMemset(device, 0, 4));
    GOOD(cudaGraphNodeSetEnabled(executable, nodes[5], 0));
    launch(executable, 321);
    IS(word_at(device), 0);
    GOOD(cudaGraphNodeGetEnabled(executable, nodes[5], &any));
    IS(any, 0);
    GOOD(cudaGraphNodeSetEnabled(executable, nodes[5], 1));
    GOOD(cudaGraphUpload(executable, NULL));
    launch(executable, 321);
    IS(word_at(device), 0x07070707);

    /* Nodes by the general function, and a graph that becomes a part of another one. */
    AnyNode how = { .type = 2, .fill = { device, 8, 0xaabb, 2, 2, 2 } };
    GOOD(cudaMemset(device, 0, 16));
    GOOD(ADD_ANY(&found[0], graph, NULL, 0, &how));
    how = (AnyNode){ .type = 4, .child = { child, 1 } };
    GOOD(ADD_ANY(&found[1], graph, found, 1, &how));
    GOOD(cudaGraphChildGraphNodeGetGraph(found[1], &found[2]));
    IS(found[2], child);
    EXPECT(cudaGraphDestroy(child), 1);
    host_node(child, NULL, 0, 4);
    launch(executable_of(graph), 321234);
    IS(word_at(device) == 0xaabbaabb && word_at((char *)device + 4) == 0 && word_at((char *)device + 8) == 0xaabbaabb, 1);
    FillNode filled;
    GOOD(cudaGraphMemsetNodeGetParams(found[0], &filled));
    IS(filled.at == device && filled.pitch == 8 && filled.value == 0xaabb && filled.element == 2 && filled.width == 2 && filled.height == 2, 1);
    GOOD(cudaGraphDebugDotPrint(graph, "graph.dot", 1));
    GOOD(cudaGraphDestroy(graph));
    EXPECT(cudaGraphGetNodes(child, NULL, &count), 1);
#if CUDART >= 13
    GOOD(cudaGraphCreate(&graph, 0));
    nodes[0] = host_node(graph, NULL, 0, 1);
    GOOD(cudaGraphNodeGetParams(nodes[0], &how));
    IS(how.type == 3 && ((HostNode *)how.room)->function == note, 1);
    GOOD(cudaGraphNodeGetContainingGraph(nodes[0], &found[0]));
    IS(found[0], graph);
#endif
}

/* Changes of nodes, of executable graphs, and of a whole executable graph. */
static void graph_updates(void) {
    unsigned words[4] = { 0 }, source[2] = { 1, 2 }, cooperative[16] = { 1 }, n = 1;
    void *graph, *other, *executable, *device, *nodes[4], *more[4];
    GOOD(cudaMalloc(&device, 64));
    void *second = (char *)device + 32;
    KernelNode kernel = { &stub, { 1, 1, 1 }, { 1, 1, 1 }, 0, (void *[]){ &device, &n }, NULL };
    for (int i = 0; i < 2; i++) {
        void **to = i ? more : nodes, **into = i ? &other : &graph;
        GOOD(cudaGraphCreate(into, 0));
        GOOD(cudaGraphAddMemsetNode(&to[0], *into, NULL, 0, &(FillNode){ i ? second : device, 4, 5 + i, 4, 1, 1 }));
        kernel.arguments = (void *[]){ i ? &second : &device, &n };
        GOOD(cudaGraphAddKernelNode(&to[1], *into, to, 1, &kernel));
        GOOD(cudaGraphAddMemcpyNode1D(&to[2], *into, to + 1, 1, words + i, i ? second : device, 4, 2));
        to[3] = host_node(*into, to + 2, 1, 1 + i);
    }
    executable = executable_of(graph);
    launch(executable, 1);
    IS(words[0], 15);
    Update found = { .result = -1 };
    GOOD(update(executable, other, &found));
    IS(found.result, 0);
    launch(executable, 2);
    IS(words[0] == 15 && words[1] == 18, 1);
    /* The nodes are those of the first graph. */
    GOOD(cudaGraphExecHostNodeSetParams(executable, nodes[3], &(HostNode){ note, &digits[4] }));
    EXPECT(cudaGraphExecHostNodeSetParams(executable, more[3], &(HostNode){ note, &digits[4] }), 1);
    GOOD(cudaGraphExecMemsetNodeSetParams(executable, nodes[0], &(FillNode){ device, 4, 9, 4, 1, 1 }));
    kernel.arguments = (void *[]){ &device, &n };
    GOOD(cudaGraphExecKernelNodeSetParams(executable, nodes[1], &kernel));
    GOOD(cudaGraphExecMemcpyNodeSetParams1D(executable, nodes[2], words + 2, device, 4, 2));
    launch(executable, 4);
    IS(words[2], 27);
    /* Graphs that are not the same. */
    GOOD(cudaGraphExecMemsetNodeSetParams(executable, nodes[0], &(FillNode){ device, 4, 9, 4, 2, 1 }));
    EXPECT(cudaGraphExecMemsetNodeSetParams(executable, nodes[0], &(FillNode){ device, 4, 9, 4, 1, 2 }), 1);
    EXPECT(cudaGraphExecMemcpyNodeSetParams1D(executable, nodes[0], words, device, 4, 2), 1);
    GOOD(UNDEPEND(other, more, more + 1, 1));
    EXPECT(update(executable, other, &found), 910);
    IS(found.result == 2 && found.node == more[1], 1);
    GOOD(DEPEND(other, more, more + 1, 1));
    GOOD(cudaGraphKernelNodeSetAttribute(more[1], 2, cooperative));
    EXPECT(update(executable, other, &found), 910);
    IS(found.result == 8 && found.node == more[1], 1);
    GOOD(cudaGraphKernelNodeCopyAttributes(CUDART >= 13 ? more[1] : nodes[1], CUDART >= 13 ? nodes[1] : more[1]));
    GOOD(cudaGraphKernelNodeGetAttribute(more[1], 2, cooperative));
    IS(cooperative[0], 0);
    GOOD(cudaGraphMemsetNodeSetParams(more[0], &(FillNode){ device, 4, 9, 4, 1, 2 }));
    EXPECT(update(executable, other, &found), 910);
    IS(found.result == 5 && found.node == more[0], 1);
    GOOD(cudaGraphDestroyNode(more[0]));
    EXPECT(update(executable, other, &found), 910);
    IS(found.result == 2 && !found.node, 1);
    GOOD(cudaGraphAddEmptyNode(&more[0], other, NULL, 0));
    EXPECT(update(executable, other, &found), 910);
    IS(found.result == 3 && found.node == more[1], 1);
    launch(executable, 4);

    /* Nodes of a graph. */
    Copy3D box, plane = { .from_at = { source, 4, 4, 2 }, .to_at = { device, 8, 8, 2 }, .extent = { 4, 2, 1 }, .kind = 1 };
    GOOD(cudaGraphMemcpyNodeGetParams(nodes[2], &box));
    IS(box.from_at.at == device && box.to_at.at == words && box.extent.width == 4 && box.extent.height == 1 && box.kind == 2, 1);
    EXPECT(cudaGraphExecMemcpyNodeSetParams(executable, nodes[2], &plane), 1);
    GOOD(cudaGraphMemcpyNodeSetParams(nodes[2], &plane));
    GOOD(cudaGraphHostNodeSetParams(nodes[3], &(HostNode){ note, &digits[6] }));
    HostNode host;
    GOOD(cudaGraphHostNodeGetParams(nodes[3], &host));
    IS(host.data, &digits[6]);
    kernel.arguments = (void *[]){ &second, &n };
    AnyNode how = { .type = 0, .kernel = kernel };
    GOOD(cudaGraphNodeSetParams(nodes[1], &how));
    GOOD(cudaMemset(device, 0, 64));
    void *fresh = executable_of(graph);
    launch(fresh, 6);
    IS(word_at(device) == 1 && word_at((char *)device + 8) == 2, 1);
    how.kernel.function = digits;
    EXPECT(cudaGraphExecNodeSetParams(fresh, nodes[1], &how), 98);

    /* Child graphs. */
    void *parent, *child, *inside;
    GOOD(cudaGraphCreate(&parent, 0));
    GOOD(cudaGraphCreate(&child, 0));
    host_node(child, NULL, 0, 1);
    GOOD(cudaGraphAddChildGraphNode(&inside, parent, NULL, 0, child));
    fresh = executable_of(parent);
    GOOD(cudaGraphDestroy(child));
    GOOD(cudaGraphCreate(&child, 0));
    host_node(child, NULL, 0, 5);
    launch(fresh, 1);
    GOOD(cudaGraphExecChildGraphNodeSetParams(fresh, inside, child));
    launch(fresh, 5);
    host_node(child, NULL, 0, 5);
    EXPECT(cudaGraphExecChildGraphNodeSetParams(fresh, inside, child), 1);
}

/* Graphs that cannot be. */
static void graph_errors(void) {
    unsigned word = 0, n = 1;
    int type;
    size_t count;
    void *graph, *other, *executable = &word, *device, *stream, *nodes[3], *foreign, *event;
    GOOD(cudaMalloc(&device, 64));
    EXPECT(cudaGraphCreate(NULL, 0), 1);
    EXPECT(cudaGraphCreate(&graph, 1), 1);
    GOOD(cudaGraphCreate(&graph, 0));
    GOOD(cudaGraphCreate(&other, 0));
    for (unsigned i = 0; i < 3; i++) nodes[i] = host_node(graph, nodes, i, i + 1);
    foreign = host_node(other, NULL, 0, 1);
    /* Handles and dependencies. */
    EXPECT(cudaGraphAddEmptyNode(&executable, NULL, NULL, 0), 1);
    EXPECT(cudaGraphAddEmptyNode(&executable, nodes[0], NULL, 0), 1);
    EXPECT(cudaGraphAddEmptyNode(&executable, graph, NULL, 1), 1);
    EXPECT(cudaGraphAddEmptyNode(&executable, graph, &foreign, 1), 1);
    EXPECT(cudaGraphAddEmptyNode(&executable, graph, (void *[]){ nodes[0], nodes[0] }, 2), 1);
    EXPECT(cudaGraphAddEmptyNode(NULL, graph, NULL, 0), 1);
    IS(executable, &word);
    EXPECT(DEPEND(graph, nodes, nodes + 1, 1), 1);
    EXPECT(DEPEND(graph, nodes, nodes, 1), 1);
    EXPECT(DEPEND(graph, nodes, &foreign, 1), 1);
    EXPECT(UNDEPEND(graph, nodes + 2, nodes, 1), 1);
    GOOD(DEPEND(graph, NULL, NULL, 0));
    EXPECT(cudaGraphNodeGetType(NULL, &type), 1);
    EXPECT(cudaGraphNodeGetType((void *)(uintptr_t)12345, &type), 1);
    EXPECT(cudaGraphDestroyNode(graph), 1);
    EXPECT(cudaGraphGetNodes(graph, NULL, NULL), 1);
    EXPECT(EDGES(graph, nodes, NULL, &count), 1);
    EXPECT(cudaGraphNodeFindInClone(&executable, nodes[0], graph), 1);
    EXPECT(cudaGraphDestroy(NULL), 1);
    EXPECT(cudaGraphLaunch(graph, NULL), 1);
    EXPECT(cudaGraphExecDestroy(graph), 1);
    /* A circle. */
    GOOD(DEPEND(graph, nodes + 2, nodes, 1));
    EXPECT(INSTANTIATE(&executable, graph), 1);
    Instantiation how = { .result = -1 };
    EXPECT(cudaGraphInstantiateWithParams(&executable, graph, &how), 1);
    IS(how.result == 2 && (how.culprit == nodes[0] || how.culprit == nodes[1] || how.culprit == nodes[2]), 1);
    GOOD(UNDEPEND(graph, nodes + 2, nodes, 1));
    EXPECT(cudaGraphInstantiateWithFlags(&executable, graph, 16), 1);
    EXPECT(cudaGraphInstantiateWithFlags(&executable, graph, 4), 801);
    GOOD(cudaGraphInstantiateWithParams(&executable, graph, &how));
    IS(how.result, 0);
    /* Operations. */
    KernelNode kernel = { &stub, { 1, 1, 1 }, { 1, 1, 1 }, 0, (void *[]){ &device, &n }, NULL };
    kernel.block.x = 2000;
    EXPECT(cudaGraphAddKernelNode(nodes, graph, NULL, 0, &kernel), 9);
    kernel.block.x = 1, kernel.function = &word;
    EXPECT(cudaGraphAddKernelNode(nodes, graph, NULL, 0, &kernel), 98);
    kernel.function = &stub, kernel.arguments = NULL;
    EXPECT(cudaGraphAddKernelNode(nodes, graph, NULL, 0, &kernel), 1);
    EXPECT(cudaGraphAddMemsetNode(nodes, graph, NULL, 0, &(FillNode){ device, 4, 0, 3, 1, 1 }), 1);
    EXPECT(cudaGraphAddMemsetNode(nodes, graph, NULL, 0, &(FillNode){ device, 4, 0, 4, 17, 1 }), 1);
    EXPECT(cudaGraphAddMemsetNode(nodes, graph, NULL, 0, &(FillNode){ &word, 4, 0, 4, 1, 1 }), 1);
    EXPECT(cudaGraphAddMemsetNode(nodes, graph, NULL, 0, &(FillNode){ device, 4, 0, 4, 0, 1 }), 1);
    EXPECT(cudaGraphAddMemcpyNode1D(nodes, graph, NULL, 0, device, &word, 4, 2), 1);
    EXPECT(cudaGraphAddMemcpyNode1D(nodes, graph, NULL, 0, device, &word, 4, 7), 21);
    EXPECT(cudaGraphAddMemcpyNode1D(nodes, graph, NULL, 0, device, &word, 0, 1), 1);
    EXPECT(cudaGraphAddMemcpyNodeToSymbol(nodes, graph, NULL, 0, factor, &word, 16, 0, 1), 1);
    EXPECT(cudaGraphAddMemcpyNodeToSymbol(nodes, graph, NULL, 0, &word, &word, 4, 0, 1), 13);
    EXPECT(cudaGraphAddHostNode(nodes, graph, NULL, 0, &(HostNode){ NULL, NULL }), 1);
    EXPECT(cudaGraphAddEventRecordNode(nodes, graph, NULL, 0, &word), 400);
    EXPECT(cudaGraphAddChildGraphNode(nodes, graph, NULL, 0, nodes[1]), 1);
    EXPECT(cudaGraphAddMemFreeNode(nodes, graph, NULL, 0, device), 1);
    EXPECT(ADD_ANY(nodes, graph, NULL, 0, &((AnyNode){ .type = 13 })), 801);
    EXPECT(ADD_ANY(nodes, graph, NULL, 0, &((AnyNode){ .type = 8 })), 801);
    EXPECT(ADD_ANY(nodes, graph, NULL, 0, &((AnyNode){ .type = 4, .child = { graph, 1 } })), 1);
    GOOD(cudaGraphGetNodes(graph, NULL, &count));
    IS(count, 3);
    launch(executable, 123);
    /* What a node accesses may be gone when it runs; it is no memory of the host then. */
    GOOD(cudaGraphAddMemcpyNode1D(nodes, other, &foreign, 1, &word, device, 4, 4));
    executable = executable_of(other);
    GOOD(cudaFree(device));
    EXPECT(cudaGraphLaunch(executable, NULL), 1);
    GOOD(cudaStreamCreate(&stream));
    GOOD(cudaStreamDestroy(stream));
    EXPECT(cudaGraphLaunch(executable, stream), 400);
    GOOD(cudaGraphExecDestroy(executable));
    EXPECT(cudaGraphLaunch(executable, NULL), 1);
    EXPECT(cudaGraphNodeSetEnabled(executable, foreign, 0), 1);
    EXPECT(cudaGraphDebugDotPrint(other, "/nowhere/graph.dot", 0), 304);
    GOOD(cudaEventCreateWithFlags(&event, 0));
    EXPECT(cudaEventRecordWithFlags(event, NULL, 2), 1);
}

/* A capture with a second stream, what it says, and nodes of memory, events and other graphs. */
static void capture(void) {
    unsigned words[4] = { 0 }, source = 21, n = 1;
    int status;
    unsigned long long id, id_again;
    void *stream, *other, *fork_event, *join_event, *graph, *now, **tips, *executable, *device, *nodes[8], *async, *timed;
    size_t count;
    GOOD(cudaMalloc(&device, 64));
    GOOD(cudaStreamCreateWithFlags(&stream, 1));
    GOOD(cudaStreamCreateWithFlags(&other, 1));
    GOOD(cudaEventCreateWithFlags(&fork_event, 2));
    GOOD(cudaEventCreateWithFlags(&join_event, 2));
    GOOD(cudaEventCreateWithFlags(&timed, 0));
    GOOD(cudaMemset(device, 0, 64));
    GOOD(cudaStreamIsCapturing(stream, &status));
    IS(status, 0);
    GOOD(cudaStreamBeginCapture(stream, 0));
    GOOD(cudaMemsetAsync(device, 1, 4, stream));
    GOOD(cudaEventRecord(fork_event, stream));
    GOOD(cudaStreamWaitEvent(other, fork_event, 0));
    GOOD(cudaStreamIsCapturing(other, &status));
    IS(status, 1);
    GOOD(cudaLaunchKernel(&stub, (Dim3){ 1, 1, 1 }, (Dim3){ 1, 1, 1 }, (void *[]){ &device, &n }, 0, other));
    GOOD(cudaMemcpyToSymbolAsync(factor, &source, 4, 0, 1, stream));
    GOOD(cudaMemcpyAsync(words, device, 4, 2, other));
    /* Nothing is recorded for no bytes. */
    GOOD(cudaMemcpyAsync(words, device, 0, 2, other));
    GOOD(cudaEventRecord(join_event, other));
    GOOD(cudaStreamWaitEvent(stream, join_event, 0));
    GOOD(INFO(stream, &status, &id, &now, &tips, &count));
    IS(status == 1 && count == 2, 1);
    GOOD(cudaGraphNodeGetType(tips[1], &status));
    IS(status, 1);
    GOOD(INFO(other, &status, &id_again, NULL, NULL, NULL));
    IS(id_again, id);
    GOOD(cudaLaunchHostFunc(stream, note, &digits[1]));
    /* Another stream is not captured, and calls that do not wait are allowed; streams may end. */
    GOOD(cudaMemcpyAsync(&words[1], device, 4, 2, NULL));
    IS(words[1], 0);
    GOOD(cudaEventDestroy(join_event));
    GOOD(cudaStreamDestroy(other));
    GOOD(cudaStreamEndCapture(stream, &graph));
    IS(graph, now);
    GOOD(cudaStreamIsCapturing(stream, &status));
    IS(status, 0);
    IS(noted == 0 && words[0] == 0 && word_at(device) == 0, 1);
    count = 8;
    GOOD(cudaGraphGetNodes(graph, nodes, &count));
    IS(count, 5);
    GOOD(BEFORE(nodes[4], nodes, &count));
    IS(count, 2);
    executable = executable_of(graph);
    source = 22;
    launch(executable, 1);
    IS(words[0], 0x01010101 * 3);
    GOOD(cudaMemcpyFromSymbol(&words[1], factor, 4, 0, 2));
    IS(words[1], 22);

    /* The launch of a graph, an allocation, and events that are nodes. */
    GOOD(cudaStreamBeginCapture(stream, 2));
    GOOD(cudaGraphLaunch(executable, stream));
    GOOD(cudaMallocAsync(&async, 16, stream));
    GOOD(cudaMemcpyAsync(async, device, 4, 3, stream));
    GOOD(cudaMemcpyAsync(words + 2, async, 4, 2, stream));
    GOOD(cudaEventRecordWithFlags(timed, stream, 1));
    GOOD(cudaStreamWaitEvent(stream, timed, 1));
    GOOD(cudaFreeAsync(async, stream));
    /* Calls that a relaxed capture allows. */
    GOOD(cudaMalloc(&nodes[0], 4));
    GOOD(cudaMemcpy(nodes[0], &source, 4, 1));
    GOOD(cudaStreamEndCapture(stream, &graph));
    executable = executable_of(graph);
    count = 8;
    GOOD(cudaGraphGetNodes(graph, nodes, &count));
    const int types[] = { 4, 10, 1, 1, 7, 6, 11 };
    IS(count, 7);
    for (size_t i = 0; i < count; i++) {
        GOOD(cudaGraphNodeGetType(nodes[i], &status));
        IS(status, types[i]);
    }
    for (int i = 0; i < 2; i++) {
        words[2] = 0;
        launch(executable, 1);
        IS(words[2], 0x01010101 * 3);
    }
    GOOD(cudaEventQuery(timed));

    /* Other dependencies; a graph without nodes; the default stream of a thread. */
    GOOD(cudaStreamBeginCapture(stream, 1));
    GOOD(cudaLaunchHostFunc(stream, note, &digits[2]));
    GOOD(SET_TIPS(stream, NULL, 0));
    GOOD(cudaLaunchHostFunc(stream, note, &digits[3]));
    GOOD(cudaStreamEndCapture(stream, &graph));
    GOOD(cudaGraphGetRootNodes(graph, NULL, &count));
    IS(count, 2);
    launch(executable_of(graph), 23);
    GOOD(cudaStreamBeginCapture(stream, 1));
    GOOD(cudaStreamEndCapture(stream, &graph));
    launch(executable_of(graph), 0);
    GOOD(cudaMemset(device, 0, 4));
    GOOD(cudaStreamBeginCapture_ptsz(NULL, 1));
    GOOD(cudaMemsetAsync_ptsz(device, 2, 4, NULL));
    GOOD(cudaStreamEndCapture_ptsz(NULL, &graph));
    IS(word_at(device), 0);
    launch(executable_of(graph), 0);
    IS(word_at(device), 0x02020202);
}

/* A capture that is invalid ends without a graph. */
static void expect_invalid(void *stream) {
    void *graph = &graph;
    int status;
    GOOD(cudaStreamIsCapturing(stream, &status));
    IS(status, 2);
    EXPECT(cudaMemsetAsync(stream, 0, 4, stream), 901);
    EXPECT(cudaStreamEndCapture(stream, &graph), 901);
    IS(graph, NULL);
    GOOD(cudaStreamSynchronize(stream));
}
static void ignore(void *stream, int error, void *data) { (void)stream, (void)error, (void)data; }

static void capture_errors(void) {
    unsigned word = 0;
    int status, mode;
    void *stream, *other, *blocking, *event, *second, *graph, *device, *more;
    GOOD(cudaMalloc(&device, 64));
    GOOD(cudaStreamCreateWithFlags(&stream, 1));
    GOOD(cudaStreamCreateWithFlags(&other, 1));
    GOOD(cudaStreamCreate(&blocking));
    GOOD(cudaEventCreateWithFlags(&event, 2));
    GOOD(cudaEventCreateWithFlags(&second, 2));
    /* Begin and end. */
    EXPECT(cudaStreamBeginCapture(NULL, 0), 900);
    EXPECT(cudaStreamBeginCapture(stream, 3), 1);
    EXPECT(cudaStreamEndCapture(stream, &graph), 401);
    EXPECT(SET_TIPS(stream, NULL, 0), 401);
    GOOD(cudaStreamBeginCapture(stream, 0));
    EXPECT(cudaStreamBeginCapture(stream, 0), 401);
    EXPECT(cudaStreamEndCapture(other, &graph), 401);
    EXPECT(cudaMemcpyAsync(device, &word, 4, 2, stream), 1);
    EXPECT(cudaFreeAsync(device, stream), 1);
    GOOD(cudaStreamEndCapture(stream, &graph));
    /* Calls that wait, or that are not recorded. */
    for (int i = 0; i < 11; i++) {
        GOOD(cudaStreamBeginCapture(stream, i == 10 ? 2 : 0));
        GOOD(cudaEventRecord(event, stream));
        switch (i) {
        case 0: EXPECT(cudaStreamSynchronize(stream), 900); break;
        case 1: EXPECT(cudaStreamQuery(stream), 900); break;
        case 2: EXPECT(cudaDeviceSynchronize(), 900); break;
        case 3: EXPECT(cudaMalloc(&more, 4), 900); break;
        case 4: EXPECT(cudaFree(device), 900); break;
        case 5: EXPECT(cudaMemcpy(device, &word, 4, 1), 900); break;
        case 6: EXPECT(cudaEventSynchronize(event), 907); break;
        case 7: EXPECT(cudaEventQuery(second), 900); break;
        case 8: EXPECT(cudaStreamAddCallback(stream, ignore, NULL, 0), 900); break;
        case 9: EXPECT(cudaMallocHost(&more, 4), 900); break;
        default: EXPECT(cudaEventQuery(event), 907); break;
        }
        expect_invalid(stream);
    }
    /* The mode of the thread. */
    mode = 2;
    GOOD(cudaThreadExchangeStreamCaptureMode(&mode));
    IS(mode, 0);
    GOOD(cudaStreamBeginCapture(stream, 0));
    GOOD(cudaMalloc(&more, 4));
    GOOD(cudaStreamEndCapture(stream, &graph));
    GOOD(cudaThreadExchangeStreamCaptureMode(&mode));
    IS(mode, 2);
    /* The legacy stream waits for a stream that is not independent. */
    GOOD(cudaStreamBeginCapture(blocking, 2));
    EXPECT(cudaStreamIsCapturing(NULL, &status), 906);
    GOOD(cudaStreamIsCapturing(blocking, &status));
    IS(status, 1);
    EXPECT(cudaMemsetAsync(device, 0, 4, NULL), 906);
    expect_invalid(blocking);
    GOOD(cudaStreamBeginCapture(blocking, 2));
    EXPECT(cudaMemcpy(device, &word, 4, 1), 906);
    expect_invalid(blocking);
    /* Work of other streams. */
    GOOD(cudaEventRecord(event, other));
    GOOD(cudaStreamBeginCapture(stream, 0));
    EXPECT(cudaStreamWaitEvent(stream, event, 0), 905);
    expect_invalid(stream);
    GOOD(cudaStreamBeginCapture(stream, 0));
    GOOD(cudaStreamBeginCapture(other, 0));
    GOOD(cudaEventRecord(event, stream));
    EXPECT(cudaStreamWaitEvent(other, event, 0), 902);
    expect_invalid(stream);
    expect_invalid(other);
    EXPECT(cudaStreamWaitEvent(other, event, 0), 907);
    GOOD(cudaEventRecord(event, other));
    GOOD(cudaStreamWaitEvent(other, event, 0));
    GOOD(cudaEventSynchronize(event));
    /* A stream that is not joined, and the end in the wrong stream. */
    for (int i = 0; i < 3; i++) {
        GOOD(cudaStreamBeginCapture(stream, 0));
        GOOD(cudaEventRecord(event, stream));
        GOOD(cudaStreamWaitEvent(other, event, 0));
        if (i == 0) EXPECT(cudaStreamEndCapture(other, &graph), 903);
        else GOOD(cudaMemsetAsync(device, 0, 4, other));
        if (i == 2) GOOD(cudaStreamDestroy(other));
        if (i == 0) expect_invalid(stream);
        else EXPECT(cudaStreamEndCapture(stream, &graph), 904);
    }
    /* The stream ends, and the capture with it. */
    GOOD(cudaStreamBeginCapture(stream, 0));
    GOOD(cudaStreamDestroy(stream));
    GOOD(cudaDeviceSynchronize());
    GOOD(cudaMalloc(&more, 4));
}

/* Memory of a graph is allocated by a launch, and has the same address in each. */
static void graph_memory(void) {
    size_t before = free_bytes(), used;
    unsigned word = 5;
    void *graph, *executable, *other, *freeing, *nodes[3], *freed;
    MemoryNode how = { .allocation = 1, .location = 1, .size = 64 };
    GOOD(cudaGraphCreate(&graph, 0));
    EXPECT(cudaGraphAddMemAllocNode(&nodes[0], graph, NULL, 0, &(MemoryNode){ .size = 64 }), 1);
    GOOD(cudaGraphAddMemAllocNode(&nodes[0], graph, NULL, 0, &how));
    GOOD(cudaGraphAddMemcpyNode1D(&nodes[1], graph, nodes, 1, how.at, &word, 4, 1));
    MemoryNode told;
    GOOD(cudaGraphMemAllocNodeGetParams(nodes[0], &told));
    IS(told.at == how.at && told.size == 64, 1);
    EXPECT(cudaFree(how.at), 1);
    executable = executable_of(graph);
    EXPECT(INSTANTIATE(&other, graph), 1);
    EXPECT(cudaGraphClone(&other, graph), 1);
    EXPECT(cudaGraphDestroyNode(nodes[1]), 1);
    EXPECT(UNDEPEND(graph, nodes, nodes + 1, 1), 1);
    GOOD(cudaGraphCreate(&other, 0));
    EXPECT(cudaGraphAddChildGraphNode(&nodes[2], other, NULL, 0, graph), 1);
    launch(executable, 0);
    IS(word_at(how.at), 5);
    GOOD(cudaDeviceGetGraphMemAttribute(0, 0, &used));
    IS(used, 64);
    /* It has to be free before the next launch: by the program, by another graph, or by the launch. */
    EXPECT(cudaGraphLaunch(executable, NULL), 1);
    GOOD(cudaFree(how.at));
    EXPECT(cudaFree(how.at), 1);
    launch(executable, 0);
    GOOD(cudaGraphAddMemFreeNode(&nodes[2], other, NULL, 0, how.at));
    EXPECT(cudaGraphAddMemFreeNode(&nodes[2], other, NULL, 0, how.at), 1);
    GOOD(cudaGraphMemFreeNodeGetParams(nodes[2], &freed));
    IS(freed, how.at);
    freeing = executable_of(other);
    launch(freeing, 0);
    EXPECT(cudaGraphLaunch(freeing, NULL), 1);
    launch(executable, 0);
    GOOD(cudaFreeAsync(how.at, NULL));
    GOOD(cudaGraphExecDestroy(executable));
    GOOD(cudaGraphInstantiateWithFlags(&executable, graph, 1));
    launch(executable, 0);
    word = 6;
    launch(executable, 0);
    IS(word_at(how.at), 6);
    /* Memory outlives its graph. */
    GOOD(cudaGraphDestroy(graph));
    GOOD(cudaGraphExecDestroy(executable));
    IS(word_at(how.at), 6);
    GOOD(cudaFree(how.at));
    IS(free_bytes(), before);
    for (int i = 0; i < 4; i++) {
        GOOD(cudaDeviceGetGraphMemAttribute(0, i, &used));
        IS(used, 64);
    }
    GOOD(cudaDeviceGraphMemTrim(0));
    GOOD(cudaDeviceGetGraphMemAttribute(0, 0, &used));
    IS(used, 0);
    EXPECT(cudaDeviceSetGraphMemAttribute(0, 0, &used), 1);
    GOOD(cudaDeviceSetGraphMemAttribute(0, 1, &used));
    GOOD(cudaDeviceGetGraphMemAttribute(0, 1, &used));
    IS(used, 0);
    EXPECT(cudaDeviceGetGraphMemAttribute(1, 0, &used), 101);
}

/* A reset and a fork forget graphs and captures. */
static void graphs_forgotten(void) {
    int state = -1, type;
    void *graph, *executable, *node, *stream, *memory;
    GOOD(cudaGraphCreate(&graph, 0));
    node = host_node(graph, NULL, 0, 1);
    executable = executable_of(graph);
    GOOD(cudaStreamCreateWithFlags(&stream, 1));
    GOOD(cudaStreamBeginCapture(stream, 0));
    GOOD(cudaMallocAsync(&memory, 64, stream));
    pid_t child = fork();
    if (child == 0) {
        int is_unknown = cudaGraphLaunch(executable, NULL) == 46 && cudaGraphDestroy(graph) == 1 && cudaGraphNodeGetType(node, &type) == 1;
        _exit(is_unknown ? 0 : 1);
    }
    IS(waitpid(child, &state, 0), child);
    IS(state, 0);
    GOOD(cudaGraphLaunch(executable, NULL));
    IS(noted, 1);
    EXPECT(cudaMalloc(&memory, 4), 900);
}

static void graphs_reset(void) {
    int type;
    void *graph, *executable, *node, *stream, *memory, *other;
    GOOD(cudaDeviceReset());
    size_t before = free_bytes();
    GOOD(cudaGraphCreate(&graph, 0));
    node = host_node(graph, NULL, 0, 1);
    executable = executable_of(graph);
    GOOD(cudaStreamCreateWithFlags(&stream, 1));
    GOOD(cudaStreamBeginCapture(stream, 0));
    GOOD(cudaMallocAsync(&memory, 64, stream));
    GOOD(cudaDeviceReset());
    IS(free_bytes(), before);
    EXPECT(cudaGraphLaunch(executable, NULL), 1);
    EXPECT(cudaGraphDestroy(graph), 1);
    EXPECT(cudaGraphNodeGetType(node, &type), 1);
    EXPECT(cudaFree(memory), 1);
    GOOD(cudaMalloc(&memory, 4));
    GOOD(cudaGraphCreate(&other, 0));
    IS(other == graph, 0);
    launch(executable_of(other), 0);
    /* After a kernel with a fault no node runs. */
    unsigned n = 1;
    void *nowhere = NULL;
    GOOD(cudaGraphAddKernelNode(&node, other, NULL, 0, &(KernelNode){ &stub, { 1, 1, 1 }, { 1, 1, 1 }, 0, (void *[]){ &nowhere, &n }, NULL }));
    host_node(other, &node, 1, 1);
    executable = executable_of(other);
    noted = 0;
    GOOD(cudaGraphLaunch(executable, NULL));
    IS(noted, 0);
    EXPECT(cudaDeviceSynchronize(), 700);
    EXPECT(cudaGraphLaunch(executable, NULL), 700);
    EXPECT(cudaGraphCreate(&graph, 0), 700);
    GOOD(cudaDeviceReset());
}

/* Calls for graphs and captures with handles of the wrong kind or that are gone. Each works or gives an error that has a name. */
static void graphs_at_random(void) {
    enum { HANDLES = 24, STREAMS = 4, EVENTS = 3 };
    static unsigned char host[256];
    void *kept[HANDLES] = { NULL, host }, *streams[STREAMS] = { NULL }, *events[EVENTS], *device;
    GOOD(cudaMalloc(&device, 256));
    for (int i = 1; i < STREAMS; i++) GOOD(cudaStreamCreateWithFlags(&streams[i], i > 1));
    for (int i = 0; i < EVENTS; i++) GOOD(cudaEventCreateWithFlags(&events[i], 0));
    srand(2);
    for (int i = 0; i < 30000; i++) {
        int error = 0, status, kind = (int)ANY(6);
        unsigned n = 1;
        void **into = &kept[ANY(HANDLES)], *stream = streams[ANY(STREAMS)], *event = events[ANY(EVENTS)], *some = kept[ANY(HANDLES)];
        void *before[2] = { kept[ANY(HANDLES)], kept[ANY(HANDLES)] }, *at = ANY(2) ? device : ANY(2) ? (void *)host : kept[ANY(HANDLES)];
        void *list[4], **tips, *place = ANY(2) ? device : (void *)host;
        size_t count = ANY(3), room = ANY(5);
        KernelNode kernel = { ANY(8) ? &stub : some, { ANY(9), 1, 1 }, { 1, 1, 1 }, 0, (void *[]){ &device, &n }, NULL };
        FillNode fill = { at, ANY(40), ANY(300), (unsigned[]){ 1, 2, 4, 3 }[ANY(4)], ANY(20), ANY(4) };
        Copy3D box = { .from_at = { place, 16, 16, 4 }, .to_at = { ANY(2) ? device : host, 16, 16, 4 }, .extent = { ANY(18), ANY(4), ANY(3) }, .kind = kind };
        MemoryNode memory = { .allocation = 1, .location = 1, .size = ANY(4) * 32 };
        Update found;
        switch (ANY(60)) {
        case 0: error = cudaGraphCreate(into, 0); break;
        case 1: error = ANY(4) ? 0 : cudaGraphDestroy(some); break;
        case 2: error = cudaGraphClone(into, some); break;
        case 3: error = ANY(2) ? cudaGraphDestroyNode(some) : 0; break;
        case 4: error = cudaGraphAddKernelNode(into, some, before, count, &kernel); break;
        case 5: error = cudaGraphAddMemcpyNode(into, some, before, count, &box); break;
        case 6: error = cudaGraphAddMemcpyNode1D(into, some, before, count, place, host, ANY(20), kind); break;
        case 7: error = cudaGraphAddMemsetNode(into, some, before, count, &fill); break;
        case 8: error = cudaGraphAddHostNode(into, some, before, count, &(HostNode){ note, digits }); break;
        case 9: error = cudaGraphAddChildGraphNode(into, some, before, count, before[0]); break;
        case 10: error = cudaGraphAddEmptyNode(into, some, before, count); break;
        case 11: error = cudaGraphAddEventRecordNode(into, some, before, count, event); break;
        case 12: error = cudaGraphAddEventWaitNode(into, some, before, count, event); break;
        case 13: error = cudaGraphAddMemAllocNode(into, some, before, count, &memory); if (!error && ANY(2)) *into = memory.at; break;
        case 14: error = cudaGraphAddMemFreeNode(into, some, before, count, at); break;
        case 15: error = cudaGraphAddMemcpyNodeToSymbol(into, some, before, count, ANY(2) ? factor : some, place, ANY(9), ANY(4), kind); break;
        case 16: error = ADD_ANY(into, some, before, count, (&(AnyNode){ .type = 4, .child = { before[1], (int)ANY(2) } })); break;
        case 17: error = DEPEND(some, before, before + 1, 1); break;
        case 18: error = UNDEPEND(some, before, before + 1, 1); break;
        case 19: error = cudaGraphGetNodes(some, ANY(2) ? list : NULL, &room); break;
        case 20: error = EDGES(some, list, list, &room); break;
        case 21: error = BEHIND(some, list, &room); break;
        case 22: error = BEFORE(some, list, &room); break;
        case 23: error = cudaGraphKernelNodeSetParams(some, &kernel); break;
        case 24: error = cudaGraphMemcpyNodeSetParams(some, &box); break;
        case 25: error = cudaGraphMemsetNodeSetParams(some, &fill); break;
        case 26: error = cudaGraphKernelNodeGetParams(some, &kernel); break;
        case 27: error = cudaGraphMemcpyNodeGetParams(some, &box); break;
        case 28: error = cudaGraphMemsetNodeGetParams(some, &fill); break;
        case 29: error = cudaGraphChildGraphNodeGetGraph(some, into); break;
        case 30: error = cudaGraphNodeFindInClone(into, some, before[0]); break;
        case 31: case 32: case 33: error = cudaGraphInstantiateWithFlags(into, some, ANY(4)); break;
        case 34: error = cudaGraphExecDestroy(some); break;
        case 35: case 36: case 37: error = cudaGraphLaunch(some, stream); break;
        case 38: error = cudaGraphExecKernelNodeSetParams(some, before[0], &kernel); break;
        case 39: error = cudaGraphExecMemsetNodeSetParams(some, before[0], &fill); break;
        case 40: error = cudaGraphExecMemcpyNodeSetParams(some, before[0], &box); break;
        case 41: error = update(some, before[0], &found); break;
        case 42: error = cudaGraphExecChildGraphNodeSetParams(some, before[0], before[1]); break;
        case 43: error = cudaGraphNodeSetEnabled(some, before[0], ANY(2)); break;
        case 44: case 45: error = cudaStreamBeginCapture(stream, kind); break;
        case 46: case 47: case 48: error = cudaStreamEndCapture(stream, into); break;
        case 49: error = INFO(stream, &status, NULL, into, &tips, &room); break;
        case 50: error = SET_TIPS(stream, before, count); break;
        case 51: error = cudaMemsetAsync(device, 1, ANY(300), stream); break;
        case 52: error = cudaMemcpyAsync(device, host, ANY(300), 1, stream); break;
        case 53: error = cudaEventRecordWithFlags(event, stream, ANY(2)); break;
        case 54: error = cudaStreamWaitEvent(stream, event, ANY(2)); break;
        case 55: error = cudaMallocAsync(into, 64, stream); break;
        case 56: error = ANY(2) ? cudaFreeAsync(some, stream) : cudaFree(some == device ? NULL : some); break;
        case 57: error = ANY(4) ? cudaEventQuery(event) : cudaStreamSynchronize(stream); break;
        case 58: error = cudaLaunchKernel(&stub, kernel.grid, kernel.block, kernel.arguments, 0, stream); break;
        default:
            if (ANY(50) == 0) GOOD(cudaGraphDebugDotPrint(some, "graph.dot", 0) == 0 ? 0 : 0);
            if (ANY(8)) break;
            event = events[i % EVENTS], error = cudaEventDestroy(event);
            GOOD(cudaEventCreateWithFlags(&events[i % EVENTS], 0));
            if (ANY(2)) break;
            GOOD(cudaStreamDestroy(streams[2]));
            GOOD(cudaStreamCreateWithFlags(&streams[2], 1));
        }
        if (error == 46 || !strncmp(cudaGetErrorName(error), "unrecognized", 12)) printf("call %d: %d\n", i, error), exit(9);
    }
    GOOD(cudaDeviceReset());
    GOOD(cudaDeviceSynchronize());
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
    if (!strcmp(mode, "arrays")) arrays();
    if (!strcmp(mode, "array-errors")) array_errors();
    if (!strcmp(mode, "headers")) headers();
    if (!strcmp(mode, "objects")) objects();
    if (!strcmp(mode, "forgotten")) forgotten();
    if (!strcmp(mode, "random")) at_random();
    if (!strcmp(mode, "graphs")) graphs();
    if (!strcmp(mode, "graph-updates")) graph_updates();
    if (!strcmp(mode, "graph-errors")) graph_errors();
    if (!strcmp(mode, "capture")) capture();
    if (!strcmp(mode, "capture-errors")) capture_errors();
    if (!strcmp(mode, "graph-memory")) graph_memory();
    if (!strcmp(mode, "graphs-forgotten")) graphs_forgotten();
    if (!strcmp(mode, "graphs-reset")) graphs_reset();
    if (!strcmp(mode, "graphs-random")) graphs_at_random();
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
