// A two-dimensional convolution as one pass over rows and one over columns. Each thread makes four pixels of a row or column;
// blocks stage their pixels and the aprons beside them in shared memory; the filter is in constant memory.
// After convolutionSeparable of the CUDA SDK: hierarchy thesis table 4.2, sharing thesis tables 2.2 and 3.8.
constexpr int RADIUS = 8;
constexpr int STEPS = 4;
constexpr int APRON = 1;  // in block widths or heights

constexpr int ROWS_X = 16, ROWS_Y = 4;
constexpr int COLUMNS_X = 16, COLUMNS_Y = 8;

__constant__ float filter[2 * RADIUS + 1];

__global__ void convolutionRows(float *out, const float *in, int width, int height)
{
    __shared__ float pixel[ROWS_Y][(STEPS + 2 * APRON) * ROWS_X];

    int x = (blockIdx.x * STEPS - APRON) * ROWS_X + threadIdx.x;
    int y = blockIdx.y * ROWS_Y + threadIdx.y;
    in += y * width + x;
    out += y * width + x;

#pragma unroll
    for (int i = APRON; i < APRON + STEPS; ++i)
        pixel[threadIdx.y][threadIdx.x + i * ROWS_X] = in[i * ROWS_X];
    pixel[threadIdx.y][threadIdx.x] = x >= 0 ? in[0] : 0.0f;
    int right = (APRON + STEPS) * ROWS_X;
    pixel[threadIdx.y][threadIdx.x + right] = x + right < width ? in[right] : 0.0f;
    __syncthreads();

#pragma unroll
    for (int i = APRON; i < APRON + STEPS; ++i) {
        float sum = 0.0f;
#pragma unroll
        for (int j = -RADIUS; j <= RADIUS; ++j)
            sum += filter[RADIUS - j] * pixel[threadIdx.y][threadIdx.x + i * ROWS_X + j];
        out[i * ROWS_X] = sum;
    }
}

__global__ void convolutionColumns(float *out, const float *in, int width, int height)
{
    // One more than needed, against bank conflicts.
    __shared__ float pixel[COLUMNS_X][(STEPS + 2 * APRON) * COLUMNS_Y + 1];

    int x = blockIdx.x * COLUMNS_X + threadIdx.x;
    int y = (blockIdx.y * STEPS - APRON) * COLUMNS_Y + threadIdx.y;
    in += y * width + x;
    out += y * width + x;

#pragma unroll
    for (int i = APRON; i < APRON + STEPS; ++i)
        pixel[threadIdx.x][threadIdx.y + i * COLUMNS_Y] = in[i * COLUMNS_Y * width];
    pixel[threadIdx.x][threadIdx.y] = y >= 0 ? in[0] : 0.0f;
    int below = (APRON + STEPS) * COLUMNS_Y;
    pixel[threadIdx.x][threadIdx.y + below] = y + below < height ? in[below * width] : 0.0f;
    __syncthreads();

#pragma unroll
    for (int i = APRON; i < APRON + STEPS; ++i) {
        float sum = 0.0f;
#pragma unroll
        for (int j = -RADIUS; j <= RADIUS; ++j)
            sum += filter[RADIUS - j] * pixel[threadIdx.x][threadIdx.y + i * COLUMNS_Y + j];
        out[i * COLUMNS_Y * width] = sum;
    }
}
