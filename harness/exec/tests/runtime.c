/* An application without nvcc, which registers its kernel and its variables by hand (as tests/exec/by_hand.c):
 *
 *     runtime FATBIN variables|directions|kinds|extents|launch|count|child|left
 *     runtime FATBIN arrays|array-errors|headers|objects|forgotten|random
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
    EXPECT(cudaMemcpy2DToArray(array, 0, 1, words, 16, 16, 2, 1), 1);
    EXPECT(cudaMemcpy2DToArray(array, 2, 0, words, 16, 8, 1, 1), 1);
    EXPECT(cudaMemcpy2DToArray(array, 0, 0, words, 16, 6, 1, 1), 1);
    EXPECT(cudaMemcpy2DToArray(array, 0, 0, words, 12, 16, 2, 1), 12);
    EXPECT(cudaMemcpy2DToArray(array, 0, 0, NULL, 16, 16, 1, 1), 1);
    EXPECT(cudaMemcpy2DToArray(array, 0, 0, words, 16, 16, 1, 2), 21);
    EXPECT(cudaMemcpy2DToArray(array, (size_t)-4, 0, words, 16, 8, 1, 1), 1);
    EXPECT(cudaMemcpy2DFromArray(words, 12, array, 0, 0, 16, 1, 2), 12);
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
    object = texture_of(of_array(array), (Sampler){ .modes = { 1 } });
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
    BAD_TEXTURE(27, of_array(ints), .normalises = 1);
    BAD_TEXTURE(27, of_linear(device, INT, 64), .normalises = 1);
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
