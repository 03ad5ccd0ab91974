// A two-dimensional convolution as one pass over rows and one over columns. Each thread makes a pixel, and fetches its 17
// neighbours through a texture, which repeats the picture's edge. So there is no shared memory and no comparison with the edge. The
// filter is in constant memory. The second pass has a texture of the first one's result.
// After convolutionTexture of the CUDA SDK: hierarchy thesis table 4.2.
constexpr int RADIUS = 8;
constexpr int TAPS = 2 * RADIUS + 1;

__constant__ float filter[TAPS];

__global__ void convolutionRows(float *out, cudaTextureObject_t in, int width, int height)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= width || row >= height)
        return;

    // The middle of a texel is half a texel behind its number.
    float x = (float)column + 0.5f, y = (float)row + 0.5f;
    float sum = 0.0f;
    for (int tap = 0; tap < TAPS; ++tap)
        sum += filter[TAPS - 1 - tap] * tex2D<float>(in, x + (float)(tap - RADIUS), y);
    out[row * width + column] = sum;
}

__global__ void convolutionColumns(float *out, cudaTextureObject_t in, int width, int height)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= width || row >= height)
        return;

    float x = (float)column + 0.5f, y = (float)row + 0.5f;
    float sum = 0.0f;
    for (int tap = 0; tap < TAPS; ++tap)
        sum += filter[TAPS - 1 - tap] * tex2D<float>(in, x, y + (float)(tap - RADIUS));
    out[row * width + column] = sum;
}
