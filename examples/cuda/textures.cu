// Textures and surfaces: arrays of two and three dimensions, with layers and as a cube, linear memory and memory with a pitch, read through texture
// objects, and an array that is written through a surface object. The host computes the same by the formulas of CUDA's programming guide. NVIDIA does
// not document how the filter rounds its weights, so all points lie where they are multiples of 1/256.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "check.h"

constexpr int BLOCK = 64;
const float BORDER = 0.375f;

// The texels around a coordinate in one dimension (-1: the border), and the weight of the second one.
struct Around {
    int first, second;
    float alpha;
};

static int place(int i, int n, cudaTextureAddressMode mode) {
    if (i >= 0 && i < n) return i;
    if (mode == cudaAddressModeWrap) return (i + n) % n;
    if (mode == cudaAddressModeBorder) return -1;
    return i < 0 ? 0 : n - 1;
}

static Around around(float x, int n, cudaTextureAddressMode mode, bool normalised) {
    if (normalised) {
        float floor = std::floor(x);
        bool odd = std::fmod(floor, 2.0f) != 0;
        if (mode == cudaAddressModeWrap) x -= floor;
        if (mode == cudaAddressModeMirror) x = odd ? 1 - (x - floor) : x - floor;
        x *= n;
    }
    x = std::min(std::max(x, -2.0f), n + 2.0f) - 0.5f;
    int i = (int)std::floor(x);
    float alpha = std::floor((x - i) * 256 + 0.5f) / 256;
    return {place(i, n, mode), place(i + 1, n, mode), alpha};
}

// The linear filter in two dimensions over `texel(x, y)`, which is not asked for the border.
template <class Texel> static float bilinear(Around x, Around y, Texel texel) {
    auto at = [&](int x, int y) { return x < 0 || y < 0 ? BORDER : texel(x, y); };
    float upper = (1 - x.alpha) * at(x.first, y.first) + x.alpha * at(x.second, y.first);
    float lower = (1 - x.alpha) * at(x.first, y.second) + x.alpha * at(x.second, y.second);
    return (1 - y.alpha) * upper + y.alpha * lower;
}

static bool failed = false;

// Compares the kernel's result, in memory of the device, with the host's, prints a line, and frees the memory.
static void compare(const char *what, float *device, const std::vector<float> &expected) {
    std::vector<float> found(expected.size());
    CHECK(cudaMemcpy(found.data(), device, found.size() * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(device));
    int wrong = 0;
    float sum = 0;
    for (size_t i = 0; i < found.size(); i++) {
        float limit = 1e-5f * std::fmax(1.0f, std::fabs(expected[i]));
        // A NaN is wrong too.
        wrong += !(std::fabs(found[i] - expected[i]) <= limit);
        sum += found[i];
    }
    failed = failed || wrong > 0;
    std::printf("textures: %s: %d values, sum %.2f, %d wrong: %s\n", what, (int)found.size(), sum, wrong,
                wrong == 0 ? "PASSED" : "FAILED");
}

static float *results(int count) {
    float *device;
    CHECK(cudaMalloc(&device, count * sizeof(float)));
    return device;
}

static int blocks(int count) { return (count + BLOCK - 1) / BLOCK; }

// Values that differ from their neighbours, with few bits, so that a sum of products is nearly exact.
static std::vector<float> values(int count) {
    std::vector<float> all(count);
    for (int i = 0; i < count; i++) all[i] = (i * 37 % 101) / 4.0f - 10;
    return all;
}

static cudaTextureDesc sampler(cudaTextureAddressMode mode, cudaTextureFilterMode filter, bool normalised) {
    cudaTextureDesc description = {};
    for (auto &one : description.addressMode) one = mode;
    for (auto &channel : description.borderColor) channel = BORDER;
    description.filterMode = filter;
    description.readMode = cudaReadModeElementType;
    description.normalizedCoords = normalised;
    return description;
}

static cudaResourceDesc resource(cudaArray_t array) {
    cudaResourceDesc description = {};
    description.resType = cudaResourceTypeArray;
    description.res.array.array = array;
    return description;
}

static cudaTextureObject_t texture(const cudaResourceDesc &resource, const cudaTextureDesc &sampler) {
    cudaTextureObject_t object;
    CHECK(cudaCreateTextureObject(&object, &resource, &sampler, nullptr));
    return object;
}

// An array of two dimensions (with depth 0) or three, with layers, or of a cube's faces.
template <class T> static cudaArray_t array(const T *data, cudaExtent extent, unsigned flags) {
    cudaArray_t array;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<T>();
    CHECK(cudaMalloc3DArray(&array, &format, extent, flags));
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(const_cast<T *>(data), extent.width * sizeof(T), extent.width, extent.height);
    copy.dstArray = array;
    copy.extent = make_cudaExtent(extent.width, extent.height, std::max(extent.depth, size_t(1)));
    copy.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&copy));
    return array;
}

// Enlarges an image; the image's copies or its border surround it.
__global__ void resize(float *to, cudaTextureObject_t image, int width, int height) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= width * height) return;
    float x = (i % width + 0.5f) / width, y = (i / width + 0.5f) / height;
    to[i] = tex2D<float>(image, 2 * x - 0.5f, 2 * y - 0.5f);
}

static void resizes() {
    const int width = 16, height = 8, to_width = 64, to_height = 32;
    const struct {
        cudaTextureAddressMode mode;
        const char *what;
    } modes[] = {{cudaAddressModeWrap, "resize, wrap"},
                 {cudaAddressModeClamp, "resize, clamp"},
                 {cudaAddressModeMirror, "resize, mirror"},
                 {cudaAddressModeBorder, "resize, border"}};
    std::vector<float> image = values(width * height);
    cudaArray_t array;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    CHECK(cudaMallocArray(&array, &format, width, height));
    size_t row = width * sizeof(float);
    CHECK(cudaMemcpy2DToArray(array, 0, 0, image.data(), row, row, height, cudaMemcpyHostToDevice));
    for (auto [mode, what] : modes) {
        cudaTextureObject_t object = texture(resource(array), sampler(mode, cudaFilterModeLinear, true));
        float *device = results(to_width * to_height);
        resize<<<blocks(to_width * to_height), BLOCK>>>(device, object, to_width, to_height);
        CHECK(cudaGetLastError());
        std::vector<float> expected(to_width * to_height);
        for (int i = 0; i < to_width * to_height; i++) {
            float x = (i % to_width + 0.5f) / to_width, y = (i / to_width + 0.5f) / to_height;
            expected[i] = bilinear(around(2 * x - 0.5f, width, mode, true), around(2 * y - 0.5f, height, mode, true),
                                   [&](int x, int y) { return image[y * width + x]; });
        }
        compare(what, device, expected);
        CHECK(cudaDestroyTextureObject(object));
    }
    CHECK(cudaFreeArray(array));
}

// Quarters of texels of each layer, both channels. The last layer serves for those that do not exist.
__global__ void layers(float *to, cudaTextureObject_t images, int width, int height, int depth) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= width * height * depth) return;
    float x = i % width / 4.0f, y = i / width % height / 4.0f;
    float2 both = tex2DLayered<float2>(images, x, y, i / (width * height));
    to[2 * i] = both.x;
    to[2 * i + 1] = both.y;
}

static void layered() {
    const int width = 8, height = 4, depth = 3, to_width = 36, to_height = 20;
    std::vector<float> image = values(2 * width * height * depth);
    cudaArray_t images =
        array((const float2 *)image.data(), make_cudaExtent(width, height, depth), cudaArrayLayered);
    cudaTextureObject_t object =
        texture(resource(images), sampler(cudaAddressModeClamp, cudaFilterModeLinear, false));
    const int count = to_width * to_height * (depth + 1);
    float *device = results(2 * count);
    layers<<<blocks(count), BLOCK>>>(device, object, to_width, to_height, depth + 1);
    CHECK(cudaGetLastError());
    std::vector<float> expected(2 * count);
    for (int i = 0; i < count; i++) {
        float x = i % to_width / 4.0f, y = i / to_width % to_height / 4.0f;
        int layer = std::min(i / (to_width * to_height), depth - 1);
        for (int channel = 0; channel < 2; channel++) {
            expected[2 * i + channel] = bilinear(
                around(x, width, cudaAddressModeClamp, false), around(y, height, cudaAddressModeClamp, false),
                [&](int x, int y) { return image[2 * ((layer * height + y) * width + x) + channel]; });
        }
    }
    compare("layers", device, expected);
    CHECK(cudaDestroyTextureObject(object));
    CHECK(cudaFreeArray(images));
}

__global__ void volume(float *to, cudaTextureObject_t texture, int size) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= size * size * size) return;
    float x = i % size, y = i / size % size, z = i / size / size;
    to[i] = tex3D<float>(texture, x / size * 1.5f, y / size - 0.5f, z / size * 2 - 1);
}

static void volumes() {
    const int width = 8, height = 4, depth = 2, size = 16;
    const cudaTextureAddressMode mode = cudaAddressModeWrap;
    std::vector<float> image = values(width * height * depth);
    cudaArray_t images = array(image.data(), make_cudaExtent(width, height, depth), 0);
    cudaTextureObject_t object = texture(resource(images), sampler(mode, cudaFilterModeLinear, true));
    float *device = results(size * size * size);
    volume<<<blocks(size * size * size), BLOCK>>>(device, object, size);
    CHECK(cudaGetLastError());
    std::vector<float> expected(size * size * size);
    for (int i = 0; i < size * size * size; i++) {
        float x = i % size, y = i / size % size, z = i / size / size;
        Around in_x = around(x / size * 1.5f, width, mode, true), in_y = around(y / size - 0.5f, height, mode, true);
        Around in_z = around(z / size * 2 - 1, depth, mode, true);
        auto plane = [&](int z) {
            return bilinear(in_x, in_y, [&](int x, int y) { return image[(z * height + y) * width + x]; });
        };
        expected[i] = (1 - in_z.alpha) * plane(in_z.first) + in_z.alpha * plane(in_z.second);
    }
    compare("volume", device, expected);
    CHECK(cudaDestroyTextureObject(object));
    CHECK(cudaFreeArray(images));
}

// Points of the faces that are so far from the edges that the filter needs no other face: 13 by 13 of each, the cube being two units wide.
constexpr int STEPS = 13;

__host__ __device__ void direction(int i, float to[3]) {
    int face = i / (STEPS * STEPS);
    float u = i % STEPS / 8.0f - 0.75f, v = i / STEPS % STEPS / 8.0f - 0.75f, sign = face % 2 ? -1.0f : 1.0f;
    int axis = face / 2;
    to[axis] = sign;
    to[(axis + 1) % 3] = u;
    to[(axis + 2) % 3] = v;
}

__global__ void cube(float *to, cudaTextureObject_t texture) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= 6 * STEPS * STEPS) return;
    float at[3];
    direction(i, at);
    // Only the direction counts, not the length.
    to[i] = texCubemap<float>(texture, 4 * at[0], 4 * at[1], 4 * at[2]);
}

static void cubes() {
    const int size = 4, count = 6 * STEPS * STEPS;
    std::vector<float> image = values(6 * size * size);
    cudaArray_t images = array(image.data(), make_cudaExtent(size, size, 6), cudaArrayCubemap);
    cudaTextureObject_t object = texture(resource(images), sampler(cudaAddressModeClamp, cudaFilterModeLinear, true));
    float *device = results(count);
    cube<<<blocks(count), BLOCK>>>(device, object);
    CHECK(cudaGetLastError());
    std::vector<float> expected(count);
    for (int i = 0; i < count; i++) {
        float at[3];
        direction(i, at);
        float x = at[0], y = at[1], z = at[2];
        // The faces of CUDA's table: s and t, of which the divisor is 1.
        const float s[] = {-z, z, x, x, x, -x}, t[] = {-y, -y, z, -z, -y, -y};
        int face = i / (STEPS * STEPS);
        expected[i] = bilinear(around((s[face] + 1) / 2, size, cudaAddressModeClamp, true),
                               around((t[face] + 1) / 2, size, cudaAddressModeClamp, true),
                               [&](int x, int y) { return image[(face * size + y) * size + x]; });
    }
    compare("cube", device, expected);
    CHECK(cudaDestroyTextureObject(object));
    CHECK(cudaFreeArray(images));
}

// Elements in reverse, and two on each side that do not exist and are read as zero.
__global__ void reverse(float *to, cudaTextureObject_t texture, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count + 4) to[i] = tex1Dfetch<int>(texture, count + 1 - i);
}

static void linear_memory() {
    const int count = 300;
    std::vector<int> data(count);
    for (int i = 0; i < count; i++) data[i] = i * i - 1000;
    int *elements;
    CHECK(cudaMalloc(&elements, count * sizeof(int)));
    CHECK(cudaMemcpy(elements, data.data(), count * sizeof(int), cudaMemcpyHostToDevice));
    cudaResourceDesc memory = {};
    memory.resType = cudaResourceTypeLinear;
    memory.res.linear.devPtr = elements;
    memory.res.linear.desc = cudaCreateChannelDesc<int>();
    memory.res.linear.sizeInBytes = count * sizeof(int);
    cudaTextureDesc plain = {};
    plain.readMode = cudaReadModeElementType;
    cudaTextureObject_t object = texture(memory, plain);
    float *device = results(count + 4);
    reverse<<<blocks(count + 4), BLOCK>>>(device, object, count);
    CHECK(cudaGetLastError());
    std::vector<float> expected(count + 4);
    for (int i = 2; i < count + 2; i++) expected[i] = data[count + 1 - i];
    compare("linear memory", device, expected);
    CHECK(cudaDestroyTextureObject(object));
    CHECK(cudaFree(elements));
}

// The mean of four texels, by one fetch in the corner between them.
__global__ void smooth(float *to, cudaTextureObject_t image, int width, int height) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < width * height) to[i] = tex2D<float>(image, i % width, i / width);
}

static void pitched_memory() {
    const int width = 21, height = 13;
    const cudaTextureAddressMode mode = cudaAddressModeBorder;
    std::vector<float> image = values(width * height);
    float *elements;
    size_t pitch, row = width * sizeof(float);
    CHECK(cudaMallocPitch(&elements, &pitch, row, height));
    CHECK(cudaMemcpy2D(elements, pitch, image.data(), row, row, height, cudaMemcpyHostToDevice));
    cudaResourceDesc memory = {};
    memory.resType = cudaResourceTypePitch2D;
    memory.res.pitch2D.devPtr = elements;
    memory.res.pitch2D.desc = cudaCreateChannelDesc<float>();
    memory.res.pitch2D.width = width;
    memory.res.pitch2D.height = height;
    memory.res.pitch2D.pitchInBytes = pitch;
    cudaTextureObject_t object = texture(memory, sampler(mode, cudaFilterModeLinear, false));
    const int to_width = width + 2, to_height = height + 2;
    float *device = results(to_width * to_height);
    smooth<<<blocks(to_width * to_height), BLOCK>>>(device, object, to_width, to_height);
    CHECK(cudaGetLastError());
    std::vector<float> expected(to_width * to_height);
    for (int i = 0; i < to_width * to_height; i++) {
        expected[i] = bilinear(around(i % to_width, width, mode, false), around(i / to_width, height, mode, false),
                               [&](int x, int y) { return image[y * width + x]; });
    }
    compare("pitched memory", device, expected);
    CHECK(cudaDestroyTextureObject(object));
    CHECK(cudaFree(elements));
}

// Bytes that are read as floats from 0 to 1, and as floats from -1 to 1.
__global__ void brightness(float *to, cudaTextureObject_t colors, cudaTextureObject_t shifts, int width, int height) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= width * height) return;
    float4 color = tex2D<float4>(colors, i % width + 0.5f, i / width + 0.5f);
    float2 shift = tex2D<float2>(shifts, i % width, i / width);
    to[i] = color.x + 2 * color.y + 4 * color.z + 8 * color.w + 16 * shift.x + 32 * shift.y;
}

static void bytes() {
    const int width = 24, height = 10, count = width * height;
    std::vector<uchar4> colors(count);
    std::vector<char2> shifts(count);
    for (int i = 0; i < count; i++) {
        colors[i] = make_uchar4(i, i * 3, i * 5 + 1, 255 - i);
        shifts[i] = make_char2(i - 128, 127 - i);
    }
    cudaArray_t first = array(colors.data(), make_cudaExtent(width, height, 0), 0);
    cudaArray_t second = array(shifts.data(), make_cudaExtent(width, height, 0), 0);
    cudaTextureDesc unit = sampler(cudaAddressModeClamp, cudaFilterModePoint, false);
    unit.readMode = cudaReadModeNormalizedFloat;
    cudaTextureObject_t color = texture(resource(first), unit), shift = texture(resource(second), unit);
    float *device = results(count);
    brightness<<<blocks(count), BLOCK>>>(device, color, shift, width, height);
    CHECK(cudaGetLastError());
    std::vector<float> expected(count);
    for (int i = 0; i < count; i++) {
        auto part = [](int x) { return std::fmax(x / 127.0f, -1.0f); };
        uchar4 c = colors[i];
        char2 s = shifts[i];
        expected[i] = (c.x + 2 * c.y + 4 * c.z + 8 * c.w) / 255.0f + 16 * part(s.x) + 32 * part(s.y);
    }
    compare("bytes as floats", device, expected);
    CHECK(cudaDestroyTextureObject(color));
    CHECK(cudaDestroyTextureObject(shift));
    CHECK(cudaFreeArray(first));
    CHECK(cudaFreeArray(second));
}

// Writes an image, also where it has no elements: nothing is stored there. A launch later, a texture gives it.
__global__ void paint(cudaSurfaceObject_t image, int width, int height) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int x = i % (width + 4) - 2, y = i / (width + 4) - 2;
    if (y < height + 2) surf2Dwrite(x + 100.0f * y, image, x * (int)sizeof(float), y, cudaBoundaryModeZero);
}

// An element's left neighbour, or itself where there is none, plus four neighbours of a gather, plus the mean of two.
__global__ void study(float *to, cudaSurfaceObject_t surface, cudaTextureObject_t texture, int width, int height) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= width * height) return;
    int x = i % width, y = i / width;
    float left = surf2Dread<float>(surface, (x - 1) * (int)sizeof(float), y, cudaBoundaryModeClamp);
    float4 four = tex2Dgather<float4>(texture, x + 1, y + 1, 0);
    to[i] = left + 2 * four.x + 3 * four.y + 5 * four.z + 7 * four.w + tex2D<float>(texture, x + 1, y + 0.5f);
}

static void surfaces() {
    const int width = 16, height = 12, all = (width + 4) * (height + 4);
    cudaArray_t array;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    CHECK(cudaMallocArray(&array, &format, width, height, cudaArraySurfaceLoadStore | cudaArrayTextureGather));
    cudaResourceDesc description = resource(array);
    cudaSurfaceObject_t surface;
    CHECK(cudaCreateSurfaceObject(&surface, &description));
    cudaTextureObject_t object = texture(description, sampler(cudaAddressModeClamp, cudaFilterModeLinear, false));
    paint<<<blocks(all), BLOCK>>>(surface, width, height);
    CHECK(cudaGetLastError());
    float *device = results(width * height);
    study<<<blocks(width * height), BLOCK>>>(device, surface, object, width, height);
    CHECK(cudaGetLastError());
    std::vector<float> expected(width * height), image(width * height), copy(width * height);
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            auto at = [&](int x, int y) {
                return std::min(std::max(x, 0), width - 1) + 100.0f * std::min(y, height - 1);
            };
            image[y * width + x] = at(x, y);
            expected[y * width + x] = at(x - 1, y) + 2 * at(x, y + 1) + 3 * at(x + 1, y + 1) + 5 * at(x + 1, y) +
                                      7 * at(x, y) + (at(x, y) + at(x + 1, y)) / 2;
        }
    }
    compare("surface", device, expected);
    size_t row = width * sizeof(float);
    CHECK(cudaMemcpy2DFromArray(copy.data(), row, array, 0, 0, row, height, cudaMemcpyDeviceToHost));
    bool same = copy == image;
    failed = failed || !same;
    std::printf("textures: copy of the surface's array: %s\n", same ? "PASSED" : "FAILED");
    CHECK(cudaDestroyTextureObject(object));
    CHECK(cudaDestroySurfaceObject(surface));
    CHECK(cudaFreeArray(array));
}

int main() {
    resizes();
    layered();
    volumes();
    cubes();
    linear_memory();
    pitched_memory();
    bytes();
    surfaces();
    return failed ? 1 : 0;
}
