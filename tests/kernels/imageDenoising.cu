// Two filters that take noise from an RGBA picture and keep its edges: each pixel becomes a weighted mean of the 7 x 7 pixels around
// it, and pixels that are more alike have more weight. `neighbours` compares pixels. `blocks` compares their surroundings, 49 pixels
// with 49 pixels, for the middle of each thread block alone: a thread computes one weight, and all threads read the weights from
// shared memory. Both fetch bytes through a texture that gives floats from 0 to 1, three channels of four, and weigh with an
// exponential. The result is floats, so that rounding to bytes does not hide its errors.
// After imageDenoising of the CUDA SDK: hierarchy thesis table 4.2.
constexpr int RADIUS = 3;
constexpr int SIDE = 2 * RADIUS + 1;
constexpr float PART = 1.0f / (float)(SIDE * SIDE);
// Threads of a block, across and down: one more than a window's side.
constexpr int BLOCK = 8;
// A pixel with less weight differs from the one in the middle.
constexpr float DIFFERS = 0.05f;
// If less of the window is alike, the pixel is at an edge.
constexpr float EDGE = 0.7f;

__device__ inline float difference(float4 a, float4 b)
{
    float red = a.x - b.x, green = a.y - b.y, blue = a.z - b.z;
    return red * red + green * green + blue * blue;
}

struct Mean {
    float red, green, blue, weight, alike;

    __device__ void add(float4 colour, float factor)
    {
        red += colour.x * factor;
        green += colour.y * factor;
        blue += colour.z * factor;
        weight += factor;
        alike += factor > DIFFERS ? PART : 0.0f;
    }

    // The mean, and some of the pixel itself: more of it at an edge.
    __device__ float4 with(float4 pixel, float blend) const
    {
        float scale = 1.0f / weight, own = alike > EDGE ? blend : 1.0f - blend, rest = 1.0f - own;
        return make_float4(red * scale * rest + pixel.x * own, green * scale * rest + pixel.y * own, blue * scale * rest + pixel.z * own,
                           0.0f);
    }
};

__global__ void neighbours(float4 *out, cudaTextureObject_t picture, int width, int height, float noise, float blend)
{
    int column = blockIdx.x * BLOCK + threadIdx.x, row = blockIdx.y * BLOCK + threadIdx.y;
    if (column >= width || row >= height)
        return;

    float x = (float)column + 0.5f, y = (float)row + 0.5f;
    float4 pixel = tex2D<float4>(picture, x, y);
    Mean mean = {};
    // One row of the window at a time: all of it would be a thousand instructions.
#pragma unroll 1
    for (int j = -RADIUS; j <= RADIUS; ++j)
        for (int i = -RADIUS; i <= RADIUS; ++i) {
            float4 other = tex2D<float4>(picture, x + (float)i, y + (float)j);
            mean.add(other, __expf(-(difference(pixel, other) * noise + (float)(i * i + j * j) * PART)));
        }
    out[row * width + column] = mean.with(pixel, blend);
}

__global__ void blocks(float4 *out, cudaTextureObject_t picture, int width, int height, float noise, float blend)
{
    __shared__ float weight[BLOCK][BLOCK];

    // The weight of one place of the window.
    float middleX = (float)(blockIdx.x * BLOCK + BLOCK / 2) + 0.5f, middleY = (float)(blockIdx.y * BLOCK + BLOCK / 2) + 0.5f;
    int across = (int)threadIdx.x - RADIUS, down = (int)threadIdx.y - RADIUS;
    float sum = 0.0f;
#pragma unroll 1
    for (int j = -RADIUS; j <= RADIUS; ++j)
        for (int i = -RADIUS; i <= RADIUS; ++i) {
            float x = middleX + (float)i, y = middleY + (float)j;
            sum += difference(tex2D<float4>(picture, x, y), tex2D<float4>(picture, x + (float)across, y + (float)down));
        }
    weight[threadIdx.y][threadIdx.x] = __expf(-(sum * PART * noise + (float)(across * across + down * down) * PART));
    __syncthreads();

    int column = blockIdx.x * BLOCK + threadIdx.x, row = blockIdx.y * BLOCK + threadIdx.y;
    if (column >= width || row >= height)
        return;
    float x = (float)column + 0.5f, y = (float)row + 0.5f;
    Mean mean = {};
#pragma unroll 1
    for (int j = -RADIUS; j <= RADIUS; ++j)
        for (int i = -RADIUS; i <= RADIUS; ++i)
            mean.add(tex2D<float4>(picture, x + (float)i, y + (float)j), weight[j + RADIUS][i + RADIUS]);
    out[row * width + column] = mean.with(tex2D<float4>(picture, x, y), blend);
}
