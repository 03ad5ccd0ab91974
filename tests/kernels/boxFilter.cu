// A box blur of RGBA pictures by running sums: one thread walks along a row, then one down a column, adding the pixel that
// enters the box and taking away the one that leaves. Few threads with long loops; the row pass is not coalesced. A batch of
// pictures, one a row of the grid.
// After boxFilter of the CUDA SDK: hierarchy thesis table 4.2.
typedef unsigned int uint;

__device__ inline float4 unpack(uint c)
{
    return make_float4((float)(c & 0xff), (float)((c >> 8) & 0xff), (float)((c >> 16) & 0xff), (float)(c >> 24));
}

__device__ inline uint pack(float4 c)
{
    return (uint)c.x | ((uint)c.y << 8) | ((uint)c.z << 16) | ((uint)c.w << 24);
}

__device__ inline float4 operator+(float4 a, float4 b) { return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w); }
__device__ inline float4 operator-(float4 a, float4 b) { return make_float4(a.x - b.x, a.y - b.y, a.z - b.z, a.w - b.w); }
__device__ inline float4 operator*(float4 a, float s) { return make_float4(a.x * s, a.y * s, a.z * s, a.w * s); }

// Pixels `step` apart, `n` of them; the picture's edge is repeated.
__device__ void blur(uint *out, const uint *in, int n, int step, int radius)
{
    float scale = 1.0f / (float)(2 * radius + 1);
    float4 sum = unpack(in[0]) * (float)(radius + 1);
    for (int i = 1; i <= radius; ++i)
        sum = sum + unpack(in[i * step]);
    out[0] = pack(sum * scale);

    for (int i = 1; i < n; ++i) {
        int enters = min(i + radius, n - 1);
        int leaves = max(i - radius - 1, 0);
        sum = sum + unpack(in[enters * step]) - unpack(in[leaves * step]);
        out[i * step] = pack(sum * scale);
    }
}

__global__ void boxFilterRows(uint *out, const uint *in, int width, int height, int radius)
{
    int y = blockIdx.x * blockDim.x + threadIdx.x;
    int start = (blockIdx.y * height + y) * width;
    if (y < height)
        blur(out + start, in + start, width, 1, radius);
}

__global__ void boxFilterColumns(uint *out, const uint *in, int width, int height, int radius)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int start = blockIdx.y * height * width + x;
    if (x < width)
        blur(out + start, in + start, height, width, radius);
}
