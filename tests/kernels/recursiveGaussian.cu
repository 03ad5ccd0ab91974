// A Gaussian blur of RGBA pictures by a recursive filter: a thread walks down a column, then up again, and adds both ways, each of
// which depends on its last two results. Pictures are transposed by tiles in shared memory, and filtered and transposed again. Few
// threads with long loops, three colours and opacity in floats. A batch of pictures, one a layer of the grid.
// After recursiveGaussian of the CUDA SDK: hierarchy thesis tables 4.2 and 4.3.
typedef unsigned int uint;
constexpr int TILE = 16;


__device__ inline float4 unpack(uint c)
{
    return make_float4((float)(c & 0xff), (float)((c >> 8) & 0xff), (float)((c >> 16) & 0xff), (float)(c >> 24));
}

__device__ inline uint cut(float value) { return (uint)fminf(fmaxf(value, 0.0f), 255.0f); }
__device__ inline uint pack(float4 c) { return cut(c.x) | cut(c.y) << 8 | cut(c.z) << 16 | cut(c.w) << 24; }

__device__ inline float4 operator+(float4 a, float4 b) { return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w); }
__device__ inline float4 operator*(float s, float4 a) { return make_float4(s * a.x, s * a.y, s * a.z, s * a.w); }

__device__ inline float filter(float p, float xa, float q, float xb, float r, float ya, float s, float yb)
{
    return fmaf(-s, yb, fmaf(-r, ya, fmaf(q, xb, p * xa)));
}

// A step of the filter: from two inputs and the last two results.
__device__ inline float4 step(float p, float4 xa, float q, float4 xb, float r, float4 ya, float s, float4 yb)
{
    return make_float4(filter(p, xa.x, q, xb.x, r, ya.x, s, yb.x), filter(p, xa.y, q, xb.y, r, ya.y, s, yb.y),
                       filter(p, xa.z, q, xb.z, r, ya.z, s, yb.z), filter(p, xa.w, q, xb.w, r, ya.w, s, yb.w));
}

// Columns; beyond its edge the picture continues with the colours there.
__global__ void recursiveGaussian(uint *out, const uint *in, int width, int height, float a0, float a1, float a2, float a3, float b1,
                                  float b2, float down, float up)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x >= width)
        return;
    in += blockIdx.y * width * height + x;
    out += blockIdx.y * width * height + x;

    float4 lastIn = unpack(in[0]);
    float4 last = down * lastIn, before = last;
    for (int y = 0; y < height; ++y) {
        float4 colour = unpack(in[y * width]);
        float4 result = step(a0, colour, a1, lastIn, b1, last, b2, before);
        out[y * width] = pack(result);
        lastIn = colour;
        before = last;
        last = result;
    }

    lastIn = unpack(in[(height - 1) * width]);
    float4 beforeIn = lastIn;
    last = up * lastIn;
    before = last;
    for (int y = height - 1; y >= 0; --y) {
        float4 colour = unpack(in[y * width]);
        float4 result = step(a2, lastIn, a3, beforeIn, b1, last, b2, before);
        out[y * width] = pack(unpack(out[y * width]) + result);
        beforeIn = lastIn;
        lastIn = colour;
        before = last;
        last = result;
    }
}

__global__ void transpose(uint *out, const uint *in, int width, int height)
{
    __shared__ uint tile[TILE][TILE + 1];
    in += blockIdx.z * width * height;
    out += blockIdx.z * width * height;

    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    if (x < width && y < height)
        tile[threadIdx.y][threadIdx.x] = in[y * width + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    if (x < height && y < width)
        out[y * height + x] = tile[threadIdx.x][threadIdx.y];
}
