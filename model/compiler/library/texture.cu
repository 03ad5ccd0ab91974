// What a texture or surface instruction does (docs/textures.md). The compiler lowers a call of one of these functions in place of the instruction
// (src/lower/texture.rs). texture.ptx is made of this file by `make kernels`.

// The header of an object: sixteen words, read as four vectors.
struct Header {
    uint4 first;   // address of the first texel (two words), format, width
    uint4 second;  // height, depth, bytes from row to row, bytes from plane to plane
    uint4 border;
};

enum { KIND = 4, UNSIGNED = 0, SIGNED = 1, FLOAT = 2 };
enum { AS_FLOATS = 1 << 6, LINEAR = 1 << 7, NORMALISED = 1 << 8, MODE = 10 };
enum { WRAP = 0, CLAMP = 1, MIRROR = 2, BORDER = 3 };
enum { OUTSIDE = -1 };

// A place along one dimension: the two texels around it, or OUTSIDE, and the weight of the second one in 1/256.
struct Axis {
    int low, high;
    unsigned alpha;
};

static __device__ __forceinline__ Header header_of(unsigned long long handle) {
    const uint4 *words = (const uint4 *)handle;
    return { __ldg(words), __ldg(words + 1), __ldg(words + 2) };
}

static __device__ __forceinline__ unsigned mode_of(const Header &header, unsigned dimension) {
    return header.first.z >> (MODE + 2 * dimension) & 3;
}

// The texel with an index along a dimension.
static __device__ __forceinline__ int place(int index, unsigned size, unsigned mode) {
    int last = (int)size - 1;
    if (mode == WRAP) return index < 0 ? index + (int)size : index > last ? index - (int)size : index;
    if (mode == BORDER) return index < 0 || index > last ? OUTSIDE : index;
    return min(max(index, 0), last);
}

static __device__ __forceinline__ Axis axis(float at, unsigned format, unsigned size, unsigned mode) {
    if (format & NORMALISED) {
        if (mode == WRAP || mode == MIRROR) {
            float whole = floorf(at), half = whole * 0.5f;
            at -= whole;
            if (mode == MIRROR && floorf(half) != half) at = 1 - at;
        }
        at *= (float)size;
    }
    at = at == at ? fminf(fmaxf(at, -2.0f), (float)size + 2) : 0;
    unsigned alpha = 0;
    if (format & LINEAR) {
        at -= 0.5f;
        alpha = (unsigned)((at - floorf(at)) * 256 + 0.5f);
    }
    int index = (int)floorf(at);
    return { place(index, size, mode), place(index + 1, size, mode), alpha };
}

// A channel of 8 or 16 bits as it is read: extended, as a float where the texture is read so.
static __device__ __forceinline__ unsigned channel(unsigned bits, unsigned format) {
    unsigned unused = format & 3 ? 16 : 24, kind = format >> KIND & 3;
    if (kind == FLOAT) {
        float value;
        asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"((unsigned short)bits));
        return __float_as_uint(value);
    }
    int extended = kind == SIGNED ? (int)(bits << unused) >> unused : (int)bits;
    if (!(format & AS_FLOATS)) return (unsigned)extended;
    // The quotient, rounded to nearest: the correction makes it exact for all numbers of 8 and 16 bits.
    float most = (float)((kind == SIGNED ? 0x7fffffffu : 0xffffffffu) >> unused);
    float reciprocal = format & 3 ? (kind == SIGNED ? 1 / 32767.0f : 1 / 65535.0f) : (kind == SIGNED ? 1 / 127.0f : 1 / 255.0f);
    float number = (float)extended, quotient = number * reciprocal;
    quotient = fmaf(fmaf(-quotient, most, number), reciprocal, quotient);
    return __float_as_uint(fmaxf(quotient, -1.0f));
}

static __device__ __forceinline__ uint4 texel(const Header &header, int x, int y, int plane) {
    // All three are at least OUTSIDE, which is -1.
    if (min(min(x, y), plane) < 0) return header.border;
    unsigned format = header.first.z, log = format & 3, bytes = ((format >> 2 & 3) + 1) << log;
    unsigned long long at = header.first.x | (unsigned long long)header.first.y << 32;
    at += (unsigned long long)(unsigned)plane * header.second.w + (unsigned long long)(unsigned)y * header.second.z + (unsigned)x * bytes;
    uint4 words = { 0, 0, 0, 0 };
    if (bytes == 16) {
        words = __ldg((const uint4 *)at);
    } else if (bytes == 8) {
        uint2 two = __ldg((const uint2 *)at);
        words.x = two.x, words.y = two.y;
    } else if (bytes == 4) {
        words.x = __ldg((const unsigned *)at);
    } else if (bytes == 2) {
        words.x = __ldg((const unsigned short *)at);
    } else {
        words.x = __ldg((const unsigned char *)at);
    }
    if (log == 2) return words;
    if (log == 0) words = { words.x & 0xff, words.x >> 8 & 0xff, words.x >> 16 & 0xff, words.x >> 24 };
    else words = { words.x & 0xffff, words.x >> 16, words.y & 0xffff, words.y >> 16 };
    // A loop, to keep the code small: each channel in turn is converted at the front and goes to the back.
#pragma unroll 1
    for (int turn = 0; turn < 4; turn++) words = { words.y, words.z, words.w, channel(words.x, format) };
    return words;
}

static __device__ __forceinline__ unsigned added(unsigned sum, float share, unsigned value) {
    return __float_as_uint(fmaf(share, __uint_as_float(value), __uint_as_float(sum)));
}

// A fetch with coordinates: of a plane, or of a volume if it has a third axis.
static __device__ __forceinline__ uint4 fetch(const Header &header, const Axis *axes, int dimensions, unsigned layer) {
    bool linear = header.first.z & LINEAR;
    unsigned corners = linear ? 1 << dimensions : 1;
    uint4 sum = { 0, 0, 0, 0 };
#pragma unroll 1
    for (unsigned corner = 0; corner < corners; corner++) {
        unsigned weight = corner & 1 ? axes[0].alpha : 256 - axes[0].alpha, unit = 256;
        int x = corner & 1 ? axes[0].high : axes[0].low, y = 0, z = (int)layer;
        if (dimensions > 1) {
            weight *= corner & 2 ? axes[1].alpha : 256 - axes[1].alpha, unit *= 256;
            y = corner & 2 ? axes[1].high : axes[1].low;
        }
        if (dimensions > 2) {
            weight *= corner & 4 ? axes[2].alpha : 256 - axes[2].alpha, unit *= 256;
            z = corner & 4 ? axes[2].high : axes[2].low;
        }
        if (weight == 0) continue;
        uint4 value = texel(header, x, y, z);
        if (!linear) return value;
        float share = (float)weight * (1.0f / unit);
        sum = { added(sum.x, share, value.x), added(sum.y, share, value.y), added(sum.z, share, value.z), added(sum.w, share, value.w) };
    }
    return sum;
}

static __device__ __forceinline__ Axis axis_of(const Header &header, float at, unsigned dimension) {
    unsigned size = dimension == 0 ? header.first.w : dimension == 1 ? header.second.x : header.second.y;
    return axis(at, header.first.z, size, mode_of(header, dimension));
}

static __device__ __forceinline__ unsigned layer_of(const Header &header, unsigned layer) { return min(layer, header.second.y - 1); }

extern "C" __device__ __noinline__ uint4 texture_1d(unsigned long long handle, float x, unsigned layer) {
    Header header = header_of(handle);
    Axis axes[] = { axis_of(header, x, 0) };
    return fetch(header, axes, 1, layer_of(header, layer));
}

extern "C" __device__ __noinline__ uint4 texture_2d(unsigned long long handle, float x, float y, unsigned layer) {
    Header header = header_of(handle);
    Axis axes[] = { axis_of(header, x, 0), axis_of(header, y, 1) };
    return fetch(header, axes, 2, layer_of(header, layer));
}

extern "C" __device__ __noinline__ uint4 texture_3d(unsigned long long handle, float x, float y, float z) {
    Header header = header_of(handle);
    Axis axes[] = { axis_of(header, x, 0), axis_of(header, y, 1), axis_of(header, z, 2) };
    return fetch(header, axes, 3, 0);
}

extern "C" __device__ __noinline__ uint4 texture_cube(unsigned long long handle, float x, float y, float z, unsigned cube) {
    Header header = header_of(handle);
    float ax = fabsf(x), ay = fabsf(y), az = fabsf(z), m, s, t;
    unsigned face;
    if (az >= ax && az >= ay) {
        m = az, face = z < 0 ? 5 : 4, s = z < 0 ? -x : x, t = -y;
    } else if (ay >= ax) {
        m = ay, face = y < 0 ? 3 : 2, s = x, t = y < 0 ? -z : z;
    } else {
        m = ax, face = x < 0 ? 1 : 0, s = x < 0 ? z : -z, t = -y;
    }
    unsigned format = header.first.z | NORMALISED;
    Axis axes[] = { axis((s / m + 1) * 0.5f, format, header.first.w, CLAMP), axis((t / m + 1) * 0.5f, format, header.second.x, CLAMP) };
    return fetch(header, axes, 2, 6 * min(cube, header.second.y / 6 - 1) + face);
}

// With integer coordinates. `layer` selects the plane where `volume` is 0, and z where it is 1.
extern "C" __device__ __noinline__ uint4 texture_texel(unsigned long long handle, int x, int y, int z, unsigned layer, unsigned volume) {
    Header header = header_of(handle);
    int plane = volume ? place(z, header.second.y, mode_of(header, 2)) : (int)layer_of(header, layer);
    return texel(header, place(x, header.first.w, mode_of(header, 0)), place(y, header.second.x, mode_of(header, 1)), plane);
}

// One channel of the four texels around a point.
extern "C" __device__ __noinline__ uint4 texture_gather(unsigned long long handle, float x, float y, unsigned layer, unsigned which) {
    Header header = header_of(handle);
    unsigned plane = layer_of(header, layer), format = header.first.z | LINEAR;
    Axis across = axis(x, format, header.first.w, mode_of(header, 0)), down = axis(y, format, header.second.x, mode_of(header, 1));
    uint4 four = { 0, 0, 0, 0 };
    // In the order of the results: (low, high), (high, high), (high, low), (low, low).
#pragma unroll 1
    for (unsigned corner = 0; corner < 4; corner++) {
        bool right = corner == 1 || corner == 2, below = corner < 2;
        uint4 value = texel(header, right ? across.high : across.low, below ? down.high : down.low, (int)plane);
        unsigned one = which == 0 ? value.x : which == 1 ? value.y : which == 2 ? value.z : value.w;
        four = { four.y, four.z, four.w, one };
    }
    return four;
}

// The address of an access to a surface, whose x counts bytes; 0 for one that is outside. With `clamp` it is moved inside, unless a row is too short
// for it.
extern "C" __device__ __noinline__ unsigned long long surface(unsigned long long handle, int x, int y, int z, unsigned layer, unsigned bytes, unsigned clamp) {
    Header header = header_of(handle);
    unsigned format = header.first.z, row = header.first.w * ((format >> 2 & 3) + 1) << (format & 3), height = header.second.x, depth = header.second.y;
    if (bytes > row) return 0;
    if (clamp) {
        x = min(max(x, 0), (int)(row - bytes));
        y = min(max(y, 0), (int)height - 1);
        z = min(max(z, 0), (int)depth - 1);
        layer = min(layer, depth - 1);
    } else if ((unsigned)x > row - bytes || (unsigned)y >= height || (unsigned)z >= depth || layer >= depth) {
        return 0;
    }
    unsigned long long at = header.first.x | (unsigned long long)header.first.y << 32;
    return at + (unsigned long long)((unsigned)z + layer) * header.second.w + (unsigned long long)(unsigned)y * header.second.z + (unsigned)x;
}
